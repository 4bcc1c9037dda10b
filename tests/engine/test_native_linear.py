"""Linears over our own kernels: near to the plain product, the same bits in calls of any size; and who gets them."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine import device as device_module
from llama_gui.engine import int8_linear, native_library, native_linear
from llama_gui.engine import linear as linear_module
from llama_gui.engine.device import Precision, byte_count, torch_threads
from llama_gui.engine.engine import _token_budget
from llama_gui.engine.int4_levels import GROUP, quantise
from llama_gui.engine.int4_linear import Int4Linear
from llama_gui.engine.int4_panels import OVERHEAD
from llama_gui.engine.int8_linear import Int8Linear, probe, round_channels
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.linear import Linear, LinearFactory, PackedLinear, PlainLinear
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.load_plan import plan_load
from llama_gui.engine.loading import load_model
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import (
    NativeHalfLinear,
    NativeInt4Linear,
    NativeInt8Linear,
    NativeRouterLinear,
    NativeSevenBitLinear,
    _multiply_written_out,
    is_faster_written_out,
)
from llama_gui.engine.packed_weights import BLOCK_NUMBERS, WIDTH_UNIT, CodedPanels, pack_int4
from llama_gui.engine.quantised_linear import quantise_rows
from llama_gui.engine.scheduler import FINE_TILE
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import UnsupportedModelError
from tests.engine.this_machine import as_multiplied
from tests.fakes.tiny_llama import Shape, write_tiny_llama

CPU = torch.device("cpu")
DTYPES = (torch.float32, torch.bfloat16)
HALVES = (torch.bfloat16, torch.float16)
COUNTS = (*range(1, 36), 63, 64, 65, 89)
_TABLES = {"float16": torch.float16, "int8": torch.int8, "int4": torch.int8}  # others look tokens up in bfloat16


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def rows_of_levels(count: int, width: int) -> Tensor:
    levels = torch.randint(-127, 128, (count, width), generator=torch.Generator().manual_seed(2)).to(torch.int8)
    levels[0], levels[1] = 127, -127
    return levels


def int8_of(weight: Tensor, bias: Tensor | None, kernels: NativeKernels) -> NativeInt8Linear:
    return NativeInt8Linear(WeightRows.of(weight), bias, kernels, weight.dtype)


def int4_of(
    weight: Tensor, bias: Tensor | None, kernels: NativeKernels, *, writes_out: bool = False
) -> NativeInt4Linear:
    return NativeInt4Linear(WeightRows.of(weight), bias, kernels, weight.dtype, writes_out=writes_out)


def check_sizes(linear: Linear, x: Tensor) -> None:
    """A row has the same bits in calls of any size, at any place, cut from a wider matrix or not."""
    assert linear.is_batch_invariant
    whole = linear(x)
    wide = torch.cat((x, x), 1)[:, : x.shape[1]]
    mixed = torch.randperm(len(x), generator=torch.Generator().manual_seed(4))
    with torch_threads(1):  # on a busy machine every call would wait for its second thread
        assert [n for n in COUNTS if not torch.equal(linear(x[:n]), whole[:n])] == []
        assert [n for n in range(1, len(x), 9) if not torch.equal(linear(wide[n : n + 5]), whole[n : n + 5])] == []
        assert torch.equal(linear(x[mixed]), whole[mixed])


# --- numbers


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("kind", "error"), [(int8_of, 0.02), (int4_of, 0.1)])
@pytest.mark.parametrize(("out", "width"), [(33, 64), (130, 576), (37, 4160)])
def test_quantised_is_near_to_the_plain_product(
    kernels: NativeKernels, kind: type, error: float, dtype: torch.dtype, bias: bool, out: int, width: int
):
    weight, offsets = numbers(out, width, dtype=dtype), numbers(out, dtype=dtype, seed=2) if bias else None
    linear, x = kind(weight, offsets, kernels), numbers(40, width, dtype=dtype, seed=3)
    want = F.linear(x.double(), weight.double(), None if offsets is None else offsets.double())
    for rows in (1, 7, 40):
        got = linear(x[:rows])
        assert (got.shape, got.dtype) == ((rows, out), dtype)
        assert float((got - want[:rows]).norm() / want[:rows].norm()) < error
    # The operands are the caller's.
    assert torch.equal(x, numbers(40, width, dtype=dtype, seed=3))
    assert torch.equal(weight, numbers(out, width, dtype=dtype))


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("in_codes", [True, False], ids=["codes", "as it is"])
@pytest.mark.parametrize(("out", "width"), [(33, 64), (130, 576), (37, 1025)])
def test_half_loses_nothing(
    kernels: NativeKernels, dtype: torch.dtype, bias: bool, out: int, width: int, in_codes: bool
):
    if in_codes and (dtype != torch.bfloat16 or width % 4):
        return
    weight, offsets = numbers(out, width, dtype=dtype), numbers(out, dtype=dtype, seed=2) if bias else None
    x = as_multiplied(kernels, numbers(40, width, seed=3), dtype)
    linear, before = NativeHalfLinear(WeightRows.of(weight) if in_codes else weight, offsets, kernels), x.clone()
    want = F.linear(x.double(), weight.double(), None if offsets is None else offsets.double())
    for rows in (1, 7, 40):
        got = linear(x[:rows])
        assert (got.shape, got.dtype) == ((rows, out), torch.float32)
        assert torch.allclose(got.double(), want[:rows], rtol=1e-5, atol=1e-4)
    assert torch.equal(x, before)
    assert isinstance(linear.weight, CodedPanels) == in_codes
    if not in_codes:
        assert linear.packed[0].data_ptr() == weight.data_ptr()  # kept, not copied


def test_a_weight_that_has_no_codes_stays_as_it_is(kernels: NativeKernels):
    bits = torch.randint(-(2**15), 2**15, (40, 64), generator=torch.Generator().manual_seed(0)).to(torch.int16)
    weight = bits.view(torch.bfloat16).nan_to_num(0, 0, 0)
    linear = NativeHalfLinear(WeightRows.of(weight), None, kernels)
    assert isinstance(linear.weight, torch.Tensor)
    assert torch.equal(linear.weight, weight)
    assert linear.operand.form == "bfloat16"


def test_a_transposed_weight_of_half_precision(kernels: NativeKernels):
    weight, x = (
        numbers(100, 33, dtype=torch.bfloat16).t(),
        as_multiplied(kernels, numbers(5, 100, seed=3), torch.bfloat16),
    )
    assert torch.allclose(NativeHalfLinear(weight, None, kernels)(x), x @ weight.float().t(), atol=1e-4)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("kind", "out", "width"),
    [
        (int8_of, 33, 100),
        (int8_of, 130, 576),
        (int4_of, 33, 64),
        (int4_of, 130, 4160),
    ],
)
def test_a_quantised_row_has_the_same_bits_in_calls_of_any_size(
    kernels: NativeKernels, kind: type, out: int, width: int, dtype: torch.dtype, bias: bool
):
    weight, offsets = numbers(out, width, dtype=dtype), numbers(out, dtype=dtype, seed=2) if bias else None
    x = numbers(90, width, dtype=dtype, seed=3)
    x[1], x[2] = 0, 1e-30
    check_sizes(kind(weight, offsets, kernels), x)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(("out", "width"), [(33, 17), (130, 576), (37, 1025)])
def test_a_row_of_half_precision_too(kernels: NativeKernels, dtype: torch.dtype, bias: bool, out: int, width: int):
    weight, offsets = numbers(out, width, dtype=dtype), numbers(out, dtype=dtype, seed=2) if bias else None
    check_sizes(NativeHalfLinear(weight, offsets, kernels), numbers(90, width, seed=3))


@pytest.mark.parametrize("kind", [int8_of, int4_of])
def test_rows_of_zeros_of_extremes_and_of_no_numbers(kernels: NativeKernels, kind: type):
    weight = numbers(33, 64)
    linear, x = kind(weight, None, kernels), torch.zeros(5, 64)
    x[1, 3], x[2], x[3], x[4] = 3e30, 1e-30, numbers(64, seed=2), numbers(64, seed=3)
    x[3, 5] = float("nan")
    got = linear(x)
    assert torch.equal(got[0], torch.zeros(33))
    assert torch.allclose(got[1], 3e30 * weight[:, 3], rtol=0.05, atol=6e29)
    assert got[3].isnan().all()  # a network that breaks must be seen to break
    assert torch.isfinite(got[[0, 1, 2, 4]]).all()
    assert not kind(torch.zeros(33, 64), None, kernels)(x[[0, 1, 4]]).any()


@pytest.mark.parametrize("rows", [1, 6, 33, 64])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_are_exact(kernels: NativeKernels, dtype: torch.dtype, rows: int):
    weight, levels = 3 * numbers(37, 576, dtype=dtype), rows_of_levels(64, 576)[:rows]
    rounded, scales = round_channels(weight)
    want = ((levels.double() @ rounded.double().t()).float() * scales).to(dtype)
    assert torch.equal(int8_of(weight, None, kernels).multiply(levels), want)
    found = quantise(weight.float())
    want = ((levels.double() @ found.values.double().t()).float() * found.scales).to(dtype)
    assert torch.equal(int4_of(weight, None, kernels).multiply(levels), want)


@pytest.mark.parametrize("kind", [int8_of, int4_of])
def test_rows_of_float32_are_rounded_by_the_kernels(kernels: NativeKernels, kind: type):
    """Their scales are within a hair of those that torch finds."""
    weight, bias, x = numbers(37, 576), numbers(37, seed=2), numbers(40, 576, seed=3)
    linear = kind(weight, bias, kernels)
    levels, scales = kernels.quantise(x)
    assert torch.equal(linear(x), linear.multiply(levels) * scales.unsqueeze(1) + bias)
    their_levels, their_scales = quantise_rows(x, torch.float32)
    torch.testing.assert_close(scales.unsqueeze(1), their_scales, rtol=1e-6, atol=0)
    assert (levels != their_levels).float().mean() < 1e-3
    assert torch.allclose(linear(x), linear.of_levels(their_levels, their_scales) + bias, atol=0.2)


@pytest.mark.parametrize("kind", [NativeInt8Linear, NativeInt4Linear])
@pytest.mark.parametrize("counts", [(37,), (8, 24, 5), (8, 29), (32, 5), (1, 36), (5, 8, 24), (36, 1)], ids=str)
def test_a_weight_in_parts(kernels: NativeKernels, counts: tuple[int, ...], kind: type):
    """Each of another dtype, if need be; also where a part ends in the middle of a block of channels."""
    weight, levels = numbers(37, 128, dtype=torch.bfloat16), rows_of_levels(9, 128)
    want = kind(WeightRows.of(weight.float()), None, kernels).multiply(levels)
    dtypes = (torch.bfloat16, torch.float32, torch.bfloat16)
    parts = (part.to(dtype) for part, dtype in zip(weight.split(counts), dtypes, strict=False))
    got = kind(WeightRows(37, 128, parts), None, kernels, torch.float32)
    assert torch.equal(got.multiply(levels), want)


@pytest.mark.parametrize("kind", [int8_of, int4_of])
def test_a_transposed_weight(kernels: NativeKernels, kind: Callable[..., Linear]):
    weight, levels = numbers(128, 64, dtype=torch.bfloat16).t(), rows_of_levels(3, 128).float()
    assert torch.equal(kind(weight, None, kernels)(levels), kind(weight.contiguous(), None, kernels)(levels))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [64, 576])
def test_int8_equals_that_of_torch(kernels: NativeKernels, width: int, dtype: torch.dtype):
    try:
        probe()
    except UnsupportedModelError as error:
        pytest.skip(str(error))
    weight, levels = numbers(96, width, dtype=dtype), rows_of_levels(65, width)
    ours, theirs = int8_of(weight, None, kernels), Int8Linear(weight, None)
    for rows in (1, 5, 65):
        assert torch.equal(ours.multiply(levels[:rows]), theirs.multiply(levels[:rows]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_int4_has_the_weights_of_torch(kernels: NativeKernels, dtype: torch.dtype):
    """Torch's kernel rounds its sums to bfloat16 before they are scaled."""
    weight, x = numbers(96, 576, dtype=dtype), numbers(40, 576, dtype=dtype, seed=3)
    ours, theirs = int4_of(weight, None, kernels)(x), Int4Linear(weight, None)(x)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    # Torch's scales are of the weight's dtype, so in bfloat16 they are others, and the levels with them.
    exact = Int4Linear(weight.float(), None)(x.float())
    assert float((ours.float() - exact).norm() / exact.norm()) < 0.01


