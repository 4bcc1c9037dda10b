"""The engine's face over other servers: ones that say what a test tells them, and our own."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from llama_gui.engine import Engine
from llama_gui.errors import EndpointError, EngineClosedError, GenerationError, InvalidRequestError
from llama_gui.server.endpoint import Endpoint, RemoteModel, Timeouts
from llama_gui.server.remote import RemoteEngine, list_models
from llama_gui.server.remote_job import RemoteJob
from llama_gui.server.remote_reading import MOST_ANSWER_LETTERS
from llama_gui.vocabulary import GenerateRequest, GenerateResult, Message, SamplingParams
from tests.server.conftest import KEY, Serve, ServedScript
from tests.server.talking_server import Asked, Say, TalkingServer, chunk, json_reply, reply
from tests.server.test_connection import eventually

RECORDED = Path(__file__).parent / "recorded"
HI = GenerateRequest(messages=[Message("user", "Hi")], max_tokens=9)
QUICK = Timeouts(connect=10, first=30, idle=30, after=0.2)
END = chunk(finish_reason="stop") + b"data: [DONE]\n\n"

Talk = Callable[..., tuple[RemoteEngine, TalkingServer]]


@pytest.fixture
def talk() -> Iterator[Talk]:
    """A remote engine over a server that says this: bytes, or a function of what it is asked."""
    open_ones: list = []

    def talk(say: bytes | Say, dialect="other", timeouts: Timeouts = QUICK) -> tuple[RemoteEngine, TalkingServer]:
        server = TalkingServer(say if callable(say) else lambda _asked: [say]).__enter__()
        engine = RemoteEngine(
            Endpoint("Test", server.url, key="sk-secret", timeouts=timeouts), RemoteModel("m", dialect)
        )
        open_ones.append((engine, server))
        return engine, server

    yield talk
    for engine, server in open_ones:
        engine.close()
        server.__exit__()


def error_of(result: GenerateResult) -> str:
    assert result.finish_reason == "error"
    assert isinstance(result.error, GenerationError)
    assert "sk-secret" not in str(result.error)
    return str(result.error)


def test_the_speed_is_never_below_zero():
    """As the window may ask it, between the first piece's time and the piece itself."""
    job = RemoteJob(HI, lambda _job: None)
    job._first = time.monotonic() - 1
    assert job.progress.tokens_per_second == 0


# --- good answers


@pytest.mark.parametrize(
    "name", ["openai", "vllm", "sglang", "llamacpp", "ollama", "lmstudio", "openwebui", "openrouter", "tools"]
)
def test_recorded_streams_become_answers(talk: Talk, name: str):
    engine, server = talk(reply((RECORDED / f"{name}.sse").read_bytes()))
    job = engine.submit(HI)
    pieces = list(job)
    result = job.result()
    assert "".join(piece.text for piece in pieces) == result.text != ""
    assert [piece.index for piece in pieces] == list(range(len(pieces)))
    expected = "length" if name in ("vllm", "llamacpp") else "stop"
    assert (result.finish_reason, result.error) == (expected, None)
    assert server.asked[0].line == "POST /v1/chat/completions HTTP/1.1"
    assert server.asked[0].headers["authorization"] == "Bearer sk-secret"
    assert server.asked[0].body["messages"] == [{"role": "user", "content": "Hi"}]


def test_every_byte_may_come_alone(talk: Talk):
    stream = (RECORDED / "openai.sse").read_bytes()[:900] + b"\n\n" + END
    engine, _ = talk(lambda _asked: [reply(b""), *(stream[at : at + 1] for at in range(len(stream)))])
    assert engine.generate(HI).text.startswith("Grüße")


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (chunk("Hi") + chunk(finish_reason="stop"), "stop"),  # without [DONE]
        (chunk("Hi") + b"data: [DONE]\n\n", "stop"),  # without a reason
        (chunk("Hi", finish_reason="length"), "length"),
        ((chunk("Hi") + chunk(finish_reason="stop")).rstrip(b"\n"), "stop"),
    ],
)
def test_what_may_be_missing(talk: Talk, stream: bytes, reason: str):
    result = talk(reply(stream))[0].generate(HI)
    assert (result.text, result.finish_reason, result.error) == ("Hi", reason, None)
    assert result.usage.completion_tokens == 1  # counted by us


