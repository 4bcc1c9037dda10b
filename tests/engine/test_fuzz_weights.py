"""Weight files and their index, damaged in every way: exactly the right weights, or an error that names the file."""

import copy
import json
import struct
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from llama_gui.engine.checkpoint import Checkpoint
from llama_gui.errors import ModelError

WEIGHTS: dict[str, Tensor] = {"a": torch.arange(1.0, 7.0).view(2, 3), "b": torch.tensor([0.5, -0.0, 1e-40])}
EXPECTED = {name: tuple(tensor.shape) for name, tensor in WEIGHTS.items()}
DATA = b"".join(tensor.numpy().tobytes() for tensor in WEIGHTS.values())
A: dict[str, Any] = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
B: dict[str, Any] = {"dtype": "F32", "shape": [3], "data_offsets": [24, 36]}
HEADER: dict[str, Any] = {"__metadata__": {"format": "pt"}, "a": A, "b": B}
FILE = "model.safetensors"
SECONDS = 1.0
MANY_BYTES = 50 * 2**20


def packed(header: dict[str, Any] | bytes, data: bytes = DATA, length: int | None = None) -> bytes:
    """A file in the format of safetensors; `length` lies about the header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def read_all(folder: Path) -> dict[str, Tensor]:
    """Every expected weight, as the network's loader reads them."""
    with Checkpoint(folder) as checkpoint:
        checkpoint.check(EXPECTED)
        return {name: checkpoint.tensor(name).clone() for name in EXPECTED}


def bits(weights: dict[str, Tensor]) -> dict[str, bytes]:
    """The weights' very bytes, which tell -0.0 from 0.0."""
    return {name: tensor.numpy().tobytes() for name, tensor in weights.items()}


def refusal(folder: Path) -> str | None:
    """What is said about the folder's weights; None: they are read. It takes neither long nor much memory."""
    started, peak = time.monotonic(), peak_memory()
    try:
        read_all(folder)
        text = None
    except ModelError as error:
        text = str(error)
        assert str(folder) in text
        assert text.isprintable()
        assert len(text) < 2000
    assert time.monotonic() - started < SECONDS
    assert peak_memory() - peak < MANY_BYTES
    return text


def peak_memory() -> int:
    """Bytes that this process ever held at once; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose one file each example replaces."""
    return tmp_path_factory.mktemp("weights")


# --- the header


def test_the_undamaged_file_is_read_bit_by_bit(folder: Path) -> None:
    (folder / FILE).write_bytes(packed(HEADER))
    assert bits(read_all(folder)) == bits(WEIGHTS)