# --- written out


@pytest.fixture
def exact_int_mm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old CPUs saturate, see `is_faster_written_out`; what is tested here is all around it."""

    def multiply(x: Tensor, y: Tensor) -> Tensor:
        assert (x.dtype, y.dtype) == (torch.int8, torch.int8)
        return (x.double() @ y.double()).to(torch.int32)

    monkeypatch.setattr(torch, "_int_mm", multiply)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16], ids=str)
@pytest.mark.parametrize("out", [1, 37, 1024, 1061])
def test_written_out_has_the_bits_of_the_direct_product(
    kernels: NativeKernels, exact_int_mm: None, out: int, dtype: torch.dtype
):
    """In panels of 1024 channels."""
    found, levels, scales = quantise(3 * numbers(out, 320)), rows_of_levels(40, 320), numbers(out, seed=3)
    weight = pack_int4(found.levels, found.steps, found.lows)
    got = _multiply_written_out(kernels, levels, weight, scales, dtype)
    assert torch.equal(got, kernels.int4(levels, weight, scales, dtype))


def test_written_out_by_torch_itself(kernels: NativeKernels):
    """On the machines that it is for."""
    if not is_faster_written_out(kernels):
        pytest.skip("torch's product of whole numbers is slower here, or not exact")
    found, levels, scales = quantise(3 * numbers(1061, 4160)), rows_of_levels(70, 4160), numbers(1061, seed=3)
    weight = pack_int4(found.levels, found.steps, found.lows)
    got = _multiply_written_out(kernels, levels, weight, scales, torch.float32)
    assert torch.equal(got, kernels.int4(levels, weight, scales, torch.float32))


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_rows_written_out_have_the_bits_of_few(
    kernels: NativeKernels, exact_int_mm: None, monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, bias: bool
):
    weight, offsets = numbers(130, 576, dtype=dtype), numbers(130, dtype=dtype, seed=2) if bias else None
    linear = int4_of(weight, offsets, kernels, writes_out=True)
    x = numbers(90, 576, dtype=dtype, seed=3)
    check_sizes(linear, x)
    assert torch.equal(linear(x), int4_of(weight, offsets, kernels)(x))
    monkeypatch.setattr(native_linear, "_multiply_written_out", None)
    linear(x[: native_linear._MANY])
    with pytest.raises(TypeError):
        linear(x[: native_linear._MANY + 1])


@pytest.mark.parametrize("wrong", ["saturates", "is missing"])
def test_a_product_of_whole_numbers_that_is_wrong_is_not_used(
    kernels: NativeKernels, monkeypatch: pytest.MonkeyPatch, wrong: str
):
    def broken(x: Tensor, y: Tensor) -> Tensor:
        if wrong == "is missing":
            raise NotImplementedError("aten::_int_mm")
        return torch.full((len(x), y.shape[1]), 2**15 - 1, dtype=torch.int32)

    monkeypatch.setattr(torch, "_int_mm", broken)
    monkeypatch.setattr(native_linear, "least_seconds", lambda work: float(len([work()]) < 0))
    monkeypatch.setattr(native_linear, "only_torch_has_tiles", lambda: True)
    assert not is_faster_written_out(kernels)


@pytest.mark.parametrize(("tiles", "theirs", "faster"), [(True, 1.0, True), (True, 3.0, False), (False, 1.0, False)])
def test_what_is_faster_is_used(
    kernels: NativeKernels,
    exact_int_mm: None,
    monkeypatch: pytest.MonkeyPatch,
    tiles: bool,
    theirs: float,
    faster: bool,
):
    times = iter((2.0, theirs))
    monkeypatch.setattr(native_linear, "only_torch_has_tiles", lambda: tiles)
    monkeypatch.setattr(native_linear, "least_seconds", lambda work: next(times))
    assert is_faster_written_out(kernels) == faster


def test_bytes_and_overhead(kernels: NativeKernels):
    weight, bias = numbers(33, 128, dtype=torch.bfloat16), numbers(33, dtype=torch.bfloat16)
    int8, int4 = int8_of(weight, bias, kernels), int4_of(weight, bias, kernels)
    channels = 64 if kernels.is_wide else 33  # of a panel 32 lie together
    assert int8.weight_bytes == channels * 128 + 33 * 4 + 33 * 2
    assert int4.weight_bytes == 40 * 128 * (0.5 + 2 / GROUP) + 33 * 4 + 33 * 2  # eight channels lie together
    assert NativeHalfLinear(weight, None, kernels).weight_bytes == 33 * 128 * 2
    assert NativeHalfLinear(weight, bias, kernels).weight_bytes == 33 * 128 * 2 + 33 * 4
    coded = NativeHalfLinear(WeightRows.of(weight), bias, kernels)
    strays = coded.packed[-1].numel()
    assert coded.weight_bytes == 64 * 128 * 1.5 + 2 * (16 + 4) + 4 * strays + 33 * 4
    assert strays < 10
    assert (int8.overhead, int4.overhead, NativeHalfLinear(weight, None, kernels).overhead) == (0, 0, 0)
    assert int4_of(weight, bias, kernels, writes_out=True).overhead == OVERHEAD


# --- who gets them


@pytest.fixture
def old_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As one without AVX512, VNNI and AMX: torch neither adds int8 up exactly nor multiplies half precision."""

    def refuse() -> None:
        raise UnsupportedModelError("This CPU does not multiply int8 exactly. Use bfloat16 or auto.")

    monkeypatch.setattr(int8_linear, "probe", refuse)
    monkeypatch.setattr(device_module, "only_torch_has_tiles", lambda: False)
    monkeypatch.setattr(int8_linear, "only_torch_has_tiles", lambda: False)
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: False)
    monkeypatch.setattr(device_module, "has_native_bfloat16", lambda: False)
    monkeypatch.setattr(device_module, "_has_native_float16", lambda: False)
    found = native_library.load()
    with nullcontext() if found is None else found.narrow():
        yield


