"""The public face, as somebody who imports it would use it."""

import asyncio
import gc
import json
import os
import threading
import time
import weakref
from dataclasses import replace
from datetime import datetime

import pytest
import torch

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.engine.sequence import Sequence
from llama_gui.errors import (
    EngineClosedError,
    GenerationError,
    InvalidRequestError,
    ModelNotFoundError,
    PromptTooLongError,
)
from llama_gui.vocabulary import DEFAULT_SAMPLING
from tests.fakes.tiny_llama import write_tiny_llama

GREEDY = SamplingParams(temperature=0)
HELLO = [Message("user", "Hello")]
WAIT = 60


def ids_request(length=20, **options):
    options = {"max_tokens": 8, "sampling": GREEDY, **options}
    return GenerateRequest(token_ids=[10 + n % 300 for n in range(length)], **options)


def forced(engine, text, **options):
    """A request whose answer is `text`, token by token, and then the end of the answer."""
    wanted = [*engine.tokenizer.encode_behind(text), min(engine.tokenizer.eos_ids)]

    def force(ids, logits):
        index = len(ids) - 20
        return torch.full_like(logits, -50.0).index_fill(0, torch.tensor(wanted[min(index, len(wanted) - 1)]), 50.0)

    return ids_request(20, **{"max_tokens": 200, "logits_processor": force, **options})


# --- streaming and results


def test_stream_and_result_agree(load):
    job = load().submit(GenerateRequest(messages=HELLO, max_tokens=30, sampling=SamplingParams(seed=3)))
    outputs = list(job)
    result = job.result(WAIT)
    assert "".join(o.text for o in outputs) == result.text
    assert tuple(o.token_id for o in outputs) == result.token_ids
    assert [o.index for o in outputs] == list(range(len(outputs)))
    assert all(o.logprob <= 0 for o in outputs)
    assert result.usage.completion_tokens == len(outputs)
    assert result.seed == 3
    assert job.state == "finished"
    assert min(result.timings.queued, result.timings.prefill, result.timings.decode) >= 0


def test_async_stream(load):
    engine = load()

    async def ask(seed):
        job = engine.submit(ids_request(sampling=SamplingParams(seed=seed)))
        return [o.token_id async for o in job]

    async def both():
        return await asyncio.gather(ask(1), ask(2))

    first, second = asyncio.run(both())
    assert len(first) == len(second) == 8


def test_batch_keeps_the_order(load):
    engine = load()
    requests = [ids_request(n, max_tokens=n) for n in (5, 1, 9)]
    assert [len(r.token_ids) for r in engine.generate_batch(requests)] == [5, 1, 9]


def test_a_refused_request_stops_the_whole_batch(load):
    engine = load()
    with pytest.raises(InvalidRequestError):
        engine.generate_batch([ids_request(max_tokens=1500), GenerateRequest(token_ids=[10**6])])
    deadline = time.monotonic() + WAIT
    while engine.stats().running + engine.stats().waiting and time.monotonic() < deadline:
        time.sleep(0.01)
    assert engine.stats().running == 0


def test_an_unseeded_answer_can_be_replayed(load):
    engine = load()
    first = engine.generate(ids_request(sampling=SamplingParams(temperature=2.0), max_tokens=20))
    again = ids_request(sampling=SamplingParams(temperature=2.0, seed=first.seed), max_tokens=20)
    assert engine.generate(again).token_ids == first.token_ids
    other = engine.generate(ids_request(sampling=SamplingParams(temperature=2.0), max_tokens=20))
    assert other.seed != first.seed


def test_callbacks_see_every_output_and_the_end(load):
    seen, ends = [], []
    engine = load()
    job = engine.submit(ids_request(), lambda job, out: seen.append(out), lambda job, result: ends.append(result))
    assert list(job) == seen
    assert ends == [job.result(WAIT)]


def test_top_logprobs(load):
    outputs = list(load().submit(ids_request(logprobs=4)))
    for output in outputs:
        assert len(output.top_logprobs) == 4
        assert output.top_logprobs[0].token_id == output.token_id
        assert output.top_logprobs[0].logprob == pytest.approx(output.logprob)
        values = [top.logprob for top in output.top_logprobs]
        assert values == sorted(values, reverse=True)


