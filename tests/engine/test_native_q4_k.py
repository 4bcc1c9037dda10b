"""Weights of GGUF files in Q4_K, multiplied as they are: beside whole numbers, and beside the `gguf` package's."""

from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from torch import Tensor

from llama_gui.engine import linear as linear_module
from llama_gui.engine.device import Precision, torch_threads
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.int8_linear import Int8Linear
from llama_gui.engine.linear import LinearFactory
from llama_gui.engine.loading import estimate_bytes, load_model
from llama_gui.engine.native_kernels import Q4_K_BYTES, Q4_K_NUMBERS, NativeKernels, Q4KPacked
from llama_gui.engine.native_linear import (
    NativeInt4Linear,
    NativeInt8Linear,
    NativeInt8MLP,
    NativeQ4KLinear,
    NativeStackedLinear,
)
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import BrokenModelError
from tests.fakes.gguf_files import write_gguf, write_twin
from tests.fakes.tiny_llama import write_tiny_llama

MANY = 300
COUNTS = (*range(1, 40), MANY)
CHANNELS = (1, 8, 37, 100)
WIDTHS = (256, 1024, 2304)
SIZES = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "head_dim": 64}
MIXED = {"attn_v": "Q6_K", "blk.1.ffn_down": "Q6_K", "token_embd": "Q6_K"}
"""As a file of Q4_K_M has them."""


