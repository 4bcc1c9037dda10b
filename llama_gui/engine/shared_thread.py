"""One thread that steps several engines in turn, so that their models do not fight for the same cores."""

import threading
from typing import Protocol


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
        self._loops: list[Stepped] = []
        self._changed = threading.Condition()
        self._news = 0
        self._closing = False
        self._thread: threading.Thread | None = None

    def adopt(self, loop: Stepped) -> threading.Thread:
        """Step `loop` from now on, until it stops; the thread that does."""
        with self._changed:
            self._loops.append(loop)
            self._news += 1
            if self._thread is None:
                # A daemon: a script that forgets to close its engines ends all the same.
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return self._thread

    def wake(self) -> None:
        """One of the loops has something to do."""
        with self._changed:
            self._news += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Wait for the end of every loop, which the caller has told to stop, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and threading.current_thread() is not thread:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                seen, loops = self._news, list(self._loops)
            if self._pass(loops):
                continue
            with self._changed:
                if not self._loops:
                    self._thread = None
                    return
                self._changed.wait_for(lambda seen=seen: self._news != seen or self._closing)

    def _pass(self, loops: list[Stepped]) -> bool:
        """A step of each; False when there was nothing to do for any."""
        worked = False
        for loop in loops:
            if loop.is_stopping:
                loop.end()
                with self._changed:
                    self._loops.remove(loop)
                worked = True
            else:
                worked |= loop.turn()
        return worked
