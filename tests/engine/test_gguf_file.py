"""The header of a GGUF file: what is read of it, and every way in which it can be wrong, each named."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from llama_gui.engine.gguf_file import read_header
from llama_gui.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError


def text(value: str | bytes) -> bytes:
    """A text behind its length."""
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    """A field."""
    return text(key) + struct.pack("<I", kind) + value


def row(name: str, dimensions: tuple[int, ...], kind: int = 0, offset: int = 0) -> bytes:
    """A tensor's row; type 0 is F32, 8 is Q8_0."""
    sizes = struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
    return text(name) + sizes + struct.pack("<IQ", kind, offset)


def file_of(
    path: Path, pairs: Sequence[bytes] = (), rows: Sequence[bytes] = (), *, magic: bytes = b"GGUF", version: int = 3,
    tensor_count: int | None = None, pair_count: int | None = None,
) -> Path:  # fmt: skip
    """A whole file with 256 bytes of tensors; the keywords change what its beginning says."""
    counts = (len(rows) if tensor_count is None else tensor_count, len(pairs) if pair_count is None else pair_count)
    header = magic + struct.pack("<IQQ", version, *counts) + b"".join([*pairs, *rows])
    path.write_bytes(header + bytes(-len(header) % 32) + bytes(range(256)))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file will be."""
    return tmp_path / "x.gguf"


@pytest.mark.parametrize("version", [2, 3])
def test_everything_is_read(path, version):
    numbers = struct.pack("<IQ3h", 3, 3, -1, 2, 300)
    texts = struct.pack("<IQ", 8, 2) + text("é") + text("")
    pairs = [
        pair("a", 4, struct.pack("<I", 7)), pair("b", 6, struct.pack("<f", 1e-5)), pair("c", 7, b"\x01"),
        pair("d", 8, text("ü")), pair("e", 9, numbers), pair("f", 9, texts), pair("g", 11, struct.pack("<q", -5)),
        pair("h", 12, struct.pack("<d", 0.1)),
    ]  # fmt: skip
    found = read_header(file_of(path, pairs, [row("t", (3, 2)), row("q", (64, 1), 8, 32)], version=version))
    array = found.metadata["e"]
    assert array.tolist() == [-1, 2, 300]
    assert {key: value for key, value in found.metadata.items() if key != "e"} == {
        "a": 7, "b": 1e-5, "c": True, "d": "ü", "f": ["é", ""], "g": -5, "h": 0.1
    }  # fmt: skip
    first, second = found.tensors["t"], found.tensors["q"]
    assert (first.shape, first.kind, first.size) == ((2, 3), "F32", 24)
    assert (second.shape, second.kind, second.size) == ((1, 64), "Q8_0", 68)
    assert second.offset - first.offset == 32
    assert path.read_bytes()[first.offset : first.offset + 3] == b"\x00\x01\x02"


def test_the_alignment_that_the_file_gives(path):
    rows = [row("t", (3,)), row("u", (3,), offset=64)]
    found = read_header(file_of(path, [pair("general.alignment", 4, struct.pack("<I", 64))], rows))
    assert found.tensors["t"].offset % 64 == 0


HUGE = struct.pack("<Q", 2**63)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"magic": b"PK\x03\x04"}, "it does not begin as GGUF files do"),
        ({"tensor_count": 2**60}, "it would hold 1152921504606846976 tensors and 0 fields"),
        ({"pair_count": 2**40}, "it would hold 0 tensors and 1099511627776 fields"),
        ({"pair_count": 60000}, "'' has the unknown type 50462976"),
        ({"pairs": [HUGE]}, "a text in its header would be 9223372036854775808 bytes long"),
        ({"pairs": [pair("a", 8, struct.pack("<Q", 2**27 - 9))]}, "it ends inside its header"),
        ({"pairs": [pair("a", 9, struct.pack("<I", 4) + HUGE)]}, "it ends inside its header"),
        ({"pairs": [pair("a", 9, struct.pack("<I", 8) + HUGE)]}, "'a' would be a list of 9223372036854775808 texts"),
        ({"pairs": [pair("a", 9, struct.pack("<IQ", 9, 2))]}, "'a' is a list of the unknown type 9"),
        ({"pairs": [pair("a", 99, b"")]}, "'a' has the unknown type 99"),
        ({"pairs": [pair("a", 7, b"\x02")]}, "'a' is 2 instead of true or false"),
        ({"pairs": [pair("a", 0, b"\x02"), pair("a", 0, b"\x02")]}, "it gives 'a' twice"),
        ({"pairs": [pair("a", 8, text(b"\xff"))]}, "'utf-8' codec can't decode byte 0xff"),
        ({"pairs": [pair("general.alignment", 4, struct.pack("<I", 48))]}, "it aligns its tensors at 48 bytes"),
        ({"pairs": [pair("general.alignment", 4, struct.pack("<I", 0))]}, "it aligns its tensors at 0 bytes"),
        ({"pairs": [pair("general.alignment", 8, text("x"))]}, "it aligns its tensors at 'x' bytes"),
        ({"rows": [row("t", (3,)), row("t", (3,), offset=32)]}, "two of its tensors have the same name"),
        ({"rows": [row("t", ())]}, "'t' has 0 dimensions"),
        ({"rows": [row("t", (1,) * 5)]}, "'t' has 5 dimensions"),
        ({"rows": [row("t", (3, 0))]}, "'t' has the shape [0, 3], which F32 cannot have"),
        ({"rows": [row("t", (33, 2), 8)]}, "'t' has the shape [2, 33], which Q8_0 cannot have"),
        ({"rows": [row("t", (2**40, 2**40))]}, "'t' would end at byte"),
        ({"rows": [row("t", (3,), offset=2**62)]}, "'t' would end at byte"),
        ({"rows": [row("t", (65,))]}, "'t' would end at byte 324, behind the end of the file"),
        ({"rows": [row("t", (3,), offset=4)]}, "'t' begins at byte 68, which is not aligned"),
        ({"rows": [row("t", (9,)), row("u", (3,), offset=32)]}, "'u' overlaps another tensor"),
        ({"rows": [row("t", (3,)), row("u", (3,))]}, "'u' overlaps another tensor"),
    ],
)
def test_what_cannot_be_is_named(path, changes, said):
    with pytest.raises(BrokenModelError) as caught:
        read_header(file_of(path, **changes))
    assert str(caught.value).startswith(f"{path} is damaged or cut off: {said}")
    assert str(caught.value).endswith("Download the file again.")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 1}, r"is a GGUF file of version 1\. Supported: 2, 3\. Choose a newer file"),
        ({"version": 4}, r"is a GGUF file of version 4"),
        ({"version": 0x03000000}, r"is written for big-endian machines\. Choose the little-endian file"),
        ({"rows": [row("t", (3,), 12345)]}, r": t is stored in the unknown type 12345\. Choose another file"),
    ],
)
def test_what_we_do_not_read_is_named(path, changes, said):
    with pytest.raises(UnsupportedModelError, match=rf"x\.gguf:? ?{said}"):
        read_header(file_of(path, **changes))


def test_an_endless_header(path):
    file_of(path, [pair("a", 9, struct.pack("<IQ", 0, 2**28))])
    with path.open("r+b") as stream:
        stream.truncate(2**29)  # a hole: it takes no room
    with pytest.raises(BrokenModelError, match="it has an endless header"):
        read_header(path)


def test_a_folder_and_nothing(tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"nothing\.gguf does not exist"):
        read_header(tmp_path / "nothing.gguf")
    with pytest.raises(BrokenModelError, match="it is not a regular file"):
        read_header(tmp_path)


def test_arrays_are_read_at_once(path):
    numbers = np.arange(1000, dtype="<f4")
    found = read_header(file_of(path, [pair("a", 9, struct.pack("<IQ", 6, 1000) + numbers.tobytes())]))
    assert (found.metadata["a"] == numbers).all()
