"""Our own kernels: right numbers, the same bits in calls of any size and on any threads, or torch's instead."""

import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.device import torch_threads
from llama_gui.engine.int4_levels import GROUP, quantise
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.packed_weights import PANEL_CHANNELS, CodedPanels, Int4Packed, Panels, pack_int4
from llama_gui.engine.quantised_linear import quantise_rows
from llama_gui.engine.weight_rows import WeightRows
from tests.engine.this_machine import as_multiplied, half_forms, int8_forms

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
HALVES = (torch.bfloat16, torch.float16)
MANY = 600
COUNTS = (*range(1, 71), MANY)
CHANNELS = (1, 15, 37, 100)
# The two odd ones are of eight bits and half precision only; of four bits there are pairs of groups.
WIDTHS = (64, 100, 576, 1024, 1025, 2048, 4128)
INT4_WIDTHS = (64, 576, 1024, 2048, 4160)
ROOT = Path(__file__).resolve().parents[2]


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def whole(low: int, high: int, *shape: int, seed: int = 1) -> Tensor:
    return torch.randint(low, high + 1, shape, generator=torch.Generator().manual_seed(seed))


def rows_of_levels(count: int, width: int) -> Tensor:
    """The first are the largest that there are, of one sign and of both."""
    levels = whole(-127, 127, count, width, seed=2).to(torch.int8)
    levels[0] = 127
    levels[1:2], levels[2:3, ::2], levels[2:3, 1::2] = -127, 127, -127
    return levels


def int8_weight(out: int, width: int) -> Tensor:
    weight = whole(-128, 127, out, width).to(torch.int8)
    weight[0] = -128
    weight[1:2], weight[2:3, ::2], weight[2:3, 1::2], weight[3:4] = 127, -128, 127, 0
    return weight


