"""What is asked before the window closes: whether a text that cannot be saved may go."""

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.problem_words import problem_text


class LastQuestion(QObject):
    """Asks only where drafts would be lost; a window whose texts are on the disk closes at once."""

    def __init__(self, book: ChatBook, deck: TabDeck, window: QWidget) -> None:
        super().__init__(window)
        self._book = book
        self._deck = deck
        self._window = window
        self._box: QMessageBox | None = None
        self._is_answered = False

    def may_close(self) -> bool:
        """Whether nothing is lost, or the user lets it go. Else it is asked, and the answer closes the window."""
        if self._is_answered or self._box is not None:  # asked again by the system, which is about to end us
            return True
        problem = self._book.keep_tabs(self._deck.open_tabs())
        if problem and any(not tab.draft().is_empty for tab in self._deck.tabs()):
            self._ask(problem)
            return False
        return True

    def _ask(self, problem: str) -> None:
        title = self.tr("What you have written is not saved.")
        buttons = QMessageBox.StandardButton
        self._box = box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, parent=self._window)
        box.setStandardButtons(buttons.Retry | buttons.Discard | buttons.Cancel)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText(problem_text(problem))
        box.button(buttons.Retry).setText(self.tr("Try again"))
        box.button(buttons.Discard).setText(self.tr("Close without it"))
        box.setDefaultButton(buttons.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(self._on_answer)
        box.open()

    @Slot(int)
    def _on_answer(self, answer: int) -> None:
        self._box = None
        self._is_answered = answer == QMessageBox.StandardButton.Discard
        if answer in (QMessageBox.StandardButton.Discard, QMessageBox.StandardButton.Retry):
            self._window.close()