def test_a_server_that_does_not_stream(talk: Talk):
    value = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 4}}
    result = talk(json_reply(value))[0].generate(HI)
    assert (result.text, result.finish_reason, result.usage.completion_tokens) == ("Hi", "stop", 4)


def test_a_connection_that_stays_open_behind_the_end_is_left(talk: Talk):
    never = threading.Event()

    def say(_asked: Asked) -> Iterator[bytes]:
        yield reply(chunk("Hi") + chunk(finish_reason="stop"))
        never.wait(10)

    engine, _ = talk(say)
    began = time.monotonic()
    assert engine.generate(HI).finish_reason == "stop"
    assert time.monotonic() - began < 3
    never.set()


def test_an_old_server_that_does_not_know_an_option_is_asked_again(talk: Talk):
    def say(asked: Asked) -> list[bytes]:
        if "stream_options" in asked.body:
            return [json_reply({"detail": [{"msg": "Extra inputs are not permitted: stream_options"}]}, 422)]
        return [reply(chunk("Hi") + END)]

    engine, server = talk(say)
    assert engine.generate(HI).text == "Hi"
    assert len(server.asked) == 2


def test_an_answer_goes_on(talk: Talk):
    engine, _ = talk(reply(chunk(" you") + END), "vllm")
    job = engine.submit(GenerateRequest(messages=HI.messages, answer_text="How are"))
    assert [piece.text for piece in job] == [" you"]
    assert job.result().text == "How are you"


def test_a_seed_is_sent_so_that_the_answer_can_be_had_again(talk: Talk):
    engine, server = talk(reply(chunk("Hi") + END), "llama.cpp")
    assert engine.generate(HI).seed == server.asked[0].body["seed"]
    engine, server = talk(reply(chunk("Hi") + END), "openai")
    engine.generate(HI)
    assert "seed" not in server.asked[0].body


# --- bad ones: what has come is kept


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        ((RECORDED / "vllm_broken.sse").read_bytes(), "EngineCore encountered"),
        ((RECORDED / "llamacpp_broken.sse").read_bytes(), "context shift"),
        (chunk("Half of"), "before the answer was finished"),
        (chunk("Half of") + b"data: {not json\n\n", "cannot be read"),
        (chunk("Half of") + b"data: " + b"[" * 100_000 + b"\n\n", "cannot be read"),
        (chunk("Half of") + chunk(finish_reason="content_filter") + b"data: [DONE]\n\n", "filter"),
        (chunk("Half of") + b'data: {"error": "out of memory"}\n\n' + END, "out of memory"),
        (chunk("Half of") + b"data: " + b"x" * 5 * 2**20, "longer than any answer"),
    ],
)
def test_half_an_answer_is_kept_and_says_why(talk: Talk, stream: bytes, words: str):
    job = talk(reply(stream))[0].submit(HI)
    seen = []
    with pytest.raises(GenerationError, match=words):
        seen.extend(piece.text for piece in job)
    result = job.result()
    assert result.text == "Half of"
    assert words in error_of(result)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (json_reply({"error": {"message": "Incorrect API key"}}, 401), ["does not take the key", "Incorrect API key"]),
        (json_reply({"error": {"message": "model not found"}}, 404), ["does not know this model", "model not found"]),
        (json_reply({"error": "busy"}, 429, Retry_After="7"), ["too much to do", "in 7\u00a0s. It says: busy"]),
        (json_reply({"error": "busy"}, 429), ["too much to do", "Try again later, or choose another model."]),
        (json_reply({"error": "loading"}, 503, Retry_After="150"), ["just now (status 503). Try again in 3\u00a0min."]),
        (reply(b"", 503, Retry_After="Fri, 31 Dec 1999 23:59:59 GMT"), ["just now (status 503). Try again later"]),
        (reply(b"", 529, Retry_After="9" * 30), ["just now (status 529). Try again later"]),
        (json_reply({"object": "error", "message": "too long"}, 400), ["status 400", "too long"]),
        (reply(b"<html>Bad Gateway</html>", 502, "text/html"), ["status 502"]),
        (reply(b"x" * 10**6, 500, "text/plain"), ["status 500"]),
        (json_reply({"error": {"message": "no model loaded"}}), ["no model loaded"]),  # inside 200
        (json_reply({"hello": "world"}), ["sent no answer"]),
        (reply(b"not json", 200, "application/json"), ["cannot be read"]),
        (reply(b"data: [DONE]\n\n"), ["sent no answer"]),
        (reply(b""), ["without an answer", "too long"]),
        (reply(b"\x1f\x8b", Content_Encoding="gzip"), ["compresses"]),
        (b"", ["without an answer"]),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ["without an answer"]),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 500\r\n\r\n" + chunk("Hi"),
         ["broke in the middle"]),
    ],
)  # fmt: skip
def test_refusals_say_who_and_why(talk: Talk, said: bytes, words: list[str]):
    error = error_of(talk(said)[0].generate(HI))
    assert error.startswith("Test ") or "Test" in error
    assert [word for word in words if word not in error] == []


