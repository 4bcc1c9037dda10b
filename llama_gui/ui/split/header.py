"""The slim line over a chat that stands beside another: which it is, and the way back to one."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import SMALL_PX, frame_font, theme_of
from llama_gui.ui.widgets import Button, Surface, plain_tip

HEADER_HEIGHT = 32
_MARGIN = 16
_MARK = 2


class PaneHeader(Surface):
    """Names the chat; the one in front is marked by colour, weight and a line."""

    close_requested = Signal()
    """The other chat alone."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__("page", "bottom", parent)
        self.title = ""
        self.is_front = False
        self.setFixedHeight(HEADER_HEIGHT)
        self.close_button = Button(icons, "close", height=24)
        self.close_button.setToolTip(plain_tip(self.tr("Hide this chat. It stays open in its tab.")))
        self.close_button.clicked.connect(self.close_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_MARGIN, _MARK, 8, 1)
        layout.addStretch(1)
        layout.addWidget(self.close_button)
        self.hide()

    def set_title(self, title: str) -> None:
        """Name the chat."""
        self.title = title
        self.setAccessibleName(title)
        self.setToolTip(plain_tip(title))
        self.close_button.setAccessibleName(self.tr("Hide {}").format(title))
        self.update()

    def set_front(self, is_front: bool) -> None:
        """Whether keys and settings mean this chat."""
        self.is_front = is_front
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, theme = QPainter(self), theme_of(self)
        if self.is_front:
            painter.fillRect(0, 0, self.width(), _MARK, theme.color("accent"))
        painter.setFont(frame_font(SMALL_PX, QFont.Weight.Medium if self.is_front else QFont.Weight.Normal))
        painter.setPen(theme.color("text" if self.is_front else "muted"))
        button = self.close_button.geometry()
        start, end = (
            (_MARGIN, button.left() - 8) if not self.isRightToLeft() else (button.right() + 8, self.width() - _MARGIN)
        )
        room = QRect(start, _MARK, end - start, self.height() - _MARK)
        text = painter.fontMetrics().elidedText(self.title, Qt.TextElideMode.ElideRight, room.width())
        draw_words(painter, room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
