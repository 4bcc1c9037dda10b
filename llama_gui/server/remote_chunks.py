"""What other people's servers send, each in its own way -> text, why it ended, how many tokens. Pure.

A remote server is a stranger: of what it sends, only text, role, calls, reason, usage and errors are read, and nothing
is believed to have the type that it should.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_gui.vocabulary import FinishReason, TopLogprob, Usage

MOST_CALLS = 128
MOST_TOPS = 50

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "max_tokens": "length",
}
_FAULTS = {
    "content_filter": "The server withheld the rest of the answer: its filter found something in it.",
    "abort": "The server broke the answer off.",
    "error": "The server broke the answer off.",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that arrived together, and its probability where the server tells one (else not a number)."""

    text: str
    logprob: float = math.nan
    tops: tuple[TopLogprob, ...] = ()


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)  # of its arguments, which may come letter by letter


class AnswerReader:
    """Reads one answer: the values of its stream, or the one value of a server that does not stream.

    Reasoning, which servers send beside the text, is put into it as the models themselves write it: in ``<think>``.
    Calls of functions are put behind it in ``<tool_call>``.
    """

    def __init__(self) -> None:
        self.finish_reason: FinishReason | None = None
        self.usage: Usage | None = None
        self.error = ""
        """Why the server could not go on; "" while it can."""
        self.call_letters = 0
        """Of calls that have come and are not said yet."""
        self._thinks = False
        self._calls: list[_Call] = []
        self._current: dict[int, _Call] = {}  # to which the parts with an index belong

    def read(self, value: Any) -> list[Piece]:
        """The text of one value of the stream; there may be none."""
        if not isinstance(value, Mapping):
            return []
        self.error = self.error or error_text(value)
        self._read_usage(value)
        choices = value.get("choices")
        if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
            return []
        choice = choices[0]
        if not isinstance(choice, Mapping):
            return []
        pieces = self._read_choice(choice)
        self._read_reason(choice.get("finish_reason"))
        return [piece for piece in pieces if piece.text]

    def finish(self) -> list[Piece]:
        """What is still to be said at the end."""
        text = "\n</think>\n\n" if self._thinks else ""
        self._thinks = False
        calls = [{"name": call.name, "arguments": _arguments(call)} for call in self._calls if call.name]
        self._calls.clear()
        self._current.clear()
        self.call_letters = 0
        text += "\n".join(f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>" for call in calls)
        return [Piece(text)] if text else []

    def _read_choice(self, choice: Mapping[str, Any]) -> list[Piece]:
        said = next((choice[name] for name in ("delta", "message") if isinstance(choice.get(name), Mapping)), {})
        self._read_calls(said.get("tool_calls"))
        thought, text = _split_content(said.get("content"))
        for name in ("reasoning_content", "reasoning"):  # vLLM, SGLang, llama.cpp, LM Studio; Ollama, newer vLLM
            if isinstance(said.get(name), str) and said[name]:
                thought += said[name]
                break
        plain = choice.get("text")  # of /completions
        text += plain if isinstance(plain, str) else ""
        pieces = []
        if thought:
            pieces.append(Piece(thought if self._thinks else f"<think>\n{thought}"))
            self._thinks = True
        if text:
            if self._thinks:
                pieces.append(Piece("\n</think>\n\n"))
                self._thinks = False
            pieces += _with_logprobs(text, choice.get("logprobs"))
        return pieces

    def _read_reason(self, reason: Any) -> None:
        # Some say "stop" with every piece, so this is not the end: the end of the stream is.
        if not isinstance(reason, str) or not reason:
            return
        self.finish_reason = _REASONS.get(reason, "stop")
        if reason in _FAULTS:
            self.error = self.error or _FAULTS[reason]

    def _read_usage(self, value: Mapping[str, Any]) -> None:
        usage = value.get("usage")
        if not isinstance(usage, Mapping):
            return
        details = usage.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else 0
        read = Usage(_count(usage.get("prompt_tokens")), cached, _count(usage.get("completion_tokens")))
        if read.prompt_tokens or read.completion_tokens:
            self.usage = read

    def _read_calls(self, calls: Any) -> None:
        if not isinstance(calls, list):
            return
        for position, entry in enumerate(calls[:MOST_CALLS]):
            function = entry.get("function") if isinstance(entry, Mapping) else None
            if not isinstance(function, Mapping):
                continue
            index = entry.get("index")
            index = index if isinstance(index, int) and 0 <= index < MOST_CALLS else position
            name, arguments = _text(function.get("name")), _text(function.get("arguments"))
            call = self._call(index, _text(entry.get("id")), name)
            if call is None:
                continue
            call.name = name or call.name
            call.parts.append(arguments)
            self.call_letters += len(name) + len(arguments)

    def _call(self, index: int, call_id: str, name: str) -> _Call | None:
        """The call that a part with this index, id and name belongs to; None: there are too many.

        Some servers give all calls one index, or none: there a name with another id begins the next.
        """
        call = self._current.get(index)
        if call is None or (name and call_id and call.id and call_id != call.id):
            if len(self._calls) >= MOST_CALLS:
                return None
            call = self._current[index] = _Call(call_id)
            self._calls.append(call)
        return call


def error_text(value: Any) -> str:
    """What a server says about a failure, in whichever shape; "" when it says none."""
    if not isinstance(value, Mapping):
        return ""
    error = value.get("error")
    if isinstance(error, str):
        return _line(error)
    if isinstance(error, Mapping):
        words = next((error[key] for key in ("message", "msg", "detail", "code", "type") if error.get(key)), "")
        return _line(words) or "an error without words"
    if value.get("object") == "error" or ("choices" not in value and isinstance(value.get("message"), str)):
        return _line(value.get("message") or "") or "an error without words"
    detail = value.get("detail")  # FastAPI
    if isinstance(detail, list):
        return _line("; ".join(str(part.get("msg", "")) for part in detail if isinstance(part, Mapping)))
    return _line(detail) if isinstance(detail, str) else ""


def _line(words: Any) -> str:
    """Foreign words as one line of bounded length, without what a terminal or a label could act on."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(words)[:2000])
    text = " ".join(text.split())
    return text if len(text) <= 500 else text[:500] + "…"


def _split_content(content: Any) -> tuple[str, str]:
    """Reasoning and text of a content, which may be a list of parts."""
    if isinstance(content, str):
        return "", content
    thought, text = "", ""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "thinking":
            thought += _split_content(part.get("thinking"))[1]
        elif isinstance(part.get("text"), str):
            text += part["text"]
    return thought, text


def _with_logprobs(text: str, logprobs: Any) -> list[Piece]:
    """The text as its tokens, where the server tells them and they join to it; else whole."""
    entries = _token_entries(logprobs) if isinstance(logprobs, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        return [Piece(text)]
    pieces = [
        Piece(str(entry.get("token", "")), _number(entry.get("logprob")), _tops(entry.get("top_logprobs")))
        for entry in entries
    ]
    if "".join(piece.text for piece in pieces) == text:
        return pieces
    first = pieces[0] if pieces else Piece("")
    return [Piece(text, first.logprob, first.tops)]


def _token_entries(logprobs: Mapping[str, Any]) -> Any:
    """The tokens as chat answers tell them; completions have a list for each property instead."""
    tokens, numbers = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(numbers, list) or len(tokens) != len(numbers):
        return logprobs.get("content")
    tops = logprobs.get("top_logprobs")
    tops = tops if isinstance(tops, list) and len(tops) == len(tokens) else [None] * len(tokens)
    return [
        {"token": token, "logprob": number, "top_logprobs": _listed(top)}
        for token, number, top in zip(tokens, numbers, tops, strict=True)
    ]


def _listed(top: Any) -> list[dict[str, Any]]:
    return [{"token": token, "logprob": number} for token, number in top.items()] if isinstance(top, Mapping) else []


def _tops(entries: Any) -> tuple[TopLogprob, ...]:
    found = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    return tuple(
        TopLogprob(-1, str(entry.get("token", "")), _number(entry.get("logprob"))) for entry in found[:MOST_TOPS]
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def _arguments(call: _Call) -> Any:
    text = "".join(call.parts)
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
