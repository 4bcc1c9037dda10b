"""From a read request to its answer: a place at the gate, the engine, and the stream or the whole reply."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from llama_gui.errors import EngineClosedError, InvalidRequestError
from llama_gui.server.about import fingerprint
from llama_gui.server.answers import Answers, Arrived
from llama_gui.server.asgi import Send
from llama_gui.server.asked import Asked, fitted
from llama_gui.server.echo import Echo, read_echoes
from llama_gui.server.json_body import dump
from llama_gui.server.limits import Gate, ServerLimits
from llama_gui.server.loads import EngineLoads
from llama_gui.server.metrics import Metrics
from llama_gui.server.places import check_places
from llama_gui.server.refusal import RefusedError, refusal_of
from llama_gui.server.replies import Envelope
from llama_gui.server.served import Models, ServedEngine, name_for, refusal_by
from llama_gui.server.visits import Visit
from llama_gui.server.writers import Writer, whole_answer, writer_of
from llama_gui.vocabulary import EmbedRequest, GenerateRequest, GenerateResult, TokenOutput

_JSON = [(b"content-type", b"application/json")]
_STREAM = [
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy that collects the pieces would make them late
]


class Generator:
    """Answers requests in one event loop. `stop` ends what is under way, and lets nothing in any more."""

    def __init__(self, models: Models, limits: ServerLimits, metrics: Metrics) -> None:
        self._models = models
        self._limits = limits
        self._metrics = metrics
        self.gate = Gate(limits.streams, limits.queue)
        self.engines = EngineLoads(models)
        self._running: set[Answers] = set()
        self._fingerprints = WeakKeyDictionary[ServedEngine, str | None]()

    def stop(self) -> None:
        """The server ends."""
        self.gate.close()
        self.engines.close()
        for answers in self._running:
            answers.stop()

    async def answer(self, asked: Asked, visit: Visit, send: Send) -> None:
        """Answer a request; to cancel this is to cancel its jobs.

        Raises:
            RefusedError: it cannot be answered, and nothing was sent yet.
        """

        async def work(engine: ServedEngine, name: str) -> None:
            await self._answer_with(engine, name, asked, visit, send)

        stands_in = asked.protocol == "messages"
        await self.with_engine(
            asked.model, len(asked.requests), work, partial(_refusal, asked=asked), stands_in=stands_in
        )
        self._metrics.request_seconds.add(visit.seconds)

    async def with_engine(
        self,
        model: str | None,
        places: int,
        work: Callable[[ServedEngine, str], Awaitable[None]],
        refusal: Callable[[Exception, ServedEngine | None], Awaitable[RefusedError]],
        *,
        stands_in: bool = False,
    ) -> None:
        """Do `work` with the engine of a model and its name, once there are `places` for it at the gate.

        `stands_in`: see `name_for`. `refusal`: of what goes wrong; the engine is None where it could not be loaded.
        """
        name_for(self._models, model, stands_in=stands_in)  # a wrong name need not wait
        with await self.gate.enter(places):
            for is_last in (False, True):
                name = name_for(self._models, model, stands_in=stands_in)  # meanwhile it may have been unloaded
                engine: ServedEngine | None = None
                try:
                    engine = await self.engines.engine(name)
                    await work(engine, name)
                    break
                except Exception as error:
                    # A pool may close a model, to make room for another one, just before it is asked: load it again.
                    if is_last or not isinstance(error, EngineClosedError):
                        raise await refusal(error, engine) from error

    def embedder(self) -> str | None:
        """The name of the first model in memory that makes vectors; None: there is none."""
        return next((name for name, engine in self._models.loaded().items() if engine.info.embeds), None)

    async def results_of(
        self, engine: ServedEngine, requests: Sequence[GenerateRequest | EmbedRequest]
    ) -> list[GenerateResult]:
        """Ask all of these and wait for the ends. Raises what the engine's `submit` raises."""
        answers = Answers(engine, requests)
        self._running.add(answers)
        results: dict[int, GenerateResult] = {}
        try:
            await answers.submit()
            async for batch in answers.batches():
                for arrived in batch:
                    if isinstance(arrived.item, GenerateResult):
                        results[arrived.choice] = arrived.item
                        self._metrics.count_prompt(arrived.item.usage)
        finally:
            self._running.discard(answers)
            answers.cancel()
        return [results[choice] for choice in range(len(requests))]

    async def _fingerprint(self, engine: ServedEngine) -> str | None:
        if engine not in self._fingerprints:  # in a thread, because it reads the disk
            self._fingerprints[engine] = await asyncio.to_thread(fingerprint, engine)
        return self._fingerprints[engine]

    async def _answer_with(self, engine: ServedEngine, name: str, asked: Asked, visit: Visit, send: Send) -> None:
        """Raises EngineClosedError only before anything was sent."""
        asked = fitted(asked, engine.info)
        if asked.tools is not None or asked.documents:
            await asyncio.to_thread(check_places, asked, engine)
        echoes = await asyncio.to_thread(read_echoes, asked, engine.tokenizer) if asked.echo else []
        answers = Answers(engine, asked.requests)
        self._running.add(answers)
        try:
            await answers.submit()
            prompts = answers.prompt_token_ids
            visit.prompt_tokens = sum(map(len, prompts[:: max(1, len(prompts) // asked.prompts)]))
            envelope = Envelope(name, asked.is_chat, await self._fingerprint(engine))
            task = _Task(asked, envelope, engine, answers, self._metrics, visit, echoes)
            await (task.stream(send, self._limits.ping_seconds) if asked.stream else task.reply(send))
        finally:
            self._running.discard(answers)
            answers.cancel()


@dataclass(frozen=True, slots=True)
class _Task:
    """One request in the engine."""

    asked: Asked
    envelope: Envelope
    engine: ServedEngine
    answers: Answers
    metrics: Metrics
    visit: Visit
    echoes: Sequence[Echo]

    async def stream(self, send: Send, ping_seconds: float) -> None:
        """Send the pieces as they come. What fails once the stream has begun is told in it."""
        prompts = self.answers.prompt_token_ids
        writer = writer_of(self.asked, self.envelope, self.engine, self.echoes, prompts)
        headers = [(b"content-type", writer.media_type.encode()), *_STREAM]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send_part(send, writer.begin())
        last_sent = time.monotonic()
        try:
            async for batch in self.answers.batches(ping_seconds):
                self._note(arrived.item for arrived in batch)
                # A call may be held back for minutes until it is whole, and clients wait no longer than one.
                is_due = not batch or time.monotonic() - last_sent >= ping_seconds
                if await _send_batch(send, writer, batch, pings=is_due):
                    last_sent = time.monotonic()
            last = writer.end()
        except Exception as error:
            refused = refusal_of(error, self.engine.info.path, is_chat=self.asked.is_chat)
            self.visit.code = refused.code
            last = writer.failure(refused)
        await send({"type": "http.response.body", "body": last})

    async def reply(self, send: Send) -> None:
        """Send the whole answer when it is there."""
        count = len(self.asked.requests)
        outputs: list[list[TokenOutput]] = [[] for _ in range(count)]
        results: dict[int, GenerateResult] = {}
        async for batch in self.answers.batches():
            self._note(arrived.item for arrived in batch)
            for arrived in batch:
                if isinstance(arrived.item, TokenOutput):
                    outputs[arrived.choice].append(arrived.item)
                else:
                    results[arrived.choice] = arrived.item
        ordered = [results[choice] for choice in range(count)]
        prompts = self.answers.prompt_token_ids
        whole = whole_answer(self.asked, self.envelope, self.engine, ordered, outputs, self.echoes, prompts)
        await send_json(send, dump(whole))

    def _note(self, items: Iterable[TokenOutput | GenerateResult]) -> None:
        for item in items:
            if isinstance(item, GenerateResult):
                self.metrics.count_prompt(item.usage)
                continue
            self.metrics.completion_tokens += 1
            self.visit.completion_tokens += 1
            if self.visit.completion_tokens == 1:
                self.metrics.first_token_seconds.add(self.visit.seconds)


async def _refusal(error: Exception, engine: ServedEngine | None, *, asked: Asked) -> RefusedError:
    if engine is None or isinstance(error, RefusedError):
        return refusal_of(error)
    of_form = asked.form.refusal(error) if isinstance(error, InvalidRequestError) else None
    if of_form is not None:
        return of_form
    return await asyncio.to_thread(refusal_by, engine, error, asked.requests[0], is_chat=asked.is_chat)


async def send_json(send: Send, body: bytes) -> None:
    """A whole JSON reply."""
    headers = [*_JSON, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_batch(send: Send, writer: Writer, batch: Sequence[Arrived], *, pings: bool) -> bool:
    """All events of a batch in one piece; where one of them is a failure, what came before it is sent first.

    `pings`: where there are none, the client is told that it is not forgotten. Whether anything was sent.
    """
    parts: list[bytes] = []
    try:
        for arrived in batch:
            parts.append(writer.events(arrived))
        if pings and not any(parts):
            parts.append(writer.ping)
    finally:
        await _send_part(send, b"".join(parts))
    return any(parts)


async def _send_part(send: Send, body: bytes) -> None:
    if body:
        await send({"type": "http.response.body", "body": body, "more_body": True})
