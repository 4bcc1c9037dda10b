"""The key that every request to our server must bring: made once, kept where only its owner can read it."""

import os
import re
import secrets
from pathlib import Path

from llama_gui.errors import SettingsError
from llama_gui.files import make_whole

_LEAST_KEPT = 8  # letters of a key in a file: fewer are what is left of one
_SHAPE = re.compile(r"[\x21-\x7e]{1,512}")


def is_key(text: str) -> bool:
    """Whether `text` can be a key: 1 to 512 visible ASCII letters, as a header can carry them."""
    return bool(_SHAPE.fullmatch(text))


def load_or_make_key(path: Path) -> tuple[str, bool]:
    """The key in the file at `path`, made when there is none; and whether it is new.

    Raises:
        SettingsError: the file cannot be read or written, holds no key, or others can read it.
    """
    try:
        return _load(path), False
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        raise SettingsError(f"The server's key in {path} cannot be read: {error.strerror or error}.") from error


def _load(path: Path) -> str:
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise SettingsError(f"Others can read the server's key in {path}. Delete the file: a new one is made.")
    key = path.read_text(encoding="ascii", errors="replace").strip()
    if not is_key(key) or len(key) < _LEAST_KEPT:
        raise SettingsError(f"There is no key in {path}. Delete the file: a new one is made.")
    return key


def _make(path: Path) -> tuple[str, bool]:
    key = "sk-" + secrets.token_urlsafe(32)
    try:
        make_whole(path, f"{key}\n".encode())
    except FileExistsError:  # another llama-gui was faster
        return _load(path), False
    except OSError as error:
        raise SettingsError(f"The server's key cannot be written to {path}: {error.strerror or error}.") from error
    return key, True
