"""The face of `llama_gui.engine.Engine` over somebody else's OpenAI-compatible server."""

import asyncio
import contextlib
import json
import secrets
import threading
from dataclasses import replace
from typing import Any, Self

import httpx2

from llama_gui.errors import EndpointError, EngineClosedError, GenerationError, InvalidRequestError
from llama_gui.server.endpoint import Dialect, Endpoint, RemoteModel, read_models
from llama_gui.server.remote_chunks import error_text
from llama_gui.server.remote_faults import refused, unreachable
from llama_gui.server.remote_job import OnFinish, OnOutput, RemoteJob
from llama_gui.server.remote_reading import read_answer
from llama_gui.server.remote_request import remote_body
from llama_gui.vocabulary import (
    DEFAULT_SAMPLING,
    EngineStats,
    FinishReason,
    GenerateRequest,
    GenerateResult,
    ModelInfo,
    Usage,
)

MOST_LIST_BYTES = 16 * 2**20


_SEEDED: tuple[Dialect, ...] = ("vllm", "sglang", "llama.cpp", "ollama", "lmstudio", "llama-gui")
"""Servers that draw with the seed that they are sent: one is always sent, so that answers can be had again."""


def list_models(endpoint: Endpoint) -> list[RemoteModel]:
    """The models that a server offers; this waits for it.

    Raises:
        EndpointError: it cannot be reached, wants another key, or answers something else.
    """
    try:
        with httpx2.Client(**endpoint.client_options) as client:
            return read_models(_get_json(client, endpoint), endpoint)
    except httpx2.HTTPError as error:
        raise EndpointError(unreachable(endpoint, error)) from error


def _get_json(client: httpx2.Client, endpoint: Endpoint) -> Any:
    body = bytearray()
    timeout = httpx2.Timeout(30.0, connect=endpoint.timeouts.connect)
    with client.stream("GET", endpoint.url("models"), timeout=timeout) as response:
        for part in response.iter_raw():
            body += part
            if len(body) > MOST_LIST_BYTES:
                raise EndpointError(f"{endpoint.name} sends a list of models that has no end.")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if response.status_code != 200:
        raise EndpointError(refused(endpoint, response, error_text(value)))
    if value is None:
        raise EndpointError(f"{endpoint.name} does not answer as an OpenAI server does. Does its address end in /v1?")
    return value


