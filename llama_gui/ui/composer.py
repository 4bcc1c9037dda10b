"""Where the user writes: a field that grows with its text, the files that go along, and what sends or stops."""

import math
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QKeyCombination, QMimeData, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPlainTextEdit, QVBoxLayout, QWidget

from llama_gui.chats.attachments import Attachment, Draft, pasted_attachment
from llama_gui.ui.attachment_bar import MOST_FILES, AttachmentBar
from llama_gui.ui.context_meter import ContextMeter
from llama_gui.ui.file_chip import pasted_name
from llama_gui.ui.folder_button import FolderButton
from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import TINY_PX, TRANSCRIPT_PX, frame_font, theme_of
from llama_gui.ui.think_button import ThinkButton
from llama_gui.ui.tools.button import ToolsButton
from llama_gui.ui.widgets import Button, plain_label, plain_tip
from llama_gui.ui.writing_side import WritingSide

_MAX_LINES = 10
_RADIUS = 12
_CARET = 1
"""Room for it behind a line that ends at the edge, or begins there on the right."""
_HINT_WIDTH = 560
_TIGHT_WIDTH = 400
"""Below it the numbers of the meter need the room of what is said elsewhere, too."""
_ISOLATED, _END = "\u2068", "\u2069"
"""Between them a text is read in its own direction."""
_PAGES = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}
WRITING = (
    Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.GroupSwitchModifier
)
"""With these letters are written; others make commands of them."""
_EDGES = {QKeySequence.StandardKey.MoveToStartOfDocument: -1, QKeySequence.StandardKey.MoveToEndOfDocument: 1}
_PALETTE_KEY = QKeyCombination(Qt.Modifier.CTRL, Qt.Key.Key_K)