def test_a_server_that_names_an_hour_is_understood(talk: Talk):
    coming = format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True)
    error = error_of(talk(json_reply({}, 503, Retry_After=coming))[0].generate(HI))
    assert "Try again in 10\u00a0min." in error


def test_a_redirect_is_not_followed_and_the_key_stays(talk: Talk):
    with TalkingServer(lambda _asked: [reply(chunk("stolen") + END)]) as thief:
        for status in (301, 302, 307, 308):
            engine, _ = talk(reply(b"", status, Location=f"{thief.url}/chat/completions"))
            error = error_of(engine.generate(HI))
            assert "sends to another address" in error
            assert str(thief.port) in error
        assert "your key is not sent there" in error
        assert thief.asked == []


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    endpoint = Endpoint("Test", f"http://127.0.0.1:{port}/v1")
    with RemoteEngine(endpoint, RemoteModel("m", "other")) as engine:
        assert "Is the server of Test running?" in error_of(engine.generate(HI))
    with pytest.raises(EndpointError, match="Is the server of Test running"):
        list_models(endpoint)


def call(arguments: str, name: str | None = None) -> bytes:
    """One event of a stream that calls a function."""
    return chunk(delta={"tool_calls": [{"index": 0, "function": {"name": name, "arguments": arguments}}]})


def drip(*parts: bytes, seconds: float = 0.02) -> Say:
    """The parts, and then the last one for ever."""

    def say(_asked: Asked) -> Iterator[bytes]:
        yield reply(b"")
        yield from parts
        while True:
            time.sleep(seconds)
            yield parts[-1]

    return say


@pytest.mark.parametrize(
    ("say", "words"),
    [
        (drip(b": still here\n\n"), "has not begun to answer within 0.3 s"),
        (drip(b'data: {"choices": []}\n\n'), "has not begun to answer"),
        (drip(chunk("Half of"), b": still here\n\n"), "sent nothing for 0.1 s"),
        (drip(chunk("Half of"), chunk("")), "sent nothing for 0.1 s"),
        (drip(chunk("Half of"), b"x"), "sent nothing for 0.1 s"),
        (drip(call("x"), call("")), "sent nothing for 0.1 s"),
    ],
)
def test_a_silent_server_is_left_though_it_keeps_the_line_busy(talk: Talk, say: Say, words: str):
    engine, server = talk(say, timeouts=Timeouts(first=0.3, idle=0.1, after=0.3))
    result = engine.generate(HI)
    assert words in error_of(result)
    assert result.text in ("", "Half of")
    assert server.hung_up.wait(20)


def test_a_server_that_keeps_the_line_busy_behind_the_end_is_left(talk: Talk):
    engine, server = talk(drip(chunk("Hi") + chunk(finish_reason="stop"), chunk("")))
    assert engine.generate(HI).finish_reason == "stop"
    assert server.hung_up.wait(20)


def test_a_call_that_comes_slowly_is_no_silence(talk: Talk):
    def say(_asked: Asked) -> Iterator[bytes]:
        yield reply(chunk("I write."))
        for part in ['{"text": "', *"abcdefghi", '"}']:
            time.sleep(0.05)
            yield call(part, "write")
        yield END

    engine, _ = talk(say, timeouts=Timeouts(first=5, idle=0.3, after=0.2))
    result = engine.generate(HI)
    assert (result.finish_reason, result.error) == ("stop", None)
    assert '"arguments": {"text": "abcdefghi"}' in result.text


