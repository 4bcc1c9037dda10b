"""Our own kernels are there where they can be compiled; where they are not, or compute wrong, torch's are used."""

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import torch
from torch import Tensor

from llama_gui import paths
from llama_gui.engine import native_library, native_trials
from llama_gui.engine.linear import PlainLinear
from llama_gui.engine.loading import load_model
from llama_gui.engine.native.sources import digest
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.packed_linear import PackedLinear
from llama_gui.engine.packed_weights import BlocksPacked, Int4Packed
from tests.fakes.tiny_llama import write_tiny_llama

ROOT = Path(__file__).resolve().parents[2]


def installed_from_here() -> bool:
    """Whether the package is installed, and this checkout is what runs."""
    try:
        direct = json.loads(distribution("llama-gui").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return False
    if not direct.get("dir_info", {}).get("editable"):
        return False
    return Path(url2pathname(urlsplit(direct["url"]).path)).resolve() == ROOT


def cpu_flags() -> set[str]:
    file = Path("/proc/cpuinfo")
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return {flag for line in text.splitlines() if line.startswith("flags") for flag in line.partition(":")[2].split()}


@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="compiled for Linux on x86-64")
@pytest.mark.skipif(not {"avx2", "fma", "f16c"} <= cpu_flags(), reason="this CPU lacks what the kernels need")
@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="there is no C compiler")
@pytest.mark.skipif(not installed_from_here(), reason="this checkout is not installed with pip install --editable")
def test_there_are_kernels_where_they_can_be_compiled():
    """Else all of the tests above would be skipped and nobody would see it."""
    hint = "Install the checkout again (pip install --editable .), which compiles them."
    assert paths.native_kernels() is not None, f"There is no library. {hint}"
    assert native_library.load() is not None, f"The library is not used. {hint}"


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the library is looked for; nothing is there yet."""
    file = tmp_path / "kernels.so"
    monkeypatch.setattr(native_library, "native_kernels", lambda: file if file.is_file() else None)
    return file


def compile_into(file: Path, code: str) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source = file.with_suffix(".c")
    source.write_text(code, encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(file), str(source)], check=True, timeout=60)


def loads_nothing(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings that were logged."""
    with caplog.at_level(logging.WARNING):
        assert native_library.load() is None
    return [record.getMessage() for record in caplog.records]


def test_without_a_library_nothing_is_said(place: Path, caplog: pytest.LogCaptureFixture):
    assert loads_nothing(caplog) == []


def test_a_file_that_is_no_library(place: Path, caplog: pytest.LogCaptureFixture):
    place.write_text("no library", encoding="utf-8")
    (said,) = loads_nothing(caplog)
    assert said.startswith(f"The kernels in {place} cannot be loaded, torch's are used:")


CAN_RUN = "int llama_gui_can_run(void) { return 1; }"
STAMP = 'const char *llama_gui_sources(void) { return "%s"; }'


@pytest.mark.parametrize("code", ["int other(void) { return 1; }", f"{CAN_RUN} {STAMP % ''} int llama_gui_int8 = 0;"])
def test_a_library_that_lacks_a_function(place: Path, caplog: pytest.LogCaptureFixture, code: str):
    compile_into(place, code)
    (said,) = loads_nothing(caplog)
    assert "cannot be loaded, torch's are used" in said
    assert "llama_gui_" in said


def test_a_cpu_that_the_kernels_are_not_for(place: Path, caplog: pytest.LogCaptureFixture):
    """There is nothing that anybody could do about it. Nothing else of the library is touched."""
    compile_into(place, "int llama_gui_can_run(void) { return 0; }")
    assert loads_nothing(caplog) == []


@pytest.mark.parametrize("stamp", ["", STAMP % "those of last week"])
def test_one_that_is_older_than_its_sources(place: Path, caplog: pytest.LogCaptureFixture, stamp: str):
    """As after a git pull. Its functions would take our arguments for others, and crash."""
    compile_into(place, f"{CAN_RUN} {stamp}")
    (said,) = loads_nothing(caplog)
    assert said.startswith(f"The kernels in {place} are not of their sources")
    assert "python -m llama_gui.engine.native.build" in said


def test_the_digest_tells_contents_and_names(tmp_path: Path):
    assert digest(tmp_path) == ""
    (tmp_path / "kernels.c").write_text("int a;", encoding="utf-8")
    found = [digest(tmp_path)]
    (tmp_path / "kernels.c").write_text("int b;", encoding="utf-8")
    found.append(digest(tmp_path))
    (tmp_path / "kernels.c").rename(tmp_path / "other.h")
    found.append(digest(tmp_path))
    (tmp_path / "notes.txt").touch()
    (tmp_path / "._other.h").touch()  # as macOS leaves them
    assert len(set(found)) == 3
    assert digest(tmp_path) == found[-1]


