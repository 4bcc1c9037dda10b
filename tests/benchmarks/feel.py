"""How the window feels while five tabs stream with the engine really decoding, and what it leaves behind.

    .venv/bin/python -m tests.benchmarks.feel                               # without a screen
    QT_QPA_PLATFORM=xcb .venv/bin/python -m tests.benchmarks.feel           # on the screen of $DISPLAY
    .venv/bin/python -m tests.benchmarks.feel --shape llama-3.2-1b          # random weights in a real shape

Frames: the time between two turns of the event loop that a timer of 16 ms asks for. Typing: from the key to the painted
letter. How much of a core the window's own thread takes meanwhile, which on few cores the engine does not get. Then the
same window without an answer: processor time while nothing happens, tabs switched, 200 tabs opened and closed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_gui.ui import MainWindow

TABS = 5
SECONDS = 15.0
KEY_EVERY_MS = 120
FRAME_MS = 16


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of all are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Measurement:
    """Drives a window through the measurements, one after the other, in its own event loop."""

    def __init__(self, window: "MainWindow") -> None:
        self.window = window
        self.numbers: dict[str, float] = {}

    def wait(self, seconds: float) -> None:
        """Let the event loop run."""
        from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer

        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()
        # What was asked to go in this loop waits for the outer one to turn, which is inside of this call.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # type: ignore[arg-type]

    def wait_for_model(self) -> None:
        """Until the model is ready."""
        while self.window._host.info is None:
            self.wait(0.05)
        self.wait(0.5)

    def start_answers(self) -> None:
        """Five chats that write without end."""
        from dataclasses import replace

        from llama_gui.vocabulary import SamplingParams

        engine = self.window._host.models.engine_of(self.window._host.current)  # type: ignore[union-attr]
        never_ends = SamplingParams(logit_bias=dict.fromkeys(engine.eos_token_ids, -1000.0))  # type: ignore[union-attr]
        for number in range(TABS):
            tab = self.window.deck.current() if number == 0 else self.window.deck.new_tab()
            assert tab is not None
            tab.session.set_settings(replace(tab.session.settings, sampling=never_ends))
        self.keep_answering()
        self.wait(2.0)
        self.keep_answering()
        self.numbers["chats that answer"] = self.window.deck.answering_count()

    def keep_answering(self) -> None:
        """Ask again where the context is full: a fast machine fills it in seconds."""
        for number, tab in enumerate(self.window.deck.tabs()):
            if not tab.session.answering:
                tab.send(f"Tell me a very long story about tab {number}")

    def frames_and_typing(self) -> None:
        """Intervals of the event loop, and the way of a letter, while the answers come."""
        from PySide6.QtCore import QEvent, QObject, Qt, QTimer
        from PySide6.QtTest import QTest

        tab = self.window.deck.current()
        assert tab is not None
        edit = tab.composer.edit
        intervals: list[float] = []
        letters: list[float] = []
        last, typed = [time.perf_counter()], [0.0]

        class PaintWatch(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.Paint and typed[0]:
                    letters.append(time.perf_counter() - typed[0])
                    typed[0] = 0.0
                return False

        def turn() -> None:
            now = time.perf_counter()
            intervals.append(now - last[0])
            last[0] = now

        def press() -> None:
            if len(edit.toPlainText()) > 60:
                edit.clear()
            typed[0] = time.perf_counter()
            QTest.keyClick(edit, Qt.Key.Key_A)

        watch = PaintWatch()
        edit.viewport().installEventFilter(watch)
        frames = QTimer(interval=FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        keys = QTimer(interval=KEY_EVERY_MS)
        frames.timeout.connect(turn)
        keys.timeout.connect(press)
        frames.start()
        keys.start()
        stats = self.window._host.models.engine_of(self.window._host.current).stats  # type: ignore[union-attr]
        speeds: list[float] = []
        before, started = time.thread_time(), time.perf_counter()
        for _ in range(round(SECONDS)):
            for _ in range(4):
                self.wait(0.25)
                self.keep_answering()
            speeds.append(stats().tokens_per_second)
        share = (time.thread_time() - before) / (time.perf_counter() - started)
        frames.stop()
        keys.stop()
        edit.viewport().removeEventFilter(watch)
        edit.clear()
        for name, values in (("frame", intervals[10:]), ("typing", letters[3:])):
            self.numbers[f"{name}, median ms"] = statistics.median(values) * 1e3
            self.numbers[f"{name}, p99 ms"] = percentile(values, 0.99) * 1e3
        self.numbers["tokens/s meanwhile"] = statistics.median(speeds)
        self.numbers["window's thread, % of a core"] = share * 100

    def stop_answers(self) -> None:
        """Stop all of them."""
        for tab in self.window.deck.tabs():
            tab.session.stop()
        self.wait(1.5)

    def switching(self) -> None:
        """From the choice of a tab to its painted transcript."""
        times: list[float] = []
        for _ in range(6):
            for number in range(1, TABS + 1):
                started = time.perf_counter()
                self.window.deck.go_to(number)
                self.window.repaint()
                times.append(time.perf_counter() - started)
                self.wait(0.02)
        self.numbers["switch tabs, median ms"] = statistics.median(times) * 1e3
        self.numbers["switch tabs, p99 ms"] = percentile(times, 0.99) * 1e3

    def idleness(self) -> None:
        """Processor time of the whole process while nothing happens."""
        self.wait(2.0)
        before, started = time.process_time(), time.perf_counter()
        self.wait(6.0)
        share = (time.process_time() - before) / (time.perf_counter() - started)
        self.numbers["idle processor, %"] = share * 100

    def many_tabs(self) -> None:
        """Memory before and after 200 tabs were opened and closed."""
        import psutil

        process = psutil.Process()

        def use(count: int) -> None:
            for _ in range(count):
                self.window.deck.new_tab()
                self.wait(0.002)
            while len(self.window.deck.tabs()) > TABS:
                self.window.deck.close_at(len(self.window.deck.tabs()) - 1)
                self.wait(0.002)
            self.wait(2.5)  # until the application has cleaned up by itself

        use(30)  # what is made once
        before = process.memory_info().rss
        use(200)
        self.numbers["memory after 200 tabs, %"] = (process.memory_info().rss / before - 1) * 100

    def run(self) -> None:
        """All of it; then the window closes."""
        self.wait_for_model()
        self.start_answers()
        self.frames_and_typing()
        self.stop_answers()
        self.switching()
        self.idleness()
        self.many_tabs()
        self.window.close()


def child(profile: str, model: str) -> None:
    """The process in which the window lives; prints its numbers as JSON."""
    from PySide6.QtCore import QTimer

    from llama_gui.__main__ import main
    from llama_gui.ui import MainWindow

    made: list[Measurement] = []
    start = MainWindow.start

    def on_start(window: MainWindow) -> None:
        start(window)
        if model:
            window._host.load(model)
        made.append(Measurement(window))
        QTimer.singleShot(1000, made[0].run)

    MainWindow.start = on_start  # type: ignore[method-assign]
    main(["--profile", profile])
    print(json.dumps(made[0].numbers))


def main() -> None:
    """Measure in a process of its own, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options: Any = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    env = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    with tempfile.TemporaryDirectory() as scratch:
        model = ""
        if options.shape:
            from tests.benchmarks.chats import random_model

            model = str(random_model(Path(scratch), options.shape))
        command = [sys.executable, "-m", "tests.benchmarks.feel", "--child", f"{scratch}/profile", model]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    for name, value in json.loads(done.stdout.splitlines()[-1]).items():
        print(f"{name:30}{value:8.1f}")


if __name__ == "__main__":
    main()
