"""The thread lives while it has loops, and whatever one of them does, the others are stepped."""

import subprocess
import sys
import threading

from llama_gui.engine.shared_thread import SharedThread
from tests.fakes.lone_module import ALONE

WAIT = 30


class Counter:
    """A loop that counts its turns, and fails in one of them, and at its end, when it is told to."""

    def __init__(self, turns: int, fault: BaseException | None = None) -> None:
        self.left, self.fault = turns, fault
        self.ended = threading.Event()

    @property
    def is_stopping(self) -> bool:
        return self.left == 0

    def turn(self) -> bool:
        self.left -= 1
        if self.fault is not None:
            raise self.fault
        return True

    def end(self) -> None:
        self.ended.set()
        if self.fault is not None:
            raise self.fault


def test_a_loop_that_raises_is_ended_and_the_others_go_on():
    shared, broken, sound = SharedThread(), Counter(5, SystemExit()), Counter(50)
    for loop in (broken, sound):
        shared.adopt(loop)
    assert broken.ended.wait(WAIT)
    assert sound.ended.wait(WAIT)
    shared.close()
    assert (broken.left, sound.left) == (4, 0)
    late = Counter(3)  # the thread has ended, and another one begins
    shared.adopt(late)
    assert late.ended.wait(WAIT)
    shared.close()
    assert not any(thread.name == "llama-gui-engines" for thread in threading.enumerate())


CLOSES_ITSELF = """
import threading, time
from llama_gui.engine.shared_thread import SharedThread

class Loop:
    is_stopping = False

    def turn(self):
        self.is_stopping = True
        shared.close()
        closed.set()
        time.sleep(0.5)
        return True

    def end(self):
        print("the end", flush=True)

shared, closed = SharedThread(), threading.Event()
shared.adopt(Loop())
closed.wait()
"""


def test_a_thread_that_is_closed_from_within_ends_before_the_process():
    """As by an on_finish that closes the engine: left alone at exit, it could be in a kernel, which aborts."""
    script = [sys.executable, "-c", ALONE + CLOSES_ITSELF]
    done = subprocess.run(script, capture_output=True, text=True, timeout=WAIT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")
