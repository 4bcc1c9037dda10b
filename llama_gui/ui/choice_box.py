"""A list to choose one of, painted as the other fields of the window are."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QComboBox

from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import RADIUS, theme_of

_HEIGHT = 32


class ChoiceBox(QComboBox):
    """A combo box with our field's shape. The wheel scrolls what lies around it, and changes nothing by accident."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        widest = max((self.fontMetrics().horizontalAdvance(self.itemText(n)) for n in range(self.count())), default=80)
        return QSize(widest + 52, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(96, _HEIGHT)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        line = "accent" if self.hasFocus() else "field_focus" if self.underMouse() else "line"
        painter.setPen(QPen(theme.color(line), 1))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS - 2, RADIUS - 2)
        pixmap = self._icons.pixmap("chevron-down", theme.color("muted"), 16, self.devicePixelRatioF())
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        painter.drawPixmap(10 if mirrored else self.width() - 26, (self.height() - 16) // 2, pixmap)
        painter.setPen(theme.color("text" if self.isEnabled() else "muted"))
        room = self.rect().adjusted(34 if mirrored else 10, 0, -10 if mirrored else -34, 0)
        text = QFontMetrics(self.font()).elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room.width())
        draw_words(painter, room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, text)
