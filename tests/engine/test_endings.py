"""What a request says about where its answer ends, which words it may not hold, and how much of the prompt is read."""

from dataclasses import replace

import pytest

from llama_gui.engine import AnswerState, Engine, GenerateRequest, Message, SamplingParams
from llama_gui.errors import GenerationError, InvalidRequestError
from tests.engine.answers import bits
from tests.engine.test_engine import forced, ids_request
from tests.fakes.tiny_llama import write_tiny_llama

WARM = SamplingParams(temperature=1.0, top_k=0, top_p=1, min_p=0, seed=4)


def spelled(engine: Engine, text: str) -> list[int]:
    return engine.tokenizer.encode(text, add_special_tokens=False)


# --- tokens that end an answer


def test_a_stop_token_ends_the_answer_and_is_not_in_its_text(load):
    engine = load()
    (stop,) = spelled(engine, "%")
    asked = forced(engine, "one two% three", stop_token_ids=[stop, 1, stop])
    result = engine.generate(asked)
    assert (result.text, result.finish_reason, result.stop_reason) == ("one two", "stop", stop)
    assert result.token_ids == tuple(spelled(engine, "one two%"))
    shown = engine.generate(replace(asked, include_stop_str_in_output=True))
    assert (shown.text, shown.token_ids, shown.stop_reason) == ("one two%", result.token_ids, stop)


def test_an_answer_that_ends_of_itself_or_is_cut_has_no_stop_reason(load):
    engine = load()
    assert engine.generate(forced(engine, "one", stop_token_ids=[3])).stop_reason is None
    assert engine.generate(forced(engine, "one", stop_token_ids=sorted(engine.eos_token_ids))).stop_reason is None
    assert engine.generate(forced(engine, "one two", max_tokens=1, stop=["two"])).stop_reason is None


def test_a_stop_text_may_be_a_part_of_the_text(load):
    engine = load()
    asked = forced(engine, "one two three", stop=["o t"])
    hidden, shown = (engine.generate(replace(asked, include_stop_str_in_output=included)) for included in (False, True))
    assert (hidden.text, hidden.stop_reason) == ("one tw", "o t")
    assert (shown.text, shown.stop_reason) == ("one two t", "o t")


def test_the_stop_of_a_plain_transcript_is_nobodys(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "plain")
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = folder / "tokenizer_config.json"
    config.write_text('{"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}')
    engine = load(folder=folder)
    asked = forced(engine, "Yes.\nUser: And", include_stop_str_in_output=True)
    processor = asked.logits_processor
    assert processor is not None
    prompt = len(engine.apply_chat_template([Message("user", "Hi")], tokenize=True))
    request = GenerateRequest(
        messages=[Message("user", "Hi")],
        max_tokens=50,
        sampling=asked.sampling,
        include_stop_str_in_output=True,
        logits_processor=lambda ids, logits: processor([0] * (20 + len(ids) - prompt), logits),
    )
    result = engine.generate(request)
    assert (result.text, result.finish_reason, result.stop_reason) == ("Yes.", "stop", None)


def test_no_stop_token_comes_before_min_tokens(load):
    engine = load()
    free = engine.generate(ids_request(max_tokens=1)).token_ids
    held = engine.generate(ids_request(max_tokens=12, stop_token_ids=free, min_tokens=5))
    assert free[0] not in held.token_ids[:5]
    assert len(held.token_ids) >= 5
    assert len(engine.generate(ids_request(max_tokens=12, stop_token_ids=free)).token_ids) == 1


def test_what_ends_answers_can_be_ignored(load):
    engine = load()
    asked = forced(engine, "one two", max_tokens=20)
    ended = engine.generate(asked)
    assert ended.finish_reason == "stop"
    went_on = engine.generate(replace(asked, ignore_eos=True))
    assert (went_on.finish_reason, len(went_on.token_ids)) == ("length", 20)
    assert went_on.token_ids[: len(ended.token_ids)] == ended.token_ids
    assert went_on.text == ended.text
    eos = min(engine.tokenizer.eos_ids)
    shown = engine.generate(replace(asked, ignore_eos=True, skip_special_tokens=False))
    count = 20 - len(spelled(engine, "one two"))
    assert shown.text == ended.text + count * engine.tokenizer.token_text(eos)
    named = engine.generate(replace(asked, ignore_eos=True, stop_token_ids=[eos]))
    assert (named.finish_reason, named.stop_reason, named.text) == ("stop", eos, ended.text)


def test_the_end_is_shown_where_both_are_asked_for(load):
    engine = load()
    asked = forced(engine, "one", skip_special_tokens=False)
    end = engine.tokenizer.token_text(min(engine.tokenizer.eos_ids))
    assert engine.generate(asked).text == "one"
    assert engine.generate(replace(asked, include_stop_str_in_output=True)).text == f"one{end}"


# --- words that may not come


@pytest.mark.parametrize("shape", ["llama-3.2", "tinyllama"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("two of two", ["two"]),
        ("one\ntwo", ["two"]),
        ("one, two", ["xyz", "two", "three"]),
        ("<|start_header_id|>", ["<|start_header_id|>"]),
    ],
)
def test_bad_words_do_not_come(load, shape, text, words):
    engine = load(shape)
    asked = forced(engine, text, max_tokens=30, skip_special_tokens=False)
    assert engine.generate(asked).text == text
    held = engine.generate(replace(asked, sampling=replace(asked.sampling, bad_words=words)))
    assert held.text != text
    assert not [word for word in words if word in held.text]


