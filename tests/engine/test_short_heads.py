"""The first tokens of a vocabulary get the bits that they have among all."""

import pytest
import torch

from llama_gui.engine.linear import Linear, PlainLinear
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import NativeHalfLinear, NativeInt8Linear, NativeSevenBitLinear
from llama_gui.engine.short_heads import short_head
from llama_gui.engine.weight_rows import WeightRows

_WIDTH, _CHANNELS, _FIRST = 256, 200, 96


def _rows(weight: torch.Tensor) -> WeightRows:
    return WeightRows.of(weight.bfloat16())


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("kind", ["codes", "bfloat16", "float16", "int8", "seven bits"])
def test_same_bits(kernels: NativeKernels, kind: str, rows: int):
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(_CHANNELS, _WIDTH, generator=generator) / 16
    head: Linear = {
        "codes": lambda: NativeHalfLinear(_rows(weight), None, kernels),
        "bfloat16": lambda: NativeHalfLinear(weight.bfloat16(), None, kernels),
        "float16": lambda: NativeHalfLinear(weight.half(), None, kernels),
        "int8": lambda: NativeInt8Linear(_rows(weight), None, kernels),
        "seven bits": lambda: NativeSevenBitLinear(_rows(weight), None, kernels),
    }[kind]()
    x = torch.randn(rows, _WIDTH, generator=generator)
    first = short_head(head, _FIRST)
    assert first is not None
    assert torch.equal(first(x), head(x)[:, :_FIRST])
    assert head(x).shape == (rows, _CHANNELS)


def test_others_are_not_cut(kernels: NativeKernels):
    weight = torch.ones(_CHANNELS, _WIDTH)
    assert short_head(PlainLinear(weight, None), _FIRST) is None
    assert short_head(NativeHalfLinear(weight.half(), torch.ones(_CHANNELS), kernels), _FIRST) is None
