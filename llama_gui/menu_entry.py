"""The entry in the applications menu of Linux desktops: what it says, and where it lies (freedesktop.org's rules)."""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from llama_gui.errors import UserError
from llama_gui.files import SHARED, write_whole
from llama_gui.paths import Paths

WINDOW_NAME = "llama-gui"
"""By this name of the window and of the entry's file, desktops know that the one belongs to the other."""
NOT_HERE = "Windows and macOS have no menu that llama-gui could enter itself into."

_SPECIAL = re.compile(r"""[\s"'\\><~|&;$*?#()`]""")
_IN_QUOTES = re.compile(r'(["`$\\])')


def desktop_entry(command: Sequence[str]) -> str:
    """The text of the entry that starts `command`."""
    lines = {
        "Type": "Application",
        "Name": "llama-gui",
        "GenericName": "Chat with language models",
        "GenericName[de]": "Chat mit Sprachmodellen",
        "Comment": "Chat with language models that run on this machine",
        "Comment[de]": "Mit Sprachmodellen chatten, die auf diesem Rechner laufen",
        "Keywords": "AI;LLM;assistant;Llama;",
        "Keywords[de]": "KI;LLM;Assistent;Llama;",
        "Categories": "Utility;",
        "Icon": WINDOW_NAME,
        "TryExec": _value(command[0]),
        "Exec": _value(exec_line(command)),
        "Terminal": "false",
        "StartupNotify": "true",
        "StartupWMClass": WINDOW_NAME,
    }
    return "[Desktop Entry]\n" + "".join(f"{key}={value}\n" for key, value in lines.items())


def exec_line(command: Sequence[str]) -> str:
    """The command as the key Exec has it, before it is written as a value."""
    if set(command[0]) & set("=%"):
        # The rules have no program with a "=" in its path, and GLib looks for one with a "%" under another name.
        command = ["sh", "-c", 'exec "$0" "$@"', *command]
    return " ".join(_quoted(word).replace("%", "%%") for word in command)


def _quoted(word: str) -> str:
    if word and not _SPECIAL.search(word):
        return word
    return '"' + _IN_QUOTES.sub(r"\\\1", word) + '"'


def _value(text: str) -> str:
    """A text as desktop files hold it."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


class MenuEntry:
    """The entry of this user, for the data in one folder. `resources`: where our icon is."""

    def __init__(self, resources: Path, data: Path) -> None:
        home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        self.file = home / "applications" / f"{WINDOW_NAME}.desktop"
        self.icon = home / "icons" / "hicolor" / "scalable" / "apps" / f"{WINDOW_NAME}.svg"
        self._home = home
        self._drawing = resources / "icons" / "llama-gui.svg"
        self._command = own_command()
        if data != Paths.default().data:
            self._command += ["--profile", str(data)]

    def is_there(self) -> bool:
        """Whether the menu has it."""
        return self.file.is_file()

    def add(self) -> None:
        """Write it, or write it anew: the program may have moved since.

        Raises:
            UserError: it cannot be written, or this system has no such menu.
        """
        self._check_system()
        try:
            write_whole(self.icon, self._drawing.read_bytes(), SHARED)
            write_whole(self.file, desktop_entry(self._command).encode("utf-8", "surrogateescape"), SHARED)
            os.utime(self.icon.parents[2])  # desktops keep lists of icons, and look again when this has changed
        except OSError as error:
            raise UserError(f"The menu cannot be written: {error.filename}: {error.strerror}.") from error

    def remove(self) -> None:
        """Take it away, with the folders that hold nothing else.

        Raises:
            UserError: it cannot be deleted, or this system has no such menu.
        """
        self._check_system()
        for file in (self.file, self.icon):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise UserError(f"The menu cannot be written: {file}: {error.strerror}.") from error
            with contextlib.suppress(OSError):  # it holds something else, or is not there
                for folder in file.relative_to(self._home).parents[:-1]:
                    (self._home / folder).rmdir()

    def _check_system(self) -> None:
        if sys.platform in ("win32", "darwin"):
            raise UserError(NOT_HERE)


def own_command() -> list[str]:
    """How this very llama-gui is started: the bundle, the script that pip made, or the module."""
    if getattr(sys, "frozen", False):
        return [sys.executable]
    started, beside = Path(sys.argv[0]).absolute(), Path(sys.executable).with_name("llama-gui")
    for script in (started, beside):
        if script.name in ("llama-gui", "llama-gui-window") and shutil.which(script):
            return [str(script)]
    return [sys.executable, "-m", "llama_gui"]
