"""An answer that somebody else's server writes; the face of `llama_gui.engine.Job`. Safe in any thread."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator

from llama_gui.vocabulary import GenerateRequest, GenerateResult, JobProgress, JobState, Timings, TokenOutput, Usage

OnOutput = Callable[["RemoteJob", TokenOutput], None]
OnFinish = Callable[["RemoteJob", GenerateResult], None]


class RemoteJob:
    """One request that was sent, or will be.

    Iterate it (``for`` or ``async for``) for each `TokenOutput`: one for each piece that the server sends, its id -1,
    because servers do not tell ids. An answer that fails raises its error from the loop, behind what had come.
    """

    def __init__(
        self,
        request: GenerateRequest,
        on_cancel: Callable[["RemoteJob"], None],
        on_output: OnOutput | None = None,
        on_finish: OnFinish | None = None,
    ) -> None:
        self.request = request
        self._on_cancel = on_cancel
        self._on_output = on_output
        self._on_finish = on_finish
        self._outputs: list[TokenOutput] = []
        self._result: GenerateResult | None = None
        self._changed = threading.Condition()
        self._listeners: list[Callable[[], None]] = []
        self._cancelled = False
        self._state: JobState = "waiting"
        self._submitted = time.monotonic()
        self._first: float | None = None

    # --- for the caller

    @property
    def state(self) -> JobState:
        """waiting, prefilling (the server has it), generating or finished."""
        return self._state

    @property
    def progress(self) -> JobProgress:
        """Pieces per second; how much of a prompt is read, servers do not tell."""
        elapsed = time.monotonic() - self._first if self._first is not None else 0.0
        return JobProgress(0, 0, (len(self._outputs) - 1) / elapsed if elapsed > 0 else 0.0, None)

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called before the end."""
        return self._cancelled

    @property
    def output_count(self) -> int:
        """How many pieces have come."""
        return len(self._outputs)

    def cancel(self) -> None:
        """End the answer, and the connection that brings it; a finished job stays as it is."""
        if self._result is None and not self._cancelled:
            self._cancelled = True
            self._on_cancel(self)

    def result(self, timeout: float | None = None) -> GenerateResult:
        """Wait for the end, at most `timeout` seconds.

        Raises:
            TimeoutError: the answer is not finished by then; it goes on.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._result is not None, timeout):
                raise TimeoutError(f"The answer was not finished within {timeout} seconds.")
            assert self._result is not None
            return self._result

    def __iter__(self) -> Iterator[TokenOutput]:
        """Each output as it comes; ends with the answer, or raises its error."""
        index = 0
        while True:
            with self._changed:
                while len(self._outputs) == index and self._result is None:
                    self._changed.wait()
                fresh, result = self._outputs[index:], self._result
            yield from fresh
            index += len(fresh)
            if result is not None:
                _raise_error(result)
                return

    async def __aiter__(self) -> AsyncIterator[TokenOutput]:
        """The same without blocking the running event loop."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed while its reader was still listening
                loop.call_soon_threadsafe(changed.set)

        with self._changed:
            self._listeners.append(wake)
        index = 0
        try:
            while True:
                changed.clear()
                with self._changed:
                    fresh, result = self._outputs[index:], self._result
                for output in fresh:
                    yield output
                index += len(fresh)
                if result is not None:
                    _raise_error(result)
                    return
                if not fresh:
                    await changed.wait()
        finally:
            with self._changed:
                self._listeners.remove(wake)

    # --- for the thread that reads the server

    def start(self) -> None:
        """It was sent."""
        self._state = "prefilling"

    def put(self, output: TokenOutput) -> None:
        """A piece came."""
        if self._first is None:
            self._first = time.monotonic()
            self._state = "generating"
        with self._changed:
            self._outputs.append(output)
            self._wake()
        if self._on_output is not None:
            self._on_output(self, output)

    def finish(self, result: GenerateResult) -> None:
        """The answer ended."""
        with self._changed:
            self._result = result
            self._state = "finished"
            self._wake()
        if self._on_finish is not None:
            self._on_finish(self, result)

    def text(self) -> str:
        """The whole answer so far, with what it went on from."""
        return self.request.answer_text + "".join(output.text for output in self._outputs)

    def usage_so_far(self) -> Usage:
        """What we can count ourselves: pieces."""
        return Usage(0, 0, len(self._outputs))

    def timings(self) -> Timings:
        """Until the first piece, and from there on."""
        now = time.monotonic()
        first = self._first if self._first is not None else now
        return Timings(0.0, first - self._submitted, now - first)

    def _wake(self) -> None:
        self._changed.notify_all()
        for listener in self._listeners:
            listener()


def _raise_error(result: GenerateResult) -> None:
    if result.error is not None:
        raise result.error
