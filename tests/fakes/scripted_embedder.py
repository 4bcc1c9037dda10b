"""An engine for embeddings that knows what texts mean: it looks for words in them. Without torch."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from llama_gui.errors import EngineClosedError, GenerationError
from llama_gui.vocabulary import EmbedRequest, EngineStats, GenerateResult, ModelInfo, Timings, Usage
from tests.fakes.scripted_engine import ScriptedEngine


class EmbedderJob:
    """A text that becomes a vector."""

    def __init__(self, vector: tuple[float, ...] | None) -> None:
        self.cancelled = threading.Event()
        self._vector = vector
        self._ended = threading.Event()
        self._result: GenerateResult | None = None

    def cancel(self) -> None:
        """From any thread."""
        self.cancelled.set()

    def result(self, timeout: float | None = None) -> GenerateResult:
        """Wait for the end."""
        if not self._ended.wait(timeout):
            raise TimeoutError
        assert self._result is not None
        return self._result

    def finish(self, *, is_stopped: bool = False) -> None:
        """Tell the vector, or that there is none."""
        done = GenerateResult("", (), "stop", Usage(), Timings(), seed=0)
        if is_stopped or self.cancelled.is_set():
            self._result = replace(done, finish_reason="cancelled")
        elif self._vector is None:
            self._result = replace(done, finish_reason="error", error=GenerationError("It broke."))
        else:
            self._result = replace(done, embedding=self._vector)
        self._ended.set()


class ScriptedEmbedder:
    """Gives the vector of the first word of `meanings` that a text has; `otherwise` where it has none, None: it breaks.

    `may_go`: while it is not set, texts wait until they are cancelled.
    """

    def __init__(
        self, meanings: Mapping[str, Sequence[float]], otherwise: Sequence[float] | None = (0.0, 0.0, 1.0)
    ) -> None:
        self.texts: list[str] = []
        """Every text that was taken, oldest first."""
        self.taken: list[EmbedderJob] = []
        """Their jobs."""
        self.may_go = threading.Event()
        self.may_go.set()
        self._meanings = meanings
        self._otherwise = otherwise
        self._jobs: list[EmbedderJob] = []
        self._stopped = threading.Event()
        self.info: ModelInfo = replace(ScriptedEngine(name="Embedder").info, embeds=True, dimensions=3)

    def submit(self, request: EmbedRequest) -> EmbedderJob:
        """Take a text; from any thread."""
        text = request.prompt or ""
        if self._stopped.is_set():
            raise EngineClosedError("The model was closed.")
        vector = next((made for word, made in self._meanings.items() if word in text), self._otherwise)
        job = EmbedderJob(None if vector is None else tuple(vector))
        self.taken.append(job)
        self._jobs.append(job)
        self.texts.append(text)  # last: tests wait for it
        return job

    def stats(self) -> EngineStats:
        """From any thread."""
        running = len(self._jobs)
        return EngineStats(0, running, running, 0, 0, 0, "float32", "cpu", 1, True)

    def run(self) -> None:
        """Answer until `stop`."""
        while not self._stopped.wait(0.001):
            for job in list(self._jobs):
                if self.may_go.is_set() or job.cancelled.is_set():
                    self._jobs.remove(job)
                    job.finish()
        for job in self._jobs:
            job.finish(is_stopped=True)

    def stop(self) -> None:
        """End all; from any thread."""
        self._stopped.set()

    def close(self) -> None:
        """Stop for good."""
        self.stop()


def load_by_key(**engines: object) -> Callable[..., object]:
    """A `load_engine` for `EngineHost`: models by their keys."""
    return lambda order: engines[order.key]
