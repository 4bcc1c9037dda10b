"""Attention by our own kernel beside torch's: every width, window and cache, the same bits in any cut of the rows."""

import math
from collections.abc import Iterator, Sequence

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine import native_library
from llama_gui.engine.attention_blocks import causal_mask
from llama_gui.engine.config import load_config
from llama_gui.engine.device import Precision, torch_threads
from llama_gui.engine.kv_cache import KVCache, Slot, kept_width, padded
from llama_gui.engine.loading import load_model
from llama_gui.engine.native_attention import NATIVE_BLOCKS, NativeSpans, serves
from llama_gui.engine.native_kernels import NativeKernels
from tests.engine.kept_heads import TOGETHER, kept_heads, lies_in_blocks, rounded_queries
from tests.engine.this_machine import keeps_int8, limited, register_widths
from tests.fakes.tiny_llama import write_tiny_llama


@pytest.fixture(scope="module", params=register_widths(products=False))
def kernels(request: pytest.FixtureRequest) -> Iterator[NativeKernels]:
    """As this CPU runs them and as older ones do."""
    found = native_library.load()
    if found is None:
        pytest.skip("there are no kernels: no C compiler when this was installed, or a CPU that they are not for")
    with limited(found, request.param):
        yield found


DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int8)
WINDOWS = (None, 1, 64, 90)
HEADS = (
    (4, 4, 8), (6, 2, 24), (5, 5, 32), (4, 1, 64), (7, 1, 64), (8, 2, 72), (8, 2, 80), (6, 2, 112), (3, 3, 128),
    (2, 1, 256),
)  # fmt: skip
Rows = tuple[Tensor, Tensor, Tensor]


def cases() -> Iterator[tuple[int, int, int, torch.dtype, int | None]]:
    """Every shape of heads in every dtype, each with two of the windows: each window meets every shape and dtype."""
    for first, heads in enumerate(HEADS):
        for more, dtype in enumerate(DTYPES):
            for window in (WINDOWS[(first + more) % 4], WINDOWS[(first + more + 2) % 4]):
                yield *heads, dtype, window


def rows_of(count: int, heads: int, kv_heads: int, dim: int, seed: int = 1) -> Rows:
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(count, n, dim, generator=generator) for n in (heads, kv_heads, kv_heads))
    return 2 * q, k, v


def slot_for(rows: Rows, dtype: torch.dtype, layers: int = 1) -> Slot:
    """With a few places too many, so that heads do not lie behind one another."""
    count, kv_heads, dim = rows[1].shape
    in_blocks = lies_in_blocks(dtype, dim)
    capacity = padded(count + 5, TOGETHER) if in_blocks else count + 5
    keys = torch.zeros(layers, kv_heads, capacity, kept_width(dim, dtype), dtype=dtype)
    return Slot("a", keys, torch.zeros_like(keys), in_blocks=in_blocks)


def check_kept(slot: Slot, rows: Rows) -> None:
    """Whether it holds these keys and values, rounded to the nearest that it can, and in int8 those of each head so."""
    for got, want in zip(kept_heads(slot, len(rows[1]), rows[1].shape[2]), rows[1:], strict=True):
        if slot.keys.dtype == torch.int8:
            assert ((got - want).square().mean(2).sqrt() <= want.abs().amax(2) / 127).all()
        else:
            assert torch.equal(got, want.to(slot.keys.dtype).float())


def attended(
    kernels: NativeKernels,
    rows: Rows,
    dtype: torch.dtype,
    pieces: Sequence[int],
    window: int | None,
    sinks: Tensor | None = None,
    cap: float | None = None,
) -> Tensor:
    slot, parts, done = slot_for(rows, dtype), list[Tensor](), 0
    for length in pieces:
        some = [part[done : done + length] for part in rows]
        parts.append(NativeSpans(kernels, [(slot, length)]).attend(*some, 0, window, sinks, cap))
        done += length
        slot.tokens = [1] * done
    check_kept(slot, rows)
    behind = kept_heads(slot, slot.capacity, rows[1].shape[2])
    assert dtype == torch.int8 or not any(part[done:].any() for part in behind)
    return torch.cat(parts)