def test_an_old_cpu_gets_them(kernels: NativeKernels, old_cpu: None):
    int8 = LinearFactory(Precision(torch.float32, "int8"), kernels=kernels)
    assert type(int8(numbers(33, 17))) is NativeInt8Linear
    assert type(int8(numbers(33, BLOCK_NUMBERS - WIDTH_UNIT))) is NativeInt8Linear
    assert type(int8(numbers(33, BLOCK_NUMBERS))) is NativeSevenBitLinear
    assert type(int8(numbers(33, BLOCK_NUMBERS + WIDTH_UNIT))) is NativeSevenBitLinear
    int4 = LinearFactory(Precision(torch.float32, "int4"), kernels=kernels)
    assert type(int4(numbers(33, 2 * WIDTH_UNIT))) is NativeInt4Linear
    assert type(int4(numbers(33, 3 * GROUP))) is NativeInt8Linear  # of half a pair of groups
    assert int8.takes_head_rows(64)
    assert int4.takes_head_rows(64)
    for held in HALVES:
        half, weight = LinearFactory(Precision(torch.float32, held=held), kernels=kernels), numbers(33, 17, dtype=held)
        for linear in (half(weight, numbers(33)), half.head(weight)):
            assert type(linear) is NativeHalfLinear
            assert linear.packed[0].data_ptr() == weight.data_ptr()
    plain = LinearFactory(Precision(torch.float32), kernels=kernels)
    assert type(plain(numbers(33, 17))) in (PackedLinear, PlainLinear)


