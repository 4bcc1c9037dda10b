"""What keys and the palette do to the tab in front; nothing where there is none, or no message to do it to."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.ui.deck import TabDeck


class TabVerbs(QObject):
    """Runs verbs on the current tab of a deck."""

    said = Signal(str)
    """A short confirmation for the status line."""

    def __init__(self, deck: TabDeck, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._deck = deck

    def with_chat(self, run: Callable[[str], object]) -> None:
        """Call `run` with the id of the chat."""
        if tab := self._deck.current():
            run(tab.session.chat_id)

    @Slot()
    def stop(self) -> None:
        """Leave the message that is edited; else stop the answer."""
        if (tab := self._deck.current()) and not tab.messages.leave():
            tab.session.stop()

    @Slot()
    def regenerate(self) -> None:
        """Ask for another answer to the last question."""
        if (tab := self._deck.current()) and tab.session.path():
            tab.session.regenerate()

    def on_last_message(self, verb: str) -> None:
        """Do something with the message that a key means; the verbs are those of `MessageActions`."""
        if tab := self._deck.current():
            tab.messages.run_on_last(verb)

    @Slot()
    def attach(self) -> None:
        """Let the user choose files that go along with the message, where files can."""
        if (tab := self._deck.current()) and tab.composer.takes_files:
            tab.files.ask()

    @Slot()
    def open_folder(self) -> None:
        """Let the user choose a folder of documents for the chat, or say what is to be done with the one it has."""
        if tab := self._deck.current():
            tab.folder.open()

    @Slot()
    def toggle_thinking(self) -> None:
        """Let the model think before its answers, or no longer; or say that this cannot be chosen."""
        if (tab := self._deck.current()) and not tab.thinking.turn():
            self.said.emit(self.tr("This model has no switch for thinking."))

    @Slot()
    def open_tools(self) -> None:
        """Show which tool servers the chat uses, to choose others."""
        if tab := self._deck.current():
            tab.tools.open()

    @Slot()
    def copy_answer(self) -> None:
        """Put the last answer on the clipboard, and say so."""
        tab = self._deck.current()
        if tab is not None and tab.copy_last_answer():
            self.said.emit(self.tr("The last answer is on the clipboard."))

    @Slot()
    def show_branches(self) -> None:
        """Open the map of the chat."""
        if (tab := self._deck.current()) and tab.session.path():
            tab.show_branches()

    @Slot()
    def toggle_reasoning(self) -> None:
        """Unfold the last reasoning, or fold it."""
        if tab := self._deck.current():
            tab.transcript.toggle_last_reasoning()

    @Slot()
    def toggle_sources(self) -> None:
        """Unfold the sources of the last answer that has any, or fold them."""
        if tab := self._deck.current():
            tab.transcript.toggle_last_sources()

    @Slot()
    def find(self) -> None:
        """Open the search in this chat."""
        if (tab := self._deck.current()) and tab.session.path():
            tab.find_bar.open()

    def find_step(self, by: int) -> None:
        """Go to the next hit, or the one before with -1; open the search where it is closed."""
        if (tab := self._deck.current()) and tab.session.path():
            if tab.find_bar.isHidden():
                tab.find_bar.open()
            else:
                tab.find_bar.step(by)

    @Slot()
    def focus_composer(self) -> None:
        """Put the keyboard where the next message is written."""
        if tab := self._deck.current():
            tab.focus_composer()
