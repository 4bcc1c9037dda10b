"""The jobs of one request: from the engine's thread to the server's loop, and stopped when nobody wants them."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from llama_gui.server.refusal import StoppingError
from llama_gui.server.served import ServedEngine, ServedJob
from llama_gui.vocabulary import EmbedRequest, GenerateRequest, GenerateResult, TokenOutput, Usage


@dataclass(frozen=True, slots=True)
class Arrived:
    """A token, or the end, of the answer to the request of this number.

    `prompt_logprobs`: those that the request asked for; the first token brings them.
    """

    choice: int
    item: TokenOutput | GenerateResult
    prompt_logprobs: tuple[TokenOutput | None, ...] = ()


class Answers:
    """Submits requests together, and tells what comes. Made and read in the server's loop.

    Iterate it for lists of `Arrived`, in order. It ends when every answer has ended.
    """

    def __init__(self, engine: ServedEngine, requests: Sequence[GenerateRequest | EmbedRequest]) -> None:
        self._engine = engine
        self._requests = requests
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._pile: deque[Arrived] = deque()
        self._drawn = [0] * len(requests)
        self._woken = False
        self._lock = threading.Lock()  # of the next two
        self._jobs: list[ServedJob] = []
        self._cancelled = False
        self._stopping = False

    async def submit(self) -> None:
        """Hand every request to the engine: it reads the prompts, so this is done in another thread.

        Raises what the engine's `submit` raises; then none of them runs on.
        """
        try:
            await asyncio.to_thread(self._submit)
        except BaseException:
            self.cancel()
            raise

    @property
    def prompt_token_ids(self) -> list[tuple[int, ...]]:
        """What each request came to, once all are submitted."""
        with self._lock:
            return [job.prompt_token_ids for job in self._jobs]

    def cancel(self) -> None:
        """Nobody wants the answers any more. Those that are still being submitted end too."""
        with self._lock:
            self._cancelled = True
            jobs = list(self._jobs)
        for job in jobs:
            job.cancel()

    def stop(self) -> None:
        """The server stops: whoever reads the answers gets `StoppingError`."""
        self._stopping = True
        self._news.set()
        self.cancel()

    async def batches(self, ping_seconds: float | None = None) -> AsyncIterator[list[Arrived]]:
        """What has arrived, as often as something has; an empty list when nothing came for `ping_seconds`."""
        left = len(self._requests)
        while left:
            batch = await self._next(ping_seconds)
            left -= sum(isinstance(arrived.item, GenerateResult) for arrived in batch)
            yield batch

    async def _next(self, ping_seconds: float | None) -> list[Arrived]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ping_seconds):
                while not self._has_news():
                    self._news.clear()
                    await self._news.wait()
        batch = [self._pile.popleft() for _ in range(len(self._pile))]
        if self._stopping:
            # What was written before is still told; that the jobs were cancelled is our own doing.
            batch = [arrived for arrived in batch if not _is_cancelled(arrived.item)]
            if not batch:
                raise StoppingError
        return batch

    def _has_news(self) -> bool:
        # Lowered before the pile is looked at: what comes in between is seen now, or wakes again.
        self._woken = False
        return bool(self._pile) or self._stopping

    def _submit(self) -> None:
        for choice, request in enumerate(self._requests):
            with self._lock:
                if self._cancelled:
                    return
            job = self._engine.submit(
                request,
                lambda job, output, choice=choice: self._put(self._token(choice, job, output)),
                lambda _job, result, choice=choice: self._put(Arrived(choice, self._as_counted(choice, result))),
            )
            with self._lock:
                self._jobs.append(job)
                cancelled = self._cancelled
            if cancelled:
                job.cancel()

    def _token(self, choice: int, job: ServedJob, output: TokenOutput) -> Arrived:
        request = self._requests[choice]
        wants_prompt = isinstance(request, GenerateRequest) and request.prompt_logprobs is not None
        is_first = not self._drawn[choice] and wants_prompt
        return Arrived(choice, output, job.prompt_logprobs if is_first else ())

    def _as_counted(self, choice: int, result: GenerateResult) -> GenerateResult:
        """A result as the protocol counts: what an answer goes on from belongs to the prompt."""
        usage, drawn = result.usage, self._drawn[choice]
        prompt = usage.prompt_tokens + usage.completion_tokens - drawn
        return replace(result, usage=Usage(prompt, min(usage.cached_tokens, prompt), drawn))

    def _put(self, arrived: Arrived) -> None:
        """In the engine's thread."""
        self._drawn[arrived.choice] += isinstance(arrived.item, TokenOutput)
        self._pile.append(arrived)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop was closed while the engine still wrote
                self._loop.call_soon_threadsafe(self._news.set)


def _is_cancelled(item: TokenOutput | GenerateResult) -> bool:
    return isinstance(item, GenerateResult) and item.finish_reason == "cancelled"
