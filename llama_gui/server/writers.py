"""Who writes an answer: each protocol has its own, for streams and for whole replies."""

from collections.abc import Sequence
from typing import Any, Protocol

from llama_gui.server.answers import Arrived
from llama_gui.server.asked import Asked
from llama_gui.server.echo import Echo
from llama_gui.server.messages.events import MessageEvents
from llama_gui.server.messages.reply import MessageForm, whole_message
from llama_gui.server.ollama.lines import LineForm, OllamaLines, whole_line
from llama_gui.server.refusal import RefusedError
from llama_gui.server.replies import Envelope
from llama_gui.server.responses.events import ResponseEvents
from llama_gui.server.responses.reply import ResponseForm, whole_response
from llama_gui.server.served import ServedEngine
from llama_gui.server.stream import ChunkMaker
from llama_gui.server.whole_reply import whole_reply
from llama_gui.vocabulary import GenerateResult, TokenOutput

_OLLAMA = ("ollama-chat", "ollama-generate")


class Writer(Protocol):
    """Writes the events of one streaming answer."""

    @property
    def media_type(self) -> str:
        """What kind of stream it is."""
        ...

    @property
    def ping(self) -> bytes:
        """What tells a client that waits that it is not forgotten."""
        ...

    def begin(self) -> bytes:
        """The events before the first token."""
        ...

    def events(self, arrived: Arrived) -> bytes:
        """Those of a token, or of the end of an answer; there may be none. Raises RefusedError: the answer failed."""
        ...

    def end(self) -> bytes:
        """The last events."""
        ...

    def failure(self, refused: RefusedError) -> bytes:
        """The last event of a stream that failed."""
        ...


def writer_of(
    asked: Asked, envelope: Envelope, engine: ServedEngine, echoes: Sequence[Echo], prompts: Sequence[Sequence[int]]
) -> Writer:
    """Who writes the answer to a request as it comes; `prompts`: the tokens of each."""
    if asked.protocol == "messages":
        return MessageEvents(asked, MessageForm(envelope.model), engine, len(prompts[0]))
    if asked.protocol in _OLLAMA:
        return OllamaLines(asked, LineForm(envelope.model, asked.protocol == _OLLAMA[0]), engine)
    if asked.protocol == "responses":
        return ResponseEvents(asked, ResponseForm(envelope.model, asked.response or {}), engine)
    return ChunkMaker(asked, envelope, engine, echoes, prompts)


def whole_answer(
    asked: Asked,
    envelope: Envelope,
    engine: ServedEngine,
    results: Sequence[GenerateResult],
    outputs: Sequence[Sequence[TokenOutput]],
    echoes: Sequence[Echo],
    prompts: Sequence[Sequence[int]],
) -> dict[str, Any]:
    """The reply to a request that does not stream; `outputs` are the tokens of each answer.

    Raises:
        RefusedError: an answer failed.
    """
    if asked.protocol == "messages":
        return whole_message(asked, MessageForm(envelope.model), engine, results[0], outputs[0])
    if asked.protocol in _OLLAMA:
        form = LineForm(envelope.model, asked.protocol == _OLLAMA[0])
        return whole_line(asked, form, engine, results[0], outputs[0])
    if asked.protocol == "responses":
        form = ResponseForm(envelope.model, asked.response or {})
        return whole_response(asked, form, engine, results[0], outputs[0])
    return whole_reply(asked, envelope, engine, results, outputs, echoes, prompts)
