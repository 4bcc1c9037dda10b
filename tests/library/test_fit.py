"""The arithmetic counts what the engine really holds, and the verdicts say what follows."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from llama_gui.engine import Engine, native_library
from llama_gui.engine.device import has_native_bfloat16, only_torch_has_tiles, resolve_precision
from llama_gui.engine.gating import BLOCK_SIZE
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.int4_panels import COLUMNS
from llama_gui.engine.kv_cache import KEY_BLOCK
from llama_gui.engine.packed_weights import CODED_BYTES, PANEL_CHANNELS, WIDTH_UNIT
from llama_gui.library import bandwidth, fit
from llama_gui.library.bandwidth import read_bandwidth, steady_bandwidth
from llama_gui.library.fit import Machine, activation_bytes, as_machine, best_choice, choices, estimate, weight_bytes
from llama_gui.library.graphics_card import GraphicsCard
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.shape_reader import shape_of
from llama_gui.paths import find_resources
from tests.engine.this_machine import adds_int8, packs
from tests.fakes.tiny_llama import write_tiny_llama

GB = 10**9
LLAMA_1B = ModelShape(128256, 2048, 8192, 16, 32, 8, 64, is_tied=True)
HERE = Machine(16 * GB, 8 * GB, has_bfloat16=True, bandwidth=50e9)
OLDER = Machine(16 * GB, 8 * GB, has_kernels=True, bandwidth=50e9)
"""A CPU with AVX2 and no more, and our own kernels."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The starter model, and shapes that are tied and not, with and without what Qwen adds."""
    folder = tmp_path_factory.mktemp("models")
    shapes = ("llama-3.1", "smollm2", "qwen2", "qwen3", "qwen3-moe", "granite-moe", "gpt-oss")
    made = {shape: write_tiny_llama(folder / shape, shape) for shape in shapes}
    return {"starter": find_resources() / "starter_model", **made}


@pytest.mark.parametrize("dtype", fit.OFFERED_DTYPES)
@pytest.mark.parametrize(
    "name", ["starter", "llama-3.1", "smollm2", "qwen2", "qwen3", "qwen3-moe", "granite-moe", "gpt-oss"]
)
@pytest.mark.sampled(12)
def test_the_weights_are_counted_as_the_engine_holds_them(models: dict[str, Path], name: str, dtype: str):
    shape = shape_of(json.loads((models[name] / "config.json").read_text(encoding="utf-8")))
    machine = fit.machine_here()
    if not machine.has_kernels and dtype in ("int8", "int4") and not adds_int8():
        pytest.skip("nothing here multiplies eight bits")
    if not machine.has_kernels and dtype == "bfloat16" and not packs(torch.bfloat16):
        pytest.skip("bfloat16 is emulated here and nothing is packed: a tied matrix is counted twice and there once")
    with Engine.load(models[name], dtype=dtype) as engine:
        held = engine.stats().weight_bytes
    # The engine leaves out the norms; how many numbers have no code is seen when they are read.
    counted = weight_bytes(shape, dtype, machine) - shape.norms * activation_bytes(dtype, machine)
    assert counted <= held <= counted * (1.002 if dtype == "bfloat16" else 1)


def test_a_mixture_is_as_large_as_all_experts_and_as_fast_as_those_that_a_token_needs():
    dense = ModelShape(151936, 2048, 768 * 8, 48, 32, 4, 128, has_head_norms=True)
    mixture = replace(dense, inner=768, experts=128, chosen=8)
    assert mixture.parameters == 30_532_122_624  # Qwen3 30B-A3B
    one, other = (estimate(shape, OLDER, "int4") for shape in (dense, mixture))
    assert other.weights > 7 * one.weights
    guessed = estimate(ModelShape.guess(mixture.parameters, "Qwen3-30B-A3B-Q4_K_M.gguf"), OLDER, "int4")
    assert guessed.weights == pytest.approx(other.weights, rel=0.1)
    assert guessed.tokens_per_second == pytest.approx(other.tokens_per_second, rel=0.3)
    routers = 4 * mixture.router_numbers / OLDER.bandwidth
    assert 1 / other.tokens_per_second - 1 / one.tokens_per_second == pytest.approx(routers, rel=0.5)


