"""Fetch a planned download into the hub's cache: several files at once, each checked, all shown together at the end."""

import asyncio
import contextlib
import errno
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx2
from filelock import FileLock, Timeout

from llama_gui.errors import DamagedDownloadError, DiskFullError, DownloadError, ModelError
from llama_gui.library.access import HubAccess
from llama_gui.library.hub_cache import RepoCache, unique_files
from llama_gui.library.pace import SpeedLimit, Speedometer
from llama_gui.library.part_file import DURABLE_STEP, PartFile
from llama_gui.library.plan import DownloadPlan, RemoteFile
from llama_gui.library.shelf import describe
from llama_gui.library.sizes import in_words
from llama_gui.library.transfer import Patience, Transfer, new_client

PARALLEL_FILES = 3
"""With `DURABLE_STEP` for each this bounds what a kill costs to 12 MiB."""

_RESERVE = 0.05
_REPORT_S = 0.1
_LOCK_POLL_S = 0.2
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}

Phase = Literal["checking", "downloading", "waiting", "finished"]


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    """How far a download is. Bytes and seconds; `note` says why nothing moves, "" when something does.

    "checking" reads what an earlier run left, "waiting" is for the network or another program. `seconds_left` None:
    that cannot be told yet.
    """

    repo: str
    phase: Phase
    bytes_done: int
    bytes_total: int
    bytes_per_second: float = 0.0
    seconds_left: float | None = None
    note: str = ""


