"""Will a model run here, and how fast? Arithmetic on its shape and on what the machine has free. Bytes and seconds.

`tests/benchmarks/fit.py` compares it with what the engine really takes.
"""

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from llama_gui.library.graphics_card import GraphicsCard, card_here
from llama_gui.library.model_shape import Matrix, ModelShape
from llama_gui.library.processor import cpu_flags
from llama_gui.library.sizes import in_words
from llama_gui.paths import native_kernels

Device = Literal["cpu", "cuda", "mps"]

COUNTED_TOKENS = 4096
"""Tokens of one chat that a verdict counts with, where the model reads as many."""

OFFERED_DTYPES = ("float32", "bfloat16", "int8", "int4")

_LAYER_S, _NATIVE_LAYER_S = 0.3e-3, 0.07e-3
"""What a layer takes however small it is: many operations of torch, or one call of our kernels."""

_GROUP = 32
_ALIGNMENT = 64
_KEY_BLOCK = 512
_WIDTH_UNIT = 64
_BLOCK, _TOGETHER = 256, 8
_PANEL, _PANEL_UNIT = 32, 4
"""The engine's own: of `int4_levels`, `int4_panels`, `kv_cache` and `packed_weights`; a test keeps them together."""

_CODE_BYTES = 24
"""What comes once for a panel in codes: their table, where its strays begin, and their end."""

_HELD_BYTES = 2
"""Of a number in bfloat16, which is only held in it or multiplied, too."""

_RUNTIME = {"float32": 60 * 10**6, "bfloat16": 60 * 10**6, "int8": 20 * 10**6, "int4": 20 * 10**6}
"""What the engine's libraries come to hold beside the weights: kernels, scratch, the tokenizer."""

_ROUNDED_NUMBERS = 2**19

_ROUTER_BYTES = 4
"""Of a number of those, whatever the rest is."""

_SCALE_BYTES = 4
"""Of a row in eight bits, and the factor of a block."""

_TIGHT = 0.85
"""Above this share of what is free, other programs get into trouble first."""

_DEVICES: dict[str, tuple[Device, ...]] = {"int8": ("cpu", "cuda"), "int4": ("cpu", "cuda")}
"""Where quantised weights run, four bits on a card by our own kernels; others run anywhere."""

_EFFICIENCY = {"float32": 0.6, "bfloat16": 0.5, "int8": 0.4, "int4": 0.31}
"""The part of the read bandwidth that torch's kernels reach while they write one token (tests/benchmarks/fit.py)."""

_NATIVE_EFFICIENCY = {"bfloat16": 0.93, "int8": 0.9, "int4": 0.9}
"""The same of our own on CPUs that are no faster with torch's."""

_CARD_EFFICIENCY = {"float32": 0.8, "bfloat16": 0.8, "int8": 0.65, "int4": 0.45}
_CARD_LAYER_S = 0.03e-3
"""The same on cards, where a layer is a few launches that were recorded (an H100, see tests/benchmarks/results.md)."""

_OLDEST_CARD = (7, 5)
"""That our kernels for cards run on."""

_INT4_BESIDE_BFLOAT16 = 0.6
"""Our own of four bits on CPUs that multiply bfloat16: their memory is the faster one."""

_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_tile"})
_TILE_FLAG, _WIDE_FLAG = "amx_tile", "avx512_vnni"
_KERNEL_FLAGS = frozenset({"avx2", "fma", "f16c"})
"""As `processor` has them: any of the first is enough, all of the last are needed."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to fit into. Bytes and bytes per second; `bandwidth` None: not measured.

    `free` is of the device's own memory: of the card for "cuda", of the computer otherwise. `has_bfloat16`: the
    processor multiplies it itself. `has_tiles`: it has AMX, which our own kernels use on Linux only,
    so that torch's of eight bits and more are faster.
    `has_kernels`: our own were compiled, and it can run them; of a card: Triton is there. `is_wide`: these have AVX-512
    with VNNI. `card`: one that the engine would take by itself for a model that fits there.
    """

    total: int
    free: int
    device: Device = "cpu"
    has_bfloat16: bool = False
    has_tiles: bool = False
    is_wide: bool = False
    has_kernels: bool = False
    bandwidth: float | None = None
    card: "Machine | None" = None

    @property
    def holds_halves(self) -> bool:
        """Whether weights in bfloat16 come with float32 around them: our own kernels multiply them."""
        return self.has_kernels and self.device == "cpu" and not self.has_tiles

    @property
    def has_native_int8(self) -> bool:
        """Whether our own kernels multiply eight bits."""
        return self.holds_halves

    @property
    def has_native_int4(self) -> bool:
        """Whether our own kernels multiply four bits."""
        return self.has_kernels and self.device == "cpu"


