"""Servers behind an address; all on this machine."""

import contextlib
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from llama_gui.vocabulary import ToolServer
from tests.tools.conftest import HERE, Talk, until


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a real server listens, by the official library."""
    noted = tmp_path_factory.mktemp("web") / "noted"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(HERE / "talking_server.py"), str(port)], env={**os.environ, "CANCELLED_FILE": str(noted)}
    )
    assert until(lambda: _listens(port), 60)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


class _Handler(http.server.BaseHTTPRequestHandler):
    status = 500
    seen: list[tuple[str, str | None]] = []  # noqa: RUF012 - emptied by the fixture

    def do_POST(self) -> None:
        self.seen.append((self.command, self.headers.get("X-Key")))
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        if self.status == 302:
            self.send_header("Location", "http://127.0.0.1:1/other")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_DELETE = do_POST

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def refusing() -> Iterator[tuple[type[_Handler], str]]:
    """A server that refuses all, and its address."""
    yield from _served(_Handler)


def _served(handler: type) -> Iterator[tuple[Any, str]]:
    handler.seen.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield handler, f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


def test_a_tool_is_called_behind_an_address(talk: Talk, url: str):
    run, state = talk.start(ToolServer("web", url=url))
    assert "add" in {tool.name for tool in state.tools}
    assert talk.call(run, "add", a=2, b=3).text == "5"
    assert talk.call(run, "fail").is_error
    talk.client.call(50, run, "wait", {})
    talk.client.cancel(50)
    assert talk.call(run, "add", a=2, b=4).text == "6"
    talk.call(run, "grow")
    assert "grown" in {tool.name for tool in talk.state(run).tools}
    talk.client.stop(run)
    assert talk.state(run).status == "off"


def test_one_that_goes_away_is_told_so_with_the_next_call(talk: Talk, url: str):
    relay = Relay(url)
    run, state = talk.start(ToolServer("web", url=relay.url))
    assert state.status == "ready"
    relay.close()
    reply = talk.call(run, "add", a=2, b=3)
    assert reply.is_error
    assert "has ended" in reply.text
    assert talk.state(run).status == "failed"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "wants to know who asks (401). Enter its key in the headers"),
        (403, "does not allow this (403)"),
        (404, "has no tool server at this path (404)"),
        (405, "The older one with SSE is not supported"),
        (302, "sends to another address (302), which is not followed"),
        (500, "refuses with status 500"),
    ],
)
def test_a_refusal_is_told_in_words(talk: Talk, refusing: tuple[type[_Handler], str], status: int, words: str):
    handler, address = refusing
    handler.status = status
    _run, state = talk.start(ToolServer("web", url=address, headers={"X-Key": "mine"}))
    assert state.status == "failed"
    assert state.error.startswith(f"“web”: {address} ")
    assert words in state.error
    assert handler.seen[0] == ("POST", "mine")


class _Forgetful(_Handler):
    """A server of tools that can forget whom it talked with."""

    has_forgotten = False

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        info = {"name": "forgetful", "version": "1"}
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info},
            "tools/list": {"tools": []},
        }
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": results.get(message["method"])})
        self.send_response(404 if _Forgetful.has_forgotten else 200 if "id" in message else 202)
        self.send_header("Mcp-Session-Id", "you-again")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_DELETE(self) -> None:
        self.seen.append((self.command, self.headers.get("Mcp-Session-Id")))
        self.rfile.read(1)  # which does not come: it takes its time

    def do_GET(self) -> None:
        self.send_error(405)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[type[_Forgetful], str]]:
    monkeypatch.setattr(_Forgetful, "has_forgotten", False)
    monkeypatch.setattr("llama_gui.tools.http._GOODBYE_S", 0.2)
    yield from _served(_Forgetful)


def test_it_says_goodbye_but_does_not_wait_for_long(talk: Talk, forgetful: tuple[type[_Forgetful], str]):
    handler, address = forgetful
    run, state = talk.start(ToolServer("web", url=address))
    assert state.status == "ready"
    talk.client.stop(run)
    assert talk.state(run).status == "off"
    assert handler.seen == [("DELETE", "you-again")]


def test_one_that_has_forgotten_the_session_must_be_started_again(talk: Talk, forgetful: tuple[type[_Forgetful], str]):
    handler, address = forgetful
    run, state = talk.start(ToolServer("web", url=f"{address}?key=secret"))
    handler.has_forgotten = True
    reply = talk.call(run, "anything")
    assert reply.is_error
    assert reply.text == "“web” takes no more calls."
    state = talk.state(run)
    assert state.status == "failed"
    assert "has no tool server at this path (404)" in state.error
    handler.has_forgotten = False
    assert talk.start(ToolServer("web", url=address))[1].status == "ready"


def test_nobody_there_is_told_in_words(talk: Talk):
    _run, state = talk.start(ToolServer("web", url="http://127.0.0.1:9/mcp"))
    assert "nothing can be reached at http://127.0.0.1:9/mcp" in state.error


def test_plain_http_is_for_this_machine(talk: Talk):
    _run, state = talk.start(ToolServer("web", url="http://192.0.2.1/mcp"))
    assert state.status == "failed"
    assert "others can read plain http" in state.error


class Relay:
    """Another way to a server, which can be closed."""

    def __init__(self, url: str) -> None:
        self._there = ("127.0.0.1", int(url.split(":")[2].split("/")[0]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/mcp"
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                here, _address = self._listener.accept()
            except OSError:
                return
            there = socket.create_connection(self._there)
            self._sockets += [here, there]
            for one, other in ((here, there), (there, here)):
                self._threads.append(threading.Thread(target=self._pass, args=(one, other)))
                self._threads[-1].start()

    @staticmethod
    def _pass(one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
