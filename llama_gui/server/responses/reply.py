"""A response: the object that is the whole reply, and stands in the first and the last events of a stream. Pure."""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.calling import forced_calls, limited, opening, said_and_called
from llama_gui.server.refusal import RefusedError
from llama_gui.server.replies import call_fields, chat_logprobs, finish_reason, is_told
from llama_gui.server.served import ServedEngine
from llama_gui.tool_calls import ToolCall
from llama_gui.vocabulary import GenerateResult, TokenOutput, Usage

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """What the response to one request says at any time. `repeated`: what it says of the request."""

    model: str
    repeated: Mapping[str, Any]
    id: str = field(default_factory=lambda: f"resp_{secrets.token_hex(24)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def under_way(self) -> dict[str, Any]:
        """Before it has ended."""
        return self._fields("in_progress", [])

    def ended(self, items: Sequence[Item], usage: Usage, reason: str) -> dict[str, Any]:
        """With all its items; `reason`: why the answer ended, as a chat answer has it."""
        told = self._fields(status_of(reason), items, usage=usage_fields(usage))
        return {**told, "incomplete_details": {"reason": "max_output_tokens"}} if reason == "length" else told

    def failed(self, refused: RefusedError, items: Sequence[Item]) -> dict[str, Any]:
        """Because of this."""
        return {**self._fields("failed", items), "error": {"code": "server_error", "message": refused.message}}

    def _fields(self, status: str, items: Sequence[Item], usage: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "model": self.model,
            "output": list(items),
            **self.repeated,
            "usage": usage,
        }


def status_of(reason: str) -> str:
    """Of a response, or of its last item."""
    return "incomplete" if reason == "length" else "completed"


def usage_fields(usage: Usage) -> dict[str, Any]:
    """Token counts under this protocol's names."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def text_part(text: str, logprobs: Sequence[Item] = ()) -> dict[str, Any]:
    """The one part of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}


class Likelihoods:
    """How likely the tokens of a message are, where that is asked for: each with the text that it is part of.

    Text that may be a call is held back, and so are its tokens; those of a call are no message's.
    """

    def __init__(self, asked: Asked, engine: ServedEngine) -> None:
        self._asked = asked
        self._engine = engine
        self._held: list[tuple[int, Item]] = []  # where the text of each token begins, in letters of the answer
        self._drawn = 0
        self._said = 0

    def push(self, output: TokenOutput) -> None:
        """A token was drawn."""
        begins, self._drawn = self._drawn, self._drawn + len(output.text)
        if self._asked.logprobs and is_told(self._asked.requests[0], output.token_id, self._engine):
            self._held += [(begins, item) for item in chat_logprobs([output], self._engine.tokenizer)["content"]]

    def take(self, text: str) -> list[Item]:
        """The tokens of the next piece of text that is said."""
        self._said += len(text)
        count = sum(begins < self._said for begins, _ in self._held)
        taken, self._held = self._held[:count], self._held[count:]
        return [item for _, item in taken]


def message_item(item_id: str, status: str, parts: Sequence[Item]) -> dict[str, Any]:
    """What the assistant says."""
    return {"id": item_id, "type": "message", "role": "assistant", "status": status, "content": list(parts)}


def call_item(call: ToolCall, status: str = "completed") -> dict[str, Any]:
    """A call of a function."""
    return {
        "id": new_id("fc"),
        "type": "function_call",
        "call_id": call_fields(call)["id"],
        "name": call.name,
        "arguments": call.arguments,
        "status": status,
    }


def new_id(kind: str) -> str:
    """An id for an item."""
    return f"{kind}_{secrets.token_hex(24)}"


def whole_response(
    asked: Asked, form: ResponseForm, engine: ServedEngine, result: GenerateResult, outputs: Sequence[TokenOutput]
) -> dict[str, Any]:
    """The reply to a request that does not stream.

    Raises:
        RefusedError: the answer failed.
    """
    reason = finish_reason(asked.requests[0], result, engine)
    text, calls = said_and_called(asked, engine, 0, "".join(output.text for output in outputs))
    likelihoods = Likelihoods(asked, engine)
    for output in outputs:
        likelihoods.push(output)
    logprobs = likelihoods.take(text.removeprefix(opening(asked, engine, 0)))
    items: list[Item] = [*map(call_item, limited(asked, calls))]
    if items and forced_calls(asked) is not None:  # those that need not be made are read only where they are whole
        items[-1] = {**items[-1], "status": status_of(reason)}
    if text or not items:
        items.insert(0, message_item(new_id("msg"), status_of(reason), [text_part(text, logprobs)]))
    return form.ended(items, result.usage, reason)