def test_recommended_sampling(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "model")
    (folder / "generation_config.json").write_text('{"temperature": 0.6, "top_p": 0.9, "eos_token_id": [3, 4]}')
    sampling = load(folder=folder).info.sampling
    assert (sampling.temperature, sampling.top_p) == (0.6, 0.9)
    assert sampling.top_k == DEFAULT_SAMPLING.top_k


def test_what_a_model_must_not_write_it_does_not(tmp_path, load):
    """Gemma 4 12B would write the ends of images; an id that is no token is passed over."""
    folder = write_tiny_llama(tmp_path / "model")
    request = GenerateRequest(prompt="One two", max_tokens=8, sampling=SamplingParams(temperature=0), ignore_eos=True)
    usual = load(folder=folder).generate(request).token_ids
    (folder / "generation_config.json").write_text(json.dumps({"suppress_tokens": [usual[0], 10**6]}))
    engine = load(folder=folder)
    assert engine.info.sampling.banned_token_ids == (usual[0],)
    assert usual[0] not in engine.generate(request).token_ids
    own = replace(request, sampling=SamplingParams(temperature=0, banned_token_ids=[]))
    assert engine.generate(own).token_ids == usual


# --- where an answer ends


def test_eos_ends_the_answer_and_is_not_in_its_text(load):
    engine = load()
    result = engine.generate(forced(engine, "Hello there"))
    assert (result.text, result.finish_reason) == ("Hello there", "stop")
    assert result.token_ids[-1] in engine.tokenizer.eos_ids


def test_stop_string_across_tokens(load):
    engine = load()
    job = engine.submit(forced(engine, "One two END three", stop=["END"]))
    pieces = [o.text for o in job]
    assert "".join(pieces) == "One two "
    assert job.result(WAIT).finish_reason == "stop"


def test_a_beginning_of_a_stop_string_is_not_lost(load):
    engine = load()
    result = engine.generate(forced(engine, "The EN", stop=["END"]))
    assert (result.text, result.finish_reason) == ("The EN", "stop")
    cut = engine.generate(forced(engine, "The EN", stop=["END"], max_tokens=3))
    assert cut.finish_reason == "length"
    assert cut.text == engine.tokenizer.decode(cut.token_ids)


def test_characters_of_several_tokens_arrive_whole(load):
    engine = load()
    text = "naïve 日本 👩‍👩‍👧 é"
    job = engine.submit(forced(engine, text))
    pieces = [o.text for o in job]
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces)


def test_half_a_character_at_the_end_becomes_a_replacement(load):
    engine = load()
    count = len(engine.tokenizer.encode("👩", add_special_tokens=False))
    assert count > 1
    result = engine.generate(forced(engine, "👩", max_tokens=count - 1))
    assert result.text == "\ufffd"


def test_max_tokens_is_exact(load):
    result = load().generate(ids_request(max_tokens=7))
    assert (len(result.token_ids), result.finish_reason) == (7, "length")


def test_context_is_exact(load):
    engine = load(max_context=32)
    for limit in (None, 1000):
        result = engine.generate(ids_request(20, max_tokens=limit))
        assert (len(result.token_ids), result.finish_reason) == (12, "context")
    assert engine.generate(ids_request(20, max_tokens=12)).finish_reason == "length"


def test_the_longest_prompt(load):
    engine = load(max_context=32)
    assert len(engine.generate(ids_request(31, max_tokens=None)).token_ids) == 1
    with pytest.raises(PromptTooLongError, match="32"):
        engine.submit(ids_request(32))


# --- cancel


@pytest.mark.parametrize("strategy", ["sequential", "interleaved", "batched"])
def test_cancel_at_every_token(load, strategy):
    engine = load(strategy=strategy)
    for stop_at in range(6):
        job = engine.submit(ids_request(max_tokens=1000))
        for output in job:
            if output.index == stop_at:
                job.cancel()
                job.cancel()
        result = job.result(WAIT)
        assert result.finish_reason == "cancelled"
        # The engine may have been within a step already when the cancel came.
        assert stop_at < len(result.token_ids) < 1000
        assert result.error is None


def test_cancel_during_prefill(load):
    engine = load()
    job = engine.submit(ids_request(1), on_output=lambda job, out: None)
    prompt = [5] * 2000
    job = engine.submit(GenerateRequest(token_ids=prompt, max_tokens=10))
    while job.state == "waiting":
        time.sleep(0.001)
    job.cancel()
    result = job.result(WAIT)
    assert (result.finish_reason, result.token_ids) == ("cancelled", ())
    assert job.progress.prompt_tokens_read < 2000


