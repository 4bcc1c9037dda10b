"""Documents are read in a process of their own: what a stranger's file does to its reader, it does there.

The parent gives it a time and a share of memory, and ends it when somebody does not want the file any more. So a
reader that hangs, crashes or eats memory costs one sentence, and the window never waits for the interpreter's lock.
"""

import base64
import contextlib
import faulthandler
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from llama_gui.chats.documents.faults import REASONS, DocumentError
from llama_gui.chats.documents.images import is_image, reduced_image
from llama_gui.errors import UserError

LIMIT_S = 60.0
MOST_MEMORY = 2_000_000_000
"""Bytes. A sheet of fifty thousand rows takes three hundred million for a moment."""
_LOOK_EVERY_S = 0.05


class ReadingCancelledError(Exception):
    """Nobody wants the document any more."""


def read_apart(
    path: Path,
    cancelled: threading.Event | None = None,
    limit_s: float = LIMIT_S,
    most_memory: int = MOST_MEMORY,
) -> str:
    """`reading.read_document` in a process of its own, or of an image its bytes in base64, see `reduced_image`.

    Blocks; `cancelled` ends it from another thread.

    Raises:
        DocumentError: the text cannot be had, or not within `limit_s` seconds and `most_memory` bytes.
        UserError: a library is missing.
        ReadingCancelledError: `cancelled` was set.
        OSError: the file cannot be read, or no process can be started.
    """
    return _asked(path, "text", cancelled, limit_s, most_memory)["text"]


def scan_apart(path: Path, cancelled: threading.Event | None = None) -> tuple[list[bytes], int]:
    """`scans.page_images` in a process of its own; blocks and raises as `read_apart`."""
    answer = _asked(path, "pages", cancelled, LIMIT_S, MOST_MEMORY)
    return [base64.b64decode(page) for page in answer["pages"]], answer["count"]


def _asked(
    path: Path, wanted: str, cancelled: threading.Event | None, limit_s: float, most_memory: int
) -> dict[str, Any]:
    process = subprocess.Popen(
        # -P: nothing is imported from the folder that this happens to be started in.
        [sys.executable, "-P", "-m", "llama_gui.chats.documents.child", str(path.absolute()), str(limit_s), wanted],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # the same modules as here
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    with process:
        try:
            said = _watched(process, cancelled, limit_s, most_memory)
        finally:
            process.kill()
    return _answer(said)


def _watched(process: subprocess.Popen[bytes], cancelled: threading.Event | None, limit_s: float, most: int) -> bytes:
    """What the process says until its end."""
    ends = time.monotonic() + limit_s
    while True:
        try:
            return process.communicate(timeout=_LOOK_EVERY_S)[0]
        except subprocess.TimeoutExpired:
            if cancelled is not None and cancelled.is_set():
                raise ReadingCancelledError from None
            if time.monotonic() > ends:
                raise DocumentError("too_slow") from None
            if _memory(process.pid) > most:
                raise DocumentError("too_large") from None


def _memory(pid: int) -> int:
    import psutil  # here: the window shows sooner

    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        # On Windows the python of a virtual environment only starts the real one.
        children = process.children(recursive=True) if sys.platform == "win32" else []
        return sum(one.memory_info().rss for one in (process, *children))
    return 0


def _answer(said: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(said)
    except ValueError as error:  # it said nothing: it crashed
        raise DocumentError("damaged") from error
    if "text" in answer or "pages" in answer:
        return answer
    if "missing" in answer:
        raise UserError(f"Documents cannot be read: {answer['missing']}. Install llama-gui again.")
    if answer["fault"] in REASONS:
        raise DocumentError(answer["fault"])
    raise OSError(answer.get("number"), answer["fault"])


def _read(path: Path) -> str:
    with path.open("rb") as file:
        beginning = file.read(16)
    if is_image(beginning):
        return base64.b64encode(reduced_image(path)).decode("ascii")
    from llama_gui.chats.documents.reading import read_document

    return read_document(path)


def _pages(path: Path) -> dict[str, Any]:
    from llama_gui.chats.documents.scans import page_images

    pages, count = page_images(path)
    return {"pages": [base64.b64encode(page).decode("ascii") for page in pages], "count": count}


def main() -> None:
    """Read the file that the command line names, and say what is in it as JSON on standard output."""
    # Should the parent be gone by then, nobody else ends a reader that hangs. This works in C code, too.
    faulthandler.dump_traceback_later(float(sys.argv[2]) + 5, exit=True)
    try:
        path = Path(sys.argv[1])
        answer = _pages(path) if sys.argv[3:] == ["pages"] else {"text": _read(path)}
    except DocumentError as fault:
        answer = {"fault": fault.why}
    except ImportError as error:
        answer = {"missing": str(error)}
    except OSError as error:
        answer = {"fault": error.strerror or str(error), "number": error.errno}
    # ASCII, so that half a letter in a text cannot stop the answer.
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