def as_kept(kernels: NativeKernels, rows: Rows, dtype: torch.dtype) -> Rows:
    """With keys and values as they are in a cache."""
    slot = slot_for(rows, dtype)
    NativeSpans(kernels, [(slot, len(rows[0]))]).attend(*rows, 0, None)
    return rows[0], *kept_heads(slot, len(rows[0]), rows[1].shape[2])


def by_torch(rows: Rows, window: int | None, sinks: Tensor | None = None, cap: float | None = None) -> Tensor:
    """In float64."""
    q, k, v = (part.double() for part in rows)
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    places = torch.arange(len(q))
    behind = places.unsqueeze(1) - places
    hidden = (behind < 0) | (behind >= (window or len(q)))
    scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[2])
    if cap is not None:
        scores = cap * (scores / cap).tanh()
    scores = scores.masked_fill(hidden, -math.inf)
    if sinks is not None:
        scores = torch.cat((scores, sinks.double().view(-1, 1, 1).expand(-1, len(q), 1)), 2)
    weights = scores.softmax(2)[..., : len(q)]
    return torch.einsum("hqk,khd->qhd", weights, v).flatten(1).float()


@pytest.mark.parametrize(("heads", "kv_heads", "dim", "dtype", "window"), list(cases()), ids=str)
@pytest.mark.sampled(36)
def test_as_torch_does_it(
    kernels: NativeKernels, heads: int, kv_heads: int, dim: int, dtype: torch.dtype, window: int | None
):
    rows = rows_of(150, heads, kv_heads, dim)
    got = attended(kernels, rows, dtype, [150], window)
    kept = as_kept(kernels, rows, dtype)
    if kernels.rounds_rows and dtype == torch.bfloat16 and dim % 16 == 0:
        want = by_torch((rows[0].bfloat16().float(), *kept[1:]), window)
        torch.testing.assert_close(got, want, rtol=0, atol=5e-3)
        assert (got - want).square().mean() <= (want.bfloat16() - want).square().mean()  # as weights are rounded, too
    elif dtype == torch.int8:
        # Weights are rounded to 16 bits. A query can come to another side of the middle between two levels.
        want = by_torch((rounded_queries(kept[0]), *kept[1:]), window)
        torch.testing.assert_close(got, want, rtol=0, atol=0.05)
        assert (got - want).square().mean().sqrt() < 3e-4
    else:
        torch.testing.assert_close(got, by_torch(kept, window), rtol=0, atol=2e-5)
    for pieces in ([1] * 70 + [80], [64, 64, 22], [16, 17, 1, 1, 65, 49, 1]):
        assert torch.equal(attended(kernels, rows, dtype, pieces, window), got)


@pytest.mark.parametrize("window", [None, 9])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(8, 2, 64), (6, 2, 24), (7, 1, 16)], ids=str)
def test_a_sink_takes_its_share_and_gives_nothing(
    kernels: NativeKernels, heads: int, kv_heads: int, dim: int, dtype: torch.dtype, window: int | None
):
    rows = rows_of(150, heads, kv_heads, dim)
    sinks = torch.linspace(-6, 6, heads)
    got = attended(kernels, rows, dtype, [150], window, sinks)
    q, k, v = as_kept(kernels, rows, dtype)
    error, mean_error = 2e-5, 2e-5
    if kernels.rounds_rows and dtype == torch.bfloat16 and dim % 16 == 0:
        q, error, mean_error = q.bfloat16().float(), 5e-3, 5e-3
    elif dtype == torch.int8:  # see `test_as_torch_does_it`
        q, error, mean_error = rounded_queries(q), 0.05, 3e-4
    want = by_torch((q, k, v), window, sinks)
    torch.testing.assert_close(got, want, rtol=0, atol=error)
    assert (got - want).square().mean().sqrt() < mean_error
    for pieces in ([1] * 70 + [80], [16, 17, 1, 1, 65, 49, 1]):
        assert torch.equal(attended(kernels, rows, dtype, pieces, window, sinks), got)


