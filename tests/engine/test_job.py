"""What a caller holds: readers from any thread, the end, and the way to stop."""

import asyncio
import math
import threading
import time
from typing import Any

import pytest

from llama_gui.engine.answer_state import AnswerState
from llama_gui.engine.job import Job
from llama_gui.errors import GenerationError, InvalidRequestError
from llama_gui.vocabulary import GenerateResult, SamplingParams, Timings, TokenOutput, Usage

ORIGIN = AnswerState((1,), (), SamplingParams())


def output(index: int) -> TokenOutput:
    return TokenOutput(text=str(index), token_id=index, index=index, logprob=-1.0)


def result(error: Exception | None = None) -> GenerateResult:
    return GenerateResult("", (), "error" if error else "stop", Usage(), Timings(), seed=0, error=error)


def job(prompt_tokens: int = 10) -> Job:
    return Job(AnswerState(tuple(range(prompt_tokens)), (), SamplingParams()), lambda: None)


def test_every_reader_gets_everything_from_the_first_on():
    one = job()
    got: list[list[int]] = [[], []]

    def read(into: list[int]) -> None:
        into.extend(out.index for out in one)

    early = threading.Thread(target=read, args=(got[0],))
    early.start()
    for index in range(20):
        one.put(output(index))
        time.sleep(0.001)
    late = threading.Thread(target=read, args=(got[1],))
    late.start()
    one.finish(result())
    early.join(10)
    late.join(10)
    assert got == [list(range(20))] * 2
    assert [out.index for out in one] == list(range(20))  # also when all is over


def test_async_readers_in_one_event_loop():
    one = job()

    async def read() -> list[int]:
        return [out.index async for out in one]

    async def main() -> list[list[int]]:
        readers = [asyncio.create_task(read()) for _ in range(2)]
        await asyncio.sleep(0)
        writer = threading.Thread(target=write)
        writer.start()
        done = await asyncio.gather(*readers)
        writer.join()
        return done

    def write() -> None:
        for index in range(20):
            one.put(output(index))
        one.finish(result())

    assert asyncio.run(main()) == [list(range(20))] * 2
    assert one._listeners == []


def test_an_async_reader_that_was_cancelled_listens_no_more():
    one = job()

    async def read() -> None:
        async for _ in one:
            pass

    async def main() -> None:
        reader = asyncio.create_task(read())
        await asyncio.sleep(0)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)

    asyncio.run(main())
    assert one._listeners == []
    one.finish(result())  # the event loop is closed: nobody may be woken there


def test_an_error_comes_behind_the_tokens():
    one = job()
    one.put(output(0))
    one.finish(result(GenerationError("broken")))
    reader = iter(one)
    assert next(reader).index == 0
    with pytest.raises(GenerationError, match="broken"):
        next(reader)
    assert one.result().finish_reason == "error"


def test_waiting_is_bounded_and_changes_nothing():
    one = job()
    with pytest.raises(TimeoutError, match=r"0\.01 seconds"):
        one.result(timeout=0.01)
    one.finish(result())
    assert one.result(timeout=0) == one.result(timeout=math.inf) == result()


@pytest.mark.parametrize("timeout", ["5", math.nan, -1])
def test_what_is_no_number_of_seconds(timeout: Any):
    with pytest.raises(InvalidRequestError, match="timeout"):
        job().result(timeout)


def test_cancel_is_told_once_and_only_before_the_end():
    told = []
    one = Job(ORIGIN, lambda: told.append(1))
    one.cancel()
    one.cancel()
    assert (told, one.is_cancelled) == ([1], True)
    other = Job(ORIGIN, lambda: told.append(2))
    other.finish(result())
    other.cancel()
    assert (told, other.is_cancelled) == ([1], False)


def test_states_and_progress(monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    one = job(prompt_tokens=30)
    assert (one.state, one.progress.eta_seconds) == ("waiting", None)
    one.start_prefill(cached_tokens=10)
    assert (one.state, one.progress.prompt_tokens_read, one.progress.eta_seconds) == ("prefilling", 10, None)
    now += 2
    one.read_prompt(20)  # ten tokens in two seconds, ten are left; the cached ones took none
    assert one.progress.eta_seconds == pytest.approx(2.0)
    one.put(output(0))
    assert (one.state, one.progress.eta_seconds, one.progress.tokens_per_second) == ("generating", None, 0.0)
    now += 1
    one.put(output(1))
    one.put(output(2))
    assert one.progress.tokens_per_second == pytest.approx(2.0)
    one.finish(result())
    assert one.state == "finished"
