"""Our kernels read and write what is theirs, and do nothing that C leaves open: in a copy with gcc's sanitizers.

Tests pass where a kernel reads a little too far, as long as the memory is there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from llama_gui.engine import native_library

pytest.importorskip("hatchling", reason="what compiles the kernels is hatchling's")

from llama_gui.engine.native import build

ROOT = Path(__file__).parents[2]
TESTED = (
    "test_native_kernels.py", "test_native_blocks.py", "test_native_attention.py", "test_native_layer.py",
    "test_native_linear.py", "test_token_table.py", "test_exactness.py", "test_sampling.py", "test_experts.py",
    "test_gpt_oss.py", "test_cache_precision.py", "test_gated_delta.py",
)  # fmt: skip
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")
"""They come before all others; the last, because the first looks for it and torch brings it too late."""


def library(name: str) -> str:
    """Where gcc has it; the bare name: nowhere."""
    found = subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


@pytest.fixture
def sanitized(tmp_path: Path) -> Path:
    """A copy of the package, whose kernels are watched, and of the tests."""
    if native_library.load() is None or not shutil.which("gcc"):
        pytest.skip("there are no kernels here")
    if not all(os.path.isabs(library(name)) for name in LIBRARIES):
        pytest.skip("gcc has no sanitizers here")
    for folder in ("llama_gui", "tests", "resources"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "kernels.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", "gcc -g1 -fno-omit-frame-pointer -fsanitize=address,undefined")
        # What is watched takes a minute to compile so, and several with -O3.
        patch.setattr(build, "_FLAGS", ("-O1", *(flag for flag in build._FLAGS if flag != "-O3")))
        assert build.compile_kernels(tmp_path / "llama_gui" / "engine" / "native" / "kernels.so") is None
    return tmp_path


@pytest.mark.campaign
@pytest.mark.timeout(2400)
def test_no_kernel_reaches_beyond_its_memory(sanitized: Path):
    watched = {
        "LD_PRELOAD": " ".join(map(library, LIBRARIES)),
        # Python and torch leave things behind at the end, and a test may ask for too much memory.
        "ASAN_OPTIONS": "detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONPATH": str(sanitized),
    }
    tests = [f"tests/engine/{name}" for name in TESTED]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-s", "-n", "0", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command,
        check=False,
        cwd=sanitized,
        env={**os.environ, **watched},
        capture_output=True,
        text=True,
        errors="replace",
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-5000:]
    assert "runtime error" not in said
    assert " passed" in said
    assert "there are no kernels" not in said, "they were not loaded, so nobody watched them"
