"""Will a model run here, and how fast? Arithmetic on its shape and on what the machine has free. Bytes and seconds.

`tests/benchmarks/fit.py` compares it with what the engine really takes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from llama_gui.library.model_shape import Matrix, ModelShape
from llama_gui.library.sizes import in_words

Device = Literal["cpu", "cuda", "mps"]

OFFERED_DTYPES = ("float32", "bfloat16", "int8", "int4")

_LAYER_S = 0.3e-3
"""What a layer takes however small it is."""

_GROUP = 32
_ALIGNMENT = 64
_KEY_BLOCK = 512
"""The engine's own: of `int4_levels`, `int4_panels` and `kv_cache`; a test keeps them together."""

_RUNTIME = {"float32": 60 * 10**6, "bfloat16": 60 * 10**6, "int8": 20 * 10**6, "int4": 20 * 10**6}
"""What the engine's libraries come to hold beside the weights: kernels, scratch, the tokenizer."""

_ROUNDED_NUMBERS = 2**19

_TIGHT = 0.85
"""Above this share of what is free, other programs get into trouble first."""

_DEVICES: dict[str, tuple[Device, ...]] = {"int8": ("cpu", "cuda"), "int4": ("cpu",)}
"""Where quantised weights run; others run anywhere."""

_EFFICIENCY = {"float32": 0.6, "bfloat16": 0.5, "int8": 0.4, "int4": 0.31}
"""The part of the read bandwidth that the kernels reach while they write one token (tests/benchmarks/fit.py)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to fit into. Bytes and bytes per second; `bandwidth` None: not measured.

    `free` is of the device's own memory: of the card for "cuda", of the computer otherwise. `has_bfloat16`: the
    processor multiplies it itself; where it does not, quantised weights come with float32 around them.
    """

    total: int
    free: int
    device: Device = "cpu"
    has_bfloat16: bool = False
    bandwidth: float | None = None


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


def estimate(
    shape: ModelShape, machine: Machine, dtype: str = "auto", *, context: int = 4096, chats: int = 1, freed: int = 0
) -> Fit:
    """Whether a model of `shape` fits. `freed`: bytes that the model gives back which it replaces."""
    dtype = resolve(dtype, machine)
    width = activation_bytes(dtype, machine)
    weights = weight_bytes(shape, dtype, width, machine.device)
    cache = cache_bytes(shape, context, width) * chats
    needed = max(weights + cache, _loading_bytes(shape, dtype, width, weights)) + _RUNTIME.get(
        dtype, _RUNTIME["bfloat16"]
    )
    free = max(machine.free, 0) + freed
    verdict = "too large" if needed > free else "tight" if needed > _TIGHT * free else "runs"
    speed = _speed(shape, dtype, width, machine, context)
    words = _words(dtype, needed, free, verdict, speed, weights, cache)
    return Fit(dtype, weights, cache, needed, free, speed, verdict, words)


def choices(
    shape: ModelShape, machine: Machine, *, context: int = 4096, chats: int = 1, freed: int = 0
) -> tuple[Fit, ...]:
    """Every dtype that we offer on this device, the most exact first."""
    offered = [dtype for dtype in OFFERED_DTYPES if machine.device in _DEVICES.get(dtype, (machine.device,))]
    return tuple(estimate(shape, machine, dtype, context=context, chats=chats, freed=freed) for dtype in offered)


def best_choice(fits: Iterable[Fit], preferred: str) -> Fit:
    """The one to take: `preferred` where it runs, else the most exact smaller one that does, else the smallest."""
    by_dtype = {fit.dtype: fit for fit in fits}
    if preferred in by_dtype and by_dtype[preferred].verdict == "runs":
        return by_dtype[preferred]
    smaller = [fit for fit in by_dtype.values() if fit.needed <= by_dtype.get(preferred, fit).needed]
    running = [fit for fit in smaller if fit.verdict == "runs"] or [fit for fit in smaller if fit.verdict == "tight"]
    return max(running, key=lambda fit: fit.needed) if running else min(by_dtype.values(), key=lambda fit: fit.needed)


def resolve(dtype: str, machine: Machine) -> str:
    """What "auto" is on this machine, as the engine takes it."""
    if dtype != "auto":
        return dtype
    if machine.device == "cpu":
        return "bfloat16" if machine.has_bfloat16 else "float32"
    return "bfloat16"


