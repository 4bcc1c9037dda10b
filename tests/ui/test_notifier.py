"""A long answer that ended in the background is told through the desktop, and only there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

from llama_gui.ui.notifier import Notifier

CHILD = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
from llama_gui.ui.notifier import Notifier
app = QApplication(["x", "-platform", "offscreen"])
window = QWidget()
notifier = Notifier(window)
notifier.tell("Trip <plan>", "The answer is finished.")
QTimer.singleShot(400, app.quit)
app.exec()
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("dbus-run-session"), reason="no D-Bus here"
)
@pytest.mark.skipif(not shutil.which("dbus-monitor"), reason="no dbus-monitor to listen with")
def test_the_portal_is_asked_with_plain_text(tmp_path: Path):
    heard = tmp_path / "heard"
    script = (
        f'dbus-monitor --session >"{heard}" 2>&1 & sleep 0.5; "{sys.executable}" -c \'{CHILD}\'; sleep 0.3; kill %1'
    )
    subprocess.run(["dbus-run-session", "--", "bash", "-c", script], timeout=60, check=False, capture_output=True)
    calls = heard.read_text(encoding="utf-8").partition("member=AddNotification")[2]
    assert 'string "Trip <plan>"' in calls
    assert 'string "The answer is finished."' in calls


def test_nothing_is_said_while_the_window_is_in_front(qtbot, monkeypatch):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    said: list[str] = []
    notifier = Notifier(window)
    monkeypatch.setattr(notifier, "_tell_tray", lambda: said.append("tray"))
    monkeypatch.setattr(notifier, "_ask_portal", lambda *_: said.append("portal"))
    notifier.tell("a", "b")
    assert said == []
    window.hide()
    notifier.tell("a", "b")
    assert len(said) == 1
