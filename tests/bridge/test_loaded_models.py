"""Several models at once: each request to its own, room, other options, time, cancelled and broken loads."""

import threading
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.load_order import LoadOrder
from llama_gui.bridge.loaded_models import LARGE_BYTES
from llama_gui.errors import BrokenModelError
from llama_gui.vocabulary import EngineStats, LoadOptions, LoadProgress
from tests.bridge.test_engine_host import Watch, asking
from tests.fakes.scripted_engine import ScriptedEngine, ScriptedJob


class Heavy(ScriptedEngine):
    """Takes so many bytes; the script is its own name, so that one sees who has answered."""

    def __init__(self, shelf: "Shelf", name: str, weights: int, **options) -> None:
        super().__init__({text: [name, "!", "!"] for text in ("Hi", "slow")}, name=name, **options)
        self._shelf = shelf
        self._weights = weights

    def stats(self) -> EngineStats:
        return replace(super().stats(), weight_bytes=self._weights)

    def close(self) -> None:
        super().close()
        self._shelf.taken.pop(self.info.name, None)


class Shelf:
    """A loader in which every model has a size, and the machine so many bytes."""

    def __init__(self, total: int = 100, sizes: dict[str, int] | None = None) -> None:
        self.total = total
        self.sizes = sizes or {}
        self.taken: dict[str, int] = {}
        self.orders: list[LoadOrder] = []
        self.engines: dict[str, Heavy] = {}
        self.gates: dict[str, threading.Event] = {}
        self.broken: set[str] = set()
        self.options: dict[str, object] = {"hang_at": 1, "hang_on": ["slow"]}

    def free(self) -> int:
        return self.total - sum(self.taken.values())

    def __call__(self, order: LoadOrder) -> ScriptedEngine:
        self.orders.append(order)
        key, size = order.key, self.sizes.get(order.key, 10)
        order.make_room(size, self.free)
        order.tell(LoadProgress(1, 2))
        gate = self.gates.get(key)
        while gate is not None and not gate.wait(0.01):
            order.check()
        if key in self.broken:
            raise BrokenModelError(f"{key} is broken.")
        name = f"{key}.{order.options.dtype}"
        self.taken[name] = size
        self.engines[key] = Heavy(self, name, size, **self.options)
        return self.engines[key]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def host(qtbot: QtBot, shelf: Shelf):
    host = EngineHost(shelf)
    yield host
    assert host.shutdown()


def finish(qtbot: QtBot, watch: Watch, *tickets: int) -> list[str]:
    qtbot.waitUntil(lambda: set(tickets) <= set(watch.results))
    return [watch.texts[ticket] for ticket in tickets]