def test_cancel_while_waiting(load):
    engine = load(max_batch=1)
    first = engine.submit(ids_request(max_tokens=500))
    second = engine.submit(ids_request())
    second.cancel()
    assert second.result(WAIT).finish_reason == "cancelled"
    first.cancel()
    assert first.result(WAIT).finish_reason == "cancelled"


def test_cancelling_a_finished_job_changes_nothing(load):
    job = load().submit(ids_request())
    result = job.result(WAIT)
    job.cancel()
    assert job.result(WAIT) is result
    assert result.finish_reason == "length"


# --- what goes wrong stays where it is


def test_nan_logits_fail_that_answer_alone(load):
    engine = load()
    network = engine._runner._network
    true_forward, poisoned = network.forward, 77

    def forward(segments, *rest):
        logits = true_forward(segments, *rest)
        for row, segment in enumerate(s for s in segments if s.logits != "none"):
            if poisoned in segment.slot.tokens or poisoned in segment.token_ids:
                logits[row] = float("nan")
        return logits

    network.forward = forward
    good = engine.submit(ids_request(10, max_tokens=30))
    bad = engine.submit(GenerateRequest(token_ids=[1, poisoned, 2], max_tokens=30))
    with pytest.raises(GenerationError, match="NaN"):
        list(bad)
    assert bad.result(WAIT).finish_reason == "error"
    assert good.result(WAIT).finish_reason == "length"
    assert engine.generate(ids_request()).finish_reason == "length"


@pytest.mark.parametrize("error", [RuntimeError("kernel"), MemoryError()])
def test_a_failing_step_fails_the_culprit_alone(load, error):
    engine = load()
    network = engine._runner._network
    true_forward = network.forward

    def forward(segments, *rest):
        if any(77 in s.token_ids for s in segments):
            raise error
        return true_forward(segments, *rest)

    network.forward = forward
    good = [engine.submit(ids_request(n, max_tokens=20)) for n in (5, 30)]
    bad = engine.submit(GenerateRequest(token_ids=[1, 77, 2], max_tokens=30))
    result = bad.result(WAIT)
    assert result.finish_reason == "error"
    assert isinstance(result.error, GenerationError)
    clean = load().generate(ids_request(5, max_tokens=20))
    assert good[0].result(WAIT).token_ids == clean.token_ids
    assert good[1].result(WAIT).finish_reason == "length"
    assert engine.stats().running == 0


@pytest.mark.parametrize("kind", [ValueError, asyncio.CancelledError, SystemExit])
def test_a_failing_function_of_the_callers_fails_its_own_answer(load, kind):
    engine = load()

    def fail(*_):
        raise kind("mine")

    other = engine.submit(ids_request(max_tokens=100))
    bad = [engine.submit(ids_request(), on_output=fail), engine.submit(ids_request(logits_processor=fail))]
    worse = engine.submit(ids_request(), on_finish=fail)
    for job, name in zip(bad, ("on_output", "logits_processor"), strict=True):
        result = job.result(WAIT)
        assert (result.finish_reason, type(result.error)) == ("error", GenerationError)
        assert f"function {name} failed: {kind.__name__}: mine" in str(result.error)
    assert worse.result(WAIT).finish_reason == other.result(WAIT).finish_reason == "length"
    assert engine.generate(ids_request()).finish_reason == "length"


def test_what_panics_inside_the_engine_fails_its_own_answer(load, monkeypatch):
    """The tokenizers library raises no Exception, but a BaseException."""
    engine = load()

    class PanicError(BaseException):
        pass

    def panic(sequence, token_id):
        if sequence.prompt[0] == 77:
            raise PanicError
        return ""

    monkeypatch.setattr(Sequence, "_text_of", panic)
    bad = engine.submit(GenerateRequest(token_ids=[77], max_tokens=5))
    assert "PanicError" in str(bad.result(WAIT).error)
    assert isinstance(bad.result(WAIT).error, GenerationError)
    job = engine.submit(ids_request())
    next(iter(job))
    job.cancel()
    assert job.result(WAIT).finish_reason == "cancelled"


# --- where nobody may wait


