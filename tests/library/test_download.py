"""Downloads come whole or not at all, whatever ends them, and other tools can use what they leave."""

import asyncio
import contextlib
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import huggingface_hub
import pytest
from filelock import FileLock

from llama_gui.errors import (
    DamagedDownloadError,
    DiskFullError,
    DownloadError,
    GatedModelError,
    HubError,
    HubOfflineError,
    LlamaGuiError,
    ModelError,
    NotOnHubError,
    ShelfError,
)
from llama_gui.library import download as download_module
from llama_gui.library import hub_cache, shelf
from llama_gui.library.access import HubAccess
from llama_gui.library.download import PARALLEL_FILES, Download, DownloadProgress
from llama_gui.library.hub import Hub
from llama_gui.library.hub_cache import RepoCache
from llama_gui.library.leftovers import find_leftovers, free_leftover
from llama_gui.library.pace import SpeedLimit
from llama_gui.library.part_file import DURABLE_STEP, PartFile
from llama_gui.library.plan import DownloadPlan
from llama_gui.library.transfer import Patience
from tests.fakes.fake_hub import FakeHub, Fault, model_files, weights_file
from tests.library.test_shelf import needs_links

REPO = "owner/small-1B"
WEIGHTS = "model.safetensors"
SHARDS = [weights_file(random.Random(seed).randbytes(300_000)) for seed in range(3)]
QUICK = Patience(attempts=4, first_wait=0.001, longest_wait=0.01, connect=10, silence=0.3)
WANTED = {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"}


def run(
    access: HubAccess, plan: DownloadPlan, on_progress: Callable[[DownloadProgress], None] = lambda _: None, **more: Any
) -> Path:
    more = {"patience": QUICK, "durable_step": 16 * 1024} | more
    return asyncio.run(Download(plan, access, on_progress, **more).run())


def add_model(fake_hub: FakeHub, access: HubAccess, weights: list[bytes] | None = None, **fields: Any) -> DownloadPlan:
    fake_hub.add(REPO, model_files(weights or SHARDS[:1]), **fields)
    return Hub(access).plan(REPO)


def leftovers(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob("*.incomplete")]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_only_what_the_engine_needs_is_fetched(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access, SHARDS)
    folder = run(access, plan)

    expected = {name: content for name, content in fake_hub.heads[REPO].files.items() if "/" not in name}
    assert contents(folder) == {
        name: expected[name] for name in expected if name not in ("README.md", "pytorch_model.bin")
    }
    assert set(contents(folder)) > WANTED
    assert leftovers(access.cache) == []
    assert fake_hub.sent() == plan.size
    (entry,) = shelf.scan([access.cache], access.cache / "none")
    assert (entry.name, entry.path, entry.size) == (REPO, str(folder), plan.size)


def test_other_tools_share_it(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access, SHARDS)
    folder = run(access, plan)
    before = fake_hub.sent()

    theirs = huggingface_hub.snapshot_download(
        REPO, cache_dir=access.cache, endpoint=access.endpoint, token=False, allow_patterns=[f.path for f in plan.files]
    )
    scanned = huggingface_hub.scan_cache_dir(access.cache)

    assert Path(theirs) == folder
    assert fake_hub.sent() == before, "nothing was fetched again"
    assert not scanned.warnings
    assert [(repo.repo_id, len(repo.revisions)) for repo in scanned.repos] == [(REPO, 1)]
    assert not scanned.incomplete_files
    huggingface_hub.HfApi(endpoint=access.endpoint).verify_repo_checksums(REPO, cache_dir=access.cache, token=False)


def test_what_another_tool_fetched_is_used(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    huggingface_hub.hf_hub_download(REPO, WEIGHTS, cache_dir=access.cache, endpoint=access.endpoint, token=False)
    ends = time.monotonic() + 10
    while not fake_hub.asked(WEIGHTS) and time.monotonic() < ends:  # the hub notes what it has sent
        time.sleep(0.01)
    seen: list[DownloadProgress] = []
    folder = run(access, plan, seen.append)
    assert len(fake_hub.asked(WEIGHTS)) == 1
    assert contents(folder)[WEIGHTS] == SHARDS[0]
    assert seen[0].bytes_done >= len(SHARDS[0])
    assert seen[-1].bytes_done == plan.size


def test_a_finished_download_asks_nothing_and_works_offline(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    folder = run(access, plan)
    fake_hub.log.clear()
    offline = HubAccess(access.endpoint, access.cache, is_offline=True)
    assert run(offline, plan) == folder
    assert fake_hub.log == []


def test_offline_mode_asks_nobody(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    fake_hub.log.clear()
    with pytest.raises(HubOfflineError, match="Offline mode is on"):
        run(HubAccess(access.endpoint, access.cache, is_offline=True), plan)
    assert fake_hub.log == []


def test_progress_ends_at_all_of_it(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access, SHARDS)
    seen: list[DownloadProgress] = []
    run(access, plan, seen.append)
    last = seen[-1]
    assert (last.phase, last.bytes_done) == ("finished", plan.size)
    assert all(0 <= p.bytes_done <= p.bytes_total == plan.size for p in seen)


FAULTS = [
    [Fault("drop", at=0)],
    [Fault("drop", at=100_000), Fault("drop", at=50_000), Fault("drop", at=1)],
    [Fault("stall", at=70_000)],
    [Fault("damage", at=299_999)],
    [Fault("truncate", at=1000)],
    [Fault("surplus")],
    [Fault("wrong_range"), Fault("drop", at=200_000), Fault("wrong_range")],
    [Fault("drop", at=200_000), Fault("ignore_range")],
    [Fault("chunked")],
    [Fault("gzip")],
    [Fault("loop")],
    [Fault("status", status=500), Fault("status", status=502), Fault("status", status=504)],
    [Fault("status", status=429, headers={"Retry-After": "0"}), Fault("status", status=503)],
    [Fault("status", status=429, headers={"Retry-After": "nan"}), Fault("status", status=503)],
    [Fault("drop", at=100_000), Fault("status", status=403, host="cdn")],
    [Fault("drop", at=100_000), Fault("status", status=416)],
    [Fault("status", status=200, body=b"<html>Sign in</html>", headers={"Content-Type": "text/html"})],
    [Fault("drop", at=9), Fault("status", status=200, body=b"<html>Sign in</html>")],
]


@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: "-".join(fault.kind for fault in faults))
@pytest.mark.sampled(8)
def test_a_faulty_server_costs_patience_only(fake_hub: FakeHub, access: HubAccess, faults: list[Fault]):
    plan = add_model(fake_hub, access)
    fake_hub.break_next(WEIGHTS, *faults)
    folder = run(access, plan)
    assert contents(folder)[WEIGHTS] == SHARDS[0]
    assert leftovers(access.cache) == []


def test_a_server_that_always_fails_ends_with_a_sentence_and_keeps_the_part(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    fake_hub.break_next(WEIGHTS, Fault("drop", at=200_000), *[Fault("status", status=500)] * 10)
    with pytest.raises(DownloadError, match=rf"{WEIGHTS} of {REPO} .*failed \(500\).*resume"):
        run(access, plan)
    assert_not_usable(access)
    fake_hub._faults.clear()
    fake_hub.log.clear()
    assert contents(run(access, plan))[WEIGHTS] == SHARDS[0]
    assert fake_hub.sent(WEIGHTS) == len(SHARDS[0]) - 200_000, "a clean end repeats nothing"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("status", status=200, body=b"<html>"), "maybe this network wants a sign-in. What is there is kept"),
        (Fault("status", status=451), "is not given out by localhost, for reasons of law. Choose another."),
    ],
)
def test_a_download_that_fails_says_why_in_whole_sentences(
    fake_hub: FakeHub, access: HubAccess, fault: Fault, words: str
):
    plan = add_model(fake_hub, access)
    fake_hub.break_next(WEIGHTS, *[fault] * 10)
    with pytest.raises((DownloadError, HubError)) as caught:
        run(access, plan)
    assert words in str(caught.value)


def test_bytes_that_are_wrong_twice_are_not_installed(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    fake_hub.break_next(WEIGHTS, Fault("damage", at=0), Fault("damage", at=5))
    with pytest.raises(DamagedDownloadError, match="arrived damaged, twice"):
        run(access, plan)
    assert leftovers(access.cache) == []
    assert_not_usable(access)
    assert contents(run(access, plan))[WEIGHTS] == SHARDS[0]


@needs_links
@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"config.json": b"[]"}, "does not hold a JSON object"),
        ({"config.json": b"{"}, "it is not valid JSON"),
        ({WEIGHTS: b"weights"}, "it has no header"),
    ],
)
def test_what_the_hub_has_and_nobody_can_use_is_told_and_not_shown(
    fake_hub: FakeHub, access: HubAccess, files: dict[str, bytes], words: str
):
    good = run(access, add_model(fake_hub, access))
    fake_hub.add(REPO, model_files(SHARDS[1:2]) | files)
    plan = Hub(access).plan(REPO)
    for _ in range(2):  # also where all of it is there already
        with pytest.raises(DownloadError, match=f"{REPO} arrived as the hub has it, but it cannot be used.*{words}"):
            run(access, plan)
        (entry,) = shelf.scan([access.cache], access.cache / "none")
        assert entry.path == str(good), "the revision before it stays"
    cache = RepoCache(access.cache, REPO)
    cache.discard(plan)
    assert {path.name for path in (cache.folder / "blobs").iterdir()} == {
        Path(os.readlink(path)).name for path in good.iterdir()
    }


