"""The bin: what was deleted in the last thirty days, to have it back or to let it go."""

from datetime import datetime

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from llama_gui.bridge.chat_shelving import BinContents, ChatShelving
from llama_gui.chats.bin import DeletedBranch
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.rows import NotedList
from llama_gui.ui.theme import FRAME_PX
from llama_gui.ui.widgets import plain_label

_WHAT = Qt.ItemDataRole.UserRole + 1


class BinDialog(QDialog):
    """Lists deleted chats and branches, the last one first."""

    def __init__(self, shelving: ChatShelving, parent: QWidget) -> None:
        super().__init__(parent)
        self._shelving = shelving
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Bin"))
        self.list = NotedList(self.tr("The bin is empty."))
        self.list.setAccessibleName(self.tr("Deleted chats and messages"))
        self.list.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.restore_button = DialogButton(self.tr("Restore"))
        self.empty_button = DialogButton(self.tr("Empty the bin…"))
        self._note = plain_label(
            self.tr("What you delete stays here for 30 days, and is then gone for ever."), "muted", FRAME_PX
        )
        self._note.setWordWrap(True)
        self._lay_out()
        self.list.itemSelectionChanged.connect(self._on_selection)
        self.list.itemActivated.connect(self.restore)
        self.restore_button.clicked.connect(self.restore)
        self.empty_button.clicked.connect(self._ask_to_empty)
        shelving.bin_read.connect(self._show_contents)
        shelving.changed.connect(self._read)  # a slot of the dialog's own: the connection goes with it
        self._read()

    def _lay_out(self) -> None:
        close = DialogButton(self.tr("Close"), self.accept)
        foot = QHBoxLayout()
        foot.addWidget(self.empty_button)
        foot.addStretch(1)
        foot.addWidget(self.restore_button)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(self._note)
        layout.addWidget(self.list, 1)
        layout.addLayout(foot)
        self.resize(520, 420)

    @Slot()
    def _read(self) -> None:
        self._shelving.read_bin()

    @Slot(object)
    def _show_contents(self, contents: BinContents) -> None:
        self.list.clear()
        for chat in contents.chats:
            self._add(chat.title, chat.deleted, chat.id)
        for branch in contents.branches:
            words = self.tr("Messages of “{}”: {}").format(branch.title, branch.beginning)
            self._add(words, branch.deleted, branch)
        self.empty_button.setEnabled(self.list.count() > 0)
        self.list.setCurrentRow(0)
        self._on_selection()

    def _add(self, words: str, deleted: float | None, what: str | DeletedBranch) -> None:
        day = f"{datetime.fromtimestamp(deleted):%Y-%m-%d}" if deleted else ""
        self.list.add(" ".join(words.split()), day).setData(_WHAT, what)

    @Slot()
    def _on_selection(self) -> None:
        self.restore_button.setEnabled(bool(self.list.selectedItems()))

    @Slot()
    def restore(self) -> None:
        """Take what is selected out of the bin."""
        selected = [item.data(_WHAT) for item in self.list.selectedItems()]
        self._shelving.restore_all([what for what in selected if not isinstance(what, DeletedBranch)])
        for what in selected:
            if isinstance(what, DeletedBranch):
                self._shelving.restore_branch(what)

    @Slot()
    def _ask_to_empty(self) -> None:
        buttons = QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel
        title = self.tr("Delete all of this for ever?")
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, buttons, self)
        box.setInformativeText(self.tr("It cannot be undone."))
        box.button(QMessageBox.StandardButton.Discard).setText(self.tr("Delete for ever"))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(self._on_answer)
        box.open()

    @Slot(int)
    def _on_answer(self, result: int) -> None:
        if result == QMessageBox.StandardButton.Discard:
            self._shelving.empty_bin()