class WrongInt8(NativeKernels):
    def int8(self, levels: Tensor, weight: Tensor, scales: Tensor, *others: Any) -> Tensor:
        y = super().int8(levels, weight, torch.ones_like(scales), *others)
        y[-1, -1] += 1
        return y * scales


class WrongInt4(NativeKernels):
    def int4(self, levels: Tensor, weight: Int4Packed, scales: Tensor, *others: Any) -> Tensor:
        y = super().int4(levels, weight, torch.ones_like(scales), *others)
        y[-1, -1] -= 1
        return y * scales


class WrongExpand(NativeKernels):
    def expand(self, weight: Int4Packed, channels: slice) -> Tensor:
        y = super().expand(weight, channels)
        y[-1, -1] ^= 1
        return y


class WrongHalf(NativeKernels):
    def half(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        y = super().half(x, weight, bias)
        y[-1, -1] += 0.01
        return y


class HalfByCount(NativeKernels):
    """A row has other bits in calls of five rows."""

    def half(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        y = super().half(x, weight, bias)
        return y * (1 + 2**-22) if len(x) == 5 else y


class NanHalf(NativeKernels):
    def half(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return super().half(x, weight, bias) * float("nan")


class WrongRounding(NativeKernels):
    def round_int4(self, weight: Tensor, to: Int4Packed, scales: Tensor, first: int = 0) -> None:
        super().round_int4(weight, to, scales, first)
        to.levels[-1, -1] ^= 16


class WrongScale(NativeKernels):
    def round_int4(self, weight: Tensor, to: Int4Packed, scales: Tensor, first: int = 0) -> None:
        super().round_int4(weight, to, scales, first)
        scales[-1] *= 1.001


class WrongSevenBits(NativeKernels):
    def round_blocks(self, weight: Tensor, to: BlocksPacked, first: int = 0) -> None:
        super().round_blocks(weight, to, first)
        to.parts[0][0, 0] ^= 1


class WrongBlocks(NativeKernels):
    def dequantise(self, blocks: Tensor, kind: str) -> Tensor:
        y = super().dequantise(blocks, kind)
        y[-1] += kind == "Q6_K"
        return y


@pytest.mark.parametrize(
    "wrong",
    [
        WrongInt8,
        WrongInt4,
        WrongExpand,
        WrongHalf,
        HalfByCount,
        NanHalf,
        WrongRounding,
        WrongScale,
        WrongBlocks,
        WrongSevenBits,
    ],
)
def test_kernels_that_add_up_wrong(
    kernels: NativeKernels,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    wrong: type,
):
    library = paths.native_kernels()
    assert library is not None
    shutil.copy(library, place)  # each file is tried once
    monkeypatch.setattr(native_library, "NativeKernels", wrong)
    (said,) = loads_nothing(caplog)
    assert said == f"The kernels in {place} add up wrong on this machine, torch's are used."


def test_a_library_is_tried_once_and_again_when_it_was_compiled_anew(place: Path, monkeypatch: pytest.MonkeyPatch):
    library = paths.native_kernels()
    if library is None:
        pytest.skip("our kernels were not compiled")
    shutil.copy(library, place)
    tried: list[NativeKernels] = []
    monkeypatch.setattr(native_library, "adds_right", lambda kernels: not tried.append(kernels))
    first = native_library.load()
    assert native_library.load() is first
    assert len(tried) == (first is not None)
    os.utime(place, ns=(0, 1))
    native_library.load()
    assert len(tried) == 2 * (first is not None)


def test_these_add_up_right(kernels: NativeKernels):
    assert native_trials.adds_right(kernels)
    assert native_trials.attends_right(kernels)
    assert native_trials.passes_right(kernels)


@pytest.mark.parametrize("file", ["is missing", "is no library"])
def test_without_kernels_a_model_is_loaded_by_torch(place: Path, tmp_path: Path, file: str):
    if file == "is no library":
        place.write_text("no library", encoding="utf-8")
    folder = write_tiny_llama(tmp_path / "model")
    for dtype in ("auto", "bfloat16"):
        loaded = load_model(folder, dtype=dtype, device="cpu", threads=2)
        assert {type(linear) for linear in loaded.network.linears} <= {PackedLinear, PlainLinear}
        assert loaded.network.dtype == loaded.network.embedding.rows.dtype
