"""Models that think between control tokens of their own: these are told as <think> tags, and read back from them.

::

    [THINK]…[/THINK]So.        ->  <think>
                                   …
                                   </think>

                                   So.

So whoever reads the answers of others reads these as well. Between the marks of a model and what is told no letter is
lost, so a conversation is found in the cache again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from llama_gui.engine.detokenizer import Detokenizer
from llama_gui.engine.stop_strings import StopStrings
from llama_gui.engine.tag_guard import CLOSING, OPENING, TaggedText, TagGuard, unguarded
from llama_gui.engine.tokenizer import THINKING_MARKS, THOUGHT_HEADS, Tokenizer
from llama_gui.tool_calls import Thoughts
from llama_gui.vocabulary import THINKING_TAGS

THINK, THOUGHT = "<think>\n", "\n</think>\n\n"
_NAMES = "|".join(THINKING_TAGS)
_OPENED = re.compile(rf"\A\s*<(?:{_NAMES})>\n?", re.IGNORECASE)
_CLOSED = re.compile(rf"\n?</(?:{_NAMES})>\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ThinkingMarks:
    """The ids of the marks.

    `are_taught`: the model's chat template knows them, or it has none, so tags among its words are only words. A model
    that was made of another one may have the tokens, and write tags. `head`: see `THOUGHT_HEADS`.
    """

    opening: int
    closing: int
    are_taught: bool = True
    head: str = ""

    @classmethod
    def find(cls, tokenizer: Tokenizer, template: str | None) -> Self | None:
        """Those of a tokenizer; None: the model thinks in tags, or not at all. `template`: the source of its own."""
        tags = zip(OPENING, CLOSING, strict=True)  # which a few tokenizers have as control tokens
        found: list[Self] = []
        for texts in (*THINKING_MARKS, *tags):
            opening, closing = map(tokenizer.id_of, texts)
            if opening is not None and closing is not None and tokenizer.special_ids.issuperset((opening, closing)):
                are_taught = template is None or texts[0] in template
                found.append(cls(opening, closing, are_taught, THOUGHT_HEADS.get(texts[0], "")))
        return next((marks for marks in found if marks.are_taught), found[0] if found else None)

    def are_open(self, prompt: Sequence[int]) -> bool:
        """Whether `prompt` ends within thoughts."""
        both = (self.opening, self.closing)
        return next((token_id == self.opening for token_id in reversed(prompt) if token_id in both), False)

    def detokenizer(
        self, inner: Detokenizer, prompt: Sequence[int], stops: StopStrings | None = None, *, may_call: bool = True
    ) -> Detokenizer:
        """What tells an answer; see `ThinkingDetokenizer`. Calls have no tags of ours, whether there `may_call`s."""
        return ThinkingDetokenizer(inner, self, prompt, stops)

    def answer(self, tokenizer: Tokenizer, text: str, *, is_open: bool) -> list[int]:
        """The ids of the beginning of an answer from its text, as `ThinkingDetokenizer` makes it.

        `is_open`: the prompt has opened the thoughts already.
        """
        if not self.are_taught:
            return tokenizer.encode_literally(text)
        thought, said, is_closed = told_parts(THINK + text if is_open else text)
        if thought is None:
            return tokenizer.encode_literally(said)
        before, head = ([], "") if is_open else ([self.opening], self.head)
        ids = [*before, *tokenizer.encode_literally(head + thought)]
        return [*ids, self.closing, *tokenizer.encode_literally(said)] if is_closed else ids

    def turn(self, tokenizer: Tokenizer, text: str, change: Callable[[str], str]) -> str:
        """A former answer as its model wrote it, marks included. `change` is made with what stands between these."""
        if not self.are_taught:
            return change(text)
        thought, said, _ = told_parts(text)
        if thought is None:
            return change(said)
        opening, closing = map(tokenizer.token_text, (self.opening, self.closing))
        return f"{opening}{self.head}{change(thought)}{closing}{change(said)}"


def told_parts(text: str) -> tuple[str | None, str, bool]:
    """What an answer thinks (None: nothing), what it says, and whether the thoughts have ended; to the letter."""
    thoughts = Thoughts()
    thought, said = thoughts.push(text)
    is_closed = thoughts.are_over
    rest = thoughts.finish()
    thought, said = thought + rest[0], said + rest[1]
    opened = _OPENED.match(thought)
    if opened is None:
        return None, unguarded(said), True
    within = thought[opened.end() :]
    closed = _CLOSED.search(within) if is_closed else None
    if closed is not None:
        within, said = within[: closed.start()], said.removeprefix("\n\n")
    return unguarded(within), unguarded(said), closed is not None


class ThinkingDetokenizer:
    """The text of an answer, its marks told as tags; see `Detokenizer`.

    It thinks once, before it says anything. Other marks are left out, and what is between them is told as words.
    """

    def __init__(
        self, inner: Detokenizer, marks: ThinkingMarks, prompt: Sequence[int], stops: StopStrings | None = None
    ) -> None:
        """`prompt`: where it has opened the thoughts, the answer begins with them. `stops`: see `TaggedText`."""
        self._inner = inner
        self._marks = marks
        self._told = TaggedText(stops)
        self._may_think = True
        self._is_thinking = marks.are_open(prompt)
        self._head: str | None = None
        """What may be the head of the thoughts that have just begun, so far; None: none is to be expected."""
        self._guard(CLOSING if self._is_thinking else (*OPENING, *CLOSING) if marks.are_taught else ())

    def push(self, token_id: int) -> str:
        """See `Detokenizer.push`."""
        if token_id == self._marks.opening:
            return self._open()
        if token_id == self._marks.closing:
            return self._close()
        return self._words(self._inner.push(token_id))

    def end(self, token_id: int) -> str:
        """See `Detokenizer.end`."""
        return self._close() if token_id == self._marks.closing else self._inner.end(token_id)

    def flush(self) -> str:
        """See `Detokenizer.flush`."""
        return self._words(self._inner.flush()) + self._left_of_head() + self._told.ours("")

    def _guard(self, tags: Iterable[str]) -> None:
        """Tags that end thoughts are none within them, and others none where a line of the answer begins."""
        self._told.turn_to(TagGuard(tuple(tags)) if self._is_thinking else TagGuard((), tuple(tags)))

    def _words(self, piece: str) -> str:
        if self._head is not None:
            piece = self._behind_head(self._head + piece)
        if piece and not self._is_thinking:
            self._may_think = self._may_think and not piece.strip()
        return self._told.own(piece)

    def _behind_head(self, text: str) -> str:
        """What is no head; "" until that is known. Thoughts may lack it."""
        if self._marks.head.startswith(text) and text != self._marks.head:
            self._head = text
            return ""
        self._head = None
        return text.removeprefix(self._marks.head)

    def _left_of_head(self) -> str:
        """The beginning of a head that did not come whole."""
        head, self._head = self._head, None
        return "" if head is None else self._told.own(head)

    def _open(self) -> str:
        text = self._words(self._inner.flush())
        if self._is_thinking or not self._may_think:
            return text
        text += self._told.ours(THINK)
        self._is_thinking = True
        self._head = "" if self._marks.head else None
        self._guard(CLOSING)
        return text

    def _close(self) -> str:
        text = self._words(self._inner.flush()) + self._left_of_head()
        if not self._is_thinking:
            return text
        text += self._told.ours(THOUGHT)
        self._is_thinking = self._may_think = False
        self._guard(())
        return text
