"""Embeddings through the server: OpenAI's own client, Ollama's bodies, and what is refused."""

import base64
import struct
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
import torch

from llama_gui.engine import EmbedRequest, Engine
from llama_gui.server.embedding import MOST_INPUTS
from llama_gui.server.serve import ApiServer
from tests.fakes.tiny_embedder import write_tiny_embedder
from tests.server.conftest import CHAT, ask, client_of, serving

TEXTS = ["What is a whale?", "A whale is a mammal that lives in the sea.", "Bread is baked."]
LONG = "The sea is deep and blue. " * 60
PATH = "/v1/embeddings"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, kernel_notes: Path) -> Iterator[Engine]:
    folder = write_tiny_embedder(tmp_path_factory.mktemp("models") / "embedder")
    with Engine.load(folder, device="cpu", threads=1, max_context=256, kernel_notes=kernel_notes) as engine:
        engine.warmup()
        yield engine


@pytest.fixture
def server(engine: Engine) -> Iterator[ApiServer]:
    with serving() as serve:
        yield serve(engine)


@pytest.fixture
def client(server: ApiServer) -> Iterator[openai.OpenAI]:
    with client_of(server) as client:
        yield client


def test_vectors_are_the_librarys(client: openai.OpenAI, engine: Engine):
    """The client asks for base64 by itself."""
    reply = client.embeddings.create(model=engine.info.name, input=TEXTS)
    assert [item.index for item in reply.data] == [0, 1, 2]
    assert torch.equal(torch.tensor([item.embedding for item in reply.data]), engine.embed(TEXTS))
    counts = [len(engine.tokenizer.encode(text, add_special_tokens=True)) for text in TEXTS]
    assert reply.usage.prompt_tokens == reply.usage.total_tokens == sum(counts)
    assert reply.model == engine.info.name


def test_numbers_and_bytes_are_the_same(server: ApiServer):
    _, numbers = ask(server, {"input": TEXTS[0], "encoding_format": "float"}, PATH)
    _, text = ask(server, {"input": TEXTS[0], "encoding_format": "base64"}, PATH)
    raw = base64.b64decode(text["data"][0]["embedding"])
    assert list(struct.unpack(f"<{len(raw) // 4}f", raw)) == numbers["data"][0]["embedding"]


def test_fewer_dimensions(client: openai.OpenAI, engine: Engine):
    reply = client.embeddings.create(model=engine.info.name, input=TEXTS[0], dimensions=8)
    expected = engine.embed([EmbedRequest(TEXTS[0], dimensions=8)])
    assert torch.equal(torch.tensor([reply.data[0].embedding]), expected)


def test_token_ids(client: openai.OpenAI, engine: Engine):
    ids = [engine.tokenizer.encode(text, add_special_tokens=True) for text in TEXTS]
    several = client.embeddings.create(model=engine.info.name, input=ids)
    assert torch.equal(torch.tensor([item.embedding for item in several.data]), engine.embed(TEXTS))
    one = client.embeddings.create(model=engine.info.name, input=ids[0])
    assert one.data[0].embedding == several.data[0].embedding


def test_ollama(server: ApiServer, engine: Engine):
    status, reply = ask(server, {"model": engine.info.name, "input": TEXTS}, "/api/embed")
    assert status == 200
    assert torch.equal(torch.tensor(reply["embeddings"]), engine.embed(TEXTS))
    assert reply["prompt_eval_count"] > 0
    assert reply["total_duration"] > 0
    status, reply = ask(server, {"model": engine.info.name + ":latest", "prompt": TEXTS[0]}, "/api/embeddings")
    assert torch.equal(torch.tensor([reply["embedding"]]), engine.embed(TEXTS[:1]))
    _, reply = ask(server, {"model": engine.info.name}, "/api/show")
    assert "embedding" in reply["capabilities"]
    assert "completion" not in reply["capabilities"]


def test_what_is_too_long_is_refused_or_cut(server: ApiServer, engine: Engine):
    status, reply = ask(server, {"input": [TEXTS[0], LONG]}, PATH)
    assert (status, reply["error"]["code"]) == (400, "context_length_exceeded")
    assert reply["error"]["param"] == "input"
    cut = engine.embed([EmbedRequest(LONG, truncate=True)])
    status, reply = ask(server, {"input": LONG, "truncate_prompt_tokens": -1}, PATH)
    assert torch.equal(torch.tensor([reply["data"][0]["embedding"]]), cut)
    status, reply = ask(server, {"input": LONG}, "/api/embed")
    assert torch.equal(torch.tensor(reply["embeddings"]), cut)
    assert ask(server, {"input": LONG, "truncate": False}, "/api/embed")[0] == 400


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": ""}, "input"),
        ({"input": ["a", ""]}, "input"),
        ({"input": [[]]}, "input"),
        ({"input": [[1], [-1]]}, "input"),
        ({"input": [1, "a"]}, "input"),
        ({"input": ["a"] * (MOST_INPUTS + 1)}, "input"),
        ({"input": [10**6]}, "input"),
        ({"input": "a", "dimensions": 0}, "dimensions"),
        ({"input": "a", "dimensions": 10**5}, "dimensions"),
        ({"input": "a", "encoding_format": "hex"}, "encoding_format"),
        ({"input": "a", "truncate_prompt_tokens": 5}, "truncate_prompt_tokens"),
        ({"input": "a", "normalize": False}, "normalize"),
        ({"input": "a", "model": "nobody"}, "model"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(server: ApiServer, body: dict, param: str):
    status, reply = ask(server, body, PATH)
    assert status == (404 if param == "model" else 400)
    assert reply["error"]["param"] == param


def test_a_model_for_vectors_does_not_chat_and_the_other_way_round(server: ApiServer, starter: Engine):
    status, reply = ask(server, {"messages": [{"role": "user", "content": "Hi"}]}, CHAT)
    assert (status, reply["error"]["param"]) == (400, "model")
    assert "turns texts into vectors" in reply["error"]["message"]
    with serving() as serve:
        status, reply = ask(serve(starter), {"input": "Hi"}, PATH)
    assert (status, reply["error"]["param"]) == (400, "model")
    assert "for embeddings" in reply["error"]["message"]


def test_many_texts_in_one_request(server: ApiServer, engine: Engine):
    texts = [f"{number} whales" for number in range(100)]
    _, reply = ask(server, {"input": texts}, PATH)
    assert torch.equal(torch.tensor([item["embedding"] for item in reply["data"]]), engine.embed(texts))
