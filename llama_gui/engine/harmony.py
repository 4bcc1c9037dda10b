"""OpenAI's response format of gpt-oss ("harmony"): an answer is several messages, each in a channel.

::

    <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>
    <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>

Of these marks nothing is shown. What is thought stands between <think> tags, and calls between <tool_call> tags, as
with other models: so whoever reads answers reads these as well.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from llama_gui.engine.detokenizer import Detokenizer
from llama_gui.engine.stop_strings import StopStrings
from llama_gui.engine.tag_guard import CALLS, CLOSING, OPENING, TaggedText, TagGuard, unguarded
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.tool_calls import Thoughts, parted

_RECIPIENT = re.compile(r"\bto=(\S+)")
_WORD = re.compile(r"\s*(\w+)")
_TO = "to="
_FUNCTIONS = "functions."
_THINK, _THOUGHT = "<think>\n", "\n</think>\n\n"
_LONGEST_HEADER = 300
"""Letters of what stands before a message. What is longer is none: the model has lost its way."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The ids of the marks. `constrain` may be missing."""

    start: int
    channel: int
    message: int
    end: int
    call: int
    finish: int
    constrain: int | None = None

    @classmethod
    def find(cls, tokenizer: Tokenizer) -> Self | None:
        """Those of `tokenizer`; None where it has not all of them."""
        names = ("start", "channel", "message", "end", "call", "return")
        ids = [token_id for name in names if (token_id := tokenizer.id_of(f"<|{name}|>")) is not None]
        if len(ids) < len(names):
            return None
        start, channel, message, end, call, finish = ids
        return cls(start, channel, message, end, call, finish, tokenizer.id_of("<|constrain|>"))

    def detokenizer(
        self, inner: Detokenizer, prompt: Sequence[int], stops: StopStrings | None = None, *, may_call: bool = True
    ) -> Detokenizer:
        """What tells an answer; see `HarmonyDetokenizer`."""
        return HarmonyDetokenizer(inner, self, prompt, stops, may_call=may_call)

    def opening(self, tokenizer: Tokenizer, channel: str) -> list[int]:
        """What stands between `<|start|>assistant` and a message in this channel."""
        return [self.channel, *tokenizer.encode_literally(channel), self.message]

    def answer(self, tokenizer: Tokenizer, text: str, *, is_open: bool) -> list[int]:
        """The ids of the beginning of an answer from its text, as `HarmonyDetokenizer` makes it.

        `is_open`: the prompt has opened the last channel already, so nothing can be thought.
        """
        thought, said = map(unguarded, parted(text))
        if is_open:
            return tokenizer.encode_literally(said)
        ids: list[int] = []
        if thought:
            ids += [*self.opening(tokenizer, "analysis"), *tokenizer.encode_literally(thought)]
            if not _are_over(text):
                return ids
            ids += [self.end, self.start, *tokenizer.encode_literally("assistant")]
        return [*ids, *self.opening(tokenizer, "final"), *tokenizer.encode_literally(said)]


def _are_over(text: str) -> bool:
    """Whether all thoughts of an answer are closed."""
    thoughts = Thoughts()
    thoughts.push(text)
    return thoughts.are_over


