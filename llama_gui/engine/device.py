"""The machine: which device and dtype a model gets, how many threads, how much memory its conversations may use."""

import contextlib
import ctypes
import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil
import torch

from llama_gui.errors import InvalidRequestError, UnsupportedModelError
from llama_gui.vocabulary import DEVICES, DTYPES

_TORCH_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

KV_SHARE = 0.5
"""The share of the memory that is free after loading that conversations may take."""
MIN_KV_BYTES = 64 * 2**20
SPARE_BYTES = 512 * 2**20
"""Stays free beside the weights of a large model, for conversations and for everybody else."""
SMALL_WEIGHT_BYTES = 48 * 2**20
"""Below this one thread decodes at least as fast as two, and far faster beside others (benchmarks/chats.py)."""
MOST_THREADS = max(256, 4 * (os.cpu_count() or 1))
"""Far more than any machine can use; with 100,000 the process crashes, because the system refuses that many."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_SCRATCH_BYTES = 64 * 2**20  # glibc allows at most half of it for the second


def devices_here() -> tuple[str, ...]:
    """The devices of this machine that torch can use, the CPU first."""
    devices = ["cpu"]
    if torch.cuda.is_available():
        devices.append("cuda")
    if torch.backends.mps.is_available():
        devices.append("mps")
    return tuple(devices)


def thread_count(weight_bytes: int) -> int:
    """One thread for each physical core that this process may use: siblings share the vector units.

    Only one for a small network: synchronising threads after every few microseconds of work costs more than they gain.
    """
    if weight_bytes < SMALL_WEIGHT_BYTES:
        return 1
    return physical_cores()


def physical_cores() -> int:
    """The physical cores that this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))


