"""Ids -> text as they come, without ever showing half a character and without losing a byte.

Every token is bytes. Decoding the text anew at each token, as many programs do, costs more with every token and can
change what was shown already; a table of bytes and Python's incremental UTF-8 decoder cannot.
"""

import codecs
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_METASPACE = "\u2581"
_BROKEN = "\ufffd"
_MOST_PENDING = 3  # bytes of a character of which more may come; some decoders write U+FFFD for each
_BEFORE = 5  # ids of the text before that decide about a space, as vLLM has it
_PATIENCE = 16  # tokens that may end in U+FFFD before it is believed: it may also be meant, beside a half character


class Detokenizer(Protocol):
    """Turns the ids of one answer into text, piece by piece."""

    def push(self, token_id: int) -> str:
        """The text that is complete with this token; "" for half a character and for control tokens."""
        ...

    def end(self, token_id: int) -> str:
        """The text that is complete with a token which ends the answer, and is no part of it."""
        ...

    def flush(self) -> str:
        """What is left at the end: U+FFFD for a character that was never finished."""
        ...


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a family of tokenizers writes bytes in its tokens, and in those that were added to the vocabulary.

    `leading_spaces` are dropped at the very beginning.
    """

    to_bytes: Callable[[str], bytes]
    added_to_bytes: Callable[[str], bytes]
    leading_spaces: int = 0


@cache
def byte_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-ins for the 256 bytes: character -> byte."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    return alphabet | {chr(256 + place): byte for place, byte in enumerate(others)}


def _byte_level(token: str) -> bytes:
    alphabet = byte_alphabet()
    try:
        return bytes(map(alphabet.__getitem__, token))
    except KeyError:  # an added token in plain writing
        return _plain(token)


def _plain(token: str) -> bytes:
    return token.encode("utf-8", "replace")


def _sentencepiece(token: str) -> bytes:
    match = _BYTE_TOKEN.fullmatch(token)
    return bytes([int(match[1], 16)]) if match else token.replace(_METASPACE, " ").encode("utf-8", "replace")


def spelling_of(decoder: Any) -> Spelling | None:
    """The spelling that the "decoder" part of tokenizer.json describes; None: one that we do not know."""
    parts = _flatten(decoder)
    kinds = [part.get("type") for part in parts]
    if kinds == ["ByteLevel"]:
        return Spelling(_byte_level, _plain)
    known = {"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"}
    if not kinds or not set(kinds) <= known or not set(kinds) & {"Replace", "Metaspace"}:
        return None
    for part in parts:
        pattern = part.get("pattern")
        if part["type"] == "Replace" and (pattern != {"String": _METASPACE} or part.get("content") != " "):
            return None
    # Gemma adds its runs of blanks, which are spelt like all others.
    return Spelling(_sentencepiece, _sentencepiece, sum(_leading_spaces(part) for part in parts))


def _flatten(decoder: Any) -> list[dict[str, Any]]:
    if not isinstance(decoder, dict):
        return []
    if decoder.get("type") != "Sequence":
        return [decoder]
    return [part for inner in decoder.get("decoders", []) for part in _flatten(inner)]


def _leading_spaces(part: dict[str, Any]) -> int:
    if part["type"] == "Strip" and part.get("content") == " ":
        return int(part.get("start", 0))
    return int(part["type"] == "Metaspace" and part.get("prepend_scheme", "always") != "never")


class ByteDetokenizer:
    """For tokenizers whose tokens are known bytes. `bytes_of` gives a token's, b"" for control tokens."""

    def __init__(self, bytes_of: Callable[[int], bytes], leading_spaces: int) -> None:
        self._bytes_of = bytes_of
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._leading_spaces = leading_spaces

    def push(self, token_id: int) -> str:
        """See `Detokenizer.push`."""
        return self._stripped(self._decoder.decode(self._bytes_of(token_id)))

    def end(self, token_id: int) -> str:
        """See `Detokenizer.end`: none, other tokens end no text of their own."""
        return ""

    def flush(self) -> str:
        """See `Detokenizer.flush`."""
        return self._stripped(self._decoder.decode(b"", final=True))

    def _stripped(self, text: str) -> str:
        while text and self._leading_spaces:
            if text[0] != " ":
                self._leading_spaces = 0
                break
            text = text[1:]
            self._leading_spaces -= 1
        return text


class WindowDetokenizer:
    """For every other tokenizer: decode the last tokens with and without the new one, and show the difference.

    The window starts at the last place where the text was whole: the method of text-generation-inference. `behind`: the
    ids of ordinary text that stands before.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], behind: Sequence[int] = ()) -> None:
        self._decode = decode
        before = list(behind[-_BEFORE:])
        text = decode(before) if before else ""
        for _ in range(_MOST_PENDING):  # it may begin within a character, and some decoders show none of its bytes then
            if not text.endswith(_BROKEN) or len(before) < 2:
                break
            text = decode(before := before[1:])
        # Behind half a character nothing can be said of where the new text begins.
        self._ids: list[int] = [] if text.endswith(_BROKEN) else before
        self._context = len(self._ids)  # ids whose text is known; they stay in the window, for the spaces between
        self._given = len(text) if self._ids else 0  # characters of the window's text that are known

    def push(self, token_id: int) -> str:
        """See `Detokenizer.push`."""
        self._ids.append(token_id)
        now = self._decode(self._ids)
        broken = len(now) - len(now.rstrip(_BROKEN))
        if broken and len(self._ids) - self._context <= _PATIENCE:
            return ""
        end = len(now) - min(broken, _MOST_PENDING)  # what is further back will never be a character
        piece = now[self._given : end]
        self._given = max(self._given, end)
        if piece and not broken:
            self._ids, self._context = self._ids[self._context :], len(self._ids) - self._context
            self._given = len(self._decode(self._ids))
        return piece

    def end(self, token_id: int) -> str:
        """See `Detokenizer.end`: none."""
        return ""

    def flush(self) -> str:
        """See `Detokenizer.flush`."""
        rest = self._decode(self._ids)[self._given :]
        self._ids, self._context, self._given = [], 0, 0
        return rest
