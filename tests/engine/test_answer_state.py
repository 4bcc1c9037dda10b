"""An answer that was interrupted goes on as if it had not been: the same ids, the same bits, the same text."""

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from llama_gui.engine import AnswerState, Engine, GenerateRequest, Message, SamplingParams
from llama_gui.errors import InvalidRequestError, PromptTooLongError
from llama_gui.vocabulary import GenerateResult, TokenOutput
from tests.fakes.tiny_llama import write_tiny_llama

WAIT = 60
SAMPLING = SamplingParams(
    temperature=1.1,
    top_k=0,
    top_p=0.97,
    repetition_penalty=1.1,
    frequency_penalty=0.1,
    dry_multiplier=0.5,
    xtc_probability=0.5,
    xtc_threshold=0.01,
    logit_bias={7: 0.5},
    seed=5,
)
REQUEST = GenerateRequest(
    messages=[Message("user", "Tell me about łódź and 🦙🏽 and more " * 6)],
    max_tokens=24,
    min_tokens=20,
    sampling=SAMPLING,
    stop=["never said"],
    logprobs=2,
    cache_key="chat",
)


def run(engine: Engine, request: GenerateRequest) -> tuple[list[TokenOutput], GenerateResult]:
    job = engine.submit(request)
    return list(job), job.result(WAIT)


def interrupted(engine: Engine, at: int) -> tuple[list[TokenOutput], AnswerState]:
    """The outputs up to `at`, and the state behind them."""
    job = engine.submit(REQUEST)
    outputs: list[TokenOutput] = []
    for output in job:
        outputs.append(output)
        if output.index + 1 >= at:
            job.cancel()
            break
    job.result(WAIT)
    state = job.answer_state
    return outputs, replace(state, token_ids=state.token_ids[:at])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_the_rest_is_what_it_would_have_been(load, dtype: str):
    engine = load(dtype=dtype)
    whole, result = run(engine, REQUEST)
    for at in (1, 2, 7, 23):
        first, state = interrupted(engine, at)
        job = engine.resume(AnswerState.from_json(state.to_json()))
        rest = list(job)
        assert first[:at] + rest == whole
        again = job.result(WAIT)
        assert again.text == result.text == "".join(o.text for o in whole)
        assert again.token_ids == result.token_ids
        assert again.seed == result.seed
        assert again.usage.completion_tokens == 24


def test_in_another_engine_that_never_saw_the_beginning(load):
    whole, _ = run(load(), REQUEST)
    _, state = interrupted(load(), 9)
    job = load(strategy="interleaved", draft="ngram").resume(state)
    assert list(job) == whole[9:]
    assert job.result(WAIT).usage.cached_tokens == 0


def test_the_state_of_a_waiting_and_of_a_finished_answer(load):
    engine = load()
    whole, result = run(engine, REQUEST)
    job = engine.submit(REQUEST)
    beginning = replace(job.answer_state, token_ids=())
    job.result(WAIT)
    assert list(engine.resume(beginning)) == whole
    assert job.answer_state.token_ids == result.token_ids
    with pytest.raises(InvalidRequestError, match="has not ended"):
        engine.resume(job.answer_state)
    longer = engine.resume(replace(job.answer_state, max_tokens=30)).result(WAIT)
    assert longer.token_ids[:24] == result.token_ids
    assert len(longer.token_ids) > 24


def test_resumed_twice(load):
    engine = load()
    whole, _ = run(engine, REQUEST)
    _, state = interrupted(engine, 5)
    job = engine.resume(state)
    next(iter(job))
    job.cancel()
    job.result(WAIT)
    assert list(engine.resume(job.answer_state)) == whole[len(job.answer_state.token_ids) :]


def test_a_stop_string_over_the_interruption(load):
    engine = load()
    words = engine.tokenizer.encode("one two three four", add_special_tokens=False)
    base = GenerateRequest(token_ids=[1, 2, 3], max_tokens=50, stop=["two three"], sampling=SamplingParams(seed=1))
    for cut in range(1, len(words) - 1):
        sampling = SamplingParams(temperature=0, logit_bias={words[cut]: 1000.0})
        request = replace(base, answer_token_ids=words[:cut], sampling=sampling, max_tokens=cut + 1)
        result = engine.generate(request)
        text = engine.tokenizer.decode(words[: cut + 1])
        assert result.text == (text[: text.index("two three")] if "two three" in text else text)
        if "two three" in engine.tokenizer.decode(words[: cut + 1]):
            assert result.finish_reason == "stop"
            break
    else:
        raise AssertionError("the stop string never came")
    with pytest.raises(InvalidRequestError, match="has not ended"):
        engine.submit(replace(base, answer_token_ids=words))


def test_an_answer_goes_on_behind_a_text(load):
    engine = load()
    request = replace(REQUEST, min_tokens=0, answer_text="one two", stop=[])
    ids = engine.tokenizer.encode("one two", add_special_tokens=False)
    result = engine.generate(request)
    assert result.text.startswith("one two")
    assert list(result.token_ids[: len(ids)]) == ids
    assert result == replace(
        engine.generate(replace(request, answer_text="", answer_token_ids=ids, max_tokens=24 + len(ids))),
        timings=result.timings,
        usage=result.usage,
    )
    with pytest.raises(InvalidRequestError, match="answer_text"):
        replace(request, answer_token_ids=ids)


