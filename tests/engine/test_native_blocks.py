"""Weights of GGUF files, multiplied as they are: beside whole numbers, and beside the `gguf` package's."""

import itertools
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from torch import Tensor

from llama_gui.engine import linear as linear_module
from llama_gui.engine import load_plan
from llama_gui.engine.device import Precision, torch_threads
from llama_gui.engine.engine import _token_budget
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.gguf_blocks import block_shape, numbers_of
from llama_gui.engine.linear import LinearFactory, StackedLinear
from llama_gui.engine.load_plan import plan_load
from llama_gui.engine.loading import load_model
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import (
    NativeBlocksLinear,
    NativeInt4Linear,
    NativeInt8Linear,
    NativeSevenBitLinear,
)
from llama_gui.engine.packed_weights import BLOCK_KINDS, BLOCK_NUMBERS, BlocksPacked, block_bytes, row_blocks
from llama_gui.engine.scheduler import FINE_TILE
from llama_gui.engine.token_table import BlocksTable
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import BrokenModelError
from tests.fakes.gguf_files import random_blocks, write_gguf, write_twin
from tests.fakes.tiny_llama import write_tiny_llama

MANY = 300
COUNTS = (*range(1, 40), MANY)
CHANNELS = (1, 8, 37, 100)
WIDTHS = (256, 1024, 2304)
KINDS_AND_WIDTHS = [*itertools.product(BLOCK_KINDS, WIDTHS), ("MXFP4", 64), ("MXFP4", 2304 + 3 * 64)]
"""Of MXFP4 the last block of a row may be shorter, as in gpt-oss, whose rows have 2880 numbers."""
SIZES = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "head_dim": 64}
MIXED = {"attn_v": "Q6_K", "blk.1.ffn_down": "Q6_K", "token_embd": "Q6_K"}
"""As a file of Q4_K_M has them."""

FACTORS = {
    "Q4_K": slice(0, 4),
    "Q5_K": slice(0, 4),
    "Q6_K": slice(208, 210),
    "Q4_0": slice(0, 2),
    "Q3_K": slice(108, 110),
    "IQ4_NL": slice(0, 2),
    "IQ4_XS": slice(0, 2),
    "Q2_K": slice(80, 84),
    "MXFP4": slice(0, 1),
}
"""The bytes of a block that are numbers in half precision, or an exponent."""