def blocks_of(out: int, width: int, seed: int = 1) -> Tensor:
    """Random rows of blocks ``[out, bytes]``; the first channel's numbers are the largest that there are."""
    generator = torch.Generator().manual_seed(seed)
    blocks = torch.randint(256, (out, width // Q4_K_NUMBERS, Q4_K_BYTES), dtype=torch.uint8, generator=generator)
    factors = torch.rand(*blocks.shape[:2], 2, generator=generator) - 0.3
    blocks[..., :4] = factors.half().view(torch.uint8)
    blocks[0, :, 4:] = 255
    return blocks.flatten(1)


def levels_of(rows: int, width: int) -> Tensor:
    """The first two are the largest that there are."""
    levels = torch.randint(-127, 128, (rows, width), generator=torch.Generator().manual_seed(2)).to(torch.int8)
    levels[0], levels[1:2] = 127, -127
    return levels


def packed(kernels: NativeKernels, blocks: Tensor, width: int, cuts: tuple[int, ...] = ()) -> Q4KPacked:
    weight = Q4KPacked.empty(len(blocks), width)
    for tensor in weight.tensors:
        tensor.view(torch.uint8).fill_(0xA5)  # so that what is forgotten shows
    for first, end in zip((0, *cuts), (*cuts, len(blocks)), strict=True):
        kernels.place_q4_k(blocks[first:end], weight, first)
    return weight


def parts_of(blocks: Tensor, width: int) -> tuple[Tensor, ...]:
    """Levels ``[out, in]``, steps and lows ``[out, in / 32]``, factors and offsets ``[out, in / 256]``.

    Worked out number by number as `dequantize_row_q4_K` of ggml does, and not by our own tables.
    """
    rows = blocks.numpy().reshape(len(blocks), -1, Q4_K_BYTES)
    factors = np.ascontiguousarray(rows[..., :4]).view(np.float16).astype(np.float32)
    scales, quants = rows[..., 4:16].astype(int), rows[..., 16:].reshape(*rows.shape[:2], 4, 32)
    steps, lows = np.zeros((2, *rows.shape[:2], 8), int)
    for j in range(8):
        if j < 4:
            steps[..., j], lows[..., j] = scales[..., j] & 63, scales[..., j + 4] & 63
        else:
            steps[..., j] = (scales[..., j + 4] & 15) | ((scales[..., j - 4] >> 6) << 4)
            lows[..., j] = (scales[..., j + 4] >> 4) | ((scales[..., j] >> 6) << 4)
    levels = np.stack((quants & 15, quants >> 4), 3).reshape(len(blocks), width)
    found = (levels, steps.reshape(len(blocks), -1), lows.reshape(len(blocks), -1), factors[..., 0], factors[..., 1])
    return tuple(torch.from_numpy(part) for part in found)


def product_of(x: Tensor, blocks: Tensor, width: int) -> Tensor:
    """Whole sums of each block, exact; blocks are added up in float32 from the first to the last."""
    levels, steps, lows, factors, offsets = parts_of(blocks, width)
    stepped = (levels.long().view(len(blocks), -1, 32) * steps.unsqueeze(2)).view(len(blocks), -1, Q4_K_NUMBERS)
    lowered = lows.unsqueeze(2).expand(-1, -1, 32).reshape(stepped.shape)
    by_block = x.long().view(len(x), -1, Q4_K_NUMBERS)
    total = torch.zeros(len(x), len(blocks))
    for block in range(width // Q4_K_NUMBERS):
        sums = (by_block[:, block].double() @ stepped[:, block].double().t()).float()
        low_sums = (by_block[:, block].double() @ lowered[:, block].double().t()).float()
        total = total + (factors[:, block] * sums - offsets[:, block] * low_sums)
    return total


@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_bits_are_those_of_whole_numbers_in_calls_of_any_size(kernels: NativeKernels, width: int, out: int):
    blocks, x = blocks_of(out, width), levels_of(MANY, width)
    weight, want = packed(kernels, blocks, width), product_of(x, blocks, width)
    assert torch.equal(kernels.q4_k(x, weight, torch.float32), want)
    with torch_threads(1):
        assert [n for n in COUNTS if not torch.equal(kernels.q4_k(x[:n], weight, torch.float32), want[:n])] == []
        assert [n for n in (1, 3, 7) if not torch.equal(kernels.q4_k(x[-n:], weight, torch.float32), want[-n:])] == []


def test_the_weights_are_those_of_the_package(kernels: NativeKernels):
    """One input at a time: nothing but a number of the weight comes out."""
    blocks = blocks_of(9, 512)
    theirs = gguf.dequantize(blocks.numpy(), gguf.GGMLQuantizationType.Q4_K)
    x = torch.eye(512, dtype=torch.int8)
    got = kernels.q4_k(x, packed(kernels, blocks, 512), torch.float32)
    torch.testing.assert_close(got.t(), torch.from_numpy(theirs), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("cuts", [(8,), (16, 24), (32,)])
def test_it_is_placed_in_pieces(kernels: NativeKernels, cuts: tuple[int, ...]):
    blocks = blocks_of(37, 512)
    whole, pieces = packed(kernels, blocks, 512), packed(kernels, blocks, 512, cuts)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(pieces.tensors, whole.tensors, strict=True))


def test_results_are_scaled_and_rounded_once(kernels: NativeKernels):
    blocks, x, scales = blocks_of(37, 512), levels_of(20, 512), torch.rand(20)
    weight = packed(kernels, blocks, 512)
    want = product_of(x, blocks, 512) * scales.unsqueeze(1)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        small = want / 4096 if dtype == torch.float16 else want  # its largest number is 65,504
        factors = scales / 4096 if dtype == torch.float16 else scales
        assert torch.equal(kernels.q4_k(x, weight, dtype, factors), small.to(dtype))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(kernels: NativeKernels, threads: int):
    blocks, x = blocks_of(100, 1024), levels_of(70, 1024)
    with torch_threads(threads):
        got = kernels.q4_k(x, packed(kernels, blocks, 1024), torch.float32)
    assert torch.equal(got, product_of(x, blocks, 1024))


def test_no_rows_have_no_product(kernels: NativeKernels):
    weight = packed(kernels, blocks_of(9, 256), 256)
    assert kernels.q4_k(levels_of(2, 256)[:0], weight, torch.float32).shape == (0, 9)


def test_other_shapes_are_refused(kernels: NativeKernels):
    weight = packed(kernels, blocks_of(24, 512), 512)
    with pytest.raises(ValueError, match="rows of 256 for a weight of 512"):
        kernels.q4_k(levels_of(2, 256), weight, torch.float32)
    for blocks, first in ((blocks_of(8, 256), 0), (blocks_of(8, 512), 4), (blocks_of(16, 512), 16)):
        with pytest.raises(ValueError, match=r"bytes from \d+ on, for a weight \[24, 512\]"):
            kernels.place_q4_k(blocks, weight, first)


# --- linears


def stored(out: int, width: int, kind: str, seed: int = 1) -> WeightRows:
    """As a file has it, some rows at a time."""
    if kind == "Q4_K":
        blocks = blocks_of(out, width, seed)
        values = torch.from_numpy(gguf.dequantize(blocks.numpy(), gguf.GGMLQuantizationType.Q4_K))
        return WeightRows(out, width, values.split(5), kind, blocks.split(5))
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
        ("Q4_K", True, NativeQ4KLinear),
        ("Q4_0", True, NativeInt4Linear),
        ("Q5_K", True, NativeInt8Linear),
        ("Q6_K", True, NativeInt8Linear),
        ("BF16", True, NativeInt8Linear),
        ("Q4_K", False, NativeInt4Linear),
        ("Q6_K", False, NativeInt4Linear),
        ("", False, NativeInt4Linear),
    ],
)
def test_what_the_file_has_finer_stays_finer(factory: Callable[..., LinearFactory], kind: str, as_stored: bool, form):
    assert type(factory(as_stored=as_stored).rounded([stored(16, 256, kind)], None)) is form


def test_where_prompts_are_read_faster_written_out_it_is_rounded(
    factory: Callable[..., LinearFactory], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: True)
    assert type(factory().rounded([stored(16, 256, "Q4_K")], None)) is NativeInt4Linear


def test_one_linear_of_several_kinds(factory: Callable[..., LinearFactory]):
    """Queries and keys as they are, values in eight bits; the bias is that of all."""
    outs, kinds = (24, 9, 15), ("Q4_K", "Q4_K", "Q6_K")
    bias = torch.randn(sum(outs), generator=torch.Generator().manual_seed(9))
    weights = [stored(out, 512, kind, seed) for seed, (out, kind) in enumerate(zip(outs, kinds, strict=True))]
    values = torch.cat([torch.cat(list(stored(w.out, 512, w.kind, seed).parts)) for seed, w in enumerate(weights)])
    linear = factory().rounded(weights, bias)
    assert isinstance(linear, NativeStackedLinear)
    assert [type(part) for part in linear._parts] == [NativeQ4KLinear, NativeInt8Linear]
    assert len(linear.packed) == 2
    assert linear.weight_bytes == sum(part.weight_bytes for part in linear._parts) + bias.nbytes
    assert linear.is_batch_invariant
    assert linear.overhead == 0
    x = torch.randn(50, 512, generator=torch.Generator().manual_seed(3))
    want = x @ values.t() + bias
    got = linear(x)
    assert (got - want).norm() < 0.02 * want.norm()
    assert [n for n in range(1, 50) if not torch.equal(linear(x[:n]), got[:n])] == []
    assert torch.equal(linear.multiply(x.to(torch.int8)), linear.scaled(x.to(torch.int8), None))


# --- models


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A file as the makers of Q4_K_M write it."""
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **SIZES)
    return write_gguf(folder, tmp_path / "mixed.gguf", "Q4_K", others=MIXED)


def test_a_mixed_file_is_run_as_it_is(
    kernels: NativeKernels, mixed: Path, load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: False)
    engine = load(folder=mixed, dtype="auto")
    info = engine.info
    assert (info.dtype, info.source) == ("int4", "Q4_K_M GGUF, Q4_K as it is, Q6_K as int8")
    assert info.reason.startswith("The file holds the weights in four bits")
    ids = [int(n) for n in torch.randint(5, 250, (60,), generator=torch.Generator().manual_seed(1))]
    twin = write_twin(mixed, tmp_path / "model", tmp_path / "twin")
    exact = load(folder=twin, dtype="float32").logits(ids)
    error = (engine.logits(ids) - exact).norm()
    errors = {dtype: (load(folder=twin, dtype=dtype).logits(ids) - exact).norm() for dtype in ("int8", "int4")}
    assert error < 1.3 * errors["int8"]  # of the activations, no more
    assert error < 0.4 * errors["int4"]


def test_its_network_and_its_memory(kernels: NativeKernels, mixed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: False)
    network = load_model(mixed, device="cpu", threads=1).network
    forms = [type(linear) for linear in network.linears]
    first = [NativeStackedLinear, NativeQ4KLinear, NativeQ4KLinear, NativeQ4KLinear]
    assert forms[:8] == [*first, *first[:3], NativeInt8Linear]
    assert forms[8] in (NativeInt8Linear, Int8Linear)
    assert {type(block.mlp) for block in network.blocks} <= {NativeInt8MLP}
    assert network.is_exact
    assert estimate_bytes(mixed) == pytest.approx(network.weight_bytes, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "others", "stored"),
    [
        ("Q4_K", {}, "int4"),
        ("Q4_K", MIXED, "int4"),
        ("Q6_K", {}, "int8"),
        ("Q8_0", {}, "int8"),
        ("Q4_0", {}, "int8"),
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
    assert info.dtype == (stored or load_model(folder, device="cpu", threads=1).info.dtype)
    assert info.reason.startswith("The file holds the weights in") == (stored is not None)
    assert load_model(file, dtype="bfloat16", device="cpu", threads=1).info.dtype == "bfloat16"


def test_biases_are_added_and_heads_are_not_turned_where_they_should_not(
    kernels: NativeKernels, tmp_path: Path, load, monkeypatch: pytest.MonkeyPatch
):
    """Qwen2: biases on queries, keys and values, whose rows lie as we have them."""
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: False)
    folder = write_tiny_llama(tmp_path / "model", "qwen2", **SIZES)
    file = write_gguf(folder, tmp_path / "a.gguf", "Q4_K", others={"attn_v.weight": "Q6_K"})
    twin = write_twin(file, folder, tmp_path / "twin")
    ids = list(range(5, 65))
    exact = load(folder=twin, dtype="float32").logits(ids)
    assert (load(folder=file).logits(ids) - exact).norm() < 0.05 * exact.norm()


@pytest.mark.parametrize("word", ["attn_q", "ffn_up"])
def test_a_factor_that_is_no_number_is_found(kernels: NativeKernels, mixed: Path, word: str):
    """In a weight whose rows are read at once, and in one that is read in pieces."""
    tensor = next(t for t in gguf.GGUFReader(mixed).tensors if word in t.name)
    with mixed.open("r+b") as file:
        file.seek(int(tensor.data_offset) + Q4_K_BYTES * 3 + 2)
        file.write(np.array([np.inf], np.float16).tobytes())
    with pytest.raises(BrokenModelError, match=rf"{word}.*holds numbers that are not finite"):
        load_model(mixed, device="cpu", threads=1)
