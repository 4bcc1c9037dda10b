"""A quiet line with one thing to do: undo what was just done, leave what was begun. It goes away by itself."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import SMALL_PX
from llama_gui.ui.widgets import Button, paint_card, plain_label, plain_tip


class InfoBar(QFrame):
    """Says one sentence and offers one action; hidden until it is asked to. `is_narrow`: the action below it."""

    accepted = Signal()
    """The offered action was chosen."""
    dismissed = Signal()
    """It was closed, or its time is over."""

    def __init__(self, icons: Icons, parent: QWidget | None = None, *, is_narrow: bool = False) -> None:
        super().__init__(parent)
        self._label = plain_label(pixels=SMALL_PX)
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self._action = Button(icons, text="", look="outlined", height=24)
        self._close = Button(icons, "close", height=24)
        self._close.setAccessibleName(self.tr("Dismiss this message"))
        self._close.setToolTip(plain_tip(self.tr("Dismiss")))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        self._action.clicked.connect(self._accept)
        self._close.clicked.connect(self.dismiss)
        layout = QGridLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.setSpacing(8)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self._label, 0, 0)
        layout.addWidget(self._close, 0, 2, Qt.AlignmentFlag.AlignTop)
        if is_narrow:
            layout.addWidget(self._action, 1, 0, Qt.AlignmentFlag.AlignLeading)
        else:
            layout.addWidget(self._action, 0, 1)
        self.hide()

    def offer(self, text: str, action: str = "", seconds: float = 0, *, can_close: bool = True) -> None:
        """Show a sentence and a button; for so many seconds, or until it is closed.

        `can_close` False: the action itself is what ends it.
        """
        self._label.setText(text)
        self._label.setAccessibleName(text)
        self._action.setText(action)
        self._action.setAccessibleName(action)
        self._action.setVisible(bool(action))
        self._action.updateGeometry()
        self._close.setVisible(can_close)
        self.show()
        self._timer.stop()
        if seconds:
            self._timer.start(round(seconds * 1000))

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def clear(self) -> None:
        """Hide it, without a word to anybody."""
        self._timer.stop()
        self.hide()

    @Slot()
    def dismiss(self) -> None:
        """Hide it; what was offered is gone."""
        if not self.isHidden():
            self.clear()
            self.dismissed.emit()

    @Slot()
    def _accept(self) -> None:
        self.clear()
        self.accepted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(QPainter(self), self)
