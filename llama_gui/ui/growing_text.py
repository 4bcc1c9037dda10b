"""A field of several lines that grows with its text."""

import math

from PySide6.QtCore import QSizeF, Slot
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit

from llama_gui.ui.writing_side import WritingSide

MOST_LINES = 12
_EDGES = 20  # frame, padding and the document's margins, of both sides together


class GrowingText(QPlainTextEdit):
    """As high as its text, from `least` pixels up to `most` lines; then it scrolls."""

    def __init__(self, least: int, most: int = MOST_LINES) -> None:
        super().__init__()
        self._least = least
        self._most = most
        self.setFixedHeight(least)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        WritingSide(self)

    @Slot(QSizeF)
    def _fit(self, size: QSizeF) -> None:
        """`size` counts lines, not pixels, in a plain-text document."""
        lines = min(self._most, math.ceil(size.height()))
        line = math.ceil(QFontMetricsF(self.font()).lineSpacing())  # as lines are laid out
        self.setFixedHeight(max(self._least, lines * line + _EDGES))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(self.document().size())  # another width breaks the lines elsewhere
