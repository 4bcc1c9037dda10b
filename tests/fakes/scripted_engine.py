"""An engine that answers from a script: the public face of `llama_gui.engine.Engine`, without torch."""

import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from llama_gui.errors import EngineClosedError, GenerationError, PromptTooLongError
from llama_gui.vocabulary import (
    DEFAULT_SAMPLING,
    ContextUse,
    EngineStats,
    FinishReason,
    GenerateRequest,
    GenerateResult,
    JobProgress,
    JobState,
    ModelInfo,
    Timings,
    TokenOutput,
    Usage,
)

OnOutput = Callable[["ScriptedJob", TokenOutput], None]
OnFinish = Callable[["ScriptedJob", GenerateResult], None]


class ScriptedJob:
    """One request in flight: its pieces come one for each step of the engine."""

    def __init__(
        self, request: GenerateRequest, pieces: Sequence[str], on_output: OnOutput | None, on_finish: OnFinish | None
    ) -> None:
        self.drops = 0
        self.prompt_logprobs: tuple[TokenOutput | None, ...] = ()  # it knows none
        self.request = request
        self.state: JobState = "waiting"
        self._pieces = list(pieces)[: request.max_tokens]
        self._is_cut = len(self._pieces) < len(pieces)
        self._drawn = 0
        self._on_output = on_output
        self._on_finish = on_finish
        self._result: Future[GenerateResult] = Future()
        self._cancelled = threading.Event()
        self._started = time.monotonic()

    @property
    def prompt_token_ids(self) -> tuple[int, ...]:
        """One for each word."""
        return tuple(range(count_words(self.request)))

    def cancel(self) -> None:
        """End before the next piece; from any thread."""
        self._cancelled.set()

    def result(self, timeout: float | None = None) -> GenerateResult:
        """Wait for the end."""
        return self._result.result(timeout)

    @property
    def progress(self) -> JobProgress:
        """Prompt tokens are the words of the request."""
        prompt = count_words(self.request)
        elapsed = max(time.monotonic() - self._started, 1e-6)
        read = 0 if self.state == "waiting" else prompt
        return JobProgress(read, prompt, self._drawn / elapsed, None if read else 0.0)

    def step(self, fail_at: int | None, hang_at: int | None) -> None:
        """Draw one piece, or end."""
        self.state = "generating"
        if self._cancelled.is_set():
            self.finish("cancelled")
        elif self._drawn == fail_at:
            self.finish("error", GenerationError(f"The model's numbers are not finite at token {self._drawn}."))
        elif self._drawn == hang_at:
            return
        elif self._drawn == len(self._pieces):
            self.finish("length" if self._is_cut else "stop")
        else:
            output = TokenOutput(self._pieces[self._drawn], token_id=self._drawn, index=self._drawn, logprob=-0.5)
            self._drawn += 1
            if self._on_output is not None:
                self._on_output(self, output)

    def finish(self, reason: FinishReason, error: Exception | None = None) -> None:
        """End, and tell."""
        self.state = "finished"
        result = GenerateResult(
            text="".join(self._pieces[: self._drawn]),
            token_ids=tuple(range(self._drawn)),
            finish_reason=reason,
            usage=Usage(count_words(self.request), 0, self._drawn),
            timings=Timings(0.0, 0.0, time.monotonic() - self._started),
            seed=self.request.sampling.seed if self.request.sampling.seed is not None else 7,
            error=error,
            dropped_messages=self.drops,
        )
        self._result.set_result(result)
        if self._on_finish is not None:
            self._on_finish(self, result)