SPACED = SamplingParams(temperature=0)


def drawing(engine: Engine, text: str, **asked: Any) -> GenerateRequest:
    """A request whose answer is the tokens of `text`, which are spelled as behind other text."""
    words = engine.tokenizer.encode_behind(text)
    before = len(engine.submit(GenerateRequest(max_tokens=1, **asked)).prompt_token_ids)

    def process(ids: list[int], logits: Tensor) -> Tensor:
        return torch.full_like(logits, -1e9).index_fill(0, torch.tensor([words[len(ids) - before]]), 0)

    return GenerateRequest(max_tokens=len(words), logits_processor=process, sampling=SPACED, **asked)


@pytest.fixture(scope="module", params=["bpe", "bpe, unknown decoder", "unigram, unknown decoder"])
def spaced_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokenizer puts a space before a text, and takes it away when it reads it back."""
    folder = write_tiny_llama(tmp_path_factory.mktemp("spaced") / "model", "tinyllama")
    state = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    if "unknown" in request.param:
        state["decoder"]["decoders"].insert(1, {"type": "Replace", "pattern": {"String": "<unk>"}, "content": ""})
    if "unigram" in request.param:
        scores = [[token, float(-number)] for token, number in state["model"]["vocab"].items()]
        state["model"] = {"type": "Unigram", "unk_id": 0, "vocab": scores, "byte_fallback": True}
    (folder / "tokenizer.json").write_text(json.dumps(state))
    return folder


@pytest.mark.parametrize("text", [" two three", "two three", "\n two", "  two", "\U0001f999 two"])
@pytest.mark.parametrize("behind", ["One8", "One\U0001f999\U0001f999"])
@pytest.mark.sampled(10)
def test_behind_ordinary_text_an_answer_keeps_its_first_space(spaced_folder, load, text, behind):
    engine = load(folder=spaced_folder)
    prompt = engine.tokenizer.encode(behind)
    assert engine.tokenizer.encode(f"{behind}{text}") == prompt + engine.tokenizer.encode_behind(text)
    for asked in ({"prompt": behind}, {"token_ids": prompt}):
        request = drawing(engine, text, **asked)
        result = engine.generate(request)
        assert result.text == text
        ids = result.token_ids
        more = engine.submit(replace(request, logits_processor=None, answer_text=text, max_tokens=1))
        more.result(WAIT)
        assert more.answer_state.token_ids[:-1] == ids
        read = engine.generate(
            GenerateRequest(answer_token_ids=ids, max_tokens=len(ids), prompt_logprobs=0, sampling=SPACED, **asked)
        )
        assert "".join(output.text for output in read.prompt_logprobs if output) == text
        assert engine.resume(replace(more.answer_state, token_ids=ids)).result(WAIT).text.startswith(text)


@pytest.mark.parametrize(
    ("template", "is_added"), [("<|user|>\n{}\n<|assistant|>\n", False), ("[INST] {} [/INST]", True), ("{}</s>", True)]
)
def test_an_answer_of_a_chat_begins_as_its_template_ends(tmp_path, load, template: str, is_added: bool):
    """Behind a line break the tokenizer puts no space; elsewhere it does, and nobody is shown it."""
    folder = write_tiny_llama(tmp_path / "model", "tinyllama")
    (folder / "chat_template.jinja").write_text(
        template.replace("{}", "{{ messages[0].content }}").replace("\n", "{{ '\n' }}")
    )
    engine = load(folder=folder)
    asked = GenerateRequest(
        messages=[Message("user", "Hi")], max_tokens=1, answer_text="Hello", sampling=SPACED, prompt_logprobs=0
    )
    job = engine.submit(asked)
    result = job.result(WAIT)
    known = job.answer_state.token_ids[:-1]
    assert engine.tokenizer.piece(known[0]).startswith("▁") == is_added
    assert result.text.startswith("Hello")
    assert "".join(output.text for output in result.prompt_logprobs if output) == "Hello"
    resumed = engine.resume(replace(AnswerState.from_json(job.answer_state.to_json()), token_ids=known))
    assert resumed.result(WAIT).text == result.text


def test_max_tokens_counts_what_comes_behind_a_text(load):
    engine = load()
    text = "I can tell you how the quick brown fox jumps over the lazy dog."
    request = replace(REQUEST, min_tokens=3, max_tokens=4, answer_text=text)
    whole, result = run(engine, request)
    known = engine.count(text)
    assert len(result.token_ids) == known + len(whole)
    assert (len(whole), result.finish_reason) == (4, "length")
    again = engine.generate(request)
    assert again.usage.cached_tokens <= again.usage.prompt_tokens
    job = engine.submit(request)
    job.result(WAIT)
    assert (
        list(engine.resume(replace(job.answer_state, token_ids=job.answer_state.token_ids[: known + 2]))) == whole[2:]
    )


def test_a_text_behind_which_nothing_can_come_is_named(load):
    with pytest.raises(InvalidRequestError, match="has not ended") as caught:
        load().submit(replace(REQUEST, answer_text="one two", stop=["two"]))
    assert caught.value.field == "answer_text"


def test_what_cannot_go_on(load):
    engine = load(max_context=64)
    state = engine.submit(GenerateRequest(token_ids=[1, 2, 3], max_tokens=2)).answer_state
    with pytest.raises(InvalidRequestError, match="tokenizer"):
        engine.resume(replace(state, tokenizer="another"))
    with pytest.raises(InvalidRequestError, match="AnswerState"):
        engine.resume("a state")
    with pytest.raises(InvalidRequestError, match="has not ended"):
        engine.resume(replace(state, token_ids=(min(engine.tokenizer.eos_ids),), max_tokens=None))
    with pytest.raises(PromptTooLongError):
        engine.resume(replace(state, token_ids=(5,) * 64, max_tokens=None))
    with pytest.raises(InvalidRequestError, match="answer_token_ids is 1000000"):
        engine.resume(replace(state, token_ids=(10**6,), max_tokens=None))


NO_STATES = ["", "[]", "{}", "null", '{"version": 1}', '{"version": 1, "sampling": {"x": 1}}', None, 5, "[" * 100_000]


@pytest.mark.parametrize("text", NO_STATES)
def test_text_that_is_no_state(text: Any):
    with pytest.raises(InvalidRequestError, match="to_json"):
        AnswerState.from_json(text)


@pytest.mark.parametrize("ids", ["[1e999]", "[1.5]", '"12"', "[-1]", "null"])
def test_a_state_of_ids_that_are_none(ids: str):
    text = AnswerState((1,), (), SamplingParams()).to_json().replace("[1]", ids)
    with pytest.raises(InvalidRequestError, match=r"token ids|to_json"):
        AnswerState.from_json(text)


def test_every_kind_of_list_can_be_kept(load):
    sampling = SamplingParams(
        temperature=np.float32(0.5),
        logit_bias=MappingProxyType({np.int64(3): np.float32(1.0)}),
        allowed_token_ids={5, 6, 7},
        banned_token_ids=range(6, 7),
        dry_sequence_breakers=(text for text in "ab"),  # type: ignore[arg-type]
    )
    stop: Any = (text for text in ["never", "said"])
    job = load().submit(GenerateRequest(token_ids=np.array([1, 2]), max_tokens=2, stop=stop, sampling=sampling))  # type: ignore[arg-type]
    state = AnswerState.from_json(job.answer_state.to_json())
    assert state == job.answer_state
    assert state.stop == ("never", "said")
    assert state.sampling.dry_sequence_breakers == ("a", "b")


def test_a_state_of_a_later_version():
    values = json.loads(AnswerState((1,), (), SamplingParams()).to_json())
    with pytest.raises(InvalidRequestError, match="update"):
        AnswerState.from_json(json.dumps({**values, "version": 9}))


def test_how_an_answer_ends_and_is_shown_goes_along(load):
    engine = load()
    free, _ = run(engine, replace(REQUEST, min_tokens=0, ignore_eos=True))
    stop = next(o.token_id for o in free[12:] if o.token_id not in [p.token_id for p in free[:12]])
    shown = {"include_stop_str_in_output": True, "skip_special_tokens": False, "ignore_eos": True}
    sampling = replace(REQUEST.sampling, bad_words=["never said"])
    request = replace(REQUEST, stop_token_ids=[stop], min_tokens=0, sampling=sampling, **shown)
    _, result = run(engine, request)
    assert (result.finish_reason, result.stop_reason) == ("stop", stop)
    job = engine.submit(request)
    first = next(iter(job))
    state = replace(job.answer_state, token_ids=(first.token_id,))
    again = engine.resume(AnswerState.from_json(state.to_json())).result(WAIT)
    assert (again.text, again.token_ids, again.stop_reason) == (result.text, result.token_ids, stop)


def test_a_state_of_an_earlier_program():
    state = AnswerState((1,), (2,), SamplingParams(temperature=0.5))
    values = json.loads(state.to_json())
    for name in ("stop_token_ids", "ignore_eos", "include_stop_str_in_output", "skip_special_tokens"):
        del values[name]
    del values["sampling"]["bad_words"]
    assert AnswerState.from_json(json.dumps(values)) == state


def test_a_fork_keeps_what_the_first_conversation_loses(load):
    engine = load()
    prompt = list(range(10, 110))
    base = GenerateRequest(token_ids=prompt, max_tokens=5, cache_key="one", sampling=SamplingParams(temperature=0))
    want = engine.generate(base)
    assert engine.fork("nobody", "two") == 0
    assert engine.fork("one", "two") == 104
    engine.generate(replace(base, token_ids=list(range(200, 150, -1))))  # the first goes elsewhere
    forked = engine.generate(replace(base, cache_key="two"))
    assert forked.usage.cached_tokens == 99
    assert forked.token_ids == want.token_ids
