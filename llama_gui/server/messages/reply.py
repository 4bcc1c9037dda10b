"""A message: the object that is the whole reply, and without its content the first event of a stream. Pure."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.json_body import written_object
from llama_gui.server.pieces import Piece, pieces_of
from llama_gui.server.replies import call_fields, finish_reason
from llama_gui.server.served import ServedEngine
from llama_gui.server.whole_reply import told_usage
from llama_gui.tool_calls import ToolCall
from llama_gui.vocabulary import GenerateResult, TokenOutput, Usage

Block = dict[str, Any]

SIGNATURE = "llama-gui"
"""Of what was thought: clients send back only what is signed. Nobody checks it here."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why an answer ended, and the stop text that ended it."""

    reason: str
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class MessageForm:
    """What the message that answers one request says at any time."""

    model: str
    id: str = field(default_factory=lambda: f"msg_{secrets.token_hex(12)}")

    def fields(self, content: Sequence[Block], usage: Usage, ending: Ending | None = None) -> dict[str, Any]:
        """With this content; `ending` None: it has not ended."""
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": list(content),
            "stop_reason": ending and ending.reason,
            "stop_sequence": ending and ending.sequence,
            "usage": usage_fields(usage),
        }


def usage_fields(usage: Usage) -> dict[str, int]:
    """Token counts under this protocol's names, in which what the cache held is no part of the input."""
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
    }


def new_block(piece: Piece) -> Block:
    """The block that begins with `piece`, without anything in it."""
    if piece.kind == "text":
        return {"type": "text", "text": ""}
    if piece.kind == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "tool_use", "id": call_fields(ToolCall(piece.name, ""))["id"], "name": piece.name, "input": {}}


def begins_block(piece: Piece, former: Piece | None) -> bool:
    """Whether `piece` belongs to another block than the one before it."""
    return former is None or piece.begins or piece.kind != former.kind


def ending_of(asked: Asked, result: GenerateResult, engine: ServedEngine, *, called: bool) -> Ending:
    """Why an answer ended. `called`: it holds calls.

    Raises:
        RefusedError: it failed.
    """
    reason = finish_reason(asked.requests[0], result, engine)
    if asked.only_prompt:
        return Ending("max_tokens")
    if reason == "length":
        is_full = result.finish_reason == "context"
        return Ending("model_context_window_exceeded" if is_full else "max_tokens")
    if called:
        return Ending("tool_use")
    if isinstance(result.stop_reason, str):
        return Ending("stop_sequence", result.stop_reason)
    return Ending("end_turn")


def whole_message(
    asked: Asked, form: MessageForm, engine: ServedEngine, result: GenerateResult, outputs: Sequence[TokenOutput]
) -> dict[str, Any]:
    """The reply to a request that does not stream.

    Raises:
        RefusedError: the answer failed.
    """
    blocks = [] if asked.only_prompt else _blocks(pieces_of(asked, engine, outputs))
    called = any(block["type"] == "tool_use" for block in blocks)
    return form.fields(blocks, told_usage(asked, result), ending_of(asked, result, engine, called=called))


def _blocks(pieces: Iterable[Piece]) -> list[Block]:
    """A call that was cut is left out: its input is no object yet. An answer of nothing is an empty text."""
    held: list[tuple[Piece, list[str]]] = []
    for piece in pieces:
        if begins_block(piece, held[-1][0] if held else None):
            held.append((piece, []))
        held[-1][1].append(piece.text)
    blocks = [_filled(new_block(first), "".join(texts)) for first, texts in held]
    return [block for block in blocks if block is not None] or [new_block(Piece("text", ""))]


def _filled(block: Block, text: str) -> Block | None:
    if block["type"] == "text":
        return {**block, "text": text}
    if block["type"] == "thinking":
        return {**block, "thinking": text, "signature": SIGNATURE}
    given = written_object(text)
    return None if given is None else {**block, "input": given}
