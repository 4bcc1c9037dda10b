"""The thread that steps engines: one per engine, or one for several in turn, which then share the cores."""

import atexit
import contextlib
import logging
import os
import threading
from typing import Protocol

from llama_gui.errors import GenerationError

_log = logging.getLogger(__name__)


class Stepped(Protocol):
    """What the thread steps: the loop of an engine."""

    @property
    def is_stopping(self) -> bool:
        """Whether it wants no more steps."""
        ...

    def turn(self) -> bool:
        """Take the next step; False when there was nothing to do. Never raises."""
        ...

    def end(self) -> None:
        """The last call: end what is still in flight."""
        ...


class SharedThread:
    """Owns the thread, which runs while there is a loop that it has adopted. Safe in any thread."""

    def __init__(self, name: str = "llama-gui-engines") -> None:
        self._name = name
        self._process = os.getpid()
        self._loops: list[Stepped] = []
        self._changed = threading.Condition()
        self._news = 0
        self._thread: threading.Thread | None = None

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    @property
    def is_forked(self) -> bool:
        """Whether this is the copy in a forked process, which has no such thread."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """Raise GenerationError in a forked process, where nobody would ever answer."""
        if self.is_forked:
            raise GenerationError(
                "This engine was made in another process, and a forked copy of it cannot work. Load the model in the "
                'process that uses it, or start that one with multiprocessing\'s "spawn".'
            )

    def check_wait(self) -> None:
        """Raise GenerationError where waiting for an answer would never end."""
        self.check_process()
        if self.is_current:
            raise GenerationError(
                "A function that the engine calls (on_output, on_finish, logits_processor) waited for an answer, and "
                "the engine for that function. Submit there, and wait for the result elsewhere."
            )

    def adopt(self, loop: Stepped) -> None:
        """Step `loop` from now on, until it stops."""
        with self._changed:
            if self._thread is None:
                # A daemon: a script that forgets to close its engines ends all the same.
                thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                thread.start()
                self._thread = thread
            self._loops.append(loop)
        self.wake()

    def wake(self) -> None:
        """One of the loops has something to do."""
        with self._changed:
            self._news += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Wait for the end of the thread, whose loops the caller has told to stop; in one of them, not before exit."""
        with self._changed:
            thread = self._thread
        if thread is None:
            return
        if threading.current_thread() is thread:
            atexit.register(thread.join)  # or it might end within a kernel, and the process with it
        else:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._loops:
                    self._thread = None
                    return
                seen, loops = self._news, list(self._loops)
            worked = [self._step(loop) for loop in loops]
            if not any(worked):
                with self._changed:
                    self._changed.wait_for(lambda seen=seen: self._news != seen)

    def _step(self, loop: Stepped) -> bool:
        """A turn of `loop`, or its last call; False when there was nothing to do."""
        try:
            if not loop.is_stopping:
                return loop.turn()
            loop.end()
        except BaseException:  # none should raise, but the other loops must not wait for a dead thread
            _log.exception("An engine's loop broke")
            with contextlib.suppress(BaseException):
                loop.end()
        with self._changed:
            self._loops.remove(loop)
        return True