class MessageEdit(QPlainTextEdit):
    """Plain text; Enter sends, as does Ctrl+Enter, Shift+Enter starts a line."""

    send_requested = Signal()
    focus_changed = Signal()
    edit_last_requested = Signal()
    """Up in the empty field."""
    pasted = Signal(str)
    """A text that is too long for the field, perhaps."""
    unpaste_requested = Signal()
    """Undo, while the last thing that was done is a text that became a file."""
    files_dropped = Signal(object)
    """list[str]: paths."""
    picture_pasted = Signal(object)
    """A QImage."""
    page_turned = Signal(int)
    """Page Up (-1) or Page Down (1), which a text that fits into the field has no use for."""
    edge_wanted = Signal(int)
    """Ctrl+Home (-1) or Ctrl+End (1), which an empty field has no use for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_composing = False
        self._revision = -1  # of the text, when one that was pasted became a file
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setFont(frame_font(TRANSCRIPT_PX))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # lines wrap anywhere if they must
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(_CARET)
        self.setAccessibleName(self.tr("Message"))
        self.textChanged.connect(self.fit)
        WritingSide(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        with_keys = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        is_bare = with_keys == Qt.KeyboardModifier.NoModifier
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and (is_bare or with_keys == Qt.KeyboardModifier.ControlModifier):
            if not self._is_composing:
                self.send_requested.emit()
            return
        if event.key() == Qt.Key.Key_Up and is_bare and not self.toPlainText():
            self.edit_last_requested.emit()
            return
        edge = next((by for keys, by in _EDGES.items() if event.matches(keys)), 0)
        if edge and not self.toPlainText():
            self.edge_wanted.emit(edge)
            return
        if is_bare and event.key() in _PAGES and not self.verticalScrollBar().maximum():
            self.page_turned.emit(_PAGES[Qt.Key(event.key())])
            return
        if event.matches(QKeySequence.StandardKey.Undo) and self._is_file_new:
            self._unpaste()
            return
        super().keyPressEvent(event)

    def note_file(self) -> None:
        """What was pasted has become a file: undo is about that, until something else is written."""
        self._revision = self.document().revision()

    @property
    def _is_file_new(self) -> bool:
        return self.document().revision() == self._revision

    @Slot()
    def _unpaste(self) -> None:
        self._revision = -1
        self.unpaste_requested.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.make_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def make_menu(self) -> QMenu:
        """Qt's own, whose Undo knows of files, too."""
        menu = self.createStandardContextMenu()
        undo = next((action for action in menu.actions() if action.objectName() == "edit-undo"), None)
        if undo is not None and self._is_file_new:
            own = QAction(undo.icon(), undo.text(), menu)
            own.setObjectName(undo.objectName())
            own.triggered.connect(self._unpaste)
            menu.insertAction(undo, own)
            menu.removeAction(undo)
        return menu

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        # Enter ends the choice of an input method; it must not send half a word.
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText() or source.hasImage() or bool(dropped_paths(source))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take the files, or only the plain text, of what is pasted or dropped."""
        if paths := dropped_paths(source):
            self.files_dropped.emit(paths)
        elif source.hasText():
            self.pasted.emit(source.text())
        elif source.hasImage():
            self.picture_pasted.emit(source.imageData())

    def event(self, event: QEvent) -> bool:
        # Qt's editors claim Ctrl+K (delete to the end of the line); here it opens the palette.
        if isinstance(event, QKeyEvent) and event.keyCombination() == _PALETTE_KEY:
            event.ignore()
            return False
        return super().event(event)

    @Slot()
    def fit(self) -> None:
        """Be as high as the text, up to ten lines; of larger letters fewer, or nothing is left for what is read."""
        line = math.ceil(QFontMetricsF(self.font()).lineSpacing())  # as lines are laid out
        most = max(3, round(_MAX_LINES * TRANSCRIPT_PX / max(TRANSCRIPT_PX, self.font().pixelSize())))
        lines = max(1, min(most, round(self.document().size().height())))
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


def dropped_paths(source: QMimeData) -> list[str]:
    """The files of this machine among what is pasted or dropped."""
    return [url.toLocalFile() for url in source.urls() if url.isLocalFile()]


def model_among(paths: Sequence[str]) -> str:
    """The first of the files and folders that could be a model; "" when none could."""
    return next((path for path in paths if path.lower().endswith(".gguf") or Path(path).is_dir()), "")


class Composer(QWidget):
    """The rounded box at the foot of a chat."""

    send_requested = Signal(str)
    queue_requested = Signal(str)
    """To be sent when the answer has ended."""
    stop_requested = Signal()
    edit_last_requested = Signal()
    send_held = Signal()
    """The user wants to send, but a file is still being read."""
    files_wanted = Signal()
    """The user wants to choose files."""
    draft_changed = Signal()

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_answering = False
        self._takes_files = True
        self._is_held = False
        self._is_front = True
        self._pasted: Attachment | None = None  # the last text that became a file
        self.edit = MessageEdit(self)
        self.files = AttachmentBar(icons, self)
        self.meter = ContextMeter(self)
        self.clip_button = Button(icons, "clip", height=28)
        self.clip_button.setAccessibleName(self.tr("Attach files"))
        self.clip_button.setToolTip(
            plain_tip(self.tr("Attach files: images, PDF, Word, texts and others. They can be dropped here, too."))
        )
        self.folder_button = FolderButton(icons)
        self.think_button = ThinkButton(icons)
        self.tools_button = ToolsButton(icons)
        self.queue_button = Button(icons, "queue", self.tr("Queue"), look="outlined", height=32, pixels=13)
        self.queue_button.setAccessibleName(self.tr("Queue"))
        self.queue_button.setToolTip(plain_tip(self.tr("Send when the answer has ended  Enter")))
        self.button = Button(icons, "send", self.tr("Send"), look="filled", height=32, pixels=13)
        self._hint = plain_label("", "muted", TINY_PX)
        self._key = plain_label(self.tr("Esc"), "muted", TINY_PX)
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.edit)
        self._show_state()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addSpacing(8)
        row.addWidget(self.clip_button)
        row.addWidget(self.folder_button)
        row.addWidget(self.think_button)
        row.addWidget(self.tools_button)
        row.addWidget(self.meter)
        row.addStretch(1)
        row.addWidget(self._hint)
        row.addWidget(self._key)
        row.addSpacing(4)
        row.addWidget(self.queue_button)
        row.addWidget(self.button)
        row.addSpacing(10)  # as below it; margins would not be mirrored
        inner = QVBoxLayout()
        inner.setContentsMargins(16 - _CARET, 0, 16 - _CARET, 0)
        inner.setSpacing(8)
        inner.addWidget(self.files)
        inner.addWidget(self.edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 13 - _CARET, 0, 10)
        layout.setSpacing(6)
        layout.addLayout(inner)
        layout.addLayout(row)

    def _connect(self) -> None:
        self.edit.send_requested.connect(self._send)
        self.edit.edit_last_requested.connect(self._ask_for_last)
        self.edit.pasted.connect(self._paste)
        self.edit.unpaste_requested.connect(self._unpaste)
        self.edit.focus_changed.connect(self.update)
        self.edit.textChanged.connect(self._show_state)
        self.edit.textChanged.connect(self.draft_changed)
        self.files.changed.connect(self._show_state)
        self.files.changed.connect(self.draft_changed)
        self.files.text_wanted.connect(self._insert)
        self.button.clicked.connect(self._on_button)
        self.queue_button.clicked.connect(self._send)
        self.clip_button.clicked.connect(self.files_wanted)

    @Slot(bool)
    def set_answering(self, answering: bool) -> None:
        """Let the button stop instead of send."""
        self._is_answering = answering
        self._show_state()

    def set_zoom(self, zoom: float) -> None:
        """Write in letters as large as those that are read; 1 is their normal size."""
        font = frame_font(TRANSCRIPT_PX * zoom)
        self.edit.setFont(font)
        self.edit.viewport().setFont(font)  # that of the placeholder, which keeps its own once it was shown
        self.edit.fit()

    def set_takes_files(self, takes_files: bool) -> None:
        """False while an answer is edited: it is kept as it is written, sent nowhere, and has no files."""
        self._takes_files = takes_files
        self._show_state()

    def set_held(self, held: bool) -> None:
        """True while what was sent is made ready, which may take a second."""
        self._is_held = held
        self._show_state()

    def set_front(self, is_front: bool) -> None:
        """False where another chat stands beside this one, and the keys are for that."""
        self._is_front = is_front
        self._show_state()

    @property
    def takes_files(self) -> bool:
        """Whether files can go along with what is written."""
        return self._takes_files

    def set_placeholder(self, text: str) -> None:
        """What stands in the empty field."""
        self.edit.setPlaceholderText(f"{_ISOLATED}{text}{_END}" if text and self.isRightToLeft() else text)
        self.edit.viewport().update()  # Qt paints it anew only where none was shown before

    def type_on(self, event: QKeyEvent) -> None:
        """Take the keyboard, and a key that was pressed elsewhere."""
        self.edit.setFocus()
        self.edit.keyPressEvent(event)

    def text(self) -> str:
        """What was written and not sent."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Fill the field; the cursor stands at its end."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def draft(self) -> Draft:
        """The text and the files."""
        return Draft(self.text(), self.files.files())

    def set_draft(self, draft: Draft) -> None:
        """Fill the field and the bar."""
        self.files.set_files(draft.files)
        self.set_text(draft.text)

    @Slot(str)
    def _paste(self, text: str) -> None:
        file = None
        if self._takes_files and self.files.count() < MOST_FILES:  # else it would be lost
            file = pasted_attachment(text, [known.name for known in self.files.files()], pasted_name())
        if file is None:
            self._insert(text)
        else:
            self.edit.textCursor().removeSelectedText()  # it is in the place of what was selected
            self.files.add(file)
            self._pasted = file
            self.edit.note_file()

    @Slot(str)
    def _insert(self, text: str) -> None:
        self.edit.insertPlainText(text)
        self.edit.ensureCursorVisible()  # it may be longer than the field is high

    @Slot()
    def _unpaste(self) -> None:
        """Put the text into the field after all, unless its file is gone."""
        if self._pasted is None or not self.files.put_back(self._pasted):
            self.edit.undo()

    @Slot()
    def _ask_for_last(self) -> None:
        if not self.files.files():
            self.edit_last_requested.emit()

    @Slot()
    def _show_state(self) -> None:
        answering = self._is_answering
        is_empty = self.draft().is_empty
        self._show_button()
        self.button.setEnabled(answering or not (is_empty or self._is_held))
        self.clip_button.setVisible(self._takes_files)
        self.queue_button.setVisible(answering and not is_empty)
        is_tight, is_wide = self.width() < _TIGHT_WIDTH, self.width() > _HINT_WIDTH
        self._key.setVisible(answering and is_empty and self._is_front and not is_tight)
        self.queue_button.setText("" if is_tight else self.tr("Queue"))
        self.queue_button.updateGeometry()
        self.think_button.show_word(is_wide)
        self.tools_button.show_word(is_wide)
        self._hint.setText(self.tr("Shift+Enter for a new line") if self.text() and not answering and is_wide else "")

    def _show_button(self) -> None:
        if self._is_answering:
            text, icon, tip = self.tr("Stop"), "stop", self.tr("Stop this answer  Esc")
        elif self._takes_files:
            text, icon, tip = self.tr("Send"), "send", self.tr("Send  Enter")
        else:
            text, icon, tip = self.tr("Save"), "check", self.tr("Save  Enter")
        self.button.setText(text)
        self.button.set_icon_name(icon)
        self.button.setToolTip(plain_tip(tip))
        self.button.updateGeometry()

    @Slot()
    def _on_button(self) -> None:
        if self._is_answering:
            self.stop_requested.emit()
        else:
            self._send()
        self.edit.setFocus()

    @Slot()
    def _send(self) -> None:
        if self.files.is_reading:
            self.send_held.emit()
        elif not self.draft().is_empty:
            (self.queue_requested if self._is_answering else self.send_requested).emit(self.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_state()

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