def test_this_machine_is_seen_as_the_engine_sees_it():
    machine = fit.machine_here()
    assert machine.has_bfloat16 == has_native_bfloat16()
    assert machine.has_kernels == (native_library.load() is not None)
    kernels = native_library.load()
    assert machine.has_tiles == only_torch_has_tiles()
    assert kernels is None or machine.is_wide == kernels.is_wide
    assert 0 < machine.free <= machine.total
    assert (fit._KEY_BLOCK, fit._GROUP, fit._ALIGNMENT) == (KEY_BLOCK, GROUP, COLUMNS)
    assert (fit._WIDTH_UNIT, fit._PANEL) == (WIDTH_UNIT, PANEL_CHANNELS)
    assert fit._ROUNDED_NUMBERS == BLOCK_SIZE
    for dtype in ("auto", *fit.OFFERED_DTYPES):
        precision = resolve_precision(dtype, torch.device("cpu"), has_kernels=machine.has_kernels)
        assert fit.resolve(dtype, machine) == precision.name
        assert activation_bytes(fit.resolve(dtype, machine), machine) == precision.dtype.itemsize
        kept = precision.kept_dtype if machine.has_kernels else precision.dtype
        assert fit.cache_width(fit.resolve(dtype, machine), machine) == kept.itemsize


@pytest.mark.parametrize(
    ("flags", "compiled", "want"),
    [
        ("fpu avx avx2 fma f16c", True, (False, False, False, True)),
        ("fpu avx avx2 fma f16c", False, (False, False, False, False)),
        ("fpu avx f16c", True, (False, False, False, False)),
        ("avx2 fma f16c avx_vnni", True, (False, False, False, True)),
        ("avx2 fma f16c avx512_vnni", True, (False, False, True, True)),
        ("avx2 fma f16c avx512_vnni avx512_bf16", True, (True, False, True, True)),
        ("avx2 fma f16c avx512_vnni amx_tile amx_int8", True, (True, sys.platform != "linux", True, True)),
        ("", True, (False, False, False, False)),
    ],
)
def test_what_the_processor_says(monkeypatch: pytest.MonkeyPatch, flags: str, compiled: bool, want: tuple[bool, ...]):
    monkeypatch.setattr(fit, "cpu_flags", lambda: frozenset(flags.split()))
    monkeypatch.setattr(fit, "native_kernels", lambda: Path("kernels.so") if compiled else None)
    machine = fit.machine_here()
    assert (machine.has_bfloat16, machine.has_tiles, machine.is_wide, machine.has_kernels) == want