@pytest.mark.parametrize("cap", [1.5, 50.0])
@pytest.mark.parametrize("window", [None, 9])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(8, 2, 64), (6, 2, 24), (4, 2, 256)], ids=str)
@pytest.mark.sampled(20)
def test_scores_are_capped(
    kernels: NativeKernels, heads: int, kv_heads: int, dim: int, dtype: torch.dtype, window: int | None, cap: float
):
    rows = rows_of(150, heads, kv_heads, dim)
    rows = (rows[0] * cap, *rows[1:])  # so that some scores come near the cap, and some are near zero
    got = attended(kernels, rows, dtype, [150], window, cap=cap)
    q, k, v = as_kept(kernels, rows, dtype)
    error, mean_error = 5e-5, 5e-6
    if kernels.rounds_rows and dtype == torch.bfloat16 and dim % 16 == 0:
        q, error, mean_error = q.bfloat16().float(), 0.02, 2e-3
    elif dtype == torch.int8:  # a query can come to another side of the middle between two levels
        q, error, mean_error = rounded_queries(q), 0.4, 5e-3
    want = by_torch((q, k, v), window, cap=cap)
    torch.testing.assert_close(got, want, rtol=0, atol=error)
    assert (got - want).square().mean().sqrt() < mean_error
    assert (by_torch((q, k, v), window) - want).square().mean().sqrt() > 10 * mean_error
    for pieces in ([1] * 70 + [80], [16, 17, 1, 1, 65, 49, 1]):
        assert torch.equal(attended(kernels, rows, dtype, pieces, window, cap=cap), got)


def test_a_cap_holds_scores_of_any_size(kernels: NativeKernels):
    """Two keys: the share of the second tells its score, beside that of the first, which is 0."""
    sizes = torch.tensor([1e-30, 1e-6, 1e-4, 0.01, 0.3, 1.0, 20.0, 49.0, 100.0, 1e4, 3e38])
    values = torch.stack((torch.zeros(8), torch.ones(8))).unsqueeze(1)
    for cap in (1.0, 7.0, 30.0):
        for score in torch.cat((sizes, -sizes)).tolist():
            q, k = torch.zeros(2, 1, 8), torch.zeros(2, 1, 8)
            q[1, 0, 0], k[1, 0, 0] = score / 1e4, 1e4 * 8**0.5  # a finite product, or an infinite one
            share = attended(kernels, (q, k, values), torch.float32, [2], None, cap=cap)[1, 0].double()
            want = cap * torch.tanh(torch.tensor(score, dtype=torch.float64) / cap)
            torch.testing.assert_close(share, want.sigmoid(), rtol=1e-5, atol=0)