def rows_of(out: int, width: int, kind: str, seed: int = 1) -> Tensor:
    """Random rows of blocks ``[out, bytes]``; those of the first channels are the largest that there are."""
    generator = torch.Generator().manual_seed(seed)
    (size, numbers), places = block_shape(kind), FACTORS[kind]
    blocks = torch.randint(256, (out, width // numbers, size), dtype=torch.uint8, generator=generator)
    blocks[0] = 255
    if kind == "Q6_K":
        blocks[1:2], blocks[2:3] = 0, 255
        blocks[1:3, :, 192:208] = 128  # -128, with the least and with the greatest levels
    if kind in ("Q3_K", "IQ4_NL", "IQ4_XS"):
        blocks[1:2] = 0  # the least numbers, and of two of them the least steps
    factors = torch.rand(*blocks.shape[:2], 2, generator=generator) - 0.3
    blocks[..., places] = factors.half().view(torch.uint8)[..., : places.stop - places.start]
    if kind == "MXFP4":
        blocks[..., 0] = blocks[..., 0] % 16 + 115
    return blocks.flatten(1)


def levels_of(rows: int, width: int) -> Tensor:
    """The first three are the largest that there are, of one sign and of both."""
    levels = torch.randint(-127, 128, (rows, width), generator=torch.Generator().manual_seed(2)).to(torch.int8)
    levels[0], levels[1:2] = 127, -127
    levels[2:3, ::2], levels[2:3, 1::2] = 127, -127
    return levels


def packed(kernels: NativeKernels, rows: Tensor, width: int, kind: str, cuts: tuple[int, ...] = ()) -> BlocksPacked:
    weight = BlocksPacked.empty(kind, len(rows), width)
    for part in weight.parts:
        part.fill_(0xA5)  # so that what is forgotten shows
    for first, end in zip((0, *cuts), (*cuts, len(rows)), strict=True):
        kernels.place_blocks(rows[first:end], weight, first)
    return weight


def whole_numbers(rows: Tensor, width: int, kind: str) -> list[tuple[Tensor, Tensor]]:
    """Of each number its whole factors ``[out, in]``, and the factor of its block ``[out, in / 256]``, summed up.

    Worked out as `dequantize_row_q4_K` and its kin of ggml do, number by number, and not by our own tables.
    """
    blocks = rows.numpy().reshape(len(rows), -1, block_shape(kind)[0])
    if kind == "MXFP4":
        halves = np.ldexp(np.float32(1), blocks[..., :1].astype(int) - 128)
    else:
        halves = np.ascontiguousarray(blocks[..., FACTORS[kind]]).view(np.float16).astype(np.float32)
    readers = {"Q4_K": _q4_k, "Q5_K": _q5_k, "Q6_K": _q6_k, "Q4_0": _q4_0}
    readers |= {"Q3_K": _q3_k, "IQ4_NL": _iq4_nl, "IQ4_XS": _iq4_xs, "Q2_K": _q2_k, "MXFP4": _mxfp4}
    terms = readers[kind](blocks, halves)
    return [
        (torch.from_numpy(whole.reshape(len(rows), -1)[:, :width]), torch.from_numpy(factor)) for whole, factor in terms
    ]


def _q4_k(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    quants = blocks[..., 16:].reshape(*blocks.shape[:2], 4, 32)
    return _stepped(blocks, halves, np.stack((quants & 15, quants >> 4), 3).reshape(*blocks.shape[:2], 8, 32))


def _q5_k(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    quants, high = blocks[..., 48:].reshape(*blocks.shape[:2], 4, 32), blocks[..., 16:48]
    levels = np.stack((quants & 15, quants >> 4), 3).reshape(*blocks.shape[:2], 8, 32)
    for group in range(8):
        levels[:, :, group] += (high >> group & 1) * 16
    return _stepped(blocks, halves, levels)


def _stepped(blocks: np.ndarray, halves: np.ndarray, levels: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    scales = blocks[..., 4:16].astype(int)
    steps, lows = np.zeros((2, *blocks.shape[:2], 8), int)
    for j in range(8):
        if j < 4:
            steps[..., j], lows[..., j] = scales[..., j] & 63, scales[..., j + 4] & 63
        else:
            steps[..., j] = (scales[..., j + 4] & 15) | ((scales[..., j - 4] >> 6) << 4)
            lows[..., j] = (scales[..., j + 4] >> 4) | ((scales[..., j] >> 6) << 4)
    lowered = np.broadcast_to(lows[..., None], levels.shape)
    return [(levels.astype(int) * steps[..., None], halves[..., 0]), (lowered, -halves[..., 1])]


def _q6_k(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    low, high = blocks[..., :128].astype(int), blocks[..., 128:192].astype(int)
    steps = np.repeat(blocks[..., 192:208].view(np.int8).astype(int), 16, -1)
    values = np.zeros((*blocks.shape[:2], 256), int)
    for half in range(2):
        for i in range(32):
            lows = low[..., 64 * half + i], low[..., 64 * half + 32 + i]
            bits, first = high[..., 32 * half + i], 128 * half + i
            values[..., first] = ((lows[0] & 15) | ((bits >> 0 & 3) << 4)) - 32
            values[..., first + 32] = ((lows[1] & 15) | ((bits >> 2 & 3) << 4)) - 32
            values[..., first + 64] = ((lows[0] >> 4) | ((bits >> 4 & 3) << 4)) - 32
            values[..., first + 96] = ((lows[1] >> 4) | ((bits >> 6 & 3) << 4)) - 32
    return [(values * steps, halves[..., 0])]


def _q4_0(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """One term for each of the eight groups of a block of ours: they are added up one after the other."""
    return _of_groups(_halves_of_groups(blocks[..., 2:]) - 8, halves)


def _halves_of_groups(quants: np.ndarray) -> np.ndarray:
    return np.concatenate((quants & 15, quants >> 4), -1).astype(int)


def _of_groups(values: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    missing = -values.shape[1] % 8  # where the last block is shorter
    values = np.pad(values, ((0, 0), (0, missing), (0, 0))).reshape(len(values), -1, 8, 32)
    factors = np.pad(halves[..., 0], ((0, 0), (0, missing))).reshape(len(values), -1, 8)
    groups = np.arange(8)
    return [(values * (groups == group)[:, None], factors[..., group]) for group in groups]


def _q3_k(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    masks, quants, packed = (
        blocks[..., :32].astype(int),
        blocks[..., 32:96].astype(int),
        blocks[..., 96:108].astype(int),
    )
    values = np.zeros((*blocks.shape[:2], 256), int)
    for group in range(16):
        half, pair, side = group // 8, group % 8 // 2, group % 2
        low = packed[..., group % 8] >> (4 if half else 0) & 15
        step = (low | (packed[..., 8 + group % 4] >> 2 * (group // 4) & 3) << 4) - 32
        for i in range(16):
            low = quants[..., 32 * half + 16 * side + i] >> 2 * pair & 3
            has_third = masks[..., 16 * side + i] >> (4 * half + pair) & 1
            values[..., 16 * group + i] = (low - 4 * (1 - has_third)) * step
    return [(values, halves[..., 0])]


def _q2_k(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    scales, quants = blocks[..., :16].astype(int), blocks[..., 16:80].astype(int)
    values, lowered = np.zeros((2, *blocks.shape[:2], 256), int)
    for group in range(16):
        half, pair, side = group // 8, group % 8 // 2, group % 2
        inputs, some = slice(16 * group, 16 * group + 16), slice(32 * half + 16 * side, 32 * half + 16 * side + 16)
        values[..., inputs] = (quants[..., some] >> 2 * pair & 3) * (scales[..., group, None] & 15)
        lowered[..., inputs] = scales[..., group, None] >> 4
    return [(values, halves[..., 0]), (lowered, -halves[..., 1])]


_IQ4 = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])


def _iq4_nl(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return _of_groups(_IQ4[_halves_of_groups(blocks[..., 2:])], halves)


_MXFP4 = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])
"""Twice the numbers of four bits."""


def _mxfp4(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return _of_groups(_MXFP4[_halves_of_groups(blocks[..., 1:])], halves)


def _iq4_xs(blocks: np.ndarray, halves: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    high = blocks[..., 2].astype(int) | blocks[..., 3].astype(int) << 8
    values = np.zeros((*blocks.shape[:2], 256), int)
    for group in range(8):
        step = blocks[..., 4 + group // 2].astype(int) >> 4 * (group % 2) & 15 | (high >> 2 * group & 3) << 4
        codes = _halves_of_groups(blocks[..., 8 + 16 * group : 24 + 16 * group])
        values[..., 32 * group : 32 * group + 32] = _IQ4[codes] * (step - 32)[..., None]
    return [(values, halves[..., 0])]


def scales_of(rows: int, width: int) -> Tensor:
    """Of each block of each row."""
    return torch.rand(rows, row_blocks(width), generator=torch.Generator().manual_seed(5)) + 0.1


def product_of(x: Tensor, scales: Tensor, rows: Tensor, width: int, kind: str) -> Tensor:
    """Whole sums of each block, exact; blocks are added up in float32 from the first to the last."""
    terms = whole_numbers(rows, width, kind)
    total = torch.zeros(len(x), len(rows))
    for block in range(row_blocks(width)):
        inputs = slice(block * BLOCK_NUMBERS, (block + 1) * BLOCK_NUMBERS)
        of_block = torch.zeros(())
        for whole, factor in terms:
            sums = (x[:, inputs].double() @ whole[:, inputs].double().t()).float()
            of_block = of_block + factor[:, block] * sums
        total = total + of_block * scales[:, block].unsqueeze(1)
    return total


@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize(("kind", "width"), KINDS_AND_WIDTHS)
@pytest.mark.sampled(48)
def test_the_bits_are_those_of_whole_numbers_in_calls_of_any_size(
    kernels: NativeKernels, kind: str, width: int, out: int
):
    rows, x, scales = rows_of(out, width, kind), levels_of(MANY, width), scales_of(MANY, width)
    weight, want = packed(kernels, rows, width, kind), product_of(x, scales, rows, width, kind)

    def some(part: slice) -> Tensor:
        return kernels.blocks(x[part], scales[part], weight, torch.float32)

    assert torch.equal(some(slice(None)), want)
    with torch_threads(1):
        assert [n for n in COUNTS if not torch.equal(some(slice(0, n)), want[:n])] == []
        assert [n for n in range(40) if not torch.equal(some(slice(n, n + 1)), want[n : n + 1])] == []


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_the_weights_are_those_of_the_package(kernels: NativeKernels, kind: str):
    """Taken out as rows, and one input at a time: nothing but a number of the weight comes out."""
    rows = rows_of(13, 512, kind)
    theirs = torch.from_numpy(gguf.dequantize(rows.numpy(), gguf.GGMLQuantizationType[kind]))
    weight = packed(kernels, rows, 512, kind)
    ids = torch.tensor([12, 0, 7, 8, 7])
    assert torch.equal(kernels.block_rows(weight, ids), theirs[ids])
    assert torch.equal(kernels.block_rows(weight, torch.arange(24)[::2][:6]), theirs[::2][:6])
    got = kernels.blocks(torch.eye(512, dtype=torch.int8), torch.ones(512, 2), weight, torch.float32)
    torch.testing.assert_close(got.t(), theirs, rtol=1e-6, atol=1e-4)


def test_all_exponents_of_mxfp4_are_those_of_the_package(kernels: NativeKernels):
    rows = rows_of(255, 256, "MXFP4").view(255, 8, 17)
    rows[..., 0] = torch.arange(255).unsqueeze(1)
    flat = rows.flatten(1).contiguous()
    theirs = torch.from_numpy(gguf.dequantize(flat.numpy(), gguf.GGMLQuantizationType.MXFP4))
    weight = packed(kernels, flat, 256, "MXFP4")
    for ours in (
        kernels.block_rows(weight, torch.arange(255)),
        kernels.dequantise(flat.flatten(), "MXFP4").view(255, 256),
        numbers_of(flat.flatten(), "MXFP4").view(255, 256),
    ):
        assert torch.equal(ours, theirs)
    sums = kernels.blocks(torch.ones(1, 256, dtype=torch.int8), torch.ones(1, 1), weight, torch.float32)[0]
    torch.testing.assert_close(sums[:250], theirs[:250].double().sum(1).float(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_rows_that_are_not_there_are_not_taken_out(kernels: NativeKernels, kind: str):
    weight = packed(kernels, rows_of(13, 256, kind), 256, kind)
    for ids in ([13], [0, -1]):
        with pytest.raises(IndexError, match="of 13"):
            kernels.block_rows(weight, torch.tensor(ids))
    assert kernels.block_rows(weight, torch.tensor([], dtype=torch.int64)).shape == (0, 256)


@pytest.mark.parametrize("kind", BLOCK_KINDS)
@pytest.mark.parametrize("cuts", [(8,), (16, 24), (32,)])
def test_it_is_placed_in_pieces(kernels: NativeKernels, kind: str, cuts: tuple[int, ...]):
    rows = rows_of(37, 512, kind)
    whole, pieces = packed(kernels, rows, 512, kind), packed(kernels, rows, 512, kind, cuts)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(pieces.parts, whole.parts, strict=True))
    size = sum(part.nbytes for part in whole.parts)
    assert size == 40 * 512 * block_bytes(kind)  # 37 channels take the room of 40


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_results_are_rounded_once(kernels: NativeKernels, kind: str):
    rows, x = rows_of(37, 512, kind), levels_of(20, 512)
    weight = packed(kernels, rows, 512, kind)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        scales = scales_of(20, 512) / (2**16 if dtype == torch.float16 else 1)  # its largest number is 65,504
        want = product_of(x, scales, rows, 512, kind).to(dtype)
        assert want.isfinite().all()
        assert torch.equal(kernels.blocks(x, scales, weight, dtype), want)


def test_rows_have_a_scale_for_each_block(kernels: NativeKernels):
    x = torch.randn(7, 1024, generator=torch.Generator().manual_seed(1))
    x[:, 300] = 1000.0  # an outlier, as large models have them: it spoils its own block only
    levels, scales = kernels.quantise_blocks(x)
    assert (levels.shape, scales.shape) == (x.shape, (7, 4))
    errors = (levels * scales.repeat_interleave(BLOCK_NUMBERS, 1) - x).abs().view(7, 4, BLOCK_NUMBERS).amax((0, 2))
    assert errors[1] > 0.5
    assert max(errors[0], errors[2], errors[3]) < 0.02
    theirs, theirs_scales = kernels.quantise(x[:, 512:768].contiguous())
    assert torch.equal(levels[:, 512:768], theirs)
    assert torch.equal(scales[:, 2], theirs_scales)


@pytest.mark.parametrize("kind", BLOCK_KINDS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(kernels: NativeKernels, kind: str, threads: int):
    rows, x, scales = rows_of(100, 1024, kind), levels_of(70, 1024), scales_of(70, 1024)
    for count in (1, 70):
        with torch_threads(threads):
            got = kernels.blocks(x[:count], scales[:count], packed(kernels, rows, 1024, kind), torch.float32)
        assert torch.equal(got, product_of(x[:count], scales[:count], rows, 1024, kind))


def test_no_rows_have_no_product(kernels: NativeKernels):
    weight = packed(kernels, rows_of(9, 256, "Q4_K"), 256, "Q4_K")
    assert kernels.blocks(levels_of(3, 256)[:0], scales_of(0, 256), weight, torch.float32).shape == (0, 9)


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_other_shapes_are_refused(kernels: NativeKernels, kind: str):
    weight = packed(kernels, rows_of(24, 512, kind), 512, kind)
    with pytest.raises(ValueError, match="rows of 256 for a weight of 512"):
        kernels.blocks(levels_of(3, 256), scales_of(3, 256), weight, torch.float32)
    for rows, first in ((rows_of(8, 256, kind), 0), (rows_of(8, 512, kind), 4), (rows_of(16, 512, kind), 16)):
        with pytest.raises(ValueError, match=r"bytes from \d+ on, for a weight \[24, 512\]"):
            kernels.place_blocks(rows, weight, first)


# --- linears


def stored(out: int, width: int, kind: str, seed: int = 1) -> WeightRows:
    """As a file has it, some rows at a time."""
    if kind in BLOCK_KINDS:
        rows = rows_of(out, width, kind, seed)
        values = torch.from_numpy(gguf.dequantize(rows.numpy(), gguf.GGMLQuantizationType[kind]))
        return WeightRows(out, width, values.split(5), kind, rows.split(5))
    values = torch.randn(out, width, generator=torch.Generator().manual_seed(seed))
    return WeightRows(out, width, values.split(7), kind)


@pytest.fixture
def factory(kernels: NativeKernels, monkeypatch: pytest.MonkeyPatch) -> Callable[..., LinearFactory]:
    """On a CPU that does not read prompts faster with torch's product."""
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: False)

    def make(quantised: str = "int4", as_stored: bool = True) -> LinearFactory:
        precision = Precision(torch.float32, quantised, as_stored=as_stored)  # type: ignore[arg-type]
        return LinearFactory(precision, kernels=kernels)

    return make


@pytest.mark.parametrize(
    ("kind", "as_stored", "form"),
    [
        ("Q4_K", True, NativeBlocksLinear),
        ("Q4_0", True, NativeBlocksLinear),
        ("Q4_1", True, NativeInt4Linear),
        ("Q5_K", True, NativeBlocksLinear),
        ("Q6_K", True, NativeBlocksLinear),
        ("BF16", True, None),
        ("Q4_K", False, NativeInt4Linear),
        ("Q6_K", False, NativeInt4Linear),
        ("", False, NativeInt4Linear),
    ],
)
def test_what_the_file_has_finer_stays_finer(
    kernels: NativeKernels, factory: Callable[..., LinearFactory], kind: str, as_stored: bool, form: type | None
):
    linear = factory(as_stored=as_stored).of_rows([stored(16, 256, kind)], None)
    assert type(linear) is (form or int8_kind(kernels))


def int8_kind(kernels: NativeKernels) -> type:
    """What weights become that have more than four bits, and widths of whole blocks."""
    return NativeInt8Linear if kernels.is_wide else NativeSevenBitLinear


def test_one_linear_of_several_kinds(kernels: NativeKernels, factory: Callable[..., LinearFactory]):
    """Queries, keys and values; the bias is that of all."""
    outs, kinds = (24, 9, 15, 10), ("Q4_K", "Q4_K", "Q6_K", "Q8_0")
    bias = torch.randn(sum(outs), generator=torch.Generator().manual_seed(9))
    weights = [stored(out, 512, kind, seed) for seed, (out, kind) in enumerate(zip(outs, kinds, strict=True))]
    values = torch.cat([torch.cat(list(stored(w.out, 512, w.kind, seed).parts)) for seed, w in enumerate(weights)])
    linear = factory().of_rows(weights, bias)
    assert isinstance(linear, StackedLinear)
    assert [type(part) for part in linear.parts] == [NativeBlocksLinear, NativeBlocksLinear, int8_kind(kernels)]
    assert len(linear.packed) == 4 + 4 + (1 if kernels.is_wide else 4)
    assert linear.weight_bytes == sum(part.weight_bytes for part in linear.parts)
    assert linear.is_batch_invariant
    assert linear.overhead == 0
    x = torch.randn(50, 512, generator=torch.Generator().manual_seed(3))
    want = x @ values.t() + bias
    got = linear(x)
    assert (got - want).norm() < 0.02 * want.norm()
    assert [n for n in range(1, 50) if not torch.equal(linear(x[:n]), got[:n])] == []


# --- models


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A file as the makers of Q4_K_M write it."""
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **SIZES)
    return write_gguf(folder, tmp_path / "mixed.gguf", "Q4_K", others=MIXED)


def test_a_mixed_file_is_run_as_it_is(
    kernels: NativeKernels, mixed: Path, load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    engine = load(folder=mixed, dtype="auto")
    info = engine.info
    assert (info.dtype, info.source) == ("int4", "Q4_K_M GGUF, Q4_K and Q6_K as they are")
    assert info.reason.startswith("The file holds the weights in four bits")
    ids = [int(n) for n in torch.randint(5, 250, (60,), generator=torch.Generator().manual_seed(1))]
    twin = write_twin(mixed, tmp_path / "model", tmp_path / "twin")
    exact = load(folder=twin, dtype="float32").logits(ids)
    error = (engine.logits(ids) - exact).norm()
    errors = {dtype: (load(folder=twin, dtype=dtype).logits(ids) - exact).norm() for dtype in ("int8", "int4")}
    assert error < 1.3 * errors["int8"]  # of the activations, no more
    assert error < 0.4 * errors["int4"]


def test_its_network_and_its_memory(kernels: NativeKernels, mixed: Path):
    network = load_model(mixed, device="cpu", threads=1).network
    assert {type(block.attention.qkv) for block in network.blocks} == {StackedLinear}  # values are finer
    assert {type(linear) for linear in network.linears} == {StackedLinear, NativeBlocksLinear}
    assert network.blocks[0].mlp.down.blocks.kind == "Q4_K"  # type: ignore[union-attr]
    assert network.blocks[1].mlp.down.blocks.kind == "Q6_K"  # type: ignore[union-attr]
    assert type(network.embedding) is BlocksTable
    assert all(block.native is not None for block in network.blocks)
    assert network.is_exact
    assert plan_load(mixed).weight_bytes == pytest.approx(network.weight_bytes, rel=0.05)


def test_where_prompts_are_read_faster_written_out_it_is_rounded(
    kernels: NativeKernels, mixed: Path, monkeypatch: pytest.MonkeyPatch
):
    for module in (linear_module, load_plan):
        monkeypatch.setattr(module, "is_faster_written_out", lambda kernels: True)
    model = load_model(mixed, device="cpu", threads=1)
    assert (model.info.dtype, model.info.source) == ("int4", "Q4_K_M GGUF, held as int4")
    assert {type(linear) for linear in model.network.linears[:-1]} == {NativeInt4Linear}


@pytest.mark.parametrize(
    ("kind", "others", "source"),
    [
        ("Q4_K", {"ffn_down": "Q8_0"}, "Q4_K_M GGUF, Q4_K as it is, Q8_0 as int8"),
        ("Q4_K", {"ffn_down": "Q4_1", "attn_q": "Q6_K"}, "Q4_K_M GGUF, Q4_K and Q6_K as they are, Q4_1 as int4"),
        ("Q4_0", {"output": "Q6_K", "token_embd": "Q6_K"}, "Q4_0 GGUF, Q4_0 and Q6_K as they are"),
        ("Q6_K", {}, "Q6_K GGUF, Q6_K as it is"),
        ("Q2_K", {"ffn_down": "Q3_K"}, "Q2_K GGUF, Q2_K and Q3_K as they are"),
        ("Q5_K", {"ffn_down": "Q6_K"}, "Q5_K_M GGUF, Q5_K and Q6_K as they are"),
        ("Q8_0", {}, "Q8_0 GGUF, held as int8"),
    ],
)
def test_what_is_done_to_a_file_is_said(
    kernels: NativeKernels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    others: dict[str, str],
    source: str,
):
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **SIZES)
    file = write_gguf(folder, tmp_path / "a.gguf", kind, others=others)
    model = load_model(file, device="cpu", threads=1)
    assert model.info.source == source
    assert plan_load(file).weight_bytes == pytest.approx(model.network.weight_bytes, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "others", "stored"),
    [
        ("Q4_K", {}, "int4"),
        ("Q4_K", MIXED, "int4"),
        ("Q6_K", {}, "int8"),
        ("Q8_0", {}, "int8"),
        ("Q4_0", {}, "int4"),
        ("Q3_K", {}, "int4"),
        ("Q2_K", {"attn_v": "Q4_K", "ffn_down": "Q3_K"}, "int4"),
        ("Q5_0", {}, "int8"),
        ("IQ4_XS", {}, "int4"),
        ("Q4_1", {}, "int8"),  # they would be rounded again, and the loss is that of eight bits
        ("F16", {}, None),
        ("F32", {}, None),
        ("F16", {"attn": "Q4_K", "token_embd": "Q4_K"}, None),  # the layers count, and most of theirs are plain
        ("Q8_0", {"ffn": "Q4_K"}, "int4"),
    ],
)
def test_auto_keeps_about_as_many_bits_as_the_file(
    kernels: NativeKernels, tmp_path: Path, kind: str, others: dict[str, str], stored: str | None
):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **SIZES)
    file = write_gguf(folder, tmp_path / "a.gguf", kind, others=others)
    assert GgufModel(file).stored == stored
    info = load_model(file, device="cpu", threads=1).info
    assert info.dtype == (stored or plan_load(folder, device="cpu").dtype)
    assert info.reason.startswith("The file holds the weights in") == (stored is not None)
    assert plan_load(file, "bfloat16", "cpu").dtype == "bfloat16"


def test_pieces_of_prompts_beside_answers_are_fine(
    kernels: NativeKernels, mixed: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    network = load_model(mixed, device="cpu", threads=1).network
    assert any(isinstance(linear, StackedLinear) for linear in network.linears)
    assert _token_budget(network).tokens(1) == 2 * FINE_TILE


@pytest.mark.parametrize("hidden_size", [128, 320])
def test_rows_that_are_no_whole_blocks_are_rounded(
    kernels: NativeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden_size: int
):
    """Q4_0 has blocks of 32; Qwen2.5 0.5B, whose rows are 896 wide, is such a file."""
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **SIZES | {"hidden_size": hidden_size})
    file = write_gguf(folder, tmp_path / "a.gguf", "Q4_0")
    forms = {"int8": NativeInt8Linear if hidden_size < BLOCK_NUMBERS else int8_kind(kernels), "int4": NativeInt4Linear}
    for dtype, others in (("auto", "int8"), ("int4", "int4")):
        model = load_model(file, dtype=dtype, device="cpu", threads=1)
        source = "Q4_0 GGUF, Q4_0 as it is, some Q4_0 as int8" if others == "int8" else "Q4_0 GGUF, held as int4"
        assert (model.info.dtype, model.info.source) == (others, source)
        narrow = {type(linear) for linear in model.network.linears[:-1] if linear.weight_bytes}
        assert forms[others] in narrow
        assert (NativeBlocksLinear in narrow) == (others == "int8")
        assert plan_load(file, dtype=dtype).weight_bytes == pytest.approx(model.network.weight_bytes, rel=0.1)


def test_biases_are_added_and_heads_are_not_turned_where_they_should_not(
    kernels: NativeKernels, tmp_path: Path, load, monkeypatch: pytest.MonkeyPatch
):
    """Qwen2: biases on queries, keys and values, whose rows lie as we have them."""
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    folder = write_tiny_llama(tmp_path / "model", "qwen2", **SIZES)
    file = write_gguf(folder, tmp_path / "a.gguf", "Q4_K", others={"attn_v.weight": "Q6_K"})
    twin = write_twin(file, folder, tmp_path / "twin")
    ids = list(range(5, 65))
    exact = load(folder=twin, dtype="float32").logits(ids)
    assert (load(folder=file).logits(ids) - exact).norm() < 0.05 * exact.norm()


@pytest.mark.parametrize(
    ("word", "kind", "place"), [("attn_q", "Q4_K", 2), ("ffn_up", "Q4_K", 0), ("attn_v", "Q6_K", 208)]
)
def test_a_factor_that_is_no_number_is_found(
    kernels: NativeKernels, mixed: Path, word: str, kind: str, place: int, monkeypatch: pytest.MonkeyPatch
):
    """In a weight whose rows are read at once, and in those that are read in pieces."""
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    tensor = next(t for t in gguf.GGUFReader(mixed).tensors if word in t.name)
    with mixed.open("r+b") as file:
        file.seek(int(tensor.data_offset) + block_shape(kind)[0] * 3 + place)
        file.write(np.array([np.inf], np.float16).tobytes())
    with pytest.raises(BrokenModelError, match=rf"{word}.*holds numbers that are not finite"):
        load_model(mixed, device="cpu", threads=1)


@pytest.mark.parametrize("kind", ["Q4_K", "Q5_K", "Q6_K", "IQ4_XS"])
@pytest.mark.parametrize("out", [16, 40, 57])
def test_tiles_have_the_bits_of_other_registers(kernels: NativeKernels, kind: str, out: int):
    if not kernels.has_tiles:
        pytest.skip("this CPU has no AMX, or it is not to be used")
    width, generator = 3 * 256, torch.Generator().manual_seed(out)
    packed = BlocksPacked.empty(kind, out, width)
    blocks = torch.from_numpy(random_blocks((out, width), kind, np.random.default_rng(out)))
    kernels.place_blocks(blocks.view(torch.uint8), packed)
    levels, scales = kernels.quantise_blocks(torch.randn(300, width, generator=generator))
    for rows in (16, 17, 33, 300):
        tiled = kernels.blocks(levels[:rows], scales[:rows], packed, torch.float32)
        with kernels.without_tiles():
            assert torch.equal(kernels.blocks(levels[:rows], scales[:rows], packed, torch.float32), tiled)
