"""The application as it is wired for its user, in a process of its own."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QLockFile
from PySide6.QtWidgets import QMessageBox

from llama_gui.desktop import _fail, _reason_for_no_lock, models_on_disk
from llama_gui.library.shelf_notes import rename
from llama_gui.paths import Paths
from llama_gui.settings import UserSettings, save_settings
from llama_gui.ui.first_window import FirstWindow
from llama_gui.ui.problem_words import use_problems
from tests.library.test_shelf import make_model
from tests.test_imports import HEAVY

CODE = """
import sys
from llama_gui.ui import MainWindow

def end(window, name):
    print(window.deck.current().notice.text())
    print("ready:", name)
    window.close()

start, show = MainWindow.start, MainWindow.showEvent
def start_and_close(window):
    start(window)
    window._host.loaded.connect(lambda _key, info: end(window, info.name))
    window._host.load_failed.connect(lambda _key, _text: end(window, "nothing"))
    %s
MainWindow.start = start_and_close
from llama_gui.__main__ import main
sys.exit(main(["--profile", sys.argv[1]]))
"""


def open_window(profile: Path, more: str = "", first: str = "") -> list[str]:
    """Open the window, close it when the model is there; what it told its user. `first` runs before all else."""
    code = CODE.replace("from llama_gui.__main__", f"{first}\nfrom llama_gui.__main__") % more
    done = subprocess.run(
        [sys.executable, "-c", code, str(profile)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_first_start_shows_before_torch_is_loaded_keeps_to_its_profile_and_fits_on_a_small_screen(tmp_path: Path):
    home = set(Path(os.environ["HOME"]).rglob("*"))
    profile = tmp_path / "new" / "profile"
    first = f"""
def on_shown(window, event):
    print("before the first show:", [name for name in {(*HEAVY, "psutil", "pypdfium2")!r} if name in sys.modules])
    MainWindow.showEvent = show
    show(window, event)
