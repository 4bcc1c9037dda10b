"""A backup that holds more than what could be read of a damaged store: offered until the user has answered."""

import os
from pathlib import Path

from llama_gui.chats.backups import Backup, fullest_backup
from llama_gui.chats.plain_words import plain_words
from llama_gui.chats.salvage import Salvaged, give_back
from llama_gui.chats.store_file import StoreFile


def offer_backup(path: Path) -> None:
    """Let the user be asked, at the next starts too."""
    os.close(os.open(_mark(path), os.O_CREAT | os.O_RDWR, 0o600))


class Restoring(StoreFile):
    """The part of the store that has a backup back."""

    def offered_backup(self) -> Backup | None:
        """The backup that the user may want back; None: there is none, or the user has answered."""
        return fullest_backup(self._path) if _mark(self._path).exists() else None

    def restore_backup(self, backup: Backup) -> Salvaged:
        """Add what a backup holds; what is here stays. Then it is offered no longer."""
        with plain_words(self._path):
            found = give_back(backup.path, self._connection)
        self.refuse_backup()
        return found

    def refuse_backup(self) -> None:
        """Offer it no longer. The backup itself stays."""
        with plain_words(self._path):
            _mark(self._path).unlink(missing_ok=True)


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.backup-offered")
