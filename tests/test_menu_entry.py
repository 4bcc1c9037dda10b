"""The entry in the applications menu: read back by rules of its own, by GLib and by freedesktop.org's validator."""

import shutil
import stat
import subprocess
import sys
import time
from configparser import RawConfigParser
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from llama_gui import menu_entry
from llama_gui.__main__ import main
from llama_gui.errors import UserError
from llama_gui.menu_entry import MenuEntry, desktop_entry, own_command
from llama_gui.paths import Paths, find_resources
from llama_gui.ui.window_menu_entry import WindowMenuEntry

ODD = [
    "plain",
    "a space",
    "100 % %f",
    'quo"te',
    "it's",
    "$HOME `id` \\ \\\\",
    "tab\there",
    "a=b;c&d",
    "ümläut",
    "",
    "*?#()~<>|",
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of shared data, with something of somebody else's in it."""
    home = tmp_path / "share"
    (home / "applications").mkdir(parents=True)
    (home / "applications" / "other.desktop").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    return home


def files(home: Path) -> dict[str, str]:
    return {str(path.relative_to(home)): path.read_text("utf-8") if path.is_file() else "" for path in home.rglob("*")}


def keys(text: str) -> dict[str, str]:
    """The keys of an entry, with the escapes of values undone."""
    parser = RawConfigParser(interpolation=None, delimiters="=", comment_prefixes="#", strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    escapes = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "\\": "\\"}

    def undone(value: str) -> str:
        letters = iter(value)
        return "".join(escapes[next(letters)] if letter == "\\" else letter for letter in letters)

    return {key: undone(value) for key, value in parser["Desktop Entry"].items()}


def words(exec_line: str) -> list[str]:
    """The words of a key Exec: there is no quoting but with ", and in it \\ stands before one of four letters."""
    return [word.replace("%%", "%") for word in _split(exec_line)]


def _split(line: str) -> list[str]:
    found: list[str] = []
    while line:
        if line[0] != '"':
            word, _, line = line.partition(" ")
            assert not set(word) & set("\t\n\"'\\><~|&;$*?#()`"), word
            found.append(word)
            continue
        word, place = "", 1
        while line[place] != '"':
            place += line[place] == "\\"
            word, place = word + line[place], place + 1
        assert line[place + 1 : place + 2] in ("", " ")
        found.append(word)
        line = line[place + 2 :]
    return found


def test_every_word_of_the_command_comes_back():
    entry = keys(desktop_entry(["/opt/a b/llama-gui", *ODD]))
    assert words(entry["Exec"]) == ["/opt/a b/llama-gui", *ODD]
    assert entry["TryExec"] == "/opt/a b/llama-gui"
    assert entry["StartupWMClass"] == "llama-gui"


@pytest.mark.parametrize("folder", ["plain", "a b", "50% off", "a=b", "$x", 'it\'s "so"', "back\\slash"])
@pytest.mark.skipif(shutil.which("gio") is None, reason="GLib's gio is missing")
def test_glib_starts_the_program_with_its_words(tmp_path: Path, folder: str):
    program, said = tmp_path / folder / "llama-gui", tmp_path / "said"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\0" "$0" "$@" > {said}.new\nmv {said}.new {said}\n', "utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    entry = tmp_path / "llama-gui.desktop"
    entry.write_text(desktop_entry([str(program), *ODD]), "utf-8")
    subprocess.run(["gio", "launch", str(entry)], check=True, capture_output=True)
    deadline = time.monotonic() + 20
    while not said.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert said.read_text("utf-8").split("\0")[:-1] == [str(program), *ODD]


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-utils are missing")
@pytest.mark.parametrize("command", [["llama-gui"], ["/opt/a b/llama-gui", *ODD], ["/50%/a=b/llama-gui"]])
def test_the_validator_finds_nothing(tmp_path: Path, command: list[str]):
    file = tmp_path / "llama-gui.desktop"
    file.write_text(desktop_entry(command), "utf-8")
    done = subprocess.run(["desktop-file-validate", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a menu of Linux desktops")
def test_it_is_added_once_and_removed_whole(home: Path, tmp_path: Path):
    before = files(home)
    entry = MenuEntry(find_resources(), Paths.default().data)
    assert not entry.is_there()
    entry.remove()  # nothing to remove
    entry.add()
    first = files(home)
    entry.add()
    assert files(home) == first
    assert entry.is_there()
    added = [name for name in first.keys() - before.keys() if first[name]]
    assert sorted(added) == ["applications/llama-gui.desktop", "icons/hicolor/scalable/apps/llama-gui.svg"]
    assert "--profile" not in first["applications/llama-gui.desktop"]
    entry.remove()
    assert files(home) == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a menu of Linux desktops")
def test_the_command_line_keeps_the_profile(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    profile = tmp_path / "my chats"
    assert main(["--profile", str(profile), "menu-entry", "--add"]) == 0
    text = (home / "applications" / "llama-gui.desktop").read_text("utf-8")
    assert words(keys(text)["Exec"])[-2:] == ["--profile", str(profile)]
    assert main(["menu-entry", "--remove"]) == 0
    assert main(["menu-entry"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["It is not in the menu."] * 2
    assert not profile.exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a menu of Linux desktops")
def test_a_menu_that_cannot_be_written_is_one_sentence(home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "icons").write_text("a file, where a folder should be", "utf-8")
    assert main(["menu-entry", "--add"]) == 1
    said = capsys.readouterr().err
    assert str(home / "icons") in said
    assert len(said.splitlines()) == 1
    assert not (home / "applications" / "llama-gui.desktop").exists()


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_other_systems_say_that_they_have_none(home: Path, monkeypatch: pytest.MonkeyPatch, system: str):
    before = files(home)
    monkeypatch.setattr(menu_entry.sys, "platform", system)
    for work in (MenuEntry(find_resources(), home).add, MenuEntry(find_resources(), home).remove):
        with pytest.raises(UserError, match="Windows and macOS"):
            work()
    assert files(home) == before


def test_what_is_started_is_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = tmp_path / "bin" / "llama-gui"
    script.parent.mkdir()
    script.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert own_command() == [str(script)]
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert own_command() == [str(script)]  # the one beside this Python
    script.unlink()
    assert own_command() == [sys.executable, "-m", "llama_gui"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert own_command() == [sys.executable]


def test_the_action_of_the_window_adds_and_removes_it(home: Path, qtbot):
    parent = QObject()
    room = WindowMenuEntry(find_resources(), home / "data", parent)
    with qtbot.waitSignal(room.said):
        room.add()
    assert MenuEntry(find_resources(), home / "data").is_there()
    with qtbot.waitSignal(room.said):
        room.remove()
    assert not MenuEntry(find_resources(), home / "data").is_there()
