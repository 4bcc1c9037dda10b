"""The command palette, the sheet of keys, and the question before a link is opened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QObject,
    QRectF,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QFrame,
    QGridLayout,
    QLineEdit,
    QListView,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from llama_gui.ui.actions import Actions
from llama_gui.ui.former_focus import FormerFocus
from llama_gui.ui.rows import NOTE_ROLE, ROW_HEIGHT, NoteDelegate
from llama_gui.ui.screen_room import fitted
from llama_gui.ui.synonyms import SYNONYMS
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, theme_of
from llama_gui.ui.translatable import QT_TRANSLATE_NOOP
from llama_gui.ui.widgets import plain_label

_CLICKS = QT_TRANSLATE_NOOP("KeysDialog", "Ctrl or Shift + click")
_MORE_KEYS = (
    ("Chat", QT_TRANSLATE_NOOP("KeysDialog", "Send the message"), QT_TRANSLATE_NOOP("KeysDialog", "Enter")),
    ("Chat", QT_TRANSLATE_NOOP("KeysDialog", "Start a new line"), QT_TRANSLATE_NOOP("KeysDialog", "Shift+Enter")),
    ("Tabs", QT_TRANSLATE_NOOP("KeysDialog", "Go to tab 1 … 8"), QT_TRANSLATE_NOOP("KeysDialog", "Ctrl+1 … Ctrl+8")),
    ("Chats", QT_TRANSLATE_NOOP("KeysDialog", "Choose several in the list"), _CLICKS),
    (
        "Chats",
        QT_TRANSLATE_NOOP("KeysDialog", "Delete what is chosen there"),
        QT_TRANSLATE_NOOP("KeysDialog", "Ctrl+Del"),
    ),
    (
        "Help",
        QT_TRANSLATE_NOOP("KeysDialog", "Menu of what has the keyboard"),
        QT_TRANSLATE_NOOP("KeysDialog", "Shift+F10"),
    ),
)
_MOST_FOUND = 100
_COLUMNS = (
    (
        QT_TRANSLATE_NOOP("Actions", "Tabs"),
        QT_TRANSLATE_NOOP("Actions", "View"),
        QT_TRANSLATE_NOOP("Actions", "Help"),
    ),
    (
        QT_TRANSLATE_NOOP("Actions", "Chat"),
        QT_TRANSLATE_NOOP("Actions", "Model"),
        QT_TRANSLATE_NOOP("Actions", "Chats"),
    ),
)


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the palette: its words, the note beside them, what else it may be called, and what it runs."""

    text: str
    note: str
    other_names: str
    run: Callable[[], object]
    group: str = ""
    can_run: Callable[[], bool] = lambda: True

    def likeness(self, words: Sequence[str]) -> int:
        """How well these words, in small letters, name it.

        3: they begin words of its name; 2: are somewhere in it; 1: some begin its other names; 0: not all are there.
        """
        name, others = f" {self.group} {self.text}".lower(), f" {self.other_names}".lower()
        if all(f" {word}" in name for word in words):
            return 3
        if all(word in name for word in words):
            return 2
        return int(all(word in name or f" {word}" in others for word in words))


def commands_of(actions: Actions) -> list[Command]:
    """What the window can do."""
    return [
        Command(
            action.text(),
            action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
            f"{spec.name.replace('_', ' ')} {spec.text} {SYNONYMS.get(spec.name, '')}",
            action.trigger,
            spec.group_shown,
            action.isEnabled,
        )
        for spec, action in actions
        if spec.in_palette
    ]


