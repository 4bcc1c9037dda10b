"""The presets as the window has them: chosen and managed in the panel, with a way back, and one for new chats."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.message_actions import UNDO_SECONDS
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.vocabulary import ChatSettings


class WindowPresets(QObject):
    """Stands between the panel's presets and those that the book keeps."""

    told = Signal(str)
    """What went wrong."""

    def __init__(
        self, book: ChatBook, deck: TabDeck, panel: SettingsPanel, kept: KeptSettings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._book = book
        self._deck = deck
        self._panel = panel
        self._kept = kept
        presets, picker = book.presets, panel.presets
        picker.save_wanted.connect(presets.save)
        picker.rename_wanted.connect(presets.rename)
        picker.delete_wanted.connect(presets.delete)
        picker.default_wanted.connect(self._set_default)
        picker.show_default(kept.now().default_preset)
        presets.changed.connect(picker.show_presets)
        presets.changed.connect(self._set_first_settings)
        presets.renamed.connect(self._on_renamed)
        presets.failed.connect(self.told)
        presets.done.connect(self._on_done)
        panel.preset_bar.accepted.connect(presets.undo)

    def start(self) -> None:
        """Read them. Before the tabs: a new one may begin with a preset."""
        self._book.presets.load()

    @Slot(str)
    def _set_default(self, name: str) -> None:
        self._kept.keep(default_preset=name)
        self._panel.presets.show_default(name)
        self._set_first_settings()

    @Slot()
    def _set_first_settings(self) -> None:
        presets = self._book.presets.presets()
        self._book.first_settings = presets.get(self._kept.now().default_preset, ChatSettings())

    @Slot(str, str)
    def _on_renamed(self, name: str, new_name: str) -> None:
        if self._kept.now().default_preset == name:
            self._set_default(new_name)
        for tab in self._deck.tabs():
            if tab.session.settings.preset == name:
                tab.session.set_settings(replace(tab.session.settings, preset=new_name))

    @Slot(str, str)
    def _on_done(self, what: str, name: str) -> None:
        text = self.tr("“{}” was deleted.") if what == "deleted" else self.tr("“{}” was replaced.")
        self._panel.preset_bar.offer(text.format(name), self.tr("Undo"), UNDO_SECONDS)
