"""After damage: the backup that holds more than what could be read, offered until the user has answered."""

from PySide6.QtCore import QDate, QLocale, QObject, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.chats.backups import Backup
from llama_gui.chats.salvage import Salvaged
from llama_gui.ui.icons import Icons
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.numbers import counted
from llama_gui.ui.widgets import Surface


class BackupOffer(QObject):
    """Shows the offer in a bar of its own, and has the answer done."""

    said = Signal(str)
    """One line about what was done."""

    def __init__(self, book: ChatBook, icons: Icons, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._book = book
        self._backup: Backup | None = None
        self.place = Surface("page")
        self.bar = InfoBar(icons)
        layout = QHBoxLayout(self.place)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addWidget(self.bar)
        self.place.hide()
        book.backup_offered.connect(self._on_offered)
        book.backup_restored.connect(self._on_restored)
        self.bar.accepted.connect(self._restore)
        self.bar.dismissed.connect(self._refuse)

    @Slot(object)
    def _on_offered(self, backup: Backup) -> None:
        self._backup = backup
        day = QDate(backup.day.year, backup.day.month, backup.day.day)
        shown = QLocale().toString(day, QLocale.FormatType.LongFormat)
        text = self.tr("Your chats were damaged. A backup of {} holds more than could be read: {}, {}.")
        chats = self._chats(backup.chats)
        action = self.tr("Restore the backup of {}, {}").format(shown, chats)
        self.bar.offer(text.format(shown, chats, self._messages(backup.messages)), action)
        self.place.show()

    @Slot()
    def _restore(self) -> None:
        self.place.hide()
        if self._backup is not None:
            self._book.restore_backup(self._backup)

    @Slot()
    def _refuse(self) -> None:
        self.place.hide()
        self._book.refuse_backup()
        if self._backup is not None:
            self.said.emit(self.tr("The backup stays here: {}").format(self._backup.path))

    @Slot(object)
    def _on_restored(self, found: Salvaged) -> None:
        told = self.tr("From the backup: {} in {}.")
        self.said.emit(told.format(self._messages(found.messages), self._chats(found.chats)))

    def _chats(self, count: int) -> str:
        return counted(count, self.tr("{} chat"), self.tr("{} chats"))

    def _messages(self, count: int) -> str:
        return counted(count, self.tr("{} message"), self.tr("{} messages"))
