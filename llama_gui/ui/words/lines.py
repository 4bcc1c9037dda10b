"""Where the letters of a paragraph stand: in its lines, and in several stretches where the direction changes."""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextBlock, QTextLine

BELOW = 2
"""Room below the letters for the lines of the unsure ones."""
_SPACE = " ".encode("utf-16-le")


class Lines:
    """The lines of a block, and where letters stand in them."""

    def __init__(self, block: QTextBlock) -> None:
        text = block.text()
        self._units = text.encode("utf-16-le", "surrogatepass")  # places are counted as Qt does
        layout = block.layout()
        self._lines = [layout.lineAt(number) for number in range(layout.lineCount())]
        self._starts = [line.textStart() for line in self._lines]
        self._is_mixed = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text)

    def places(self, start: int, end: int) -> Iterator[QRectF]:
        """Where the letters from `start` to `end` stand, line by line and side by side."""
        units = self._units[2 * start : 2 * end]
        while units.startswith(_SPACE) and units != _SPACE:  # a tint begins with the word, not with the space before
            start, units = start + 1, units[2:]
        for line in self._lines[max(0, bisect_right(self._starts, start) - 1) : bisect_left(self._starts, end)]:
            first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
            height = line.ascent() + line.descent() + BELOW
            above = max(0.0, line.height() - line.ascent() - line.descent())  # the air between the lines
            for left, right in self._stretches(line, first, last):
                yield QRectF(left, line.y() + above, right - left, height)

    def _stretches(self, line: QTextLine, first: int, last: int) -> list[tuple[float, float]]:
        """The stretches of a line from left to right that some letters take; several where the direction changes."""
        if first >= last:
            return []
        if not self._is_mixed:
            return [(_x(line, first), _x(line, last))]
        # Not by the places of cursors: where the direction changes, one place is that of two letters.
        runs = (run.boundingRect() for run in line.glyphRuns(first, last - first))
        found: list[tuple[float, float]] = []
        for left, right in sorted((run.left(), run.right()) for run in runs):
            if found and left <= found[-1][1] + 0.5:
                found[-1] = (found[-1][0], max(found[-1][1], right))
            else:
                found.append((left, right))
        return found


def _x(line: QTextLine, at: int) -> float:
    x: Any = line.cursorToX(at)  # a number and the place, whatever the stubs say
    return float(x[0] if isinstance(x, tuple) else x)
