"""What went wrong, said above the composer or in a window."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout

from llama_gui.ui.icons import Icons
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import SMALL_PX, theme_of
from llama_gui.ui.widgets import Button, paint_card, plain_label, plain_tip


class Notice(QFrame):
    """One dismissable sentence that says what went wrong, and what can be done about it."""

    accepted = Signal()
    """The offered action was chosen."""
    dismissed = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._said: list[str] = []
        self._label = plain_label(role="error", pixels=SMALL_PX)
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._offered_for = ""  # the sentence whose action the button is
        self._action = Button(icons, text="", look="outlined", height=24)
        self._action.clicked.connect(self.accepted)
        close = Button(icons, "close", height=24)
        close.setAccessibleName(self.tr("Dismiss this message"))
        close.setToolTip(plain_tip(self.tr("Dismiss")))
        close.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.setSpacing(8)
        layout.addSpacing(30)  # for the picture
        layout.addWidget(self._label, 1)
        layout.addWidget(self._action, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, text: str) -> None:
        """Show a sentence; an empty one hides the notice."""
        self._show([text] if text else [])

    def add(self, text: str, action: str = "") -> None:
        """Show a sentence below what it says already, which may not have been read yet. `action`: what it offers."""
        if action:
            self._offered_for = text
            self._action.setText(action)
            self._action.setAccessibleName(action)
        if text not in self._said:
            self._show([*self._said, text])

    def drop(self, text: str) -> None:
        """Say no longer what is no longer so."""
        if text in self._said:
            self._show([said for said in self._said if said != text])

    def _show(self, said: list[str]) -> None:
        self._said = said
        text = "\n".join(map(problem_text, said))
        self._label.setText(text)
        self._label.setAccessibleName(text)
        self._action.setVisible(self._offered_for in said)
        self.setVisible(bool(said))

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def dismiss(self) -> None:
        """Hide it."""
        self.say("")
        self.dismissed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_card(painter, self, edge="error")
        x = self.width() - 28 if self.isRightToLeft() else 12
        painter.drawPixmap(
            x, 10, self._icons.pixmap("alert", theme_of(self).color("error"), 16, self.devicePixelRatioF())
        )
