"""Chats that are dragged in the list: what travels with the mouse, and the group that they would fall into."""

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QDropEvent, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, RADIUS, frame_font, theme_of

_KIND = "application/x-llama-gui-chats"
_MOST_WIDTH, _HEIGHT, _MARGIN = 220, 30, 12


def packed(chat_ids: Sequence[str]) -> QMimeData:
    """The ids of chats, for a drag. Nothing else takes them: in another program they would mean nothing."""
    data = QMimeData()
    data.setData(_KIND, "\n".join(chat_ids).encode())
    return data


def chats_in(event: QDropEvent) -> list[str]:
    """The ids that are dragged; [] where it is something else."""
    data = event.mimeData().data(_KIND).data()
    return bytes(data).decode().split("\n") if data else []


def picture(words: str, view: QWidget) -> tuple[QPixmap, QPoint]:
    """What hangs at the mouse while chats are dragged, and which of its points the mouse holds."""
    font, theme = frame_font(FRAME_PX), theme_of(view)
    metrics, ratio = QFontMetrics(font), view.devicePixelRatioF()
    words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, _MOST_WIDTH - 2 * _MARGIN)
    size = QSize(metrics.horizontalAdvance(words) + 2 * _MARGIN, _HEIGHT)
    pixmap = QPixmap(size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.color("accent"))
    painter.setBrush(theme.color("raised"))
    painter.drawRoundedRect(QRectF(0.5, 0.5, size.width() - 1, size.height() - 1), RADIUS - 2, RADIUS - 2)
    painter.setPen(theme.color("text"))
    painter.setFont(font)
    draw_words(painter, QRect(QPoint(0, 0), size), Qt.AlignmentFlag.AlignCenter, words)
    painter.end()
    return pixmap, QPoint(_MARGIN, _HEIGHT // 2)


def paint_target(painter: QPainter, rows: QRect, view: QWidget) -> None:
    """A frame around the group that would take the chats."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = theme_of(view).color("accent")
    painter.setPen(pen)
    pen.setAlpha(28)
    painter.setBrush(pen)
    painter.drawRoundedRect(QRectF(rows).adjusted(0.5, 1.5, -0.5, -1.5), RADIUS - 2, RADIUS - 2)
