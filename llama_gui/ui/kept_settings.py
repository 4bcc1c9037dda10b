"""The user's settings while the window is open: as they are now, and written at each change."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from llama_gui.errors import SettingsError
from llama_gui.settings import UserSettings


class KeptSettings(QObject):
    """Holds the settings. `save` writes them; where it raises `SettingsError`, they hold until the end all the same."""

    failed = Signal(str)
    """Why they could not be written."""

    def __init__(
        self, settings: UserSettings, save: Callable[[UserSettings], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._save = save

    def now(self) -> UserSettings:
        """The settings as they are."""
        return self._settings

    def keep(self, **changes: object) -> None:
        """Change some of them, and write them where that makes a difference."""
        settings = replace(self._settings, **changes)  # pyright: ignore[reportArgumentType]
        if settings == self._settings:
            return
        self._settings = settings
        try:
            self._save(settings)
        except SettingsError as error:
            self.failed.emit(str(error))
