"""How likely given tokens are: as transformers says, as it was told when they were drawn, and in any pieces."""

import math

import pytest
import torch

from llama_gui.engine import GenerateRequest, Message, SamplingParams
from llama_gui.engine.prompt_logprobs import PromptLogprobs
from llama_gui.errors import InvalidRequestError, PromptTooLongError
from tests.fakes.tiny_llama import SHAPES, write_tiny_llama

WAIT = 60
WARM = SamplingParams(temperature=1.3, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.2, seed=3)
ASKED = [Message("user", "Tell me about łódź and 🦙🏽, please")]


@pytest.fixture
def usual_dtype() -> str:
    """What transformers computes is float32."""
    return "float32"


def drawn(engine, count=40, **options):
    request = GenerateRequest(messages=ASKED, max_tokens=count, sampling=WARM, logprobs=5, **options)
    job = engine.submit(request)
    outputs = list(job)
    return job.answer_state.prompt_token_ids, outputs, job.result(WAIT)


def scored(engine, prompt, answer, top=5, **options):
    request = GenerateRequest(
        token_ids=prompt, answer_token_ids=answer, max_tokens=len(answer), prompt_logprobs=top, **options
    )
    return engine.generate(request)


@pytest.mark.parametrize("shape", SHAPES)
def test_as_transformers_says(load, tiny_folder, shape):
    from transformers import AutoModelForCausalLM

    engine = load(shape)
    model = AutoModelForCausalLM.from_pretrained(tiny_folder(shape), dtype=torch.float32).eval()
    ids = torch.randint(0, engine.tokenizer.vocab_size, (300,), generator=torch.Generator().manual_seed(1)).tolist()
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0][:, : engine.tokenizer.vocab_size]
    want = logits.log_softmax(-1)
    result = engine.generate(GenerateRequest(token_ids=ids, max_tokens=1, prompt_logprobs=4))
    first, *rest = result.prompt_logprobs
    assert first is None
    assert [output.token_id for output in rest] == ids[1:]
    assert len(result.token_ids) == 1
    for place, output in enumerate(rest):
        assert output.logprob == pytest.approx(float(want[place, output.token_id]), abs=2e-4)
        best = want[place].topk(4)
        assert [top.logprob for top in output.top_logprobs] == pytest.approx(best.values.tolist(), abs=2e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_the_bits_that_were_told_when_it_was_drawn(load, dtype):
    engine = load(dtype=dtype)
    prompt, outputs, result = drawn(engine)
    again = scored(engine, prompt, result.token_ids)
    assert again.finish_reason == result.finish_reason
    assert again.token_ids == result.token_ids
    assert again.text == result.text == "".join(output.text for output in again.prompt_logprobs)
    told = [(output.token_id, output.index, output.logprob, output.top_logprobs) for output in outputs]
    assert told == [(o.token_id, o.index, o.logprob, o.top_logprobs) for o in again.prompt_logprobs]


@pytest.mark.parametrize("strategy", ["batched", "interleaved", "sequential"])
def test_in_pieces_as_whole(load, monkeypatch, strategy):
    engine = load(strategy=strategy)
    ids = torch.randint(0, engine.vocab_size, (500,), generator=torch.Generator().manual_seed(2)).tolist()
    whole = scored(engine, ids[:100], ids[100:])
    rows = []
    former = PromptLogprobs.take
    monkeypatch.setattr(PromptLogprobs, "most", lambda _self, _start, count: min(count, 7))
    monkeypatch.setattr(PromptLogprobs, "take", lambda self, logits: (rows.append(len(logits)), former(self, logits)))
    assert scored(load(strategy=strategy), ids[:100], ids[100:]).prompt_logprobs == whole.prompt_logprobs
    assert len(whole.prompt_logprobs) == 400
    assert max(rows) == 7


def test_no_piece_holds_many_logits(load, monkeypatch):
    monkeypatch.setattr("llama_gui.engine.prompt_logprobs._MOST_LOGITS", 64 * 32)
    engine = load()
    rows = []
    forward = engine._runner._network.forward

    def counting(segments, *rest):
        logits = forward(segments, *rest)
        rows.append(len(logits))
        return logits

    monkeypatch.setattr(engine._runner._network, "forward", counting)
    ids = [5] * 400
    assert len(scored(engine, ids[:200], ids[200:]).prompt_logprobs) == 200
    assert max(rows) <= 33


def test_beside_others_that_are_not_changed(load):
    alone = drawn(load(), 60)[2]
    engine = load(draft="ngram")
    ids = torch.randint(0, engine.vocab_size, (600,), generator=torch.Generator().manual_seed(4)).tolist()
    writer = engine.submit(GenerateRequest(messages=ASKED, max_tokens=60, sampling=WARM))
    reader = engine.submit(
        GenerateRequest(token_ids=ids[:50], answer_token_ids=ids[50:], max_tokens=550, prompt_logprobs=2)
    )
    told = reader.result(WAIT).prompt_logprobs
    assert writer.result(WAIT).token_ids == alone.token_ids
    assert told == scored(load(), ids[:50], ids[50:], top=2).prompt_logprobs
    assert list(reader) == []


def test_cancelled_in_one_step(load, monkeypatch):
    engine = load()
    taken = []

    def take(self, logits):
        taken.append(len(logits))
        if len(taken) == 3:
            job.cancel()

    monkeypatch.setattr(PromptLogprobs, "most", lambda _self, _start, count: min(count, 4))
    monkeypatch.setattr(PromptLogprobs, "take", take)
    job = engine.submit(
        GenerateRequest(token_ids=[5] * 10, answer_token_ids=[7] * 400, max_tokens=400, prompt_logprobs=1)
    )
    assert job.result(WAIT).finish_reason == "cancelled"
    assert len(taken) == 3
    assert drawn(engine)[2].token_ids == drawn(load())[2].token_ids


def test_the_beginning_comes_from_the_cache(load):
    engine = load()
    prompt, _, result = drawn(engine, cache_key="chat")
    again = scored(engine, prompt, result.token_ids)
    assert again.usage.cached_tokens == len(prompt) - 1
    assert len(again.prompt_logprobs) == len(result.token_ids)
    whole = engine.generate(GenerateRequest(token_ids=prompt, max_tokens=1, prompt_logprobs=0))
    assert whole.usage.cached_tokens == 0
    assert len(whole.prompt_logprobs) == len(prompt)
    assert whole.prompt_logprobs[1].top_logprobs == ()


def test_an_answer_that_has_ended_is_read_and_nothing_drawn(load):
    engine = load()
    prompt, _, result = drawn(engine, 10)
    eos = min(engine.eos_token_ids)
    ids = [*result.token_ids, eos]
    request = GenerateRequest(token_ids=prompt, answer_token_ids=ids, max_tokens=90, prompt_logprobs=3)
    job = engine.submit(request)
    ended = job.result(WAIT)
    assert (ended.finish_reason, list(ended.token_ids), list(job)) == ("stop", ids, [])
    assert ended.prompt_logprobs[-1].token_id == eos
    assert job.former_text == ended.text == result.text
    with pytest.raises(InvalidRequestError, match="has not ended"):
        engine.submit(GenerateRequest(token_ids=prompt, answer_token_ids=ids, max_tokens=90))


def test_it_goes_on_behind_what_is_known(load):
    engine = load()
    prompt, outputs, result = drawn(engine, 30)
    request = GenerateRequest(
        token_ids=prompt,
        answer_token_ids=result.token_ids[:12],
        max_tokens=30,
        sampling=WARM,
        logprobs=5,
        prompt_logprobs=5,
    )
    job = engine.submit(request)
    assert list(job) == outputs[12:]
    assert job.result(WAIT).token_ids == result.token_ids
    assert len(job.result(WAIT).prompt_logprobs) == 12
    assert job.former_text + "".join(output.text for output in job) == result.text


def test_an_answer_that_fills_the_context(load):
    engine = load(max_context=64)
    prompt, answer = [5] * 10, [7] * 54
    result = engine.generate(GenerateRequest(token_ids=prompt, answer_token_ids=answer, prompt_logprobs=1))
    assert (result.finish_reason, len(result.prompt_logprobs)) == ("context", 54)
    with pytest.raises(PromptTooLongError):
        engine.submit(GenerateRequest(token_ids=prompt, answer_token_ids=[*answer, 7], prompt_logprobs=1))


def test_what_a_stop_text_holds_back_is_not_lost(load):
    engine = load()
    ids = engine.tokenizer.encode_literally("one END")
    result = engine.generate(
        GenerateRequest(token_ids=[5], answer_token_ids=ids, max_tokens=len(ids), prompt_logprobs=0, stop=["END!"])
    )
    assert result.text == "one END"


@pytest.mark.parametrize("value", [-1, 51, 1.5, True, "3"])
def test_numbers_out_of_range(value):
    with pytest.raises(InvalidRequestError, match="prompt_logprobs"):
        GenerateRequest(prompt="x", prompt_logprobs=value)


def test_probabilities_are_the_models_own(load):
    """Of temperature 1, whatever the answer was drawn with."""
    engine = load()
    prompt, _, result = drawn(engine)
    cold = scored(engine, prompt, result.token_ids, sampling=SamplingParams(temperature=0, logit_bias={7: 50}))
    assert cold.prompt_logprobs == scored(engine, prompt, result.token_ids).prompt_logprobs
    for output in cold.prompt_logprobs:
        assert sum(math.exp(top.logprob) for top in output.top_logprobs) <= 1 + 1e-6


def test_ids_that_are_nobodys_may_be_given(load, tmp_path, monkeypatch):
    """The head has more rows than there are tokens."""
    folder = write_tiny_llama(tmp_path / "wide", vocab_size=4096)
    engine = load(folder=folder)
    last = engine.vocab_size - 1
    assert last >= engine.tokenizer.vocab_size
    told = scored(engine, [5, last], [last, 7]).prompt_logprobs
    assert [output.token_id for output in told] == [last, 7]
    assert all(top.token_id < engine.tokenizer.vocab_size for output in told for top in output.top_logprobs)
    monkeypatch.setattr("llama_gui.engine.prompt_logprobs._MOST_LOGITS", 64 * 4096)
    narrow = PromptLogprobs([1] * 500, 1, 0, engine.tokenizer, engine.vocab_size)
    assert narrow.most(0, 500) == 64  # by the rows, not by the tokens