def test_each_request_goes_to_the_model_that_it_names(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    watch = Watch(host)
    tickets = [host.submit(asking("Hi"), key) for key in ("a", "b", "a")]
    assert [host.awaited(ticket) for ticket in tickets] == ["a", "b", "a"]
    assert finish(qtbot, watch, *tickets) == ["a.auto!!", "b.auto!!", "a.auto!!"]
    assert sorted(order.key for order in shelf.orders) == ["a", "b"]
    assert host.current == ""
    host.load("b")
    assert host.current == "b"
    assert finish(qtbot, watch, host.submit(asking("Hi"))) == ["b.auto!!"]


def test_who_takes_a_ticket_is_known_while_it_runs(qtbot: QtBot, host: EngineHost):
    watch = Watch(host)
    ticket = host.submit(asking("slow"), "a")
    assert host.info_for(ticket) is None
    qtbot.waitUntil(lambda: ticket in watch.texts)
    info = host.info_for(ticket)
    assert info is not None
    assert info.name == "a.auto"
    assert (host.awaited(ticket), host.answers_of("a")) == ("", 1)


def test_the_idle_model_that_was_used_longest_ago_makes_room(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 25
    watch = Watch(host)
    for key in ("a", "b", "a", "c"):
        finish(qtbot, watch, host.submit(asking("Hi"), key))
    assert set(shelf.taken) == {"a.auto", "c.auto"}
    assert host.models.loaded_keys() == ["c", "a"]
    assert finish(qtbot, watch, host.submit(asking("Hi"), "b")) == ["b.auto!!"]


def test_two_idle_models_go_where_one_is_not_enough(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total, shelf.sizes["large"] = 25, 25
    watch = Watch(host)
    finish(qtbot, watch, *(host.submit(asking("Hi"), key) for key in ("a", "b")))
    assert finish(qtbot, watch, host.submit(asking("Hi"), "large")) == ["large.auto!!"]
    assert set(shelf.taken) == {"large.auto"}


def test_a_load_waits_for_the_end_of_an_answer_when_memory_is_short(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 15
    watch = Watch(host)
    busy = host.submit(asking("slow"), "a")
    qtbot.waitUntil(lambda: busy in watch.texts)
    with qtbot.waitSignal(host.models.short) as caught:
        waits = host.submit(asking("Hi"), "b")
    assert (caught.args[0].needed, caught.args[0].available) == (10, 5)
    assert host.models.state_of("b") == "short"
    assert watch.texts[busy] == "a.auto"
    host.cancel(busy)
    assert finish(qtbot, watch, waits) == ["b.auto!!"]
    assert set(shelf.taken) == {"b.auto"}


def test_a_model_that_is_only_prepared_makes_nobody_go(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 25
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    with qtbot.waitSignal(host.loaded):
        host.models.prepare("b")
    told: list[str] = []
    host.load_cancelled.connect(told.append)
    host.models.prepare("c")
    qtbot.waitUntil(lambda: host.models.state_of("c") == "absent")
    assert set(shelf.taken) == {"a.auto", "b.auto"}
    assert told == []
    assert finish(qtbot, watch, host.submit(asking("Hi"), "c")) == ["c.auto!!"]


def test_a_model_that_is_only_prepared_stays_the_current_one(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    """Chats without a model of their own would ask another one."""
    shelf.total = 25
    watch = Watch(host)
    for key in ("a", "b"):
        with qtbot.waitSignal(host.loaded):
            host.load(key)
    host.models.unload("b")
    qtbot.waitUntil(lambda: set(shelf.taken) == {"a.auto"})
    finish(qtbot, watch, host.submit(asking("Hi"), "c"))
    assert host.current == "b"
    host.models.prepare("b")
    qtbot.waitUntil(lambda: host.models.state_of("b") == "absent")
    assert host.current == "b"


def test_a_load_that_is_given_up_later_does_not_bring_an_older_model_back(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    for key in ("a", "b"):
        with qtbot.waitSignal(host.loaded):
            host.load(key)
    host.models.unload("b")
    qtbot.waitUntil(lambda: "b.auto" not in shelf.taken)
    shelf.gates["b"] = threading.Event()
    host.models.load("b")
    host.models.cancel("b")
    assert host.current == "b"


def test_a_model_that_is_being_prepared_takes_room_when_it_is_asked(
    qtbot: QtBot, host: EngineHost, shelf: Shelf, monkeypatch
):
    shelf.total = 15
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    asked = threading.Event()
    make_room = LoadOrder.make_room

    def make_room_later(order: LoadOrder, *needs) -> None:
        asked.wait(20)
        make_room(order, *needs)

    monkeypatch.setattr(LoadOrder, "make_room", make_room_later)
    host.models.prepare("b")
    ticket = host.submit(asking("Hi"), "b")
    asked.set()
    assert finish(qtbot, watch, ticket) == ["b.auto!!"]
    assert set(shelf.taken) == {"b.auto"}


def test_what_is_broken_is_not_prepared_again(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.broken.add("a")
    with qtbot.waitSignal(host.load_failed):
        host.models.prepare("a")
    host.models.prepare("a")
    assert host.models.state_of("a") == "failed"
    assert len(shelf.orders) == 1


def test_a_load_that_waits_for_room_can_be_cancelled(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 15
    watch = Watch(host)
    busy = host.submit(asking("slow"), "a")
    qtbot.waitUntil(lambda: busy in watch.texts)
    with qtbot.waitSignal(host.models.short):
        waits = host.submit(asking("Hi"), "b")
    host.models.cancel("b")
    assert "cancelled" in watch.refused[waits]
    assert host.models.state_of("b") == "absent"
    assert host.models.state_of("a") == "ready"


def test_what_never_fits_is_refused_with_the_numbers(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.sizes["huge"] = 3_000_000_000
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    with qtbot.waitSignal(host.load_failed) as caught:
        ticket = host.submit(asking("Hi"), "huge")
    assert caught.args[0] == "huge"
    assert "needs 3.0 GB of memory" in watch.refused[ticket]


def test_other_options_load_it_anew_and_its_answers_finish_first(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    watch = Watch(host)
    running = host.submit(asking("slow"), "a")
    qtbot.waitUntil(lambda: running in watch.texts)
    former = shelf.engines["a"]
    with qtbot.waitSignal(host.loaded):
        host.reload("a", LoadOptions("int8"))
        later = host.submit(asking("Hi"), "a")
    assert finish(qtbot, watch, later) == ["a.int8!!"]
    assert watch.texts[running] == "a.auto"
    assert not former.is_closed
    host.cancel(running)
    qtbot.waitUntil(lambda: former.is_closed and running in watch.results)
    assert watch.results[running].finish_reason == "cancelled"
    host.reload("a", LoadOptions("int8"))
    assert host.models.state_of("a") == "ready"
    assert len(shelf.orders) == 2


def test_going_back_to_what_is_loaded_loads_nothing(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    shelf.gates["a"] = threading.Event()
    host.reload("a", LoadOptions("int4"))
    waits = host.submit(asking("Hi"), "a")
    assert host.models.state_of("a") == "loading"
    with qtbot.waitSignal(host.load_cancelled):
        host.reload("a", LoadOptions())
    assert host.models.state_of("a") == "ready"
    assert finish(qtbot, watch, waits) == ["a.auto!!"]
    assert [order.options.dtype for order in shelf.orders] == ["auto", "int4"]
    qtbot.waitUntil(lambda: len(host.models._threads) == 1)


def test_other_options_that_fail_leave_it_as_it_was(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    shelf.broken.add("a")
    with qtbot.waitSignal(host.load_failed):
        host.reload("a", LoadOptions("int4"))
        waits = host.submit(asking("Hi"), "a")
    assert finish(qtbot, watch, waits) == ["a.auto!!"]
    assert host.models.options_of("a") == LoadOptions()
    assert host.models.state_of("a") == "ready"
    host.models.unload("a")
    assert host.models.state_of("a") == "absent"  # it can be had as it was


def test_a_wish_of_a_load_that_was_given_up_makes_nobody_go(qtbot: QtBot, host: EngineHost, shelf: Shelf, monkeypatch):
    shelf.total, shelf.sizes = 15, {"b": 10}
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    asked = threading.Event()
    free = shelf.free

    def asks() -> int:
        asked.set()
        return free()

    monkeypatch.setattr(shelf, "free", asks)
    host.models.load("b")
    assert asked.wait(20)  # its wish comes to the event loop, which nobody runs here
    shelf.sizes["b"] = 5
    host.reload("b", LoadOptions("int4"))
    assert finish(qtbot, watch, host.submit(asking("Hi"), "b")) == ["b.int4!!"]
    assert set(host.models.loaded_keys()) == {"a", "b"}


def test_options_of_a_model_that_is_not_there_are_for_the_next_time(qtbot: QtBot, host: EngineHost):
    host.reload("a", LoadOptions("float32"))
    assert host.models.state_of("a") == "absent"
    watch = Watch(host)
    assert finish(qtbot, watch, host.submit(asking("Hi"), "a")) == ["a.float32!!"]


def test_a_load_is_cancelled_and_what_it_was_for_is_refused(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.gates["b"] = threading.Event()
    host.load("a")
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    progress: list[LoadProgress] = []
    host.models.progressed.connect(lambda _key, item: progress.append(item))
    host.load("b")
    ticket = host.submit(asking("Hi"), "b")
    qtbot.waitUntil(lambda: progress == [LoadProgress(1, 2)])
    with qtbot.waitSignal(host.load_cancelled) as caught:
        host.models.cancel("b")
    assert caught.args == ["b"]
    assert "cancelled" in watch.refused[ticket]
    assert (host.current, host.state) == ("a", "ready")
    qtbot.waitUntil(lambda: len(host.models._threads) == 1)
    del shelf.gates["b"]
    assert finish(qtbot, watch, host.submit(asking("Hi"), "b")) == ["b.auto!!"]


def test_a_model_is_unloaded_and_comes_back_when_it_is_asked(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    host.load("a")
    watch = Watch(host)
    running = host.submit(asking("slow"), "a")
    qtbot.waitUntil(lambda: running in watch.texts)
    host.models.unload("a")
    assert host.models.state_of("a") == "absent"
    qtbot.waitUntil(lambda: not shelf.taken and running in watch.results)
    assert watch.results[running].finish_reason == "cancelled"
    assert finish(qtbot, watch, host.submit(asking("Hi"))) == ["a.auto!!"]


def test_large_models_go_when_nobody_has_asked_them_for_long(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 10 * LARGE_BYTES
    shelf.sizes = {"large": LARGE_BYTES, "busy": LARGE_BYTES}
    watch = Watch(host)
    finish(qtbot, watch, *(host.submit(asking("Hi"), key) for key in ("large", "small")))
    running = host.submit(asking("slow"), "busy")
    qtbot.waitUntil(lambda: running in watch.texts)
    assert not host.models._sweep.isActive()
    host.models.unload_after(30)
    assert host.models._sweep.isActive()
    used = host.models._models["large"].used
    host.models.unload_unused(used + 1799)
    assert set(host.models.loaded_keys()) == {"large", "small", "busy"}
    host.models.unload_unused(used + 1801)
    assert set(host.models.loaded_keys()) == {"small", "busy"}
    host.models.unload_after(0)
    host.models.unload_unused(used + 10**9)
    assert "busy" in host.models.loaded_keys()
    assert not host.models._sweep.isActive()


def test_a_model_that_breaks_disturbs_no_other(qtbot: QtBot, host: EngineHost, shelf: Shelf, monkeypatch):
    watch = Watch(host)
    finish(qtbot, watch, *(host.submit(asking("Hi"), key) for key in ("a", "b")))

    announced = threading.Event()
    host.submitted.connect(lambda _ticket: announced.set())

    def stumble(_job: ScriptedJob) -> None:
        announced.wait(20)  # one that breaks before that has refused the request: there is no answer to end
        raise MemoryError("out of memory")

    monkeypatch.setattr(shelf.engines["a"], "_step", stumble)
    with qtbot.waitSignal(host.load_failed) as caught:
        ticket = host.submit(asking("Hi"), "a")
    assert caught.args[0] == "a"
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert watch.results[ticket].finish_reason == "error"
    assert host.models.state_of("a") == "failed"
    assert finish(qtbot, watch, host.submit(asking("Hi"), "b")) == ["b.auto!!"]
    assert finish(qtbot, watch, host.submit(asking("Hi"), "a")) == ["a.auto!!"]  # it is loaded again


def test_closing_ends_loads_that_wait_for_room(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 15
    watch = Watch(host)
    busy = host.submit(asking("slow"), "a")
    qtbot.waitUntil(lambda: busy in watch.texts)
    with qtbot.waitSignal(host.models.short):
        host.submit(asking("Hi"), "b")
    assert host.shutdown()
    assert not shelf.taken


def test_recipes_find_their_model(qtbot: QtBot, host: EngineHost, tmp_path):
    watch = Watch(host)
    finish(qtbot, watch, host.submit(asking("Hi"), "a"))
    assert host.key_of("/models/a.auto") == "a"
    assert host.key_of(str(tmp_path)) == str(tmp_path)
    assert host.key_of("/nowhere") == ""
    assert host.key_of("") == ""


def test_a_model_for_embeddings_makes_room_first(qtbot: QtBot, host: EngineHost, shelf: Shelf):
    shelf.total = 25
    watch = Watch(host)
    for key in ("a", "b"):
        finish(qtbot, watch, host.submit(asking("Hi"), key))
    shelf.engines["b"].info = replace(shelf.engines["b"].info, embeds=True)
    finish(qtbot, watch, host.submit(asking("Hi"), "c"))
    assert set(shelf.taken) == {"a.auto", "c.auto"}
