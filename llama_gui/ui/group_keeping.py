"""What can be done with many chats at once, those of a group or those that are chosen together, and undone."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from llama_gui.bridge.chat_rows import ARCHIVE, FOLDER, moved_to
from llama_gui.bridge.chat_shelving import ChatShelving
from llama_gui.chats.tree import ChatSummary
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.numbers import counted, number_text
from llama_gui.ui.put_away_tabs import PutAwayTabs, bring_back, put_away

OfferUndo = Callable[[str, Callable[[], None]], None]


def short_title(title: str) -> str:
    """The title of a chat as the line has room for it that says what was done."""
    return title if len(title) <= 24 else f"{title[:23]}…"


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
        menu.addAction(self.tr("Delete these chats")).triggered.connect(partial(self.delete, chat_ids))

    def move(self, chats: Sequence[ChatSummary], folder: str) -> None:
        """Put these chats into a folder; "" takes them out. Those that are pinned stay so."""
        self._place(chats, [replace(chat, folder=folder) for chat in chats], folder)

    def pin(self, chats: Sequence[ChatSummary], pinned: bool) -> None:
        """Keep these chats at the top, or no longer."""
        self._place(chats, [replace(chat, pinned=pinned) for chat in chats], "")

    def drop(self, chats: Sequence[ChatSummary], group: str) -> None:
        """Put these chats where the user has dropped them."""
        if group == ARCHIVE:
            self._archive([chat.id for chat in chats if not chat.archived], archived=True)
            return
        moved = [moved_to(chat, group) for chat in chats]
        self._place(chats, moved, group.removeprefix(FOLDER) if group.startswith(FOLDER) else "")

    def _place(self, before: Sequence[ChatSummary], after: Sequence[ChatSummary], folder: str) -> None:
        pairs = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        if not pairs:
            return
        self._shelving.place([new for _, new in pairs])
        said = self._said_of_place([old for old, _ in pairs], folder)
        self._offer_undo(said, partial(self._shelving.place, [old for old, _ in pairs]))

    def _said_of_place(self, moved: Sequence[ChatSummary], folder: str) -> str:
        if len(moved) == 1:
            in_folder, anywhere = self.tr("“{0}” is in “{1}”."), self.tr("“{0}” was moved.")
            words = short_title(moved[0].title)
        else:
            in_folder, anywhere = self.tr("{0} chats are in “{1}”."), self.tr("{0} chats were moved.")
            words = number_text(len(moved))
        return (in_folder if folder else anywhere).format(words, folder)

    def _archive(self, chat_ids: Sequence[str], archived: bool, _checked: bool = False) -> None:
        if not chat_ids:
            return
        self._shelving.archive_all(chat_ids, archived)
        if archived:
            said = self._said(chat_ids, self.tr("{} chat is in the archive."), self.tr("{} chats are in the archive."))
        else:
            said = self._said(
                chat_ids, self.tr("{} chat is back in the list."), self.tr("{} chats are back in the list.")
            )
        self._offer_undo(said, partial(self._shelving.archive_all, chat_ids, not archived))

    def delete(self, chat_ids: Sequence[str], _checked: bool = False) -> None:
        """Put these chats into the bin, and close their tabs."""
        tabs = put_away(self._deck, chat_ids)
        self._shelving.delete_all(chat_ids)
        said = self._said(chat_ids, self.tr("{} chat is in the bin."), self.tr("{} chats are in the bin."))
        self._offer_undo(said, partial(self._restore, chat_ids, tabs))

    def _restore(self, chat_ids: Sequence[str], tabs: PutAwayTabs) -> None:
        self._shelving.restore_all(chat_ids)
        bring_back(self._deck, tabs)

    def _said(self, chat_ids: Sequence[object], one: str, many: str) -> str:
        return counted(len(chat_ids), one, many)
