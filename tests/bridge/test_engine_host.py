"""The host: loading, requests, frames, end; with a scripted engine."""

import subprocess
import sys
import threading

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import error_text
from llama_gui.bridge.frames import Frame
from llama_gui.bridge.load_order import LoadOrder
from llama_gui.errors import BrokenModelError
from llama_gui.vocabulary import EngineStats, GenerateRequest, GenerateResult, Message
from tests.bridge.conftest import MakeHost
from tests.fakes.scripted_engine import ScriptedEngine, ScriptedJob


def asking(text: str) -> GenerateRequest:
    return GenerateRequest(messages=[Message("user", text)])


class Watch:
    """All that a host has said. Its methods are called directly, so they note the thread of the emitter."""

    def __init__(self, host: EngineHost) -> None:
        self.host = host
        self.frames: list[Frame] = []
        self.results: dict[int, GenerateResult] = {}
        self.texts: dict[int, str] = {}
        self.order: list[tuple[str, int]] = []
        self.refused: dict[int, str] = {}
        self.withdrawn: list[int] = []
        self.threads: set[int] = set()
        host.frame.connect(self.on_frame)
        host.submitted.connect(lambda ticket: self.order.append(("submitted", ticket)))
        host.submit_failed.connect(lambda ticket, error: self.refused.__setitem__(ticket, error_text(error)))
        host.withdrawn.connect(self.withdrawn.append)

    def on_frame(self, frame: Frame) -> None:
        self.threads.add(threading.get_ident())
        self.frames.append(frame)
        for item in frame.items:
            self.order.append(("text", item.ticket))
            self.texts[item.ticket] = self.texts.get(item.ticket, "") + item.text
        for item in frame.finished:
            self.results[item.ticket] = item.result


