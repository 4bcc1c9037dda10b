"""How the keys and values of a conversation are held."""

import torch

from llama_gui.engine.device import Precision
from llama_gui.engine.native_attention import serves
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.errors import InvalidRequestError, UnsupportedModelError
from llama_gui.vocabulary import CACHE_DTYPES


def resolve_cache_dtype(
    name: str, precision: Precision, head_dim: int, device: torch.device, kernels: NativeKernels | None
) -> torch.dtype:
    """What `name`, one of `CACHE_DTYPES`, stands for in a network of this precision and width of heads.

    "auto" is the dtype of the activations or, where our own kernels attend, that of the table, often half as wide.

    Raises:
        InvalidRequestError: it is not known.
        UnsupportedModelError: it is known, but cannot be had here.
    """
    if name not in CACHE_DTYPES:
        raise InvalidRequestError("cache_dtype", name, f"one of {', '.join(CACHE_DTYPES)}")
    is_ours = device.type == "cpu" and kernels is not None and serves(precision.dtype, head_dim)
    if name == "auto":
        return precision.kept_dtype if is_ours else precision.dtype
    if is_ours:
        return torch.int8
    raise UnsupportedModelError(_refusal(precision, head_dim, device, kernels))


def name_of(dtype: torch.dtype) -> str:
    """As people write it."""
    return str(dtype).removeprefix("torch.")


def _refusal(precision: Precision, head_dim: int, device: torch.device, kernels: NativeKernels | None) -> str:
    if device.type != "cpu":
        return "Keys and values in int8 (cache_dtype) run on the CPU only. Use auto."
    if kernels is None:
        return (
            "Keys and values in int8 (cache_dtype) need our own kernels, which are not compiled here, older than their "
            "sources, or not for this CPU. Install llama-gui again, or use auto."
        )
    if precision.dtype != torch.float32:
        return (
            "Keys and values in int8 (cache_dtype) need our own kernels, and this CPU uses torch's for dtype "
            f"{precision.name}. Use auto."
        )
    return (
        "Keys and values in int8 (cache_dtype) need heads of at most 512 numbers, a multiple of eight, and those of "
        f"this model have {head_dim}. Use auto."
    )
