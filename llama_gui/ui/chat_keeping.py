"""What can be done with a chat as a whole, from its row: the menu, the keys, and the way back."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_rows import ARCHIVE, FOLDER, PINNED
from llama_gui.bridge.item_models import ChatListItemModel
from llama_gui.chats.tree import ChatSummary
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.group_keeping import GroupKeeping, short_title
from llama_gui.ui.name_question import ask_name
from llama_gui.ui.put_away_tabs import PutAwayTabs, bring_back, put_away
from llama_gui.ui.sidebar import Sidebar
from llama_gui.ui.widgets import plain_action

UNDO_S = 12.0
_MENU_TOP = 56


class ChatKeeping(QObject):
    """Stands between the side bar, the tabs and `ChatShelving`."""

    export_wanted = Signal(object)
    """list[str]: the ids of the chats to write into a file; an empty one means all."""
    import_wanted = Signal()
    folder_import_wanted = Signal()
    said = Signal(str)
    """Why nothing was done."""

    def __init__(
        self, book: ChatBook, chats: ChatListItemModel, sidebar: Sidebar, deck: TabDeck, window: QWidget
    ) -> None:
        super().__init__(window)
        self._book = book
        self._shelving = book.shelving
        self._chats = chats
        self._sidebar = sidebar
        self._deck = deck
        self._window = window
        self._offered: Callable[[], None] | None = None
        self._groups = GroupKeeping(book.shelving, deck, self._offer_undo, self)
        chats.renamed.connect(self.rename)
        sidebar.view.menu_wanted.connect(self._show_menu)
        sidebar.view.menu_for_all_wanted.connect(self._show_menu_for_all)
        sidebar.view.delete_wanted.connect(self._delete_all)
        sidebar.view.dropped.connect(self._on_dropped)
        sidebar.more_wanted.connect(self._show_more)
        sidebar.bar.accepted.connect(self._on_accepted)

    # What is done

    @Slot(str, str)
    def rename(self, chat_id: str, title: str) -> None:
        """Give a chat another name, in its tab too."""
        session = self._book.session(chat_id)
        if session is not None:
            session.retitle(title)
        else:
            self._shelving.rename(chat_id, title)

    def with_listed(self, run: Callable[[str], object], chat_id: str) -> None:
        """Call `run` with the chat; with one in which nothing was ever said, and which is in no list, say so."""
        if self._summary(chat_id) is not None:
            run(chat_id)
        else:
            self.said.emit(self.tr("Nothing has been said in this chat yet."))

    @Slot(str)
    def delete(self, chat_id: str) -> None:
        """Put a chat into the bin, close its tab, and offer to have it back."""
        title = self._title(chat_id)
        tabs = put_away(self._deck, [chat_id])
        self._shelving.delete(chat_id)
        self._offer_undo(self.tr("“{}” is in the bin.").format(title), partial(self._restore, chat_id, tabs))

    @Slot(object)
    def _delete_all(self, chat_ids: Sequence[str]) -> None:
        if len(chat_ids) == 1:
            self.delete(chat_ids[0])
        else:
            self._groups.delete(chat_ids)

    @Slot(object, str)
    def _on_dropped(self, chat_ids: Sequence[str], group: str) -> None:
        self._groups.drop(self._summaries(chat_ids), group)

    def _restore(self, chat_id: str, tabs: PutAwayTabs) -> None:
        self._shelving.restore(chat_id)
        bring_back(self._deck, tabs)

    def toggle_pin(self, chat_id: str) -> None:
        """Keep a chat at the top of the list, or no longer."""
        if chat := self._summary(chat_id):
            self._shelving.pin(chat_id, not chat.pinned)

    def choose_folder(self, chat_id: str) -> None:
        """Ask which folder a chat goes into: a menu at the top of the window, where the palette was."""
        chat = self._summary(chat_id)
        if chat and not self._folders():
            self._ask_for_folder([chat])
        elif chat:
            menu = self._folders_for([chat], self._window)
            left = (self._window.width() - menu.sizeHint().width()) // 2
            self._open(menu, self._window.mapToGlobal(QPoint(left, _MENU_TOP)))

    def archive(self, chat_id: str, archived: bool) -> None:
        """Put a chat into the archive, or back, and offer to undo it."""
        self._shelving.archive(chat_id, archived)
        said = self.tr("“{}” is in the archive.") if archived else self.tr("“{}” is back in the list.")
        undo = partial(self._shelving.archive, chat_id, not archived)
        self._offer_undo(said.format(self._title(chat_id)), undo)

    def _begin_in(self, folder: str) -> None:
        self._shelving.begin_in(folder, self._deck.new_tab().session.chat_id)

    def _ask_for_folder(self, chats: Sequence[ChatSummary]) -> None:
        self._ask_name(self.tr("New folder"), "", self.tr("Create"), partial(self._groups.move, chats))

    def _rename_folder(self, folder: str) -> None:
        rename = partial(self._shelving.rename_folder, folder)
        self._ask_name(self.tr("Rename folder"), folder, self.tr("Rename"), rename)

    def _ask_name(self, title: str, text: str, verb: str, then: Callable[[str], object]) -> None:
        def take(name: str) -> None:
            if name.strip():
                then(name)

        ask_name(self._window, title, self.tr("Name of the folder"), text, verb, take)

    def _dissolve_folder(self, folder: str, chat_ids: list[str]) -> None:
        self._shelving.rename_folder(folder, "")

        def undo() -> None:
            for chat_id in chat_ids:
                self._shelving.move(chat_id, folder)

        self._offer_undo(self.tr("The folder “{}” is dissolved; its chats are in the list.").format(folder), undo)

    @Slot()
    def show_bin(self) -> None:
        """Open the bin."""
        from llama_gui.ui.bin_dialog import BinDialog  # here: the window shows sooner

        BinDialog(self._shelving, self._window).open()

    # Undo

    def offer(self, text: str, action: str, run: Callable[[], None]) -> None:
        """Offer something else below the list, until it is closed; not in the place of a way back."""
        if self._sidebar.bar.isHidden():
            self._offered = run
            self._sidebar.bar.offer(text, action)

    def _offer_undo(self, text: str, undo: Callable[[], None]) -> None:
        self._offered = undo
        self._sidebar.bar.offer(text, self.tr("Undo"), UNDO_S)

    @Slot()
    def _on_accepted(self) -> None:
        run, self._offered = self._offered, None
        if run is not None:
            run()

    def _summary(self, chat_id: str) -> ChatSummary | None:
        """Also of a chat whose group is folded, or that is in the archive; None: nothing was said in it yet."""
        return next((chat for chat in self._all_chats() if chat.id == chat_id), None)

    def _summaries(self, chat_ids: Sequence[str]) -> list[ChatSummary]:
        chats = {chat.id: chat for chat in self._all_chats()}
        return [chats[chat_id] for chat_id in chat_ids if chat_id in chats]

    def _all_chats(self) -> list[ChatSummary]:
        return [*self._book.summaries(), *self._book.archived()]

    def _title(self, chat_id: str) -> str:
        chat = self._summary(chat_id)
        return short_title(chat.title) if chat else ""

    # Menus

    @Slot(str, object)
    def _show_menu(self, what: str, place: QPoint) -> None:
        chat = self._chats.chat_at(self._chats.index_of(what))
        if chat is not None:
            menu = self.chat_menu(chat)
        elif what.startswith(FOLDER):
            menu = self._folder_menu(what.removeprefix(FOLDER))
        elif what == PINNED:  # who has pinned a chat wants to keep it
            self._sidebar.view.leave_menu()
            return
        else:
            menu = QMenu(self._window)
            self._groups.add_to(menu, self._chats.members(what), archived=what == ARCHIVE)
        menu.aboutToHide.connect(self._sidebar.view.leave_menu)
        self._open(menu, place)

    def chat_menu(self, chat: ChatSummary) -> QMenu:
        """What can be done with this chat."""
        menu = QMenu(self._window)
        _add(menu, self.tr("Open"), partial(self._deck.open_chat, chat.id), "Enter")
        if chat.id not in self._deck.shown():
            _add(menu, self.tr("Show beside"), partial(self._deck.show_beside, chat.id))
        _add(menu, self.tr("Rename"), partial(self._sidebar.view.rename, chat.id), "F2")
        pin = self.tr("Unpin") if chat.pinned else self.tr("Pin")
        _add(menu, pin, partial(self._shelving.pin, chat.id, not chat.pinned))
        menu.addMenu(self._folders_for([chat], menu))
        back = self.tr("Take out of the archive") if chat.archived else self.tr("Archive")
        _add(menu, back, partial(self.archive, chat.id, not chat.archived))
        menu.addSeparator()
        _add(menu, self.tr("Export…"), partial(self.export_wanted.emit, [chat.id]))
        menu.addSeparator()
        _add(menu, self.tr("Delete"), partial(self.delete, chat.id), "Ctrl+Del")
        return menu

    def menu_for_all(self, chats: Sequence[ChatSummary]) -> QMenu:
        """What can be done with chats that are chosen together."""
        menu = QMenu(self._window)
        chat_ids = [chat.id for chat in chats]
        are_pinned = all(chat.pinned for chat in chats)
        pin = self.tr("Unpin these chats") if are_pinned else self.tr("Pin these chats")
        _add(menu, pin, partial(self._groups.pin, chats, not are_pinned))
        menu.addMenu(self._folders_for(chats, menu))
        _add(menu, self.tr("Export…"), partial(self.export_wanted.emit, chat_ids))
        menu.addSeparator()
        self._groups.add_to(menu, chat_ids, archived=all(chat.archived for chat in chats))
        return menu

    @Slot(object, object)
    def _show_menu_for_all(self, chat_ids: Sequence[str], place: QPoint) -> None:
        self._open(self.menu_for_all(self._summaries(chat_ids)), place)

    def _folders_for(self, chats: Sequence[ChatSummary], parent: QWidget) -> QMenu:
        folders = QMenu(self.tr("Move to folder"), parent)
        for folder in self._folders():
            if any(chat.folder != folder for chat in chats):
                # Qt would take & for the mark of a key.
                _add(folders, plain_action(folder), partial(self._groups.move, chats, folder))
        if any(chat.folder for chat in chats):
            _add(folders, self.tr("No folder"), partial(self._groups.move, chats, ""))
        if not folders.isEmpty():
            folders.addSeparator()
        _add(folders, self.tr("New folder…"), partial(self._ask_for_folder, chats))
        return folders

    def _folder_menu(self, folder: str) -> QMenu:
        menu = QMenu(self._window)
        members = [chat.id for chat in self._book.summaries() if chat.folder == folder]
        _add(menu, self.tr("New chat in this folder"), partial(self._begin_in, folder))
        _add(menu, self.tr("Rename folder…"), partial(self._rename_folder, folder))
        _add(menu, self.tr("Export…"), partial(self.export_wanted.emit, members))
        _add(menu, self.tr("Dissolve folder"), partial(self._dissolve_folder, folder, members))
        menu.addSeparator()
        self._groups.add_to(menu, self._chats.members(FOLDER + folder))
        return menu

    def _folders(self) -> list[str]:
        return sorted({chat.folder for chat in self._all_chats() if chat.folder}, key=str.casefold)

    @Slot(object)
    def _show_more(self, place: QPoint) -> None:
        menu = QMenu(self._window)
        _add(menu, self.tr("Import chats…"), self.import_wanted.emit)
        _add(menu, self.tr("Import a folder of chats…"), self.folder_import_wanted.emit)
        _add(menu, self.tr("Export all chats…"), partial(self.export_wanted.emit, []))
        menu.addSeparator()
        show_archive = partial(self._chats.fold, ARCHIVE, False)
        _add(menu, self.tr("Show the archive"), show_archive).setEnabled(bool(self._book.archived()))
        _add(menu, self.tr("Bin…"), self.show_bin)
        self._open(menu, place)

    def _open(self, menu: QMenu, place: QPoint) -> None:
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)


def _add(menu: QMenu, text: str, run: Callable[[], object], keys: str = "") -> QAction:
    """An entry. Its keys are shown, and belong to the list: here they would be taken twice."""
    if keys:
        text += "\t" + QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    action = menu.addAction(text)
    action.triggered.connect(lambda _checked=False: run())
    return action
