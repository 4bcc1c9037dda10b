"""Reads one answer from a connection, with limits on its time and size; what has come is handed on at once."""

import asyncio
import json
from typing import Any

import httpx2

from llama_gui.errors import GenerationError
from llama_gui.server.endpoint import Endpoint
from llama_gui.server.remote_chunks import AnswerReader, Piece, error_text
from llama_gui.server.remote_faults import refused
from llama_gui.server.remote_job import RemoteJob
from llama_gui.server.sse import EventReader
from llama_gui.vocabulary import FinishReason, TokenOutput, Usage

MOST_ANSWER_LETTERS = 8 * 2**20
MOST_PIECES = 500_000
MOST_ERROR_BYTES = 64 * 2**10
MOST_REPLY_BYTES = 32 * 2**20

DONE = "[DONE]"


async def read_answer(
    client: httpx2.AsyncClient, endpoint: Endpoint, job: RemoteJob, route: str, body: dict[str, Any]
) -> tuple[FinishReason, Usage | None]:
    """Send a request and put what comes into `job`; why it ended, and what was counted.

    Raises:
        GenerationError: the server refused, failed, fell silent, or sent what is no answer.
        httpx2.HTTPError: the connection broke.
    """
    try:
        return await _Reading(client, endpoint, job).run(route, body)
    except _RefusedError as error:
        # An old server may not know this option. Nothing has been written yet, so it is asked again without it.
        if error.status in (400, 422) and "stream_options" in error.words:
            rest = {name: value for name, value in body.items() if name != "stream_options"}
            return await _Reading(client, endpoint, job).run(route, rest)
        raise


class _RefusedError(GenerationError):
    def __init__(self, text: str, status: int, words: str) -> None:
        super().__init__(text)
        self.status = status
        self.words = words


class _Reading:
    def __init__(self, client: httpx2.AsyncClient, endpoint: Endpoint, job: RemoteJob) -> None:
        self._client = client
        self._endpoint = endpoint
        self._job = job
        self._reader = AnswerReader()
        self._letters = 0
        self._call_pieces = 0
        self._is_done = False
        self._is_ending = False

    async def run(self, route: str, body: dict[str, Any]) -> tuple[FinishReason, Usage | None]:
        limits = self._endpoint.timeouts
        try:
            async with asyncio.timeout(limits.first) as self._deadline:
                await self._read(route, body)
        except TimeoutError as error:
            if self._reader.finish_reason is None:
                raise GenerationError(self._silence()) from error
        return self._end()

    def _silence(self) -> str:
        limits, name = self._endpoint.timeouts, self._endpoint.name
        if self._job.output_count or self._call_pieces:
            return f"{name} has sent nothing for {limits.idle:g} s, in the middle of the answer."
        return f"{name} has not begun to answer within {limits.first:g} s."

    async def _read(self, route: str, body: dict[str, Any]) -> None:
        async with self._client.stream("POST", self._endpoint.url(route), json=body) as response:
            if response.status_code != 200:
                await self._raise_refusal(response)
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise GenerationError(f"{self._endpoint.name} compresses its answers, which was not asked for.")
            kind = response.headers.get("content-type", "").lower()
            if kind.startswith("application/json"):  # it does not stream, or this is an error
                self._take(await self._whole(response))
                self._is_done = True
                return
            await self._read_events(response)

    async def _read_events(self, response: httpx2.Response) -> None:
        events = EventReader()
        async for chunk in response.aiter_raw():
            for data in events.feed(chunk):
                self._read_event(data)
            if self._is_done:
                return
        for data in events.finish():
            self._read_event(data)

    def _read_event(self, data: str) -> None:
        if self._is_done or not data.strip():
            return
        if data.strip() == DONE:
            self._is_done = True
            return
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise GenerationError(f"{self._endpoint.name} sent something that cannot be read.") from error
        self._take(value)

    def _take(self, value: Any) -> None:
        former = self._reader.call_letters
        pieces = self._reader.read(value)
        has_called = self._reader.call_letters > former
        self._call_pieces += has_called
        self._put(pieces)
        self._wait_on(is_alive=bool(pieces) or has_called)
        if self._reader.error:
            raise GenerationError(f"{self._endpoint.name} broke the answer off. It says: {self._reader.error}")

    def _put(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._letters += len(piece.text)
            output = TokenOutput(piece.text, -1, self._job.output_count, piece.logprob, piece.tops)
            self._job.put(output)
        letters = self._letters + self._reader.call_letters
        if letters > MOST_ANSWER_LETTERS or self._job.output_count + self._call_pieces > MOST_PIECES:
            raise GenerationError(f"{self._endpoint.name} does not end its answer: it was cut.")

    def _wait_on(self, *, is_alive: bool) -> None:
        """How long to wait for what comes next."""
        # What says nothing does not keep a connection alive, so that a silent server is noticed.
        limits, now = self._endpoint.timeouts, asyncio.get_running_loop().time()
        if is_alive:
            self._is_ending = False
            self._deadline.reschedule(now + limits.idle)
        elif self._reader.finish_reason is not None and not self._is_ending:
            self._is_ending = True
            self._deadline.reschedule(now + limits.after)

    def _end(self) -> tuple[FinishReason, Usage | None]:
        if self._reader.finish_reason is None and not self._is_done and not self._job.output_count:
            # llama-cpp-python's server does so when a prompt does not fit; others when they break down.
            raise GenerationError(
                f"{self._endpoint.name} ended the connection without an answer. Perhaps the conversation is too long "
                "for it."
            )
        if self._reader.finish_reason is None and not self._is_done:
            raise GenerationError(f"{self._endpoint.name} ended the connection before the answer was finished.")
        self._put(self._reader.finish())
        if self._reader.finish_reason is None and not self._job.output_count:
            raise GenerationError(f"{self._endpoint.name} sent no answer. Does its address end in /v1?")
        return self._reader.finish_reason or "stop", self._reader.usage

    async def _whole(self, response: httpx2.Response) -> Any:
        body = await _bytes(response, MOST_REPLY_BYTES)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise GenerationError(f"{self._endpoint.name} sent something that cannot be read.") from error

    async def _raise_refusal(self, response: httpx2.Response) -> None:
        body = await _bytes(response, MOST_ERROR_BYTES)
        try:
            words = error_text(json.loads(body))
        except (ValueError, RecursionError):
            words = ""
        raise _RefusedError(refused(self._endpoint, response, words), response.status_code, words)


async def _bytes(response: httpx2.Response, most: int) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > most:
            break
    return bytes(body[:most])
