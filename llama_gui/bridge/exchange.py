"""Exports chats into files and imports them, without holding up the window or the store."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.intake import ImportReport
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError
from llama_gui.library.neighbours import with_chats

if TYPE_CHECKING:
    from llama_gui.chats.importers.reading import FoundChats

T = TypeVar("T")
ExportKind = Literal["markdown", "html", "json"]

_AT_ONCE = 50
"""Chats that are stored in one go, before the store's other tasks get their turn."""


class Exchange(QObject):
    """Exports and imports, one after the other, on a thread of its own. It meets the store for one chat at a time."""

    exported = Signal(object, int)
    """The file, and how many chats are in it."""
    fetched = Signal(object, object)
    """The file into which one chat is to be written, and its `ChatRecord`."""
    imported = Signal(object)
    """`ImportReport`."""
    failed = Signal(str)

    def __init__(self, store: StoreLane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._lane = TaskLane("exchange", self)

    def export(self, path: Path, kind: ExportKind, chat_ids: Sequence[str] = ()) -> None:
        """Write these chats into a file; no ids: all chats that are not in the bin."""
        wanted = list(chat_ids)

        def work() -> tuple[Path, int]:
            ids = wanted or self._ask(_all_ids)
            _write(path, kind, self._records(ids))
            return path, len(ids)

        self._lane.run(work, lambda answer: self.exported.emit(*answer), self._on_failed)

    def fetch(self, path: Path, chat_id: str) -> None:
        """Have one chat read, for whoever makes the content of `path` of it; then comes `keep`."""
        self._lane.run(
            lambda: next(self._records([chat_id]), None),
            lambda record: self.fetched.emit(path, record) if record is not None else None,
            self._on_failed,
        )

    def keep(self, path: Path, content: bytes) -> None:
        """Write what was made of one chat."""

        def work() -> None:
            from llama_gui.chats.export import write_export

            write_export(path, [content])

        self._lane.run(work, lambda _done: self.exported.emit(path, 1), self._on_failed)

    def import_from(self, path: Path) -> None:
        """Take in the chats of a file or folder of another application."""
        self._lane.run(lambda: self._take_in(path), self.imported.emit, self._on_failed)

    def likely_folder(self) -> Path:
        """Where another program keeps its chats here; where none does, the user's own folder."""
        return next((neighbour.folder for neighbour in with_chats()), Path.home())

    def close(self) -> bool:
        """Finish, and end the thread. Before the store is closed. May be called twice."""
        return self._lane.close()

    # --- on the lane's thread

    def _ask(self, work: Callable[[ChatStore], T]) -> T:
        """What the store says, on its own thread; this one waits."""
        answer: Future[T] = Future()

        def ask(store: ChatStore) -> None:
            try:
                answer.set_result(work(store))
            except Exception as error:
                answer.set_exception(error)

        self._store.run(ask, None, answer.set_exception)  # `set_exception`: where the store could not be opened
        while True:
            try:
                return answer.result(timeout=0.5)
            except TimeoutError:
                if self._lane.closed:
                    raise StoreError(self.tr("The application was closed before this was finished.")) from None

    def _records(self, ids: Sequence[str]) -> Iterator[ChatRecord]:
        for chat_id in ids:
            record = self._ask(partial(_record, chat_id=chat_id))
            if record is not None:
                yield record

    def _take_in(self, path: Path) -> ImportReport:
        from llama_gui.chats.importers.reading import FoundChats, read_import

        found = read_import(path)
        report = ImportReport(found.kind, skipped=found.skipped, left_out=found.left_out)
        for start in range(0, len(found.chats), _AT_ONCE):
            part = FoundChats(found.kind, found.chats[start : start + _AT_ONCE])
            report = _together(report, self._ask(partial(_import, found=part)))
        return report

    # --- on the window's thread

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))


def _write(path: Path, kind: ExportKind, records: Iterator[ChatRecord]) -> None:
    from llama_gui.chats.export import to_json, to_markdown, write_export
    from llama_gui.chats.export_html import to_html  # here: who exports nothing need not load it

    writers = {"markdown": to_markdown, "html": to_html, "json": to_json}
    write_export(path, writers[kind](records))


def _all_ids(store: ChatStore) -> list[str]:
    return [chat.id for archived in (False, True) for chat in store.chats(archived=archived)]


def _record(store: ChatStore, chat_id: str) -> ChatRecord | None:
    return store.record(chat_id)


def _import(store: ChatStore, found: "FoundChats") -> ImportReport:
    return store.import_chats(found)


def _together(first: ImportReport, second: ImportReport) -> ImportReport:
    return replace(
        first,
        added=first.added + second.added,
        extended=first.extended + second.extended,
        unchanged=first.unchanged + second.unchanged,
        messages=first.messages + second.messages,
        skipped=first.skipped + second.skipped,
    )
