"""What commands of the terminal do alike: how they load a model, how they end, and words on any terminal."""

import argparse
import contextlib
import gc
import io
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from llama_gui.errors import InvalidRequestError, LlamaGuiError
from llama_gui.paths import Paths

FAILED, INTERRUPTED = 1, 130


def in_terminal(work: Callable[[], int]) -> int:
    """Do `work`; the exit status: its own, or that of what ended it. Errors go to standard error as one sentence."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without UTF-8 must not end an answer
            stream.reconfigure(errors="replace")
    try:
        status = work()
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is where it was closed
            sys.stdout.flush()  # here, where a reader that has gone is no error
        return status
    except LlamaGuiError as error:
        _say(f"llama-gui: {error}")
        return FAILED
    except BrokenPipeError:  # the reader, for example `head`, has seen enough
        _give_up_output()
        return FAILED
    except OSError as error:  # what names no file is about standard output: a full disk
        _say(f"llama-gui: {error.filename or 'The output'} cannot be written or read: {error.strerror or error}.")
        _give_up_output()
        return FAILED
    except KeyboardInterrupt:
        _say("")
        return INTERRUPTED


@contextlib.contextmanager
def importing_torch() -> Iterator[None]:
    """Meanwhile, Ctrl+C ends the process there and then, as nothing is open yet; and no garbage is collected.

    A KeyboardInterrupt in the midst of the import is caught by some of the modules, and others then fail in words of
    their own. To look through all that is imported takes 0.4 seconds meanwhile, and 0.2 each time later.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with _left_at_once():
            yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def _left_at_once() -> Iterator[None]:
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # as behind nohup
        yield
        return

    def leave(_number: int, _frame: FrameType | None) -> None:
        try:
            _say("")
        finally:  # whoever read it may have gone
            os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def engine_options(options: argparse.Namespace, paths: Paths) -> dict[str, Any]:
    """What the commands that answer alike hand on to `Engine.load`.

    Raises:
        InvalidRequestError: ``--prompt-cache`` is no size.
    """
    gigabytes = options.prompt_cache
    if not 0 <= gigabytes < math.inf:
        raise InvalidRequestError("--prompt-cache", gigabytes, "gigabytes, or 0 to keep nothing")
    return {
        "cache_dtype": options.cache_dtype,
        "draft": "auto",
        "kernel_notes": paths.kernel_notes,
        "prompt_cache": paths.served_prompts,
        "prompt_cache_bytes": int(gigabytes * 10**9),
    }


def printable(text: str) -> str:
    """Somebody else's words, on one line and without marks that would do something to the terminal."""
    return "".join(mark if mark.isprintable() else " " for mark in text)


def _say(text: str) -> None:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - print would take standard output
        print(printable(text), file=sys.stderr)


def _give_up_output() -> None:
    """Let what is still held go nowhere: Python writes it when it ends, and would say that it cannot."""
    with contextlib.suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