class ScriptedEngine:
    """Answers the last message of each request with the pieces that `script` has for it.

    Args:
        script: question -> pieces; one that is not in it is answered with its own words.
        tokens_per_second: of each job; 0 is as fast as it can.
        fail_at: an answer fails in place of its token of this number.
        hang_at: an answer waits in place of its token of this number until it is cancelled; `hang_on` names the
            questions for which it does, None for all.
        max_context: a request with as many words, or more, is too long.
        drops: how many of the oldest messages it says were not sent.
        tools: whether its template has a place for tools.
    """

    def __init__(
        self,
        script: Mapping[str, Sequence[str]] | None = None,
        *,
        tokens_per_second: float = 0,
        fail_at: int | None = None,
        hang_at: int | None = None,
        hang_on: Sequence[str] | None = None,
        max_context: int = 4096,
        drops: int = 0,
        name: str = "Scripted",
        tools: bool = True,
        reads_images: bool = False,
    ) -> None:
        self.requests: list[GenerateRequest] = []
        """Every request that was taken, oldest first."""
        self.threads: set[int] = set()
        """The threads that have called `run`."""
        self.is_closed = False
        self._script = dict(script or {})
        self._drops = drops
        self._tokens_per_second = tokens_per_second
        self._fail_at = fail_at
        self._hang_at = hang_at
        self._hang_on = hang_on
        self._jobs: list[ScriptedJob] = []
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self.info = ModelInfo(
            name=name,
            path=f"/models/{name}",
            architecture="ScriptedForCausalLM",
            parameters=1,
            max_context=max_context,
            dtype="float32",
            device="cpu",
            sampling=DEFAULT_SAMPLING,
            has_chat_template=True,
            tools=tools,
            reads_images=reads_images,
        )

    def submit(
        self, request: GenerateRequest, on_output: OnOutput | None = None, on_finish: OnFinish | None = None
    ) -> ScriptedJob:
        """Take a request; from any thread."""
        words = count_words(request)
        if words >= self.info.max_context:
            raise PromptTooLongError(words, self.info.max_context)
        question = last_text(request)
        job = ScriptedJob(request, self._script.get(question) or pieces_of(question), on_output, on_finish)
        job.drops = self._drops
        with self._changed:
            if self._stopped.is_set():
                raise EngineClosedError("The model was closed.")
            self.requests.append(request)
            self._jobs.append(job)
            self._changed.notify()
        return job

    def count(self, text: str) -> int:
        """Words."""
        return len(text.split())

    def measure(self, request: GenerateRequest) -> ContextUse:
        """Words; nothing is left out but what the test says."""
        return ContextUse(count_words(request), self.info.max_context, self._drops)

    def stats(self) -> EngineStats:
        """Plausible numbers; from any thread."""
        running = len(self._jobs)
        speed = running * self._tokens_per_second
        return EngineStats(speed, running, running, 0, 0, 0, "float32", "cpu", 1, True)

    def run(self) -> None:
        """One piece for each job, again and again, in the calling thread, until `stop`."""
        self.threads.add(threading.get_ident())
        while not self._stopped.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._stopped.is_set())
                jobs = list(self._jobs)
            for job in jobs:
                self._step(job)
            with self._changed:
                self._jobs = [job for job in self._jobs if job.state != "finished"]
            # Also at full speed this waits a moment, so that other threads get their turn as they do beside torch.
            self._stopped.wait(1 / self._tokens_per_second if self._tokens_per_second else 0.0005)
        with self._changed:
            jobs, self._jobs = self._jobs, []
        for job in jobs:
            job.finish("cancelled")

    def stop(self) -> None:
        """End all jobs as cancelled and let `run` return, also one that has not begun; from any thread."""
        self._stopped.set()
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Stop for good."""
        self.stop()
        self.is_closed = True

    def _step(self, job: ScriptedJob) -> None:
        hangs = self._hang_on is None or last_text(job.request) in self._hang_on
        job.step(self._fail_at, self._hang_at if hangs else None)


def loader(*engines: "ScriptedEngine | Exception") -> Callable[[object], ScriptedEngine]:
    """A `load_engine` for `EngineHost`: each load gives the next, the last one for ever; an error is raised."""
    remaining = itertools.chain(engines, itertools.repeat(engines[-1]))

    def load(_order: object) -> ScriptedEngine:
        engine = next(remaining)
        if isinstance(engine, Exception):
            raise engine
        return engine

    return load


def last_text(request: GenerateRequest) -> str:
    """What was asked."""
    return request.messages[-1].content if request.messages else request.prompt or ""


def pieces_of(text: str) -> list[str]:
    """The words of a text, each with the space before it."""
    words = text.split()
    return words[:1] + [f" {word}" for word in words[1:]]


def count_words(request: GenerateRequest) -> int:
    """The words of all messages, and one for each tool."""
    texts = [message.content for message in request.messages] if request.messages else [request.prompt or ""]
    return sum(len(text.split()) for text in texts) + len(request.tools or ())
