"""Our kernels for cards, beside torch, without a card: Triton's interpreter runs them on the CPU.

It tells whether they compute the right numbers (not in bfloat16, which it multiplies as whole numbers), and nothing
about what a card's compiler makes of them: `test_on_card.py` is for that.
"""

import math
from dataclasses import replace

import gguf
import pytest
import torch
import torch.nn.functional as F

if torch.cuda.is_available():
    pytest.skip("test_on_card.py tests them on the card", allow_module_level=True)

pytest.importorskip("triton", reason="Triton is for Linux")

from llama_gui.engine import card_experts, card_kernels, native_library
from llama_gui.engine.attention_blocks import AttentionBlocks, attend, attend_beside, attend_capped, causal_mask
from llama_gui.engine.card_graph import CardGraphs, rows_for
from llama_gui.engine.card_int4 import CODE_BYTES, SAME_LEVELS, rounded, unpacked
from llama_gui.engine.card_kernels import CardKernels, Places, Tile
from llama_gui.engine.card_linear import CardInt4Linear, CardInt8Linear, CardLinear
from llama_gui.engine.device import Precision, torch_threads
from llama_gui.engine.gating import gated_rows
from llama_gui.engine.gguf_blocks import MXFP4_NUMBERS, block_shape, numbers_of
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import LinearFactory
from llama_gui.engine.llama import Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.model_files import open_model
from llama_gui.engine.network_loader import NetworkLoader
from llama_gui.engine.ranking import RANKS, Ranker
from llama_gui.engine.rotary import Turns, rotate
from llama_gui.engine.weight_rows import WeightRows
from tests.engine.this_machine import needs_torch_int8
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_llama import FAMILY_SHAPES, SHAPES, STRANGE_SHAPES, write_tiny_llama

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in exp")  # NumPy's, of a sigmoid's far end

KERNELS = CardKernels()
CPU = torch.device("cpu")
BLOCKS = AttentionBlocks(1, 1)
PROMPT = torch.randint(0, 80, (400,), generator=torch.Generator().manual_seed(5)).tolist()


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.fixture(autouse=True)
def one_thread():
    with torch_threads(1):
        yield