@pytest.mark.parametrize("part", ["x" * 2**20, "x"])
def test_a_call_without_an_end_is_cut(talk: Talk, monkeypatch, part: str):
    monkeypatch.setattr("llama_gui.server.remote_reading.MOST_PIECES", 1000)
    engine, server = talk(drip(*[call(part, "write")] * (20 if len(part) > 1 else 2000), seconds=0.001))
    result = engine.generate(HI)
    assert "does not end its answer" in error_of(result)
    assert result.text == ""
    assert server.hung_up.wait(20)


def test_an_answer_without_an_end_is_cut(talk: Talk):
    piece = chunk("x" * 2**20)
    engine, server = talk(drip(*[piece] * 20, seconds=0.001))
    result = engine.generate(HI)
    assert "does not end its answer" in error_of(result)
    assert MOST_ANSWER_LETTERS <= len(result.text) < MOST_ANSWER_LETTERS + 2**21
    assert server.hung_up.wait(20)


# --- stopping


@pytest.mark.parametrize("parts", [[b": wait\n\n"], [chunk("Half of"), b": wait\n\n"]])
def test_cancel_ends_the_connection_at_once_and_keeps_the_text(talk: Talk, parts: list[bytes]):
    engine, server = talk(drip(*parts, seconds=0.01))
    finished: list[GenerateResult] = []
    job = engine.submit(HI, None, lambda _job, result: finished.append(result))
    assert eventually(lambda: job.state == ("generating" if len(parts) == 2 else "prefilling") and server.asked)
    job.cancel()
    job.cancel()
    result = job.result(1)
    assert (result.finish_reason, result.error) == ("cancelled", None)
    assert result.text == ("Half of" if len(parts) == 2 else "")
    assert server.hung_up.wait(2)
    assert eventually(lambda: finished == [result])
    assert engine.is_idle
    job.cancel()  # a finished job stays as it is


@pytest.mark.parametrize("is_closed", [False, True])
def test_what_is_cancelled_before_it_was_sent_ends_too(talk: Talk, is_closed: bool):
    engine, _ = talk(drip(b": still here\n\n"))
    busy, go_on = threading.Event(), threading.Event()
    warm = engine.submit(HI)
    engine._call(lambda: (busy.set(), go_on.wait(20)))
    assert busy.wait(20)
    job = engine.submit(HI)  # the engine's thread learns of it and of its end at once
    engine.stop() if is_closed else job.cancel()
    go_on.set()
    assert job.result(20).finish_reason == "cancelled"
    warm.cancel()
    assert warm.result(20).finish_reason == "cancelled"
    assert eventually(lambda: engine.is_idle)


def test_closing_ends_all_and_refuses_more(talk: Talk):
    engine, _ = talk(drip(chunk("Half of"), b": wait\n\n"))
    jobs = [engine.submit(HI) for _ in range(20)]
    assert eventually(lambda: all(job.output_count for job in jobs))
    assert engine.stats().running == 20
    engine.close()
    assert {(job.result(0).finish_reason, job.result(0).text) for job in jobs} == {("cancelled", "Half of")}
    with pytest.raises(EngineClosedError):
        engine.submit(HI)
    engine.close()
    engine.run()  # returns at once


def test_run_serves_in_the_calling_thread_until_stop(talk: Talk):
    engine, _ = talk(reply(chunk("Hi") + END))
    threads: set[str] = set()
    runner = threading.Thread(target=engine.run, name="runner")
    runner.start()
    assert eventually(lambda: engine._loop is not None)
    job = engine.submit(HI, lambda _job, _output: threads.add(threading.current_thread().name))
    assert job.result(20).text == "Hi"
    engine.stop()
    runner.join(20)
    assert not runner.is_alive()
    assert threads == {"runner"}


def test_stop_before_run(talk: Talk):
    engine, _ = talk(b"")
    engine.stop()
    engine.run()
    with pytest.raises(EngineClosedError):
        engine.submit(HI)


def test_outputs_come_to_an_event_loop_too(talk: Talk):
    engine, _ = talk(reply(chunk("one") + chunk(" two") + END))

    async def read() -> list[str]:
        return [output.text async for output in engine.submit(HI)]

    assert asyncio.run(read()) == ["one", " two"]


