"""Servers over scripted engines and over the starter model; every one is stopped behind its test."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from llama_gui.engine import Engine
from llama_gui.server.serve import ApiServer, ServerOptions
from llama_gui.server.served import FixedModels, Models
from tests.fakes.scripted_engine import ScriptedEngine

KEY = "sk-of-the-tests-0123456789"
STARTER = Path(__file__).parents[2] / "resources" / "starter_model"
CHAT = "/v1/chat/completions"


class WordTokenizer:
    """Ids are positions; enough for an engine that draws from a script."""

    special_tokens_map: dict[str, str] = {}  # noqa: RUF012 - nobody changes it

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(range(len(text.split()) + add_special_tokens))

    def encode_literally(self, text: str) -> list[int]:
        return self.encode(text, add_special_tokens=False)

    def decode(self, ids: Any, *, skip_special_tokens: bool = True) -> str:
        return " ".join(map(str, ids))

    def token_text(self, token_id: int) -> str:
        return f"t{token_id}"

    def piece(self, token_id: int) -> str:
        return f"_{token_id}"

    def token_bytes(self, token_id: int) -> bytes | None:
        return self.token_text(token_id).encode()


class ServedScript(ScriptedEngine):
    """A scripted engine with a tokenizer and a template, which knows tools; its thread runs while it is served."""

    tokenizer = WordTokenizer()
    eos_token_ids: frozenset[int] = frozenset()
    chat_template = None

    def apply_chat_template(
        self, messages: Any, *, tokenize: bool = False, tools: Any = None, more: str = "", **_: Any
    ) -> Any:
        text = "\n".join(f"{message.role}: {message.content}" for message in messages)
        text = json.dumps(list(tools)) + text if tools else text
        text += f" {more}"
        return self.tokenizer.encode(text, add_special_tokens=True) if tokenize else text


Serve = Callable[..., ApiServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve an engine (a new scripted one unless told), or `models`, with some options; port and key are chosen."""
    with serving() as serve:
        yield serve


@pytest.fixture
def server(serve: Serve, starter: Engine) -> ApiServer:
    """A server over the starter model."""
    return serve(starter)


def client_of(server: ApiServer, key: str = KEY) -> openai.OpenAI:
    """OpenAI's own client, which asks once."""
    http = openai.DefaultHttpxClient(verify=False)  # to read all certificates of the web takes longer than most tests
    return openai.OpenAI(base_url=server.url, api_key=key, max_retries=0, http_client=http)


def async_client_of(server: ApiServer) -> openai.AsyncOpenAI:
    """The same for an event loop."""
    http = openai.DefaultAsyncHttpxClient(verify=False)
    return openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0, http_client=http)


@pytest.fixture
def client(server: ApiServer) -> Iterator[openai.OpenAI]:
    """OpenAI's own client of the server over the starter model."""
    with client_of(server) as client:
        yield client


@pytest.fixture(scope="module")
def plain_server() -> Iterator[ApiServer]:
    """One server over a scripted engine for a whole file of tests that change nothing about it."""
    with serving() as serve:
        server = serve()
        asyncio.run_coroutine_threadsafe(_fill_pool(), server._loop).result()
        yield server


async def _fill_pool() -> None:
    """Let the pool of the server's loop have all its threads, so that no test leaves one behind."""
    await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.02) for _ in range(64)))


@contextlib.contextmanager
def serving() -> Iterator[Serve]:
    """What `serve` gives; every server is stopped at the end."""
    with contextlib.ExitStack() as stack:

        def serve(engine: Any = None, models: Models | None = None, **options: Any) -> ApiServer:
            engine = engine or ServedScript()
            if isinstance(engine, ScriptedEngine):
                thread = threading.Thread(target=engine.run, name="scripted engine")
                thread.start()
                stack.callback(thread.join)
                stack.callback(engine.stop)
            server = ApiServer(models or FixedModels.of(engine), ServerOptions(key=KEY, port=0, **options))
            return stack.enter_context(server)

        yield serve


@pytest.fixture(scope="module")
def starter(kernel_notes: Path) -> Iterator[Engine]:
    """The starter model, loaded once for each file of tests.

    As everybody has it: in float32 each token would take six times as long. On the CPU, where equal bits are promised.
    """
    with Engine.load(STARTER, device="cpu", max_batch=64, kernel_notes=kernel_notes) as engine:
        engine.warmup()  # its thread belongs to the engine, not to the first test
        yield engine


def head(path: str, server: ApiServer, *, method: str = "GET", **headers: str) -> bytes:
    """The head of a request with the right Host and key, and these headers instead of or beside them."""
    fields = {"Host": f"127.0.0.1:{server.port}", "Authorization": f"Bearer {KEY}", **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def post(path: str, server: ApiServer, body: Any, **headers: str) -> bytes:
    """A whole POST request."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content_Type": "application/json", "Content_Length": str(len(raw)), **headers}
    return head(path, server, method="POST", **fields) + raw


def connect(server: ApiServer) -> socket.socket:
    """A connection to the server."""
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def exchange(server: ApiServer, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send these bytes, and read one reply: status, headers in lower case, body. Status 0: no reply came."""
    with connect(server) as client:
        client.sendall(request)
        return read_reply(client, has_body=not request.startswith(b"HEAD "))


def read_reply(client: socket.socket, *, has_body: bool = True) -> tuple[int, dict[str, str], bytes]:
    """One reply from a connection, its length told by its head or by the end of the connection."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while b"\r\n\r\n" not in data and (more := client.recv(65536)):
            data += more
    top, _, body = data.partition(b"\r\n\r\n")
    lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    status = int(lines[0].split()[1]) if lines[0] else 0
    length = int(headers.get("content-length", -1)) if has_body and status != 204 else 0
    is_chunked = headers.get("transfer-encoding") == "chunked"
    with contextlib.suppress(ConnectionResetError):
        while (length < 0 or len(body) < length) and not (is_chunked and body.endswith(b"0\r\n\r\n")):
            more = client.recv(65536)
            if not more:
                break
            body += more
    return status, headers, body


def ask(server: ApiServer, body: Any, path: str = CHAT) -> tuple[int, Any]:
    """Post JSON; the status and the JSON of the reply."""
    status, _, raw = exchange(server, post(path, server, body))
    return status, json.loads(raw)


def question(text: str = "one two three", **fields: Any) -> dict[str, Any]:
    """The body of a chat request."""
    return {"messages": [{"role": "user", "content": text}], **fields}
