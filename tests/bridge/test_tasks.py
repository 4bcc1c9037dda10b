"""The lane: order, threads, errors, end."""

import sys
import threading

import pytest
from PySide6.QtCore import QObject, Slot
from pytestqt.qtbot import QtBot

from llama_gui.bridge.tasks import TaskLane
from llama_gui.errors import BugError


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.got: list[object] = []
        self.threads: set[int] = set()

    @Slot(object)
    def take(self, value: object) -> None:
        self.got.append(value)
        self.threads.add(threading.get_ident())


@pytest.fixture
def lane(qtbot: QtBot):
    lane = TaskLane("test-lane")
    yield lane
    assert lane.close()


def test_tasks_run_in_order_elsewhere_and_answer_here(qtbot: QtBot, lane: TaskLane):
    receiver = Receiver()
    workers: set[int] = set()

    def work(number: int) -> int:
        workers.add(threading.get_ident())
        return number

    for number in range(50):
        lane.run(lambda number=number: work(number), receiver.take)
    qtbot.waitUntil(lambda: len(receiver.got) == 50)
    assert receiver.got == list(range(50))
    assert receiver.threads == {threading.get_ident()}
    assert len(workers) == 1
    assert threading.get_ident() not in workers


def test_a_plain_function_is_answered_on_this_thread_too(qtbot: QtBot, lane: TaskLane):
    threads: list[int] = []
    lane.run(lambda: None, lambda _: threads.append(threading.get_ident()))
    qtbot.waitUntil(lambda: bool(threads))
    assert threads == [threading.get_ident()]


def test_an_error_goes_to_failed_and_the_lane_goes_on(qtbot: QtBot, lane: TaskLane):
    receiver = Receiver()
    lane.run(lambda: 1 / 0, None, receiver.take)
    lane.run(lambda: "next", receiver.take)
    qtbot.waitUntil(lambda: len(receiver.got) == 2)
    assert isinstance(receiver.got[0], ZeroDivisionError)
    assert receiver.got[1] == "next"


def test_a_panic_is_an_error_too(qtbot: QtBot, lane: TaskLane):
    class PanicException(BaseException):
        """As Rust's libraries raise it."""

    def panic() -> None:
        raise PanicException("index out of bounds")

    receiver = Receiver()
    lane.run(panic, None, receiver.take)
    lane.run(lambda: "next", receiver.take)
    qtbot.waitUntil(lambda: len(receiver.got) == 2)
    assert isinstance(receiver.got[0], BugError)
    assert "index out of bounds" in str(receiver.got[0])


def test_an_error_that_nobody_takes_is_not_silent(qtbot: QtBot, lane: TaskLane, monkeypatch: pytest.MonkeyPatch):
    seen: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: seen.append(error))
    lane.run(lambda: 1 / 0)
    qtbot.waitUntil(lambda: bool(seen))
    assert isinstance(seen[0], ZeroDivisionError)


def test_close_finishes_the_work_and_delivers_the_answers(qtbot: QtBot):
    lane = TaskLane("test-lane")
    receiver = Receiver()
    gate = threading.Event()
    lane.run(gate.wait)
    for number in range(5):
        lane.run(lambda number=number: number, receiver.take)
    gate.set()
    assert lane.close()
    assert receiver.got == list(range(5))
    assert lane.close()
    with pytest.raises(BugError, match="closed"):
        lane.run(lambda: None)


def test_close_gives_up_on_work_that_hangs(qtbot: QtBot):
    lane = TaskLane("test-lane")
    gate = threading.Event()
    lane.run(gate.wait)
    assert not lane.close(timeout_s=0.01)
    gate.set()
    assert lane.close()


def test_a_receiver_that_is_gone_is_left_out(qtbot: QtBot, lane: TaskLane):
    import shiboken6

    receiver, other = Receiver(), Receiver()
    gate = threading.Event()
    lane.run(gate.wait, receiver.take)
    shiboken6.delete(receiver)
    gate.set()
    lane.run(lambda: "here", other.take)
    qtbot.waitUntil(lambda: bool(other.got))
    assert receiver.got == []
