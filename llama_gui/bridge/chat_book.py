"""All chats: the list, the open sessions, the tabs, and their common end."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.attachments import AttachmentReader
from llama_gui.bridge.chat_search import ChatSearch
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.chat_shelving import ChatShelving
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.exchange import Exchange
from llama_gui.bridge.folder_desk import FolderDesk
from llama_gui.bridge.meaning_desk import MeaningDesk
from llama_gui.bridge.presets import PresetBook
from llama_gui.bridge.repeated_save import RepeatedSave
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.titler import Titler
from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.chats.backups import Backup
from llama_gui.chats.salvage import Salvaged
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatSummary, OpenTab
from llama_gui.vocabulary import ChatSettings

SAVE_TABS_MS = 400
_KEEPING_S = 2.0


class ChatBook(QObject):
    """The chats of one profile."""

    chats_changed = Signal()
    """`summaries` has something new."""
    restored = Signal(object)
    """list[OpenTab], in the order of the strip, as they were at the last end, or in a backup."""
    answering_changed = Signal(str, bool)
    """Chat id, and whether it answers now."""
    chat_closed = Signal(str)
    """Chat id: everything of it is on disk, and its session has gone."""
    trouble = Signal(str)
    """Something about the store that concerns no single chat."""
    backup_offered = Signal(object)
    """`Backup`: it holds more than what could be read of a damaged store."""
    backup_restored = Signal(object)
    """`Salvaged`: how much came back."""

    def __init__(
        self,
        store: StoreLane,
        host: EngineHost,
        parent: QObject | None = None,
        *,
        tools_file: Path | None = None,
        prompt_cache: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._host = host
        self.presets = PresetBook(store, self)
        self.reader = AttachmentReader(self)
        self.folders = FolderDesk(store.path.parent / "folders", self)
        self.meaning = MeaningDesk(host, self.folders, self)
        self.tools = ToolDesk(tools_file or store.path.with_name("mcp.json"), self)
        self.first_settings = ChatSettings()
        """What new chats ask of the model."""
        self._sessions: dict[str, ChatSession] = {}
        self._closing: set[str] = set()
        self._summaries: list[ChatSummary] = []
        self._archived: list[ChatSummary] = []
        self._tabs: list[OpenTab] | None = None  # not yet handed to the store
        self._given_tabs: Sequence[OpenTab] = ()  # to the store, the last time
        self._is_restoring = False  # the tabs of the last session are being read, and not shown yet
        self._closed = False
        self._has_ended = True
        self._tabs_timer = QTimer(self, singleShot=True, interval=SAVE_TABS_MS)
        self._tabs_timer.timeout.connect(self._flush_tabs)
        self._tabs_save = RepeatedSave(store, lambda: self._saves(self._given_tabs), SAVE_TABS_MS, self)
        self._tabs_save.refused.connect(self.trouble)
        self.shelving = ChatShelving(store, self, prompt_cache)
        self.search = ChatSearch(store, self)
        self.exchange = Exchange(store, self)
        self.titler = Titler(self, host, store, self)
        self.tools.renamed.connect(self._on_tool_server_renamed)
        self.exchange.imported.connect(self.refresh)
        self.shelving.changed.connect(self.refresh)
        self.shelving.failed.connect(self.trouble)
        self.search.failed.connect(self.trouble)
        store.notice.connect(self.trouble)
        store.open_failed.connect(self.trouble)

    # --- sessions

    def new_chat(self) -> ChatSession:
        """An empty chat. It comes into the list with its first message."""
        session = self._add_session(uuid.uuid4().hex)
        session.start_new(self.first_settings)
        return session

    def open_chat(self, chat_id: str) -> ChatSession:
        """The session of a chat; always the same one while the chat is open. A new one reads the store by itself."""
        self._closing.discard(chat_id)
        session = self._sessions.get(chat_id)
        if session is None:
            session = self._add_session(chat_id)
            session.load(self.first_settings)
        return session

    def close_chat(self, chat_id: str) -> None:
        """Stop the chat's answer and let the session go once everything is on disk."""
        session = self._sessions.get(chat_id)
        if session is None:
            return
        self._closing.add(chat_id)
        session.stop()
        session.flush()
        self._release(session)

    def sessions(self) -> list[ChatSession]:
        """The open sessions, in the order of their opening."""
        return list(self._sessions.values())

    def session(self, chat_id: str) -> ChatSession | None:
        """The session of a chat that is open."""
        return self._sessions.get(chat_id)

    def is_answering(self, chat_id: str) -> bool:
        """Whether this chat answers now."""
        session = self._sessions.get(chat_id)
        return session is not None and session.answering

    def _add_session(self, chat_id: str) -> ChatSession:
        session = ChatSession(chat_id, self._host, self._store, self.folders, self.tools, self)
        session.accepted.connect(self.refresh)
        session.title_changed.connect(self.refresh)
        session.answering_changed.connect(self._on_answering_changed)
        session.settled.connect(self._on_settled)
        session.settings_changed.connect(self._rest_tools)
        self._sessions[chat_id] = session
        return session

    def _release(self, session: ChatSession) -> None:
        if session.chat_id in self._closing and session.is_settled:
            self._closing.discard(session.chat_id)
            del self._sessions[session.chat_id]
            self.folders.hold(session.chat_id, "")
            session.deleteLater()
            self._rest_tools()
            self.chat_closed.emit(session.chat_id)

    @Slot()
    def _rest_tools(self) -> None:
        """End the servers of tools that no open chat uses any more."""
        used = {name for session in self.sessions() for name in session.settings.tools}
        for server in self.tools.servers():
            if server.name not in used and self.tools.state(server.name).status in ("starting", "ready"):
                self.tools.stop(server.name)

    @Slot(str, str)
    def _on_tool_server_renamed(self, former: str, name: str) -> None:
        """Chats refer to it by name: open ones, stored ones, and new ones."""

        def tell_open_ones() -> None:
            for session in self.sessions():
                session.set_settings(session.settings.with_tool_server_renamed(former, name))

        tell_open_ones()
        self.first_settings = self.first_settings.with_tool_server_renamed(former, name)
        # Again when that is done: a chat may have been loading meanwhile.
        self._store.run(
            lambda store: store.rename_tool_server(former, name), lambda _done: tell_open_ones(), self._on_trouble
        )

    @Slot(bool)
    def _on_answering_changed(self, answering: bool) -> None:
        session = self.sender()
        if isinstance(session, ChatSession):
            self.answering_changed.emit(session.chat_id, answering)

    @Slot()
    def _on_settled(self) -> None:
        session = self.sender()
        if isinstance(session, ChatSession):
            self.refresh()
            self._release(session)

    # --- the list

    def summaries(self) -> list[ChatSummary]:
        """The chats that hold something, newest first; not those in the archive."""
        return list(self._summaries)

    def archived(self) -> list[ChatSummary]:
        """The chats in the archive, newest first."""
        return list(self._archived)

    @Slot()
    def refresh(self) -> None:
        """Read the list again; `chats_changed` tells when it has changed."""
        if not self._closed:
            self._store.run(_lists, self._on_chats, self._on_trouble)

    @Slot(object)
    def _on_chats(self, lists: tuple[list[ChatSummary], list[ChatSummary]]) -> None:
        if lists != (self._summaries, self._archived):
            self._summaries, self._archived = lists
            self.chats_changed.emit()

    @Slot(object)
    def _on_trouble(self, error: Exception) -> None:
        self.trouble.emit(str(error))

    # --- tabs

    def restore(self) -> None:
        """Read the tabs and the list from the store; `restored` brings the tabs, also when there are none."""
        self.refresh()
        self._is_restoring = True
        self._store.run(ChatStore.tabs, self._on_tabs, self._on_no_tabs)
        self._store.run(ChatStore.drop_lost_draft_files, None, self._on_trouble)
        self._store.run(ChatStore.offered_backup, self._on_backup, self._on_trouble)

    @Slot(object)
    def _on_tabs(self, tabs: list[OpenTab]) -> None:
        self._is_restoring = False
        self.restored.emit(tabs)

    @Slot(object)
    def _on_backup(self, backup: Backup | None) -> None:
        if backup is not None:
            self.backup_offered.emit(backup)

    def restore_backup(self, backup: Backup) -> None:
        """Restore what a backup holds and the store does not; `backup_restored` follows."""

        def restore(store: ChatStore) -> tuple[Salvaged, list[OpenTab]]:
            return store.restore_backup(backup), store.tabs()

        self._store.run(restore, self._on_restored_backup, self._on_trouble)

    def refuse_backup(self) -> None:
        """Offer the backup no longer."""
        self._store.run(ChatStore.refuse_backup, None, self._on_trouble)

    @Slot(object)
    def _on_restored_backup(self, answer: tuple[Salvaged, list[OpenTab]]) -> None:
        found, tabs = answer
        self.refresh()
        for session in self.sessions():
            if not session.answering:  # its chat may have more messages now
                session.load(self.first_settings)
        # Its tabs come beside those that are open; otherwise the next save of the tabs would lose their drafts.
        self.restored.emit([replace(tab, is_current=False) for tab in tabs])
        self.backup_restored.emit(found)

    @Slot(object)
    def _on_no_tabs(self, _error: Exception) -> None:
        self._is_restoring = False
        self.restored.emit([])  # the store's trouble is told elsewhere; the window needs its first tab

    def save_tabs(self, tabs: Sequence[OpenTab]) -> None:
        """Remember the tabs; within half a second they are on disk."""
        self._tabs = list(tabs)
        if not self._tabs_timer.isActive() and not self._closed:
            self._tabs_timer.start()

    def keep_tabs(self, tabs: Sequence[OpenTab]) -> str:
        """Remember the tabs now, before the end; why that is not possible, or ''."""
        if self._closed:
            return ""
        self._tabs_timer.stop()
        self._tabs, self._given_tabs = None, tabs
        try:
            self._store.wait(self._saves(tabs), _KEEPING_S)
        except TimeoutError:  # a slow disk; the end waits for it, too
            return ""
        except Exception as error:  # a fault of ours is told, too, and keeps no window open
            return str(error) or repr(error)
        return ""

    @Slot()
    def _flush_tabs(self) -> None:
        tabs, self._tabs = self._tabs, None
        if tabs is None:
            self._tabs_save.flush()
        else:
            self._given_tabs = tabs
            self._tabs_save.save()

    def _saves(self, tabs: Sequence[OpenTab]) -> Callable[[ChatStore], None]:
        """The task that saves these tabs, together with those that were restored but are not shown yet."""
        if self._is_restoring:
            return lambda store: store.save_tabs([*store.tabs(), *tabs])
        return lambda store: store.save_tabs(tabs)

    # --- the end

    def shutdown(self, timeout_ms: int = 2500) -> bool:
        """Stop the answers, end the engine, write everything, close the store, in this order.

        False: a thread is still busy and its owner must be kept. May be called twice.
        """
        if self._closed:
            return self._has_ended
        self._tabs_timer.stop()
        self.titler.stop()
        self.meaning.stop()
        self.search.stop()
        self.exchange.close()
        for session in self.sessions():
            session.stop()
        ended = self._host.shutdown(timeout_ms)
        for session in self.sessions():
            session.close()
        self._flush_tabs()
        self._closed = True
        self.reader.close()
        self.meaning.close()
        self.folders.close()
        self.tools.close()
        self._has_ended = self._store.close() and ended
        return self._has_ended


def _lists(store: ChatStore) -> tuple[list[ChatSummary], list[ChatSummary]]:
    return store.chats(), store.chats(archived=True)