def test_a_callback_that_fails_ends_its_own_answer_only(talk: Talk):
    engine, _ = talk(reply(chunk("Hi") + END))

    def fail(_job: object, _output: object) -> None:
        raise RuntimeError("oh")

    assert error_of(engine.submit(HI, fail).result(20))
    assert engine.generate(HI).text == "Hi"


def test_what_cannot_be_asked_is_refused_before_anything_is_sent(talk: Talk):
    engine, server = talk(reply(chunk("Hi") + END), "openai")
    with pytest.raises(InvalidRequestError, match="top_k"):
        engine.submit(GenerateRequest(messages=HI.messages, sampling=SamplingParams(top_k=5)))
    assert server.asked == []


# --- models


def test_models_are_listed_with_the_key(talk: Talk):
    entry = {"id": "llama", "object": "model", "owned_by": "vllm", "max_model_len": 4096}
    with TalkingServer(lambda _asked: [json_reply({"object": "list", "data": [entry]})]) as server:
        endpoint = Endpoint("Test", server.url, key="sk-secret")
        with RemoteEngine.connect(endpoint) as engine:
            info = engine.info
        assert (info.name, info.architecture, info.max_context, info.device) == ("llama", "vllm", 4096, "Test")
        assert "sk-secret" not in repr(info)
        with pytest.raises(EndpointError, match=r"no model other\. It has: llama"):
            RemoteEngine.connect(endpoint, "other")
    assert server.asked[0].line == "GET /v1/models HTTP/1.1"
    assert server.asked[0].headers["authorization"] == "Bearer sk-secret"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (json_reply({"error": {"message": "no key"}}, 401), "wants a key.*no key"),
        (reply(b"<html>", 200, "text/html"), "end in /v1"),
        (reply(b"", 302, Location="https://login.example"), r"sends to another address \(https://login.example\)\. "),
        (reply(b" " * (17 * 2**20)), "has no end"),
        (json_reply({"data": []}), "no model"),
    ],
)
def test_lists_that_are_none(said: bytes, words: str):
    with TalkingServer(lambda _asked: [said]) as server, pytest.raises(EndpointError, match=words):
        RemoteEngine.connect(Endpoint("Test", server.url))


# --- our own server at the other end


def test_our_own_server_gives_what_the_library_gives(serve: Serve, starter: Engine):
    server = serve(starter)
    sampling = SamplingParams(temperature=1.2, top_k=30, seed=5)
    request = GenerateRequest(
        messages=[Message("user", "What is this application?")], max_tokens=24, sampling=sampling, logprobs=2
    )
    local = starter.generate(request)
    with RemoteEngine.connect(Endpoint("Ours", server.url, key=KEY)) as engine:
        assert (engine.info.architecture, engine.info.max_context) == ("llama-gui", starter.info.max_context)
        job = engine.submit(request)
        outputs = list(job)
        result = job.result()
        assert (result.text, result.finish_reason, result.usage.completion_tokens, result.seed) == (
            local.text, local.finish_reason, local.usage.completion_tokens, 5,
        )  # fmt: skip
        expected = list(starter.submit(request))
        assert [o.logprob for o in outputs] == pytest.approx([o.logprob for o in expected[: len(outputs)]])
        assert [top.text for top in outputs[0].top_logprobs] == [top.text for top in expected[0].top_logprobs]
        # Half of it, and then the rest.
        half = engine.generate(GenerateRequest(messages=request.messages, max_tokens=8, sampling=sampling)).text
        rest = GenerateRequest(messages=request.messages, sampling=sampling, answer_text=half)
        assert engine.generate(rest).text == starter.generate(rest).text
        too_long = engine.generate(GenerateRequest(prompt="x " * 3000, max_tokens=5))
        assert "maximum context length" in error_of(too_long)
    with pytest.raises(EndpointError, match="does not take the key"):
        RemoteEngine.connect(Endpoint("Ours", server.url, key="wrong-wrong"))


def test_cancel_reaches_the_engine_of_our_own_server(serve: Serve):
    scripted = ServedScript(hang_at=2)
    server = serve(scripted)
    with RemoteEngine.connect(Endpoint("Ours", server.url, key=KEY)) as engine:
        job = engine.submit(GenerateRequest(messages=[Message("user", "one two three")]))
        assert eventually(lambda: job.output_count == 2)
        job.cancel()
        assert job.result(1).text == "one two"
        assert eventually(lambda: not scripted._jobs, 1.0)