class RemoteEngine:
    """A model on somebody else's server. Made by `connect`, or with what is known of it; a context manager.

    `submit` and the rest may be called from any thread. All connections live in one thread: the one that calls `run`,
    or, when nobody does, a thread of the engine's own which starts with the first request.
    """

    def __init__(self, endpoint: Endpoint, model: RemoteModel) -> None:
        self._endpoint = endpoint
        self._model = model
        self._lock = threading.Lock()  # of the thread and the loop
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._ended = threading.Event()
        self._stopping = False
        self._tasks: dict[RemoteJob, asyncio.Task[None]] = {}
        self._client: httpx2.AsyncClient | None = None

    @classmethod
    def connect(cls, endpoint: Endpoint, model: str | None = None) -> Self:
        """The engine of a model; None: the first that the server has. This asks the server.

        Raises:
            EndpointError: see `list_models`; or it has no such model.
        """
        models = list_models(endpoint)
        found = next((entry for entry in models if model in (None, entry.name)), None)
        if found is None:
            names = ", ".join(entry.name for entry in models[:20])
            raise EndpointError(f"{endpoint.name} has no model {model or ''}. It has: {names or 'none'}.")
        return cls(endpoint, found)

    @property
    def info(self) -> ModelInfo:
        """What is known of the model. `max_context` 0 and `parameters` 0: the server does not say."""
        return ModelInfo(
            name=self._model.name,
            path=f"{self._endpoint.base_url}#{self._model.name}",
            architecture=self._model.dialect,
            parameters=0,
            max_context=self._model.max_context,
            dtype="",
            device=self._endpoint.name,
            sampling=DEFAULT_SAMPLING,
            has_chat_template=True,
            tools=True,
            reads_images=True,  # or its server says what it does not read
        )

    @property
    def is_on_internet(self) -> bool:
        """Whether its server is; one nearby often reads no more than 4,096 tokens, and does not say so."""
        return self._endpoint.is_on_internet

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return not self._tasks

    def stats(self) -> EngineStats:
        """Pieces per second of all answers, and how many there are."""
        jobs = list(self._tasks)
        speed = sum(job.progress.tokens_per_second for job in jobs)
        return EngineStats(speed, len(jobs), len(jobs), 0, 0, 0, "", self._endpoint.name, 0, batch_invariant=False)

    def submit(
        self, request: GenerateRequest, on_output: OnOutput | None = None, on_finish: OnFinish | None = None
    ) -> RemoteJob:
        """Send `request`, and return at once. The callbacks run in the engine's thread: hand over and return.

        Raises:
            InvalidRequestError: the server cannot do what is asked.
            EngineClosedError: the engine was stopped.
        """
        if request.sampling.seed is None and self._model.dialect in _SEEDED:
            seed = secrets.randbelow(2**31)
            request = replace(request, sampling=replace(request.sampling, seed=seed))
        route, body = remote_body(request, self._model.name, self._model.dialect)
        job = RemoteJob(request, self._cancel, on_output, on_finish)
        self._call(lambda: self._start(job, route, body))
        return job

    def generate(self, request: GenerateRequest) -> GenerateResult:
        """Submit and wait. Raises what `submit` raises; a failure in flight is in the result."""
        return self.submit(request).result()

    # --- running and ending

    def run(self) -> None:
        """Be the engine's thread until `stop` is called."""
        with self._lock:
            mine = self._thread is None and not self._stopping
            if mine:
                self._thread = threading.current_thread()
        if mine:
            self._run_here()
        elif self._thread is not None:
            self._ended.wait()

    def stop(self) -> None:
        """End every answer as cancelled and let `run` return; from any thread. There is no restart."""
        with self._lock:
            self._stopping = True
            if self._loop is not None:
                with contextlib.suppress(RuntimeError):  # it has ended by itself
                    self._loop.call_soon_threadsafe(self._stop_here)

    def close(self) -> None:
        """Stop, and wait until all connections are closed."""
        self.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._ended.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, function: Any) -> None:
        with self._lock:
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._run_here, name="llama-gui-remote", daemon=True)
                self._thread.start()
            begun = self._thread is not None
        if begun:
            self._ready.wait()
        closed = EngineClosedError(f"The connection to {self._endpoint.name} was closed.")
        with self._lock:  # so that nothing is called behind the call to stop
            if self._stopping or self._loop is None:
                raise closed
            try:
                self._loop.call_soon_threadsafe(function)
            except RuntimeError as error:  # the loop has ended by itself
                raise closed from error

    def _cancel(self, job: RemoteJob) -> None:
        with contextlib.suppress(EngineClosedError):  # then it ends, or has ended, with all others
            self._call(lambda: self._cancel_here(job))

    # --- the engine's thread

    def _run_here(self) -> None:
        try:
            asyncio.run(self._main())
        finally:
            self._ready.set()
            self._ended.set()

    async def _main(self) -> None:
        self._end = asyncio.Event()
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=8)
        async with httpx2.AsyncClient(limits=limits, **self._endpoint.client_options) as self._client:
            with self._lock:
                self._loop = asyncio.get_running_loop()
                if self._stopping:
                    self._end.set()
            self._ready.set()
            await self._end.wait()
            await asyncio.sleep(0)  # what was called last begins before it ends
            for task in list(self._tasks.values()):
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _stop_here(self) -> None:
        self._end.set()

    def _start(self, job: RemoteJob, route: str, body: dict[str, Any]) -> None:
        task = self._tasks[job] = asyncio.create_task(self._answer(job, route, body))
        # A task that is cancelled before its first step never runs: nobody but this tells the job that it ended.
        task.add_done_callback(lambda ended: self._finish(job, "cancelled") if ended.cancelled() else None)
        if job.is_cancelled or self._end.is_set():
            task.cancel()

    def _cancel_here(self, job: RemoteJob) -> None:
        task = self._tasks.get(job)
        if task is not None:
            task.cancel()

    async def _answer(self, job: RemoteJob, route: str, body: dict[str, Any]) -> None:
        reason: FinishReason = "error"
        usage: Usage | None = None
        error: Exception | None = None
        try:
            assert self._client is not None
            job.start()
            reason, usage = await read_answer(self._client, self._endpoint, job, route, body)
        except asyncio.CancelledError:
            reason = "cancelled"
        except (GenerationError, InvalidRequestError) as caught:
            error = caught
        except httpx2.HTTPError as caught:
            error = GenerationError(unreachable(self._endpoint, caught, began=bool(job.output_count)))
        except Exception as caught:
            error = GenerationError(f"The answer of {self._endpoint.name} cannot be read: {type(caught).__name__}.")
        self._finish(job, reason, usage, error)

    def _finish(
        self, job: RemoteJob, reason: FinishReason, usage: Usage | None = None, error: Exception | None = None
    ) -> None:
        self._tasks.pop(job, None)
        job.finish(
            GenerateResult(
                text=job.text(),
                token_ids=(),
                finish_reason=reason,
                usage=usage or job.usage_so_far(),
                timings=job.timings(),
                seed=job.request.sampling.seed or 0,
                error=error,
            )
        )
