"""tokenizer.json and tokenizer_config.json, damaged in every way: a tokenizer that works, or an error that says why."""

import copy
import itertools
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import ModelError
from tests.fakes.tiny_tokenizers import byte_level_tokenizer, sentencepiece_tokenizer, write_tokenizer

Path_ = tuple[str | int, ...]

KINDS: dict[str, tuple[Callable[[], tokenizers.Tokenizer], str, str]] = {
    "byte level": (byte_level_tokenizer, "<|begin_of_text|>", "<|eot_id|>"),
    "sentencepiece": (sentencepiece_tokenizer, "<s>", "</s>"),
}
TEXT = "Hello there, größer 日本 <|eot_id|> </s>"
RUN = settings(max_examples=60, deadline=None, derandomize=True, database=None)
ODD: list[Any] = [
    None, True, 0, -1, 1, 7, 1.5, 1e308, 2**31, 2**32 - 1, 2**32, 2**63, "", "x", "▁", "<s>", "\ud800", "\0", "a" * 99,
    [], [None], ["x"], [1], [["a", "b"]], {}, {"type": "x"}, {"type": "ByteLevel"}, {"type": "Fuse"}, {"Regex": "("},
    {"Regex": "(a+)+$"}, {"String": ""}, {"type": "FixedLength", "length": 0}, {"a": 2**31}, {"a": 0, "b": 0},
]  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole tokenizer; each example replaces its files."""
    make, bos, eos = KINDS[request.param]
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(folder, make(), bos=bos, eos=eos)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).rename(folder / f"whole {name}")
    return folder


def whole(folder: Path, name: str = "tokenizer.json") -> bytes:
    """The undamaged file."""
    return (folder / f"whole {name}").read_bytes()


def put(folder: Path, *, library: Any = None, config: Any = None) -> None:
    """Write both files: bytes as they are, other values as JSON, what is not given undamaged."""
    for name, content in (("tokenizer.json", library), ("tokenizer_config.json", config)):
        content = whole(folder, name) if content is None else content
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


def use(folder: Path) -> Tokenizer:
    """Everything that the engine asks of a tokenizer."""
    tokenizer = Tokenizer.load(folder)
    for text in (TEXT, ""):
        ids = tokenizer.encode(text, add_special_tokens=True)
        tokenizer.decode(ids)
        tokenizer.decode(tokenizer.encode_literally(text), skip_special_tokens=False)
    assert all(0 <= token_id < tokenizer.vocab_size for token_id in tokenizer.encode(TEXT, add_special_tokens=False))
    tokenizer.decode(range(-1, min(tokenizer.vocab_size, 400) + 1), skip_special_tokens=False)
    assert all(isinstance(tokenizer.token_text(token_id), str) for token_id in range(-1, 20))
    assert all(isinstance(text, str) for text in (tokenizer.bos_token, tokenizer.eos_token, *tokenizer.special_texts))
    assert all(0 <= token_id < 2**24 for token_id in tokenizer.eos_ids | tokenizer.special_ids)
    assert tokenizer.vocab_size >= 1
    tokenizer.bos_token.encode()
    tokenizer.eos_token.encode()
    assert tokenizer.has_same_tokens_as(tokenizer)
    return tokenizer


def refusal(folder: Path) -> str | None:
    """What is said about the tokenizer; None: it works. It does not take long."""
    started = time.monotonic()
    try:
        use(folder)
        text = None
    except ModelError as error:
        text = str(error)
        assert str(folder / "tokenizer") in text
        assert text.isprintable()
        assert len(text) < 1000
    assert time.monotonic() - started < 5
    return text


def test_the_undamaged_files_work(folder: Path) -> None:
    put(folder)
    assert refusal(folder) is None
    tokenizer = use(folder)
    assert tokenizer.decode(tokenizer.encode_literally(TEXT)) == TEXT


# --- any byte


@pytest.mark.parametrize("cut", range(32))
def test_a_file_that_ends_early(folder: Path, cut: int) -> None:
    content = whole(folder)
    put(folder, library=content[: len(content) * cut // 32])
    assert "tokenizer.json cannot be used: " in (refusal(folder) or "")


@pytest.mark.parametrize("cut", range(8))
def test_settings_that_end_early(folder: Path, cut: int) -> None:
    content = whole(folder, "tokenizer_config.json")
    put(folder, config=content[: len(content) * cut // 8])
    assert "tokenizer_config.json cannot be read: " in (refusal(folder) or "")


# Most flips make no JSON; these characters make other numbers, names and structures.
BYTES = b'0123456789"{}[],:-.eltrufasn\\ \x00\xff\xe2'


@RUN
@given(flips=st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(BYTES)), min_size=1, max_size=3))
def test_flipped_bytes(folder: Path, flips: list[tuple[int, int]]) -> None:
    content = bytearray(whole(folder))
    for place, byte in flips:
        content[place % len(content)] = byte
    put(folder, library=bytes(content))
    refusal(folder)


# --- any value


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Where something stands in a JSON value; of long lists and maps only the beginning and the end."""
    yield path
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys if len(keys) <= 10 else [*keys[:3], *keys[-3:]]:
        yield from places(value[key], (*path, key))


