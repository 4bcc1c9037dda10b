"""Which model finds passages of folders by their meaning: the one that the user has chosen, of those on the shelf."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.meaning_desk import MeaningDesk
from llama_gui.bridge.model_shelf import ModelShelf
from llama_gui.settings import FIRST
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.vocabulary import ModelEntry


class WindowMeaning(QObject):
    """Tells the desk, whenever the shelf or the choice is another."""

    def __init__(self, desk: MeaningDesk, shelf: ModelShelf, kept: KeptSettings, window: QWidget) -> None:
        super().__init__(window)
        self._desk = desk
        self._shelf = shelf
        self._kept = kept
        shelf.changed.connect(self.apply)

    def embedders(self) -> list[ModelEntry]:
        """The models on the shelf that turn texts into vectors."""
        return [item.entry for item in self._shelf.items if item.entry.embeds and item.entry.runs]

    @Slot()
    def apply(self) -> None:
        """Use what is chosen. Nothing takes the place of a model that is gone: it would have to read all anew.

        So the first one is kept as if it had been chosen, whatever others come before it later.
        """
        chosen, there = self._kept.now().meaning_model, self.embedders()
        if chosen == FIRST and there:
            chosen = there[0].key
            self._kept.keep(meaning_model=chosen)
        self._desk.set_model(next((entry for entry in there if entry.key == chosen), None))
