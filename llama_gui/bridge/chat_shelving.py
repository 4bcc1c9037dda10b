"""What is done with chats as a whole: named, pinned, put into folders, put away, thrown away, and had back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui import prompt_folder
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.bin import DeletedBranch
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatSummary


@dataclass(frozen=True, slots=True)
class BinContents:
    """The chats in the bin, and the branches of chats that are not."""

    chats: tuple[ChatSummary, ...]
    branches: tuple[DeletedBranch, ...]


class ChatShelving(QObject):
    """Changes the list of chats through the store. Every method returns at once; `changed` tells when it is done."""

    changed = Signal()
    deleted = Signal(str)
    """Chat id: it is in the bin."""
    restored = Signal(str)
    """Chat id: it is back, or one of its branches."""
    bin_read = Signal(object)
    """`BinContents`."""
    emptied = Signal(int)
    """So many chats and messages are gone for ever."""
    failed = Signal(str)

    def __init__(self, store: StoreLane, parent: QObject | None = None, prompt_cache: Path | None = None) -> None:
        """`prompt_cache`: where models keep what they have read, which goes with the bin."""
        super().__init__(parent)
        self._store = store
        self._prompt_cache = prompt_cache

    def _do(self, work: Callable[[ChatStore], object]) -> None:
        self._store.run(work, self._on_done, self._on_failed)

    def rename(self, chat_id: str, title: str) -> None:
        """Give a chat a name. An open one is named through its session, which shows it."""
        self._do(lambda store: store.rename_chat(chat_id, title))

    def pin(self, chat_id: str, pinned: bool) -> None:
        """Keep a chat at the top, or no longer."""
        self._do(lambda store: store.pin_chat(chat_id, pinned))

    def archive(self, chat_id: str, archived: bool) -> None:
        """Put a chat into the archive, or back."""
        self._do(lambda store: store.archive_chat(chat_id, archived))

    def archive_all(self, chat_ids: Sequence[str], archived: bool) -> None:
        """Put many chats into the archive, or back."""

        def work(store: ChatStore) -> None:
            for chat_id in chat_ids:
                store.archive_chat(chat_id, archived)

        self._do(work)

    def move(self, chat_id: str, folder: str) -> None:
        """Put a chat into a folder; "" takes it out."""
        self._do(lambda store: store.move_chat(chat_id, folder))

    def place(self, chats: Sequence[ChatSummary]) -> None:
        """Have these chats pinned, in folders and in the archive as their summaries say."""

        def work(store: ChatStore) -> None:
            for chat in chats:
                store.move_chat(chat.id, chat.folder)
                store.pin_chat(chat.id, chat.pinned)
                store.archive_chat(chat.id, chat.archived)

        self._do(work)

    def begin_in(self, folder: str, chat_id: str) -> None:
        """Put a chat into a folder in which nothing was said yet. It comes into the list with its first message."""

        def begin(store: ChatStore) -> None:
            store.create_chat(chat_id)
            store.move_chat(chat_id, folder)

        self._do(begin)

    def rename_folder(self, folder: str, name: str) -> None:
        """Give a folder another name; "" dissolves it."""
        self._do(lambda store: store.rename_folder(folder, name))

    # --- the bin

    def delete(self, chat_id: str) -> None:
        """Put a chat into the bin."""

        def work(store: ChatStore) -> str:
            store.delete_chat(chat_id)
            return chat_id

        self._store.run(work, self._on_deleted, self._on_failed)

    def restore(self, chat_id: str) -> None:
        """Take a chat out of the bin."""

        def work(store: ChatStore) -> str:
            store.restore_chat(chat_id)
            return chat_id

        self._store.run(work, self._on_restored, self._on_failed)

    def delete_all(self, chat_ids: Sequence[str]) -> None:
        """Put many chats into the bin."""

        def work(store: ChatStore) -> None:
            for chat_id in chat_ids:
                store.delete_chat(chat_id)

        self._do(work)

    def restore_all(self, chat_ids: Sequence[str]) -> None:
        """Take many chats out of the bin."""

        def work(store: ChatStore) -> None:
            for chat_id in chat_ids:
                store.restore_chat(chat_id)

        self._do(work)

    def restore_branch(self, branch: DeletedBranch) -> None:
        """Take a branch out of the bin."""

        def work(store: ChatStore) -> str:
            store.restore_branch(branch.node_id)
            return branch.chat_id

        self._store.run(work, self._on_restored, self._on_failed)

    def read_bin(self) -> None:
        """Look into the bin; `bin_read` tells."""
        self._store.run(_bin_contents, self._on_bin_read, self._on_failed)

    def empty_bin(self) -> None:
        """Delete for ever what is in the bin, and all that models have kept of chats: it may be of those."""
        prompts = self._prompt_cache

        def work(store: ChatStore) -> int:
            count = store.empty_bin()
            if prompts is not None:
                prompt_folder.empty(prompts)
            return count

        self._store.run(work, self._on_emptied, self._on_failed)

    # --- what the store answers; once it is closed, those are not told who would ask it for more

    @Slot(object)
    def _on_done(self, _value: object) -> None:
        self.changed.emit()

    @Slot(object)
    def _on_deleted(self, chat_id: str) -> None:
        if not self._store.closed:
            self.changed.emit()
            self.deleted.emit(chat_id)

    @Slot(object)
    def _on_restored(self, chat_id: str) -> None:
        if not self._store.closed:
            self.changed.emit()
            self.restored.emit(chat_id)

    @Slot(object)
    def _on_bin_read(self, contents: BinContents) -> None:
        self.bin_read.emit(contents)

    @Slot(object)
    def _on_emptied(self, count: int) -> None:
        if not self._store.closed:
            self.changed.emit()
            self.emptied.emit(count)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))


def _bin_contents(store: ChatStore) -> BinContents:
    return BinContents(tuple(store.chats(deleted=True)), tuple(store.deleted_branches()))
