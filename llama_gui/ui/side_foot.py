"""The last rows of the side bar: the ways to the models and to the preferences, for who knows no keys yet."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout

from llama_gui.ui.actions import Actions
from llama_gui.ui.rows import LEADING, ROW_HEIGHT
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, RADIUS, frame_font, theme_of
from llama_gui.ui.widgets import Surface, paint_focus, tip_with_keys

_MARGIN = 10  # as the rows of chats have


class FootRow(QAbstractButton):
    """A row that looks as the chats above it do, and runs an action."""

    def __init__(self, text: str, action: QAction) -> None:
        super().__init__()
        self.setText(text)
        self.setToolTip(tip_with_keys(action))
        self.setFont(frame_font(FRAME_PX))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(action.trigger)

    def sizeHint(self) -> QSize:
        return QSize(120, ROW_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, ground = theme_of(self), QRectF(self.rect()).adjusted(0, 1, 0, -1)
        if self.underMouse() or self.isDown():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(ground, RADIUS - 2, RADIUS - 2)
        if self.hasFocus():
            paint_focus(painter, ground, theme.color("accent"))
        painter.setPen(theme.color("text"))
        room = self.rect().adjusted(_MARGIN, 0, -_MARGIN, 0)
        words = QFontMetrics(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        draw_words(painter, room, LEADING, words)


class SideFoot(Surface):
    """Models and preferences, below a line: a long list of chats ends there."""

    def __init__(self, actions: Actions) -> None:
        super().__init__("side", "top")
        self.models = FootRow(self.tr("Models"), actions["find_models"])
        self.preferences = FootRow(self.tr("Preferences"), actions["preferences"])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 7, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.models)
        layout.addWidget(self.preferences)
