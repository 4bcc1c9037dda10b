"""Texts as the search sees them: which words they have, and which spellings are the same word. Pure."""

import re
import unicodedata
from collections.abc import Iterator

# Writing without spaces between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese) or with endings that are
# written on to them (Korean). Each character is indexed as a word of its own, and a search for several is a phrase.
# Measured on 900,000 English words and 40,000 Chinese characters, 7 MB: 5 MB of index, 0.1 ms to find. A trigram
# index of everything takes 26 MB, one of the Chinese alone as much as this whole index, and neither finds the words
# of one or two characters, which most Chinese words are.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_MARK = "\u0301"
"""What every combining mark is folded to."""

_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")
_SYMBOL = re.compile(f"[{_EMOJI}]")
_TOKEN = re.compile(f"[{_UNSPACED}{_EMOJI}]|[^\\W_{_UNSPACED}](?:[^\\W_{_UNSPACED}]|{_MARK})*")
_LETTER = f"[^\\W_{_UNSPACED}]"


def spaced(text: str) -> str:
    """`text` for SQLite's tokenizer, which knows words only by the spaces between them, and no emoji."""
    if text.isascii():
        return text
    return _UNSPACED_CHAR.sub(r" \g<0> ", _SYMBOL.sub(_as_letter, text))


def _as_letter(symbol: re.Match[str]) -> str:
    return f" {chr(0xF0000 + (ord(symbol[0]) & 0xFFFF))} "  # characters for private use are letters to SQLite


class _Folding(dict[int, str]):
    """Character -> the one that stands for all its spellings. One for one, so that places stay what they are."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFD", char.lower())
        if unicodedata.combining(char):
            folded = _MARK
        elif all(unicodedata.combining(mark) for mark in plain[1:]):
            folded = plain[0]
        else:
            folded = char
        self[code] = folded
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """`text` without capitals and accents, each character in its place."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def tokens(text: str) -> list[str]:
    """The words of a text, folded."""
    return [token.replace(_MARK, "") for token in _TOKEN.findall(fold(text))]


def pattern(terms: list[list[str]], *, is_whole: bool = False) -> re.Pattern[str]:
    """Finds these terms, each of some words in a row, in folded text.

    The last word of all is the beginning of one, unless it `is_whole`.
    """
    found = [_phrase(term, is_last=number == len(terms) - 1 and not is_whole) for number, term in enumerate(terms)]
    return re.compile("|".join(sorted(set(found), key=len, reverse=True)))  # the longest first: re takes the first


def _phrase(words: list[str], *, is_last: bool) -> str:
    return "[\\W_]*".join(_word(word, is_prefix=is_last and n == len(words) - 1) for n, word in enumerate(words))


def _word(word: str, *, is_prefix: bool) -> str:
    body = f"{_MARK}*".join(re.escape(char) for char in word) + f"{_MARK}*"
    if not re.match(_LETTER, word):
        return body
    return f"(?<!{_LETTER}){body}" + ("" if is_prefix else f"(?!{_LETTER})")


def places(finder: re.Pattern[str], folded: str, limit: int) -> Iterator[tuple[int, int]]:
    """Start and length of the first finds."""
    for number, match in enumerate(finder.finditer(folded)):
        if number == limit:
            return
        if match[0]:
            yield match.start(), match.end() - match.start()