def test_a_part_that_rotted_is_fetched_again(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    interrupt(fake_hub, access, plan, after=200_000)
    part = next(access.cache.rglob("*.incomplete"))
    part = part.with_name(part.name.replace(".offset", ""))
    part.write_bytes(bytes(part.stat().st_size))
    assert contents(run(access, plan))[WEIGHTS] == SHARDS[0]


def test_the_token_goes_to_the_hub_and_to_nobody_else(fake_hub: FakeHub, access: HubAccess):
    signed_in = HubAccess(access.endpoint, access.cache, token="hf_secret")
    plan = add_model(fake_hub, signed_in, gated="auto", token="hf_secret")
    run(signed_in, plan)
    hosts = {(asked.host, asked.headers.get("Authorization")) for asked in fake_hub.log}
    assert hosts == {("hub", "Bearer hf_secret"), ("cdn", None)}
    assert "hf_secret" not in repr(signed_in)


@pytest.mark.parametrize("token", [None, "hf_other"])
def test_a_gated_model_says_where_to_click(fake_hub: FakeHub, access: HubAccess, token: str | None):
    access = HubAccess(access.endpoint, access.cache, token)
    plan = add_model(fake_hub, access, gated="manual", token="hf_right")
    with pytest.raises(GatedModelError, match="accept its licence") as caught:
        run(access, plan)
    assert caught.value.page == f"{access.endpoint}/{REPO}"
    assert f"{access.endpoint}/{REPO}" in str(caught.value)
    assert len(fake_hub.asked("/resolve/")) == 1, "the first refusal is enough"


def test_all_files_come_from_one_commit(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access, SHARDS)
    fake_hub.add(REPO, model_files([b"new"] * 3))
    folder = run(access, plan)
    assert folder.name == plan.commit
    assert contents(folder)["model-00001-of-00003.safetensors"] == SHARDS[0]


def test_a_deleted_model_is_told(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    fake_hub.repos.clear()
    fake_hub.heads.clear()
    with pytest.raises(HubError):
        run(access, plan)


def test_a_deleted_file_is_told(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    del fake_hub.heads[REPO].files[WEIGHTS]
    with pytest.raises(NotOnHubError, match=f"{WEIGHTS} of {REPO} is not on the hub any more"):
        run(access, plan)


def test_a_file_that_changed_under_its_name_is_refused(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    fake_hub.heads[REPO].files[WEIGHTS] = SHARDS[1]
    with pytest.raises(DamagedDownloadError, match="not the file any more"):
        run(access, plan)


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_a_redirect_out_of_the_web_is_not_followed(fake_hub: FakeHub, access: HubAccess, location: str):
    plan = add_model(fake_hub, access)
    fake_hub.break_next(WEIGHTS, Fault("redirect", headers={"Location": location}, host="hub"))
    with pytest.raises(DownloadError, match="not safe"):
        run(access, plan)


def test_a_disk_that_is_full_before_is_told_before(fake_hub: FakeHub, access: HubAccess, monkeypatch):
    plan = add_model(fake_hub, access)
    fake_hub.log.clear()
    monkeypatch.setattr(download_module, "free_bytes", lambda _: plan.size)  # but there must be a reserve
    with pytest.raises(DiskFullError, match=r"MB are free\. Make room") as caught:
        run(access, plan)
    assert caught.value.needed > caught.value.free == plan.size
    assert fake_hub.log == []


def test_a_disk_that_fills_up_keeps_the_part(fake_hub: FakeHub, access: HubAccess, monkeypatch):
    plan = add_model(fake_hub, access)
    write = PartFile.write

    def full(part: PartFile, piece: bytes) -> None:
        if part.offset > 100_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(part, piece)

    monkeypatch.setattr(PartFile, "write", full)
    with pytest.raises(DiskFullError, match=r"The disk is full.*What is there is kept"):
        run(access, plan)
    monkeypatch.setattr(PartFile, "write", write)
    fake_hub.log.clear()
    assert contents(run(access, plan))[WEIGHTS] == SHARDS[0]
    assert any(asked.headers.get("Range") for asked in fake_hub.asked(WEIGHTS))


@pytest.mark.parametrize(
    ("code", "words"), [(errno.EFBIG, "FAT32 ends at"), (errno.EROFS, "Check the disk"), (errno.EIO, "Check the disk")]
)
def test_a_disk_that_refuses_is_told(fake_hub: FakeHub, access: HubAccess, monkeypatch, code: int, words: str):
    def refuse(part: PartFile, piece: bytes) -> None:
        raise OSError(code, os.strerror(code))

    plan = add_model(fake_hub, access)
    monkeypatch.setattr(PartFile, "write", refuse)
    with pytest.raises(DownloadError, match=words) as caught:
        run(access, plan)
    assert REPO in str(caught.value)


def test_a_kill_while_it_is_shown_shows_nothing(fake_hub: FakeHub, access: HubAccess, monkeypatch):
    plan = add_model(fake_hub, access, SHARDS)
    link = hub_cache._link
    for place in range(len(plan.files)):
        left = [place]

        def link_some(blob: Path, pointer: Path, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise _Killed
            link(blob, pointer)

        monkeypatch.setattr(hub_cache, "_link", link_some)
        with pytest.raises(_Killed):
            run(access, plan)
        assert_not_usable(access)
        shutil.rmtree(RepoCache(access.cache, REPO).folder / "snapshots")
    monkeypatch.setattr(hub_cache, "_link", link)
    assert shelf.describe(run(access, plan)).size == plan.size


def test_what_is_whole_and_not_yet_shown_is_not_cleaned_away(fake_hub: FakeHub, access: HubAccess, monkeypatch):
    plan = add_model(fake_hub, access, SHARDS)
    link = hub_cache._link
    refused: list[str] = []

    def clean_first(blob: Path, pointer: Path) -> None:
        for leftover in find_leftovers([access.cache]):
            try:
                free_leftover(leftover)
            except ShelfError as error:
                refused.append(str(error))
        link(blob, pointer)

    monkeypatch.setattr(hub_cache, "_link", clean_first)
    for _ in range(2):  # the second finds all blobs, and has only to show them
        assert shelf.describe(run(access, plan)).size == plan.size
        shutil.rmtree(RepoCache(access.cache, REPO).folder / "snapshots")
    assert len(refused) == 2 * len(plan.files)
    assert all("is being downloaded just now" in error for error in refused)
    assert len(find_leftovers([access.cache])) == 1
    assert free_leftover(find_leftovers([access.cache])[0]) == plan.size, "afterwards nobody holds it"


@pytest.mark.parametrize("without", [["symlink"], ["symlink", "link"]])
def test_systems_without_links_get_files(fake_hub: FakeHub, access: HubAccess, monkeypatch, without: list[str]):
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no right")

    for name in without:
        monkeypatch.setattr(os, name, refuse)
    plan = add_model(fake_hub, access, SHARDS)
    folder = run(access, plan)
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert shelf.describe(folder).size == plan.size
    asked = len(fake_hub.log)
    assert run(access, plan) == folder
    assert len(fake_hub.log) == asked


def test_a_file_that_another_program_fetches_is_waited_for(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    weights = plan.files[-1]
    cache = RepoCache(access.cache, REPO)
    cache.lock(weights).parent.mkdir(parents=True)
    lock = FileLock(cache.lock(weights))
    lock.acquire()
    notes: list[str] = []

    def other_program(progress: DownloadProgress) -> None:
        notes.append(progress.note)
        if progress.note:
            cache.blob(weights).write_bytes(SHARDS[0])
            lock.release()

    folder = run(access, plan, other_program)
    assert f"another program is downloading {WEIGHTS}; waiting for it" in notes
    assert contents(folder)[WEIGHTS] == SHARDS[0]
    assert fake_hub.asked(WEIGHTS) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_folder_that_cannot_be_written_is_told(fake_hub: FakeHub, access: HubAccess, tmp_path: Path):
    plan = add_model(fake_hub, access)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(DownloadError, match="cannot be written"):
            run(access, plan)
    finally:
        tmp_path.chmod(0o700)


def test_the_speed_can_be_limited(fake_hub: FakeHub, access: HubAccess):
    limit = SpeedLimit(1e9)
    waited = [limit.take(100_000_000) for _ in range(3)]
    assert waited == pytest.approx([0.1, 0.2, 0.3], abs=0.02)
    assert run(access, add_model(fake_hub, access), limit=limit).is_dir()


def test_two_downloads_of_one_model_fetch_it_once(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)

    async def both() -> list[Path]:
        downloads = [Download(plan, access, patience=QUICK) for _ in range(2)]
        return await asyncio.gather(*(one.run() for one in downloads))

    first, second = asyncio.run(both())
    assert first == second
    assert fake_hub.sent() == plan.size


# --- ends of all kinds -------------------------------------------------------------------------------------------


def interrupt(fake_hub: FakeHub, access: HubAccess, plan: DownloadPlan, after: int) -> None:
    """Begin, and cancel when so many bytes of the weights are there: what a pause does."""
    fake_hub.break_next(WEIGHTS, Fault("stall", at=after))
    there = plan.size - len(SHARDS[0]) + after

    async def begin() -> None:
        arrived = asyncio.Event()
        download = Download(plan, access, patience=QUICK, durable_step=16 * 1024)
        hear = download._on_bytes

        def hear_and_look(count: int) -> None:
            hear(count)
            if download.progress.bytes_done >= there:
                arrived.set()

        download._on_bytes = hear_and_look
        task = asyncio.ensure_future(download.run())
        await arrived.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(begin())


def assert_not_usable(access: HubAccess) -> None:
    folder = RepoCache(access.cache, REPO).folder
    assert shelf.scan([access.cache], access.cache / "none") == []
    if folder.exists():
        with pytest.raises(ModelError):
            shelf.describe(folder)


def test_a_pause_repeats_nothing(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    interrupt(fake_hub, access, plan, after=100_001)
    assert_not_usable(access)
    assert RepoCache(access.cache, REPO).bytes_there(plan) == plan.size - len(SHARDS[0]) + 100_001
    folder = run(access, plan)
    assert contents(folder)[WEIGHTS] == SHARDS[0]
    assert {a.headers["Range"] for a in fake_hub.asked(WEIGHTS, host="cdn")} == {None, "bytes=100001-"}


class _LosesOneCancellation(httpx2.AsyncBaseTransport):
    """One file is silent, and the first to cancel that read gets its time-out, as with anyio before 4.16."""

    def __init__(self, silent: str) -> None:
        self._inner = httpx2.AsyncHTTPTransport()
        self._silent = silent
        self.has_lost = False
        self.is_asked = asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith(f"/{self._silent}"):
            return await self._inner.handle_async_request(request)
        self.is_asked.set()
        try:
            return await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if self.has_lost:
                raise
            self.has_lost = True
            raise httpx2.ReadTimeout("", request=request) from None

    async def aclose(self) -> None:
        await self._inner.aclose()


# The first file is fetched by the task that is cancelled, the others by tasks of their own.
@pytest.mark.parametrize("silent", ["config.json", WEIGHTS])
def test_a_pause_at_the_very_moment_of_a_time_out_is_a_pause(
    fake_hub: FakeHub, access: HubAccess, monkeypatch, silent: str
):
    plan = add_model(fake_hub, access)
    assert plan.files[0].path == "config.json"
    notes: set[str] = set()

    async def begin() -> None:
        transport = _LosesOneCancellation(silent)
        monkeypatch.setattr(download_module, "new_client", lambda _: httpx2.AsyncClient(transport=transport))
        download = Download(plan, access, lambda progress: notes.add(progress.note), patience=QUICK)
        task = asyncio.ensure_future(download.run())
        await transport.is_asked.wait()
        task.cancel()
        await asyncio.wait([task], timeout=20)
        assert transport.has_lost
        assert task.cancelled()

    asyncio.run(begin())
    assert notes == {""}, "it never thought of trying again"


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("wanted", [20, pytest.param(200, marks=pytest.mark.campaign)])
def test_kills_at_random_bytes(fake_hub: FakeHub, access: HubAccess, monkeypatch, wanted: int):
    """A kill closes files and does nothing else: no mark is written, no part is tidied."""
    step, kills = 16 * 1024, 0
    monkeypatch.setattr(PartFile, "pause", PartFile._close)
    # A process that is killed loses nothing that it wrote; only a power cut does. Waiting for the disk tests nothing.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None, raising=False)
    # Without the certificates, which take longer to read than the rest of a run.
    monkeypatch.setattr(download_module, "new_client", lambda _: httpx2.AsyncClient(verify=False, timeout=5))
    plan = add_model(fake_hub, access, SHARDS)
    chance = random.Random(6)
    received = 0
    while kills < wanted:
        left = chance.randrange(1, 400_000)

        def count(self: Download, size: int) -> None:
            nonlocal left, received
            received += size
            left -= size
            if left < 0:
                raise _Killed

        monkeypatch.setattr(Download, "_on_bytes", count)
        try:
            folder = run(access, plan, durable_step=step)
        except _Killed:
            kills += 1
            assert_not_usable(access)
            there = RepoCache(access.cache, REPO).bytes_there(plan)
            # What is lost is at most a step and a piece for each file that was open.
            assert received - there <= 3 * (step + 64 * 1024)
            received = there
            continue
        assert [contents(folder)[f"model-{n:05}-of-00003.safetensors"] for n in (1, 2, 3)] == SHARDS
        assert leftovers(access.cache) == []
        received = 0
        for path in sorted(RepoCache(access.cache, REPO).folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


def test_what_a_power_cut_leaves_is_not_believed(fake_hub: FakeHub, access: HubAccess):
    """The length of the file is on disk, its bytes behind the mark are not: they are zeros."""
    plan = add_model(fake_hub, access)
    interrupt(fake_hub, access, plan, after=200_000)
    blob = RepoCache(access.cache, REPO).blob(plan.files[-1])
    part, mark = (blob.with_name(blob.name + ending) for ending in (".incomplete", ".offset.incomplete"))
    assert (int(mark.read_bytes()), len(part.read_bytes())) == (200_000, 200_000)
    mark.write_text(f"{150_000:020}\n", encoding="ascii")
    part.write_bytes(part.read_bytes()[:150_000] + bytes(50_000))
    assert contents(run(access, plan))[WEIGHTS] == SHARDS[0]
    assert {a.headers["Range"] for a in fake_hub.asked(WEIGHTS, host="cdn")} == {None, "bytes=150000-"}


def test_a_kill_repeats_at_most_sixteen_megabytes():
    at_once = 64 * 1024  # what the network hands over in one piece
    assert PARALLEL_FILES * (DURABLE_STEP + at_once) <= 16 * 10**6


CHILD = """
import asyncio, json, sys
from pathlib import Path
from llama_gui.library.access import HubAccess
from llama_gui.library.download import Download
from llama_gui.library.plan import DownloadPlan
plan = DownloadPlan.from_json(json.loads(sys.argv[3]))
print("ready", flush=True)
tell = lambda progress: print(progress.bytes_done, flush=True)
asyncio.run(Download(plan, HubAccess(sys.argv[1], Path(sys.argv[2])), tell, durable_step=65536).run())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_is_killed_goes_on_where_it_was(fake_hub: FakeHub, access: HubAccess):
    fake_hub.bytes_per_second = 4e6
    weights = weights_file(random.Random(9).randbytes(4_000_000))
    plan = add_model(fake_hub, access, [weights])
    arguments = [sys.executable, "-c", CHILD, access.endpoint, str(access.cache), json.dumps(plan.as_json())]
    for goal in (500_000, 1_200_000, 2_500_000):
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        with child.stdout as lines:
            for line in lines:
                if line.strip().isdigit() and int(line) >= goal:
                    break
            child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        assert_not_usable(access)
        assert RepoCache(access.cache, REPO).bytes_there(plan) >= goal - 65536 - 64 * 1024
    fake_hub.bytes_per_second = None
    assert contents(run(access, plan))[WEIGHTS] == weights
    assert leftovers(access.cache) == []


def test_errors_are_ours(fake_hub: FakeHub, access: HubAccess):
    plan = add_model(fake_hub, access)
    nobody = HubAccess("http://127.0.0.1:9", access.cache)
    with pytest.raises(LlamaGuiError, match=r"could not be fetched from 127\.0\.0\.1"):
        run(nobody, plan)
