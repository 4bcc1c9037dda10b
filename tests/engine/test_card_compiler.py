"""Our kernels compile for cards that nobody here has, and fit into the memory that their cores share.

In another process, and Triton is not even imported in this one: then it would compile in `test_card_kernels.py`, too,
where it is to interpret.
"""

import importlib.util
import os
import subprocess
import sys

import pytest

SHARED_KIB = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227, 120: 99}
"""By NVIDIA's programming guide: what a program may take, of Turing, Ampere, Ada, Hopper and Blackwell."""


@pytest.mark.campaign
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is for Linux")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("capability", SHARED_KIB)
def test_every_program_compiles_and_fits(capability):
    command = [sys.executable, "-m", "tests.fakes.card_compiler", str(capability)]
    interpreting = {"TRITON_INTERPRET": "0"}
    ended = subprocess.run(command, env=os.environ | interpreting, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    count, most, *what = ended.stdout.split(maxsplit=2)
    assert int(count) > 150
    assert int(most) <= SHARED_KIB[capability] * 1024, what
