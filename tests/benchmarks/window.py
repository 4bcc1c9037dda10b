"""Seconds that a user waits: for the window, for the model, for the first words, for the end.

    .venv/bin/python -m tests.benchmarks.window               # without a screen
    QT_QPA_PLATFORM=xcb .venv/bin/python -m tests.benchmarks.window   # on the screen of $DISPLAY

Each round is a process of its own with an empty profile. Prints medians.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7

CHILD = """
import json, sys, time
started = float(sys.argv[2])
marks = {}
def mark(name):
    marks.setdefault(name, time.time() - started)

from llama_gui.plain_imports import import_plainly
import_plainly()  # what `main` does first, and what it would do too late for what is imported here
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from llama_gui.ui import MainWindow

paint = MainWindow.paintEvent
def on_paint(window, event):
    paint(window, event)
    mark("window")
MainWindow.paintEvent = on_paint

start = MainWindow.start
def on_start(window):
    start(window)
    window._host.loaded.connect(lambda *_: QTimer.singleShot(100, lambda: ask(window)))
    window._host.loaded.connect(lambda *_: mark("model"))
MainWindow.start = on_start

def ask(window):
    tab = window.deck.current()
    tab.composer.set_text("What is this application?")
    asked = time.time()
    tab.session.text_added.connect(lambda *_: marks.setdefault("first words", time.time() - asked))
    tab.session.answering_changed.connect(lambda on: on or end(window))
    QTest.keyClick(tab.composer.edit, Qt.Key.Key_Return)

def end(window):
    marks["close"] = time.time()
    window.close()

from llama_gui.__main__ import main
status = main(["--profile", sys.argv[1]])
marks["close"] = time.time() - marks["close"]
print(json.dumps(marks))
"""


def main() -> None:
    """Measure and print."""
    env = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    rows = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as profile:
            command = [sys.executable, "-c", CHILD, profile, str(time.time())]
            rows.append(json.loads(subprocess.run(command, env=env, capture_output=True, check=True).stdout))
    for name in rows[0]:
        print(f"{name:12}{statistics.median(row[name] for row in rows) * 1000:8.0f} ms")


if __name__ == "__main__":
    main()
