"""A second start with the same data calls the first."""

import subprocess
import sys
from pathlib import Path

from llama_gui.ui.first_window import FirstWindow, call_first_window

CALL = """
import pathlib, sys
from llama_gui.ui.first_window import call_first_window
sys.exit(not call_first_window(pathlib.Path(sys.argv[1])))
"""
KILLED = """
import os, pathlib, sys
from PySide6.QtCore import QCoreApplication
from llama_gui.ui.first_window import FirstWindow
application = QCoreApplication([])
first = FirstWindow(pathlib.Path(sys.argv[1]))
os._exit(9)
"""


def test_the_first_window_hears_the_second_start(qtbot, tmp_path: Path):
    first = FirstWindow(tmp_path)
    calling = subprocess.Popen([sys.executable, "-c", CALL, str(tmp_path)])
    with qtbot.waitSignal(first.called, timeout=20_000):
        pass
    qtbot.waitUntil(lambda: calling.poll() is not None)
    assert calling.returncode == 0
    first.close()


def test_nobody_answers_for_other_data_or_a_closed_window(qtbot, tmp_path: Path):
    first = FirstWindow(tmp_path)
    assert not call_first_window(tmp_path / "other")
    first.close()
    assert not call_first_window(tmp_path)


def test_what_a_killed_window_left_behind_is_no_hindrance(qtbot, tmp_path: Path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    first = FirstWindow(tmp_path)
    assert first._server.isListening()
    first.close()