def test_a_sink_of_any_size(kernels: NativeKernels):
    """One far below all scores changes no bit, and one far above them takes all."""
    rows = rows_of(70, 4, 2, 64)
    plain = attended(kernels, rows, torch.float32, [70], None)
    assert torch.equal(attended(kernels, rows, torch.float32, [70], None, torch.full((4,), -1e30)), plain)
    for size in (80.0, 95.0, 1000.0, 1e30):
        nearly_none = attended(kernels, rows, torch.float32, [70], None, torch.full((4,), size))
        assert nearly_none.isfinite().all()
        assert nearly_none.abs().max() < 1e-20


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_conversations_beside_each_other(kernels: NativeKernels, dtype: torch.dtype):
    """Pieces of prompts and drawn tokens in one call, in any order and with any number of threads."""
    conversations = [rows_of(count, 4, 2, 64, seed) for seed, count in enumerate((70, 1, 130, 33, 65, 2), 1)]
    alone = [attended(kernels, rows, dtype, [len(rows[0])], None) for rows in conversations]
    for order in (range(6), (5, 2, 0, 4, 1, 3)):
        for threads in (1, 2, 3):
            chosen = [conversations[n] for n in order]
            segments = [(slot_for(rows, dtype), len(rows[0])) for rows in chosen]
            q, k, v = (torch.cat(parts) for parts in zip(*chosen, strict=True))
            with torch_threads(threads):
                got = NativeSpans(kernels, segments).attend(q, k, v, 0, None)
            assert torch.equal(got, torch.cat([alone[n] for n in order]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shared", [1, 63, 64, 65, 70, 149])
def test_a_text_goes_on_behind_any_shared_beginning(kernels: NativeKernels, dtype: torch.dtype, shared: int):
    """Copied from another conversation's slot, or its own with the rest forgotten."""
    rows, other = rows_of(150, 4, 2, 64), rows_of(150, 4, 2, 64, seed=2)
    text = [torch.cat([one[:shared], two[shared:]]) for one, two in zip(rows, other, strict=True)]
    want = attended(kernels, (text[0], text[1], text[2]), dtype, [150], None)[shared:]
    first, copied = slot_for(rows, dtype), slot_for(rows, dtype)
    NativeSpans(kernels, [(first, 150)]).attend(*rows, 0, None)
    first.tokens = [1] * 150
    copied.copy(first, shared)
    first.truncate(shared)
    for slot in (first, copied):
        got = NativeSpans(kernels, [(slot, 150 - shared)]).attend(*(part[shared:] for part in text), 0, None)
        assert torch.equal(got, want)


def test_a_slot_in_blocks_and_one_that_is_not_are_not_mistaken(kernels: NativeKernels):
    slot = slot_for(rows_of(10, 4, 2, 64), torch.bfloat16)
    slot.together = 1 if slot.together > 1 else 64
    with pytest.raises(ValueError, match=f"whose rows lie {slot.together} together"):
        NativeSpans(kernels, [(slot, 1)])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("last", [(1, 1, 3), (0, 1, 0), (70, 0, 17), (33, 1, 130)], ids=str)
def test_only_the_last_rows_attend(kernels: NativeKernels, dtype: torch.dtype, last: tuple[int, ...]):
    conversations = [rows_of(count, 4, 2, 64, seed) for seed, count in enumerate((70, 1, 130), 1)]
    slots = [slot_for(rows, dtype) for rows in conversations]
    spans = NativeSpans(kernels, [(slot, len(rows[0])) for slot, rows in zip(slots, conversations, strict=True)])
    q, k, v = (torch.cat(parts) for parts in zip(*conversations, strict=True))
    some = spans.of_last(last)
    assert (some.attending, spans.attending) == (sum(last), 201)
    got = some.attend(q, k, v, 0, None).split([70, 1, 130])
    for rows, slot, seen, count in zip(conversations, slots, got, last, strict=True):
        length = len(rows[0])
        whole = attended(kernels, rows, dtype, [length], None)
        assert torch.equal(seen[length - count :], whole[length - count :])
        check_kept(slot, rows)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_layer_has_its_own_keys(kernels: NativeKernels, dtype: torch.dtype):
    first, second = rows_of(40, 4, 2, 64), rows_of(40, 4, 2, 64, seed=2)
    slot = slot_for(first, dtype, layers=2)
    spans = NativeSpans(kernels, [(slot, 40)])
    got = [spans.attend(*rows, layer, None) for layer, rows in enumerate((first, second))]
    want = [attended(kernels, rows, dtype, [40], None) for rows in (first, second)]
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(got, want, strict=True))


def test_rows_of_a_wider_tensor(kernels: NativeKernels):
    """As they come out of the product, side by side."""
    q, k, v = rows_of(20, 4, 2, 16)
    wide = torch.cat([part.flatten(1) for part in (q, k, v)], 1)
    cut = [part.unflatten(1, (-1, 16)) for part in wide.split([64, 32, 32], 1)]
    slot = slot_for((q, k, v), torch.bfloat16)
    got = NativeSpans(kernels, [(slot, 20)]).attend(*cut, 0, None)
    assert torch.equal(got, attended(kernels, (q, k, v), torch.bfloat16, [20], None))


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
def test_keys_and_values_are_rounded_as_torch_does(kernels: NativeKernels, dtype: torch.dtype):
    bits = torch.cat([torch.arange(2**16, dtype=torch.int32) << 16, torch.randint(-(2**31), 2**31 - 1, (2**16,))])
    halfway = torch.tensor([0x3F808000, 0x3F818000, 0x3F7FFFFF, 0x7F7FFFFF, 0x00000001, 0x387FE000, 0x33000001])
    numbers = torch.cat([bits.to(torch.int32), halfway.to(torch.int32), torch.zeros(57, dtype=torch.int32)])
    k = numbers.view(torch.float32).view(-1, 1, 64)
    slot = slot_for((k, k, k), dtype)
    NativeSpans(kernels, [(slot, len(k))]).attend(torch.zeros_like(k), k, k, 0, None)
    want = k.to(dtype).float()
    for got in kept_heads(slot, len(k), 64):
        assert torch.equal(got.isnan(), want.isnan())
        assert torch.equal(got.nan_to_num(0.0, 7.0, -7.0), want.nan_to_num(0.0, 7.0, -7.0))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int8], ids=str)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("part", [1, 2], ids=["key", "value"])