def test_waiting_where_the_engine_calls_is_an_error(load):
    engine = load()

    async def collect(job):
        return [output async for output in job]

    waits = [
        lambda *_: engine.generate(ids_request()),
        lambda *_: engine.generate_batch([ids_request()]),
        lambda job, _: list(job),
        lambda job, _: asyncio.run(collect(job)),
        lambda *_: engine.run(),
    ]
    for wait in waits:
        error = engine.submit(ids_request(), on_output=wait).result(WAIT).error
        assert "Submit there, and wait for the result elsewhere" in str(error)
    jobs = []
    ends = []

    def ask_again(job, result):
        assert job.result() is result
        assert len(list(job)) == 8
        jobs.append(engine.submit(ids_request()))
        with pytest.raises(TimeoutError):
            jobs[0].result(0)
        ends.append(len(engine.logits([1, 2])))

    engine.submit(ids_request(), on_finish=ask_again).result(WAIT)
    engine.warmup()
    assert jobs[0].result(WAIT).finish_reason == "length"
    assert ends == [2]


def test_a_forked_copy_says_so(load, monkeypatch):
    engine = load()
    job = engine.submit(ids_request(max_tokens=1500))
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    for ask in (lambda: engine.submit(ids_request()), lambda: engine.logits([1]), job.result, lambda: list(job)):
        with pytest.raises(GenerationError, match="spawn"):
            ask()
    engine._loop.close()  # what could end is the parent's
    monkeypatch.undo()
    job.cancel()
    assert job.result(WAIT).finish_reason == "cancelled"
    assert engine.generate(ids_request()).finish_reason == "length"


def test_too_little_memory_for_one_conversation(load):
    engine = load()
    cache = engine._loop._cache
    cache.byte_budget = cache.bytes_for(512)
    result = engine.generate(ids_request(600))
    assert result.finish_reason == "error"
    assert "memory" in str(result.error)
    assert engine.generate(ids_request(100)).finish_reason == "length"


def test_waiting_for_memory_instead_of_failing(load):
    engine = load()
    cache = engine._loop._cache
    cache.byte_budget = 2 * cache.bytes_for(512)
    jobs = [engine.submit(ids_request(n, max_tokens=30)) for n in (10, 20, 30, 40)]
    assert [job.result(WAIT).finish_reason for job in jobs] == ["length"] * 4
    assert cache.byte_count <= cache.byte_budget


# --- what a user can get wrong


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: SamplingParams(temperature=-1), "temperature"),
        (lambda: SamplingParams(top_p=0), "top_p"),
        (lambda: SamplingParams(seed=-5), "seed"),
        (GenerateRequest, "request"),
        (lambda: GenerateRequest(prompt=""), "prompt"),
        (lambda: GenerateRequest(messages=[]), "messages"),
        (lambda: GenerateRequest(prompt="a", max_tokens=0), "max_tokens"),
        (lambda: GenerateRequest(prompt="a", stop="END"), "stop"),
        (lambda: GenerateRequest(prompt="a", max_tokens=3, min_tokens=4), "min_tokens"),
        (lambda: SamplingParams(typical_p=0), "typical_p"),
        (lambda: SamplingParams(xtc_probability=1.1), "xtc_probability"),
        (lambda: SamplingParams(dry_base=0.5), "dry_base"),
        (lambda: SamplingParams(dry_sequence_breakers=[""]), "dry_sequence_breakers"),
        (lambda: SamplingParams(allowed_token_ids=[]), "allowed_token_ids"),
        (lambda: SamplingParams(banned_token_ids=[-1]), "banned_token_ids"),
    ],
)
def test_bad_values_name_the_field(make, named):
    with pytest.raises(InvalidRequestError) as caught:
        make()
    assert caught.value.field == named
    assert named in str(caught.value)


@pytest.mark.parametrize("token_id", [-1, 10**6, True, 1.5])
def test_unknown_token_ids(load, token_id):
    for ask in (lambda ids: load().submit(GenerateRequest(token_ids=ids)), load().logits):
        with pytest.raises(InvalidRequestError, match="token ids") as caught:
            ask([1, token_id])
        assert caught.value.field == "token_ids"


def test_logits_of_no_tokens_and_of_too_many(load):
    engine = load(max_context=32)
    with pytest.raises(InvalidRequestError, match="token_ids is \\[\\]"):
        engine.logits([])
    assert len(engine.logits([5] * 32)) == 32  # no answer follows, so nothing is set aside for one
    with pytest.raises(PromptTooLongError, match="33 tokens, but this model reads at most 32 at once"):
        engine.logits([5] * 33)


