"""Thoughts end after so many tokens, whatever the model likes, and the answer goes on as it would have behind them."""

import pytest

from llama_gui.engine import AnswerState, GenerateRequest, Message, SamplingParams
from llama_gui.engine.harmony import Marks
from llama_gui.errors import InvalidRequestError

OPENED = "Why is the sky blue?<think>\n"
LETTERS = SamplingParams(temperature=1.0, seed=7)
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def asked(budget, **more):
    return GenerateRequest(
        **{
            "prompt": OPENED,
            "max_tokens": 40,
            "sampling": LETTERS,
            "ignore_eos": True,
            "thinking_budget": budget,
            **more,
        }
    )


def closing(engine, tag="</think>"):
    return engine.tokenizer.encode_behind(f"\n{tag}\n\n")


@pytest.fixture
def engine(load):
    return load("llama-3.2")


@pytest.mark.parametrize("budget", [0, 1, 9])
def test_thoughts_end_at_the_budget(engine, budget):
    free, bound = (list(engine.generate(asked(n)).token_ids) for n in (None, budget))
    end = closing(engine)
    cut = next(n for n in range(budget, budget + 4) if bound[n : n + len(end)] == end)  # behind a whole letter
    assert bound[:cut] == free[:cut]
    assert len(bound) == 40
    behind = engine.generate(asked(None, answer_token_ids=bound[: cut + len(end)]))
    assert list(behind.token_ids) == bound  # nothing else is bound


def test_thoughts_that_end_by_themselves_are_left_alone(engine):
    known = engine.tokenizer.encode("A while.\n</think>\n\nBecause", add_special_tokens=False)
    free, bound = (engine.generate(asked(n, answer_token_ids=known, max_tokens=60)) for n in (None, len(known)))
    assert free.token_ids == bound.token_ids


def test_an_answer_may_open_its_thoughts_itself(engine):
    text = engine.generate(asked(3, prompt="Why?", answer_text="<Thinking> So")).text
    assert text.lower().startswith("<thinking> so")
    assert "\n</thinking>\n\n" in text


def test_an_answer_without_thoughts_has_no_budget(engine):
    free, bound = (engine.generate(asked(n, prompt="Why?")) for n in (None, 0))
    assert free.token_ids == bound.token_ids


def test_a_letter_that_is_begun_is_completed(engine):
    half = engine.tokenizer.encode("日", add_special_tokens=False)
    assert len(half) == 3
    rest = SamplingParams(temperature=0, logit_bias={half[2]: 100.0})
    answer = engine.generate(asked(2, answer_token_ids=half[:2], sampling=rest)).text
    assert answer.startswith("日\n</think>\n\n")


def test_it_goes_on_as_it_would_have(engine):
    whole = engine.generate(asked(6))
    for count in range(1, 14):
        job = engine.submit(asked(6))
        for output in job:
            if output.index + 1 == count:
                job.cancel()
        state = AnswerState.from_json(job.answer_state.to_json())
        assert engine.resume(state).result().token_ids == whole.token_ids


def test_beside_others_and_with_guesses_it_is_the_same(load):
    alone = load("llama-3.2").generate(asked(6))
    engine = load("llama-3.2", draft="ngram")
    answers = engine.generate_batch([asked(6), asked(2), asked(None), asked(6)])
    assert answers[0].token_ids == answers[3].token_ids == alone.token_ids


def test_where_the_request_forbids_the_tag_the_answer_goes_on(engine):
    banned = SamplingParams(temperature=1.0, seed=7, banned_token_ids=closing(engine)[1:2])
    answer = engine.generate(asked(2, sampling=banned))
    assert (answer.finish_reason, len(answer.token_ids)) == ("length", 40)


@pytest.mark.parametrize("place", [0, 1, 4])
def test_an_end_that_cannot_come_whole_is_not_begun_and_goes_on_the_same_when_resumed(engine, place):
    banned = SamplingParams(temperature=1.0, seed=7, banned_token_ids=[closing(engine)[place]])
    whole = list(engine.generate(asked(5, sampling=banned)).token_ids)
    free = list(engine.generate(asked(None, sampling=banned)).token_ids)
    assert whole == free
    for count in range(4, 20):
        assert list(engine.generate(asked(5, sampling=banned, answer_token_ids=whole[:count])).token_ids) == whole


@pytest.mark.parametrize("budget", [-1, 1.5, "all", True])
def test_a_budget_is_a_whole_number(budget):
    with pytest.raises(InvalidRequestError, match="thinking_budget"):
        asked(budget)


# --- gpt-oss, which thinks in a channel


def channels(engine, text):
    return engine.tokenizer.encode(text, add_special_tokens=False)


def test_thoughts_in_a_channel_end_with_another(load):
    engine = load("gpt-oss")
    known = channels(engine, "<|channel|>analysis<|message|>")
    marks = Marks.find(engine.tokenizer)
    assert marks is not None
    plain = SamplingParams(temperature=1.0, seed=7, banned_token_ids=[marks.end, marks.start, marks.channel])
    request = {"messages": [Message("user", "Why?")], "prompt": None, "answer_token_ids": known}
    free = engine.generate(asked(None, **request))
    answer = engine.generate(asked(4, **request))
    end = channels(engine, "<|end|><|start|>assistant<|channel|>final<|message|>")
    cut = len(known) + 4
    ids = list(answer.token_ids)
    assert ids[:cut] == list(free.token_ids)[:cut]
    assert ids[cut : cut + len(end)] == end or ids[cut + 1 : cut + 1 + len(end)] == end
    assert "\n</think>\n\n" in answer.text
    assert engine.generate(asked(4, **request, sampling=plain)).text.count("</think>") == 0  # its marks are forbidden


def test_behind_thoughts_in_a_channel_a_call_may_come(load):
    engine = load("gpt-oss")
    known = channels(engine, "<|channel|>analysis<|message|>Hm")
    word = channels(engine, "commentary")[0]
    likely = SamplingParams(temperature=0, logit_bias={word: 100.0, channels(engine, "analysis")[0]: 100.0})
    request = {"messages": [Message("user", "Why?")], "prompt": None, "tools": [TOOL], "sampling": likely}
    ids = list(engine.generate(asked(1, **request, answer_token_ids=known)).token_ids)
    start = channels(engine, "<|end|><|start|>assistant<|channel|>")
    assert ids[len(known) : len(known) + len(start) + 1] == [*start, word]
