"""Tells of a long answer that has ended, or that waits for a word, while the user was elsewhere."""

from PySide6.QtCore import QObject, Slot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.notifier import LONG_S, Notifier
from llama_gui.ui.tools.words import title_of
from llama_gui.vocabulary import Timings, ToolQuestion


class LongAnswers(QObject):
    """Watches all chats of a book, and tells the notifier where the user wants that."""

    def __init__(
        self, book: ChatBook, deck: TabDeck, notifier: Notifier, kept: KeptSettings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._book = book
        self._notifier = notifier
        self._kept = kept
        book.answering_changed.connect(self._on_answering)
        deck.tab_added.connect(self._on_tab_added)

    @Slot(str, bool)
    def _on_answering(self, chat_id: str, answering: bool) -> None:
        session = next((session for session in self._book.sessions() if session.chat_id == chat_id), None)
        result = session.last_result if session is not None else None
        if answering or session is None or result is None or not self._kept.now().notify:
            return
        if result.finish_reason != "cancelled" and _took(result.timings) >= LONG_S:
            self._notifier.tell(session.title, self.tr("The answer is finished."))

    @Slot(object)
    def _on_tab_added(self, tab: ChatTab) -> None:
        tab.session.tool_asked.connect(self._on_tool_asked)

    @Slot(object)
    def _on_tool_asked(self, question: ToolQuestion | None) -> None:
        session = self.sender()
        if question is not None and isinstance(session, ChatSession) and self._kept.now().notify:
            self._notifier.tell(
                session.title, self.tr("It waits for your word: may it run {}?").format(title_of(question.tool))
            )


def _took(timings: Timings) -> float:
    """Seconds from the question to the end of the answer."""
    return timings.queued + timings.prefill + timings.decode
