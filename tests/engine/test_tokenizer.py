"""Ids beside transformers' own, control tokens that cannot be typed, and files that are damaged."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError, InvalidRequestError, ModelNotFoundError
from tests.fakes.tiny_tokenizers import byte_level_tokenizer, gemma_tokenizer, sentencepiece_tokenizer, write_tokenizer

TEXTS = ["Hello there.", "  two  spaces ", "\n\nline\ttab", "größer 日本語 👩", "<|eot_id|> </s> <s>", ""]


@pytest.fixture
def llama3(tmp_path: Path) -> Path:
    write_tokenizer(tmp_path, byte_level_tokenizer(), bos="<|begin_of_text|>", eos="<|eot_id|>")
    return tmp_path


@pytest.fixture
def llama2(tmp_path: Path) -> Path:
    write_tokenizer(tmp_path, sentencepiece_tokenizer(), bos="<s>", eos="</s>")
    return tmp_path


@pytest.fixture(params=["llama2", "llama3"])
def folder(request) -> Path:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("add_special_tokens", [True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_the_same_ids_as_transformers(folder: Path, text: str, add_special_tokens: bool):
    from transformers import PreTrainedTokenizerFast

    theirs = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    want = theirs(text, add_special_tokens=add_special_tokens)["input_ids"]
    assert Tokenizer.load(folder).encode(text, add_special_tokens=add_special_tokens) == want


def test_runs_of_blanks_that_were_added_as_tokens_are_blanks(tmp_path: Path):
    """Gemma's, with which it indents code."""
    write_tokenizer(tmp_path, gemma_tokenizer(), bos="<bos>", eos="<eos>")
    tokenizer = Tokenizer.load(tmp_path)
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    text = "if x:\n   y\n\n  z"
    ids = tokenizer.encode(text, add_special_tokens=False)
    three = tokenizer.id_of("▁▁▁")
    assert three in ids
    assert tokenizer.decode(ids) == theirs.decode(ids) == text
    assert (tokenizer.token_text(three), tokenizer.token_bytes(three)) == ("   ", b"   ")


def test_what_is_typed_never_becomes_a_control_token(folder: Path):
    tokenizer = Tokenizer.load(folder)
    for text in tokenizer.special_texts:
        assert set(tokenizer.encode(text, add_special_tokens=False)) & tokenizer.special_ids
        literal = tokenizer.encode_literally(f"a {text} b")
        assert not set(literal) & tokenizer.special_ids
        assert tokenizer.decode(literal) == f"a {text} b"