class CommandPalette(QWidget):
    """Type to find a command, Enter to run it, Esc to leave. It lies over the window and goes with the focus.

    `finds`: what is listed only by what is typed. `search`: what looks for those words elsewhere; its row is the last.
    """

    def __init__(
        self, commands: Sequence[Command], finds: Sequence[Command], search: Callable[[str], object], window: QWidget
    ) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(self.tr("All actions"))
        self._commands, self._finds, self._search = commands, finds, search
        self._found: list[Command] = []
        self._before = FormerFocus(window.focusWidget())
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Find an action, a model or a chat"))
        self.field.setAccessibleName(self.tr("Find an action, a model or a chat"))
        self.field.installEventFilter(self)
        self.view = QListView()
        self._set_up_view()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(8, 8, 8, 8)
        self._layout.addWidget(self.field)
        self._layout.addWidget(self.view, 1)
        self._most = min(392, window.height() - 96)
        self.resize(min(480, window.width() - 32), self._most)
        self.move((window.width() - self.width()) // 2, 56)
        self.field.textChanged.connect(self._filter)
        self.field.returnPressed.connect(self._run)
        self.view.clicked.connect(self._run)
        self._filter("")

    def _set_up_view(self) -> None:
        self._model = QStandardItemModel(self)
        self.view.setModel(self._model)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setAccessibleName(self.tr("Finds"))
        self.view.viewport().setAutoFillBackground(False)
        self.view.setItemDelegate(NoteDelegate(self.view))
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)

    def open(self) -> None:
        """Appear and take the keyboard."""
        self.show()
        self.raise_()
        self.field.setFocus()

    def _leave(self) -> None:
        self._before.give_back()
        self.close()

    @Slot(str)
    def _filter(self, text: str) -> None:
        words = text.lower().split()
        commands = [*self._commands, *self._finds] if words else self._commands
        likenesses = [(command.likeness(words), command) for command in commands if command.can_run()]
        likenesses.sort(key=lambda pair: -pair[0])  # equals stay in their order
        self._found = [command for likeness, command in likenesses if likeness][:_MOST_FOUND]
        if words:
            everywhere = self.tr("Search all chats for “{}”").format(text.strip())
            self._found.append(Command(everywhere, "", "", partial(self._search, text.strip())))
        self._model.clear()
        for command in self._found:
            item = QStandardItem(command.text)
            item.setData(command.note, NOTE_ROLE)
            self._model.appendRow(item)
        self.view.setCurrentIndex(self._model.index(0, 0))
        self._fit(len(self._found))

    def _fit(self, found: int) -> None:
        """No longer than what was found."""
        margins = self._layout.contentsMargins()
        room = margins.top() + margins.bottom() + self.field.sizeHint().height() + self._layout.spacing()
        self.resize(self.width(), min(self._most, room + found * ROW_HEIGHT))
        self.update()  # the border is elsewhere now

    @Slot()
    def _run(self) -> None:
        index = self.view.currentIndex()
        command = self._found[index.row()] if index.isValid() else None
        self._leave()
        if command is not None:
            command.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.close()
        if not isinstance(event, QKeyEvent):
            return False
        if event.key() == Qt.Key.Key_Escape and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # else Esc would stop the answer
            return True
        if event.type() == QEvent.Type.KeyPress:
            return self._take_key(Qt.Key(event.key()))
        return False

    def _take_key(self, key: Qt.Key) -> bool:
        if key == Qt.Key.Key_Escape:
            self._leave()
            return True
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key)
        if step and self._model.rowCount():
            row = (self.view.currentIndex().row() + step) % self._model.rowCount()
            self.view.setCurrentIndex(self._model.index(row, 0))
        return step is not None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        painter.setPen(QPen(theme.color("field_focus"), 1))  # else it is hardly told from what it lies over
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)


class KeysDialog(QDialog):
    """All keys on one sheet."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Keys"))
        sheet = QWidget()
        columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, sheet)
        columns.setContentsMargins(32, 24, 32, 32)
        columns.setSpacing(48)
        more = ((group, self.tr(text), self.tr(keys)) for group, text, keys in _MORE_KEYS)
        rows = [*_rows_of(actions), *more]
        for groups in _COLUMNS:
            columns.addWidget(_keys_column(rows, groups), 0, Qt.AlignmentFlag.AlignTop)
        area = QScrollArea()  # it has the keyboard, so that arrows and pages scroll
        area.setAccessibleName(self.tr("Keys"))
        area.setWidget(sheet)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)
        self.resize(self._fit(columns, sheet, area.verticalScrollBar().sizeHint().width()))

    def _fit(self, columns: QBoxLayout, sheet: QWidget, bar: int) -> QSize:
        """As large as the sheet, or as the screen; columns that it is too narrow for stand below each other."""
        for direction in (QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom):
            columns.setDirection(direction)
            wanted = sheet.sizeHint()
            if fitted(wanted, self).height() < wanted.height():
                wanted += QSize(bar, 0)
            if fitted(wanted, self).width() == wanted.width():
                break
        return fitted(wanted, self)


def _keys_column(rows: Sequence[tuple[str, str, str]], groups: Sequence[str]) -> QWidget:
    """Groups of (group, text, keys) below each other; a column of its own, so that its rows are evenly spaced."""
    column = QWidget()
    grid = QGridLayout(column)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(8)
    for group in (group for group in groups if any(row[0] == group for row in rows)):
        name = plain_label(QCoreApplication.translate("Actions", group), "muted", SMALL_PX, bold=True)
        name.setContentsMargins(0, 12 if grid.count() else 0, 0, 0)
        grid.addWidget(name, grid.rowCount(), 0, 1, 2)
        for _, text, keys in (row for row in rows if row[0] == group):
            line = grid.rowCount()
            grid.addWidget(plain_label(text, "text", FRAME_PX), line, 0)
            grid.addWidget(plain_label(keys, "muted", SMALL_PX), line, 1, Qt.AlignmentFlag.AlignRight)
    return column


def _rows_of(actions: Actions) -> list[tuple[str, str, str]]:
    native = QKeySequence.SequenceFormat.NativeText
    return [
        (spec.group, action.text(), action.shortcut().toString(native))
        for spec, action in actions
        if not action.shortcut().isEmpty() and (spec.in_palette or spec.group == "Help")
    ]


def confirm_link(parent: QWidget, address: str, done: Callable[[str, QMessageBox.StandardButton], None]) -> QMessageBox:
    """Show where a link really goes, and ask. The dialog does not block the window's answers."""
    buttons = QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel
    title = QCoreApplication.translate("LinkQuestion", "Open this link?")
    box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, buttons, parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    shown = address if len(address) <= 600 else address[:600] + "…"
    words = QCoreApplication.translate("LinkQuestion", "It opens in your browser:")
    box.setInformativeText(f"{words}\n\n{shown}")
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.finished.connect(partial(_finish, box, address, done))
    box.open()
    return box


def _finish(
    box: QMessageBox, address: str, done: Callable[[str, QMessageBox.StandardButton], None], _result: int
) -> None:
    clicked = box.clickedButton()
    done(address, box.standardButton(clicked) if clicked is not None else QMessageBox.StandardButton.Cancel)