@pytest.mark.parametrize("length", [0, 1, 7, 10**6, 16 * 2**20, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_header_that_is_said_to_be_shorter_or_longer(folder: Path, length: int) -> None:
    (folder / FILE).write_bytes(packed(HEADER, length=length))
    assert f"{FILE} is damaged or cut off" in (refusal(folder) or "")


def test_a_header_of_many_spaces_is_not_read(folder: Path) -> None:
    with (folder / FILE).open("wb") as stream:  # sparse: it takes no room
        stream.write(struct.pack("<Q", 99 * 10**6) + json.dumps(HEADER).encode())
        stream.truncate(99 * 10**6 + 8 + len(DATA))
    assert "its header would be 99000000 bytes long" in (refusal(folder) or "")


HEADERS: dict[str, dict[str, Any] | bytes] = {
    "not UTF-8": b'{"\xff":1}',
    "UTF-16": json.dumps(HEADER).encode("utf-16"),
    "BOM": b"\xef\xbb\xbf" + json.dumps(HEADER).encode(),
    "not JSON": b"weights",
    "an array": b"[]",
    "null": b"null",
    "a number": b"7",
    "deep array": b"[" * 50_000,
    "deep object": b'{"a":' * 50_000,
    "deep metadata": b'{"__metadata__":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "zeros behind it": json.dumps(HEADER).encode() + bytes(8),
    **{f"metadata {value!r}": {**HEADER, "__metadata__": value} for value in ("x", [1], 7, {"a": 1}, A)},
    "an entry that is a list": {**HEADER, "b": [B]},
    "an entry that is null": {**HEADER, "b": None},
    "an entry without anything": {**HEADER, "b": {}},
    "metadata that is a weight": {"a": A, "__metadata__": B},
    "the same bytes for two weights": {**HEADER, "c": B},
    "a half byte": {"a": A, "b": {"dtype": "F4", "shape": [3], "data_offsets": [24, 36]}},
    "nothing at all": {},
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_header_that_makes_no_sense(folder: Path, header: dict[str, Any] | bytes) -> None:
    (folder / FILE).write_bytes(packed(header))
    assert refusal(folder) is not None


DTYPES = ["F99", "f32", "", None, 7, ["F32"], "I8", "BOOL", "F64", "C64", "F8_E4M3", "F16", "BF16"]
OFFSETS = [[-1, 36], [24.0, 36.0], [True, 36], ["24", "36"], [36, 24], [24, 2**63], [2**64 - 12, 2**64], [24], [], None,
           [24, 30, 36], "x", [0, 12], [12, 24], [20, 32], [25, 37], [28, 40], [24, 24], [0, 36]]  # fmt: skip
SHAPES = [[2**63], [2**63 - 1, 0], [0, 2**63 - 1], [2**32, 2**32], [2**62, 4], [2**31, 2**31, 4], [2**64], [-3], [3.0],
          ["3"], [True, 3], [], [0], [3, 0], [3, 1], [1] * 5000 + [3], [[3]], None, 3, {}]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("dtype", value) for value in DTYPES),
        *(("data_offsets", value) for value in OFFSETS),
        *(("shape", value) for value in SHAPES),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_weight_that_is_described_wrongly(folder: Path, field: str, value: Any) -> None:
    (folder / FILE).write_bytes(packed({**HEADER, "b": {**B, field: value}}))
    assert refusal(folder) is not None


def test_no_bytes_for_a_dimension_beyond_all_memory(folder: Path) -> None:
    """Such a shape passes the library's parser: nothing of it is allocated, and the weight is named."""
    huge = {"dtype": "F32", "shape": [2**63 - 1, 0], "data_offsets": [24, 24]}
    (folder / FILE).write_bytes(packed({"a": A, "b": huge}, DATA[:24]))
    assert f"{FILE}: b has the shape [9223372036854775807, 0]" in (refusal(folder) or "")


TWINS = {
    "the first is right": b'{"a":%s,"b":%s,"b":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}',
    "the last is right": b'{"a":%s,"b":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"b":%s}',
    "a field": b'{"a":%s,"b":%s,"x":{"dtype":"F32","dtype":"I32","shape":[0],"data_offsets":[36,36]}}',
}


@pytest.mark.parametrize("text", TWINS.values(), ids=TWINS)
def test_a_weight_that_is_described_twice(folder: Path, text: bytes) -> None:
    """safetensors takes the last one, other programs the first: what is meant cannot be known."""
    first, second = json.dumps(A).encode(), json.dumps(B).encode()
    (folder / FILE).write_bytes(packed(text % (first, second)))
    assert f"{FILE} is damaged or cut off: it gives '" in (refusal(folder) or "")


@pytest.mark.parametrize(
    "name", ["x" * 10**6, "../../x", "\n\x1b[31mred", "\u202ex", "", " a"], ids=lambda n: ascii(n)[:20]
)
def test_a_name_is_never_more_than_a_name(folder: Path, name: str) -> None:
    (folder / FILE).write_bytes(packed({**HEADER, name: {**B, "shape": [0], "data_offsets": [36, 36]}}))
    assert "no place for" in (refusal(folder) or "")


# --- any byte


@pytest.mark.parametrize("cut", range(64))
def test_a_file_that_ends_early(folder: Path, cut: int) -> None:
    content = packed(HEADER)
    (folder / FILE).write_bytes(content[: len(content) * cut // 64])
    assert f"{FILE} is damaged or cut off" in (refusal(folder) or "")


@pytest.mark.parametrize("surplus", [b"\0", b"x" * 4, bytes(1000), DATA])
def test_a_file_that_goes_on(folder: Path, surplus: bytes) -> None:
    (folder / FILE).write_bytes(packed(HEADER) + surplus)
    assert f"{FILE} is damaged or cut off" in (refusal(folder) or "")


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=3))
def test_flipped_bytes_change_numbers_or_are_refused(folder: Path, flips: list[tuple[int, int]]) -> None:
    """A header that still fits describes the same weights; a flip in the numbers themselves, only a checksum sees."""
    content = bytearray(packed(HEADER))
    data = len(content) - len(DATA)
    for place, change in flips:
        content[place % len(content)] ^= change
    (folder / FILE).write_bytes(content)
    if refusal(folder) is None:
        assert b"".join(bits(read_all(folder)).values()) == content[data:]


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_a_header_with_parts_of_another(folder: Path, data: st.DataObject) -> None:
    """Any values in any place of the header: what is read is what the bytes at the right places say."""
    values = st.sampled_from([*DTYPES, *OFFSETS, *SHAPES, A, B, 0, 24, 36, 2**63])
    header = json.loads(json.dumps(HEADER))
    for _ in range(data.draw(st.integers(1, 3))):
        entry = data.draw(st.sampled_from(["a", "b", "c", "__metadata__"]))
        field = data.draw(st.sampled_from(["dtype", "shape", "data_offsets", None]))
        if field is not None and isinstance(header.get(entry), dict):
            header[entry][field] = copy.deepcopy(data.draw(values))
        else:
            header[entry] = copy.deepcopy(data.draw(values))
    (folder / FILE).write_bytes(packed(header))
    if refusal(folder) is None:
        assert bits(read_all(folder)) == bits(WEIGHTS)


# --- the numbers


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("place", [0, 5])
def test_one_number_that_is_not_finite(folder: Path, dtype: str, value: float, place: int) -> None:
    numbers = WEIGHTS["a"].clone().flatten()
    numbers[place] = value
    kind = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}[dtype]
    data = numbers.to(kind).view(torch.uint8).numpy().tobytes()
    end = len(data)
    header = {"a": {"dtype": dtype, "shape": [2, 3], "data_offsets": [0, end]},
              "b": {**B, "data_offsets": [end, end + 12]}}  # fmt: skip
    (folder / FILE).write_bytes(packed(header, data + DATA[24:]))
    assert f"{FILE}: a holds numbers that are not finite (NaN or infinity)" in (refusal(folder) or "")


@pytest.mark.parametrize("value", [0.0, 1e-45, -1e-40, 3.4e38, -3.4e38])
def test_numbers_at_the_edges_of_their_range_are_weights(folder: Path, value: float) -> None:
    (folder / FILE).write_bytes(packed(HEADER, struct.pack("<9f", *[value] * 9)))
    assert refusal(folder) is None
    assert read_all(folder)["b"].tolist() == list(struct.unpack("<3f", struct.pack("<3f", *[value] * 3)))