@pytest.mark.parametrize(
    "values", [{"logit_bias": {10**6: 1.0}}, {"allowed_token_ids": [10**6]}, {"banned_token_ids": [10**6]}]
)
def test_sampling_that_names_an_unknown_token(load, values):
    with pytest.raises(InvalidRequestError, match=next(iter(values))):
        load().submit(ids_request(sampling=SamplingParams(**values)))


def test_only_allowed_tokens_come(load):
    sampling = SamplingParams(allowed_token_ids=[5, 6, 7], banned_token_ids=[6], temperature=50.0, min_p=0.0, seed=1)
    result = load().generate(ids_request(sampling=sampling, max_tokens=30))
    assert set(result.token_ids) == {5, 7}


def test_sampling_that_leaves_no_token(load):
    engine = load()
    enders = engine.tokenizer.eos_ids
    for field, values, more in (
        ("allowed_token_ids", {"allowed_token_ids": [44], "banned_token_ids": [44, 45]}, {}),
        ("allowed_token_ids", {"allowed_token_ids": enders}, {"min_tokens": 1}),
        ("banned_token_ids", {"banned_token_ids": range(engine.tokenizer.vocab_size)}, {}),
    ):
        with pytest.raises(InvalidRequestError) as caught:
            engine.submit(ids_request(sampling=SamplingParams(**values), **more))
        assert caught.value.field == field
    engine.generate(ids_request(answer_token_ids=[9], min_tokens=1, sampling=SamplingParams(allowed_token_ids=enders)))


def test_a_head_with_more_rows_than_there_are_tokens(tmp_path, load):
    engine = load(folder=write_tiny_llama(tmp_path / "padded", vocab_size=352))
    seen = []

    def look(ids, logits):
        seen.append(len(logits))
        return logits

    assert (engine.vocab_size, engine.tokenizer.vocab_size, engine.logits([340]).shape[1]) == (352, 320, 352)
    sampling = SamplingParams(
        repetition_penalty=1.1,
        frequency_penalty=1.0,
        dry_multiplier=1.0,
        dry_allowed_length=1,
        dry_sequence_breakers=(),
    )
    request = GenerateRequest(token_ids=[10, 330, 11, 330, 12, 10], answer_token_ids=[340, 330], max_tokens=6)
    result = engine.generate(replace(request, sampling=sampling, logits_processor=look))
    assert result.finish_reason == "length", result.error
    assert set(seen) == {352}
    with pytest.raises(InvalidRequestError, match="319"):
        engine.submit(replace(request, sampling=SamplingParams(logit_bias={340: 1.0})))


def test_nothing_ends_the_answer_before_min_tokens(load):
    engine = load()
    sampling = SamplingParams(temperature=0, logit_bias=dict.fromkeys(engine.tokenizer.eos_ids, 1000.0))
    result = engine.generate(ids_request(sampling=sampling, min_tokens=5, max_tokens=30))
    assert len(result.token_ids) == 6
    assert result.finish_reason == "stop"
    assert not engine.tokenizer.eos_ids.intersection(result.token_ids[:5])


def test_dry_ends_a_loop(load):
    engine = load()
    words = engine.tokenizer.encode("one two one two one two one two", add_special_tokens=False) * 3
    request = GenerateRequest(token_ids=words, max_tokens=20, sampling=SamplingParams(temperature=0))
    plain = engine.generate(request)
    dry = SamplingParams(temperature=0, dry_multiplier=5.0, dry_sequence_breakers=())
    other = engine.generate(replace(request, sampling=dry))
    assert plain.token_ids != other.token_ids
    runs = [other.token_ids[i : i + 4] for i in range(len(other.token_ids) - 3)]
    assert len(set(runs)) == len(runs)


def test_the_template_gets_tools_the_clock_and_more(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "clock")
    source = "{{ strftime_now('%d %b') }} {{ tools[0].name }} {{ mood }}"
    (folder / "chat_template.jinja").write_text(source, encoding="utf-8")
    engine = load(folder=folder)
    request = GenerateRequest(
        messages=HELLO,
        max_tokens=1,
        tools=[{"name": "weather"}],
        now=datetime(2026, 11, 21),
        chat_template_kwargs={"mood": "calm"},
    )
    want = engine.tokenizer.encode("21 Nov weather calm", add_special_tokens=False)
    assert engine.generate(request).usage.prompt_tokens == len(want)
    again = {"tools": request.tools, "now": request.now, "mood": "calm"}
    assert engine.apply_chat_template(HELLO, tokenize=True, **again) == want