@pytest.mark.parametrize("kv_heads", [1, 4])
@pytest.mark.parametrize("at", [70, 71])
def test_what_is_no_number_is_seen_in_its_window_only(
    kernels: NativeKernels, kv_heads: int, part: int, bad: float, at: int, dtype: torch.dtype
):
    rows, window = rows_of(150, 4, kv_heads, 64), 40
    want = attended(kernels, rows, dtype, [150], window)
    rows[part][at, 0, 5] = bad
    got = NativeSpans(kernels, [(slot_for(rows, dtype), 150)]).attend(*rows, 0, window)
    assert torch.equal(got[:at], want[:at])
    assert not torch.equal(got[at], want[at])
    assert torch.equal(got[at + window :], want[at + window :])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int8], ids=str)
def test_what_is_no_number_stays_in_its_conversation(kernels: NativeKernels, dtype: torch.dtype):
    broken, sound = rows_of(10, 4, 2, 64), rows_of(80, 4, 2, 64, seed=2)
    broken[1][3, 0, 5] = float("nan")
    q, k, v = (torch.cat(parts) for parts in zip(broken, sound, strict=True))
    segments = [(slot_for(rows, dtype), len(rows[0])) for rows in (broken, sound)]
    got = NativeSpans(kernels, segments).attend(q, k, v, 0, None)
    assert torch.equal(got[10:], attended(kernels, sound, dtype, [80], None))
    assert got[3:10].isnan().any(1).all()
    assert got[:3].isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [149, 150, 192])
def test_what_lay_in_the_memory_before_counts_for_nothing(kernels: NativeKernels, dtype: torch.dtype, count: int):
    """Behind the rows, and among them where all tokens of a block lie together. The scales of garbage may be NaN."""
    rows = rows_of(count, 4, 2, 64)
    want = attended(kernels, rows, dtype, [count], 90)
    for garbage in (-1, 127):  # four bytes of -1, and two, are NaN in any dtype
        for pieces in ([count], [1] * 5 + [count - 5]):
            slot, parts = slot_for(rows, dtype), list[Tensor]()
            slot.keys.view(torch.int8).fill_(garbage)
            slot.values.view(torch.int8).fill_(garbage)
            for some in zip(*(part.split(pieces) for part in rows), strict=True):
                parts.append(NativeSpans(kernels, [(slot, len(some[0]))]).attend(*some, 0, 90))
                slot.tokens += [1] * len(some[0])
            assert torch.equal(torch.cat(parts), want)


def test_in_int8_registers_of_any_width_find_nearly_the_same(kernels: NativeKernels):
    """Sums of a block are exact; only e^x and the order of the weights' sum differ."""
    rows = rows_of(300, 8, 2, 64)
    wide = attended(kernels, rows, torch.int8, [300], None)
    with kernels.narrow():
        narrow = attended(kernels, rows, torch.int8, [300], None)
    torch.testing.assert_close(narrow, wide, rtol=0, atol=1e-4)


def test_in_int8_a_far_larger_channel_of_keys_does_not_drown_the_others(kernels: NativeKernels):
    """They are mixed with each other before they are rounded. Queries are as much smaller there, as models learn it."""
    q, k, v = rows_of(150, 4, 2, 64)
    want = by_torch((q, k, v), None)
    q[..., 5] /= 50
    k[..., 5] *= 50
    got = attended(kernels, (q, k, v), torch.int8, [150], None)
    step = k.abs().amax(2, keepdim=True) / 127
    drowned = by_torch((q, (k / step).round() * step, v), None)
    assert (got - want).square().mean() < (drowned - want).square().mean() / 4


def test_a_slot_that_is_too_small(kernels: NativeKernels):
    with pytest.raises(ValueError, match="20 tokens do not fit into a slot of 15"):
        NativeSpans(kernels, [(slot_for(rows_of(10, 4, 2, 64), torch.float32), 20)])


