"""A second kernel over a weight that oneDNN has packed for a linear: a 1 x 1 convolution, for many rows.

A product of many rows is also a convolution with 1 x 1 pixels over a picture whose pixels are the rows. oneDNN's kernel
for it sums each pixel in the order in which its linear one sums up to 32 rows, whatever their number, and does 2.2
TFLOP/s where the linear one in calls of 32 does 0.7 (measured: torch 2.13, AMX, bfloat16, two cores). A linear weight
that is packed for one row has the layout of the convolution's weight, so both use the same bytes.

All of that is probed: the bytes of both packings, and the bits of both results. The view of the packed bytes comes
from torch's stable C interface, where compiled models (AOTInductor) load their packed constants with it.
"""

import ctypes
import math
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_LIBRARIES = {"linux": "libtorch_cpu.so", "win32": "torch_cpu.dll", "darwin": "libtorch_cpu.dylib"}
_NONE, _ONES = [0, 0], [1, 1]


class WideKernel:
    """The layout of a packed convolution weight of one shape and dtype, for oneDNN; it owns no bytes of a weight."""

    def __init__(self, shape: tuple[int, int], dtype: torch.dtype, layout: Tensor) -> None:
        self._shape = shape
        self._dtype = dtype
        self._layout = layout

    @classmethod
    def of(cls, weight: Tensor, packed: Tensor) -> "WideKernel":
        """The kernel for weights of the shape ``[out, in]`` of `weight`, whose linear packing is `packed`.

        Raises:
            RuntimeError, AttributeError, OSError: this build or CPU lacks it, or packs the two in different ways.
        """
        out, wide = weight.shape
        picture = torch.ops.mkldnn._reorder_convolution_weight(
            weight.view(out, wide, 1, 1), _NONE, _ONES, _ONES, 1, [1, wide, 1, 1]
        )
        if not torch.equal(_bytes(picture), _bytes(packed)):
            raise RuntimeError("the two kernels lay their weights out differently")
        return cls((out, wide), weight.dtype, torch.ops.mkldnn._get_mkldnn_serialized_md(picture))

    def view(self, packed: Tensor) -> Tensor:
        """The bytes of `packed`, a linear weight of this shape, as a convolution weight. `packed` has to outlive it."""
        if torch.ops.mkldnn._nbytes(packed) != math.prod(self._shape) * self._dtype.itemsize:
            raise RuntimeError("the packed weight has room between its numbers")
        return _opaque_view(torch.ops.mkldnn.data_ptr(packed), (*self._shape, 1, 1), self._dtype, self._layout)


def multiply_wide(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x [rows, in] -> [rows, out]`` with a weight from `WideKernel.view` and a bias ``[out]``."""
    rows, wide = x.shape
    pixels = x.contiguous().view(1, 1, rows, wide).permute(0, 3, 1, 2)
    y = torch.ops.mkldnn._convolution_pointwise.default(pixels, weight, bias, _NONE, _ONES, _ONES, 1, "none", [], "")
    return y.permute(0, 2, 3, 1).reshape(rows, -1)


def _bytes(packed: Tensor) -> Tensor:
    """No copy: valid as long as `packed` is."""
    kind = ctypes.c_byte * torch.ops.mkldnn._nbytes(packed)
    return torch.frombuffer(kind.from_address(torch.ops.mkldnn.data_ptr(packed)), dtype=torch.int8)


def _opaque_view(address: int, sizes: tuple[int, ...], dtype: torch.dtype, layout: Tensor) -> Tensor:
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / _LIBRARIES[sys.platform]))
    # torch/csrc/inductor/aoti_torch/c/shim.h
    create = library.aoti_torch_create_tensor_from_blob_v2
    whole, number, pointer = ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p
    create.restype = number
    create.argtypes = [
        pointer, whole, pointer, pointer, whole, number, number, number, pointer, number, pointer, whole,
    ]  # fmt: skip
    dimensions = (whole * len(sizes))(*sizes)
    kind = getattr(library, f"aoti_torch_dtype_{str(dtype).removeprefix('torch.')}")()
    handle = pointer()
    # The second `dimensions` stand for the strides, which nobody reads: `layout` says how the numbers lie.
    failed = create(
        address, len(sizes), dimensions, dimensions, 0, kind, library.aoti_torch_device_type_cpu(), -1,
        ctypes.byref(handle), library.aoti_torch_layout__mkldnn(), layout.data_ptr(), layout.numel(),
    )  # fmt: skip
    if failed:
        raise RuntimeError("torch refused the view of a packed weight")
    wrap = ctypes.pythonapi.PyCapsule_New
    wrap.restype, wrap.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
    aoti: Any = getattr(torch._C, "_aoti")  # noqa: B009 - torch's annotations do not know it
    return aoti.alloc_tensor_by_stealing_from_void_ptr(wrap(handle, None, None))
