"""What the three pages share: a list, the pane beside it, and a sentence where there is no list."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.action_menu import action_menu
from llama_gui.ui.models.detail_pane import DetailPane
from llama_gui.ui.models.row_list import ROW_MARGIN, ModelRow, RowList
from llama_gui.ui.models.states import ModelStates
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import Button, RoleLabel, plain_label

_HEAD_MARGIN = 8
_LIST_WIDTH = 420
_ANY_WIDTH = 16_777_215


class Message(QWidget):
    """A calm sentence in the middle, and what to do next."""

    pressed = Signal(str)
    """The name that was given with the button."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._words = plain_label("", "muted", FRAME_PX)
        self._words.setWordWrap(True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = Button(icons, text="", look="outlined", height=30)
        self.button.clicked.connect(self._press)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(32, 24, 32, 24)
        layout.setSpacing(14)
        layout.addStretch(2)
        layout.addWidget(self._words)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)

    def say(self, text: str, button: str = "", name: str = "") -> None:
        """Show it; the button only where it has a word."""
        self._words.setText(text)
        self.button.setText(button)
        self.button.setAccessibleName(button)
        self.button.setObjectName(name)
        self.button.setVisible(bool(button))
        self.button.updateGeometry()

    def text(self) -> str:
        """What it says."""
        return self._words.text()

    @Slot()
    def _press(self) -> None:
        self.pressed.emit(self.button.objectName())


class ModelPage(QWidget):
    """A page. A subclass fills the list, and says what the pane shows of the current row."""

    open_wanted = Signal(str)
    """The key of a model that the user wants in the current tab: as a rule its path."""
    link_wanted = Signal(str)
    trouble = Signal(str)
    cancel_wanted = Signal(int)
    """A download that is not complete."""

    def __init__(self, desk: ModelDesk, states: ModelStates, icons: Icons, name: str) -> None:
        super().__init__()
        self.desk = desk
        self.states = states
        self.list = RowList(icons, name)
        self.message = Message(icons)
        self.pane = DetailPane(icons)
        self.head = QVBoxLayout()
        self.head.setContentsMargins(_HEAD_MARGIN, 0, _HEAD_MARGIN, 0)
        self.head.setSpacing(8)
        self._is_narrow = False
        self._is_pane_wanted = False  # where there is room for one
        self._left = QWidget()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.list)
        self._pages.addWidget(self.message)
        left = QVBoxLayout(self._left)
        left.setContentsMargins(12, 12, 10, 8)
        left.setSpacing(8)
        left.addLayout(self.head)
        left.addWidget(self._pages, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._left, 5)
        layout.addWidget(self.pane, 6)
        self._arrange()
        self.list.chosen.connect(self._on_chosen)
        self.list.clicked.connect(self.show_pane)
        self.list.opened.connect(self._on_opened)
        self.list.menu_wanted.connect(self._show_menu)
        self.pane.acted.connect(self.act)
        self.pane.link_wanted.connect(self.link_wanted)
        self.pane.back_wanted.connect(self.show_list)

    # For subclasses

    def add_note(self, text: str = "") -> RoleLabel:
        """A muted line above the list, that begins where the words of its rows begin."""
        note = plain_label(text, "muted", SMALL_PX)
        note.setWordWrap(True)
        note.setContentsMargins(ROW_MARGIN - _HEAD_MARGIN, 0, ROW_MARGIN - _HEAD_MARGIN, 0)
        self.head.addWidget(note)
        return note

    def enter(self) -> None:
        """The page comes to the front."""

    def show_current(self) -> None:
        """Show the current row in the pane."""

    def act(self, name: str) -> None:
        """A button of the pane was pressed."""
        self._act_on(self.list.current_key(), self.pane.chosen_file(), name)

    def show_states(self, rows: Sequence[ModelRow]) -> None:
        """The same rows, each with what happens to its model now."""
        self.list.show_rows([replace(row, state=self.states.word(row.key)) for row in rows])

    def _act_on(self, repo: str, gguf: str, name: str) -> None:
        """What all models of the hub have in common."""
        downloads = self.desk.downloads
        if name == "download":
            downloads.start(repo, gguf or None)
        elif name == "open":
            self.open_wanted.emit(self.states.path_of(repo, gguf))
        elif item := self.states.download_of(repo, gguf):
            if name == "cancel":
                self.cancel_wanted.emit(item.id)
            else:
                {"pause": downloads.pause, "resume": downloads.resume}[name](item.id)

    def say(self, text: str, button: str = "", name: str = "") -> None:
        """Show a sentence in place of the list."""
        self.message.say(text, button, name)
        self._pages.setCurrentWidget(self.message)
        self._arrange()

    def show_rows(self) -> None:
        """Show the list again."""
        self._pages.setCurrentWidget(self.list)
        self._arrange()

    # The menu of a row

    @Slot(object)
    def _show_menu(self, place: QPoint) -> None:
        """What the buttons of the pane do, where the mouse is."""
        if self.pane.content is not None and self.pane.content.actions:
            menu = action_menu(self.pane.content.actions, self.act, self)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(place)

    # One of two, where there is room for one

    def set_narrow(self, is_narrow: bool) -> None:
        """Show the list or the pane, not both."""
        self._is_narrow = is_narrow
        self._is_pane_wanted = False
        self._arrange()

    def _arrange(self) -> None:
        """What has room. A sentence in place of the list has nothing beside it."""
        has_list = self._pages.currentWidget() is self.list
        if not has_list:
            self._is_pane_wanted = False
        self.pane.back.setVisible(self._is_narrow)
        self.pane.setVisible(has_list and (not self._is_narrow or self._is_pane_wanted))
        self._left.setVisible(not self._is_narrow or not self._is_pane_wanted)
        self._left.setMaximumWidth(_LIST_WIDTH if has_list and not self._is_narrow else _ANY_WIDTH)

    @Slot()
    def show_list(self) -> None:
        """Back from the pane, where only one has room."""
        if self._is_narrow:
            self._is_pane_wanted = False
            self._arrange()
            self.list.setFocus()

    @Slot(str)
    def _on_chosen(self, _key: str) -> None:
        self.show_current()

    @Slot()
    def show_pane(self) -> None:
        """Show what is said of the current row, where only one has room."""
        if self._is_narrow:
            self._is_pane_wanted = True
            self._arrange()
            self.pane.back.setFocus()

    @Slot(str)
    def _on_opened(self, _key: str) -> None:
        """Enter or a double click: what the main button does, unless that costs gigabytes."""
        if self._is_narrow:
            self.show_pane()
        elif "open" in self.pane.buttons:
            self.act("open")
