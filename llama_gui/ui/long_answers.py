"""Tells of a long answer that has ended while the user was elsewhere."""

from PySide6.QtCore import QObject, Slot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.notifier import LONG_S, Notifier
from llama_gui.vocabulary import Timings


class LongAnswers(QObject):
    """Watches all chats of a book, and tells the notifier where the user wants that."""

    def __init__(self, book: ChatBook, notifier: Notifier, kept: KeptSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._book = book
        self._notifier = notifier
        self._kept = kept
        book.answering_changed.connect(self._on_answering)

    @Slot(str, bool)
    def _on_answering(self, chat_id: str, answering: bool) -> None:
        session = next((session for session in self._book.sessions() if session.chat_id == chat_id), None)
        result = session.last_result if session is not None else None
        if answering or session is None or result is None or not self._kept.now().notify:
            return
        if result.finish_reason != "cancelled" and _took(result.timings) >= LONG_S:
            self._notifier.tell(session.title, self.tr("The answer is finished."))


def _took(timings: Timings) -> float:
    """Seconds from the question to the end of the answer."""
    return timings.queued + timings.prefill + timings.decode
