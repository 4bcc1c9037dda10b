"""What the session of one tab tells beside its messages: what is waited for, what went wrong, what has ended."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.composer import Composer
from llama_gui.ui.former_focus import has_keyboard
from llama_gui.ui.long_wait import LongWait
from llama_gui.ui.notice import Notice
from llama_gui.ui.numbers import counted, number_text
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.queue_list import QueueList
from llama_gui.ui.tools.words import title_of
from llama_gui.ui.transcript.view import TranscriptView
from llama_gui.vocabulary import JobProgress, ToolQuestion


class TabNews(QObject):
    """Says it in the transcript, above the composer, and to screen readers."""

    def __init__(
        self,
        session: ChatSession,
        transcript: TranscriptView,
        composer: Composer,
        queue: QueueList,
        notice: Notice,
        tab: QWidget,
    ) -> None:
        super().__init__(tab)
        self._session = session
        self._transcript = transcript
        self._composer = composer
        self._queue = queue
        self._notice = notice
        self._tab = tab
        self._has_told_dropped = False
        self._wait = LongWait()
        session.changed.connect(self._on_changed)
        session.answering_changed.connect(self._on_answering)
        session.progress_changed.connect(self._on_progress)
        session.held_up.connect(self._on_held_up)
        session.failed.connect(self.fail)
        session.saved_changed.connect(self._on_saved)
        session.dropped.connect(self._on_dropped)
        session.tools_awaited.connect(self._on_tools_awaited)
        session.tool_asked.connect(self._on_tool_asked)
        self._on_changed()

    @Slot(str)
    def fail(self, text: str) -> None:
        """Say what went wrong."""
        self._notice.say(text)
        self._announce(problem_text(text))

    @Slot()
    def _on_changed(self) -> None:
        self._composer.set_answering(self._session.answering)

    @Slot(bool)
    def _on_answering(self, answering: bool) -> None:
        self._composer.set_answering(answering)
        self._queue.set_answering(answering)
        self._wait.has_lasted(False)
        self._on_tools_awaited(False)
        if not answering:
            self._announce(self.tr("The answer is finished."))

    def _announce(self, text: str) -> None:
        """Tell a screen reader; what streams is not read out word by word."""
        if self._tab.isVisible():
            if not has_keyboard(self._tab):  # another chat may stand beside
                text = f"{self._tab.accessibleName()}: {text}"
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._tab, text))

    @Slot()
    def _on_held_up(self) -> None:
        if self._wait.has_lasted(True):
            self._transcript.set_waiting(self.tr("Waiting for its turn: other chats use the memory…"))

    @Slot(object)
    def _on_progress(self, progress: JobProgress) -> None:
        self._wait.has_lasted(False)
        read, total = progress.prompt_tokens_read, progress.prompt_tokens
        if read < total:
            text = self.tr("Reading the prompt… {} of {} tokens").format(number_text(read), number_text(total))
            if progress.eta_seconds is not None and progress.eta_seconds >= 2:
                text += self.tr(" · about {:.0f} s").format(progress.eta_seconds)
            self._transcript.set_waiting(text)

    @Slot(bool)
    def _on_tools_awaited(self, are_awaited: bool) -> None:
        waiting = self.tr("Waiting for the tools to start…") if are_awaited else self.tr("Waiting for the model…")
        self._transcript.set_waiting(waiting if self._session.answering else "")

    @Slot(object)
    def _on_tool_asked(self, question: ToolQuestion | None) -> None:
        if question is not None:
            self._announce(
                self.tr("The model wants to run a tool: {} ({}). Shift+Tab leads to the question.").format(
                    title_of(question.tool), question.tool.server
                )
            )

    @Slot(bool, str)
    def _on_saved(self, is_saved: bool, text: str) -> None:
        self._notice.say("" if is_saved else text)

    @Slot(int)
    def _on_dropped(self, count: int) -> None:
        if count and not self._has_told_dropped:  # from then on the meter says it
            self._has_told_dropped = True
            one = self.tr("The conversation is longer than this model can read: the oldest message was not sent.")
            many = self.tr("The conversation is longer than this model can read: the oldest {} messages were not sent.")
            self._notice.say(counted(count, one, many))
