"""A prompt with a gap: the order of its tokens, what ends the answer, and which models know it."""

from pathlib import Path

import pytest

from llama_gui.engine import GenerateRequest, Message, SamplingParams
from llama_gui.errors import InvalidRequestError
from tests.fakes.tiny_llama import write_tiny_llama

PARTS = {"<|start_header_id|>": "prefix", "<|end_header_id|>": "suffix", "<|end_of_text|>": "middle"}


def write_coder(folder: Path, name: str) -> Path:
    """A tiny model some of whose control tokens are those for a gap."""
    write_tiny_llama(folder)
    file = folder / "tokenizer.json"
    text = file.read_text()
    for old, part in PARTS.items():
        text = text.replace(old, name.format(part))
    file.write_text(text)
    return folder


@pytest.mark.parametrize("name", ["<|fim_{}|>", "<fim_{}>", "<fim-{}>"])
def test_what_stands_before_and_behind_the_gap(tmp_path, load, name):
    engine = load(folder=write_coder(tmp_path / "coder", name))
    tokenizer = engine.tokenizer
    prefix, suffix, middle = (tokenizer.id_of(name.format(part)) for part in ("prefix", "suffix", "middle"))
    before, behind = (tokenizer.encode(text, add_special_tokens=False) for text in ("one two", " six"))
    asked = {"prompt": "one two", "suffix": " six", "max_tokens": 5, "sampling": SamplingParams(temperature=0)}
    job = engine.submit(GenerateRequest(**asked))
    (bos,) = tokenizer.encode("", add_special_tokens=True)
    assert job.prompt_token_ids == (bos, prefix, *before, suffix, *behind, middle)
    without = engine.submit(GenerateRequest(**asked, add_special_tokens=False))
    assert without.prompt_token_ids == (prefix, *before, suffix, *behind, middle)
    plain = engine.generate(GenerateRequest(**{**asked, "suffix": None}))
    assert plain.usage.prompt_tokens == 1 + len(before)


def test_another_file_ends_the_answer(tmp_path, load):
    engine = load(folder=write_coder(tmp_path / "coder", "<|fim_{}|>"))
    prefix = engine.tokenizer.id_of("<|fim_prefix|>")
    sampling = SamplingParams(allowed_token_ids=[prefix])
    asked = {"prompt": "one", "max_tokens": 5, "sampling": sampling, "skip_special_tokens": False}
    ended = engine.submit(GenerateRequest(**asked, suffix="two"))
    assert (ended.result(60).finish_reason, ended.result(60).text) == ("stop", "")
    assert prefix in ended.answer_state.stop_token_ids
    assert engine.generate(GenerateRequest(**asked)).text == 5 * "<|fim_prefix|>"


def test_what_the_texts_say_is_no_gap(tmp_path, load):
    engine = load(folder=write_coder(tmp_path / "coder", "<|fim_{}|>"))
    ids = engine.submit(GenerateRequest(prompt="a <|fim_middle|> b", suffix="<|fim_prefix|>", max_tokens=1))
    special = [token_id for token_id in ids.prompt_token_ids if token_id in engine.tokenizer.special_ids]
    assert len(special) == 4  # the beginning, and the three


def test_models_that_know_no_gaps_say_so(load):
    with pytest.raises(InvalidRequestError, match="no tokens for filling in the middle") as caught:
        load().submit(GenerateRequest(prompt="one", suffix="two"))
    assert caught.value.field == "suffix"


@pytest.mark.parametrize(
    "fields",
    [
        {"token_ids": [5]},
        {"messages": [Message("user", "Hi")]},
        {"prompt": "one", "truncate_prompt_tokens": 5},
        {"prompt": "one", "suffix": 5},
    ],
)
def test_a_gap_needs_a_text_before_it(fields):
    with pytest.raises(InvalidRequestError) as caught:
        GenerateRequest(**{"suffix": "two", **fields})
    assert caught.value.field == "suffix"
