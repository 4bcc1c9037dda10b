"""GGUF files damaged in every way: a model that answers, or an error that names the file, in little time and memory."""

import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.device import Precision
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.gguf_file import read_header
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.errors import ModelError
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_llama import write_tiny_llama

MANY_BYTES = 64 * 2**20
CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["tinyllama", "llama-3.2", "mixtral"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, int]:
    """A place for files, the bytes of a good one, and how many of them are its header."""
    place = tmp_path_factory.mktemp("gguf")
    sizes = {"num_hidden_layers": 1, "intermediate_size": 32} | ({"head_dim": 8} if "3" in request.param else {})
    folder = write_tiny_llama(place / "model", request.param, **sizes)
    content = write_gguf(folder, place / "good.gguf", "Q8_0").read_bytes()
    header = min(tensor.offset for tensor in GgufModel(place / "good.gguf").weights()._tensors.values())
    return place / "damaged.gguf", content, header


def outcome(path: Path, content: bytes) -> str | None:
    """What is said about a file with this content; None: it can be used. It takes little memory."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        use(path)
        said = None
    except ModelError as error:
        said = str(error)
        assert str(path) in said
        assert said.isprintable()
        assert len(said) < 2000
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MANY_BYTES
    return said


def use(path: Path) -> None:
    """Read everything that an engine reads, and look whether it is what the network needs."""
    model = GgufModel(path)
    with model.weights() as weights:
        shapes = weight_shapes(model.config)
        weights.check(shapes)
        for name, shape in shapes.items():
            assert weights.weight(name, torch.float32, CPU).shape == shape
    tokenizer = model.tokenizer()
    ids = tokenizer.encode("The dog, 日本", add_special_tokens=True)
    assert all(0 <= token_id < model.config.vocab_size for token_id in ids)
    tokenizer.decode(ids)
    model.template(tokenizer)


def test_the_good_file_is_good(whole):
    path, content, _ = whole
    assert outcome(path, content) is None


def test_a_file_that_is_cut_off_anywhere(whole):
    path, content, header = whole
    end = len(content) - 31  # behind it there may be nothing but padding
    for length in [*range(0, 200), *range(200, header, 997), *range(header, end, 4999), end - 1]:
        said = outcome(path, content[:length])
        assert said is not None, length
        assert "damaged or cut off" in said, length


# Each run draws others, so that fewer of them find as much in the end.
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_bits_that_flip_in_the_header(whole, data):
    path, content, header = whole
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(
            st.one_of(st.integers(0, 2000), st.integers(0, header - 1), st.integers(header - 1500, header))
        )
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    outcome(path, bytes(damaged))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_numbers_that_lie_in_the_header(whole, data):
    path, content, header = whole
    damaged = bytearray(content)
    place = data.draw(st.one_of(st.integers(4, 2000), st.integers(header - 1500, header - 8)))
    number = data.draw(st.sampled_from([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64 - 1]))
    damaged[place : place + 8] = struct.pack("<Q", number)
    outcome(path, bytes(damaged))


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_bytes_that_change_among_the_weights(whole, data):
    path, content, header = whole
    damaged = bytearray(content)
    place = data.draw(st.integers(header, len(content) - 8))
    damaged[place : place + 4] = data.draw(st.binary(min_size=4, max_size=4))
    said = outcome(path, bytes(damaged))
    assert said is None or "holds numbers that are not finite" in said


@settings(max_examples=30, deadline=None)
@given(junk=st.binary(max_size=400), start=st.sampled_from([b"", b"GGUF", b"GGUF\x03\x00\x00\x00"]))
def test_junk(whole, junk, start):
    path, _, _ = whole
    assert outcome(path, start + junk) is not None


def test_numbers_that_are_not_finite_are_named(whole):
    path, content, header = whole
    damaged = bytearray(content)
    damaged[header : header + 2] = b"\xff\x7f"  # a scale
    assert "holds numbers that are not finite (NaN or infinity). Download" in str(outcome(path, bytes(damaged)))


def test_a_file_that_is_cut_off_while_it_is_read(whole):
    path, content, header = whole
    path.write_bytes(content)
    model = GgufModel(path)
    path.write_bytes(content[: header + 10])
    with model.weights() as weights, pytest.raises(ModelError, match=r"cannot be read: it ended while it was read"):
        weights.weight("model.norm.weight", torch.float32, CPU)


def test_a_file_that_is_gone(whole):
    path, content, _ = whole
    path.write_bytes(content)
    model = GgufModel(path)
    path.unlink()
    with model.weights() as weights, pytest.raises(ModelError, match=r"damaged\.gguf cannot be opened"):
        weights.weight("model.norm.weight", torch.float32, CPU)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("general.architecture", "the architecture None is not supported"),
        ("llama.block_count", "llama.block_count is missing"),
        ("llama.embedding_length", "llama.embedding_length is missing"),
        ("llama.feed_forward_length", "llama.feed_forward_length is missing"),
        ("llama.context_length", "llama.context_length is missing"),
        ("llama.attention.head_count", "llama.attention.head_count is missing"),
        ("llama.attention.layer_norm_rms_epsilon", "llama.attention.layer_norm_rms_epsilon is missing"),
        ("tokenizer.ggml.tokens", "tokenizer.ggml.tokens is missing"),
        ("tokenizer.ggml.model", "the tokenizer None is not supported"),
    ],
)
def test_what_is_missing_is_named(whole, key, said):
    path, content, _ = whole
    name = struct.pack("<Q", len(key)) + key.encode()
    assert content.count(name) == 1
    assert said in str(outcome(path, content.replace(name, name[:-1] + b"_")))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("llama.block_count", 2**31, "llama.block_count is 2147483648, but it must be a whole number from 1 to"),
        (
            "llama.block_count",
            2,
            "blk.1.ffn_norm.weight, blk.1.attn_norm.weight, blk.1.attn_q.weight and ",
        ),
        ("llama.block_count", 9000, "llama.block_count is 9000, but it must be at most 1"),
        ("llama.embedding_length", 0, "llama.embedding_length is 0"),
        ("llama.attention.head_count", 2**31 - 1, "but "),
        ("llama.attention.head_count_kv", 3, "llama.attention.head_count_kv is 3, but it must be a divisor"),
        ("llama.feed_forward_length", 64, "32, 64], but the file's own fields ask for ["),
    ],
)
def test_numbers_that_do_not_fit_the_weights(whole, key, value, said):
    path, content, _ = whole
    place = content.index(struct.pack("<Q", len(key)) + key.encode()) + 8 + len(key) + 4
    said_of_it = str(outcome(path, content[:place] + struct.pack("<I", value) + content[place + 4 :]))
    assert said in said_of_it


def test_a_file_with_a_vocabulary_alone_says_so(whole):
    path, content, _ = whole
    without_tensors = content[:8] + struct.pack("<Q", 0) + content[16:]
    assert "has a vocabulary, but no weights. Take a GGUF file" in str(outcome(path, without_tensors))


ODD = [0, -1, 7, 2**62, True, 0.0, -1.5, float("nan"), float("inf"), "", "x", [], ["a"], ["a", ""], np.zeros(0, "<i4"),
       np.arange(3), np.ones(500), np.zeros((379,), "?"), np.full(379, -1), None]  # fmt: skip
KEYS = [
    "llama.rope.scaling.type", "llama.rope.scaling.factor", "llama.rope.scale_linear", "llama.expert_count",
    "llama.rope.scaling.yarn_attn_factor", "llama.rope.scaling.original_context_length",
    "llama.attention.sliding_window", "llama.attention.sliding_window_pattern", "general.sampling.temp",
    "general.sampling.top_k", "tokenizer.chat_template.tool_use", "tokenizer.ggml.add_eos_token",
    "tokenizer.ggml.eot_token_id", "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.add_space_prefix",
    "tokenizer.ggml.pre", "tokenizer.ggml.merges", "tokenizer.ggml.scores", "general.file_type", "general.alignment",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_fields_of_the_wrong_kind(whole, data):
    path, content, _ = whole
    path.write_bytes(content)
    header = read_header(path)
    keys = st.sampled_from([*KEYS, *header.metadata])
    changes = {data.draw(keys): data.draw(st.sampled_from(ODD)) for _ in range(data.draw(st.integers(1, 3)))}
    changed = replace(header, metadata={**header.metadata, **changes})
    with mock.patch("llama_gui.engine.gguf.read_header", return_value=changed):
        said = ""
        try:
            use(path)
            GgufModel(path).source(Precision(torch.float32))
        except ModelError as error:
            said = str(error)
    assert not said or str(path) in said
    assert len(said) < 2000
