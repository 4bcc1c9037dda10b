"""The folder of what models have read: how it is emptied, so that everybody who writes into it sees that it was.

Whoever has it in use remembers its mark. Another one, or none, says that what was there is not wanted any more, and
that nothing of it may be written again.
"""

import contextlib
import secrets
import shutil
from pathlib import Path

from llama_gui.files import make_whole

_MARK = "mark"


def mark_of(folder: Path) -> str:
    """The mark of the folder; "" where there is no folder, or it was emptied."""
    try:
        return (folder / _MARK).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def begin(folder: Path) -> str:
    """Make the folder and its mark where they are missing; its mark.

    Raises:
        OSError: it cannot be written.
    """
    with contextlib.suppress(FileExistsError):
        make_whole(folder / _MARK, secrets.token_hex(16).encode())
    return mark_of(folder)


def empty(folder: Path) -> None:
    """Delete all that is in it. What cannot be deleted now goes when it is used the next time."""
    with contextlib.suppress(OSError):
        (folder / _MARK).unlink()  # first: from now on nobody writes what was there
    shutil.rmtree(folder, ignore_errors=True)