class Download:
    """One run of a download. `run` again, here or in another process, goes on where this one ended."""

    def __init__(
        self,
        plan: DownloadPlan,
        access: HubAccess,
        on_progress: Callable[[DownloadProgress], None] = lambda _: None,
        *,
        limit: SpeedLimit | None = None,
        patience: Patience | None = None,
        durable_step: int = DURABLE_STEP,
    ) -> None:
        self._plan = plan
        self._access = access
        self._cache = RepoCache(access.cache, plan.repo)
        self._on_progress = on_progress
        self._limit = limit or SpeedLimit()
        self._patience = patience or Patience()
        self._durable_step = durable_step
        self._speed = Speedometer()
        self._phase: Phase = "checking"
        self._notes: dict[str, str] = {}
        self._bytes_done = 0
        self._files = unique_files(plan)
        self._told: DownloadProgress | None = None

    async def run(self) -> Path:
        """Fetch what is missing, and the folder of the finished model. Cancel the task to pause.

        Raises:
            DiskFullError: there is no room for it.
            DamagedDownloadError: a file is not what the hub promised, twice.
            DownloadError: what the hub promised is no model that can be used.
            DownloadError, HubError: the network, the hub or the disk refuses; what is there is kept.
        """
        try:
            # To the end: what is whole already is in nobody's use until it is shown, and would be cleaned away.
            async with self._locked(self._cache.whole_lock, self._plan.repo):
                folder = await self._fetch_and_show()
        except ModelError as error:
            raise DownloadError(
                f"{self._plan.repo} arrived as the hub has it, but it cannot be used. Choose another model. {error}"
            ) from error
        except OSError as error:
            raise self._disk_error(error) from error
        self._phase = "finished"
        self._tell()
        return folder

    async def _fetch_and_show(self) -> Path:
        missing = [file for file in self._files if not self._cache.has(self._plan.commit, file)]
        for file in self._files:
            if file not in missing:
                self._bytes_done += file.size
        if missing:
            self._access.check_online()
            self._check_room(missing)
            async with self._reporting():
                await self._fetch_all(missing)
        return self._cache.publish(self._plan, lambda folder: describe(self._plan.model_in(folder)))

    async def _fetch_all(self, missing: list[RemoteFile]) -> None:
        (self._cache.folder / "snapshots").mkdir(parents=True, exist_ok=True)  # tools call a folder without it broken
        slots = asyncio.Semaphore(PARALLEL_FILES)
        async with new_client(self._patience) as client:

            async def fetch(file: RemoteFile) -> None:
                async with slots:
                    await self._fetch(client, file)

            # The first, config.json as a rule, goes alone: a refusal is met once, before anything large begins.
            await fetch(missing[0])
            try:
                async with asyncio.TaskGroup() as group:
                    for file in missing[1:]:
                        group.create_task(fetch(file))
            except BaseExceptionGroup as errors:
                raise _first(errors) from errors

    async def _fetch(self, client: httpx2.AsyncClient, file: RemoteFile) -> None:
        transfer = Transfer(
            self._access,
            client,
            self._plan.repo,
            self._plan.commit,
            file,
            limit=self._limit,
            patience=self._patience,
            on_bytes=self._on_bytes,
            on_wait=lambda note: self._set_note(file.path, note),
        )
        async with self._locked(self._cache.lock(file), file.path):
            if self._cache.has(self._plan.commit, file):  # another program was quicker
                self._bytes_done += file.size
                return
            for attempt in (1, 2):
                if await self._fetch_once(transfer, file):
                    self._tell()
                    return
                if attempt == 1:
                    self._set_note(file.path, f"{file.path} was damaged on its way and is fetched again")
        raise DamagedDownloadError(
            f"{file.path} of {self._plan.repo} arrived damaged, twice: its checksum is not the hub's. It was removed; "
            "the other files are kept. Try again later or from another network."
        )

    async def _fetch_once(self, transfer: Transfer, file: RemoteFile) -> bool:
        """Whether the file is in its place now; what is damaged is removed."""
        blob = self._cache.blob(file)
        part = PartFile(blob, file.size, file.checksum, self._durable_step)
        try:
            for count in part.open():
                self._bytes_done += count
                await asyncio.sleep(0)
            self._phase = "downloading"
            await transfer.fetch(part)
            if part.is_sound():
                part.finish()
                return True
            self._bytes_done -= part.offset
            part.drop()
            return False
        finally:
            part.pause()

    @contextlib.asynccontextmanager
    async def _locked(self, path: Path, name: str) -> AsyncIterator[None]:
        """Hold a lock, that of a file as other tools do, so that two never write the same. `name`: what it locks."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=0, mode=0o664)
        while True:
            try:
                lock.acquire()
                break
            except Timeout:
                self._set_note(name, f"another program is downloading {name}; waiting for it")
                await asyncio.sleep(_LOCK_POLL_S)
        self._set_note(name, "")
        try:
            yield
        finally:
            lock.release()

    def _check_room(self, missing: list[RemoteFile]) -> None:
        there = sum(file.size for file in self._files) - sum(file.size for file in missing)
        needed = sum(file.size for file in missing) - (self._cache.bytes_there(self._plan) - there)
        needed += round(needed * _RESERVE)
        free = free_bytes(self._cache.folder)
        if needed > free:
            raise DiskFullError(
                f"{self._plan.repo} needs {in_words(needed)} more on the disk of {self._cache.cache}, and "
                f"{in_words(free)} are free. Make room, or set HF_HOME to a larger disk; then resume.",
                needed,
                free,
            )

    def _disk_error(self, error: OSError) -> DownloadError:
        place = error.filename or self._cache.folder
        if error.errno in _FULL:
            free = free_bytes(self._cache.folder)
            left = self._plan.size - self._bytes_done
            return DiskFullError(
                f"The disk is full ({error.strerror}): {self._plan.repo} needs {in_words(left)} more, and "
                f"{in_words(free)} are free. What is there is kept. Make room, then resume.",
                left,
                free,
            )
        if error.errno == errno.EFBIG:
            return DownloadError(
                f"The disk of {self._cache.cache} cannot hold files as large as those of {self._plan.repo} "
                "(FAT32 ends at 4 GB). Set HF_HOME to a folder on another disk; then start the download again."
            )
        return DownloadError(
            f"{self._plan.repo} cannot be written to {place}: {error.strerror or error}. What is there is kept. "
            "Check the disk and the rights of the folder, then resume."
        )

    def _on_bytes(self, count: int) -> None:
        self._bytes_done += count
        self._speed.add(max(count, 0))

    def _set_note(self, name: str, note: str) -> None:
        if self._notes.get(name, "") != note:
            self._notes[name] = note
            self._tell()

    @contextlib.asynccontextmanager
    async def _reporting(self) -> AsyncIterator[None]:
        """Tell how far it is, some times a second; also that nothing comes any more."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle | None = None

        def report() -> None:
            nonlocal timer
            self._tell()
            timer = loop.call_later(_REPORT_S, report)

        report()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()

    def _tell(self) -> None:
        progress = self.progress
        if progress != self._told:
            self._told = progress
            self._on_progress(progress)

    @property
    def progress(self) -> DownloadProgress:
        """How far it is now."""
        note = next((note for note in self._notes.values() if note), "")
        speed = self._speed.bytes_per_second
        is_stuck = bool(note) and not speed and self._phase == "downloading"
        return DownloadProgress(
            repo=self._plan.repo,
            phase="waiting" if is_stuck else self._phase,
            bytes_done=self._bytes_done,
            bytes_total=sum(file.size for file in self._files),
            bytes_per_second=speed,
            seconds_left=self._speed.seconds_for(sum(file.size for file in self._files) - self._bytes_done),
            note=note,
        )


def free_bytes(folder: Path) -> int:
    """What is free on the disk where `folder` is, or will be."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def _first(errors: BaseException) -> BaseException:
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors
