"""What can be done with all chats of a group at once, a folder or those of some days, and undone."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from llama_gui.bridge.chat_shelving import ChatShelving
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.numbers import counted
from llama_gui.ui.put_away_tabs import PutAwayTabs, bring_back, put_away

OfferUndo = Callable[[str, Callable[[], None]], None]


class GroupKeeping(QObject):
    """Puts many chats away. `offer_undo` says what was done, with a way back."""

    def __init__(self, shelving: ChatShelving, deck: TabDeck, offer_undo: OfferUndo, parent: QObject) -> None:
        super().__init__(parent)
        self._shelving = shelving
        self._deck = deck
        self._offer_undo = offer_undo

    def add_to(self, menu: QMenu, chat_ids: Sequence[str], *, archived: bool = False) -> None:
        """Entries for these chats. `archived`: they lie in the archive."""
        text = self.tr("Take these chats out of the archive") if archived else self.tr("Archive these chats")
        menu.addAction(text).triggered.connect(partial(self._archive, chat_ids, not archived))
        menu.addAction(self.tr("Delete these chats")).triggered.connect(partial(self._delete, chat_ids))

    def _archive(self, chat_ids: Sequence[str], archived: bool, _checked: bool = False) -> None:
        self._shelving.archive_all(chat_ids, archived)
        if archived:
            said = self._said(chat_ids, self.tr("{} chat is in the archive."), self.tr("{} chats are in the archive."))
        else:
            said = self._said(
                chat_ids, self.tr("{} chat is back in the list."), self.tr("{} chats are back in the list.")
            )
        self._offer_undo(said, partial(self._shelving.archive_all, chat_ids, not archived))

    def _delete(self, chat_ids: Sequence[str], _checked: bool = False) -> None:
        tabs = put_away(self._deck, chat_ids)
        self._shelving.delete_all(chat_ids)
        said = self._said(chat_ids, self.tr("{} chat is in the bin."), self.tr("{} chats are in the bin."))
        self._offer_undo(said, partial(self._restore, chat_ids, tabs))

    def _restore(self, chat_ids: Sequence[str], tabs: PutAwayTabs) -> None:
        self._shelving.restore_all(chat_ids)
        bring_back(self._deck, tabs)

    def _said(self, chat_ids: Sequence[str], one: str, many: str) -> str:
        return counted(len(chat_ids), one, many)
