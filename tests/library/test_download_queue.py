"""The queue: one after another, paused, resumed, removed, and still there after the program ended."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llama_gui.library.access import HubAccess
from llama_gui.library.download import DownloadProgress
from llama_gui.library.download_queue import DownloadQueue, QueuedDownload, QueueTotals, totals
from llama_gui.library.hub import Hub
from llama_gui.library.hub_cache import RepoCache
from llama_gui.library.plan import DownloadPlan, RemoteFile
from llama_gui.library.transfer import Patience
from tests.fakes.fake_hub import FakeHub, Fault, model_files, weights_file

WEIGHTS = "model.safetensors"


def weights_of(repo: str) -> bytes:
    return weights_file(random.Random(repo).randbytes(200_000))


QUICK = Patience(attempts=3, first_wait=0.001, connect=10, silence=30)


class Watched:
    """A queue, and a way to wait for what it says."""

    def __init__(self, file: Path, access: HubAccess) -> None:
        self._changed = threading.Condition()
        self.queue = DownloadQueue(file, lambda: access, self._hear, patience=QUICK)

    def _hear(self, _: tuple[QueuedDownload, ...]) -> None:
        with self._changed:
            self._changed.notify_all()

    def item(self, item_id: int) -> QueuedDownload:
        return next(item for item in self.queue.items if item.id == item_id)

    def wait(self, is_so: Callable[[], Any]) -> None:
        with self._changed:
            assert self._changed.wait_for(is_so, 30), self.queue.items

    def wait_for(self, item_id: int, state: str) -> QueuedDownload:
        self.wait(lambda: self.item(item_id).state == state)
        return self.item(item_id)

    def wait_for_bytes(self, item_id: int, count: int) -> None:
        def is_so() -> bool:
            progress = self.item(item_id).progress
            return progress is not None and progress.bytes_done >= count

        self.wait(is_so)


@pytest.fixture
def open_queue(tmp_path: Path, access: HubAccess) -> Iterator[Callable[..., Watched]]:
    opened: list[Watched] = []

    def open_one(*, start: bool = True) -> Watched:
        watched = Watched(tmp_path / "data" / "downloads.json", access)
        opened.append(watched)
        if start:
            watched.queue.start()
        return watched

    yield open_one
    for watched in opened:
        watched.queue.close()


def plan_of(fake_hub: FakeHub, access: HubAccess, repo: str, **fields: Any) -> DownloadPlan:
    fake_hub.add(repo, model_files([weights_of(repo)]), **fields)
    return Hub(access).plan(repo)


def stalls(fake_hub: FakeHub) -> None:
    fake_hub.break_next(WEIGHTS, Fault("stall", at=100_000))


def is_clean(access: HubAccess, plan: DownloadPlan) -> bool:
    return not RepoCache(access.cache, plan.repo).folder.exists()


def test_one_after_another(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue()
    ids = [watched.queue.add(plan_of(fake_hub, access, repo)) for repo in ("a/one", "a/two")]
    for item_id in ids:
        item = watched.wait_for(item_id, "finished")
        assert Path(item.folder, WEIGHTS).read_bytes() == weights_of(item.plan.repo)
    asked = [asked.path.split("/")[2] for asked in fake_hub.asked(WEIGHTS, host="cdn")]
    assert asked == ["one", "two"]


def test_pause_and_resume_repeat_nothing(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue()
    stalls(fake_hub)
    plan = plan_of(fake_hub, access, "a/one")
    item_id = watched.queue.add(plan)
    watched.wait_for_bytes(item_id, 100_000)
    watched.queue.pause(item_id)
    watched.wait_for(item_id, "paused")
    watched.queue.resume(item_id)
    watched.wait_for(item_id, "finished")
    assert {a.headers["Range"] for a in fake_hub.asked(WEIGHTS, host="cdn")} == {None, "bytes=100000-"}


def test_a_paused_one_lets_the_next_run(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue()
    stalls(fake_hub)
    first = watched.queue.add(plan_of(fake_hub, access, "a/one"))
    second = watched.queue.add(plan_of(fake_hub, access, "a/two"))
    watched.wait_for_bytes(first, 100_000)
    watched.queue.pause(first)
    watched.wait_for(second, "finished")
    assert watched.item(first).state == "paused"


def test_removing_leaves_nothing(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue()
    stalls(fake_hub)
    plan = plan_of(fake_hub, access, "a/one")
    item_id = watched.queue.add(plan)
    watched.wait_for_bytes(item_id, 100_000)
    watched.queue.remove(item_id)
    watched.wait(lambda: is_clean(access, plan))
    assert watched.queue.items == ()


def test_removing_a_finished_one_keeps_the_model(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue()
    item_id = watched.queue.add(plan_of(fake_hub, access, "a/one"))
    folder = watched.wait_for(item_id, "finished").folder
    watched.queue.remove(item_id)
    assert Path(folder, WEIGHTS).is_file()


def test_the_end_of_the_program_is_a_pause(fake_hub: FakeHub, access: HubAccess, open_queue):
    first = open_queue()
    stalls(fake_hub)
    running = first.queue.add(plan_of(fake_hub, access, "a/one"))
    paused = first.queue.add(plan_of(fake_hub, access, "a/two"))
    first.queue.pause(paused)
    first.wait_for_bytes(running, 100_000)
    first.queue.close()

    second = open_queue(start=False)
    assert [(i.id, i.state) for i in second.queue.items] == [(running, "waiting"), (paused, "paused")]
    fake_hub.add("a/one", model_files([b"moved on"]))
    second.queue.start()
    folder = second.wait_for(running, "finished").folder
    assert Path(folder, WEIGHTS).read_bytes() == weights_of("a/one"), "the revision that was begun"
    assert "bytes=100000-" in {a.headers["Range"] for a in fake_hub.asked(WEIGHTS, host="cdn")}


def test_the_thread_may_end_while_it_is_closed(fake_hub: FakeHub, access: HubAccess, open_queue, tmp_path, monkeypatch):
    queue = open_queue().queue
    plan = plan_of(fake_hub, access, "owner/a")
    is_alive = queue._thread.is_alive

    def alive_a_moment_ago() -> bool:
        was_alive = is_alive()
        queue._loop.call_soon_threadsafe(queue._wake.set)
        queue._thread.join()
        with queue._lock:
            queue._items[1] = QueuedDownload(1, plan)
        return was_alive

    monkeypatch.setattr(queue._thread, "is_alive", alive_a_moment_ago)
    queue.close()
    assert "owner/a" in (tmp_path / "data" / "downloads.json").read_text("utf-8")
    monkeypatch.undo()


def test_a_failure_is_told_and_the_next_runs(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue()
    bad = watched.queue.add(plan_of(fake_hub, access, "a/gated", gated="manual", token="t"))
    good = watched.queue.add(plan_of(fake_hub, access, "a/two"))
    watched.wait_for(good, "finished")
    failed = watched.item(bad)
    assert failed.state == "failed"
    assert "accept its licence" in failed.problem
    assert failed.page == f"{access.endpoint}/a/gated"
    fake_hub.heads["a/gated"].gated = False
    watched.queue.resume(bad)
    assert watched.wait_for(bad, "finished").problem == ""


def test_a_safe_that_fails_ends_its_own_download_only(tmp_path: Path, fake_hub: FakeHub, access: HubAccess, open_queue):
    broken = [RuntimeError("the safe is locked")]

    def ask_the_safe() -> HubAccess:
        if broken:
            raise broken.pop()
        return access

    watched = open_queue(start=False)
    watched.queue._access = ask_the_safe
    ids = [watched.queue.add(plan_of(fake_hub, access, repo)) for repo in ("a/one", "a/two")]
    watched.queue.start()
    assert "the safe is locked" in watched.wait_for(ids[0], "failed").problem
    watched.wait_for(ids[1], "finished")


def test_the_same_model_is_queued_once(fake_hub: FakeHub, access: HubAccess, open_queue):
    watched = open_queue(start=False)
    plan = plan_of(fake_hub, access, "a/one")
    assert watched.queue.add(plan) == watched.queue.add(plan)
    assert len(watched.queue.items) == 1


def test_pausing_and_resuming_a_hundred_times_does_no_harm(fake_hub: FakeHub, access: HubAccess, open_queue):
    fake_hub.bytes_per_second = 2e6
    watched = open_queue()
    item_id = watched.queue.add(plan_of(fake_hub, access, "a/one"))
    for _ in range(100):
        watched.queue.pause(item_id)
        watched.queue.resume(item_id)
    item = watched.wait_for(item_id, "finished")
    assert Path(item.folder, WEIGHTS).read_bytes() == weights_of("a/one")
    assert item.progress is not None
    assert item.progress.bytes_done == item.plan.size


@pytest.mark.parametrize(
    "content",
    [b"", b"[", b"\xff", b'{"downloads": [1]}', b'{"downloads": [{"id": 1, "state": "odd"}]}', b"[" * 100_000],
)
def test_a_damaged_list_is_set_aside(tmp_path: Path, access: HubAccess, open_queue, content: bytes):
    file = tmp_path / "data" / "downloads.json"
    file.parent.mkdir()
    file.write_bytes(content)
    watched = open_queue(start=False)
    assert watched.queue.items == ()
    assert "set aside" in watched.queue.problem
    assert file.with_name("downloads.json.broken").read_bytes() == content
    watched.queue.remove(1)  # saves, and all is well with that
    assert "set aside" in watched.queue.problem


def test_a_damaged_entry_costs_no_other(tmp_path: Path, fake_hub: FakeHub, access: HubAccess, open_queue):
    plan = plan_of(fake_hub, access, "a/one")
    open_queue(start=False).queue.add(plan)
    file = tmp_path / "data" / "downloads.json"
    written = json.loads(file.read_bytes())
    written["downloads"].insert(0, {"repo": "a/odd"})
    file.write_text(json.dumps(written), encoding="utf-8")
    watched = open_queue(start=False)
    assert [item.plan for item in watched.queue.items] == [plan]
    assert "is damaged and was set aside" in watched.queue.problem
    assert [entry["repo"] for entry in json.loads(file.read_bytes())["downloads"]] == ["a/one"]


def test_a_list_that_cannot_be_read_is_not_written_over(tmp_path: Path, open_queue, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "data" / "downloads.json"
    file.parent.mkdir()
    file.write_bytes(b"kept")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        watched = open_queue(start=False)
    watched.queue.remove(1)
    assert "cannot be read (Permission denied)" in watched.queue.problem
    assert file.with_name("downloads.json.broken").read_bytes() == b"kept"


def test_a_list_that_cannot_be_kept_is_told(tmp_path: Path, fake_hub: FakeHub, access: HubAccess, open_queue):
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    watched = open_queue()
    item_id = watched.queue.add(plan_of(fake_hub, access, "a/one"))
    watched.wait_for(item_id, "finished")
    assert "cannot be written" in watched.queue.problem


def test_the_totals_are_of_what_is_still_to_do():
    plan = DownloadPlan("a/b", "main", "c" * 40, (RemoteFile("m.gguf", 100, "d" * 64),))
    running = DownloadProgress("a/b", "downloading", 40, 100, 7.0)
    items = [
        QueuedDownload(1, plan, "running", progress=running),
        QueuedDownload(2, plan, "waiting"),
        QueuedDownload(3, plan, "paused", progress=running),
        QueuedDownload(4, plan, "finished", progress=running),
    ]
    assert totals(items) == QueueTotals(2, 40, 200, 7.0)
    assert totals([]) == QueueTotals(0, 0, 0, 0)