class HarmonyDetokenizer:
    """The text of an answer, its marks told as tags; see `Detokenizer`.

    Of what is thought after something was said nothing is shown: it has no place there.
    """

    def __init__(
        self,
        inner: Detokenizer,
        marks: Marks,
        prompt: Sequence[int],
        stops: StopStrings | None = None,
        *,
        may_call: bool = True,
    ) -> None:
        """`prompt`: where it ends within the header of a message, the answer goes on with that. `stops`: see
        `TaggedText`. `may_call`: whether calls are looked for in the text, so that what only looks like one must not.
        """
        self._inner = inner
        self._marks = marks
        self._told = TaggedText(stops)
        self._may_call = may_call
        self._has_thought = False
        self._turn_to("said")
        self._role: str | None = None  # what the header has before the channel; None: there is no channel yet
        self._header = ""
        self._is_first = False  # the header is that of the prompt, so an ordinary text may follow
        self._is_thinking = self._has_said = False
        self._is_empty = True  # the message so far
        tail = [token_id for token_id in prompt[-_LONGEST_HEADER:] if token_id in (marks.start, marks.message)]
        if tail and tail[-1] == marks.start:
            self._is_first = True
            self._turn_to("header")

    def push(self, token_id: int) -> str:
        """See `Detokenizer.push`."""
        marks = self._marks
        if token_id == marks.message:
            return self._told.ours("") + self._begin()
        if token_id in (marks.start, marks.channel):
            return self._open_header(has_channel=token_id == marks.channel)
        if token_id in (marks.end, marks.call, marks.finish):
            return self._close()
        if token_id == marks.constrain:
            self._header += " "
            return ""
        return self._text(self._inner.push(token_id))

    def end(self, token_id: int) -> str:
        """See `Detokenizer.end`."""
        text = self._close() if token_id in (self._marks.end, self._marks.call, self._marks.finish) else ""
        return text + self._stop_thinking()

    def flush(self) -> str:
        """See `Detokenizer.flush`."""
        text = self._text(self._inner.flush())
        is_text = self._kind == "header" and self._is_first and self._role is None
        return text + (self._give_up() if is_text else "") + self._told.ours("")

    def _turn_to(self, kind: str) -> None:
        """The kind of the message: said, thought, call, hidden, or header: none has begun."""
        self._kind = kind
        if kind == "said":
            tags = () if self._has_thought else (*OPENING, *CLOSING)
            self._told.turn_to(TagGuard(CALLS if self._may_call else (), tags))
        else:
            self._told.turn_to(TagGuard(CLOSING if kind == "thought" else ()))

    def _text(self, piece: str) -> str:
        if self._kind == "header":
            self._header += piece
            return self._give_up() if self._is_no_header else ""
        self._is_empty = self._is_empty and not piece
        self._has_said = self._has_said or (self._kind == "said" and bool(piece))
        return "" if self._kind == "hidden" else self._told.own(piece)

    @property
    def _is_no_header(self) -> bool:
        written = self._header.lstrip()[: len(_TO)]
        is_text = self._is_first and self._role is None and not _TO.startswith(written)
        return is_text or len(self._header) > _LONGEST_HEADER

    def _give_up(self) -> str:
        """What was taken for a header is said."""
        text, self._header = self._header, ""
        self._is_first = False
        self._turn_to("said")
        return self._stop_thinking() + self._text(text)

    def _open_header(self, *, has_channel: bool) -> str:
        text = self._close()
        if self._kind != "header" or not has_channel:
            self._header, self._role = "", None
        self._turn_to("header")
        self._is_first = self._is_first and has_channel
        if has_channel:
            self._role, self._header = self._header, ""
        return text

    def _begin(self) -> str:
        """A message begins: its opening tag, and the closing one of what was thought before."""
        header, role = (self._header, self._role or "") if self._kind == "header" else ("", "")
        recipient = _RECIPIENT.search(header) or _RECIPIENT.search(role)
        word = _WORD.match(header)
        self._header, self._role, self._is_first, self._is_empty = "", None, False, True
        if recipient and recipient[1].startswith(_FUNCTIONS):
            self._turn_to("call")
            name = json.dumps(recipient[1].removeprefix(_FUNCTIONS), ensure_ascii=False)
            between = "\n\n" if self._has_said else ""
            opening = f'{between}<tool_call>\n{{"name": {name}, "arguments": '
            return self._stop_thinking() + self._told.ours(opening)
        if word and word[1] == "analysis":
            return self._begin_thought()
        self._turn_to("said")
        return self._stop_thinking() + self._told.ours("\n\n" if self._has_said else "")

    def _begin_thought(self) -> str:
        if self._has_said:
            self._turn_to("hidden")
            return ""
        self._turn_to("thought")
        self._has_thought = True
        was_thinking, self._is_thinking = self._is_thinking, True
        return self._told.ours("\n\n" if was_thinking else _THINK)

    def _close(self) -> str:
        text = self._text(self._inner.flush()) + self._told.ours("")
        if self._kind == "call":
            text += self._told.ours(f"{'{}' if self._is_empty else ''}}}\n</tool_call>")
            self._has_said = True
        if self._kind != "header":
            self._turn_to("said")
        return text

    def _stop_thinking(self) -> str:
        was_thinking, self._is_thinking = self._is_thinking, False
        return self._told.ours(_THOUGHT) if was_thinking else ""
