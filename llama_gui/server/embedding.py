"""Embeddings: the bodies of /v1/embeddings and of Ollama's /api/embed and /api/embeddings, and their answers."""

import base64
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_gui.server.asgi import Send
from llama_gui.server.generating import Generator, send_json
from llama_gui.server.json_body import dump
from llama_gui.server.refusal import RefusedError, refusal_of, renamed, wrong
from llama_gui.server.refused_fields import Cannot, refuse_what_we_cannot
from llama_gui.server.request_fields import Fields
from llama_gui.server.served import ServedEngine
from llama_gui.server.visits import Visit
from llama_gui.vocabulary import EmbedRequest, GenerateResult, vector_in

MOST_INPUTS = 2048
"""As OpenAI has it."""
_MOST_DIMENSIONS = 2**20
_ALLOWED = "a text, a list of texts, a list of token ids, or a list of such lists"
_CANNOT: Cannot = {
    "messages": ("send the text as input", ([],)),
    "truncate_prompt_tokens": ("texts that are too long are cut with -1 only, at their end", (-1,)),
    "embed_dtype": ("numbers are float32 here", ("float32",)),
    "endianness": ("bytes are little-endian here", ("native", "little")),
    "normalize": ("all vectors have length one here", (True,)),
    "use_activation": ("all vectors have length one here", (True,)),
}
Shape = Callable[["EmbedAsked", str, Sequence[GenerateResult]], dict[str, Any]]
"""The answer to a request from the model's name and the vectors."""


@dataclass(frozen=True, slots=True)
class EmbedAsked:
    """A request, read: a vector for each of `requests`. `as_base64`: written so instead of as numbers.

    `field`: what the texts are called in it.
    """

    model: str | None
    requests: tuple[EmbedRequest, ...]
    shape: Shape
    field: str = "input"
    as_base64: bool = False


def read_embeddings(body: Mapping[str, Any]) -> EmbedAsked:
    """The body of /v1/embeddings.

    Raises:
        RefusedError: a field is missing, wrong, or asks for what this server cannot do.
    """
    fields = Fields(body)
    refuse_what_we_cannot(fields, _CANNOT)
    as_base64 = fields.one_of("encoding_format", ("float", "base64")) == "base64"
    is_cut = fields.get("truncate_prompt_tokens") == -1
    requests = _requests(fields, _inputs(fields, "input"), is_cut=is_cut)
    return EmbedAsked(fields.text("model"), requests, _as_openai, as_base64=as_base64)


def read_embed(body: Mapping[str, Any]) -> EmbedAsked:
    """The body of /api/embed. A text that is too long is cut, unless that is not wanted.

    Raises:
        RefusedError: see `read_embeddings`.
    """
    fields = Fields(body)
    is_cut = fields.get("truncate") is None or fields.flag("truncate")
    return EmbedAsked(fields.text("model"), _requests(fields, _texts(fields, "input"), is_cut=is_cut), _as_ollama)


def read_old_embeddings(body: Mapping[str, Any]) -> EmbedAsked:
    """The body of /api/embeddings, which has one text; see `read_embed`."""
    fields = Fields(body)
    prompt = fields.text("prompt")
    if prompt is None:
        raise fields.wrong("prompt", "a text")
    return EmbedAsked(fields.text("model"), _requests(fields, [prompt], is_cut=True), _as_old_ollama, "prompt")


def _requests(fields: Fields, inputs: Sequence[str | list[int]], *, is_cut: bool) -> tuple[EmbedRequest, ...]:
    dimensions = fields.whole("dimensions", 1, _MOST_DIMENSIONS)
    return tuple(
        EmbedRequest(text, dimensions=dimensions, truncate=is_cut)
        if isinstance(text, str)
        else EmbedRequest(token_ids=text, dimensions=dimensions, truncate=is_cut)
        for text in inputs
    )


def _inputs(fields: Fields, name: str) -> Sequence[str | list[int]]:
    """Texts or lists of token ids."""
    value = fields.get(name)
    if isinstance(value, list) and value and all(_is_id(item) for item in value):
        return [value]
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        if not all(item and all(map(_is_id, item)) for item in value):
            raise fields.wrong(name, _ALLOWED)
        return _few(fields, name, value)
    return _texts(fields, name)


def _texts(fields: Fields, name: str) -> list[str]:
    value = fields.get(name)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise fields.wrong(name, _ALLOWED)
    if not all(texts):
        raise wrong(name, "", "texts that are not empty")
    return _few(fields, name, texts)


def _few(fields: Fields, name: str, values: list[Any]) -> list[Any]:
    if len(values) > MOST_INPUTS:
        raise wrong(fields.path_of(name), f"{len(values)} long", f"at most {MOST_INPUTS} long")
    return values


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


# --- answers


def _as_openai(asked: EmbedAsked, name: str, results: Sequence[GenerateResult]) -> dict[str, Any]:
    tokens = _tokens(results)
    data = [
        {"object": "embedding", "index": index, "embedding": _written(result.embedding, as_base64=asked.as_base64)}
        for index, result in enumerate(results)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": name, "usage": usage}


def _as_ollama(_asked: EmbedAsked, name: str, results: Sequence[GenerateResult]) -> dict[str, Any]:
    seconds = max(result.timings.queued + result.timings.prefill for result in results)
    return {
        "model": name,
        "embeddings": [list(result.embedding) for result in results],
        "total_duration": round(seconds * 1e9),
        "load_duration": 0,
        "prompt_eval_count": _tokens(results),
    }


def _as_old_ollama(_asked: EmbedAsked, _name: str, results: Sequence[GenerateResult]) -> dict[str, Any]:
    return {"embedding": list(results[0].embedding)}


def _written(vector: Sequence[float], *, as_base64: bool) -> str | list[float]:
    return base64.b64encode(array("f", vector).tobytes()).decode() if as_base64 else list(vector)


def _tokens(results: Sequence[GenerateResult]) -> int:
    return sum(result.usage.prompt_tokens for result in results)


async def answer_embeddings(generator: Generator, asked: EmbedAsked, visit: Visit, send: Send) -> None:
    """Answer a request; to cancel this is to cancel its jobs.

    Raises:
        RefusedError: it cannot be answered, and nothing was sent yet.
    """

    async def work(engine: ServedEngine, name: str) -> None:
        results = await generator.results_of(engine, asked.requests)
        for result in results:
            vector_in(result)  # raises where there is none
        visit.prompt_tokens = _tokens(results)
        await send_json(send, dump(asked.shape(asked, name, results)))

    async def refusal(error: Exception, engine: ServedEngine | None) -> RefusedError:
        refused = refusal_of(error, engine.info.path if engine is not None else "", is_chat=False)
        return renamed(refused, {"prompt": asked.field})

    await generator.with_engine(asked.model or generator.embedder(), 1, work, refusal)