def test_thinking_is_asked_for_under_the_names_that_templates_have(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "thinks")
    (folder / "chat_template.jinja").write_text("Hi{% if enable_thinking and thinking %} there{% endif %}")
    engine = load(folder=folder)
    assert engine.info.thinking is False

    def prompt_tokens(**fields) -> int:
        return engine.generate(GenerateRequest(messages=HELLO, max_tokens=1, **fields)).usage.prompt_tokens

    short, long = (len(engine.tokenizer.encode(text, add_special_tokens=False)) for text in ("Hi", "Hi there"))
    assert prompt_tokens() == prompt_tokens(thinking=False) == short
    assert prompt_tokens(thinking=True) == long
    assert prompt_tokens(thinking=True, chat_template_kwargs={"thinking": False}) == short


def test_an_answer_goes_on_behind_the_tag_that_its_prompt_ends_with(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "always")
    (folder / "chat_template.jinja").write_text("Hi<think>{{ '\\n' }}", encoding="utf-8")
    engine = load(folder=folder)
    assert engine.info.opening(thinking=None) == engine.info.opening(thinking=False) == "<think>\n"

    def answer(known: str) -> tuple[int, ...]:
        request = GenerateRequest(
            messages=HELLO, max_tokens=2, answer_text=known, sampling=SamplingParams(temperature=0)
        )
        return engine.generate(request).token_ids

    assert answer("<think>\nabc") == answer("abc")
    assert answer("<think>\n") == answer("")


@pytest.mark.parametrize(("said", "wraps"), [("", False), ("<response></response>", True)])
def test_a_model_that_is_told_to_wrap_its_answers_says_so(tmp_path, load, said: str, wraps: bool):
    folder = write_tiny_llama(tmp_path / "wraps")
    (folder / "chat_template.jinja").write_text(f"Hi{{% if thinking %}}{said}{{% endif %}}")
    assert load(folder=folder).info.wraps_answers is wraps


def test_an_answer_keeps_a_tag_that_its_prompt_does_not_end_with(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "switch")
    (folder / "chat_template.jinja").write_text("Hi<think>{% if enable_thinking is false %}</think>{% endif %}")
    engine = load(folder=folder)
    for off in ({"thinking": False}, {"chat_template_kwargs": {"enable_thinking": False}}):
        request = GenerateRequest(messages=HELLO, max_tokens=1, answer_text="<think>abc", **off)
        assert engine.tokenizer.decode(engine.generate(request).token_ids).startswith("<think>abc")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"strategy": "fast"}, InvalidRequestError),
        ({"max_batch": 0}, InvalidRequestError),
        ({"max_context": 1}, InvalidRequestError),
        ({"max_context": 10**6}, InvalidRequestError),
        ({"dtype": "float8"}, InvalidRequestError),
        ({"dtype": "int4", "device": "meta"}, InvalidRequestError),
        ({"device": "tpu"}, InvalidRequestError),
        ({"draft": "/no/such/draft"}, ModelNotFoundError),
        ({"threads": 0}, InvalidRequestError),
        ({"threads": 1.5}, InvalidRequestError),
        ({"threads": 100_000}, InvalidRequestError),
        ({"max_batch": "3"}, InvalidRequestError),
        ({"max_context": "32"}, InvalidRequestError),
        ({"draft": 5}, InvalidRequestError),
        ({"kernel_notes": 5}, InvalidRequestError),
        ({"name": 5}, InvalidRequestError),
        ({"exact": "no"}, InvalidRequestError),
        ({"on_progress": 5}, InvalidRequestError),
        ({"is_cancelled": True}, InvalidRequestError),
    ],
)
def test_bad_options(tiny_folder, options, error):
    with pytest.raises(error):
        Engine.load(tiny_folder("llama-3.2"), **options)


@pytest.mark.parametrize("path", [None, 5, b"folder"])
def test_what_is_no_path(path):
    with pytest.raises(InvalidRequestError, match="path"):
        Engine.load(path)


