"""Weights in seven bits: what rounding them loses, and that our kernels have the same numbers and exact sums."""

import pytest
import torch
from torch import Tensor

from llama_gui.engine.device import torch_threads
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import NativeInt8Linear, NativeSevenBitLinear
from llama_gui.engine.packed_weights import BLOCK_NUMBERS, SEVEN_BITS, BlocksPacked, block_bytes, row_blocks
from llama_gui.engine.seven_bits import SevenBits, quantise
from llama_gui.engine.weight_rows import WeightRows

MANY = 300
COUNTS = (*range(1, 40), MANY)
CHANNELS = (1, 8, 37, 100)
WIDTHS = (64, 256, 896, 1024, 2304)  # the last block of a row may be shorter
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def numbers(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def weight_of(out: int, width: int) -> Tensor:
    """The first channels have the largest sums that there are, of one sign and of both, and none at all."""
    weight = 0.02 * numbers(out, width)
    weight[0], weight[1:2] = 1, -1
    weight[2:3, ::2], weight[2:3, 1::2], weight[3:4] = 1, -1, 0
    weight[4:5, 7] = 5  # an outlier spoils its own group only
    return weight


def levels_of(rows: int, width: int) -> Tensor:
    levels = torch.randint(-127, 128, (rows, width), generator=torch.Generator().manual_seed(2)).to(torch.int8)
    levels[0], levels[1:2] = 127, -127
    levels[2:3, ::2], levels[2:3, 1::2] = 127, -127
    return levels


def scales_of(rows: int, width: int) -> Tensor:
    return torch.rand(rows, row_blocks(width), generator=torch.Generator().manual_seed(5)) + 0.1


def rounded(kernels: NativeKernels, weight: Tensor, cuts: tuple[int, ...] = ()) -> BlocksPacked:
    packed = BlocksPacked.empty(SEVEN_BITS, *weight.shape)
    for part in packed.parts:
        part.fill_(0xA5)  # so that what is forgotten shows
    for first, end in zip((0, *cuts), (*cuts, len(weight)), strict=True):
        kernels.round_blocks(weight[first:end].contiguous(), packed, first)
    return packed


def product_of(x: Tensor, scales: Tensor, found: SevenBits) -> Tensor:
    """Whole sums of each block, exact; blocks are added up in float32 from the first to the last."""
    whole = found.levels * found.steps.repeat_interleave(GROUP, 1)
    total = torch.zeros(len(x), len(whole))
    for block in range(row_blocks(x.shape[1])):
        inputs = slice(block * BLOCK_NUMBERS, (block + 1) * BLOCK_NUMBERS)
        sums = (x[:, inputs].double() @ whole[:, inputs].double().t()).float()
        total += found.factors[:, block] * sums * scales[:, block].unsqueeze(1)
    return total


# --- numbers


@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
def test_what_is_lost_is_half_a_level_of_the_group(size: float):
    weight = weight_of(37, 1024) * size
    found = quantise(weight)
    assert (found.levels.abs().max(), found.steps.min(), found.steps.max()) == (63, 1, 255)
    largest = weight.unflatten(1, (-1, GROUP)).abs().amax(2)
    of_block = largest.unflatten(1, (-1, BLOCK_NUMBERS // GROUP)).amax(2).repeat_interleave(BLOCK_NUMBERS // GROUP, 1)
    room = (largest / 63 + of_block / (63 * 255)) * 0.501  # steps are whole: at most one too large
    assert ((found.values - weight).unflatten(1, (-1, GROUP)).abs().amax(2) <= room).all()


def test_normal_numbers_lose_little_and_outliers_spoil_little():
    weight = numbers(64, 2048)
    lost = (quantise(weight).values - weight).norm() / weight.norm()
    assert lost < 0.0115
    weight[:, ::256] *= 50
    others = torch.ones(2048, dtype=torch.bool).unflatten(0, (-1, GROUP))
    others[:: BLOCK_NUMBERS // GROUP] = False  # groups without one
    others = others.flatten()
    lost = (quantise(weight).values - weight)[:, others].norm() / weight[:, others].norm()
    assert lost < 0.02


@pytest.mark.parametrize("width", [576, 1024])
@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_kernel_rounds_to_the_same_numbers(kernels: NativeKernels, out: int, width: int, dtype: torch.dtype):
    weight = weight_of(out, width).to(dtype)
    packed, values = rounded(kernels, weight), quantise(weight).values
    assert torch.equal(kernels.block_rows(packed, torch.arange(out)), values)
    ids = torch.tensor([out - 1, 0, out // 2])
    assert torch.equal(kernels.block_rows(packed, ids), values[ids])


@pytest.mark.parametrize("width", [512, 576])
@pytest.mark.parametrize("cuts", [(8,), (16, 24), (32,)])
def test_it_is_rounded_in_pieces(kernels: NativeKernels, cuts: tuple[int, ...], width: int):
    weight = weight_of(37, width)
    whole = rounded(kernels, weight)
    for threads in (1, 2):
        with torch_threads(threads):
            pieces = rounded(kernels, weight, cuts)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(pieces.parts, whole.parts, strict=True))
    assert sum(part.nbytes for part in whole.parts) == 40 * width * block_bytes(SEVEN_BITS, width)


@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_bits_are_those_of_whole_numbers_in_calls_of_any_size(kernels: NativeKernels, width: int, out: int):
    weight, x, scales = weight_of(out, width), levels_of(MANY, width), scales_of(MANY, width)
    packed, want = rounded(kernels, weight), product_of(x, scales, quantise(weight))

    def some(part: slice) -> Tensor:
        return kernels.blocks(x[part], scales[part], packed, torch.float32)

    assert torch.equal(some(slice(None)), want)
    with torch_threads(1):
        assert [n for n in COUNTS if not torch.equal(some(slice(0, n)), want[:n])] == []
        assert [n for n in range(40) if not torch.equal(some(slice(n, n + 1)), want[n : n + 1])] == []


def test_what_is_no_number_stays_none_and_spoils_no_other_channel(kernels: NativeKernels):
    weight = weight_of(24, 512)
    weight[5, 300], weight[9, 3] = float("nan"), float("inf")
    x = numbers(7, 512)
    linear = NativeSevenBitLinear(WeightRows.of(weight), None, kernels)
    got, sound = linear(x), [i for i in range(24) if i not in (5, 9)]
    assert got[:, [5, 9]].isnan().all()
    assert torch.equal(got[:, sound], NativeSevenBitLinear(WeightRows.of(weight[sound]), None, kernels)(x))


def test_other_places_are_refused(kernels: NativeKernels):
    packed = BlocksPacked.empty(SEVEN_BITS, 24, 512)
    for out, width, first in ((8, 256, 0), (8, 512, 4), (16, 512, 16)):
        with pytest.raises(ValueError, match=r"from \d+ on, for Q7_K \[24, 512\]"):
            kernels.round_blocks(numbers(out, width), packed, first)
    with pytest.raises(ValueError, match=r"for Q7_K \[8, 96\]"):
        kernels.round_blocks(numbers(8, 96), BlocksPacked.empty(SEVEN_BITS, 8, 96))
    with pytest.raises(ValueError, match="for Q4_K"):
        kernels.round_blocks(numbers(8, 512), BlocksPacked.empty("Q4_K", 8, 512))


# --- linears


@pytest.mark.parametrize("width", [896, 1024])
def test_a_linear_is_near_to_what_it_stands_for(kernels: NativeKernels, width: int):
    weight, bias, x = 0.02 * numbers(100, width), numbers(100, seed=2), numbers(50, width, seed=3)
    linear = NativeSevenBitLinear(WeightRows.of(weight), bias, kernels)
    got, want = linear(x), x @ weight.t() + bias
    assert (got - want).norm() < 0.016 * (x @ weight.t()).norm()
    assert linear.is_batch_invariant
    assert [n for n in range(1, 50) if not torch.equal(linear(x[:n]), got[:n])] == []


def test_it_loses_no_more_than_a_scale_for_each_channel(kernels: NativeKernels):
    """With what large models have: channels of inputs that are far larger than the others, and weights with tails."""
    x, weight = numbers(50, 2048), torch.empty(300, 2048).exponential_(generator=torch.Generator().manual_seed(4))
    weight *= numbers(300, 2048, seed=6).sign()
    x[:, ::700] *= 30
    want = x.double() @ weight.double().t()
    sevens, eights = (
        (kind(WeightRows.of(weight), None, kernels)(x) - want).norm() / want.norm()
        for kind in (NativeSevenBitLinear, NativeInt8Linear)
    )
    assert sevens < 0.75 * eights
