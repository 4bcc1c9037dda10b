"""The line of a message that is shown around a find, without the marks of Markdown. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

SNIPPET = 160
"""Characters of a message that are shown around what was found."""
BEFORE = 30
"""So many of them before the first find."""

_READ = 4 * SNIPPET  # of the addresses of links nothing is shown
_DOT = "·"
_MARKS = r"""
  ^\s*(?:`{3,}|~{3,}).*$ | ^[|:\s=*_-]+$                                # fences, rules, what is below a table's head
| ^\s*(?:>\s?|\#{1,6}\s+)+ | ^\s*(?P<item>[-*+])(?=\s)                  # quotes, headings, lists
| (?<![\w*])(?:\*{1,3}|~~)(?=[^\s*]) | (?<=[^\s*])(?:\*{1,3}|~~)(?![\w*]) | `+ | </?think>
| !?\[(?=[^\]\n]+\]\() | \]\([^)\n]*\)?                                 # links
"""
_MARK = re.compile(_MARKS, re.VERBOSE | re.MULTILINE)
_MARK_IN_ROW = re.compile(rf"{_MARKS} | ^\s*\|\s* | \s*\|\s*$ | (?P<bar>\|)", re.VERBOSE | re.MULTILINE)

Places = Sequence[tuple[int, int]]


def snippet(text: str, found: Places, first: int, *, is_markdown: bool) -> tuple[str, tuple[tuple[int, int], ...]]:
    """One line around the place `first`, and where the finds, which are (start, length), are in it."""
    begin = max(0, first - BEFORE)
    read = _without_marks(text, begin, {at for at, _ in found}) if is_markdown else enumerate(text[begin:], begin)
    line: list[str] = []
    sources: list[int] = []  # where its characters stand in the text
    tail = "…" if is_markdown and begin + _READ < len(text) else ""
    for at, char in read:
        # A line break or tab becomes a space; beside marks that are gone, one space is enough.
        shown = " " if char.isspace() or ord(char) < 32 else char
        if at < begin or (is_markdown and shown == " " and line[-1:] in ([], [" "])):
            continue
        if len(line) == SNIPPET:
            tail = "…"
            break
        line.append(shown)
        sources.append(at)
    head = "…" if begin else ""
    ranges: list[tuple[int, int]] = []
    for at, length in found:
        start, stop = bisect_left(sources, at), bisect_left(sources, at + length)
        if at >= begin and start < stop:
            ranges.append((start + len(head), stop - start))
    return head + "".join(line) + tail, tuple(ranges)


def _without_marks(text: str, begin: int, kept: set[int]) -> Iterator[tuple[int, str]]:
    """The characters of the lines from that of `begin` on, and where they stand; marks in which a find begins stay."""
    first = max(0, begin - _READ)
    at = max(first, text.rfind("\n", first, begin) + 1)
    end = min(len(text), begin + _READ)
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        marks = _MARK_IN_ROW if text[at:stop].lstrip().startswith("|") else _MARK
        for match in marks.finditer(text, at, stop):
            if kept.isdisjoint(range(*match.span())):
                yield from zip(range(at, match.start()), text[at : match.start()], strict=True)
                if match.lastgroup is not None:
                    yield match.start(match.lastgroup), _DOT
                at = match.end()
        yield from zip(range(at, stop), text[at:stop], strict=True)
        if stop < end:
            yield stop, " "
        at = stop + 1
