"""Images through all protocols: each says the same as the library."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from llama_gui.engine import Engine, GenerateRequest, Image, Message, SamplingParams
from llama_gui.server.limits import ServerLimits
from llama_gui.server.serve import ApiServer
from tests.fakes.tiny_pixtral import picture, write_tiny_pixtral
from tests.server.conftest import KEY, Serve, ask, client_of

FIRST, SECOND = picture(60, 40, 1), picture(30, 90, 2, "JPEG")
ASKED = "Which is red?"
GREEDY: Any = {"extra_body": {"temperature": 0}}  # the protocol has it, the client no more


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory, kernel_notes: Path) -> Iterator[Engine]:
    folder = write_tiny_pixtral(tmp_path_factory.mktemp("seeing") / "model")
    with Engine.load(folder, device="cpu", threads=1, kernel_notes=kernel_notes) as engine:
        yield engine


@pytest.fixture
def server(serve: Serve, seeing: Engine) -> ApiServer:
    return serve(seeing)


@pytest.fixture(scope="module")
def expected(seeing: Engine) -> Any:
    """The answer to two images and the words behind them."""
    messages = [Message("user", ASKED, images=[FIRST, SECOND])]
    return seeing.generate(GenerateRequest(messages=messages, max_tokens=12, sampling=SamplingParams(temperature=0)))


def text_of(image: Image) -> str:
    return base64.b64encode(image.data).decode()


def url_of(image: Image) -> str:
    return f"data:{image.media_type};base64,{text_of(image)}"


def test_chat_completions(server: ApiServer, expected: Any):
    parts: Any = [{"type": "image_url", "image_url": {"url": url_of(image)}} for image in (FIRST, SECOND)]
    with client_of(server) as client:
        reply = client.chat.completions.create(
            model="model",
            messages=[{"role": "user", "content": [*parts, {"type": "text", "text": ASKED}]}],
            max_tokens=12,
            temperature=0,
        )
    assert reply.choices[0].message.content == expected.text
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == expected.usage.prompt_tokens


def test_responses(server: ApiServer, expected: Any):
    parts: Any = [{"type": "input_image", "image_url": url_of(image), "detail": "auto"} for image in (FIRST, SECOND)]
    with client_of(server) as client:
        reply = client.responses.create(
            model="model",
            input=[{"role": "user", "content": [*parts, {"type": "input_text", "text": ASKED}]}],
            max_output_tokens=12,
            temperature=0,
        )
    assert reply.output_text == expected.text


def test_messages(server: ApiServer, expected: Any):
    def block(image: Image) -> Any:
        source = {"type": "base64", "media_type": image.media_type, "data": text_of(image)}
        return {"type": "image", "source": source}

    said: Any = [block(FIRST), block(SECOND), {"type": "text", "text": ASKED}]
    http = anthropic.DefaultHttpxClient(verify=False)
    with anthropic.Anthropic(base_url=server.url.removesuffix("/v1"), api_key=KEY, http_client=http) as client:
        for turns in ([{"role": "user", "content": said}], [{"role": "user", "content": [one]} for one in said]):
            reply = client.messages.create(model="model", messages=turns, max_tokens=12, **GREEDY)
            assert [block.text for block in reply.content if block.type == "text"] == [expected.text]
        counted = client.messages.count_tokens(model="model", messages=[{"role": "user", "content": said}])
    assert counted.input_tokens == expected.usage.prompt_tokens


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
def test_ollama(server: ApiServer, expected: Any, path: str):
    images = {"images": [text_of(FIRST), text_of(SECOND)]}
    options = {"stream": False, "options": {"temperature": 0, "num_predict": 12}}
    body = (
        {"messages": [{"role": "user", "content": ASKED, **images}]} if "chat" in path else {"prompt": ASKED, **images}
    )
    status, reply = ask(server, {**body, **options}, path)
    assert status == 200, reply
    assert reply.get("response", reply.get("message", {}).get("content")) == expected.text


def test_ollama_tells_that_it_sees(server: ApiServer):
    status, reply = ask(server, {"model": "model"}, "/api/show")
    assert (status, "vision" in reply["capabilities"]) == (200, True)


def test_a_model_that_reads_none_says_so(serve: Serve, starter: Engine):
    part = {"type": "image_url", "image_url": {"url": url_of(FIRST)}}
    status, reply = ask(serve(starter), {"messages": [{"role": "user", "content": [part]}]})
    assert status == 400
    assert reply["error"]["code"] == "unsupported"
    assert "reads no images. Choose a model that does" in reply["error"]["message"]


def test_a_damaged_image_is_the_callers_fault(server: ApiServer):
    cut = Image(FIRST.data[:100])
    part = {"type": "image_url", "image_url": {"url": url_of(cut)}}
    status, reply = ask(server, {"messages": [{"role": "user", "content": [part]}]})
    assert (status, reply["error"]["param"]) == (400, "messages")
    assert "damaged" in reply["error"]["message"]


def test_there_is_room_for_photos():
    assert ServerLimits().body_bytes >= 24 * 2**20
