"""What the processor can is found without torch, and alike by whoever is asked."""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from llama_gui.library import processor
from llama_gui.library.processor import NAMES, cpu_flags, flags_by
from llama_gui.paths import native_kernels
from tests.engine.this_machine import needs_native_kernels

ROOT = Path(__file__).resolve().parents[2]


@needs_native_kernels
@pytest.mark.skipif(not Path("/proc/cpuinfo").is_file(), reason="the system does not tell")
def test_our_kernels_find_what_the_system_tells():
    library = native_kernels()
    assert library is not None
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("flags"):
            assert flags_by(library) == set(line.split()).intersection(NAMES)


@needs_native_kernels
def test_the_first_question_is_answered_without_torch():
    """On Windows too, whose kernels need a library that torch brings; and torch is loaded after it as ever."""
    code = """
import sys
from llama_gui.library.fit import machine_here
print(machine_here().has_kernels, "torch" in sys.modules)
import torch
torch.set_num_threads(2)
print(float((torch.ones(300, 300) @ torch.ones(300, 300)).sum()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["True", "False", "27000000.0"], done.stderr


def test_windows_is_not_asked_for_a_file_of_linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It has none, and all models would be judged as where there are no kernels."""
    asked: list[Path] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "add_dll_directory", lambda _folder: nullcontext(), raising=False)
    monkeypatch.setattr(processor, "native_kernels", lambda: tmp_path / "kernels.dll")
    monkeypatch.setattr(processor, "flags_by", lambda library: asked.append(library) or frozenset({"avx2"}))
    assert cpu_flags() == {"avx2"}
    assert asked == [tmp_path / "kernels.dll"]
    monkeypatch.setattr(processor, "native_kernels", lambda: None)
    assert cpu_flags() == frozenset()


def test_a_library_that_says_nothing_is_none(tmp_path: Path):
    assert flags_by(tmp_path / "missing.so") == frozenset()
    (tmp_path / "broken.so").write_bytes(b"no library")
    assert flags_by(tmp_path / "broken.so") == frozenset()