@dataclass(frozen=True, slots=True)
class Fit:
    """One model in one dtype for so many chats of so many tokens.

    `needed` is the most that it ever takes, while it is loaded or while it runs; `free` what there is, with what the
    replaced model gives back. `verdict`: "runs", "tight" or "too large"; `words` the same with the numbers.
    """

    dtype: str
    weights: int
    cache: int
    needed: int
    free: int
    tokens_per_second: float | None
    verdict: Literal["runs", "tight", "too large"]
    words: str
    device: Device = "cpu"


_STATES = 2
"""Of each chat: that behind its last token, and that of the next step."""


def counted_tokens(context: int) -> int:
    """Tokens of one chat that the verdict on a model counts with; `context`: what it reads at most, 0 if unknown."""
    return min(context, COUNTED_TOKENS) if context > 0 else COUNTED_TOKENS


def estimate(
    shape: ModelShape,
    machine: Machine,
    dtype: str = "auto",
    *,
    context: int = COUNTED_TOKENS,
    chats: int = 1,
    freed: int = 0,
    cache_dtype: str = "auto",
) -> Fit:
    """Whether a model of `shape` fits: into the card, where there is one, and else into the computer's memory.

    `freed`: bytes that the model gives back which it replaces; `cache_dtype`: as the engine has it.
    """
    dtype = resolve(dtype, machine)
    if machine.card is not None and cache_dtype == "auto" and _runs(dtype, machine.card):  # int8 is for CPUs
        on_card = estimate(shape, machine.card, dtype, context=context, chats=chats, freed=freed)
        if on_card.verdict != "too large":
            return on_card
    weights = weight_bytes(shape, dtype, machine)
    token_bytes = kept_bytes(shape, dtype, machine, cache_dtype)
    cache = (cache_bytes(context, token_bytes) + _STATES * shape.state_bytes) * chats
    needed = max(weights + cache, _loading_bytes(shape, dtype, machine, weights)) + _RUNTIME.get(
        dtype, _RUNTIME["bfloat16"]
    )
    free = max(machine.free, 0) + freed
    verdict = "too large" if needed > free else "tight" if needed > _TIGHT * free else "runs"
    speed = _speed(shape, dtype, machine, context, token_bytes)
    where = " on the graphics card" if machine.device == "cuda" else ""
    words = _words(dtype + where, needed, free, verdict, speed, weights, cache)
    return Fit(dtype, weights, cache, needed, free, speed, verdict, words, machine.device)


def choices(
    shape: ModelShape,
    machine: Machine,
    *,
    context: int = COUNTED_TOKENS,
    chats: int = 1,
    freed: int = 0,
    cache_dtype: str = "auto",
) -> tuple[Fit, ...]:
    """Every dtype that we offer on this device, the most exact first. `freed`, `cache_dtype`: see `estimate`."""
    offered = [dtype for dtype in OFFERED_DTYPES if _runs(dtype, machine)]
    return tuple(
        estimate(shape, machine, dtype, context=context, chats=chats, freed=freed, cache_dtype=cache_dtype)
        for dtype in offered
    )


def best_choice(fits: Iterable[Fit], preferred: str) -> Fit:
    """The one to take: `preferred` where it runs, else the most exact smaller one that does, else the smallest."""
    by_dtype = {fit.dtype: fit for fit in fits}
    if preferred in by_dtype and by_dtype[preferred].verdict == "runs":
        return by_dtype[preferred]
    smaller = [fit for fit in by_dtype.values() if fit.needed <= by_dtype.get(preferred, fit).needed]
    running = [fit for fit in smaller if fit.verdict == "runs"] or [fit for fit in smaller if fit.verdict == "tight"]
    return max(running, key=lambda fit: fit.needed) if running else min(by_dtype.values(), key=lambda fit: fit.needed)


def _runs(dtype: str, machine: Machine) -> bool:
    if dtype == "int4" and machine.device == "cuda":
        return machine.has_kernels
    return machine.device in _DEVICES.get(dtype, (machine.device,))


def resolve(dtype: str, machine: Machine, stored: str = "") -> str:
    """What "auto" is on this machine, as the engine takes it.

    `stored`: int4 or int8 for files whose weights are in four bits, or quantised otherwise (GGUF, FP8, MXFP4).
    """
    if dtype != "auto":
        return dtype
    if machine.card is not None:
        return resolve(dtype, machine.card, stored)
    if stored in ("int4", "int8") and machine.device != "mps" and machine.has_kernels:
        return stored
    if machine.device == "cpu":
        return "bfloat16" if machine.has_bfloat16 or machine.has_kernels else "float32"
    return "bfloat16"


def activation_bytes(dtype: str, machine: Machine) -> int:
    """Bytes of one number that the layers hand on."""
    if dtype in ("int8", "int4"):
        return 4 if machine.holds_halves or not (machine.has_bfloat16 or machine.device != "cpu") else 2
    return 4 if dtype == "float32" or machine.holds_halves else 2