def replaced(value: Any, path: Path_, new: Any) -> Any:
    """`value` with something else at `path`; `...` takes it out."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if new is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return value


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(5)
def test_other_values_anywhere(folder: Path, seed: int) -> None:
    """Each of these types, in each place in turn: together the seeds cover a good part of all pairs."""
    state = json.loads(whole(folder))
    generator = random.Random(seed)
    for path in places(state):
        if path:
            put(folder, library=replaced(state, path, generator.choice([*ODD, ...])))
            refusal(folder)


@pytest.mark.parametrize("name", ["bos_token", "eos_token", "unk_token", "added_tokens_decoder", "chat_template"])
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.sampled(8)
def test_settings_with_other_values(folder: Path, name: str, wrapped: bool) -> None:
    """What is no text is no token: the model may still be used."""
    settings = json.loads(whole(folder, "tokenizer_config.json"))
    for value in ODD:
        put(folder, config={**settings, name: {"content": value} if wrapped else value})
        assert refusal(folder) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"7", b'"x"', b"\xff\xfe{\0}\0", b'{"a":' * 50_000])
def test_settings_that_are_none(folder: Path, content: bytes) -> None:
    put(folder, config=content)
    assert "tokenizer_config.json" in (refusal(folder) or "")


# --- ids


def with_id(folder: Path, token_id: int) -> str:
    """Give an ordinary token another id; its text."""
    state = json.loads(whole(folder))
    vocabulary = state["model"]["vocab"]
    token = max(vocabulary, key=vocabulary.get)
    vocabulary[token] = token_id
    put(folder, library=state)
    return token


@pytest.mark.parametrize("token_id", [2**24, 10**8, 2**31, 2**32 - 1])
def test_an_id_that_no_network_has_a_row_for(folder: Path, token_id: int) -> None:
    """The library would make a list with a place for each id below it: minutes, and gigabytes."""
    started = time.monotonic()
    token = with_id(folder, token_id)
    assert f"tokenizer.json cannot be used: it gives the token {token!r} the id {token_id}" in (refusal(folder) or "")
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("token_id", [-1, 2**32, 2**64, 1.5, "7", None])
def test_an_id_that_is_none(folder: Path, token_id: Any) -> None:
    with_id(folder, token_id)
    assert "tokenizer.json cannot be used: " in (refusal(folder) or "")


def test_an_id_behind_a_gap_is_encoded_and_read(folder: Path) -> None:
    token = with_id(folder, 5000)
    tokenizer = use(folder)
    assert tokenizer.vocab_size == 5001
    assert tokenizer.id_of(token) == 5000
    assert tokenizer.token_text(5000).strip() == token.replace("▁", " ").replace("Ġ", " ").strip()
    assert tokenizer.decode([4000, 4999]) == ""


def test_two_tokens_with_one_id(folder: Path) -> None:
    """Which of them the library keeps is up to chance, and with it whether the merges of the other are refused."""
    with_id(folder, 70)
    refusal(folder)


@pytest.mark.parametrize("content", ["Hello", " ", "", "l", "日本", "\0", "x" * 10_000])
@pytest.mark.sampled(6)
def test_an_added_token_that_is_an_ordinary_word(folder: Path, content: str) -> None:
    """The text comes back all the same, but for the spaces that the library puts in front of each part."""
    for added_id, special in itertools.product((0, 9, 300, 10**6, 2**32 - 1), (True, False)):
        state = json.loads(whole(folder))
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": special}
        state["added_tokens"].append({"id": added_id, "content": content, **flags})
        put(folder, library=state)
        if refusal(folder) is None:
            tokenizer = use(folder)
            text = tokenizer.decode(tokenizer.encode_literally(TEXT), skip_special_tokens=False)
            assert text.replace(" ", "") == TEXT.replace(" ", ""), (added_id, special)


def test_a_vocabulary_without_tokens(folder: Path) -> None:
    model = {"type": "BPE", "vocab": {}, "merges": []}
    state = {**json.loads(whole(folder)), "model": model, "added_tokens": [], "post_processor": None}
    put(folder, library=state)
    assert "tokenizer.json cannot be used: it holds no tokens" in (refusal(folder) or "")


PANICS: dict[str, dict[str, Any]] = {
    "a part of no length": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    "a template that names what is not there": {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "gone", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {},
        }
    },
    "merges of what is not there": {
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"], ["abab", "ab"]]}
    },
    "a step longer than the whole": {
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 5}
    },
    "a pattern that takes for ever": {
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(.*)*(.*)*=$"}, "behavior": "Isolated",
                          "invert": False}
    },
}  # fmt: skip


@pytest.mark.parametrize("part", PANICS.values(), ids=PANICS)
def test_what_makes_the_library_panic(folder: Path, part: dict[str, Any]) -> None:
    """Its panics are no `Exception`: none leaves the tokenizer, whatever is asked of it."""
    put(folder, library={**json.loads(whole(folder)), **part})
    refusal(folder)


# --- what would end the process


PIECES = {"type": "BPE", "vocab": {"a": 0, "##b": 1, "ab": 2, "日": 3, "日本": 4, "x": 5}, "unk_token": "x"}
LACKING: dict[str, tuple[str, Any]] = {
    "in the middle of a character": ("ab", [["x", "日"]]),
    "beyond the end": ("abcdefgh", [["x", "a"]]),
    "one right, one wrong": ("##", [["a", "##b"], ["x", "日"]]),
    "merges as texts": ("ab", ["x 日"]),
    "not a letter": ("\0", [["x", "日"]]),
}


@pytest.mark.parametrize(("prefix", "merges"), LACKING.values(), ids=LACKING)
@pytest.mark.parametrize(
    "name", ["continuing_subword_prefix", "\\u0063ontinuing_subword_prefix", "continuing_subword\\u005Fprefix"]
)
def test_a_merge_without_its_prefix_does_not_reach_the_library(
    folder: Path, name: str, prefix: str, merges: Any
) -> None:
    """It would cut characters apart, and then abort: no exception, no window, no chat that was not saved yet."""
    state = {**json.loads(whole(folder)), "model": {**PIECES, "merges": merges, "PREFIX": prefix}}
    text = json.dumps(state, ensure_ascii=False).replace('"PREFIX"', f'"{name}"')
    put(folder, library=text.encode())
    assert "tokenizer.json cannot be used: the merge " in (refusal(folder) or "")


def test_two_models_of_which_one_lacks_its_prefix(folder: Path) -> None:
    state = json.loads(whole(folder))
    model = {**PIECES, "merges": [["x", "日"]], "continuing_subword_prefix": "ab"}
    text = json.dumps(state).replace('"model":', f'"model": {json.dumps(model)}, "model":')
    put(folder, library=text.encode())
    assert "tokenizer.json cannot be used: it gives 'model' twice" in (refusal(folder) or "")


@pytest.mark.parametrize("merges", [[["a", "##b"]], ["a ##b"], []])
def test_merges_with_their_prefix_work(folder: Path, merges: Any) -> None:
    model = {**PIECES, "merges": merges, "continuing_subword_prefix": "##"}
    state = {
        **json.loads(whole(folder)),
        "model": model,
        "post_processor": None,
        "added_tokens": [],
        "normalizer": None,
    }
    put(folder, library=state)
    assert Tokenizer.load(folder).encode("ab", add_special_tokens=False) == ([2] if merges else [0, 1])


def test_escaped_letters_are_letters(folder: Path) -> None:
    text = whole(folder).decode().replace('"model"', '"\\u006dodel"')
    put(folder, library=text.encode())
    assert use(folder).decode(use(folder).encode_literally(TEXT)) == TEXT