def test_our_kernels_multiply_the_embedding_itself():
    """In bfloat16, with float32 around it; a norm is part of what is around."""
    assert fit.resolve("auto", OLDER) == fit.resolve("auto", OLDER, "") == "bfloat16"
    assert [fit.resolve("auto", OLDER, stored) for stored in ("int4", "int8", "bfloat16")] == [
        "int4",
        "int8",
        "bfloat16",
    ]
    assert fit.resolve("auto", replace(OLDER, has_kernels=False), "int4") == "float32"
    assert fit.resolve("auto", replace(OLDER, device="cuda"), "int4") == "int4"
    assert fit.resolve("auto", replace(OLDER, device="cuda", has_kernels=False), "int4") == "bfloat16"
    assert fit.resolve("int8", OLDER, "int4") == "int8"
    plain = estimate(LLAMA_1B, OLDER, context=8192)
    panels = sum(-(-matrix.rows // PANEL_CHANNELS) for matrix in (*LLAMA_1B.matrices.elements(), LLAMA_1B.head))
    norms = LLAMA_1B.norms
    assert plain.weights == CODED_BYTES * (1_235_814_400 - norms) + 24 * panels + 4 * norms
    assert plain.cache == 8192 * 2 * 16 * 8 * 64 * 2
    for dtype, width in (("float32", 4), ("int8", 2), ("int4", 2)):
        assert estimate(LLAMA_1B, OLDER, dtype, context=8192).cache == 8192 * 2 * 16 * 8 * 64 * width
        without = estimate(LLAMA_1B, replace(OLDER, has_kernels=False), dtype, context=8192)
        assert without.cache == 8192 * 2 * 16 * 8 * 64 * 4
    small = estimate(LLAMA_1B, OLDER, context=8192, cache_dtype="int8")
    assert small.cache == 8192 * 2 * 16 * 8 * (64 + 4)
    assert (small.weights, small.tokens_per_second > plain.tokens_per_second) == (plain.weights, True)
    own_head = replace(LLAMA_1B, is_tied=False)
    assert (
        estimate(own_head, OLDER).weights
        == plain.weights + CODED_BYTES * LLAMA_1B.head.numbers + 24 * LLAMA_1B.head.rows / PANEL_CHANNELS
    )
    whole = estimate(LLAMA_1B, OLDER, "float32").weights
    assert whole == 4 * (1_235_814_400 + LLAMA_1B.head.numbers)


def test_weights_of_our_own_kernels():
    rows, numbers, other = 128256 + 16 * (3072 + 2048 + 16384 + 2048), 1_235_814_400 - LLAMA_1B.norms, LLAMA_1B.norms
    embedding, table = LLAMA_1B.head.numbers, LLAMA_1B.head.numbers + 4 * 128256
    sevens = embedding + embedding // 32 + embedding // 64  # a step for each group, a factor for each block
    whole = numbers + numbers // 32 + numbers // 64 + 4 * other
    assert estimate(LLAMA_1B, OLDER, "int8").weights == whole
    own_head = replace(LLAMA_1B, is_tied=False)
    assert estimate(own_head, OLDER, "int8").weights == whole + sevens
    wide = replace(OLDER, is_wide=True)
    assert estimate(LLAMA_1B, wide, "int8").weights == numbers + 4 * rows + 4 * other
    inner = numbers - embedding
    fours = inner // 2 + inner // 16 + 4 * (rows - 128256) + 4 * other
    assert estimate(LLAMA_1B, OLDER, "int4").weights == fours + sevens
    small = fours + 4 * 128256 + embedding
    assert estimate(LLAMA_1B, wide, "int4").weights == small
    newer = replace(HERE, has_tiles=True, has_kernels=True)
    assert estimate(LLAMA_1B, newer, "int4").weights == small + table + 4 * 128256 - 2 * other
    for dtype in ("float32", "bfloat16", "int8"):
        assert estimate(LLAMA_1B, newer, dtype) == estimate(LLAMA_1B, HERE, dtype)


def test_a_width_that_four_bits_do_not_come_in_has_eight():
    odd = ModelShape(1000, 96, 160, 1, 4, 4, 24)
    assert weight_bytes(odd, "int4", OLDER) == weight_bytes(odd, "int8", OLDER)
    assert weight_bytes(odd, "int4", HERE) < weight_bytes(odd, "int8", HERE)


def test_a_card_takes_four_bits_only_with_our_kernels():
    card = Machine(8 * GB, 8 * GB, device="cuda", has_kernels=True, bandwidth=50e9)
    bare = replace(card, has_kernels=False)
    *others, four = choices(LLAMA_1B, card)
    assert [(one.dtype, one.needed) for one in others] == [(one.dtype, one.needed) for one in choices(LLAMA_1B, bare)]
    assert four.dtype == "int4"
    numbers, embedding = 1_235_814_400, 128256 * 2048
    assert four.weights == pytest.approx((numbers - embedding) * 0.625 + 2 * embedding, rel=0.01)


def test_the_numbers_of_a_known_model():
    # 1,235,814,400 parameters, the embedding's 262,668,288 twice
    plain = estimate(LLAMA_1B, HERE, "bfloat16", context=8192, chats=3)
    assert plain.weights == 2 * (1_235_814_400 + 262_668_288)
    assert plain.cache == 3 * 8192 * 2 * 16 * 8 * 64 * 2
    assert plain.needed == pytest.approx(plain.weights + plain.cache, rel=0.05)


def test_rounding_needs_room_while_it_loads():
    small = estimate(LLAMA_1B, HERE, "int8", context=512)
    assert small.needed == pytest.approx(small.weights + small.cache, rel=0.05)  # the rest comes later, and is more
    flat = replace(LLAMA_1B, layers=1)
    only = estimate(flat, HERE, "int8", context=512)
    assert only.needed == pytest.approx(5 * flat.head.numbers, rel=0.1)
    assert only.needed > only.weights + only.cache


def test_a_replaced_model_gives_its_memory_back():
    machine = Machine(4 * GB, 1 * GB, has_bfloat16=True)
    assert estimate(LLAMA_1B, machine, "bfloat16").verdict == "too large"
    replaced = estimate(LLAMA_1B, machine, "bfloat16", freed=4 * GB)
    assert (replaced.verdict, replaced.free) == ("runs", 5 * GB)


@pytest.mark.parametrize(
    ("free", "verdict", "words"),
    [
        (8, "runs", "Runs as bfloat16: needs 3.19 GB of 8.00 GB free (3.00 GB weights, 0.13 GB for what was said)."),
        (3.5, "tight", "Tight as bfloat16: needs 3.19 GB of 3.50 GB free"),
        (2, "too large", "Too large as bfloat16: needs 3.19 GB, and 2.00 GB are free"),
    ],
)
def test_the_verdict_says_the_numbers(free: float, verdict: str, words: str):
    found = estimate(LLAMA_1B, Machine(16 * GB, round(free * GB), has_bfloat16=True), "auto")
    assert found.verdict == verdict
    assert found.words.startswith(words)


def test_speed_follows_what_is_read():
    speeds: dict[str, Any] = {found.dtype: found.tokens_per_second for found in choices(LLAMA_1B, HERE)}
    assert speeds["float32"] < speeds["bfloat16"] < speeds["int8"]
    assert speeds["bfloat16"] == pytest.approx(50e9 * fit._EFFICIENCY["bfloat16"] / 2.47e9, rel=0.15)
    older: dict[str, Any] = {found.dtype: found.tokens_per_second for found in choices(LLAMA_1B, OLDER)}
    assert older["float32"] < older["bfloat16"] < older["int8"] < older["int4"]
    assert older["float32"] == pytest.approx(speeds["float32"])
    assert older["bfloat16"] == pytest.approx(50e9 * 0.9 / 1.85e9, rel=0.15)
    newer = replace(HERE, has_tiles=True, has_kernels=True)
    assert speeds["int4"] < estimate(LLAMA_1B, newer, "int4").tokens_per_second < older["int4"]
    assert estimate(LLAMA_1B, Machine(GB, GB)).tokens_per_second is None
    assert "tokens/s" in estimate(LLAMA_1B, HERE).words


@pytest.mark.parametrize(("free", "taken"), [(16, "bfloat16"), (3, "int8"), (1.7, "int4"), (0.5, "int4")])
def test_the_best_choice_is_the_most_exact_that_runs(free: float, taken: str):
    fits = choices(LLAMA_1B, Machine(16 * GB, round(free * GB), has_bfloat16=True))
    assert best_choice(fits, "bfloat16").dtype == taken


def test_a_card_holds_a_tied_matrix_once():
    card = Machine(8 * GB, 8 * GB, device="cuda")
    assert estimate(LLAMA_1B, card).weights == 2 * 1_235_814_400
    assert [found.dtype for found in choices(LLAMA_1B, card)] == ["float32", "bfloat16", "int8"]
    assert "int4" in [found.dtype for found in choices(LLAMA_1B, replace(card, has_kernels=True))]
    apple = Machine(8 * GB, 8 * GB, device="mps")
    assert [found.dtype for found in choices(LLAMA_1B, apple)] == ["float32", "bfloat16"]


def test_in_eight_bits_a_card_holds_a_tied_matrix_twice():
    """To look tokens up, and to multiply."""
    card = Machine(8 * GB, 8 * GB, device="cuda")
    embedding = 128256 * 2048
    small = estimate(LLAMA_1B, card, "int8").weights
    assert small == pytest.approx(1_235_814_400 + embedding, rel=0.01)


def test_the_bandwidth_is_a_plausible_number():
    assert 1e8 < read_bandwidth(2, seconds=0.05) < 1e13


def test_the_bandwidth_is_the_best_that_was_measured_in_a_month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file, day = tmp_path / "cache" / "bandwidth.json", 24 * 3600
    clock = [1.7e9]
    monkeypatch.setattr(bandwidth.time, "time", lambda: clock[0])

    def found(now: float) -> float:
        return steady_bandwidth(file, lambda _threads: now)

    assert [found(2e10), found(5e10), found(3e10)] == [2e10, 5e10, 5e10]
    clock[0] += 20 * day
    assert found(4e10) == 5e10
    clock[0] += 11 * day
    assert found(1e10) == 4e10, "older ones are forgotten"
    clock[0] -= 40 * day
    assert found(1e10) == 1e10, "and those of a clock that was wrong"
    for content in (b"", b"[]", b'{"machine": "another", "measured": [[1, 9e10]]}', b"\xff", b"[" * 100_000):
        file.write_bytes(content)
        assert found(1e10) == 1e10
    file.unlink()
    file.mkdir()
    assert found(3e10) == 3e10, "a file that cannot be written costs nothing else"


def test_no_number_that_is_none_is_believed(tmp_path: Path):
    file = tmp_path / "bandwidth.json"
    steady_bandwidth(file, lambda _threads: 1e10)
    kept = json.loads(file.read_bytes())
    for speed in ("1e999", "NaN", "-1", '"x"', "null", "[]"):
        file.write_text(json.dumps(kept).replace("10000000000.0", speed), encoding="utf-8")
        assert steady_bandwidth(file, lambda _threads: 2e10) == 2e10


# --- with a card

CARD = Machine(8 * GB, 7 * GB, device="cuda", has_kernels=True, bandwidth=448e9)


def test_a_model_that_fits_into_the_card_is_judged_there():
    both = replace(OLDER, total=32 * GB, free=30 * GB, card=CARD)
    found = estimate(LLAMA_1B, both, "bfloat16")
    assert (found.device, found.free) == ("cuda", CARD.free)
    assert found == estimate(LLAMA_1B, CARD, "bfloat16")
    assert found.words.startswith("Runs as bfloat16 on the graphics card: needs ")
    assert found.tokens_per_second > 3 * estimate(LLAMA_1B, replace(both, card=None), "bfloat16").tokens_per_second


def test_a_model_that_does_not_is_judged_by_the_computer():
    small = replace(CARD, free=round(1.6 * GB))
    both = replace(OLDER, total=32 * GB, free=30 * GB, card=small)
    assert estimate(LLAMA_1B, both, "bfloat16") == estimate(LLAMA_1B, replace(both, card=None), "bfloat16")
    assert {one.dtype: one.device for one in choices(LLAMA_1B, both)} == {
        "float32": "cpu", "bfloat16": "cpu", "int8": "cpu", "int4": "cuda"
    }  # fmt: skip


def test_four_bits_on_a_card_need_our_kernels():
    bare = replace(CARD, has_kernels=False)
    both = replace(OLDER, total=32 * GB, free=30 * GB, card=bare)
    assert estimate(LLAMA_1B, both, "int4").device == "cpu"
    assert [fit.resolve("auto", replace(both, card=one), "int4") for one in (CARD, bare)] == ["int4", "bfloat16"]


def test_keys_and_values_in_eight_bits_are_for_the_processor():
    both = replace(OLDER, total=32 * GB, free=30 * GB, card=CARD)
    assert estimate(LLAMA_1B, both, "int8", cache_dtype="int8").device == "cpu"


def test_the_speed_of_an_h100_is_about_what_was_measured():
    card = Machine(80 * GB, 79 * GB, device="cuda", has_kernels=True, bandwidth=3.35e12)
    for dtype, measured in (("bfloat16", 730), ("int8", 880), ("int4", 794)):
        assert 0.7 < estimate(LLAMA_1B, card, dtype, context=160).tokens_per_second / measured < 1.5


@pytest.mark.parametrize(("capability", "has_kernels"), [((7, 5), True), ((6, 1), False)])
def test_a_card_is_a_machine_of_its_own(monkeypatch, capability, has_kernels):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    card = GraphicsCard("a card", 8 * GB, 7 * GB, capability, 448e9)
    assert as_machine(card) == replace(CARD, has_kernels=has_kernels)
    assert as_machine(None) is None
