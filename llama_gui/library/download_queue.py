"""Downloads one after another, in a thread of their own; the list outlives the program."""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from llama_gui.errors import DownloadError, GatedModelError, LlamaGuiError, ShelfError
from llama_gui.files import write_whole
from llama_gui.library.access import HubAccess
from llama_gui.library.download import Download, DownloadProgress
from llama_gui.library.hub_cache import RepoCache
from llama_gui.library.pace import SpeedLimit
from llama_gui.library.plan import DownloadPlan
from llama_gui.library.transfer import Patience

State = Literal["waiting", "running", "paused", "failed", "finished"]

UNATTENDED = Patience(attempts=200)
"""Nobody watches a queue: a network that is away for an hour is waited for."""

_MOST_BYTES = 16 * 2**20
_DAMAGE = (ValueError, KeyError, TypeError, RecursionError, LlamaGuiError)
"""What a list, or an entry of it, that we have not written so meets."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueuedDownload:
    """One entry. `problem` says why it failed, `page` where that can be mended in the web; `folder` is the model."""

    id: int
    plan: DownloadPlan
    state: State = "waiting"
    problem: str = ""
    page: str = ""
    folder: str = ""
    progress: DownloadProgress | None = None


@dataclass(frozen=True, slots=True)
class QueueTotals:
    """All that is being done and still to do, for a title or a side bar. Bytes, and bytes per second.

    `count`: downloads that run or wait; paused and failed ones are no part of it.
    """

    count: int
    bytes_done: int
    bytes_total: int
    bytes_per_second: float


def totals(items: Sequence[QueuedDownload]) -> QueueTotals:
    """What `items` come to."""
    active = [item for item in items if item.state in ("running", "waiting")]
    known = [item.progress for item in active if item.progress is not None]
    return QueueTotals(
        count=len(active),
        bytes_done=sum(progress.bytes_done for progress in known),
        bytes_total=sum(item.progress.bytes_total if item.progress else item.plan.size for item in active),
        bytes_per_second=sum(
            item.progress.bytes_per_second for item in active if item.progress and item.state == "running"
        ),
    )


class DownloadQueue:
    """The list and the thread that works it off. Every method may be called from any thread.

    `access` is asked before each download, so that a new token counts. `on_change` hears the whole list, from whichever
    thread changed it.
    """

    def __init__(
        self,
        file: Path,
        access: Callable[[], HubAccess],
        on_change: Callable[[tuple[QueuedDownload, ...]], None] = lambda _: None,
        *,
        limit: SpeedLimit | None = None,
        patience: Patience = UNATTENDED,
    ) -> None:
        self._file = file
        self._access = access
        self._on_change = on_change
        self.limit = limit or SpeedLimit()
        self._patience = patience
        self._lock = threading.RLock()
        loaded, self._reading_problem = _load(file)
        self._writing_problem = ""
        self._items = {item.id: item for item in loaded}
        self._ids = itertools.count(max(self._items, default=0) + 1)
        self._is_closing = False
        self._loop = asyncio.new_event_loop()
        self._wake = asyncio.Event()
        self._running: tuple[int, asyncio.Task[Path]] | None = None
        self._thread = threading.Thread(target=self._work, name="downloads")
        if self._items and self._reading_problem:
            self._save()  # what could be read was set aside with the rest

    def start(self) -> None:
        """Begin to work. What ran when the program ended goes on."""
        self._thread.start()

    @property
    def problem(self) -> str:
        """What the user should know about the file, "" when all is well. A list that was lost stays told."""
        return self._writing_problem or self._reading_problem

    @property
    def items(self) -> tuple[QueuedDownload, ...]:
        """The list, in its order."""
        with self._lock:
            return tuple(self._items.values())

    def add(self, plan: DownloadPlan) -> int:
        """Queue a download; its id. One that is there already is resumed instead."""
        with self._lock:
            for item in self._items.values():
                if item.plan == plan and item.state != "finished":
                    self.resume(item.id)
                    return item.id
            added = QueuedDownload(next(self._ids), plan)
            self._items[added.id] = added
        self._changed()
        return added.id

    def pause(self, item_id: int) -> None:
        """Stop it where it is."""
        with self._lock:
            if self._state(item_id) in ("waiting", "running"):
                self._set(item_id, state="paused")
                self._stop_running(item_id)
        self._changed()

    def resume(self, item_id: int) -> None:
        """Let a paused or failed one go on when its turn comes."""
        with self._lock:
            if self._state(item_id) in ("paused", "failed"):
                self._set(item_id, state="waiting", problem="", page="")
        self._changed()

    def remove(self, item_id: int) -> None:
        """Take it off the list. What is unfinished is deleted; a finished model stays."""
        with self._lock:
            item = self._items.pop(item_id, None)
            is_running = self._stop_running(item_id)
        if item is not None and item.state != "finished" and not is_running:
            self._discard(item.plan)
        self._changed()

    def close(self) -> None:
        """Stop, keep what is there, and wait for the thread."""
        with self._lock:
            self._is_closing = True
            if self._running is not None:
                self._stop_running(self._running[0])
        if self._thread.is_alive():
            self._awaken()
            self._thread.join()
        if not self._loop.is_closed():
            self._loop.close()
        with self._lock:
            self._save()

    # --- the thread ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        while True:
            self._wake.clear()
            with self._lock:
                if self._is_closing:
                    return
                item = next((item for item in self._items.values() if item.state == "waiting"), None)
                if item is not None:
                    self._set(item.id, state="running")
                    self._running = (item.id, asyncio.ensure_future(self._download(item)))
            if item is None:
                await self._wake.wait()
                continue
            self._changed()
            await self._follow(item)

    async def _download(self, item: QueuedDownload) -> Path:
        def tell(progress: DownloadProgress) -> None:
            with self._lock:
                if item.id not in self._items:
                    return
                self._set(item.id, progress=progress)
            self._on_change(self.items)

        # Asked here, and not under the lock: the system's safe may take its time, and its fault is of this one only.
        return await Download(item.plan, self._access(), tell, limit=self.limit, patience=self._patience).run()

    async def _follow(self, item: QueuedDownload) -> None:
        """Wait for the running download and note how it ended."""
        assert self._running is not None
        outcome: dict[str, Any]
        try:
            folder = await self._running[1]
            outcome = {"state": "finished", "folder": str(folder)}
        except asyncio.CancelledError:
            outcome = {}
        except LlamaGuiError as error:
            page = error.page if isinstance(error, GatedModelError) else ""
            outcome = {"state": "failed", "problem": str(error), "page": page}
        except Exception as error:  # our own fault, but the other downloads shall go on
            _log.exception("A download failed in a way that we did not foresee.")
            outcome = {"state": "failed", "problem": f"{item.plan.repo} failed unexpectedly: {error!r}."}
        with self._lock:
            self._running = None
            is_removed = item.id not in self._items
            if not is_removed and self._state(item.id) == "running":
                # Cancelled by the end of the program: it is still to be done.
                self._set(item.id, **(outcome or {"state": "waiting"}))
            elif not is_removed and outcome.get("state") == "finished":  # paused too late
                self._set(item.id, **outcome)
        if is_removed and outcome.get("state") != "finished":
            self._discard(item.plan)
        self._changed()

    def _discard(self, plan: DownloadPlan) -> None:
        with self._lock:
            is_wanted = any(item.plan.repo == plan.repo for item in self._items.values() if item.state != "finished")
        if not is_wanted:
            with contextlib.suppress(OSError):  # what stays is seen by every tool's clean-up
                RepoCache(self._access().cache, plan.repo).discard(plan)

    # --- small things, under the lock ---------------------------------------------------------------------------

    def _state(self, item_id: int) -> State | None:
        item = self._items.get(item_id)
        return item.state if item else None

    def _set(self, item_id: int, **fields: Any) -> None:
        self._items[item_id] = replace(self._items[item_id], **fields)

    def _stop_running(self, item_id: int) -> bool:
        if self._running is None or self._running[0] != item_id:
            return False
        self._loop.call_soon_threadsafe(self._running[1].cancel)
        return True

    def _changed(self) -> None:
        """Save, tell, and let the thread look."""
        with self._lock:
            self._save()
        self._on_change(self.items)
        self._awaken()

    def _awaken(self) -> None:
        with contextlib.suppress(RuntimeError):  # the thread has ended
            self._loop.call_soon_threadsafe(self._wake.set)

    def _save(self) -> None:
        kept = [item for item in self._items.values() if item.state != "finished"]
        entries = [
            {"id": i.id, "state": i.state, "problem": i.problem, "page": i.page, **i.plan.as_json()} for i in kept
        ]
        try:
            write_whole(self._file, json.dumps({"version": 1, "downloads": entries}, indent=1).encode())
            self._writing_problem = ""
        except OSError as error:
            self._writing_problem = (
                f"The list of downloads cannot be written to {self._file}: {error.strerror or error}."
            )


def repos_in(file: Path) -> frozenset[str]:
    """The repositories on the list that `file` keeps, for those who only look: nothing is set aside.

    Raises:
        ShelfError: there is a list, and not all that is on it can be told.
    """
    try:
        return frozenset(_repo(values) for values in _entries(file))
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        why = f"cannot be read ({error.strerror or error})"
    except _DAMAGE:
        why = "is damaged"
    raise ShelfError(
        f"The list of downloads {file} {why}, so nobody can tell what waits in the window. Name the model that is "
        "meant, or open the window once: it begins a new list and keeps of the old one what can be read."
    )


def _load(file: Path) -> tuple[Sequence[QueuedDownload], str]:
    """The list in `file`, and what is wrong with it. A damaged file is set aside, nothing is deleted."""
    found: list[QueuedDownload] = []
    is_damaged = False
    try:
        for values in _entries(file):
            try:
                found.append(_entry(values))
            except _DAMAGE:  # the others are not lost with it
                is_damaged = True
    except FileNotFoundError:
        return (), ""
    except OSError as error:
        return (), _set_aside(file, f"cannot be read ({error.strerror or error})")
    except _DAMAGE:
        is_damaged = True
    return found, _set_aside(file, "is damaged") if is_damaged else ""


def _entries(file: Path) -> list[Any]:
    with file.open("rb") as stream:
        entries = json.loads(stream.read(_MOST_BYTES))["downloads"]
    if not isinstance(entries, list):
        raise TypeError
    return entries


def _repo(values: Any) -> str:
    if not isinstance(values["repo"], str):
        raise TypeError
    return values["repo"]


def _set_aside(file: Path, why: str) -> str:
    """Move what the next save would write over; what to tell the user."""
    aside = file.with_name(file.name + ".broken")
    try:
        os.replace(file, aside)
    except OSError as error:
        return f"The list of downloads {file} {why}, and cannot be moved: {error.strerror or error}."
    return f"The list of downloads {why} and was set aside as {aside}. Start the downloads again: they go on."


def _entry(values: dict[str, Any]) -> QueuedDownload:
    state = values["state"]
    if state not in get_args(State) or not isinstance(values["id"], int):
        raise DownloadError("an unknown state")
    state = "waiting" if state == "running" else state
    plan = DownloadPlan.from_json(values)
    return QueuedDownload(values["id"], plan, state, str(values.get("problem", "")), str(values.get("page", "")))