def activation_bytes(dtype: str, machine: Machine) -> int:
    """Bytes of one number of the cache and of what the layers hand on."""
    if dtype in ("int8", "int4"):
        return 2 if machine.has_bfloat16 or machine.device != "cpu" else 4
    return 4 if dtype == "float32" else 2


def weight_bytes(shape: ModelShape, dtype: str, width: int, device: Device = "cpu") -> int:
    """All weights in memory. On the CPU a tied matrix is there twice: to look tokens up, and packed to multiply."""
    linears = sum(_matrix_bytes(matrix, dtype, width) for matrix in shape.matrices)
    embedding = shape.head.numbers * width
    is_shared = device != "cpu" and shape.is_tied and dtype not in ("int8", "int4")
    head = 0 if is_shared else _matrix_bytes(shape.head, "int8" if dtype == "int4" else dtype, width)
    return linears + embedding + head + shape.norms * width


def cache_bytes(shape: ModelShape, tokens: int, width: int) -> int:
    """Keys and values of one chat of so many tokens."""
    return shape.kv_numbers * -(-tokens // _KEY_BLOCK) * _KEY_BLOCK * width


def machine_here(bandwidth: float | None = None) -> Machine:
    """This computer without its graphics card: what is known without loading torch."""
    import psutil  # here: the window shows sooner

    memory = psutil.virtual_memory()
    return Machine(memory.total, memory.available, has_bfloat16=_has_bfloat16(), bandwidth=bandwidth)


def _matrix_bytes(matrix: Matrix, dtype: str, width: int) -> int:
    bias = matrix.rows * width if matrix.has_bias else 0
    if dtype == "int4" and matrix.columns % _GROUP == 0:
        rows = -(-matrix.rows // _ALIGNMENT) * _ALIGNMENT
        # Half a byte each; a step and an offset for each group, a scale for each row.
        return rows * (matrix.columns // 2 + matrix.columns // _GROUP * 4 + width) + bias
    if dtype in ("int8", "int4"):
        return matrix.numbers + 8 * matrix.rows + bias  # a scale and a zero for each row
    return matrix.numbers * width + bias


def _loading_bytes(shape: ModelShape, dtype: str, width: int, weights: int) -> int:
    """The most while it is loaded: the vocabulary projection comes last and is the largest."""
    numbers = shape.head.numbers
    own = 0 if shape.is_tied else numbers * width
    if dtype not in ("int8", "int4"):
        return weights + own
    # The rounded numbers are there twice while they are packed, and some of them in float32.
    return weights - (numbers + 8 * shape.vocabulary) + own + 2 * numbers + 9 * _ROUNDED_NUMBERS


def _speed(shape: ModelShape, dtype: str, width: int, machine: Machine, context: int) -> float | None:
    """Tokens per second of one chat: each token reads every weight but the embedding, and half a context's cache."""
    if machine.bandwidth is None:
        return None
    read = weight_bytes(shape, dtype, width) - shape.head.numbers * width
    seconds = read / (machine.bandwidth * _EFFICIENCY[dtype])
    seconds += _LAYER_S * shape.layers
    return 1 / (seconds + cache_bytes(shape, context, width) / 2 / machine.bandwidth)


def _words(dtype: str, needed: int, free: int, verdict: str, speed: float | None, weights: int, cache: int) -> str:
    parts = f"{in_words(weights)} weights, {in_words(cache)} for what was said"
    pace = "" if speed is None else f" About {speed:.0f} tokens/s." if speed >= 1 else " Less than one token/s."
    if verdict == "runs":
        return f"Runs as {dtype}: needs {in_words(needed)} of {in_words(free)} free ({parts}).{pace}"
    if verdict == "tight":
        advice = "Close other programs first."
        return f"Tight as {dtype}: needs {in_words(needed)} of {in_words(free)} free ({parts}). {advice}{pace}"
    return f"Too large as {dtype}: needs {in_words(needed)}, and {in_words(free)} are free ({parts})."


def _has_bfloat16() -> bool:
    """As the engine finds it, without torch; where nobody says, float32 is assumed."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_tile" in flags