@pytest.mark.parametrize(
    ("dtype", "dim", "answer"),
    [(torch.float32, 64, True), (torch.float32, 512, True), (torch.float32, 520, False), (torch.float32, 20, False),
     (torch.bfloat16, 64, False)],
)  # fmt: skip
def test_what_it_is_for(dtype: torch.dtype, dim: int, answer: bool):
    assert serves(dtype, dim) is answer


@pytest.mark.parametrize(
    ("precision", "kept"),
    [
        (Precision(torch.float32), torch.float32),
        (Precision(torch.bfloat16), torch.bfloat16),
        (Precision(torch.float32, held=torch.bfloat16), torch.bfloat16),
        (Precision(torch.float32, held=torch.float16), torch.float16),
        (Precision(torch.float32, "int8"), torch.bfloat16),
        (Precision(torch.float32, "int4"), torch.bfloat16),
        (Precision(torch.bfloat16, "int8"), torch.bfloat16),
    ],
    ids=str,
)
def test_what_keys_and_values_are_kept_in(precision: Precision, kept: torch.dtype):
    assert precision.kept_dtype == kept


@pytest.mark.parametrize("cache_dtype", ["auto", "int8"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_a_conversation_takes_no_more_memory_than_half_precision_needs(
    kernels: NativeKernels, tmp_path, dtype: str, cache_dtype: str
):
    if cache_dtype == "int8" and not keeps_int8(dtype):
        pytest.skip("torch's kernels attend here, which know nothing of eight bits")
    folder = write_tiny_llama(tmp_path / "model")
    network = load_model(folder, dtype=dtype, device="cpu", threads=1, cache_dtype=cache_dtype).network
    cache = KVCache(network.config, network.cache_dtype, network.device, 2**26)
    config = load_config(folder)
    heads = 2 * config.num_hidden_layers * config.num_key_value_heads * 512
    each = config.head_dim + 4 if cache_dtype == "int8" else config.head_dim * (4 if dtype == "float32" else 2)
    assert cache.bytes_for(400) == heads * each


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("heads", [(4, 2, 64), (8, 1, 72), (2, 1, 256), (4, 4, 8)])
@pytest.mark.parametrize(("before", "length"), [(0, 70), (50, 20), (131, 64)])
def test_rows_of_an_image_see_each_other(
    kernels: NativeKernels, dtype: torch.dtype, heads: tuple[int, int, int], before: int, length: int
):
    """Each as the last of them would see it all, bit for bit."""
    rows = rows_of(before + length, *heads)
    q, k, v = rows
    slot = slot_for(rows, dtype)
    if before:
        NativeSpans(kernels, [(slot, before)]).attend(*(part[:before] for part in rows), 0, None)
        slot.tokens = [1] * before
    spans = NativeSpans(kernels, [(slot, length)], whole=[0])
    got = spans.attend(*(part[before:] for part in rows), 0, None)
    slot.tokens = [1] * (before + length - 1)
    for place in range(before, before + length):
        alone = NativeSpans(kernels, [(slot, 1)]).attend(q[place : place + 1], k[-1:], v[-1:], 0, None)
        assert torch.equal(got[place - before], alone[0]), place
    (last,) = spans.of_last([3]).table
    assert last[0, -2:].tolist() == [3, before + length]


@pytest.mark.parametrize("window", [80, 100])
def test_a_window_begins_where_it_would_and_ends_with_the_image(kernels: NativeKernels, window: int):
    rows = rows_of(150, 4, 2, 64)
    slot = slot_for(rows, torch.float32)
    NativeSpans(kernels, [(slot, 90)]).attend(*(part[:90] for part in rows), 0, window)
    slot.tokens = [1] * 90
    got = NativeSpans(kernels, [(slot, 60)], whole=[0]).attend(*(part[90:] for part in rows), 0, window)
    mask = causal_mask(90, 60, 1, NATIVE_BLOCKS, rows[0], window, is_whole=True)
    assert (mask == 0).sum(1).tolist() == [150 - max(place + 1 - window, 0) for place in range(90, 150)]
    q, k, v = (part.transpose(0, 1) for part in (rows[0][90:], *rows[1:]))
    want = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 0), v.repeat_interleave(2, 0), attn_mask=mask)
    torch.testing.assert_close(got, want.transpose(0, 1).flatten(1), rtol=0, atol=2e-5)
