"""The outputs of an answer on their way from the thread that makes them to those that read them. Safe in any thread."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from llama_gui.vocabulary import GenerateResult, JobState, TokenOutput
from llama_gui.vocabulary.checks import check_number


class AnswerStream:
    """What jobs of our engine and of other people's servers share: state, outputs, an end; for any number of readers.

    Iterate it (``for`` or ``async for``) for each `TokenOutput` from the first on. A loop that is left early does not
    stop the answer. One that fails raises its error from the loop, behind the tokens that came.
    """

    def __init__(self) -> None:
        self._cancelled = False
        self._state: JobState = "waiting"
        self._outputs: list[TokenOutput] = []
        self._result: GenerateResult | None = None
        lock = threading.RLock()
        self._changed = threading.Condition(lock)
        self._ended = threading.Condition(lock)  # whoever waits for the end is not woken by each token
        self._listeners: list[Callable[[], None]] = []

    @property
    def state(self) -> JobState:
        """waiting, prefilling (its prompt is being read), generating or finished."""
        return self._state

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called before the end."""
        return self._cancelled

    def cancel(self) -> None:
        """End the answer soon, our engine's within one step; one that is finished stays as it is."""
        if self._result is None and not self._cancelled:
            self._cancelled = True
            self._tell_cancelled()

    def result(self, timeout: float | None = None) -> GenerateResult:
        """Wait for the end, at most `timeout` seconds.

        Raises:
            TimeoutError: the answer is not finished by then; it goes on.
            InvalidRequestError: `timeout` is no number of seconds.
            GenerationError: it would wait for ever, see `_before_waiting`.
        """
        if timeout is not None:
            timeout = min(check_number("timeout", timeout, 0), threading.TIMEOUT_MAX)  # infinity is no timeout to it
        with self._changed:
            if self._result is None and timeout != 0:
                self._before_waiting()
            if not self._ended.wait_for(lambda: self._result is not None, timeout):
                raise TimeoutError(f"The answer was not finished within {timeout} seconds.")
            assert self._result is not None
            return self._result

    def __iter__(self) -> Iterator[TokenOutput]:
        """Each output as it is drawn; ends with the answer, or raises its error."""
        index = 0
        while True:
            with self._changed:
                while len(self._outputs) == index and self._result is None:
                    self._before_waiting()
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
                    self._before_waiting()
                    await changed.wait()
        finally:
            with self._changed:
                self._listeners.remove(wake)

    def _before_waiting(self) -> None:
        """Raise GenerationError where the answer can never come: in the very thread that makes it."""

    def _tell_cancelled(self) -> None:
        """Tell whoever makes the answer that nobody wants it any more. Called once."""
        raise NotImplementedError

    # --- for the thread that makes the answer

    def _add(self, output: TokenOutput) -> None:
        with self._changed:
            self._outputs.append(output)
            self._wake()

    def finish(self, result: GenerateResult) -> None:
        """The answer ended."""
        with self._changed:  # whoever sees the end finds the result, and vice versa
            self._result = result
            self._state = "finished"
            self._ended.notify_all()
            self._wake()

    def _wake(self) -> None:
        self._changed.notify_all()
        for listener in self._listeners:
            listener()


def _raise_error(result: GenerateResult) -> None:
    if result.error is not None:
        raise result.error
