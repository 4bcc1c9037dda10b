"""What is kept of the probing of kernels, and when it is not believed."""

import json
import time
from dataclasses import replace

import pytest
import torch

from llama_gui.engine.device import Precision
from llama_gui.engine.kernel_notes import KernelNote, KernelNotes
from llama_gui.engine.loading import load_model
from llama_gui.engine.packed_linear import Known, PackedLinear
from llama_gui.engine.row_tiles import RowTiles
from tests.engine.this_machine import needs_packed
from tests.fakes.tiny_llama import write_tiny_llama

SHAPE = (16, 8)
PRECISION = Precision(torch.bfloat16)
NOTE = KernelNote(2, {32: 0.5, 256: 0.75}, False, {1: 2, 3: 4}, 0.0)


def note(**changes):
    return replace(NOTE, **{"tried": time.time(), **changes})


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache" / "kernels.json"


def write(file, kept, precision=PRECISION, threads=2):
    notes = KernelNotes(file, precision, threads)
    notes.add(SHAPE, kept)
    notes.save()


def find(file, precision=PRECISION, threads=2):
    return KernelNotes(file, precision, threads).find(SHAPE)


def test_what_was_kept_is_found(file):
    kept = note()
    write(file, kept)
    assert find(file) == kept
    assert KernelNotes(file, PRECISION, 2).find((8, 16)) is None


def test_each_dtype_and_number_of_threads_has_its_own(file):
    first, second = note(min_rows=1), note(min_rows=7)
    write(file, first)
    write(file, second, threads=1)
    assert (find(file), find(file, threads=1)) == (first, second)
    assert find(file, precision=Precision(torch.float32)) is None
    assert find(file, precision=Precision(torch.bfloat16, "int8")) is None


def test_another_machine_tries_for_itself(file, monkeypatch):
    write(file, note())
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    assert find(file) is None
    other = note(min_rows=3)
    write(file, other)
    assert find(file) == other
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    assert find(file) is None  # one machine at a time
    write(file, note())
    monkeypatch.setattr(torch, "__version__", "99.0")
    assert find(file) is None


@pytest.mark.parametrize("days", [-1, 31])
def test_old_notes_and_those_of_the_future_are_not_believed(file, days):
    write(file, note(tried=time.time() - 86400 * days))
    assert find(file) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"machine": 1}', "[" * 100_000, "\udcff"])
def test_a_damaged_file_is_as_none(file, text):
    file.parent.mkdir()
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert find(file) is None
    write(file, note())
    assert find(file) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"min_rows": 0}, {"min_rows": "x"}, {"seconds": {}}, {"seconds": {"32": -1}}, {"seconds": {"-32": 1}},
        {"seconds": {"5": 1}}, {"seconds": {"32": float("nan")}}, {"seconds": {"32": float("inf")}},
        {"seconds": [1]}, {"wide_rows": {"1": 0}}, {"wide_rows": None}, {"tried": None},
    ],
)  # fmt: skip
def test_a_damaged_note_is_as_none(file, change):
    write(file, note())
    values = json.loads(file.read_text(encoding="utf-8"))
    for kind in values["kinds"].values():
        kind["16x8"] |= change
    file.write_text(json.dumps(values))
    assert find(file) is None


def test_a_folder_that_cannot_be_written_costs_nothing_but_a_line_in_the_log(file, caplog):
    file.parent.write_text("not a folder")
    write(file, note())
    assert "cannot be kept" in caplog.text


def test_without_a_file_nothing_is_kept():
    write(None, note())
    assert find(None) is None


# --- weights


@pytest.fixture(params=needs_packed(torch.float32, torch.bfloat16))
def dtype(request):
    return request.param


def pack(file, dtype):
    """A weight of `SHAPE`, packed with the notes in `file`."""
    notes = KernelNotes(file, Precision(dtype), 2)
    weight = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)).to(dtype)
    linear = PackedLinear.pack(weight, None, Known(notes=notes))
    notes.save()
    return linear


def test_a_weight_whose_shape_is_known_is_not_tried_again(file, dtype, monkeypatch):
    first = pack(file, dtype)
    monkeypatch.setattr(PackedLinear, "_probe", lambda *_: pytest.fail("tried again"))
    second = pack(file, dtype)
    x = torch.randn(70, 8, generator=torch.Generator().manual_seed(1)).to(dtype)
    for rows in (1, 7, 32, 70):
        assert torch.equal(first(x[:rows]), second(x[:rows]))


def test_but_it_is_still_compared_with_a_plain_product(file, dtype, monkeypatch):
    pack(file, dtype)
    true = PackedLinear._multiply
    monkeypatch.setattr(PackedLinear, "_multiply", lambda self, x, bias: true(self, x, bias) * 1.2)
    with pytest.raises(RuntimeError, match="wrong by"):
        pack(file, dtype)


def test_a_kernel_that_is_gone_is_looked_for_anew(file, dtype, monkeypatch):
    write(file, note(is_wide=True), Precision(dtype))

    def gone(*_):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr("llama_gui.engine.packed_linear.WideKernel.of", gone)
    pack(file, dtype)
    assert find(file, Precision(dtype)).is_wide is False


def test_a_model_is_loaded_sooner_the_second_time(tmp_path, file, dtype, monkeypatch):
    folder = write_tiny_llama(tmp_path / "model")
    first = load_model(folder, dtype=str(dtype).removeprefix("torch."), kernel_notes=file).network
    monkeypatch.setattr(PackedLinear, "_probe", lambda *_: pytest.fail("tried again"))
    monkeypatch.setattr(RowTiles, "probe", lambda *_: pytest.fail("tried again"))
    second = load_model(folder, dtype=str(dtype).removeprefix("torch."), kernel_notes=file).network
    x = torch.randn(5, first.config.hidden_size).to(first.dtype)
    assert torch.equal(first.blocks[0].attention.qkv(x), second.blocks[0].attention.qkv(x))
