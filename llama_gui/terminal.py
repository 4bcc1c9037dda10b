"""What all commands of the terminal do alike: how they end, and words on any terminal."""

import contextlib
import io
import os
import sys
from collections.abc import Callable

from llama_gui.errors import LlamaGuiError

FAILED, INTERRUPTED = 1, 130


def in_terminal(work: Callable[[], int]) -> int:
    """Do `work`; the exit status: its own, or that of what ended it. Errors go to standard error as one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without UTF-8 must not end an answer
            stream.reconfigure(errors="replace")
    try:
        status = work()
        sys.stdout.flush()  # here, where a reader that has gone is no error
        return status
    except LlamaGuiError as error:
        print(f"llama-gui: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader, for example `head`, has seen enough
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
