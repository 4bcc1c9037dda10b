"""What is written in one tab and not yet said: on its way to the session, in its queue, or back in the field."""

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment, Draft, joined
from llama_gui.ui.composer import Composer
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.message_actions import UNDO_SECONDS, MessageActions
from llama_gui.ui.notice import Notice
from llama_gui.ui.numbers import number_text
from llama_gui.ui.queue_list import QueueList
from llama_gui.vocabulary import ContextUse


class TabDrafts(QObject):
    """Stands between the composer, the queue and the session; nothing that was written is lost between them."""

    changed = Signal()
    """What was written and not sent is different now."""
    about_to_send = Signal()

    def __init__(
        self,
        session: ChatSession,
        composer: Composer,
        messages: MessageActions,
        queue: QueueList,
        bar: InfoBar,
        notice: Notice,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._composer = composer
        self._messages = messages
        self._bar = bar
        self._notice = notice
        self._removed: tuple[int, Draft] | None = None  # from the queue, until nobody can undo it
        self._is_on_its_way = False  # a message, until it is on disk or refused
        self._given = Draft()  # to the session, as it stood in the field
        self._fitting = Draft()  # what is cut down to the context, to be sent then
        composer.send_requested.connect(self.send)
        composer.queue_requested.connect(self.send)
        composer.stop_requested.connect(session.stop)
        composer.draft_changed.connect(self.changed)
        composer.draft_changed.connect(self._watch)
        composer.edit_last_requested.connect(self._edit_last)
        messages.editing_changed.connect(self._watch)
        session.context.measured.connect(composer.meter.show_use)
        session.queue.changed.connect(self.changed)
        session.accepted.connect(self._on_accepted)
        session.returned.connect(self._on_returned)
        session.failed.connect(self._on_failed)
        queue.edit_requested.connect(self._edit_queued)
        queue.remove_requested.connect(self._remove_queued)
        queue.send_requested.connect(session.send_queued)
        bar.accepted.connect(self._put_back_queued)
        bar.dismissed.connect(self._forget_removed)

    def draft(self) -> Draft:
        """All that was written and not sent: the queue too, and what an edit has put aside."""
        return joined([*self._session.queue.drafts(), *self._messages.put_aside(), self._composer.draft()])

    @Slot()
    def _watch(self) -> None:
        self._session.note_draft(self._composer.draft(), self._messages.edited)

    @Slot()
    def _edit_last(self) -> None:
        self._messages.run_on_last("edit")

    # On its way to the session

    @Slot(str)
    def send(self, text: str) -> None:
        """Give a message to the session, or queue it. The field is emptied when the session has accepted it."""
        if self._is_on_its_way:  # Enter was pressed twice: the message still stands in the field
            return
        self._notice.say("")
        self.about_to_send.emit()
        files = self._composer.files.files()
        use = self._session.context.known()
        if self._session.context.needs_fitting(Draft(text, files)):
            self._is_on_its_way = True
            self._fitting = self._composer.draft()
            self._composer.set_held(True)
            self._session.context.fit(Draft(text, files), self._on_fitted)
        elif files and use is not None and use.is_too_long:  # sent and refused, it would stand in the chat for nothing
            self._notice.say(self._too_long_text(use))
        else:
            self._give(text, files)

    @Slot(object)
    def _on_fitted(self, draft: Draft | None) -> None:
        """The files were cut down to what fits; None: they could not be, so the model says why not."""
        self._is_on_its_way = False
        self._composer.set_held(False)
        if self._fitting == self._composer.draft():  # else the user has thought better of it
            given = draft or self._fitting
            self._give(given.text, given.files)

    def _give(self, text: str, files: tuple[Attachment, ...]) -> None:
        self._given = Draft(text, self._composer.files.files())
        if self._messages.send(text, files):
            return
        if self._session.answering:
            self._session.queue_message(text, files)
        else:
            self._is_on_its_way = True
            self._session.send(text, files)

    def _too_long_text(self, use: ContextUse) -> str:
        return self.tr(
            "The message and its files come to {} tokens, but the model reads {} at most. Remove a file, attach a part "
            "of it, or choose a model with a larger context."
        ).format(number_text(use.tokens), number_text(use.max_context))

    @Slot(str)
    def ask(self, question: str) -> None:
        """Send a question that somebody else has written."""
        self._composer.set_text(question)
        self.send(question)

    @Slot()
    def _on_accepted(self) -> None:
        self._is_on_its_way = False
        if not self._messages.leave():
            self._composer.set_draft(self._added_since())
        self._notice.say("")

    def _added_since(self) -> Draft:
        """What was written and attached while the message was on its way to the disk."""
        now = self._composer.draft()
        files = tuple(file for file in now.files if file not in self._given.files)
        return Draft(now.text.removeprefix(self._given.text), files)

    @Slot(object)
    def _on_returned(self, draft: Draft) -> None:
        self._is_on_its_way = False
        if self._composer.draft().is_empty:
            self._composer.set_draft(draft)

    @Slot()
    def _on_failed(self) -> None:
        self._is_on_its_way = False

    # In the queue

    @Slot(int)
    def _edit_queued(self, index: int) -> None:
        """Bring a queued message back into the composer, behind what stands there."""
        draft = self._session.queue.take(index)
        self._composer.set_draft(joined([self._composer.draft(), draft.whole()]))
        self._composer.setFocus()

    @Slot(int)
    def _remove_queued(self, index: int) -> None:
        self._removed = index, self._session.queue.take(index)
        self._composer.setFocus()
        self._messages.leave()
        self._bar.offer(self.tr("The message was removed from the queue."), self.tr("Undo"), UNDO_SECONDS)

    @Slot()
    def _put_back_queued(self) -> None:
        if self._removed is not None:
            (index, draft), self._removed = self._removed, None
            self._session.queue.add(draft, index)
            if not self._session.answering:  # else its end sends it
                self._session.queue.pause()

    @Slot()
    def _forget_removed(self) -> None:
        self._removed = None
