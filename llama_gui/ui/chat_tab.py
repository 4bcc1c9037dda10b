"""One tab: the transcript above, the composer below, and the session between them."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QHideEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMessageBox, QStackedWidget, QVBoxLayout, QWidget

from llama_gui.bridge.attachments import AttachmentReader
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment, Draft, joined, split
from llama_gui.chats.tree import Node
from llama_gui.ui.attachment_bar import MOST_FILES
from llama_gui.ui.composer import Composer, dropped_paths, model_among
from llama_gui.ui.dialogs import confirm_link
from llama_gui.ui.icons import Icons
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.message_actions import UNDO_SECONDS, MessageActions
from llama_gui.ui.numbers import number_text
from llama_gui.ui.queue_list import QueueList
from llama_gui.ui.theme import COLUMN_WIDTH
from llama_gui.ui.transcript.branch_map import BranchMap
from llama_gui.ui.transcript.find_bar import FindBar
from llama_gui.ui.transcript.sheet import SIDE_MARGIN
from llama_gui.ui.transcript.view import TranscriptView
from llama_gui.ui.transcript.welcome import Welcome
from llama_gui.ui.widgets import Button, Notice, Surface, plain_tip
from llama_gui.vocabulary import JobProgress


class ChatTab(Surface):
    """Shows one `ChatSession`."""

    draft_changed = Signal()
    about_to_send = Signal()
    model_dropped = Signal(str)
    """A file or folder that could be a model."""

    def __init__(
        self, session: ChatSession, reader: AttachmentReader, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__("page", parent=parent)
        self.session = session
        self._reader = reader
        self._has_told_dropped = False
        self.setAcceptDrops(True)
        self.transcript = TranscriptView(icons)
        self.find_bar = FindBar(icons, self.transcript)
        self.welcome = Welcome()
        self.composer = Composer(icons)
        self.notice = Notice(icons)
        self.bar = InfoBar(icons)
        self.messages = MessageActions(session, self.composer, self.bar, self)
        self.queue = QueueList(session.queue, icons)
        self._removed: tuple[int, Draft] | None = None  # from the queue, until nobody can undo it
        self.jump_button = Button(icons, "arrow-down", look="floating", height=32)
        self.jump_button.setParent(self)
        self.jump_button.setAccessibleName(self.tr("Jump to the end"))
        self.jump_button.setToolTip(plain_tip(self.tr("Jump to the end")))
        self._wanted_message = ""
        self._is_on_its_way = False  # a message, until it is on disk or refused
        self._lay_out()
        self._connect_widgets()
        self._connect_session()
        self.show_chat()

    def _lay_out(self) -> None:
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.transcript)
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        foot = QVBoxLayout(column)
        foot.setContentsMargins(0, 8, 0, 16)
        foot.setSpacing(8)
        foot.addWidget(self.notice)
        foot.addWidget(self.bar)
        foot.addWidget(self.queue)
        foot.addWidget(self.composer)
        centred = QHBoxLayout()
        centred.setContentsMargins(SIDE_MARGIN, 0, SIDE_MARGIN, 0)
        centred.addStretch(1)
        centred.addWidget(column, 1000)
        centred.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._pages, 1)
        layout.addLayout(centred)
        self.jump_button.hide()

    def _connect_widgets(self) -> None:
        self.composer.send_requested.connect(self.send)
        self.composer.queue_requested.connect(self.send)
        self.composer.stop_requested.connect(self.session.stop)
        self.composer.draft_changed.connect(self.draft_changed)
        self.composer.draft_changed.connect(self._watch_draft)
        self.draft_changed.connect(self._keep_files)
        self.session.draft_files.brought.connect(self._bring_files)
        self.composer.files_wanted.connect(self.ask_for_files)
        self.composer.edit.files_dropped.connect(self.attach)
        self.messages.editing_changed.connect(self._watch_draft)
        self.session.context.measured.connect(self.composer.meter.show_use)
        self.session.context.counted.connect(self.composer.files.set_tokens)
        self.composer.edit_last_requested.connect(self._edit_last)
        self.queue.edit_requested.connect(self._edit_queued)
        self.queue.remove_requested.connect(self._remove_queued)
        self.queue.send_requested.connect(self.session.send_queued)
        self.bar.accepted.connect(self._put_back_queued)
        self.bar.dismissed.connect(self._forget_removed)
        self.session.queue.changed.connect(self.draft_changed)
        self.welcome.asked.connect(self._ask)
        self.transcript.again_requested.connect(self.session.regenerate)
        self.transcript.action_requested.connect(self.messages.run)
        self.transcript.link_requested.connect(self._ask_for_link)
        self.transcript.copied.connect(self._on_copied)
        self.transcript.at_end_changed.connect(self._show_jump)
        self.jump_button.clicked.connect(self.transcript.go_to_end)

    def _connect_session(self) -> None:
        session = self.session
        session.changed.connect(self.show_chat)
        session.message_added.connect(self._add_node)
        session.text_added.connect(self.transcript.add_text)
        session.node_changed.connect(self._replace_node)
        session.answering_changed.connect(self._on_answering)
        session.progress_changed.connect(self._on_progress)
        session.held_up.connect(self._on_held_up)
        session.accepted.connect(self._on_accepted)
        session.returned.connect(self._on_returned)
        session.failed.connect(self._on_failed)
        session.saved_changed.connect(self._on_saved)
        session.dropped.connect(self._on_dropped)

    # What the user does

    @Slot(str)
    def send(self, text: str) -> None:
        """Give a message to the session, or queue it. The field is emptied when the session has accepted it."""
        if self._is_on_its_way:  # Enter was pressed twice: the message still stands in the field
            return
        self.notice.say("")
        self.about_to_send.emit()
        files = self.composer.files.files()
        if self.messages.send(text, files):
            return
        if self.session.answering:
            self.session.queue_message(text, files)
        else:
            self._is_on_its_way = True
            self.session.send(text, files)

    def draft(self) -> Draft:
        """All that was written and not sent: the queue too, and what an edit has put aside."""
        return joined([*self.session.queue.drafts(), *self.messages.put_aside(), self.composer.draft()])

    @Slot(int)
    def _edit_queued(self, index: int) -> None:
        """Bring a queued message back into the composer, behind what stands there."""
        draft = self.session.queue.take(index)
        self.composer.set_draft(joined([self.composer.draft(), draft]))
        self.composer.setFocus()

    @Slot(int)
    def _remove_queued(self, index: int) -> None:
        self._removed = index, self.session.queue.take(index)
        self.composer.setFocus()
        self.messages.leave()
        self.bar.offer(self.tr("The message was removed from the queue."), self.tr("Undo"), UNDO_SECONDS)

    @Slot()
    def _put_back_queued(self) -> None:
        if self._removed is not None:
            (index, draft), self._removed = self._removed, None
            self.session.queue.add(draft, index)
            if not self.session.answering:  # else its end sends it
                self.session.queue.pause()

    @Slot()
    def _forget_removed(self) -> None:
        self._removed = None

    @Slot(str)
    def _ask(self, question: str) -> None:
        self.composer.set_text(question)
        self.send(question)

    @Slot()
    def _edit_last(self) -> None:
        self.messages.run_on_last("edit")

    @Slot()
    def focus_composer(self) -> None:
        """Put the keyboard where the next message is written."""
        self.composer.setFocus()

    def show_branches(self) -> None:
        """Open the map of the chat."""
        branch_map = BranchMap(self.session.map_dots(), self)
        branch_map.chosen.connect(self.go_to_message)
        branch_map.open()

    def want_message(self, node_id: str) -> None:
        """Go to a message, once the chat is read."""
        if self.session.path():
            self.go_to_message(node_id)
        else:
            self._wanted_message = node_id

    @Slot(str)
    def go_to_message(self, node_id: str) -> None:
        """Show a message of this chat, on whatever branch it is, and light it up."""
        if all(node.id != node_id for node in self.session.path()):
            if self.session.answering:
                self._on_failed(self.tr("An answer is still being written. Stop it, or wait for its end."))
                return
            self.session.edits.show_message(node_id)
        self.transcript.scroll_to_node(node_id)

    def copy_last_answer(self) -> bool:
        """Put the last answer on the clipboard; False where there is none."""
        text = self.transcript.last_answer()
        if text:
            QGuiApplication.clipboard().setText(text)
        return bool(text)

    @Slot()
    def _on_copied(self) -> None:
        self.messages.said.emit(self.tr("Copied to the clipboard."))

    @Slot(str)
    def _ask_for_link(self, address: str) -> None:
        confirm_link(self, address, self._open_link)

    def _open_link(self, address: str, answer: QMessageBox.StandardButton) -> None:
        if answer == QMessageBox.StandardButton.Open:
            QDesktopServices.openUrl(QUrl(address))

    # What the session tells

    @Slot()
    def show_chat(self) -> None:
        """Draw the whole chat anew."""
        nodes = [_as_said(node) for node in self.session.path()]
        self.transcript.show_path(nodes, self.session.versions())
        self._show_page(bool(nodes))
        self.composer.set_answering(self.session.answering)
        wanted, self._wanted_message = self._wanted_message, ""
        if wanted and nodes:
            self.go_to_message(wanted)

    @Slot(object)
    def _add_node(self, node: Node) -> None:
        self._show_page(True)
        self.transcript.set_versions(self.session.versions())
        self.transcript.add_node(_as_said(node))

    @Slot(object)
    def _replace_node(self, node: Node) -> None:
        self.transcript.replace_node(_as_said(node))

    @Slot(bool)
    def _on_answering(self, answering: bool) -> None:
        self.composer.set_answering(answering)
        self.queue.set_answering(answering)
        self.transcript.set_waiting(self.tr("Waiting for the model…") if answering else "")
        if not answering:
            self._announce(self.tr("The answer is finished."))

    def _announce(self, text: str) -> None:
        """Tell a screen reader; what streams is not read out word by word."""
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    @Slot()
    def _on_held_up(self) -> None:
        self.transcript.set_waiting(self.tr("Waiting for its turn: other chats use the memory…"))

    @Slot(object)
    def _on_progress(self, progress: JobProgress) -> None:
        read, total = progress.prompt_tokens_read, progress.prompt_tokens
        if read < total:
            text = self.tr("Reading the prompt… {} of {} tokens").format(number_text(read), number_text(total))
            if progress.eta_seconds is not None and progress.eta_seconds >= 2:
                text += self.tr(" · about {:.0f} s").format(progress.eta_seconds)
            self.transcript.set_waiting(text)

    @Slot()
    def _on_accepted(self) -> None:
        self._is_on_its_way = False
        if not self.messages.leave():
            self.composer.set_draft(Draft())
        self.notice.say("")

    @Slot(object)
    def _on_returned(self, draft: Draft) -> None:
        self._is_on_its_way = False
        if self.composer.draft().is_empty:
            self.composer.set_draft(draft)

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self._is_on_its_way = False
        self.notice.say(text)
        self._announce(text)

    @Slot(bool, str)
    def _on_saved(self, is_saved: bool, text: str) -> None:
        self.notice.say("" if is_saved else text)

    @Slot(int)
    def _on_dropped(self, count: int) -> None:
        if count and not self._has_told_dropped:  # from then on the meter says it
            self._has_told_dropped = True
            self.notice.say(
                self.tr(
                    "The conversation is longer than this model can read: the oldest {} messages were not sent."
                ).format(count)
            )

    # Files

    @Slot()
    def ask_for_files(self) -> None:
        """Let the user choose text files to send along."""
        dialog = QFileDialog(self, self.tr("Attach text files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self.attach)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(object)
    def attach(self, paths: Sequence[str]) -> None:
        """Read files and put them beside the message; a sentence says which cannot go along, and why."""
        if model := model_among(paths):
            self.model_dropped.emit(model)
            paths = [path for path in paths if path != model]
        self.notice.say("")
        room = MOST_FILES - len(self.composer.files.files())
        if len(paths) > room:
            self.notice.add(self.tr("At most {} files can go along with one message.").format(MOST_FILES))
        for path in paths[: max(room, 0)]:
            self._reader.read(path, self._on_read, self._on_not_read)
        self.composer.setFocus()

    @Slot()
    def _keep_files(self) -> None:
        self.session.draft_files.keep(self.draft().files)

    @Slot(object)
    def _bring_files(self, files: Sequence[Attachment]) -> None:
        for file in files:
            self.composer.files.add(file)

    @Slot(object)
    def _on_read(self, file: Attachment) -> None:
        self.composer.files.add(file)

    @Slot(object)
    def _on_not_read(self, error: Exception) -> None:
        self.notice.add(str(error))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = dropped_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.attach(paths)

    # How full the context is

    @Slot()
    def _watch_draft(self) -> None:
        self.session.context.set_draft(self.composer.draft(), self.messages.edited)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.context.set_watched(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.context.set_watched(False)

    # Small things

    def set_model(self, name: str, *, is_starter: bool, is_coming: bool, models_keys: str) -> None:
        """Name the model in the greeting and in the empty field."""
        self.welcome.greet(name, is_starter=is_starter, is_coming=is_coming, models_keys=models_keys)
        self.composer.set_placeholder(self.tr("Message {} …").format(name) if name else self.tr("Message …"))

    def restore(self, draft: str, scroll: float) -> None:
        """Bring back what was typed, and the place that was read."""
        self.composer.set_text(draft)
        self.session.draft_files.bring()
        self.transcript.set_scroll_place(scroll)

    def _show_page(self, has_messages: bool) -> None:
        self._pages.setCurrentWidget(self.transcript if has_messages else self.welcome)
        if not has_messages:
            self.jump_button.hide()

    @Slot(bool)
    def _show_jump(self, is_at_end: bool) -> None:
        self.jump_button.setVisible(not is_at_end)
        if not is_at_end:
            self._place_jump()

    def _place_jump(self) -> None:
        size = self.jump_button.sizeHint()
        bottom = self._pages.geometry().bottom()
        self.jump_button.setGeometry(
            (self.width() - size.width()) // 2, bottom - size.height() - 8, size.width(), size.height()
        )
        self.jump_button.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_jump()


def _as_said(node: Node) -> Node:
    """A message with the user's words only; its `attachments` name the files that the model reads before them."""
    return replace(node, content=split(node.content, node.attachments)[0]) if node.attachments else node