def test_a_cpu_that_is_fast_with_eight_bits_keeps_torch_for_them(
    kernels: NativeKernels, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(int8_linear, "is_preferred", lambda: True)
    monkeypatch.setattr(linear_module, "is_faster_written_out", lambda kernels: True)
    int8 = LinearFactory(Precision(torch.bfloat16, "int8"), kernels=kernels)
    assert type(int8(numbers(32, 64))) is type(int8.head(numbers(32, 64))) is Int8Linear
    int4 = LinearFactory(Precision(torch.bfloat16, "int4"), kernels=kernels)
    linear = int4(numbers(32, 64))
    assert (type(linear), linear.overhead) == (NativeInt4Linear, OVERHEAD)
    assert type(int4(numbers(32, 96))) is type(int4.head(numbers(32, 64))) is Int8Linear


@pytest.mark.parametrize("quantised", ["int8", "int4"])
def test_without_kernels_an_old_cpu_cannot(old_cpu: None, quantised: str):
    with pytest.raises(UnsupportedModelError, match=r"does not multiply int8 exactly.*Use bfloat16 or auto"):
        LinearFactory(Precision(torch.float32, quantised))  # type: ignore[arg-type]


def test_elsewhere_than_on_the_cpu_they_are_of_no_use(kernels: NativeKernels):
    linear = LinearFactory(Precision(torch.float32, held=torch.bfloat16), torch.device("meta"), kernels=kernels)
    assert type(linear(torch.empty(16, 8, device="meta"))) is PlainLinear


# --- networks


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[Shape, Path]:
    """Models whose linears can all be of four bits."""
    shapes: tuple[Shape, ...] = ("llama-3.2", "llama-3.1", "qwen2")
    root = tmp_path_factory.mktemp("models")
    return {shape: write_tiny_llama(root / shape, shape, intermediate_size=3 * WIDTH_UNIT) for shape in shapes}


@pytest.fixture(scope="module")
def plain_logits(folders: dict[Shape, Path]) -> dict[Shape, Tensor]:
    """Those of the same models in float32."""
    return {shape: logits(load(folder, "float32")) for shape, folder in folders.items()}


def load(folder: Path, dtype: str) -> Llama:
    return load_model(folder, dtype=dtype, device="cpu", threads=1).network


@torch.inference_mode()
def logits(network: Llama) -> Tensor:
    """Of a prompt in one piece, which are those of the same in several."""
    prompt = list(range(5, 45))
    found: list[Tensor] = []
    with torch_threads(1):
        for pieces in ([40], [30, *5 * [1], 5]):
            slot = KVCache(network.config, network.dtype, CPU, 2**26).acquire("a", [0] * 60)
            rows: list[Tensor] = []
            for count in pieces:
                piece = prompt[len(slot.tokens) :][:count]
                rows.append(network.forward([Segment(slot, piece, count, is_prompt=count > 1)]))
                slot.tokens = slot.tokens + piece
            found.append(torch.cat(rows))
    assert torch.equal(found[0], found[1])
    return found[0]


def held_bytes(network: Llama) -> int:
    """Of all tensors, each counted once."""
    linears = sum(linear.weight_bytes for linear in network.linears)
    is_shared = network.embedding.rows.data_ptr() in {weight.data_ptr() for weight in network.head.packed}
    return linears + (0 if is_shared else network.embedding.weight_bytes)


@pytest.mark.parametrize(
    ("shape", "dtype", "inner", "head", "error"),
    [
        ("llama-3.2", "int8", NativeInt8Linear, NativeInt8Linear, 0.05),
        ("llama-3.1", "int8", NativeInt8Linear, NativeInt8Linear, 0.05),
        ("llama-3.2", "int4", NativeInt4Linear, NativeInt8Linear, 0.5),
        ("qwen2", "int4", NativeInt4Linear, NativeInt8Linear, 0.5),
        ("llama-3.2", "bfloat16", NativeHalfLinear, NativeHalfLinear, 0.02),
        ("llama-3.1", "bfloat16", NativeHalfLinear, NativeHalfLinear, 0.02),
        ("llama-3.2", "float16", NativeHalfLinear, NativeHalfLinear, 0.003),
        ("qwen2", "auto", NativeHalfLinear, NativeHalfLinear, 0.02),
    ],
)
def test_a_network_of_them(
    kernels: NativeKernels,
    old_cpu: None,
    folders: dict[Shape, Path],
    plain_logits: dict[Shape, Tensor],
    shape: Shape,
    dtype: str,
    inner: type,
    head: type,
    error: float,
):
    network = load(folders[shape], dtype)
    assert {type(linear) for linear in network.linears[:-1]} == {inner}
    assert type(network.head) is head
    assert network.dtype == torch.float32
    assert network.is_exact
    want = plain_logits[shape]
    assert (logits(network) - want).norm() / want.norm() < error

    is_tied = shape != "llama-3.1"
    assert network.embedding.rows.dtype == _TABLES.get(dtype, torch.uint8)
    assert (network.head.packed[0].data_ptr() == network.embedding.rows.data_ptr()) == is_tied
    assert network.weight_bytes == held_bytes(network)
    # Norms, biases and the scales of channels are what else differs.
    channels = sum(8 * len(linear.packed[0]) for linear in network.linears)  # of four bits eight lie together
    norms = (2 * len(network.blocks) + 1) * network.config.hidden_size
    difference = plan_load(folders[shape], dtype, "cpu").weight_bytes - network.weight_bytes
    assert -(channels + network.config.vocab_size) * 8 <= difference <= norms * network.dtype.itemsize


def test_a_tied_table_is_in_memory_once(kernels: NativeKernels, old_cpu: None, folders: dict[Shape, Path]):
    network = load(folders["llama-3.2"], "bfloat16")
    assert network.weight_bytes == byte_count(*(weight for linear in network.linears for weight in linear.packed))
    row, held = network.look_up(torch.tensor([3])), network.head(torch.eye(network.config.hidden_size))
    assert row.dtype == torch.float32
    assert torch.equal(row, held[:, [3]].t())


def test_widths_that_four_bits_cannot_have(kernels: NativeKernels, old_cpu: None, tmp_path: Path):
    network = load(write_tiny_llama(tmp_path, "smollm2"), "int4")
    assert {type(linear) for linear in network.linears} == {NativeInt8Linear}
    logits(network)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_pieces_of_prompts_are_fine_where_rows_cost_the_same_in_any_number(
    kernels: NativeKernels, old_cpu: None, folders: dict[Shape, Path], dtype: str
):
    network = load_model(folders["llama-3.2"], dtype=dtype, device="cpu", threads=1).network
    tokens = _token_budget(network).tokens(1)
    assert tokens == 2 * FINE_TILE if dtype != "float32" else tokens > 2 * FINE_TILE


@pytest.mark.parametrize("dtype", ["int8", "int4"])
@pytest.mark.parametrize("shape", ["llama-3.2", "llama-3.1"])
def test_the_estimate_knows_what_a_group_takes(
    kernels: NativeKernels, old_cpu: None, tmp_path: Path, shape: Shape, dtype: str
):
    folder = write_tiny_llama(tmp_path, shape, hidden_size=256, intermediate_size=1024, vocab_size=4096)
    network = load_model(folder, dtype=dtype, device="cpu", threads=1).network
    # What remains are norms, and the scales of channels in four bits.
    assert plan_load(folder, dtype, "cpu").weight_bytes == pytest.approx(network.weight_bytes, rel=0.02)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_plain_weights_do_not_wait_until_torchs_int8_is_tried(
    kernels: NativeKernels, monkeypatch: pytest.MonkeyPatch, folders: dict[Shape, Path], dtype: str
):
    monkeypatch.setattr(int8_linear, "works", None)
    load_model(folders["llama-3.2"], dtype=dtype, device="cpu")
    assert plan_load(folders["llama-3.2"], dtype, "cpu").weight_bytes > 0


def test_so_they_are_in_seven_bits(kernels: NativeKernels, old_cpu: None, tmp_path: Path):
    folder = write_tiny_llama(tmp_path, "llama-3.2", hidden_size=256, intermediate_size=512)
    network = load_model(folder, dtype="int8", device="cpu", threads=1).network
    assert type(network.head) is NativeSevenBitLinear
    assert _token_budget(network).tokens(1) == 2 * FINE_TILE


@pytest.mark.parametrize("width", [8, 24, 64, 2048])
def test_a_router_has_the_same_bits_in_calls_of_any_size(kernels: NativeKernels, width: int):
    linear = NativeRouterLinear(numbers(13, width), kernels)
    x = numbers(90, width, seed=2)
    want = linear(x)
    torch.testing.assert_close(want, x @ linear.weight.t(), atol=1e-4, rtol=1e-5)
    for count in COUNTS:
        assert torch.equal(linear(x[90 - count :]), want[90 - count :])
    with torch_threads(3):
        assert torch.equal(linear(x), want)
    with pytest.raises(ValueError, match="rows of 12 for a weight of"):
        linear(x[:, :1].expand(90, 12))


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "int4"])
def test_a_mixture_is_cut_as_finely_as_others(tmp_path: Path, kernels: NativeKernels, dtype: str):
    network = load_model(write_tiny_llama(tmp_path, "qwen3-moe"), dtype=dtype).network
    if device_module.only_torch_has_tiles():
        pytest.skip("torch's products take larger tiles here")
    assert network.is_exact
    assert _token_budget(network).tokens(1) == 2 * FINE_TILE
