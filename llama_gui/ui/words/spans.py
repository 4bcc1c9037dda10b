"""The tokens of an answer as a text with places, how sure the model was, and that in words; pure."""

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.numbers import number_text
from llama_gui.vocabulary import TokenOutput

LEVELS = (0.8, 0.5, 0.2)
"""From so probable on a token belongs to level 0 (sure), 1, 2; what is less probable to level 3 (unsure)."""
UNSURE = 2
"""From this level on a token is one of those that the keys go to next."""
LINE_MARK = "\u21b5"
_BREAKS = "\n\u2028\u2029"
translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Span:
    """What stands for some tokens, those from `first` to `last`: more than one where a character is made of several.

    `start` and `end` are places in the text as Qt counts them, in UTF-16 units.
    """

    start: int
    end: int
    first: int
    last: int
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class SpannedText:
    """The text of an answer, and what of it stands for which tokens."""

    text: str
    spans: tuple[Span, ...]

    def span_of(self, token: int) -> int:
        """The span of a token."""
        return bisect_right(self.spans, token, key=lambda span: span.first) - 1


def spanned(tokens: Sequence[TokenOutput], ending: Collection[int]) -> SpannedText:
    """Put the tokens behind each other. Those that free no text alone stand with the next one that does."""
    texts: list[str] = []
    spans: list[Span] = []
    at = first = 0
    for index, token in enumerate(tokens):
        is_end = token.token_id in ending
        is_last = index == len(tokens) - 1
        if not token.text and not is_end and not is_last:
            continue
        shown = end_mark() if is_end else seen(token.text)
        texts.append(shown)
        end = at + _units(shown)
        spans.append(Span(at, end, first, index, is_end))
        at, first = end, index + 1
    return SpannedText("".join(texts), tuple(spans))


def end_mark() -> str:
    """What stands for the token that ends an answer."""
    return "\u2002" + translate("Words", "end") + "\u2002"


def seen(text: str) -> str:
    """A text in which line breaks and control characters can be seen."""
    text = text.replace("\r\n", "\n")
    return "".join(LINE_MARK + "\n" if letter in _BREAKS else _control(letter) for letter in text)


def _control(letter: str) -> str:
    if letter == "\t" or unicodedata.category(letter) != "Cc":
        return letter
    return chr(0x2400 + ord(letter)) if ord(letter) < 32 else "\ufffd"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_mixed(texts: Iterable[str]) -> bool:
    """Whether some of these tokens begin a word with a space, and others go on in one: then the space must be seen."""
    words = [text for text in texts if text.strip()[:1].isalnum()]
    return len({text.startswith(" ") for text in words}) > 1


def named(text: str, *, is_end: bool = False, marks_space: bool = True) -> str:
    """A token on a line of its own: breaks as signs, and spaces where there is nothing else, or where it matters."""
    if is_end:
        return translate("Words", "end of the answer")
    if not text:
        return translate("Words", "part of a character")
    shown = seen(text).replace("\n", "").replace("\t", "\u21e5")
    rest = shown.lstrip(" ")
    if rest and not marks_space:
        return rest
    return "\u2423" * (len(shown) - len(rest)) + rest


def probability(logprob: float) -> float:
    """From a natural logarithm."""
    return min(1.0, math.exp(logprob))


def percent(share: float) -> str:
    """A probability in words of the user's language; what is nearly certain, or nearly never, is said so."""
    if 0.999 < share < 1:
        return translate("Words", "over {} %").format(number_text(99.9, 1))
    if share < 0.001:
        return translate("Words", "under {} %").format(number_text(0.1, 1))
    return translate("Words", "{} %").format(number_text(share * 100, 0 if share == 1 else 1))


def level_of(share: float) -> int:
    """How unsure: from 0 to 3."""
    return sum(share < bound for bound in LEVELS)


def level_names() -> tuple[str, ...]:
    """The levels for the legend, the sure ones first."""
    high, middle, low = (number_text(bound * 100) for bound in LEVELS)
    return (
        translate("Words", "{} % and more").format(high),
        translate("Words", "{} % and more").format(middle),
        translate("Words", "{} % and more").format(low),
        translate("Words", "less"),
    )


def levels(tokens: Sequence[TokenOutput], spans: Sequence[Span]) -> list[int]:
    """The level of each span: that of its least probable token."""
    return [max(level_of(probability(token.logprob)) for token in tokens[span.first : span.last + 1]) for span in spans]
