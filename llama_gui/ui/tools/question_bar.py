"""A call that waits for the user's word, above the composer."""

import math
from functools import partial

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.ui.flow import FlowLayout
from llama_gui.ui.former_focus import has_keyboard
from llama_gui.ui.icons import Icons
from llama_gui.ui.numbers import number_text
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, code_font
from llama_gui.ui.tools.arguments import readable, visible
from llama_gui.ui.tools.words import title_of
from llama_gui.ui.widgets import Button, paint_card, plain_label
from llama_gui.vocabulary import ToolDecision, ToolQuestion

_MOST_LINES = 7
_UNARMED_MS = 500
_EDGES = 20  # frame, padding and the document's margins, of both sides together


class _Arguments(QPlainTextEdit):
    """As high as its text, up to seven lines; lower where the window is."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("field", True)
        self.setFont(code_font(SMALL_PX))
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.document().documentLayout().documentSizeChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(200, self._height(round(self.document().size().height())))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._height(2))

    def _height(self, lines: int) -> int:
        line = math.ceil(QFontMetricsF(self.font()).lineSpacing())  # as lines are laid out
        return max(1, min(lines, _MOST_LINES, round(self.document().size().height()))) * line + _EDGES


class ToolQuestionBar(QFrame):
    """Hidden while nothing is asked. It never takes the keyboard by itself, and for half a second no click: one that
    was meant for something else must not allow what nobody has read.
    """

    decided = Signal(str)
    """`ToolDecision`."""
    left = Signal()
    """It is gone, and had the keyboard."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asks = plain_label("", "muted", SMALL_PX)
        self._tool = plain_label("", "text", FRAME_PX, bold=True)
        self._risk = plain_label(self.tr("It may change things."), "accent", SMALL_PX)
        for label in (self._asks, self._tool):
            label.setWordWrap(True)
        self.arguments = _Arguments()
        self.arguments.setAccessibleName(self.tr("What it is called with"))
        self.once = self._button(icons, self.tr("Run once"), "once")
        self.always = self._button(icons, self.tr("Always in this chat"), "always")
        self.decline = self._button(icons, self.tr("Decline"), "decline")
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_UNARMED_MS)
        self._lay_out()
        self.hide()

    def _button(self, icons: Icons, text: str, decision: ToolDecision) -> Button:
        button = Button(icons, text=text, look="outlined", height=28)
        button.setAccessibleName(text)
        button.clicked.connect(partial(self._decide, decision))
        return button

    def _lay_out(self) -> None:
        buttons = FlowLayout(spacing=6)
        for button in (self.once, self.always, self.decline):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 10, 10)
        layout.setSpacing(6)
        layout.addWidget(self._asks)
        layout.addWidget(self._tool)
        layout.addWidget(self.arguments)
        layout.addWidget(self._risk)
        layout.addLayout(buttons)

    @property
    def is_armed(self) -> bool:
        """Whether a click is heard."""
        return self.isVisible() and not self._wait.isActive()

    def ask(self, question: ToolQuestion, model: str) -> None:
        """Show a call. `model`: who wants it, "" where it has no name."""
        tool = question.tool
        title = title_of(tool)
        name = visible(tool.name)
        who = model or self.tr("The model")
        self._asks.setText(self.tr("{} wants to run a tool of “{}”:").format(who, tool.server))
        self._tool.setText(title if title == name else f"{title} ({name})")
        text, more = readable(question.arguments)
        if more:
            text += "\n" + self.tr("… and {} more characters").format(number_text(more))
        self.arguments.setPlainText(text)
        self.arguments.setVisible(bool(text.strip()))
        self._risk.setVisible(not tool.only_reads)
        self.setAccessibleName(f"{self._asks.text()} {self._tool.text()}")
        self.setAccessibleDescription(text)
        self._wait.start()
        self.show()
        if has_keyboard(self):  # a key that was meant for the call before must not allow this one
            (self.decline if self.arguments.isHidden() else self.arguments).setFocus()

    def clear(self) -> None:
        """Nothing is asked any more."""
        had_keyboard = has_keyboard(self)
        self._wait.stop()
        self.hide()
        if had_keyboard:
            self.left.emit()

    def _decide(self, decision: ToolDecision, _checked: bool = False) -> None:
        if self.is_armed:
            self.decided.emit(decision)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(QPainter(self), self, edge="accent")
