"""An answer that somebody else's server writes; the face of `llama_gui.engine.Job`. Safe in any thread."""

import time
from collections.abc import Callable

from llama_gui.answer_stream import AnswerStream
from llama_gui.vocabulary import GenerateRequest, GenerateResult, JobProgress, Timings, TokenOutput, Usage

OnOutput = Callable[["RemoteJob", TokenOutput], None]
OnFinish = Callable[["RemoteJob", GenerateResult], None]


class RemoteJob(AnswerStream):
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
        super().__init__()
        self.request = request
        self._on_cancel = on_cancel
        self._on_output = on_output
        self._on_finish = on_finish
        self._submitted = time.monotonic()
        self._first: float | None = None

    # --- for the caller

    @property
    def progress(self) -> JobProgress:
        """Pieces per second; how much of a prompt is read, servers do not tell."""
        elapsed = time.monotonic() - self._first if self._first is not None else 0.0
        behind = max(0, len(self._outputs) - 1)  # the first one's time is noted before it comes
        return JobProgress(0, 0, behind / elapsed if elapsed > 0 else 0.0, None)

    @property
    def output_count(self) -> int:
        """How many pieces have come."""
        return len(self._outputs)

    def _tell_cancelled(self) -> None:
        self._on_cancel(self)

    # --- for the thread that reads the server

    def start(self) -> None:
        """It was sent."""
        self._state = "prefilling"

    def put(self, output: TokenOutput) -> None:
        """A piece came."""
        if self._first is None:
            self._first = time.monotonic()
            self._state = "generating"
        self._add(output)
        if self._on_output is not None:
            self._on_output(self, output)

    def finish(self, result: GenerateResult) -> None:
        """The answer ended."""
        super().finish(result)
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