def test_texts_apart_where_the_vocabulary_has_a_gap(llama2: Path):
    """There the library gives added tokens ids that others have."""
    state = json.loads((llama2 / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = state["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    vocabulary[last] += 1
    (llama2 / "tokenizer.json").write_text(json.dumps(state), encoding="utf-8")
    tokenizer = Tokenizer.load(llama2)
    word = last.replace("▁", " ")
    ids = tokenizer.encode_apart([(f"<s>x{word}</s>", f"<s>{word}"), ("<unk>", "")])
    assert [token_id for token_id in ids if token_id in tokenizer.special_ids] == [1, 2, 0]
    assert ids.count(vocabulary[last]) == 2
    assert tokenizer.decode(ids, skip_special_tokens=False) == f"<s>x{word}</s> <s>{word}<unk>"


def test_lone_surrogates_are_read_as_broken_characters(folder: Path):
    tokenizer = Tokenizer.load(folder)
    assert tokenizer.decode(tokenizer.encode("a\ud800b", add_special_tokens=False)).startswith("a\ufffd")


def test_what_ends_an_answer(llama3: Path):
    tokenizer = Tokenizer.load(llama3)
    ends = {tokenizer.id_of(text) for text in ("<|eot_id|>", "<|end_of_text|>")}
    assert tokenizer.eos_ids == ends
    assert tokenizer.eos_token == "<|eot_id|>"
    assert tokenizer.id_of("no such token") is None


def test_a_token_written_as_an_object(llama3: Path):
    (llama3 / "tokenizer_config.json").write_text(json.dumps({"bos_token": {"content": "<|begin_of_text|>"}}))
    assert Tokenizer.load(llama3).bos_token == "<|begin_of_text|>"
    (llama3 / "tokenizer_config.json").unlink()
    assert Tokenizer.load(llama3).bos_token == ""


@pytest.mark.parametrize("config", [None, {}, {"bos_token": "<s>"}])
def test_older_folders_name_their_tokens_in_a_file_of_its_own(llama3: Path, config: dict[str, Any] | None):
    older = {"bos_token": {"content": "<|begin_of_text|>", "lstrip": False}, "eos_token": "<|end_of_text|>"}
    (llama3 / "special_tokens_map.json").write_text(json.dumps(older))
    (llama3 / "tokenizer_config.json").unlink()
    if config is not None:
        (llama3 / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer.load(llama3)
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<|begin_of_text|>", "<|end_of_text|>")
    reference = PreTrainedTokenizerFast.from_pretrained(llama3)
    assert tokenizer.special_tokens_map == reference.special_tokens_map


def test_a_newer_tokenizer_config_names_them_alone(llama3: Path):
    values = {"bos_token": "<|begin_of_text|>", "added_tokens_decoder": {}}
    (llama3 / "tokenizer_config.json").write_text(json.dumps(values))
    (llama3 / "special_tokens_map.json").write_text(json.dumps({"bos_token": "<|eot_id|>"}))
    assert Tokenizer.load(llama3).bos_token == "<|begin_of_text|>"
    assert PreTrainedTokenizerFast.from_pretrained(llama3).bos_token == "<|begin_of_text|>"


def test_truncation_and_padding_that_were_saved_are_ignored(llama3: Path):
    state = json.loads((llama3 / "tokenizer.json").read_text(encoding="utf-8"))
    state["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    (llama3 / "tokenizer.json").write_text(json.dumps(state))
    assert len(Tokenizer.load(llama3).encode("one two three four", add_special_tokens=False)) > 2


def test_no_file(tmp_path: Path):
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json does not exist"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": "1.0"}', b"\xff\xfe", b"null"])
def test_a_file_that_is_no_tokenizer(tmp_path: Path, content: bytes):
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(BrokenModelError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path)


def test_a_panic_of_the_library_is_named(llama3: Path):
    """A model that lacks a token of its merges: the library panics, with an exception that is no Exception."""
    state = json.loads((llama3 / "tokenizer.json").read_text(encoding="utf-8"))
    state["post_processor"]["special_tokens"] = {}
    (llama3 / "tokenizer.json").write_text(json.dumps(state))
    with pytest.raises(BrokenModelError, match=r"tokenizer\.json"):
        Tokenizer.load(llama3).encode("hello", add_special_tokens=True)


def test_other_base_exceptions_pass(llama3: Path, monkeypatch):
    tokenizer = Tokenizer.load(llama3)

    class Library:
        def encode_batch(self, *_args, **_options):
            raise KeyboardInterrupt

    monkeypatch.setattr(tokenizer, "_library", Library())
    with pytest.raises(KeyboardInterrupt):
        tokenizer.encode("hello", add_special_tokens=False)


def test_broken_settings(llama3: Path):
    (llama3 / "tokenizer_config.json").write_text("{")
    with pytest.raises(BrokenModelError, match=r"tokenizer_config\.json"):
        Tokenizer.load(llama3)


def test_a_text_that_begins_with_the_beginning_token_gets_no_second_one(folder: Path):
    tokenizer = Tokenizer.load(folder)
    ids = tokenizer.encode(f"{tokenizer.bos_token}Hello")
    assert ids == tokenizer.encode(f"{tokenizer.bos_token}Hello", add_special_tokens=False)
    assert ids[0] == tokenizer.id_of(tokenizer.bos_token) != ids[1]
    assert tokenizer.encode("Hello")[0] == ids[0]


def test_what_is_no_text_and_what_are_no_ids(llama3: Path):
    tokenizer = Tokenizer.load(llama3)
    for wrong in (None, 5, ["a"]):
        with pytest.raises(InvalidRequestError, match="text"):
            tokenizer.encode(wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidRequestError, match="text"):
            tokenizer.count(wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidRequestError, match="ids"):
            tokenizer.decode(wrong)  # type: ignore[arg-type]
