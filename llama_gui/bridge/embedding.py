"""Texts turned into vectors by a loaded model, in a thread that may wait, until somebody else needs its time."""

import threading
import time
from collections.abc import Sequence
from typing import Protocol, cast

from llama_gui.bridge.engine_thread import EngineLike
from llama_gui.vocabulary import EmbedRequest, GenerateResult, ModelInfo


class EmbedJob(Protocol):
    """A text on its way; each of these is safe from any thread."""

    def result(self, timeout: float | None = None) -> GenerateResult: ...

    def cancel(self) -> None: ...


class Embedder(Protocol):
    """An engine whose model makes vectors. Safe from any thread."""

    @property
    def info(self) -> ModelInfo: ...

    def submit(self, request: EmbedRequest) -> EmbedJob: ...


def embedder_of(engine: EngineLike | None) -> Embedder | None:
    """The engine for embeddings that this is; None: it is none, or there is none."""
    return cast("Embedder", engine) if engine is not None and engine.info.embeds else None


class Embedding:
    """Some texts that become vectors together, once. `cancel` may be called from any thread, at any time."""

    def __init__(self, engine: Embedder, dimensions: int) -> None:
        """`dimensions`: how many numbers of each vector are wanted, where it has as many."""
        self._engine = engine
        self._dimensions = min(dimensions, engine.info.dimensions)
        self._cancelled = threading.Event()
        self._jobs: list[EmbedJob] = []

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody wanted it to end."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End soon; what is finished is kept."""
        self._cancelled.set()
        for job in list(self._jobs):
            job.cancel()

    def run(self, texts: Sequence[str], limit_s: float | None = None) -> list[tuple[float, ...] | None]:
        """The vector of each text, of length one; None where it was cancelled or not done after so many seconds.

        What is longer than the model reads is cut. A text that fails gets None, too, while others have a vector.

        Raises:
            UserError: none has one, and why; or the model has gone.
        """
        until = None if limit_s is None else time.monotonic() + limit_s
        try:
            for text in texts:
                self._jobs.append(self._engine.submit(EmbedRequest(text, dimensions=self._dimensions, truncate=True)))
                if self.is_cancelled:  # it was set before this one was in the list
                    self.cancel()
                    break
            results = [_result(job, until) for job in self._jobs]
        finally:
            for job in self._jobs:
                job.cancel()  # those that are not done
        vectors = [result.embedding or None if result is not None else None for result in results]
        errors = [result.error for result in results if result is not None and result.error is not None]
        if errors and not any(vectors):
            raise errors[0]
        return [*vectors, *[None] * (len(texts) - len(vectors))]


def _result(job: EmbedJob, until: float | None) -> GenerateResult | None:
    try:
        return job.result(None if until is None else max(0.0, until - time.monotonic()))
    except TimeoutError:
        return None
