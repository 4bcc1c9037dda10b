"""Words that are painted: aligned as the window begins, read in their own direction."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle

from llama_gui.ui.markdown.direction import direction_or


def draw_words(painter: QPainter, room: QRect | QRectF, alignment: Qt.AlignmentFlag, words: str) -> None:
    """Draw a line of words. An Arabic title keeps its full stop on its left, a mirrored "1.8 GB" its number before it.

    `painter.drawText` reads all words in the direction of the window.
    """
    window = painter.layoutDirection()
    shown = QStyle.visualAlignment(window, alignment) | Qt.AlignmentFlag.AlignAbsolute
    painter.setLayoutDirection(direction_or(window, [words]))
    painter.drawText(room, shown, words)
    painter.setLayoutDirection(window)
