"""Where a tab would be shown that is dragged out of the strip."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from llama_gui.ui.theme import RADIUS, theme_of

_TINT = 0.12
_EDGE = 4


class DropHint(QWidget):
    """Lies over half of the pages, tinted."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tint = theme_of(self).color("accent")
        painter.setPen(QPen(tint, 1))
        tint.setAlphaF(_TINT)
        painter.setBrush(tint)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE), RADIUS, RADIUS)
