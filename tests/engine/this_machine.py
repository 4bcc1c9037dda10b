"""What this CPU can, asked of the CPU and of torch, not of the code under test: what is broken must not be skipped."""

import functools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
import torch

from llama_gui.engine import native_library
from llama_gui.engine.int8_linear import probe
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.packed_weights import CodedPanels, Panels, fits_panels
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import UnsupportedModelError


@functools.cache
def packs(dtype: torch.dtype) -> bool:
    """Whether oneDNN packs weights of `dtype`: of half precision it does where the CPU has AVX512."""
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        torch.ops.mkldnn._reorder_linear_weight(torch.ones(16, 8, dtype=dtype), 1)
    except RuntimeError as error:
        if "needs the cpu support" not in str(error):
            raise
        return False
    return True


def must_add_int8() -> bool:
    """Whether torch has to multiply int8 exactly here: CPUs with VNNI add in 32 bits, older ones may saturate in 16."""
    return torch.cpu._is_vnni_supported() or torch.cpu._is_amx_tile_supported()


@functools.cache
def adds_int8() -> bool:
    """Whether torch does. Where it has to it is believed, and the tests tell."""
    if must_add_int8():
        return True
    try:
        probe()
    except UnsupportedModelError:
        return False
    return True


def keeps_int8(dtype: str) -> bool:
    """Whether keys and values can be in eight bits beside weights of `dtype`: where our own kernels attend.

    Torch's do where the CPU has AMX and ours cannot have it, but for float32.
    """
    is_torchs = sys.platform != "linux" and torch.cpu._is_amx_tile_supported()
    return native_library.load() is not None and (dtype == "float32" or not is_torchs)


def as_multiplied(kernels: NativeKernels, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What is left of float32 rows where they are multiplied with a weight of `dtype`."""
    return x.bfloat16().float() if kernels.rounds_rows and dtype == torch.bfloat16 else x


def int8_forms(kernels: NativeKernels, weight: torch.Tensor) -> Sequence[torch.Tensor | Panels]:
    """`weight`, int8 ``[out, in]``, as it is, and in panels where `kernels` multiply those."""
    return [weight, kernels.panels(weight)] if kernels.is_wide and fits_panels(weight.shape[1]) else [weight]


def half_forms(kernels: NativeKernels, weight: torch.Tensor) -> Sequence[torch.Tensor | CodedPanels]:
    """`weight` ``[out, in]`` of half precision as it is, and in codes where it can be."""
    if weight.dtype != torch.bfloat16 or not fits_panels(weight.shape[1]):
        return [weight]
    return [weight, kernels.coded(WeightRows.of(weight))]


def needs_packed(*dtypes: torch.dtype) -> Sequence[Any]:
    """`dtypes` as parameters of a test; those of which this CPU packs no weights are skipped."""
    return [
        pytest.param(dtype, id=str(dtype), marks=pytest.mark.skipif(not packs(dtype), reason=_no_packing(dtype)))
        for dtype in dtypes
    ]


def _no_packing(dtype: torch.dtype) -> str:
    return f"oneDNN packs no weights of {dtype} for this CPU"


needs_packed_bfloat16 = pytest.mark.skipif(not packs(torch.bfloat16), reason=_no_packing(torch.bfloat16))

needs_torch_int8 = pytest.mark.skipif(not adds_int8(), reason="torch does not multiply int8 exactly on this CPU")

needs_native_kernels = pytest.mark.skipif(
    native_library.load() is None, reason="our kernels were not compiled, or this CPU has no AVX2"
)


def register_widths(*, products: bool = True) -> Sequence[Any]:
    """How our own kernels can be run here, as parameters.

    Only `products` differ where whole numbers are added in fours. A CPU with AMX never does that, and what others do in
    512 bits it does in the campaign.
    """
    found = native_library.load()
    if found is None:
        return ["narrow"]
    if found.has_tiles:
        return ["tiles", pytest.param("wide", marks=pytest.mark.campaign), "narrow"]
    return [*(["wide"] if found.is_wide else []), "narrow", *(["in fours"] if found.adds_fours and products else [])]


@contextmanager
def limited(found: NativeKernels, width: str) -> Iterator[NativeKernels]:
    """The kernels as one of `register_widths` says."""
    ways = {
        "tiles": nullcontext,
        "wide": found.without_tiles if found.has_tiles else nullcontext,
        "narrow": found.narrow,
        "in fours": functools.partial(found.narrow, in_fours=True),
    }
    with ways[width]():
        yield found