def close(got, want):
    """As far apart as rounding once more or less makes them, or another order of sums."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    apart = {torch.float32: 5e-5, torch.float16: 4e-3}[want.dtype]
    torch.testing.assert_close(got, want, atol=apart, rtol=apart)


@pytest.mark.parametrize(
    ("dtype", "weight_dtype"),
    [(torch.float32, torch.float32), (torch.float16, torch.float16), (torch.float16, torch.float32)],
    ids=str,
)
def test_norms(dtype, weight_dtype):
    for width in (64, 100):
        norm = RMSNorm(numbers(width, dtype=weight_dtype), 1e-3, dtype=dtype)
        x, more = numbers(5, width, dtype=dtype), numbers(5, width, dtype=dtype, seed=2)
        close(KERNELS.norm(x, norm.weight, norm.eps, dtype), norm(x))
        total, want = norm.of_sum(x, more)
        close(KERNELS.added(x, more, norm.weight, norm.eps, dtype), want)
        close(x, total)


def test_norms_of_heads_that_lie_apart():
    norm = RMSNorm(numbers(32), 1e-5)
    for heads in numbers(4, 5 * 32).unflatten(1, (-1, 32)).split((3, 2), 1):
        close(KERNELS.norm(heads, norm.weight, norm.eps, torch.float32), norm(heads))


@pytest.mark.parametrize("gate", ["silu", "gelu", "clamped", "squared"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_gates(gate, dtype):
    x = 5 * numbers(3, 2400, dtype=dtype)
    close(KERNELS.gated(x, gate), gated_rows(x.clone(), gate))


def slots_of(lengths, kv_heads, dim, dtype, layers=3):
    """Slots of different capacities with so many tokens and one more in them, and the places of those."""
    slots = []
    for number, length in enumerate(lengths):
        shape = (layers, kv_heads, length + 1 + 7 * number, dim)
        slots.append((numbers(*shape, dtype=dtype, seed=2 * number), numbers(*shape, dtype=dtype, seed=2 * number + 1)))
    rows = [(n, k.data_ptr(), v.data_ptr(), k.shape[2]) for n, (k, v) in zip(lengths, slots, strict=True)]
    return slots, Places.of(rows, torch.device("cpu"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(
    ("heads", "dim", "rotary"), [((4, 2), 32, 32), ((6, 2), 24, 24), ((3, 3), 32, 8), ((2, 1), 16, 0)]
)
def test_rows_are_rotated_and_kept(heads, dim, rotary, dtype):
    count, kv_count = heads
    lengths = (0, 5, 40)
    slots, places = slots_of(lengths, kv_count, dim, dtype)
    want = [[part.clone() for part in slot] for slot in slots]
    qkv = (
        numbers(3, (count + 2 * kv_count) * dim, dtype=dtype)
        .unflatten(1, (-1, dim))
        .split((count, kv_count, kv_count), 1)
    )
    cos, sin = numbers(3, 1, max(rotary, 2), dtype=dtype, seed=8), numbers(3, 1, max(rotary, 2), dtype=dtype, seed=9)
    got = KERNELS.keep(qkv, Turns(cos, sin) if rotary else None, places, 1)
    q, k = (rotate(part.clone(), cos, sin) if rotary else part for part in qkv[:2])
    close(got, q)
    for row, (length, (keys, values)) in enumerate(zip(lengths, want, strict=True)):
        keys[1, :, length], values[1, :, length] = k[row], qkv[2][row]
        close(slots[row][0], keys)
        assert torch.equal(slots[row][1], values)


KINDS = ("plain", "window", "sinks", "cap", "window and sinks")


@pytest.mark.parametrize(
    ("programs", "kind", "dtype"),
    [
        *((1, kind, torch.float32) for kind in KINDS),
        (1, "plain", torch.float16),
        *((64, kind, torch.float32) for kind in ("cap", "window and sinks")),
        *(pytest.param(64, kind, torch.float32, marks=pytest.mark.campaign) for kind in ("plain", "window", "sinks")),
        (64, "plain", torch.float16),
    ],
)
@pytest.mark.sampled(4)
def test_rows_attend_to_their_own_slots(monkeypatch, programs, kind, dtype):
    """However many splits there are of the keys."""
    monkeypatch.setattr(card_kernels, "_PROGRAMS", programs)
    for heads, kv_heads, dim in ((6, 2, 24), (3, 3, 80)):
        lengths = (0, 63, 130)
        slots, places = slots_of(lengths, kv_heads, dim, dtype)
        q = numbers(len(lengths), heads, dim, dtype=dtype, seed=99)
        window = 20 if "window" in kind else None
        sinks = numbers(heads, seed=98) if "sinks" in kind else None
        cap = 2.0 if kind == "cap" else None
        got = KERNELS.attend(q, places, 2, kv_heads, window, sinks, cap)
        for row, (length, (keys, values)) in enumerate(zip(lengths, slots, strict=True)):
            seen = (part[None, 2, :, : length + 1].float() for part in (keys, values))
            asked = q[row].float().view(1, kv_heads, -1, dim)
            mask = causal_mask(length, 1, heads // kv_heads, BLOCKS, torch.empty(0), window)
            if sinks is not None:
                want = attend_beside(asked, *seen, mask, BLOCKS, sinks.view(kv_heads, -1))
            elif cap is not None:
                want = attend_capped(asked, *seen, mask, BLOCKS, cap)
            else:
                want = attend(asked, *seen, mask, BLOCKS)
            close(got[row], want.to(dtype).flatten())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("rows", [1, 7, 40])
@pytest.mark.sampled(3)
def test_products_in_int8(rows, dtype):
    weight, x, bias = numbers(150, 200, dtype=dtype), numbers(rows, 200, dtype=dtype, seed=2), numbers(150, dtype=dtype)
    for offset in (None, bias):
        linear = CardInt8Linear(weight, offset, KERNELS)
        (levels,) = linear.packed
        widened = (levels * linear.scales.unsqueeze(1)).to(dtype)
        assert (widened - weight).abs().max() < 0.02
        close(
            linear(x),
            F.linear(x.float(), levels * linear.scales.unsqueeze(1), None if offset is None else offset.float()).to(
                dtype
            ),
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("width", [200, 1100])
def test_products(rows, width, dtype):
    weight, x, bias = (
        numbers(*size, dtype=dtype, seed=n) for n, size in enumerate(((33, width), (rows, width), (33,)))
    )
    for offset in (None, bias):
        want = F.linear(x.float(), weight.float(), None if offset is None else offset.float())
        close(CardLinear(weight, offset, KERNELS)(x) / width**0.5, (want / width**0.5).to(dtype))


def test_wide_products_in_int8_of_a_row():
    weight, x = numbers(card_kernels._WIDE, 64), numbers(1, 64, seed=2)
    linear = CardInt8Linear(weight, None, KERNELS)
    close(linear(x), F.linear(x, linear.packed[0] * linear.scales.unsqueeze(1)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(
    ("rows", "groups"), [(1, 3), pytest.param(1, 40, marks=pytest.mark.campaign), (7, 11), (40, 3), (130, 3)]
)
@pytest.mark.sampled(3)
def test_products_in_int4(rows, groups, dtype):
    width = GROUP * groups
    weight, x, bias = (
        numbers(*size, dtype=dtype, seed=n) for n, size in enumerate(((50, width), (rows, width), (50,)))
    )
    plain = plain_of(rounded(weight))
    for offset in (None, bias):
        linear = CardInt4Linear(WeightRows.of(weight), offset, KERNELS, CPU)
        want = F.linear(x.float(), plain, None if offset is None else offset.float())
        close(linear(x) / width**0.5, (want / width**0.5).to(dtype))


def plain_of(levels):
    """The numbers that they stand for ``[out, in]``."""
    numbers = torch.cat((levels.levels & 15, levels.levels >> 4), 2)
    if levels.is_coded:
        numbers = torch.tensor(MXFP4_NUMBERS)[numbers.int()] * levels.steps.float().unsqueeze(2)
    else:
        numbers = numbers * levels.steps.float().unsqueeze(2) + levels.lows.float().unsqueeze(2)
    return numbers.flatten(1) * levels.scales.unsqueeze(1)


@pytest.mark.parametrize("rows", [1, 20, 130])
def test_products_in_mxfp4(rows):
    """On several groups' worth of exponents, as far apart as they are in no model."""
    weight = torch.randint(256, (20, 3, 17), generator=torch.Generator().manual_seed(1)).to(torch.uint8)
    weight[:, :, 0] = 120 + weight[:, :, 0] % 16
    whole = numbers_of(weight.flatten(), "MXFP4").view(20, 96)
    linear = CardInt4Linear(WeightRows(20, 96, [whole], "MXFP4", [weight.flatten(1)]), None, KERNELS, CPU)
    assert linear.weight_bytes == 20 * (96 * CODE_BYTES + 4)
    x = numbers(rows, 96)
    want = F.linear(x, whole)
    torch.testing.assert_close(linear(x), want, atol=1e-5 * float(want.abs().max()), rtol=0)


