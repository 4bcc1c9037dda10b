"""The installed program on a real X server, with real key events; only the screen is virtual."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.xvfb,
    pytest.mark.skipif(
        not all(map(shutil.which, ("Xvfb", "xdotool"))), reason="needs Xvfb and xdotool (apt-get install xvfb xdotool)"
    ),
]

_START_S = 90.0
_END_S = 3.0
_SECONDS = 40.0
# Without -noreset the screen begins anew when the last program leaves it, and refuses one that comes just then. A key
# that is held repeats itself after a minute only: on a busy machine xdotool lets go of one late.
_SCREEN = "-screen 0 1280x860x24 -nolisten tcp -noreset -ardelay 60000"


def wait_for(what: Callable[[], object], seconds: float = _SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@dataclass
class Desk:
    """A screen and a keyboard."""

    env: dict[str, str]
    started_in: float = 0.0

    def xdotool(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments], env=self.env, capture_output=True, text=True, timeout=20, check=False
        )
        return done.stdout

    def windows(self) -> list[str]:
        return self.xdotool("search", "--onlyvisible", "--name", "^llama-gui$").split()

    def open(self, profile: Path) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "llama_gui", "--profile", str(profile)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started = time.monotonic()
        wait_for(self.windows, _START_S)
        self.started_in = time.monotonic() - started
        # There is no window manager, so nobody gives the window the keyboard.
        self.xdotool("windowfocus", "--sync", self.windows()[-1])
        return process

    def keys(self, *names: str) -> None:
        self.xdotool("key", "--delay", "30", *names)

    def type(self, text: str) -> None:
        self.xdotool("type", "--delay", "8", text)

    def end(self, process: "subprocess.Popen[str]", how: Callable[[], None]) -> None:
        """End the program, within seconds, or on a busy machine within three starts. Nothing may have been printed."""
        started = time.monotonic()
        how()
        out, err = process.communicate(timeout=_SECONDS)
        assert (process.returncode, out, err) == (0, "", "")
        assert time.monotonic() - started < max(_END_S, 3 * self.started_in)


@pytest.fixture
def desk() -> Iterator[Desk]:
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", *_SCREEN.split(), "-displayfd", str(writer)],
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as numbers:
        display = numbers.readline().strip()
    env = {name: value for name, value in os.environ.items() if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")}
    try:
        yield Desk({**env, "DISPLAY": f":{display}"})
    finally:
        server.terminate()
        server.wait(10)


def rows(profile: Path, query: str) -> list[tuple]:
    """What is on disk, read beside the running program."""
    if not (profile / "chats.db").exists():
        return []
    connection = sqlite3.connect(f"file:{profile / 'chats.db'}?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError:  # its tables are just being made
        return []
    finally:
        connection.close()


def answers(profile: Path) -> list[tuple[str, str]]:
    return rows(profile, "SELECT content, status FROM nodes WHERE role = 'assistant' ORDER BY created")


# It starts the program twice.
@pytest.mark.timeout(300)
def test_a_first_conversation_with_the_keyboard_only(desk: Desk, tmp_path: Path):
    process = desk.open(tmp_path)
    try:
        desk.type("What is this application?")
        desk.keys("Return")
        wait_for(lambda: [status for _, status in answers(tmp_path)] == ["complete"])
        assert "llama-gui" in answers(tmp_path)[0][0]

        desk.keys("ctrl+t")
        desk.type("line one")
        desk.keys("shift+Return")
        desk.type("line two")
        desk.keys("Return")
        wait_for(lambda: [status for _, status in answers(tmp_path)] == ["complete"] * 2)
        asked = rows(tmp_path, "SELECT content FROM nodes WHERE role = 'user' ORDER BY created")
        assert asked == [("What is this application?",), ("line one\nline two",)]

        desk.keys("ctrl+1", "ctrl+r")
        wait_for(lambda: [status for _, status in answers(tmp_path)] == ["complete"] * 3)
        desk.type("a draft")
        desk.end(process, lambda: desk.keys("ctrl+q"))

        process = desk.open(tmp_path)
        newest = "SELECT content FROM nodes WHERE role = 'user' ORDER BY created DESC LIMIT 1"
        # The draft is in its tab again: Enter sends it, once it is there.
        wait_for(lambda: desk.keys("Return") or rows(tmp_path, newest) == [("a draft",)])
        wait_for(lambda: [status for _, status in answers(tmp_path)] == ["complete"] * 4)
        desk.end(process, lambda: process.send_signal(signal.SIGTERM))
    finally:
        process.kill()
        process.communicate()