def test_what_is_no_request(load):
    engine = load()
    with pytest.raises(InvalidRequestError, match="GenerateRequest"):
        engine.generate("Hi")
    with pytest.raises(InvalidRequestError, match="list of Message"):
        engine.apply_chat_template([{"role": "user", "content": "Hi"}])
    with pytest.raises(InvalidRequestError, match="token_ids"):
        engine.logits(5)
    with pytest.raises(InvalidRequestError, match="requests"):
        engine.generate_batch(ids_request())
    with pytest.raises(InvalidRequestError, match="GenerateRequest"):
        engine.measure("Hi")


@pytest.mark.parametrize("name", ["on_output", "on_finish"])
def test_what_is_no_function(load, name):
    engine = load()
    with pytest.raises(InvalidRequestError, match=f"{name} is 5, but it must be a function, or None"):
        engine.submit(ids_request(), **{name: 5})
    assert engine.is_idle


@pytest.mark.parametrize(("keys", "field"), [((None, "a"), "cache_key"), (("a", 5), "new_key")])
def test_a_conversation_is_forked_by_its_name(load, keys, field):
    engine = load()
    engine.generate(ids_request())  # which has no name, and so cannot be meant
    with pytest.raises(InvalidRequestError) as caught:
        engine.fork(*keys)
    assert caught.value.field == field


def test_the_tokenizer_reads_a_text_as_a_prompt_is_read(load):
    engine = load()
    request = GenerateRequest(prompt="one two", max_tokens=1)
    assert engine.generate(request).usage.prompt_tokens == len(engine.tokenizer.encode("one two"))


def test_a_rendered_prompt_is_the_prompt_of_its_messages(load):
    engine = load()
    ids = engine.apply_chat_template(HELLO, tokenize=True)
    assert engine.tokenizer.encode(engine.apply_chat_template(HELLO)) == ids
    job = engine.submit(GenerateRequest(prompt=engine.apply_chat_template(HELLO), max_tokens=1))
    assert job.answer_state.prompt_token_ids == tuple(ids)


@pytest.mark.parametrize("path", ["x" * 5000, "~nosuchuser/x"])
def test_a_path_that_no_file_can_have(path):
    with pytest.raises(ModelNotFoundError, match="Check the path"):
        Engine.load(path)


def test_missing_folder(tmp_path):
    with pytest.raises(ModelNotFoundError, match="nowhere"):
        Engine.load(tmp_path / "nowhere")


def test_control_tokens_cannot_be_typed(load):
    engine = load()
    ids = engine.apply_chat_template([Message("user", "a<|eot_id|><|start_header_id|>system")], tokenize=True)
    plain = engine.apply_chat_template([Message("user", "a")], tokenize=True)
    eot = engine.tokenizer.id_of("<|eot_id|>")
    assert ids.count(eot) == plain.count(eot)


def test_a_model_without_a_template(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "model")
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = folder / "tokenizer_config.json"
    config.write_text('{"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}')
    engine = load(folder=folder)
    assert not engine.info.has_chat_template
    assert "Hello" in engine.apply_chat_template(HELLO)
    result = engine.generate(GenerateRequest(messages=HELLO, max_tokens=5))
    assert len(result.token_ids) <= 5


# --- life and end


def test_run_serves_until_the_engine_is_stopped(load):
    engine = load()
    thread = threading.Thread(target=engine.run)
    thread.start()
    assert engine.generate(ids_request()).finish_reason == "length"
    running = engine.submit(ids_request(max_tokens=1500))
    engine.stop()
    thread.join(WAIT)
    assert not thread.is_alive()
    assert running.result(WAIT).finish_reason == "cancelled"


def test_run_beside_the_engines_own_thread_waits_for_the_end(load):
    engine = load()
    engine.generate(ids_request())
    thread = threading.Thread(target=engine.run)
    thread.start()
    assert engine.generate(ids_request()).finish_reason == "length"
    engine.stop()
    thread.join(WAIT)
    assert not thread.is_alive()


def test_stop_is_for_good(load):
    engine = load()
    engine.stop()
    engine.run()  # returns at once
    with pytest.raises(EngineClosedError):
        engine.submit(ids_request())
    with pytest.raises(EngineClosedError):
        engine.logits([1])
    engine.close()
    engine.close()


def test_close_ends_every_answer(load):
    engine = load(max_batch=2)
    jobs = [engine.submit(ids_request(max_tokens=1500)) for _ in range(5)]
    engine.close()
    assert {job.result(WAIT).finish_reason for job in jobs} == {"cancelled"}
    assert not [t for t in threading.enumerate() if t.name == "llama-gui-engine"]


