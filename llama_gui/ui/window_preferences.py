"""The preferences of the window: the dialog, and what happens at once when something in it is chosen."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.settings import UserSettings
from llama_gui.ui.icons import Icons
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.window_looks import WindowLooks
from llama_gui.ui.window_meaning import WindowMeaning


class WindowPreferences(QObject):
    """Opens the dialog. `data`: the folder that it shows as the user's own."""

    def __init__(
        self,
        book: ChatBook,
        host: EngineHost,
        looks: WindowLooks,
        kept: KeptSettings,
        data: Path,
        icons: Icons,
        meaning: WindowMeaning,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._book = book
        self._host = host
        self._looks = looks
        self._kept = kept
        self._data = data
        self._icons = icons
        self._meaning = meaning
        self._window = window

    @Slot()
    def show_dialog(self) -> None:
        """Open the dialog."""
        from llama_gui.ui.preferences import PreferencesDialog  # here: the window shows sooner

        embedders = self._meaning.embedders()
        dialog = PreferencesDialog(self._kept.now(), self._data, self._icons, self._window, embedders)
        dialog.changed.connect(self._on_changed)
        dialog.open()

    @Slot(object)
    def _on_changed(self, settings: UserSettings) -> None:
        from llama_gui.ui.preferences import PREFERENCES

        self._kept.keep(**{name: getattr(settings, name) for name in PREFERENCES})
        self._host.models.unload_after(settings.unload_after_minutes)
        self._looks.set_zoom(settings.zoom)
        self._book.titler.set_on(settings.auto_titles)
        self._meaning.apply()
        self._looks.dress()