@pytest.mark.parametrize("draft", [None, "ngram", "the same"])
def test_bad_words_and_stop_tokens_are_exact_beside_others_and_with_guesses(load, tiny_folder, draft):
    alone = load()
    words = [alone.tokenizer.token_text(o.token_id).strip() for o in alone.submit(ids_request(30, sampling=WARM))]
    sampling = replace(WARM, bad_words=[word for word in words if word][:4])
    requests = [
        ids_request(length, max_tokens=40, sampling=replace(sampling, seed=length), stop_token_ids=range(300, 320))
        for length in (20, 33, 47)
    ]
    want = [bits(alone.submit(request)) for request in requests]
    engine = load(draft=str(tiny_folder("llama-3.2")) if draft == "the same" else draft)
    assert [bits(engine.submit(request)) for request in requests] == want
    assert [bits(job) for job in [engine.submit(request) for request in requests]] == want
    job = engine.submit(requests[0])
    result = job.result(60)
    half = replace(job.answer_state, token_ids=result.token_ids[: len(result.token_ids) // 2])
    assert bits(engine.resume(AnswerState.from_json(half.to_json()))) == want[0][len(half.token_ids) :]


def test_words_that_leave_no_token(load):
    engine = load()
    (token_id,) = spelled(engine, "a")
    only = SamplingParams(allowed_token_ids=[token_id], bad_words=["a"])
    with pytest.raises(InvalidRequestError, match="allowed_token_ids"):
        engine.submit(ids_request(sampling=only))
    asked = ids_request(sampling=SamplingParams(allowed_token_ids=[token_id], bad_words=["aaa"]))
    result = engine.generate(asked)
    assert isinstance(result.error, GenerationError)
    assert "bad_words" in str(result.error)


# --- the prompt


def prompt_of(engine: Engine, **fields) -> tuple[int, ...]:
    job = engine.submit(GenerateRequest(max_tokens=1, **fields))
    job.result(60)
    return job.prompt_token_ids


def test_the_beginning_is_added_or_not(load):
    engine = load()
    (bos,) = engine.tokenizer.encode("", add_special_tokens=True)
    plain = spelled(engine, "one two")
    assert prompt_of(engine, prompt="one two") == (bos, *plain)
    assert prompt_of(engine, prompt="one two", add_special_tokens=False) == tuple(plain)
    assert prompt_of(engine, token_ids=plain, add_special_tokens=True) == tuple(plain)


def test_the_beginning_is_added_to_a_chat_whose_template_lacks_it(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "tiny")
    for template in ("{{ messages[0].content }}", "{{ bos_token }}{{ messages[0].content }}"):
        (folder / "chat_template.jinja").write_text(template)
        engine = load(folder=folder)
        (bos,) = engine.tokenizer.encode("", add_special_tokens=True)
        plain = prompt_of(engine, messages=[Message("user", "one two")])
        added = prompt_of(engine, messages=[Message("user", "one two")], add_special_tokens=True)
        assert added == (plain if plain[0] == bos else (bos, *plain))


def test_the_last_tokens_of_a_prompt(load):
    engine = load()
    whole = prompt_of(engine, prompt="one two three four five six")
    cut = prompt_of(engine, prompt="one two three four five six", truncate_prompt_tokens=4)
    assert cut == (whole[0], *whole[-3:])
    assert prompt_of(engine, prompt="one two three four five six", truncate_prompt_tokens=1) == whole[-1:]
    assert prompt_of(engine, prompt="one two", truncate_prompt_tokens=500) == prompt_of(engine, prompt="one two")
    assert prompt_of(engine, token_ids=[10, 11, 12, 13], truncate_prompt_tokens=2) == (12, 13)
    whole = prompt_of(engine, messages=[Message("user", "one two three")])
    cut = prompt_of(engine, messages=[Message("user", "one two three")], truncate_prompt_tokens=6)
    assert cut == (whole[0], *whole[-5:])


def test_a_prompt_that_is_cut_to_what_fits(load):
    engine = load(max_context=32)
    asked = ids_request(60, max_tokens=12, truncate_prompt_tokens=-1)
    job = engine.submit(asked)
    assert job.prompt_token_ids == tuple(asked.token_ids or ())[-20:]
    assert len(job.result(60).token_ids) == 12
    assert len(engine.submit(replace(asked, max_tokens=None)).prompt_token_ids) == 31
    assert len(engine.submit(replace(asked, max_tokens=500)).prompt_token_ids) == 1


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"stop_token_ids": [-1]}, "stop_token_ids"),
        ({"stop_token_ids": [10**6]}, "stop_token_ids"),
        ({"stop_token_ids": "5"}, "stop_token_ids"),
        ({"ignore_eos": 1}, "ignore_eos"),
        ({"ignore_eos": True, "json_schema": {}}, "ignore_eos"),
        ({"include_stop_str_in_output": None}, "include_stop_str_in_output"),
        ({"skip_special_tokens": "no"}, "skip_special_tokens"),
        ({"add_special_tokens": 1}, "add_special_tokens"),
        ({"truncate_prompt_tokens": 0}, "truncate_prompt_tokens"),
        ({"truncate_prompt_tokens": -2}, "truncate_prompt_tokens"),
        ({"truncate_prompt_tokens": 1.5}, "truncate_prompt_tokens"),
    ],
)
def test_bad_values_name_the_field(load, fields, named):
    with pytest.raises(InvalidRequestError) as caught:
        load().submit(ids_request(**fields))
    assert caught.value.field == named


@pytest.mark.parametrize("words", ["two", [""], [5], 5])
def test_what_are_no_bad_words(words):
    with pytest.raises(InvalidRequestError) as caught:
        SamplingParams(bad_words=words)
    assert caught.value.field == "bad_words"