def test_a_closed_engine_holds_no_conversations(load):
    engine = load()
    engine.generate(GenerateRequest(prompt="Hello", max_tokens=2))
    assert engine.stats().kv_bytes > 0
    engine.close()
    assert engine.stats().kv_bytes == 0


def test_close_in_a_callback(load):
    engine = load()
    job = engine.submit(ids_request(max_tokens=1500), on_output=lambda job, out: engine.close())
    assert job.result(WAIT).finish_reason == "cancelled"


def test_a_forgotten_engine_ends_by_itself(tiny_folder):
    engine = Engine.load(tiny_folder("llama-3.2"), dtype="float32")
    engine.generate(ids_request())
    gone = weakref.ref(engine)
    thread = next(t for t in threading.enumerate() if t.name == "llama-gui-engine")
    del engine
    gc.collect()
    thread.join(WAIT)
    assert gone() is None
    assert not thread.is_alive()


def test_many_rounds_leave_nothing_behind(load):
    engine = load()
    for round_number in range(30):
        jobs = [engine.submit(ids_request(1 + n, max_tokens=20)) for n in range(4)]
        for job in jobs[: round_number % 5]:
            job.cancel()
        for job in jobs:
            job.result(WAIT)
    assert engine._loop._sequences == {}
    assert not any(slot.busy for slot in engine._loop._cache._slots)
    assert engine._loop._scheduler.running == engine._loop._scheduler.waiting == ()


def test_who_asks_counts_at_once(load):
    """The first step of a long prompt takes seconds, and a step of another model of the pool likewise."""
    engine = load()
    step, goes_on, inside = engine._runner.step, threading.Event(), threading.Event()

    def slow(works):
        inside.set()
        goes_on.wait(WAIT)
        return step(works)

    engine._runner.step = slow
    jobs = [engine.submit(ids_request())]
    assert inside.wait(WAIT)
    assert (engine.stats().running, engine.stats().waiting) == (1, 0)
    jobs.append(engine.submit(ids_request()))
    assert (engine.stats().running, engine.stats().waiting) == (1, 1)
    assert not engine.is_idle
    assert not engine.stop_if_idle()
    goes_on.set()
    assert [job.result(WAIT).finish_reason for job in jobs] == ["length"] * 2
    assert (engine.stats().running, engine.stats().waiting) == (0, 0)
    assert engine.stop_if_idle()
    with pytest.raises(EngineClosedError):
        engine.submit(ids_request())


def test_logits_leave_nameless_conversations_alone(load):
    engine = load()
    request = ids_request(300)
    want = engine.generate(request).token_ids
    assert len(engine.logits([*request.token_ids] * 2)) == 600  # more than fit into the slot of that one
    again = engine.generate(request)
    assert (again.token_ids, again.usage.cached_tokens) == (want, 299)


def test_stats(load):
    engine = load(dtype="bfloat16")
    stats = engine.stats()
    assert (stats.dtype, stats.device, stats.running) == ("bfloat16", "cpu", 0)
    assert stats.batch_invariant
    norms = 64 * 7  # are not counted
    assert stats.weight_bytes >= 1.5 * (engine.info.parameters - norms)  # in codes; else more
    jobs = [engine.submit(ids_request(max_tokens=200)) for _ in range(3)]
    seen = []
    for output in jobs[0]:
        if output.index == 100:
            seen.append(engine.stats())
    [job.result(WAIT) for job in jobs]
    assert seen[0].batch_size == 3
    assert seen[0].kv_bytes > 0
    assert seen[0].tokens_per_second > 0


def test_progress(load):
    engine = load()
    job = engine.submit(GenerateRequest(token_ids=[5] * 1800, max_tokens=2, sampling=GREEDY))
    seen = set()
    while job.state != "finished":
        seen.add(job.state)
        progress = job.progress
        assert 0 <= progress.prompt_tokens_read <= progress.prompt_tokens == 1800
    assert "prefilling" in seen


def test_logits_and_warmup(load):
    engine = load()
    engine.warmup()
    logits = engine.logits([1, 2, 3])
    assert logits.shape == (3, engine.tokenizer.vocab_size)
    assert not logits.is_inference()
    with pytest.raises(InvalidRequestError):
        engine.logits([])
