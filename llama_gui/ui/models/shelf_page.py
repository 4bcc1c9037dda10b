"""What is on this machine: open it, check it, name it, delete it, see where it lies."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QMessageBox

from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.bridge.model_shelf import ShelfItem
from llama_gui.library.shelf_care import Deleted, Verified
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.contents import shelf_content, shelf_row
from llama_gui.ui.models.detail_pane import PaneAction
from llama_gui.ui.models.page import ModelPage
from llama_gui.ui.models.states import ModelStates
from llama_gui.ui.models.words import percent, plain, size_words
from llama_gui.ui.name_question import ask_name
from llama_gui.ui.numbers import counted
from llama_gui.ui.problem_words import problem_text
from llama_gui.vocabulary import ModelEntry

_MOST_PROBLEMS = 5
_DELETE, _RENAME = "Del", "F2"
_FEW = 8
"""So many models are seen at a glance; with more there is a field to filter them."""


class ShelfPage(ModelPage):
    """Lists the shelf. What is done with a model is told above its buttons."""

    deleted = Signal(str)
    """The path of a model that is gone."""

    def __init__(self, desk: ModelDesk, states: ModelStates, icons: Icons) -> None:
        super().__init__(desk, states, icons, "")
        self.list.setAccessibleName(self.tr("Models on this machine"))
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Filter by name or place"))
        self.field.setAccessibleName(self.tr("Show only models with these words in their name or place"))
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self.refresh)
        self.field.hide()
        self.list.steer_by(self.field)
        self.head.addWidget(self.field)
        self.note = self.add_note()
        self._current = ""
        self._hints: dict[str, str] = {}  # what was last said of a model
        self._checking = ""
        self._is_mark_wanted = False
        self._add_keys()
        shelf = desk.shelf
        shelf.changed.connect(self.refresh)
        shelf.deleted.connect(self._on_deleted)
        shelf.verifying.connect(self._on_verifying)
        shelf.verified.connect(self._on_verified)
        shelf.failed.connect(self._on_failed)
        desk.adviser.measured.connect(self.refresh)

    def _add_keys(self) -> None:
        """They are taken in the list only: in the field Delete is for its words."""
        for name, keys in (("rename", _RENAME), ("delete", _DELETE), ("delete", "Ctrl+Del")):  # so chats are deleted
            shortcut = QShortcut(QKeySequence(keys), self.list)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(partial(self._act_by_key, name))
        self.list.touched.connect(self._on_touched)

    def enter(self) -> None:
        """Look at the disk again."""
        if not self.desk.shelf.items:
            self.say(self.tr("Looking for models…"))
        self.desk.shelf.scan()
        self.list.setFocus()

    def set_open_model(self, key: str) -> None:
        """The model of the chat in front."""
        self._current = key
        self.refresh()

    def mark_open_model(self) -> None:
        """Make the model of the chat in front the current row, once it is listed."""
        self._is_mark_wanted = True
        self._mark()

    def _mark(self) -> None:
        path = next((item.entry.path for item in self.desk.shelf.items if item.entry.key == self._current), "")
        if self._is_mark_wanted and self.list.select(path):
            self._is_mark_wanted = False

    @Slot()
    def _on_touched(self) -> None:
        self._is_mark_wanted = False

    @Slot()
    def refresh(self) -> None:
        """Show what the last look has found."""
        items, words = self.desk.shelf.items, self.field.text().casefold().split()
        self.field.setVisible(len(items) > _FEW or bool(words))
        shown = [item for item in items if _has(item, words)]
        self.list.show_rows([shelf_row(item, self.desk.adviser, self._current) for item in shown])
        self._mark()
        total = sum(item.entry.size for item in items)
        self.note.setText(self.tr("Models: {}, together {}").format(len(items), size_words(total)))
        if shown:
            self.show_rows()
        elif items:
            self.say(
                self.tr("No model on this machine has “{}” in its name or place.").format(plain(self.field.text(), 60))
            )
        else:
            self.say(self.tr("There is no model on this machine. Download one from “Recommended”."))
        self.show_current()

    def _item(self) -> ShelfItem | None:
        key = self.list.current_key()
        return next((item for item in self.desk.shelf.items if item.entry.path == key), None)

    def show_current(self) -> None:
        """The current model in the pane."""
        item = self._item()
        if item is None:
            self.pane.show_content(None)
            return
        content = shelf_content(item, self.desk.adviser)
        hint = self._hints.get(item.entry.path, "")
        self.pane.show_content(replace(content, actions=self._actions(item), hint=hint))

    def _actions(self, item: ShelfItem) -> tuple[PaneAction, ...]:
        entry = item.entry
        is_open = entry.key == self._current
        text = self.tr("Already open") if is_open else self.tr("Open")
        text = self.tr("Load for other programs") if entry.embeds else text
        checking = self._checking == entry.path
        made = [
            *([] if entry.guesses else [PaneAction("open", text, main=True, enabled=not is_open)]),
            PaneAction("stop", self.tr("Stop checking"))
            if checking
            else PaneAction("verify", self.tr("Check its files")),
        ]
        if not entry.is_starter:
            made.append(PaneAction("rename", self.tr("Rename…"), keys=_RENAME))
        why_kept = problem_text(item.why_kept)
        delete = PaneAction("delete", self.tr("Delete…"), enabled=not why_kept, keys=_DELETE, why_not=why_kept)
        return (*made, delete, PaneAction("folder", self.tr("Show folder")))

    def _act_by_key(self, name: str) -> None:
        """What the button would do; where it does nothing, say why."""
        item = self._item()
        action = next((action for action in self._actions(item) if action.name == name), None) if item else None
        if item is not None and action is not None and action.enabled:
            self.act(name)
        elif item is not None and action is not None:
            self._hints[item.entry.path] = action.why_not
            self.show_current()
            self.show_pane()

    def act(self, name: str) -> None:
        """A button of the pane."""
        item = self._item()
        if item is None:
            return
        entry, shelf = item.entry, self.desk.shelf
        if name == "open":
            self.open_wanted.emit(entry.key)
        elif name == "verify":
            shelf.verify(entry)
        elif name == "stop":
            shelf.cancel_verify()
        elif name == "rename":
            self._ask_name(entry)
        elif name == "delete":
            self._ask_to_delete(entry)
        elif name == "folder":
            place = Path(entry.path)
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(place.parent if place.is_file() else place)))

    # Its name

    def _ask_name(self, entry: ModelEntry) -> None:
        question = self.tr("What shall it be called? Empty: its own name again.")
        then = partial(self.desk.shelf.rename, entry)
        ask_name(self, self.tr("Rename"), question, entry.name, self.tr("Rename"), then)

    # Its end

    def _ask_to_delete(self, entry: ModelEntry) -> QMessageBox:
        title = self.tr("Delete {}?").format(plain(entry.name, 80))
        buttons = QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, buttons, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        where = self.tr("Its files are deleted from {}, and {} are free again. This cannot be undone.")
        more = [where.format(plain(entry.path, 400), size_words(entry.size))]
        if entry.key == self._current:
            more.append(self.tr("It is open now, and answers until another model is opened."))
        box.setInformativeText("\n\n".join(more))
        box.button(QMessageBox.StandardButton.Discard).setText(self.tr("Delete"))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(lambda result, entry=entry: self._on_answer(entry, result))
        box.open()
        return box

    def _on_answer(self, entry: ModelEntry, result: int) -> None:
        if result == QMessageBox.StandardButton.Discard:
            self.desk.shelf.delete(entry)

    @Slot(object, object)
    def _on_deleted(self, entry: ModelEntry, done: Deleted) -> None:
        text = self.tr("{} is deleted; {} are free again.").format(plain(entry.name, 80), size_words(done.freed))
        if done.left:
            left = ", ".join(plain(name, 60) for name in done.left[:5])
            text += " " + self.tr("Left in {}, because it is no part of the model: {}").format(entry.path, left)
        self.note.setText(text)
        self.deleted.emit(text)

    # Its bytes

    @Slot(str, object, object)
    def _on_verifying(self, path: str, done: int, total: int) -> None:
        self._checking = path
        self._hints[path] = self.tr("Checking: {} %").format(percent(done, total))
        self.show_current()

    @Slot(object, object)
    def _on_verified(self, entry: ModelEntry, found: Verified | None) -> None:
        if self._checking == entry.path:
            self._checking = ""
        if found is None:
            hint = self.tr("The check was stopped.")
        elif found.problems:
            hint = "\n".join(map(problem_text, found.problems[:_MOST_PROBLEMS]))
        elif found.by_checksum:
            one = self.tr("All is well: {} file is what the hub promised.")
            hint = counted(found.by_checksum, one, self.tr("All is well: {} files are what the hub promised."))
        else:
            hint = self.tr("All is well as far as can be told: nobody knows the checksums of these files.")
        self._hints[entry.path] = hint
        self.show_current()

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self._checking = ""
        if item := self._item():
            self._hints[item.entry.path] = problem_text(text)
        self.show_current()


def _has(item: ShelfItem, words: Sequence[str]) -> bool:
    """Whether all of these words, in small letters, are in what people know of a model."""
    known = f"{item.entry.name} {item.entry.path} {item.keeper}".casefold()
    return all(word in known for word in words)