MainWindow.showEvent = on_shown
"""
    more = """room = window.screen().availableSize(); print(room - window.size())
    import linecache
    is_read = lambda: sys.modules["torch.nn"].__file__ in linecache.cache
    window._host.loaded.connect(lambda *_: print("torch" in sys.modules, is_read()))"""
    loaded, room, *told = open_window(profile, more, first)
    assert loaded == "before the first show: []"
    assert "-" not in room  # the screen of the tests has 800 by 800
    assert told == ["", "ready: Starter model", "True False"], "the source of torch was not read on the way"
    files = {path.name for path in profile.iterdir()}
    assert {"chats.db", "settings.json", "llama-gui.log"} <= files
    assert (profile / "llama-gui.log").read_text(encoding="utf-8") == ""
    assert {path for path in set(Path(os.environ["HOME"]).rglob("*")) - home if "llama-gui" in str(path)} == set()


def test_a_start_without_a_console_opens_the_window(tmp_path: Path):
    """As a double click does it on Windows, where Python has no streams then."""
    said = tmp_path / "said"
    streams = f"print = partial(print, file=open({str(said)!r}, 'w')); sys.stdin = sys.stdout = sys.stderr = None"
    code = CODE.replace("import sys\n", f"import sys; from functools import partial; {streams}\n", 1) % ""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=60, check=True)
    assert "ready: Starter model" in said.read_text("utf-8")


def test_broken_files_are_set_aside_and_told(tmp_path: Path):
    (tmp_path / "settings.json").write_text('{"zoom": "huge", "model_path": "/no/such/model"}')
    (tmp_path / "chats.db").write_bytes(b"this is no database" * 100)
    told = " ".join(open_window(tmp_path))
    assert "settings.json.broken" in told
    assert "chats" in told
    assert "model is not available. There is no model at /no/such/model" in told
    assert "ready: nothing" in told
    assert (tmp_path / "settings.json.broken").exists()


def test_a_fault_is_told_and_logged(tmp_path: Path):
    (tmp_path / "settings.json").write_text('{"model_path": "/no/such/model"}')  # so that it does not wait for torch
    told = open_window(tmp_path, "from PySide6.QtCore import QTimer; QTimer.singleShot(0, lambda: 1 / 0)")
    assert any("ZeroDivisionError" in line and "Your chats are safe" in line for line in told)
    assert "ZeroDivisionError" in (tmp_path / "llama-gui.log").read_text(encoding="utf-8")


def test_a_log_that_cannot_be_written_is_told_in_the_terminal_and_keeps_no_window_closed(tmp_path: Path):
    (tmp_path / "llama-gui.log").mkdir()
    (tmp_path / "settings.json").write_text('{"model_path": "/no/such/model"}')  # so that it does not wait for torch
    done = subprocess.run(
        [sys.executable, "-c", CODE % "", str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "ready: nothing")
    (said,) = done.stderr.splitlines()
    assert said.startswith(f"llama-gui: no log is kept: {tmp_path / 'llama-gui.log'}: ")


def test_closing_while_the_model_loads(tmp_path: Path):
    assert open_window(tmp_path, "from PySide6.QtCore import QTimer; QTimer.singleShot(50, window.close)") == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (QLockFile.LockError.PermissionError, "cannot be written"),
        (QLockFile.LockError.UnknownError, "cannot be written"),
        (QLockFile.LockError.LockFailedError, "already open"),
    ],
)
def test_a_folder_that_cannot_be_written_is_not_called_open(qapp, tmp_path: Path, error, words):
    class Lock(QLockFile):
        def error(self) -> QLockFile.LockError:
            return error

    reason = _reason_for_no_lock(Lock(str(tmp_path / "lock")), Paths.in_profile(tmp_path))
    assert words in reason
    assert str(tmp_path) in reason


def test_the_lock_of_a_killed_one_on_a_full_disk_is_not_called_open(qapp, tmp_path: Path, monkeypatch):
    """Qt cannot take it away there, and says only that it is taken."""

    class Lock(QLockFile):
        def error(self) -> QLockFile.LockError:
            return QLockFile.LockError.LockFailedError

    def full(**_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("llama_gui.desktop.tempfile.TemporaryFile", full)
    assert "free some space" in _reason_for_no_lock(Lock(str(tmp_path / "lock")), Paths.in_profile(tmp_path))


def test_why_there_is_no_window_is_german_in_its_box_and_english_in_the_terminal(
    qapp, in_german, tmp_path: Path, monkeypatch, capsys
):
    paths, said = Paths.in_profile(tmp_path), []
    use_problems(None)  # as it is before the settings are read
    save_settings(paths.settings_file, UserSettings(language="de"))
    monkeypatch.setattr(QMessageBox, "information", lambda _parent, _title, text: said.append(text))
    reason = f"llama-gui is already open with the data in {tmp_path}. Use that window, or close it first."
    assert _fail(qapp, paths, reason) == 1
    assert said == [
        f"llama-gui ist mit den Daten in {tmp_path} schon geöffnet. Nimm jenes Fenster, oder schließe es zuerst."
    ]
    assert capsys.readouterr().err == f"llama-gui: {reason}\n"


def test_a_long_name_of_a_folder_is_shown_whole(qapp, tmp_path: Path, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(QMessageBox, "information", lambda _parent, _title, text: said.append(text))
    _fail(qapp, Paths.in_profile(tmp_path), f"llama-gui is already open with the data in /{'n_' * 120}.")
    assert max(map(len, said[0].split("\u200b"))) < 150


def test_a_second_start_calls_the_window_that_is_open(qtbot, tmp_path: Path):
    """No message, no second window."""
    lock = QLockFile(str(tmp_path / "llama-gui.lock"))
    assert lock.tryLock(0)
    first = FirstWindow(tmp_path)
    second = subprocess.Popen([sys.executable, "-m", "llama_gui", "--profile", str(tmp_path)], stderr=subprocess.PIPE)
    with qtbot.waitSignal(first.called, timeout=30_000):
        pass
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=30_000)
    assert second.communicate()[1] == b""
    assert second.returncode == 0
    first.close()
    lock.unlock()


def test_the_hub_cache_and_the_user_s_names_are_on_the_shelf(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    paths = Paths.in_profile(tmp_path / "profile")
    mine = make_model(paths.models / "mine")
    cached = make_model(tmp_path / "home" / "hub" / "cached")
    opened = make_model(tmp_path / "opened")
    rename(paths.shelf_file, str(mine), "My own")
    entries = models_on_disk(paths, [str(opened)])
    assert [entry.name for entry in entries] == ["Starter model", "cached", "My own", "opened"]
    assert [entry.path for entry in entries[1:]] == [str(cached), str(mine), str(opened)]