def cache_width(dtype: str, machine: Machine) -> int:
    """Bytes of one number of keys and values, which our own kernels keep in half precision."""
    return _HELD_BYTES if dtype != "float32" and machine.holds_halves else activation_bytes(dtype, machine)


def kept_bytes(shape: ModelShape, dtype: str, machine: Machine, cache_dtype: str = "auto") -> int:
    """Keys and values of one token. In int8 each head has a scale of its own."""
    if cache_dtype == "int8":
        return shape.kv_numbers + shape.kv_numbers // shape.head_dim * _SCALE_BYTES
    return shape.kv_numbers * cache_width(dtype, machine)


def weight_bytes(shape: ModelShape, dtype: str, machine: Machine) -> int:
    """All weights in memory.

    A tied matrix is there twice on the CPU: to look tokens up, and packed to multiply. Our own kernels multiply
    what is looked up.
    """
    if dtype in ("int8", "int4"):
        is_shared = shape.is_tied and machine.has_native_int8
        rounded = shape.head.numbers + _SCALE_BYTES * shape.vocabulary
        embedding = _int8_bytes(shape.head, machine) if machine.has_native_int8 else rounded
    else:
        is_shared = shape.is_tied and (machine.device != "cpu" or (dtype != "float32" and machine.holds_halves))
        embedding = _plain_bytes(shape.head, dtype, machine)
    return (
        _linear_bytes(shape, shape.matrices, dtype, machine) + (0 if is_shared else embedding) + _seeing(shape, dtype)
    )


def _seeing(shape: ModelShape, dtype: str) -> int:
    """The network for images, which is never rounded to fewer bits than 16."""
    return shape.vision * (4 if dtype == "float32" else 2)