def test_four_bits_lose_little():
    weight = numbers(40, 256)
    lost = (plain_of(rounded(weight)) - weight).norm() / weight.norm()
    cut = weight.unflatten(1, (-1, GROUP))
    least, most = cut.amin(2, keepdim=True), cut.amax(2, keepdim=True)
    step = (most - least) / 15
    plainly = (((cut - least) / step).round() * step + least).flatten(1)
    assert lost < 0.98 * (plainly - weight).norm() / weight.norm()
    assert plain_of(rounded(torch.full((2, 64), -3.0))).eq(-3).all()
    assert plain_of(rounded(torch.zeros(2, 64))).eq(0).all()


@pytest.mark.parametrize("kind", SAME_LEVELS)
def test_levels_of_a_file_stay(kind):
    size, count = block_shape(kind)
    blocks = torch.randint(256, (6, 512 // count, size), generator=torch.Generator().manual_seed(1)).to(torch.uint8)
    if kind == "MXFP4":
        blocks[:, :, 0] = 120 + blocks[:, :, 0] % 16
    else:
        factors = 1 if kind == "Q4_0" else 2
        blocks[:, :, : 2 * factors] = numbers(6, 512 // count, factors, dtype=torch.float16).view(torch.uint8)
    want = numbers_of(blocks.flatten(), kind).view(6, 512)
    got = plain_of(unpacked(blocks.flatten(1), kind))
    assert (got - want).norm() < 1e-3 * want.norm()


@needs_torch_int8
def test_what_a_file_has_in_more_bits_has_eight():
    files = {kind: numbers(8, 256).numpy() for kind in ("Q4_0", "Q8_0")}
    blocks = {
        kind: torch.from_numpy(gguf.quantize(weight, gguf.GGMLQuantizationType[kind])) for kind, weight in files.items()
    }
    rows = [WeightRows(8, 256, [numbers(8, 256)], kind, [some]) for kind, some in blocks.items()]
    for keeps, kinds in ((True, [CardInt4Linear, CardInt8Linear]), (False, [CardInt4Linear, CardInt4Linear])):
        precision = Precision(torch.float32, quantised="int4", keeps_levels=keeps)
        linear = LinearFactory(precision, CPU, card=KERNELS).of_rows(rows, None)
        assert [type(part) for part in linear.parts] == kinds
        x = numbers(3, 256, seed=4)
        want = F.linear(x, torch.cat([numbers_of(blocks["Q4_0"], "Q4_0").view(8, 256), numbers(8, 256)]))
        assert (linear(x) - want).norm() < 0.15 * want.norm()


# --- the network, with them in the place of torch's


@pytest.fixture
def few_programs(monkeypatch):
    """Each takes the interpreter a millisecond, so they do more."""
    monkeypatch.setattr(card_kernels, "_PROGRAMS", 16)
    monkeypatch.setattr(card_kernels, "INT4_ROW", replace(card_kernels.INT4_ROW, outs=32))
    for name in ("_ROW_OUTS", "_INT8_ROW_OUTS"):
        monkeypatch.setattr(card_kernels, name, 32)
    monkeypatch.setattr(card_experts, "INT4_ROW", card_kernels.INT4_ROW)
    monkeypatch.setattr(card_experts, "_ROW_OUTS", 64)
    tile = Tile(16, 128, 32, 1, 1)
    monkeypatch.setattr(card_experts, "TILES", [(math.inf, tile, tile)])


@pytest.fixture
def networks(tiny_folder, kernel_notes, monkeypatch, few_programs):
    """With our kernels for cards, and with torch's."""
    monkeypatch.setattr(native_library, "load", lambda: None)

    def load(shape, dtype="float32"):
        made = []
        for found in (KERNELS, None):
            monkeypatch.setattr(card_kernels, "find", lambda device, head_dim, found=found: found)
            made.append(load_model(tiny_folder(shape), dtype=dtype, device="cpu", kernel_notes=kernel_notes).network)
        return made

    return load


@needs_torch_int8
@pytest.mark.parametrize(("kind", "keeps_levels"), [("Q4_K", True), ("Q8_0", False)])
@torch.inference_mode()
def test_a_file_in_four_bits(monkeypatch, few_programs, tmp_path, kind, keeps_levels):
    """As on a card, but that float32 is on the CPU."""
    sizes = {"hidden_size": 256, "intermediate_size": 256, "head_dim": 64, "num_hidden_layers": 1}
    file = write_gguf(write_tiny_llama(tmp_path / "model", "llama-3.1", **sizes), tmp_path / "tiny.gguf", kind)
    monkeypatch.setattr(card_kernels, "find", lambda device, head_dim: KERNELS)
    want = load_model(file, dtype="float32", device="cpu").network
    precision = Precision(torch.float32, quantised="int4", keeps_levels=keeps_levels)
    model = open_model(file)
    with model.weights() as checkpoint:
        got = NetworkLoader(model.config, checkpoint, precision, CPU).load()
    linears = {type(part) for linear in got.linears for part in getattr(linear, "parts", [linear])}
    assert linears == {CardInt4Linear, CardInt8Linear}  # of eight bits is what is most sensitive: the vocabulary
    made = [network.forward(drawn(conversations(network, (5, 30)))) for network in (got, want)]
    lost = (made[0] - made[1]).norm() / made[1].norm()
    assert lost < (0.1 if keeps_levels else 0.5)


@needs_torch_int8
@torch.inference_mode()
def test_experts_in_mxfp4_stay_so(monkeypatch, few_programs, tmp_path):
    packed = {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}
    folder = write_tiny_llama(tmp_path / "model", "gpt-oss", **sizes, **packed)
    monkeypatch.setattr(card_kernels, "find", lambda device, head_dim: KERNELS)
    want = load_model(folder, dtype="float32", device="cpu").network
    model = open_model(folder)
    precision = Precision(torch.float32, quantised=model.stored, keeps_levels=True)
    with model.weights() as checkpoint:
        got = NetworkLoader(model.config, checkpoint, precision, CPU).load()
    experts = [linear for block in got.blocks for expert in block.mlp.experts for linear in expert.linears]
    assert {type(linear) for linear in experts} == {CardInt4Linear}
    assert all(linear.weight.is_coded for linear in experts)
    assert {type(block.attention.out) for block in got.blocks} == {CardInt8Linear}
    made = [network.forward(drawn(conversations(network, (5,)))) for network in (got, want)]
    assert (made[0] - made[1]).norm() < 0.1 * made[1].norm()


def conversations(network, lengths):
    """Slots with so many tokens in them, of random keys and values: the interpreter takes seconds to read a prompt."""
    cache = KVCache(network.config, network.dtype, network.device, 2**27)
    slots = []
    for number, length in enumerate(lengths):
        tokens = PROMPT[number : number + length]
        slot = cache.acquire(str(number), [*tokens, 0], length + 100)
        cache.ensure_capacity(slot, length + 100)
        for seed, part in enumerate((slot.keys, slot.values)):
            part[:, :, :length] = numbers(*part[:, :, :length].shape, seed=10 * number + seed)
        slot.tokens = list(tokens)
        slots.append(slot)
    return slots


def drawn(slots, token=7):
    return [Segment(slot, [token + n]) for n, slot in enumerate(slots)]


PECULIAR = ("llama-3.2", "gemma2", "gpt-oss", "olmo2", "phi4-mini")
"""For each thing that the kernels do there is one that does it."""
OTHERS = [shape for shape in (*SHAPES, *FAMILY_SHAPES, *STRANGE_SHAPES) if shape not in PECULIAR]


@pytest.mark.parametrize("shape", [*PECULIAR, *(pytest.param(one, marks=pytest.mark.campaign) for one in OTHERS)])
@torch.inference_mode()
@pytest.mark.sampled(2)
def test_each_family_has_torchs_logits(networks, shape):
    ours, theirs = networks(shape)
    assert ours.card is not None
    assert theirs.card is None
    made = []
    for network in (ours, theirs):
        slots = conversations(network, (5, 30, 90))
        prompt = Segment(slots[2], PROMPT[100:104], 3, is_prompt=True)
        made.append(network.forward([*drawn(slots[:2]), prompt]))
    assert made[0].shape == (5, ours.config.vocab_size)
    torch.testing.assert_close(*made, atol=2e-4, rtol=0)


class Again:
    """Plays by running once more, at the same addresses; and counts."""

    def __init__(self, fails=False):
        self.recorded = self.played = 0
        self.fails = fails

    def __call__(self, run):
        if self.fails:
            raise RuntimeError("operation not permitted when stream is capturing")
        run()
        self.recorded += 1

        def replay():
            self.played += 1
            run()

        return replay


@pytest.mark.parametrize("shape", ["llama-3.2", pytest.param("gemma3", marks=pytest.mark.campaign)])
@torch.inference_mode()
def test_recorded_steps_serve_any_conversations(networks, shape):
    ours, theirs = networks(shape)
    recorder = Again()
    graphs = CardGraphs(ours, KERNELS, Ranker(70), recorder)
    slots, others = (conversations(network, (5, 90, 30, 3, 1)) for network in (ours, theirs))
    for step, which in enumerate(((0, 1, 2), (3, 0, 4), (1, 2), (0, 1, 2, 3, 4))):
        segments, same = (drawn([some[i] for i in which], 7 * step) for some in (slots, others))
        got = graphs.run(segments, [0.5 + n for n in range(len(segments))])
        want = theirs.forward(same)
        for n, (row, logits) in enumerate(zip(got, want[:, :70], strict=True)):
            torch.testing.assert_close(row.whole(), logits, atol=1e-4, rtol=0)
            torch.testing.assert_close(torch.tensor(row.values), logits.topk(RANKS).values, atol=1e-4, rtol=0)
            assert row.whole()[row.ids].tolist() == row.values
            assert abs(row.mass - float(logits.logsumexp(0))) < 1e-4
            assert abs(row.cooled - float(((logits - logits.max()) / (0.5 + n)).logsumexp(0))) < 1e-4
        for segment in (*segments, *same):
            segment.slot.tokens.extend(segment.token_ids)
    assert (recorder.recorded, recorder.played) == (3, 1)


@torch.inference_mode()
def test_what_is_not_drawn_is_not_recorded(networks):
    ours, _ = networks("llama-3.2")
    graphs = CardGraphs(ours, KERNELS, Ranker(70), Again())
    slots = conversations(ours, (5, 9))
    assert graphs.run([Segment(slots[0], [1, 2], 2)], [1.0]) is None
    assert graphs.run([*drawn(slots[:1]), Segment(slots[1], [3], is_prompt=True)], [1.0, 1.0]) is None


@torch.inference_mode()
def test_a_card_that_cannot_record_is_asked_once(networks, caplog):
    ours, _ = networks("llama-3.2")
    graphs = CardGraphs(ours, KERNELS, Ranker(70), Again(fails=True))
    slots = conversations(ours, (5,))
    assert [graphs.run(drawn(slots), [1.0]) for _ in range(5)] == [None] * 5
    assert caplog.text.count("cannot be recorded") == 1


def test_rows_of_recordings():
    assert [rows_for(n) for n in (1, 2, 3, 5, 8, 9, 16, 17, 33, 64)] == [1, 2, 4, 8, 8, 16, 16, 32, 48, 64]
