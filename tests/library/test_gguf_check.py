"""A GGUF file that was cut off anywhere is found out by its header."""

import contextlib
import os
import random
from pathlib import Path

import gguf
import numpy as np
import pytest

from llama_gui.errors import BrokenModelError
from llama_gui.library import gguf_check
from llama_gui.library.gguf_check import GgufChecks, check_gguf, gguf_architecture, gguf_pooling


def write(path: Path, *, alignment: int | None = None, tokens: int = 50) -> Path:
    """By the library that everybody writes them with."""
    writer = gguf.GGUFWriter(str(path), "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_context_length(2048)
    writer.add_token_list([f"token {n}" for n in range(tokens)])
    writer.add_token_scores([0.5] * tokens)
    writer.add_bool("a.flag", True)
    writer.add_tensor("plain", np.ones((3, 5), dtype=np.float32))
    packed = gguf.quantize(np.ones((4, 64), dtype=np.float32), gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("packed", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_blocks_are_those_of_the_library():
    for kind, sizes in gguf_check._BLOCKS.items():
        assert gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(kind)] == sizes


@pytest.mark.parametrize("alignment", [None, 64, 4096])
def test_a_whole_file_is_sound(tmp_path: Path, alignment: int | None):
    check_gguf(write(tmp_path / "a.gguf", alignment=alignment))


def test_the_architecture_is_told_by_the_first_bytes(tmp_path: Path):
    file = write(tmp_path / "a.gguf", tokens=5000)
    assert gguf_architecture(file) == "llama"
    os.truncate(file, 100)
    assert gguf_architecture(file) == "llama"
    os.truncate(file, 30)
    assert gguf_architecture(file) == ""
    os.truncate(file, 3)
    with pytest.raises(BrokenModelError, match="it is none"):
        gguf_architecture(file)


@pytest.mark.parametrize(("kind", "embeds"), [(None, False), (0, False), (1, True), (3, True), (4, True)])
def test_a_model_that_makes_vectors_is_told_by_its_pooling(tmp_path: Path, kind: int | None, embeds: bool):
    writer = gguf.GGUFWriter(str(tmp_path / "a.gguf"), "qwen3")
    writer.add_context_length(2048)
    if kind is not None:
        writer.add_pooling_type(gguf.PoolingType(kind))
    writer.add_token_list([f"token {n}" for n in range(5000)])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert bool(gguf_pooling(tmp_path / "a.gguf")) is embeds
    os.truncate(tmp_path / "a.gguf", 30)
    assert not gguf_pooling(tmp_path / "a.gguf")


def test_a_header_longer_than_what_is_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = write(tmp_path / "a.gguf", tokens=5000)
    monkeypatch.setattr(gguf_check, "_FIRST_BYTES", 64)
    check_gguf(file)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(BrokenModelError, match="not complete"):
        check_gguf(file)
    monkeypatch.setattr(gguf_check, "_MOST_BYTES", 1024)
    with pytest.raises(BrokenModelError, match="cannot be read"):
        check_gguf(file)


def test_a_cut_anywhere_is_found(tmp_path: Path):
    file = write(tmp_path / "a.gguf")
    # Behind the last weight the library fills up to the alignment.
    end = file.stat().st_size - (-(4 * 64 // 32 * 34) % 32)
    content = file.read_bytes()
    for length in sorted({0, 1, 4, 23, 24, *random.Random(1).sample(range(end), 150), end - 1}):
        file.write_bytes(content[:length])
        with pytest.raises(BrokenModelError, match=r"not complete|cannot be read|it is none"):
            check_gguf(file)
    file.write_bytes(content[:end])
    check_gguf(file)


def test_random_damage_is_told_or_harmless(tmp_path: Path):
    file = write(tmp_path / "a.gguf")
    content, chance = file.read_bytes(), random.Random(2)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[chance.randrange(4, 400)] = chance.randrange(256)
        file.write_bytes(damaged)
        with contextlib.suppress(BrokenModelError):  # and nothing else
            check_gguf(file)


def test_another_file_is_none(tmp_path: Path):
    (tmp_path / "a.gguf").write_bytes(os.urandom(3) + b"x" * 100)
    with pytest.raises(BrokenModelError, match="it is none"):
        check_gguf(tmp_path / "a.gguf")


def test_each_file_is_read_through_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sound, cut = write(tmp_path / "sound.gguf"), write(tmp_path / "cut.gguf")
    os.truncate(cut, cut.stat().st_size // 2)
    checks, read = GgufChecks(), []

    def check(file: Path) -> None:
        read.append(file)
        check_gguf(file)

    monkeypatch.setattr(gguf_check, "check_gguf", check)
    for _ in range(2):
        checks.check(sound)
        with pytest.raises(BrokenModelError, match=r"not complete|cannot be read"):
            checks.check(cut)
    assert read == [sound, cut]
    write(cut)
    checks.check(cut)
    assert read == [sound, cut, cut]


def test_of_an_old_file_that_nobody_has_read_the_quick_check_asks_nothing(tmp_path: Path):
    """So that a menu of fifty models opens at once; what is found out beside the window counts from then on."""
    old, new, checks = write(tmp_path / "old.gguf"), write(tmp_path / "new.gguf"), GgufChecks()
    for file in (old, new):
        os.truncate(file, file.stat().st_size // 2)
    os.utime(old, (10**9, 10**9))
    checks.check_quickly(old)
    with pytest.raises(BrokenModelError):
        checks.check_quickly(new)
    with pytest.raises(BrokenModelError):
        checks.check(old)
    with pytest.raises(BrokenModelError):
        checks.check_quickly(old)
