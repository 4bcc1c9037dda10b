"""Servers of tools to talk with."""

import itertools
import queue
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from llama_gui.tools.client import ToolClient
from llama_gui.vocabulary import ToolReply, ToolServer, ToolServerState

HERE = Path(__file__).parent
WAIT_S = 60


def talking(*args: str, **fields: Any) -> ToolServer:
    """A real one, by the official library."""
    return ToolServer("talking", sys.executable, (str(HERE / "talking_server.py"), *args), **fields)


def odd(how: str) -> ToolServer:
    """One that is there at once, see `odd_server.py`."""
    return ToolServer("odd", sys.executable, (str(HERE / "odd_server.py"), how))


class Talk:
    """A `ToolClient`, with what it tells in order."""

    def __init__(self, **limits: float) -> None:
        from llama_gui.tools.connection import Limits

        self._before = left()
        self.states: queue.SimpleQueue[tuple[int, ToolServerState]] = queue.SimpleQueue()
        self.replies: queue.SimpleQueue[tuple[int, ToolReply]] = queue.SimpleQueue()
        self.numbers = itertools.count(1)
        self.client = ToolClient(
            lambda *told: self.states.put(told), lambda *told: self.replies.put(told), Limits(**limits)
        )

    def start(self, server: ToolServer) -> tuple[int, ToolServerState]:
        """Its run, and what it came to."""
        run = next(self.numbers)
        self.client.start(run, server)
        return run, self.state(run)

    def state(self, run: int) -> ToolServerState:
        told, state = self.states.get(timeout=WAIT_S)
        assert told == run
        return state

    def left(self) -> list[psutil.Process]:
        """What was started since, and still runs."""
        return [process for process in left() if process not in self._before]

    def call(self, run: int, tool: str, **arguments: Any) -> ToolReply:
        number = next(self.numbers)
        self.client.call(number, run, tool, arguments)
        return self.reply(number)

    def reply(self, number: int) -> ToolReply:
        told, reply = self.replies.get(timeout=WAIT_S)
        assert told == number
        return reply


@pytest.fixture
def talk() -> Iterator[Talk]:
    """For servers that are slow to nobody."""
    talk = Talk(start_s=60.0)
    yield talk
    talk.client.close(4.0)
    assert talk.left() == []


def left() -> list[psutil.Process]:
    """Servers of tools that this process has started, and what they have."""
    return [process for process in psutil.Process().children(recursive=True) if _serves(process)]


def _serves(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "_server.py" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # it has ended since it was listed
        return False


def gone(*pids: int) -> bool:
    """Whether these processes end within a second or two."""
    return until(lambda: not any(_lives(pid) for pid in pids))


def until(true: Callable[[], bool], within_s: float = 3.0) -> bool:
    deadline = time.monotonic() + within_s
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
