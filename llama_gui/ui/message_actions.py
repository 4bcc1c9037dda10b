"""What can be done with one message: the verbs of the transcript's buttons, of the keys and of the palette."""

import re
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.message_files import split
from llama_gui.chats.reasoning import answer_text
from llama_gui.chats.tree import Node
from llama_gui.ui.composer import Composer
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.transcript.hover_bar import why_not_words

UNDO_SECONDS = 8


class MessageActions(QObject):
    """Runs verbs on the messages of one session; messages are edited in the composer."""

    said = Signal(str)
    """A short confirmation for the status line."""
    editing_changed = Signal()
    other_model_wanted = Signal(str)
    """An answer that another model shall give, too."""
    words_wanted = Signal(object)
    """`Node`: the answer whose words somebody wants to look at."""

    def __init__(self, session: ChatSession, composer: Composer, bar: InfoBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._composer = composer
        self._bar = bar
        self._editing: str | None = None
        self._deleted: str | None = None
        self._draft = Draft()  # what stood in the field before a message was edited in it
        bar.accepted.connect(self._on_accepted)
        bar.dismissed.connect(self._on_dismissed)
        session.edits.branch_deleted.connect(self._on_branch_deleted)
        session.reproduced.connect(self._on_reproduced)

    @property
    def editing(self) -> bool:
        """Whether the composer holds a message that was sent before."""
        return self._editing is not None

    @Slot(str, str)
    def run(self, verb: str, node_id: str) -> None:
        """Do something with a message that is shown; unknown verbs and messages are ignored."""
        node = next((node for node in self._session.path() if node.id == node_id), None)
        if node is None:
            return
        match verb:
            case "copy":
                self._copy(node)
            case "edit":
                self._begin_edit(node)
            case "regenerate":
                self._session.regenerate(node_id)
            case "regenerate_with":
                self.other_model_wanted.emit(node_id)
            case "words":
                self._look_at_words(node)
            case "run_again":
                self._session.run_again(node_id)
            case "continue":
                self._session.go_on(node_id)
            case "fork":
                title = fork_title(self._session.title, self.tr("{} (fork)"), self.tr("{} (fork {})"))
                self._session.edits.fork(node_id, title, self._session.settings)
            case "delete":
                self._delete(node_id)
            case "previous" | "next":
                self._show_version(node_id, -1 if verb == "previous" else 1)

    def run_on_last(self, verb: str) -> None:
        """Do something with the message that a key means: the last question, answer, or one with versions."""
        path = self._session.path()
        if verb == "edit_answer":
            verb, path = "edit", [node for node in path if node.role == "assistant"]
        elif verb == "edit":
            path = [node for node in path if node.role == "user"]
        elif verb in ("previous", "next"):
            versions = self._session.versions()
            path = [node for node in path if node.id in versions]
        else:
            path = [node for node in path if node.role == "assistant"]
        if path:
            self.run(verb, path[-1].id)

    # --- editing

    @property
    def edited(self) -> str | None:
        """The message that is edited."""
        return self._editing

    def put_aside(self) -> list[Draft]:
        """The draft that comes back when the edit ends, if one is under way."""
        return [self._draft] if self.editing else []

    def send(self, text: str, files: tuple[Attachment, ...] = ()) -> bool:
        """Send `text` in the place of the message that is edited; False when none is."""
        node = next((node for node in self._session.path() if node.id == self._editing), None)
        if node is None:
            return False
        self._session.edit(node.id, text, files)
        if node.role != "user":  # a user's message is done when it is on disk
            self.leave()
        return True

    def leave(self) -> bool:
        """End the edit, done or given up: the draft comes back. False when there is none."""
        if self._editing is None:
            return False
        self._editing = None
        self._bar.clear()
        self._composer.set_takes_files(True)
        self._composer.set_draft(self._draft)
        self.editing_changed.emit()
        return True

    def _begin_edit(self, node: Node) -> None:
        if self._session.answering:
            return
        if self._editing is None:
            self._draft = self._composer.draft()
        self._editing, self._deleted = node.id, None
        self._composer.set_takes_files(node.role == "user")
        self._composer.set_draft(Draft(*split(node.content, node.attachments)))
        self._composer.setFocus()
        what = self.tr("your message") if node.role == "user" else self.tr("the answer")
        says = self.tr("Editing {}. Enter keeps it as a new version.").format(what)
        self._bar.offer(says, self.tr("Leave"), can_close=False)
        self.editing_changed.emit()

    # --- the rest

    def _copy(self, node: Node) -> None:
        words, _files = split(node.content, node.attachments)
        text = answer_text(replace(node, content=words)) if node.role == "assistant" else words
        QGuiApplication.clipboard().setText(text)
        self.said.emit(self.tr("The message is on the clipboard."))

    def _look_at_words(self, node: Node) -> None:
        if why_not := why_not_words(node):
            self._session.failed.emit(why_not)
        else:
            self.words_wanted.emit(node)

    def _show_version(self, node_id: str, by: int) -> None:
        if not self._session.answering:
            self._session.edits.show_version(node_id, by)

    def _delete(self, node_id: str) -> None:
        if self._session.answering:
            self._session.failed.emit(self.tr("An answer is still being written. Stop it, or wait for its end."))
        else:
            self.leave()
            self._session.edits.delete_branch(node_id)

    @Slot(str)
    def _on_branch_deleted(self, node_id: str) -> None:
        self._deleted = node_id
        self._composer.setFocus()
        self._bar.offer(self.tr("The message and what follows it are in the bin."), self.tr("Undo"), UNDO_SECONDS)

    @Slot(bool)
    def _on_reproduced(self, same: bool) -> None:
        self.said.emit(
            self.tr("Run again: the same text, letter for letter.")
            if same
            else self.tr("Run again: the text differs. Model, dtype or an earlier message is another.")
        )

    @Slot()
    def _on_accepted(self) -> None:
        if self._editing is not None:
            self.leave()
        elif self._deleted is not None:
            node_id, self._deleted = self._deleted, None
            self._session.edits.restore_branch(node_id)

    @Slot()
    def _on_dismissed(self) -> None:
        self._deleted = None
        self.leave()


def fork_title(title: str, first: str, later: str) -> str:
    """What a fork is called: as `first` says, and the fork of a fork as `later`, which counts them."""
    if once := re.fullmatch("(.+)".join(map(re.escape, first.split("{}"))), title, re.DOTALL):
        return later.format(once[1], 2)
    before, between, behind = map(re.escape, later.split("{}"))
    if counted := re.fullmatch(f"{before}(.+){between}([0-9]{{1,9}}){behind}", title, re.DOTALL):
        return later.format(counted[1], int(counted[2]) + 1)
    return first.format(title)
