"""A field-shaped button that shows what is chosen; what else there is comes in a menu."""

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy

from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, RADIUS, SMALL_PX, frame_font, theme_of
from llama_gui.ui.widgets import paint_focus

_MARGIN, _ARROW = 11, 32


class Picker(QAbstractButton):
    """Paints itself, and shows the menu that whoever hears its click gives it."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._note = ""
        self._icon = "chevron-down"
        self.setFont(frame_font(FRAME_PX))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # who has chosen by the mouse goes on writing
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def pop_up(self, menu: QMenu) -> None:
        """Show a menu below, or above where there is no room."""
        menu.setMinimumWidth(self.width())
        place = self.mapToGlobal(QPoint(0, self.height() + 4))
        screen = self.screen().availableGeometry()
        if place.y() + menu.sizeHint().height() > screen.bottom():
            place.setY(self.mapToGlobal(QPoint(0, -4)).y() - menu.sizeHint().height())
        menu.popup(place)

    def set_note(self, note: str) -> None:
        """A word at the end, in the accent colour."""
        self._note = note
        self.update()

    def set_icon(self, icon: str) -> None:
        """The sign at the end, in place of the arrow."""
        self._icon = icon
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, 34)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, rect = theme_of(self), QRectF(self.rect())
        painter.setPen(QPen(theme.color("muted" if self.underMouse() else "line"), 1))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        if self.hasFocus():
            paint_focus(painter, rect, theme.color("accent"), RADIUS)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        room = rect.adjusted(_ARROW if mirrored else _MARGIN, 0, -_MARGIN if mirrored else -_ARROW, 0)
        middle, ahead = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignLeading
        small = frame_font(SMALL_PX)
        note = QFontMetrics(small).horizontalAdvance(self._note) + 8 if self._note else 0
        painter.setPen(theme.color("text"))
        text = QFontMetrics(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideMiddle, int(room.width()) - note)
        draw_words(painter, room, middle | ahead, text)
        if self._note:
            painter.setFont(small)
            painter.setPen(theme.color("accent"))
            draw_words(painter, room, middle | Qt.AlignmentFlag.AlignTrailing, self._note)
        pixmap = self._icons.pixmap(self._icon, theme.color("muted"), 14, self.devicePixelRatioF())
        painter.drawPixmap(10 if mirrored else self.width() - 24, (self.height() - 14) // 2, pixmap)