def test_nothing_of_the_engine_is_imported_with_the_bridge():
    code = (
        "import sys, llama_gui.bridge.engine_host, llama_gui.bridge.chat_book, llama_gui.bridge.item_models;"
        "bad = {'torch', 'tokenizers', 'llama_gui.engine', 'PySide6.QtWidgets'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_loading_happens_in_another_thread_and_tells(qtbot: QtBot, make_host: MakeHost):
    engine = ScriptedEngine()
    host = make_host(engine, load=False)
    assert host.state == "empty"
    loading: list[str] = []
    host.models.loading.connect(loading.append)
    with qtbot.waitSignal(host.loaded) as blocker:
        host.load("/models/scripted")
        assert host.state == "loading"
    assert loading == ["/models/scripted"]
    assert blocker.args == ["/models/scripted", engine.info]
    assert host.state == "ready"
    assert host.info == engine.info
    qtbot.waitUntil(lambda: bool(engine.threads))
    assert threading.get_ident() not in engine.threads


def test_an_answer_arrives_whole_here_and_after_submitted(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine({"Hi": [f"w{n} " for n in range(500)]}))
    watch = Watch(host)
    ticket = host.submit(asking("Hi"))
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert watch.texts[ticket] == "".join(f"w{n} " for n in range(500))
    assert watch.results[ticket].finish_reason == "stop"
    assert watch.threads == {threading.get_ident()}
    assert watch.order[0] == ("submitted", ticket)
    assert watch.order.count(("submitted", ticket)) == 1


def test_many_tokens_make_few_frames(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine({text: ["x"] * 400 for text in "abc"}))
    watch = Watch(host)
    tickets = [host.submit(asking(text)) for text in "abc"]
    qtbot.waitUntil(lambda: set(watch.results) == set(tickets))
    tokens = sum(len(item.token_ids) for frame in watch.frames for item in frame.items)
    assert tokens == 1200
    assert len(watch.frames) < tokens
    for frame in watch.frames:
        shown = [item.ticket for item in frame.items]
        assert len(shown) == len(set(shown))
    assert any(len(frame.items) == 3 for frame in watch.frames)


def test_a_burst_that_is_there_at_once_is_one_frame(qtbot: QtBot, make_host: MakeHost):
    all_drawn = threading.Event()

    class Burst(ScriptedEngine):
        def run(self) -> None:
            while not self._stopped.wait(0.001):
                for job in list(self._jobs):
                    while job.state != "finished":
                        job.step(None, None)
                    all_drawn.set()
                self._jobs.clear()

    host = make_host(Burst({"Hi": ["x"] * 1000}))
    watch = Watch(host)
    ticket = host.submit(asking("Hi"))
    assert all_drawn.wait(20)  # this thread turns no event loop meanwhile, as when it is busy painting
    assert watch.frames == []
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert [len(item.token_ids) for frame in watch.frames for item in frame.items] == [1000]


def test_one_is_cancelled_alone(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine({"a": ["a"] * 5, "b": ["b"] * 5, "c": ["c"] * 5}, hang_at=3, hang_on=["b"]))
    watch = Watch(host)
    a, b, c = (host.submit(asking(text)) for text in "abc")
    qtbot.waitUntil(lambda: {a, c} <= set(watch.results) and watch.texts.get(b) == "bbb")
    assert b not in watch.results
    host.cancel(b)
    qtbot.waitUntil(lambda: b in watch.results)
    assert watch.results[b].finish_reason == "cancelled"
    assert watch.texts == {a: "aaaaa", b: "bbb", c: "ccccc"}
    host.cancel(b)  # it has ended: nothing happens
    host.cancel(999)


def test_a_request_waits_for_the_model_that_loads(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine(), load=False)
    watch = Watch(host)
    host.load("/models/scripted")
    ticket = host.submit(asking("hello there"))
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert watch.texts[ticket] == "hello there"


def test_a_waiting_request_can_be_withdrawn(qtbot: QtBot, make_host: MakeHost):
    engine = ScriptedEngine()
    host = make_host(engine, load=False)
    watch = Watch(host)
    with qtbot.waitSignal(host.loaded):
        host.load("/models/scripted")
        ticket = host.submit(asking("hello"))
        host.cancel(ticket)
    other = host.submit(asking("other"))
    qtbot.waitUntil(lambda: other in watch.results)
    assert watch.withdrawn == [ticket]
    assert len(engine.requests) == 1


def test_without_a_model_a_request_is_refused_after_its_ticket(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine(), load=False)
    watch = Watch(host)
    ticket = host.submit(asking("hello"))
    assert watch.refused == {}
    qtbot.waitUntil(lambda: ticket in watch.refused)
    assert watch.refused[ticket] == "No model is open."


def test_a_failed_load_says_why_and_fails_what_waited(qtbot: QtBot, make_host: MakeHost):
    host = make_host(BrokenModelError("model.safetensors is cut short."), load=False)
    watch = Watch(host)
    with qtbot.waitSignal(host.load_failed) as blocker:
        host.load("/models/broken")
        ticket = host.submit(asking("hello"))
    assert blocker.args == ["/models/broken", "model.safetensors is cut short."]
    assert host.state == "failed"
    assert host.info is None
    qtbot.waitUntil(lambda: ticket in watch.refused)
    assert "model.safetensors is cut short." in watch.refused[ticket]


def test_a_fault_of_ours_in_loading_is_called_that(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ZeroDivisionError("division by zero"), load=False)
    with qtbot.waitSignal(host.load_failed) as blocker:
        host.load("/models/x")
    assert "inside llama-gui" in (blocker.args or [])[1]
    assert "division by zero" in (blocker.args or [])[1]


def test_after_a_failed_load_the_former_model_answers_on(qtbot: QtBot, make_host: MakeHost):
    engine = ScriptedEngine({"slow": ["x"] * 3}, hang_at=2, hang_on=["slow"])
    host = make_host(engine, BrokenModelError("It is broken."))
    watch = Watch(host)
    running = host.submit(asking("slow"))
    with qtbot.waitSignal(host.load_failed):
        host.load("/models/broken")
        waited = host.submit(asking("while loading"))
    assert host.state == "ready"
    assert host.info == engine.info
    qtbot.waitUntil(lambda: waited in watch.results)
    assert watch.texts[waited] == "while loading"
    assert running not in watch.results
    assert not engine.is_closed


def test_a_new_model_becomes_current_and_the_former_answers_on(qtbot: QtBot, make_host: MakeHost):
    former = ScriptedEngine(hang_at=1, name="Former")
    host = make_host(former, ScriptedEngine(name="New"))
    watch = Watch(host)
    running = host.submit(asking("a b c"))
    qtbot.waitUntil(lambda: watch.texts.get(running) == "a")
    with qtbot.waitSignal(host.loaded):
        host.load("/models/new")
        assert host.current == "/models/scripted"
    assert host.current == "/models/new"
    assert host.info is not None
    assert host.info.name == "New"
    ticket = host.submit(asking("d e"))
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert watch.texts[ticket] == "d e"
    assert running not in watch.results
    assert not former.is_closed


def test_the_load_that_was_asked_for_last_becomes_current(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine(name="First"), ScriptedEngine(name="Second"), ScriptedEngine(name="Third"))
    loaded: list[str] = []
    host.loaded.connect(lambda key, _info: loaded.append(key))
    host.load("/models/second")
    host.load("/models/third")
    qtbot.waitUntil(lambda: len(loaded) == 2)
    assert host.current == "/models/third"


def test_a_request_that_the_engine_refuses_says_why(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine(max_context=3))
    watch = Watch(host)
    ticket = host.submit(asking("one two three four"))
    qtbot.waitUntil(lambda: ticket in watch.refused)
    assert "4 tokens long" in watch.refused[ticket]


def test_a_failure_in_flight_is_a_result_with_its_error(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine({"Hi": ["a", "b", "c"]}, fail_at=2))
    watch = Watch(host)
    ticket = host.submit(asking("Hi"))
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert watch.results[ticket].finish_reason == "error"
    assert watch.texts[ticket] == "ab"


def test_a_loop_that_breaks_ends_its_answers_and_is_told(qtbot: QtBot, make_host: MakeHost):
    class Breaking(ScriptedEngine):
        def _step(self, job: ScriptedJob) -> None:
            super()._step(job)
            raise MemoryError("out of memory")

    host = make_host(Breaking({"Hi": ["a", "b"]}))
    watch = Watch(host)
    with qtbot.waitSignal(host.load_failed):
        ticket = host.submit(asking("Hi"))
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert watch.results[ticket].finish_reason == "error"
    assert "out of memory" in str(watch.results[ticket].error)
    assert host.state == "failed"


def test_progress_and_stats_come_while_it_runs_and_stats_once_more_at_rest(qtbot: QtBot, make_host: MakeHost):
    host = make_host(ScriptedEngine({"Hi": ["a", "b"]}, hang_at=1))
    watch = Watch(host)
    stats: list[EngineStats] = []
    host.stats_changed.connect(lambda _key, news: stats.append(news))
    ticket = host.submit(asking("Hi"))
    qtbot.waitUntil(lambda: any(frame.progress for frame in watch.frames))
    qtbot.waitUntil(lambda: bool(stats))
    item = next(item for frame in watch.frames for item in frame.progress)
    assert item.ticket == ticket
    assert item.progress.prompt_tokens == 1
    stats.clear()
    host.cancel(ticket)
    qtbot.waitUntil(lambda: bool(stats) and ticket in watch.results)
    assert not host._stats_timer.isActive()
    assert not host._tickets._progress_timer.isActive()


def test_shutdown_in_the_middle_ends_all_and_shows_the_last_frame(qtbot: QtBot, make_host: MakeHost):
    engine = ScriptedEngine(hang_at=1)
    host = make_host(engine)
    watch = Watch(host)
    tickets = [host.submit(asking(f"question {n}")) for n in range(3)]
    qtbot.waitUntil(lambda: len(watch.texts) == 3)
    assert host.shutdown(3000)
    assert set(watch.results) == set(tickets)
    assert {result.finish_reason for result in watch.results.values()} == {"cancelled"}
    assert engine.is_closed
    assert host.shutdown(3000)
    late = host.submit(asking("late"))
    qtbot.waitUntil(lambda: late in watch.refused)


def test_shutdown_while_loading_waits_no_longer_than_told(qtbot: QtBot):
    gate = threading.Event()
    engine = ScriptedEngine()

    def load(_order: LoadOrder) -> ScriptedEngine:
        gate.wait()
        return engine

    host = EngineHost(load)
    host.load("/models/slow")
    assert not host.shutdown(20)
    gate.set()
    assert host.shutdown(3000)
    assert engine.is_closed
    assert engine.threads == set()  # it was never run


def test_the_event_loop_turns_while_a_model_loads_and_a_prompt_is_read(qtbot: QtBot):
    """Both wait for a timer of this thread: if they held it up, they would wait for ever."""
    ticks = [threading.Event(), threading.Event()]

    class SlowToRead(ScriptedEngine):
        def submit(self, request, on_output=None, on_finish=None):
            assert ticks[1].wait(20)
            return super().submit(request, on_output, on_finish)

    def load(_order: LoadOrder) -> ScriptedEngine:
        assert ticks[0].wait(20)
        return SlowToRead()

    host = EngineHost(load)
    watch = Watch(host)
    with qtbot.waitSignal(host.loaded):
        host.load("/models/slow")
        QTimer.singleShot(0, ticks[0].set)
    ticket = host.submit(asking("Hi"))
    QTimer.singleShot(0, ticks[1].set)
    qtbot.waitUntil(lambda: ticket in watch.results)
    assert host.shutdown()


def test_a_panic_while_loading_is_told_and_ends_nothing(qtbot: QtBot):
    class PanicError(BaseException):
        """Like pyo3's, which is no Exception."""

    def load(_order: LoadOrder) -> ScriptedEngine:
        raise PanicError("boom")

    host = EngineHost(load)
    with qtbot.waitSignal(host.load_failed) as blocker:
        host.load("/models/x")
    assert "boom" in (blocker.args or [])[1]
    assert host.shutdown()
