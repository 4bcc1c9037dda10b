"""Where the user writes: a field that grows with its text, and the button that sends or stops."""

from PySide6.QtCore import QEvent, QKeyCombination, QMimeData, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import TINY_PX, TRANSCRIPT_PX, frame_font, theme_of
from llama_gui.ui.widgets import Button, plain_label, plain_tip

_MAX_LINES = 10
_RADIUS = 12
_PALETTE_KEY = QKeyCombination(Qt.Modifier.CTRL, Qt.Key.Key_K)


class MessageEdit(QPlainTextEdit):
    """Plain text; Enter sends, Shift+Enter starts a line."""

    send_requested = Signal()
    focus_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_composing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setFont(frame_font(TRANSCRIPT_PX))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.setAccessibleName(self.tr("Message"))
        self.textChanged.connect(self.fit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier:
            if not self._is_composing:
                self.send_requested.emit()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        # Enter ends the choice of an input method; it must not send half a word.
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take only the plain text of what is pasted or dropped."""
        if source.hasText():
            self.insertPlainText(source.text())

    def event(self, event: QEvent) -> bool:
        # Qt's editors claim Ctrl+K (delete to the end of the line); here it opens the palette.
        if isinstance(event, QKeyEvent) and event.keyCombination() == _PALETTE_KEY:
            event.ignore()
            return False
        return super().event(event)

    @Slot()
    def fit(self) -> None:
        """Be as high as the text, up to ten lines."""
        line = self.fontMetrics().lineSpacing()
        lines = max(1, min(_MAX_LINES, round(self.document().size().height())))
        self.setFixedHeight(lines * line + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class Composer(QWidget):
    """The rounded box at the foot of a chat."""

    send_requested = Signal(str)
    stop_requested = Signal()

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_answering = False
        self.edit = MessageEdit(self)
        self.button = Button(icons, "send", self.tr("Send"), look="filled", height=32, pixels=13)
        self._hint = plain_label("", "muted", TINY_PX)
        self._key = plain_label(self.tr("Esc"), "muted", TINY_PX)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self._hint)
        row.addStretch(1)
        row.addWidget(self._key)
        row.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 13, 10, 10)
        layout.setSpacing(6)
        layout.addWidget(self.edit)
        layout.addLayout(row)
        self.edit.send_requested.connect(self._send)
        self.edit.focus_changed.connect(self.update)
        self.edit.textChanged.connect(self._show_state)
        self.button.clicked.connect(self._on_button)
        self.setFocusProxy(self.edit)
        self._show_state()

    @Slot(bool)
    def set_answering(self, answering: bool) -> None:
        """Let the button stop instead of send."""
        self._is_answering = answering
        self._show_state()

    def set_placeholder(self, text: str) -> None:
        """What stands in the empty field."""
        self.edit.setPlaceholderText(text)

    def text(self) -> str:
        """What was written and not sent."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Fill the field; the cursor stands at its end."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    @Slot()
    def _show_state(self) -> None:
        answering = self._is_answering
        self.button.setText(self.tr("Stop") if answering else self.tr("Send"))
        self.button.set_icon_name("stop" if answering else "send")
        self.button.setEnabled(answering or bool(self.text().strip()))
        self.button.setToolTip(plain_tip(self.tr("Stop this answer  Esc") if answering else self.tr("Send  Enter")))
        self.button.updateGeometry()
        self._key.setVisible(answering)
        self._hint.setText(self.tr("Shift+Enter for a new line") if self.text() and not answering else "")

    @Slot()
    def _on_button(self) -> None:
        if self._is_answering:
            self.stop_requested.emit()
        else:
            self._send()
        self.edit.setFocus()

    @Slot()
    def _send(self) -> None:
        if not self._is_answering and self.text().strip():
            self.send_requested.emit(self.text())

    def sizeHint(self) -> QSize:
        return QSize(400, 84)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        role, width = ("field_focus", 1.2) if self.edit.hasFocus() else ("line", 1.0)
        painter.setPen(QPen(theme.color(role), width))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.7, 0.7, -0.7, -0.7), _RADIUS, _RADIUS)