def int4_weight(out: int, width: int) -> tuple[Int4Packed, Tensor]:
    """And what it holds, ``[out, in]``; the first channels reach the ends of eight bits."""
    levels, steps = whole(0, 15, out, width), whole(1, 17, out, width // GROUP, seed=2)
    lows = torch.minimum(whole(-128, 127, out, width // GROUP, seed=3), 127 - 15 * steps)
    steps[0], lows[0] = 17, -128
    levels[0], levels[1:2] = 0, 15
    values = torch.addcmul(lows.unsqueeze(2), levels.unflatten(1, (-1, GROUP)), steps.unsqueeze(2)).flatten(1)
    return pack_int4(levels, steps, lows), values


def exact(levels: Tensor, weight: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
    """Whole sums, rounded to float32 as they are, scaled, and rounded once more."""
    return ((levels.double() @ weight.double().t()).float() * scales).to(dtype)


def check_sizes(multiply: Callable[[Tensor], Tensor], x: Tensor, want: Tensor) -> None:
    """All calls have the rows of `want`: of any size, from the beginning or the end, in any order."""
    assert torch.equal(multiply(x), want)
    mixed = torch.randperm(len(x), generator=torch.Generator().manual_seed(4))
    with torch_threads(1):  # on a busy machine every call would wait for its second thread
        assert [n for n in COUNTS if not torch.equal(multiply(x[:n]), want[:n])] == []
        assert [n for n in COUNTS[::7] if not torch.equal(multiply(x[-n:]), want[-n:])] == []
        for count in (7, 24, 25, 61, len(x)):
            assert torch.equal(multiply(x[mixed[:count]]), want[mixed[:count]])


# --- numbers


@pytest.mark.parametrize("width", [8, 200, 2048])
def test_the_norm_of_rows(kernels: NativeKernels, width: int):
    generator = torch.Generator().manual_seed(1)
    x, weight = 3 * torch.randn(5, 2 * width, generator=generator)[:, :width], torch.randn(width, generator=generator)
    got = kernels.norm(x, weight, 1e-5)
    torch.testing.assert_close(
        got, F.rms_norm(x.double(), (width,), weight.double(), 1e-5).float(), rtol=1e-5, atol=1e-6
    )
    assert torch.equal(kernels.norm(x[2:3], weight, 1e-5), got[2:3])


@pytest.mark.parametrize("width", [8, 1024, 1032, 3080])
def test_gelu(kernels: NativeKernels, width: int):
    """In stretches that end within a row."""
    x, by = 4 * numbers(5, width, seed=1), numbers(5, width, seed=2)
    want = F.gelu(x.double(), approximate="tanh")
    torch.testing.assert_close(kernels.gelu(x), want.float(), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(kernels.gelu(x, by), (want * by.double()).float(), rtol=1e-5, atol=1e-6)
    assert torch.equal(kernels.gelu(x[2:3]), kernels.gelu(x)[2:3])
    with pytest.raises(ValueError, match=r"\(5, 7\)"):
        kernels.gelu(x[:, :7])
    with pytest.raises(ValueError, match=rf"\(5, {width}\), by \(1, {width}\)"):
        kernels.gelu(x, by[:1])


@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("width", WIDTHS)
def test_int8_is_exact_in_calls_of_any_size(kernels: NativeKernels, width: int, out: int):
    x, weight, scales = rows_of_levels(MANY, width), int8_weight(out, width), numbers(out, seed=3)
    want = exact(x, weight, scales, torch.float32)
    for form in int8_forms(kernels, weight):
        check_sizes(lambda x, form=form: kernels.int8(x, form, scales, torch.float32), x, want)


@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("width", INT4_WIDTHS)
def test_int4_is_exact_in_calls_of_any_size(kernels: NativeKernels, width: int, out: int):
    x, scales = rows_of_levels(MANY, width), numbers(out, seed=3)
    weight, values = int4_weight(out, width)
    check_sizes(lambda x: kernels.int4(x, weight, scales, torch.float32), x, exact(x, values, scales, torch.float32))


@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("width", INT4_WIDTHS)
def test_int4_is_written_out_as_it_is(kernels: NativeKernels, width: int, out: int):
    weight, values = int4_weight(out, width)
    assert weight.width == width
    for channels in (slice(None), slice(0, 1), slice(out // 2, out), slice(out, out)):
        got = kernels.expand(weight, channels)
        assert got.dtype == torch.int8
        assert torch.equal(got.long(), values[channels])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("out", CHANNELS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.sampled(24)
def test_half_has_the_same_bits_in_calls_of_any_size(kernels: NativeKernels, width: int, out: int, dtype: torch.dtype):
    x, weight, bias = numbers(MANY, width), numbers(out, width, dtype=dtype, seed=2), numbers(out, seed=3)
    x = as_multiplied(kernels, x, dtype)
    want = x.double() @ weight.double().t() + bias.double()
    # 64 products in each lane of a block, each rounded; in panels all of a row.
    room = 1e-5 * (x.double().abs() @ weight.double().abs().t() + bias.double().abs())
    for form in half_forms(kernels, weight):
        got = kernels.half(x, form, bias)
        assert ((got - want).abs() <= room).all()
        check_sizes(lambda x, form=form: kernels.half(x, form, bias), x, got)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_half_is_exact_where_nothing_is_rounded(kernels: NativeKernels, width: int, dtype: torch.dtype):
    """No product is missing or counted twice."""
    x, weight, bias = whole(-60, 60, MANY, width), whole(-60, 60, 37, width, seed=2), whole(-9, 9, 37, seed=3)
    product = x.double() @ weight.double().t()
    assert product.abs().max() < 2**24
    for rows in (1, 2, 3, 4, 7, 24, 25, 28, 31, MANY):
        for form in half_forms(kernels, weight.to(dtype)):
            assert torch.equal(kernels.half(x[:rows].float(), form, None).double(), product[:rows])
            assert torch.equal(kernels.half(x[:rows].float(), form, bias.float()).double(), product[:rows] + bias)


@pytest.mark.parametrize("rows", [1, 3, 24, 64])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_number_of_half_precision_is_read_as_it_is(kernels: NativeKernels, dtype: torch.dtype, rows: int):
    every = torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)
    weight = torch.where(every.isfinite(), every, torch.zeros_like(every)).view(-1, 64)
    for form in half_forms(kernels, weight):
        want = weight.t().float()
        if isinstance(form, CodedPanels) and kernels.rounds_rows:  # what is smaller is lost
            want[want.abs() < torch.finfo(dtype).tiny] = 0
        got = torch.cat([kernels.half(part, form, None) for part in torch.eye(64).split(rows)])
        assert torch.equal(got, want)


# --- results


@pytest.mark.parametrize("bits", ["eight", "four"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_results_are_rounded_as_torch_does(kernels: NativeKernels, dtype: torch.dtype, bits: str):
    """Sums of one times scales of any bits: ties, too large and too small ones, infinite ones and such as are none."""
    any_bits = whole(-(2**31), 2**31 - 1, 4000).to(torch.int32).view(torch.float32)
    moderate = numbers(4000, seed=2) * torch.exp2(whole(-30, 17, 4000, seed=3).float())
    ties = ((whole(-(2**15), 2**15 - 1, 4000, seed=4) << 16) + 2**15).to(torch.int32).view(torch.float32)
    half_ties = (whole(0, 2**11 - 1, 4000, seed=5) * 2 + 1).float() * torch.exp2(whole(-27, 4, 4000, seed=6).float())
    ends = [0.0, -0.0, 65504.0, 65519.9, 65520.0, 6e-8, 2.9e-8, 1e-45, 3.38e38, 3.4e38]
    others = [float("inf"), -float("inf"), float("nan")]
    scales = torch.cat([any_bits, moderate, ties, half_ties, torch.tensor(ends + others)])
    x = torch.zeros(10, 64, dtype=torch.int8)
    x[:, 0] = torch.tensor([1, -1, 0, 2, 3, 127, -127, 1, 1, 1])
    one = torch.zeros(len(scales), 64, dtype=torch.int64)
    one[:, 0] = 1
    if bits == "eight":
        results = [kernels.int8(x, form, scales, dtype) for form in int8_forms(kernels, one.to(torch.int8))]
    else:
        ones, zeros = torch.ones(len(scales), 2), torch.zeros(len(scales), 2)
        results = [kernels.int4(x, pack_int4(one, ones, zeros), scales, dtype)]
    want = (x[:, :1].float() * scales).to(dtype)
    assert want.isnan().any()
    assert want.isinf().any()
    for got in results:
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
        assert torch.equal(got.signbit() | got.isnan(), want.signbit() | want.isnan())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 6, 70])
def test_large_sums_are_rounded_once_before_they_are_scaled(kernels: NativeKernels, rows: int, dtype: torch.dtype):
    """Beyond 2^24, where float32 has gaps."""
    x, weight, scales = rows_of_levels(rows, 4160), int8_weight(37, 4160), numbers(37, seed=3) / 2**24
    assert (x.double() @ weight.double().t()).abs().max() > 2**25
    for form in int8_forms(kernels, weight):
        got = kernels.int8(x, form, scales, dtype)
        assert got.dtype == dtype
        assert torch.equal(got, exact(x, weight, scales, dtype))
    packed, values = int4_weight(37, 4160)
    assert torch.equal(kernels.int4(x, packed, scales, dtype), exact(x, values, scales, dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 6, 70])
def test_rows_have_scales_too(kernels: NativeKernels, rows: int, dtype: torch.dtype):
    """After those of the channels, and before the one rounding."""
    x, scales, row_scales = rows_of_levels(rows, 576), numbers(37, seed=3), numbers(70, seed=4)[:rows] / 2**16
    weight, (packed, values) = int8_weight(37, 576), int4_weight(37, 576)
    row_scales[0] = float("nan")
    want = (exact(x, weight, scales, torch.float32) * row_scales.unsqueeze(1)).to(dtype)
    for form in int8_forms(kernels, weight):
        got = kernels.int8(x, form, scales, dtype, row_scales)
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    want = (exact(x, values, scales, torch.float32) * row_scales.unsqueeze(1)).to(dtype)
    got = kernels.int4(x, packed, scales, dtype, row_scales)
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("rows", [2, 40])
def test_what_is_no_number_stays_in_its_row(kernels: NativeKernels, rows: int):
    x, weight = numbers(rows, 100), numbers(37, 100, dtype=torch.bfloat16, seed=2)
    want = kernels.half(x, weight, None)
    x[1, 99] = float("nan")
    got = kernels.half(x, weight, None)
    assert got[1].isnan().all()
    assert torch.equal(got[0], want[0])
    assert torch.equal(got[2:], want[2:])
    weight[5, 3] = float("inf")
    assert kernels.half(x, weight, None)[0, 5].isinf()


def test_no_rows(kernels: NativeKernels):
    levels, scales = torch.empty(0, 128, dtype=torch.int8), torch.ones(37)
    for dtype in DTYPES:
        for got in (
            kernels.int8(levels, int8_weight(37, 128), scales, dtype),
            kernels.int4(levels, int4_weight(37, 128)[0], scales, dtype),
        ):
            assert (got.shape, got.dtype) == ((0, 37), dtype)
    assert kernels.half(torch.empty(0, 100), numbers(37, 100, dtype=torch.float16), None).shape == (0, 37)


def test_the_operands_are_left_as_they_are(kernels: NativeKernels):
    levels, weight, scales = rows_of_levels(40, 100), int8_weight(37, 100), numbers(37)
    kernels.int8(levels, weight, scales, torch.float32)
    assert torch.equal(levels, rows_of_levels(40, 100))
    assert torch.equal(weight, int8_weight(37, 100))
    x, half = numbers(40, 100), numbers(37, 100, dtype=torch.float16)
    kernels.half(x, half, scales)
    assert torch.equal(x, numbers(40, 100))
    assert torch.equal(half, numbers(37, 100, dtype=torch.float16))
    assert torch.equal(scales, numbers(37))


# --- threads


@pytest.mark.parametrize("out", [1, 37, 100])
def test_the_number_of_threads_changes_no_bit(kernels: NativeKernels, out: int):
    """Also not where there are more of them than channels."""
    levels, int8, scales = rows_of_levels(70, 2048), int8_weight(out, 2048), numbers(out, seed=3)
    int4, _ = int4_weight(out, 2048)
    x, half = numbers(70, 2048), numbers(out, 2048, dtype=torch.bfloat16, seed=2)

    def results(rows: int) -> list[Tensor]:
        return [
            kernels.int8(levels[:rows], int8, scales, torch.bfloat16),
            kernels.int4(levels[:rows], int4, scales, torch.bfloat16),
            kernels.expand(int4, slice(None)),
            kernels.half(x[:rows], half, scales),
        ]

    found: dict[int, list[Tensor]] = {}
    for count in (1, 2, 3):
        with torch_threads(count):
            found[count] = [result for rows in (1, 5, 24, 25, 70) for result in results(rows)]
    for count in (2, 3):
        assert all(torch.equal(a, b) for a, b in zip(found[count], found[1], strict=True))


def test_calls_of_two_threads_do_not_meet(kernels: NativeKernels):
    x, weight = numbers(70, 1025), numbers(100, 1025, dtype=torch.bfloat16, seed=2)
    levels, scales = rows_of_levels(70, 1024), numbers(100, seed=3)
    int4, _ = int4_weight(100, 1024)
    wants = kernels.half(x, weight, None), kernels.int4(levels, int4, scales, torch.float32)
    wrong: list[int] = []

    def work() -> None:
        for attempt in range(20):
            gots = kernels.half(x, weight, None), kernels.int4(levels, int4, scales, torch.float32)
            if not all(torch.equal(got, want) for got, want in zip(gots, wants, strict=True)):
                wrong.append(attempt)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which libraries a process has")
def test_their_threads_are_those_of_torch(kernels: NativeKernels):
    """With another OpenMP `torch.set_num_threads` would say nothing to them."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    names = {Path(line.split()[-1]).name.split(".")[0].split("-")[0] for line in maps if ".so" in line}
    assert names & {"libgomp", "libomp", "libomp5", "libiomp5"} in ({"libgomp"}, {"libomp"}, {"libiomp5"})
    assert len({line.split()[-1] for line in maps if "libgomp" in line}) <= 1


def test_where_memory_is_short_a_call_says_so(kernels: NativeKernels, monkeypatch: pytest.MonkeyPatch):
    for name in ("_int8", "_int4", "_half", "_expand", "_quantise", "_int4_round"):
        monkeypatch.setattr(kernels, name, lambda *arguments: 1)
    levels, scales, (int4, _) = rows_of_levels(2, 64), numbers(4), int4_weight(4, 64)
    calls: list[Callable[[], object]] = [
        lambda: kernels.int8(levels, int8_weight(4, 64), scales, torch.float32),
        lambda: kernels.int4(levels, int4, scales, torch.float32),
        lambda: kernels.expand(int4, slice(None)),
        lambda: kernels.half(numbers(2, 64), numbers(4, 64, dtype=torch.float16), None),
        lambda: kernels.quantise(numbers(2, 64)),
        lambda: kernels.round_int4(numbers(4, 64), int4, scales),
    ]
    for call in calls:
        with pytest.raises(MemoryError, match="no memory"):
            call()


def test_levels_of_an_infinite_row_stay_in_range(kernels: NativeKernels):
    x = torch.randn(2, 64, generator=torch.Generator().manual_seed(1))
    x[0, 3], x[1, 2] = float("inf"), -float("inf")
    levels, scales = kernels.quantise(x)
    assert levels.min() >= -127
    weight = torch.randint(-127, 128, (4, 64)).to(torch.int8)
    assert kernels.int8(levels, weight, torch.ones(4), torch.float32, scales).isnan().all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 70])
@pytest.mark.parametrize("width", [1, 7, 8, 64, 100, 1025])
def test_rows_of_any_dtype_and_width_are_rounded_to_eight_bits(
    kernels: NativeKernels, width: int, rows: int, dtype: torch.dtype
):
    x = numbers(rows, width, dtype=dtype)
    x[-1] = 0
    levels, scales = kernels.quantise(x)
    assert levels.shape == x.shape
    want_levels, want_scales = quantise_rows(x, torch.float32)
    assert torch.equal(scales, want_scales.squeeze(1))
    assert torch.equal(levels, want_levels)
    assert int(levels[0].abs().max()) == (127 if rows > 1 else 0)


def _weights(kind: str, out: int, width: int) -> Tensor:
    weight = 0.02 * numbers(out, width)
    match kind:
        case "outliers":
            weight[:, 7::300] *= 200
        case "one size":  # as heavy as can be: the sums of the whole numbers would not fit
            weight = weight.sign() * 0.37
        case "zero":
            weight.zero_()
        case "one sign":
            weight = weight.abs() + 0.01
        case "tiny":
            weight *= 1e-36
        case "huge":
            weight *= 1e38
        case _:
            pass
    return weight


@pytest.mark.parametrize("kind", ["normal", "outliers", "one size", "zero", "one sign", "tiny", "huge"])
@pytest.mark.parametrize(("out", "width"), [(1, 64), (8, 128), (37, 576), (20, 2048), (9, 4160), (3, 14336)])
def test_weights_are_rounded_to_four_bits_as_torch_does_it(kernels: NativeKernels, out: int, width: int, kind: str):
    weight = _weights(kind, out, width)
    for dtype in (torch.float32, torch.bfloat16):
        some = weight.to(dtype)
        found = quantise(some.float())
        got, want, scales = Int4Packed.empty(out, width), pack_int4(found.levels, found.steps, found.lows), numbers(out)
        kernels.round_int4(some, got, scales)
        assert torch.equal(scales, found.scales)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(got.tensors, want.tensors, strict=True))


def test_every_weight_of_float16_can_be_rounded_to_four_bits(kernels: NativeKernels):
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    weight = bits[bits.isfinite()].view(-1, 64)
    found = quantise(weight.float())
    got, scales = Int4Packed.empty(*weight.shape), torch.empty(len(weight))
    kernels.round_int4(weight, got, scales)
    assert torch.equal(kernels.expand(got, slice(None)).float(), found.values)
    assert torch.equal(scales, found.scales)


def test_weights_are_rounded_to_where_they_belong(kernels: NativeKernels):
    """Nothing else is touched, and the channels that only fill up the last block are zero."""
    weight, to, scales = numbers(13, 64), Int4Packed.empty(29, 64), torch.full((29,), 5.0)
    for tensor in to.tensors:
        tensor.fill_(99)
    kernels.round_int4(weight, to, scales, 16)
    assert all((tensor[:2] == 99).all() for tensor in to.tensors)
    assert (scales[:16] == 5).all()
    whole_weight, whole_scales = Int4Packed.empty(13, 64), torch.empty(13)
    kernels.round_int4(weight, whole_weight, whole_scales)
    assert all(torch.equal(a[2:], b) for a, b in zip(to.tensors, whole_weight.tensors, strict=True))
    assert torch.equal(scales[16:], whole_scales)
    assert not to.steps[-1].view(-1, 8, 2)[:, 5:].any()


def test_channels_of_a_panel_lie_side_by_side(kernels: NativeKernels):
    """Nothing else is touched, and the channels that only fill up the last panel are zero."""
    weight, to = whole(-127, 127, 40, 96).to(torch.int8), Panels.empty(3 * PANEL_CHANNELS + 8, 96)
    to.numbers.fill_(99)
    kernels.place_panels(weight, to, 2 * PANEL_CHANNELS)
    assert to.width == 96
    assert (to.numbers[:2] == 99).all()
    for channel in (0, 31, 32, 39):
        found = to.numbers[2 + channel // PANEL_CHANNELS, :, channel % PANEL_CHANNELS]
        assert torch.equal(found, weight[channel].view(-1, 4))
    assert not to.numbers[3, :, 8:].any()


def test_rows_are_taken_out_of_panels(kernels: NativeKernels):
    weight = whole(-127, 127, 40, 2048).to(torch.int8)
    panels, channels = kernels.panels(weight), torch.tensor([39, 0, 32, 31, 0])
    assert torch.equal(panels.rows(channels), weight[channels])
    assert panels.rows(channels[:0]).shape == (0, 2048)
    for missing in (40, 63, -1):
        with pytest.raises(IndexError, match=f"{missing} of 40"):
            panels.rows(torch.tensor([missing]))


# --- bfloat16 in codes


@pytest.fixture
def scattered() -> torch.Tensor:
    """A weight in bfloat16, bits of any kind among its numbers, at both ends of a row and one behind the other."""
    weight = numbers(75, 1032, dtype=torch.bfloat16)
    odd = whole(-(2**15), 2**15 - 1, 60).to(torch.int16).view(torch.bfloat16)
    weight[0, :20], weight[40, -20:], weight[74, 500:520] = odd.split(20)
    weight[70, 0], weight[70, -1], weight[3, 4] = float("nan"), float("-inf"), -0.0
    return weight


def bits(weight: torch.Tensor) -> torch.Tensor:
    return weight.view(torch.int16)


def test_codes_lose_nothing(kernels: NativeKernels, scattered: torch.Tensor):
    coded = kernels.coded(WeightRows.of(scattered))
    assert (coded.channels, coded.width, coded.has_many_strays) == (75, 1032, False)
    assert coded.pairs.numel() == 96 * 1032 * 3 / 2  # 32 channels lie together
    assert torch.equal(bits(kernels.coded_rows(coded, torch.arange(75))), bits(scattered))
    channels = torch.tensor([74, 0, 32, 31, 0, 40])
    assert torch.equal(bits(kernels.coded_rows(coded, channels)), bits(scattered[channels]))
    assert kernels.coded_rows(coded, channels[:0]).shape == (0, 1032)
    for missing in (75, 95, -1):
        with pytest.raises(IndexError, match=f"{missing} of 75"):
            kernels.coded_rows(coded, torch.tensor([missing]))


def test_strays_are_multiplied_as_what_they_are(kernels: NativeKernels):
    """At every place of two pairs, by few and by many rows."""
    weight = torch.exp2(torch.arange(-8.0, 24, 2)).repeat(16).view(32, 8).bfloat16()  # 16 upper bytes
    for place in range(weight.numel()):
        one = weight.clone()
        one.view(-1)[place] = 2.0**-30
        coded = kernels.coded(WeightRows.of(one))
        assert len(coded.strays) == 2
        for rows in (1, 4, 8):
            assert torch.equal(kernels.half(torch.eye(8)[-rows:], coded, None), one.t()[-rows:].float())


def test_codes_are_the_same_however_the_weight_comes(kernels: NativeKernels, scattered: torch.Tensor):
    whole_weight, parts = kernels.coded(WeightRows.of(scattered)), scattered.split([3, 40, 31, 1])
    in_parts = kernels.coded(WeightRows(75, 1032, parts))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(in_parts.tensors, whole_weight.tensors, strict=True))
    finite = scattered.nan_to_num(posinf=0, neginf=0)
    finite[finite.abs() > 100] = 0
    x = as_multiplied(kernels, numbers(40, 1032, seed=2), torch.bfloat16)
    got = kernels.half(x, kernels.coded(WeightRows.of(finite)), None)
    assert torch.allclose(got, x @ finite.float().t(), atol=1e-3)


def test_weights_that_have_no_codes_are_noticed(kernels: NativeKernels):
    weight = whole(-(2**15), 2**15 - 1, 40, 64).to(torch.int16).view(torch.bfloat16)
    coded = kernels.coded(WeightRows.of(weight))
    assert coded.has_many_strays
    assert torch.equal(bits(kernels.coded_rows(coded, torch.arange(40))), bits(weight))
    with pytest.raises(ValueError, match="a weight of 66 inputs, which panels cannot have"):
        kernels.coded(WeightRows.of(torch.ones(2, 66)))


@pytest.mark.parametrize(
    ("shape", "first", "dtype"),
    [
        ((8, 128), 0, torch.int8),
        ((8, 64), 8, torch.int8),
        ((8, 64), 64, torch.int8),
        ((8, 64), 0, torch.bfloat16),
    ],
    ids=str,
)
def test_weights_that_have_no_place_in_panels_are_refused(
    kernels: NativeKernels, shape: tuple[int, int], first: int, dtype: torch.dtype
):
    with pytest.raises(ValueError, match=rf"from {first} on, for panels \[40, 64\]"):
        kernels.place_panels(torch.ones(shape, dtype=dtype), Panels.empty(40, 64), first)


@pytest.mark.parametrize(("shape", "first"), [((8, 128), 0), ((8, 64), 4), ((8, 64), 16), ((21, 64), 0)], ids=str)
def test_weights_that_have_no_place_are_refused(kernels: NativeKernels, shape: tuple[int, int], first: int):
    with pytest.raises(ValueError, match=rf"from {first} on, for a weight \[20, 64\]"):
        kernels.round_int4(numbers(*shape), Int4Packed.empty(20, 64), torch.empty(20), first)


def test_shapes_that_do_not_fit_are_refused(kernels: NativeKernels):
    weight = pack_int4(torch.ones(3, 64), torch.ones(3, 2), torch.ones(3, 2))
    with pytest.raises(ValueError, match="rows of 128 for a weight of 64"):
        kernels.int4(torch.ones(1, 128, dtype=torch.int8), weight, torch.ones(3), torch.float32)
    with pytest.raises(ValueError, match=r"rows of 64 in torch\.bfloat16"):
        kernels.half(torch.ones(1, 64, dtype=torch.bfloat16), torch.ones(3, 64, dtype=torch.bfloat16), None)
    for form in (int8 := torch.ones(3, 64, dtype=torch.int8), kernels.panels(int8)):
        with pytest.raises(ValueError, match="rows of 128 for a weight of 64"):
            kernels.int8(torch.ones(1, 128, dtype=torch.int8), form, torch.ones(3), torch.float32)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 511, 513, 32_000, 40_003, 128_256])
def test_log_mass(kernels: NativeKernels, size: int):
    for logits in (5 * numbers(size), numbers(size) - 1000, 100 * numbers(size)):
        want = float(torch.logsumexp(logits.double(), 0))
        found = kernels.log_mass(logits)
        assert found == pytest.approx(want, abs=1e-6 * max(10, abs(want)))
        with torch_threads(1):
            assert kernels.log_mass(logits) == found
        logits[size // 2] = -torch.inf
        assert size == 1 or kernels.log_mass(logits) == pytest.approx(float(torch.logsumexp(logits, 0)), abs=1e-3)


@pytest.mark.parametrize("size", [1, 9, 40_003])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_log_mass_of_what_is_not_finite(kernels: NativeKernels, size: int, bad: float):
    for place in {0, size // 2, size - 1}:
        logits = numbers(size)
        logits[place] = bad
        assert not math.isfinite(kernels.log_mass(logits))
    assert not math.isfinite(kernels.log_mass(torch.full((size,), -torch.inf)))


@pytest.mark.parametrize("size", [1, 9, 63, 64, 65, 511, 4_097, 40_003, 128_256])
@pytest.mark.parametrize("count", [1, 64, 512, 4_095])
def test_rank(kernels: NativeKernels, size: int, count: int):
    allowed = torch.full((size,), -torch.inf)
    allowed[torch.randperm(size, generator=torch.Generator().manual_seed(2))[: max(size // 100, 1)]] = 1.0
    for logits in (3 * numbers(size), numbers(size).round(), torch.zeros(size), numbers(size) + allowed, allowed):
        found = kernels.rank(logits, 0.7, count)
        assert found is not None
        mass, cooled, values, places = found
        order = logits.argsort(descending=True, stable=True)[:count]
        assert places == order.tolist()
        assert values == logits[order].tolist()
        assert mass == kernels.log_mass(logits)
        want = ((logits.double() - logits.double().max()) / 0.7).logsumexp(0)
        assert cooled == pytest.approx(float(want), abs=1e-5)
        with torch_threads(1):
            assert kernels.rank(logits, 0.7, count) == found


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_nothing_is_ranked_that_is_not_finite(kernels: NativeKernels, bad: float):
    for size in (1, 70, 40_003):
        logits = numbers(size)
        logits[size // 2] = bad
        assert kernels.rank(logits, 0.7, 64) is None
        assert kernels.rank(torch.full((size,), -torch.inf), 0.7, 64) is None


@pytest.mark.parametrize(("channels", "width"), [(1, 8), (3, 24), (4, 16), (9, 40), (48, 1536), (130, 72)])
def test_rows_times_a_weight_of_float32(kernels: NativeKernels, channels: int, width: int):
    """Whatever is multiplied beside a row, and in registers of either width, its bits are the same."""
    x, weight = numbers(MANY, width), numbers(channels, width, seed=2)
    whole_of = kernels.dots(x, weight)
    torch.testing.assert_close(whole_of, x @ weight.t(), rtol=1e-4, atol=1e-3)
    for rows in (1, 2, 3, 4, 5, 7, 63, 64, 65, 71):
        assert torch.equal(kernels.dots(x[5 : 5 + rows], weight), whole_of[5 : 5 + rows])
    with kernels.narrow():
        assert torch.equal(kernels.dots(x, weight), whole_of)
    one = torch.stack([kernels.dots(x, weight[c : c + 1])[:, 0] for c in range(channels)], 1)
    assert torch.equal(one, whole_of)