def cache_bytes(tokens: int, token_bytes: int) -> int:
    """Keys and values of one chat of so many tokens."""
    return -(-tokens // _KEY_BLOCK) * _KEY_BLOCK * token_bytes


def machine_here(bandwidth: float | None = None) -> Machine:
    """This computer: what is known without loading torch. `bandwidth`: of its memory."""
    import psutil  # here: the window shows sooner

    memory = psutil.virtual_memory()
    flags = cpu_flags()
    return Machine(
        memory.total,
        memory.available,
        has_bfloat16=not flags.isdisjoint(_BFLOAT16_FLAGS),
        has_tiles=_TILE_FLAG in flags and sys.platform != "linux",
        is_wide=_WIDE_FLAG in flags,
        has_kernels=flags >= _KERNEL_FLAGS and native_kernels() is not None,
        bandwidth=bandwidth,
        card=as_machine(card_here()),
    )


def as_machine(card: GraphicsCard | None) -> Machine | None:
    """A card, as a machine of its own."""
    if card is None:
        return None
    has_kernels = card.capability >= _OLDEST_CARD and importlib.util.find_spec("triton") is not None
    return Machine(card.total, card.free, "cuda", has_kernels=has_kernels, bandwidth=card.bandwidth)


def _linear_bytes(shape: ModelShape, matrices: Mapping[Matrix, int], dtype: str, machine: Machine) -> int:
    """`matrices` (with how many there are of each) and all that is beside them, but for the embedding, unless it is
    the vocabulary projection, too.
    """
    linears = sum(count * _matrix_bytes(matrix, dtype, machine) for matrix, count in matrices.items())
    linears += shape.router_numbers * _ROUTER_BYTES
    head = _matrix_bytes(shape.head, "int8" if dtype == "int4" else dtype, machine)
    return linears + head + shape.norms * activation_bytes(dtype, machine)


def _table_bytes(dtype: str) -> int:
    """Bytes of one number of a matrix that is not quantised."""
    return 4 if dtype == "float32" else _HELD_BYTES


def _matrix_bytes(matrix: Matrix, dtype: str, machine: Machine) -> int:
    width = activation_bytes(dtype, machine)
    bias = matrix.rows * width if matrix.has_bias else 0
    if dtype == "int4" and machine.has_native_int4 and matrix.columns % _WIDTH_UNIT == 0:
        # Half a byte each; a step and an offset for each group, a scale for each row.
        return matrix.rows * (matrix.columns // 2 + matrix.columns // _GROUP * 2 + 4) + bias
    if dtype == "int4" and not machine.has_native_int4 and matrix.columns % _GROUP == 0:
        rows = -(-matrix.rows // _ALIGNMENT) * _ALIGNMENT
        # The same, but steps and offsets in two bytes each.
        return rows * (matrix.columns // 2 + matrix.columns // _GROUP * 4 + width) + bias
    if dtype in ("int8", "int4"):
        return _int8_bytes(matrix, machine) + bias
    return _plain_bytes(matrix, dtype, machine) + bias


def _plain_bytes(matrix: Matrix, dtype: str, machine: Machine) -> int:
    """Of numbers that are not quantised; our own kernels have bfloat16 in codes, three bytes for two numbers.

    But for the few numbers that have no code.
    """
    if dtype != "bfloat16" or not machine.holds_halves or matrix.columns % _PANEL_UNIT:
        return matrix.numbers * _table_bytes(dtype)
    return _panel_numbers(matrix) * 3 // 2 + -(-matrix.rows // _PANEL) * _CODE_BYTES


def _panel_numbers(matrix: Matrix) -> int:
    """With those behind the last channel, where rows are whole fours of numbers."""
    rows = -(-matrix.rows // _PANEL) * _PANEL
    return rows * matrix.columns if matrix.columns % _PANEL_UNIT == 0 else matrix.numbers


def _int8_bytes(matrix: Matrix, machine: Machine) -> int:
    """Our own kernels have a step for each group and a factor for each block, or a scale for each row."""
    if not machine.has_native_int8:
        return matrix.numbers + 2 * _SCALE_BYTES * matrix.rows  # a scale, and a zero for torch
    if machine.is_wide:
        return _panel_numbers(matrix) + _SCALE_BYTES * matrix.rows
    if matrix.columns % _BLOCK:
        return matrix.numbers + _SCALE_BYTES * matrix.rows
    rows = -(-matrix.rows // _TOGETHER) * _TOGETHER
    return rows * (matrix.columns + matrix.columns // _GROUP + matrix.columns // _BLOCK * _SCALE_BYTES)


def _loading_bytes(shape: ModelShape, dtype: str, machine: Machine, weights: int) -> int:
    """The most while it is loaded: embedding and vocabulary projection come first, and are the largest."""
    numbers, width = shape.head.numbers, _table_bytes(dtype)
    if dtype not in ("int8", "int4"):
        # The embedding; the projection as it is read, and packed.
        vocabulary = numbers * width * (2 if shape.is_tied else 3)
        return weights if dtype != "float32" and machine.holds_halves else max(weights, vocabulary)
    if machine.has_native_int8:
        return weights + 9 * _ROUNDED_NUMBERS  # nothing is packed, but some of the numbers are there in float32
    # The same; the rounded numbers are there twice while they are packed, and some of them in float32.
    vocabulary = numbers + width * numbers + 2 * numbers
    return max(weights, vocabulary + 8 * shape.vocabulary) + 9 * _ROUNDED_NUMBERS


def _speed(shape: ModelShape, dtype: str, machine: Machine, context: int, token_bytes: int) -> float | None:
    """Tokens per second of one chat: each token reads every weight but the embedding, and half a context's cache.

    Of a mixture, the weights of those experts that it goes through.
    """
    if machine.bandwidth is None:
        return None
    efficiency, layer_s = _pace(dtype, machine)
    read = _linear_bytes(shape, shape.read_matrices, dtype, machine)
    seconds = read / (machine.bandwidth * efficiency) + layer_s * shape.layers
    cache = cache_bytes(context, token_bytes)
    return 1 / (seconds + (cache / 2 + _STATES * shape.state_bytes) / machine.bandwidth)


def _pace(dtype: str, machine: Machine) -> tuple[float, float]:
    """The part of the bandwidth that is reached, and the seconds that each layer takes besides."""
    if machine.device == "cuda":
        return _CARD_EFFICIENCY[dtype], _CARD_LAYER_S if machine.has_kernels else _LAYER_S
    is_native = {
        "bfloat16": machine.holds_halves,
        "int8": machine.has_native_int8,
        "int4": machine.has_native_int4,
    }
    if not is_native.get(dtype, False):
        return _EFFICIENCY[dtype], _LAYER_S
    return (_NATIVE_EFFICIENCY[dtype], _NATIVE_LAYER_S) if machine.holds_halves else (_INT4_BESIDE_BFLOAT16, _LAYER_S)


def _words(dtype: str, needed: int, free: int, verdict: str, speed: float | None, weights: int, cache: int) -> str:
    parts = f"{in_words(weights)} weights, {in_words(cache)} for what was said"
    pace = "" if speed is None else f" About {speed:.0f} tokens/s." if speed >= 1 else " Less than one token/s."
    if verdict == "runs":
        return f"Runs as {dtype}: needs {in_words(needed)} of {in_words(free)} free ({parts}).{pace}"
    if verdict == "tight":
        advice = "Close other programs first."
        return f"Tight as {dtype}: needs {in_words(needed)} of {in_words(free)} free ({parts}). {advice}{pace}"
    return f"Too large as {dtype}: needs {in_words(needed)}, and {in_words(free)} are free ({parts})."
