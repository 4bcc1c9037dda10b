"""Engines over tiny random models, one set for the whole run."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from llama_gui.engine import Engine, native_library
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.network_guesses import NetworkGuesses
from llama_gui.engine.row_cost import PRIOR, RowCost
from tests.engine.this_machine import limited, register_widths
from tests.fakes.tiny_llama import Shape, write_tiny_llama

if not torch.cuda.is_available():
    # Read when Triton is imported, which transformers does, too: from then on it interprets or it does not.
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Shape], Path]:
    """The folder of a tiny model; written once, so leave it as it is."""
    made: dict[Shape, Path] = {}

    def folder(shape: Shape = "llama-3.2") -> Path:
        if shape not in made:
            made[shape] = write_tiny_llama(tmp_path_factory.mktemp("models") / shape, shape)
        return made[shape]

    return folder


@pytest.fixture
def threads() -> int:
    """CPU threads of engines that `load` makes: as many as models this small get.

    Threads that meet after microseconds of work wait for each other on a busy machine. Files about what threads could
    change have two.
    """
    return 1


@pytest.fixture
def cheap_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rows and guesses cost is measured, and on a busy machine they may not pay; here they always do."""
    monkeypatch.setattr(RowCost, "of_step", PRIOR)
    monkeypatch.setattr(RowCost, "step_seconds", 0.0)


@pytest.fixture
def guesses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many a network made for another each time."""
    made: list[int] = []
    of_network = NetworkGuesses._guess

    def counting(self: NetworkGuesses, *told: Any) -> list[int]:
        found = of_network(self, *told)
        made.append(len(found))
        return found

    monkeypatch.setattr(NetworkGuesses, "_guess", counting)
    return made


@pytest.fixture
def usual_dtype() -> str:
    """How engines that `load` makes hold their weights: as people use them, in steps that cost a third of float32's.

    Files that compare numbers with those of transformers have float32.
    """
    return "bfloat16"


@pytest.fixture
def load(
    tiny_folder: Callable[[Shape], Path], kernel_notes: Path, threads: int, usual_dtype: str
) -> Iterator[Callable[..., Engine]]:
    """Load a tiny model; every engine is closed behind the test."""
    engines: list[Engine] = []

    def load(shape: Shape = "llama-3.2", *, folder: Path | None = None, **options: object) -> Engine:
        options = {"dtype": usual_dtype, "device": "cpu", "threads": threads, "kernel_notes": kernel_notes, **options}
        engine = Engine.load(folder or tiny_folder(shape), **options)  # type: ignore[arg-type]
        engines.append(engine)
        return engine

    yield load
    for engine in engines:
        engine.close()


@pytest.fixture(scope="module", params=register_widths())
def kernels(request: pytest.FixtureRequest) -> Iterator[NativeKernels]:
    """Our own kernels, as this CPU runs them and as older ones do; the test is skipped where there are none."""
    found = native_library.load()
    if found is None:
        pytest.skip("there are no kernels: no C compiler when this was installed, or a CPU that they are not for")
    with limited(found, request.param):
        yield found