@contextlib.contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use `count` CPU threads for what the calling thread does; other threads keep theirs."""
    former = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(former)


def resolve_device(name: str) -> torch.device:
    """The device that `name` ("auto" or one of `DEVICES`) stands for.

    Raises:
        InvalidRequestError: it is not known, or this machine has none.
    """
    available = devices_here()
    if name == "auto":
        return torch.device(next((d for d in ("cuda", "mps") if d in available), "cpu"))
    if name not in DEVICES:
        raise InvalidRequestError("device", name, f"one of {', '.join(DEVICES)}")
    if name not in available:
        raise InvalidRequestError("device", name, f"one that this machine has: {', '.join(available)}")
    return torch.device(name)


NetworkPart = Literal["layers", "table", "head"]
"""What holds nearly all numbers: the matrices of all layers, the embedding, the vocabulary projection."""

Quantised = Literal["int8", "int4"]
"""How weights are rounded: to eight bits or to four."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How numbers are held: activations and cache in `dtype`, the weights of linears too unless they are quantised.

    `held`: the dtype in which weights stay in memory where it differs from `dtype`: our own kernels multiply weights in
    half precision by float32 rows.
    `as_stored`: weights that a GGUF file holds in blocks which our own kernels multiply stay as they are.
    `keeps_levels`: on a card, that lays them out anew, their levels do.
    """

    dtype: torch.dtype
    quantised: Quantised | None = None
    held: torch.dtype | None = None
    as_stored: bool = False
    keeps_levels: bool = False

    @property
    def name(self) -> str:
        """As `Engine.load` has it."""
        return self.quantised or str(self.table_dtype).removeprefix("torch.")

    @property
    def table_dtype(self) -> torch.dtype:
        """Of the embedding, and of linears that are not quantised."""
        return self.held or self.dtype

    @property
    def kept_dtype(self) -> torch.dtype:
        """Of the embedding table, and of keys and values where our own kernels attend.

        With weights rounded to eight bits, more precision would be of no use there.
        """
        return torch.bfloat16 if self.quantised and self.dtype == torch.float32 else self.table_dtype


_OLDEST_CARD = (7, 5)


def resolve_precision(
    name: str,
    device: torch.device,
    *,
    has_kernels: bool = False,
    stored: Quantised | None = None,
    keeps_blocks: bool = False,
) -> Precision:
    """What `name` ("auto" or one of `DTYPES`) stands for on `device`.

    "auto" on CPU is bfloat16. If `has_kernels`, only the weights are held in it and activations are float32, except
    where `only_torch_has_tiles`. Without kernels all is float32 where the CPU does not multiply bfloat16 natively,
    because emulation is slower. A model whose file is quantised (`stored`) gets about as many bits, if `has_kernels`;
    its blocks stay as they are, if it `keeps_blocks`.

    Raises:
        InvalidRequestError: it is not known.
        UnsupportedModelError: it is known, but cannot be used here.
    """
    if name not in DTYPES:
        raise InvalidRequestError("dtype", name, f"one of {', '.join(DTYPES)}")
    has_kernels = has_kernels and device.type == "cpu"
    has_card = has_card_kernels(device)
    if name == "auto" and (has_kernels or has_card) and stored is not None:
        name = stored
    if name not in ("int8", "int4"):
        return _plain_precision(name, device, has_kernels)
    if device.type != "cpu" and not has_card and (name, device.type) != ("int8", "cuda"):
        where = "the CPU and CUDA" if name == "int8" else "the CPU and, with Triton, on NVIDIA cards"
        raise UnsupportedModelError(f"dtype {name} runs on {where} only. Use auto.")
    if has_card:
        return Precision(_best_dtype(device), quantised=name, keeps_levels=stored == name)
    dtype = torch.float32 if has_kernels and not only_torch_has_tiles() else _best_dtype(device)
    return Precision(dtype, quantised=name, as_stored=has_kernels and keeps_blocks and stored == name)


def has_card_kernels(device: torch.device) -> bool:
    """Whether there should be kernels of ours for `device`, an NVIDIA card since Turing: they are in Triton.

    Where Triton cannot compile them, for want of a C compiler, weights of four bits have eight.
    """
    if device.type != "cuda" or torch.version.hip is not None or importlib.util.find_spec("triton") is None:
        return False
    return torch.cuda.is_available() and torch.cuda.get_device_capability(device) >= _OLDEST_CARD


def _plain_precision(name: str, device: torch.device, has_kernels: bool) -> Precision:
    if not has_kernels:
        return Precision(_TORCH_DTYPES.get(name) or _best_dtype(device))
    is_native = {"float32": True, "float16": _has_native_float16()}.get(name, only_torch_has_tiles())
    dtype = _TORCH_DTYPES.get(name, torch.bfloat16)
    return Precision(dtype) if is_native else Precision(torch.float32, held=dtype)


def precision_reason(
    name: str, precision: Precision, device: torch.device, *, is_fp8: bool = False, left_card: bool = False
) -> str:
    """Why a model that was asked for as `name` is held as `precision`, in a sentence or two for people.

    "auto" does not choose int8 although it is faster: its loss was measured on small models only. `is_fp8`: the weights
    come in FP8, where it does: on the starter model, FP8 loses three times as much as int8 then adds. `left_card`: they
    would be on a card by rights, which is what needs a reason.
    """
    if left_card:
        return "This model does not fit into the memory of the graphics card, so the processor runs it."
    if name != "auto":
        return f"You chose {name}."
    if device.type != "cpu" and precision.quantised is None:
        return f"{precision.name} is what {device.type} multiplies fastest without loss."
    if precision.quantised == "int4":
        return "The file holds the weights in four bits: more would take memory and time, and bring nothing back."
    if precision.quantised == "int8" and is_fp8:
        return (
            "The weights come in FP8, in eight bits, and are converted to int8, which loses little beside what FP8 has "
            "lost. bfloat16 would take half as much memory again."
        )
    if precision.quantised == "int8":
        return (
            "The file holds the weights in eight bits or fewer: bfloat16 would take more memory and time, and bring "
            "next to nothing back."
        )
    if precision.held is not None:
        return (
            "The weights are held in bfloat16, as models come, packed into three quarters of the memory with nothing "
            "lost. int8 takes two thirds of that and writes faster, at a small loss."
        )
    if precision.table_dtype == torch.bfloat16:
        return (
            "This CPU multiplies bfloat16 by itself, which loses nothing that matters. int8 takes half the memory and "
            "writes faster, at a small loss."
        )
    return (
        "This CPU does not multiply bfloat16 by itself, so float32 is faster and loses nothing. int8 takes a quarter "
        "of the memory, at a small loss."
    )


def _best_dtype(device: torch.device) -> torch.dtype:
    if device.type == "cpu":
        return torch.bfloat16 if has_native_bfloat16() else torch.float32
    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16


def has_native_bfloat16() -> bool:
    """Whether the CPU multiplies bfloat16 itself."""
    # Private probes of torch; where they are missing (ARM, another version), float32 is never wrong.
    probes = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, probe, lambda: False)() for probe in probes)


def only_torch_has_tiles() -> bool:
    """Whether the CPU has AMX, with which torch multiplies many rows, and our own kernels do not: they do on Linux."""
    return sys.platform != "linux" and getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)()


def _has_native_float16() -> bool:
    return getattr(torch.ops.mkldnn, "_is_mkldnn_fp16_supported", lambda: False)()


def kv_byte_budget(device: torch.device, held: int = 0) -> int:
    """Bytes that all conversations together may take now that the weights are in place; they already hold `held`."""
    return chat_bytes_of(_free_bytes(device), held)


def chat_bytes_of(free: int, held: int = 0) -> int:
    """The same, if `free` bytes are free."""
    return max(held + int(free * KV_SHARE), MIN_KV_BYTES)


def bytes_to_load(weight_bytes: int) -> int:
    """Bytes that must be free before a model whose weights take `weight_bytes` is loaded."""
    return weight_bytes + min(weight_bytes, SPARE_BYTES)


def available_bytes(device: str = "auto") -> int:
    """Bytes that are free now on the device which `device` ("auto" or one of `DEVICES`) stands for."""
    return _free_bytes(resolve_device(device))


def _free_bytes(device: torch.device) -> int:
    if device.type != "cuda":
        return psutil.virtual_memory().available
    # Kept by torch for later allocations. (`memory_reserved` and its like take ten times as long.)
    stats = torch.cuda.memory_stats_as_nested_dict(device)
    reserved, allocated = (
        stats.get(kind, {}).get("all", {}).get("current", 0) for kind in ("reserved_bytes", "allocated_bytes")
    )
    return torch.cuda.mem_get_info(device)[0] + reserved - allocated


def card_bytes(device: torch.device) -> int:
    """Bytes of a card's memory that are free, or this process's own."""
    return torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device)


def byte_count(*tensors: torch.Tensor | None) -> int:
    """Bytes of all that are there."""
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)


def promises_memory() -> bool:
    """Whether a process may reserve far more memory than it writes to, and nobody counts what it does not."""
    if sys.platform == "win32":
        return False
    import resource  # which Windows lacks

    limits = resource.RLIMIT_AS, resource.RLIMIT_DATA  # Linux counts what is only promised for both
    if any(resource.getrlimit(limit)[0] != resource.RLIM_INFINITY for limit in limits):
        return False
    try:
        return Path("/proc/sys/vm/overcommit_memory").read_text(encoding="ascii").strip() != "2"
    except OSError:  # no Linux, or a sandbox
        return True


def keep_scratch_memory() -> None:
    """Let the C library keep what a step frees for the next step.

    It returns blocks of some MiB to the system at once, which hands them out again page by page, each zeroed: that took
    as long as the arithmetic on them. At most `_SCRATCH_BYTES` more stay with the process.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # not every C library has it
            library = ctypes.CDLL(None)
            library.mallopt(_M_MMAP_THRESHOLD, _SCRATCH_BYTES // 2)
            library.mallopt(_M_TRIM_THRESHOLD, _SCRATCH_BYTES)


_WORTH_RETURNING = 2**22
"""Numbers, of up to four bytes."""


def give_memory_back(numbers: int | None = None) -> None:
    """Return freed memory, which C libraries and CUDA keep for later, to the system.

    `numbers`: how many were worked on, if that is known. Few leave too little to be worth the time.
    """
    if numbers is not None and numbers < _WORTH_RETURNING:
        return
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # not every C library has it
            ctypes.CDLL(None).malloc_trim(0)
