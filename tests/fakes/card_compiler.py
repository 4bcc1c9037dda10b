"""Compiles our kernels for cards that are not here, as `CardKernels` would launch them: a compiler needs no card.

python -m tests.fakes.card_compiler 80        # the capability, as in sm_80; prints the most shared memory of a program
"""

import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from llama_gui.engine import card_expert_programs, card_int4_programs, card_programs
from llama_gui.engine.card_experts import ExpertPrograms, ExpertWeights
from llama_gui.engine.card_int4 import rounded
from llama_gui.engine.card_kernels import EXPERT_INT4_TILES, INT4_TILES, TILES, CardKernels, Places
from llama_gui.engine.card_linear import CardInt4Linear, CardInt8Linear, CardLinear
from llama_gui.engine.experts import Router
from llama_gui.engine.gating import Gate
from llama_gui.engine.rotary import Turns

TYPES = {
    torch.float32: "*fp32",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int8: "*i8",
    torch.uint8: "*u8",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
OPTIONS = ("num_warps", "num_stages")


@dataclass(frozen=True, slots=True)
class Launch:
    """A program, and what its launch tells the compiler."""

    name: str
    signature: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, Any], ...]
    aligned: tuple[int, ...]
    options: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Recorder:
    """Stands in the place of `card_programs`: notes launches, and runs nothing."""

    launches: set[Launch] = field(default_factory=set)

    def __getattr__(self, name: str) -> "defaultdict[Any, Callable[..., None]]":
        return defaultdict(lambda: lambda *args, **named: self.note(name, args, named))  # whatever the grid is

    def note(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """As Triton specialises: a 1 is a constant, and it is told what is divisible by 16."""
        program = _program(name)
        given = {**dict(zip(program.arg_names, args, strict=False)), **named}
        options = tuple((key, given.pop(key)) for key in OPTIONS if key in given)
        signature, constants, aligned = [], [], []
        for place, parameter in enumerate(program.params):
            value, is_special = given[parameter.name], not parameter.do_not_specialize
            kind = _kind(value)
            if parameter.is_constexpr or (kind == "i32" and value == 1 and is_special):
                kind = "constexpr"
                constants.append((parameter.name, value))
            elif kind != "fp32" and is_special and (kind != "i32" or value % 16 == 0):
                aligned.append(place)
            signature.append((parameter.name, kind))
        self.launches.add(Launch(name, tuple(signature), tuple(constants), tuple(aligned), options))


def _program(name: str) -> Any:
    for programs in (card_programs, card_int4_programs):
        if name in vars(programs):
            return getattr(programs, name)
    return getattr(card_expert_programs, name)


def _kind(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return TYPES[value.dtype]
    return "fp32" if isinstance(value, float) else "i32"


def launches(dtype: torch.dtype) -> set[Launch]:
    """Those of networks in `dtype`: of each head size, and each tile."""
    recorder = Recorder()
    kernels = CardKernels()
    kernels._programs = kernels._int4_programs = recorder
    weight = torch.ones(2048)
    for of_weight in (weight, weight.to(dtype)):
        kernels.norm(torch.ones(3, 2048, dtype=dtype), of_weight, 1e-5, dtype)
        kernels.norm(torch.ones(3, 32, 64, dtype=dtype), of_weight[:64], 1e-5, dtype)
        kernels.added(*torch.ones(2, 3, 2048, dtype=dtype), of_weight, 1e-5, dtype)
    for gate in get_args(Gate):
        kernels.gated(torch.ones(3, 2048, dtype=dtype), gate)
    for rows in (1, 64):
        places = Places(*torch.ones(4, rows, dtype=torch.int64))
        for heads, kv_heads, dim in ((32, 8, 64), (64, 8, 128), (8, 1, 256)):
            q, k, v = (torch.ones(rows, count, dim, dtype=dtype) for count in (heads, kv_heads, kv_heads))
            for turns in (None, Turns(*torch.ones(2, rows, 1, dim))):
                kernels.keep((q, k, v), turns, places, 0)
            for window, sinks, cap in ((None, None, None), (128, torch.ones(heads), 30.0)):
                kernels.attend(q, places, 0, kv_heads, window, sinks, cap)
    if dtype != torch.float32:  # rows are in half precision beside weights of few bits
        _products(kernels, dtype)
        _expert_products(recorder, dtype)
    kernels.multiply_row(torch.ones(1, 2048, dtype=dtype), torch.ones(2048, 2048, dtype=dtype), None, None)
    return recorder.launches


def _products(kernels: CardKernels, dtype: torch.dtype) -> None:
    for rows in (1, *(int(min(most, 999)) for most, *_ in TILES)):
        for outs in (2048, 8192):
            levels, scales = torch.ones(outs, 2048, dtype=torch.int8), torch.ones(outs, dtype=dtype)
            kernels.multiply(torch.ones(rows, 2048, dtype=dtype), levels, scales, scales)
    weights = [rounded(torch.ones(outs, 2048)) for outs in (2048, 8192)]
    weights += [replace(weight, is_coded=True) for weight in weights]
    for weight in weights:
        for rows in (1, *(int(min(most, 99)) for most, *_ in INT4_TILES), 999):
            kernels.multiply_int4(
                torch.ones(rows, 2048, dtype=dtype), weight, torch.ones(len(weight.levels), dtype=dtype)
            )


def _expert_products(recorder: Recorder, dtype: torch.dtype) -> None:
    programs = ExpertPrograms()
    programs._programs = recorder
    for correction in (None, torch.ones(128)):
        router = Router(CardLinear(torch.ones(128, 64), None, CardKernels()), 8, normalises=True, correction=correction)
        programs.route(torch.ones(3, 128), router)
    for kind, is_coded in (
        (CardLinear, False),
        (CardInt8Linear, False),
        (CardInt4Linear, False),
        (CardInt4Linear, True),
    ):
        parts, tiles = (5, EXPERT_INT4_TILES) if kind is CardInt4Linear else (3, TILES)
        for outs in (2048, 8192):
            table = ExpertWeights(
                (), kind, torch.ones(parts, 2, dtype=torch.int64), outs, 2048, is_coded, has_bias=True
            )
            for rows in (1, *(int(min(most, 999)) for most, *_ in tiles)):
                numbers = torch.ones(rows, 2, dtype=torch.int32)
                programs.multiply(torch.ones(rows, 2048, dtype=dtype), numbers, table)
                programs.multiply(torch.ones(2 * rows, 2048, dtype=dtype), numbers, table, torch.ones(rows, 2))


def shared_bytes(launch: Launch, capability: int) -> int:
    """Compile it, and tell the memory that its programs share."""
    source = ASTSource(
        _program(launch.name),
        dict(launch.signature),
        dict(launch.constants),
        {(place,): [["tt.divisibility", 16]] for place in launch.aligned},
    )
    compiled = triton.compile(source, GPUTarget("cuda", capability, 32), dict(launch.options))
    return compiled.metadata.shared


if __name__ == "__main__":
    capability = int(sys.argv[1])
    found = {one for kind in (torch.float32, torch.float16, torch.bfloat16) for one in launches(kind)}
    print(len(found), *max((shared_bytes(one, capability), one.name, *one.constants) for one in found))
