"""The embedding table: one row per token, in half precision or wider, in eight bits, or in a GGUF file's blocks."""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.device import byte_count
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.packed_weights import BlocksPacked, CodedPanels, Panels
from llama_gui.engine.quantised_linear import quantise_rows


class TokenTable(Protocol):
    """Numbers ``[vocab, hidden]``."""

    @property
    def rows(self) -> Tensor:
        """How they lie in memory, as a rule ``[vocab, hidden]``; in eight bits, the levels."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Bytes that they take."""
        ...

    def look_up(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows of `ids` ``[rows]``: ``[rows, hidden]``."""
        ...


class PlainTable:
    """Numbers as they are."""

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows

    @property
    def weight_bytes(self) -> int:
        """Bytes that they take."""
        return byte_count(self.rows)

    def look_up(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows of `ids` ``[rows]``: ``[rows, hidden]``."""
        return F.embedding(ids, self.rows).to(dtype)


class BlocksTable:
    """Blocks of a GGUF file, which our own kernels dequantise."""

    def __init__(self, weight: BlocksPacked, kernels: NativeKernels) -> None:
        self._weight = weight
        self._kernels = kernels

    @property
    def rows(self) -> Tensor:
        """How they lie in memory: uint8, several tokens side by side."""
        return self._weight.parts[0]

    @property
    def weight_bytes(self) -> int:
        """Bytes that they take."""
        return byte_count(*self._weight.parts)

    def look_up(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows of `ids` ``[rows]``: ``[rows, hidden]``."""
        return self._kernels.block_rows(self._weight, ids).to(dtype)


class PanelsTable:
    """Levels of eight bits in panels, and a float32 scale for each token ``[vocab]``."""

    def __init__(self, panels: Panels, scales: Tensor) -> None:
        self._panels = panels
        self._scales = scales

    @property
    def rows(self) -> Tensor:
        """How they lie in memory: several tokens side by side."""
        return self._panels.numbers

    @property
    def weight_bytes(self) -> int:
        """Bytes that levels and scales take."""
        return byte_count(self._panels.numbers, self._scales)

    def look_up(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows of `ids` ``[rows]``: ``[rows, hidden]``."""
        return (self._panels.rows(ids).float() * self._scales[ids].unsqueeze(1)).to(dtype)


class CodedTable:
    """bfloat16 in codes, which our own kernels decode."""

    def __init__(self, weight: CodedPanels, kernels: NativeKernels) -> None:
        self._weight = weight
        self._kernels = kernels

    @property
    def rows(self) -> Tensor:
        """How they lie in memory: uint8, several tokens side by side."""
        return self._weight.pairs

    @property
    def weight_bytes(self) -> int:
        """Bytes that they take."""
        return byte_count(*self._weight.tensors)

    def look_up(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows of `ids` ``[rows]``: ``[rows, hidden]``."""
        return self._kernels.coded_rows(self._weight, ids).to(dtype)


class Int8Table:
    """Levels ``[vocab, hidden]`` of eight bits and a float32 scale for each token ``[vocab]``.

    What that loses is a fortieth of what rounding the weights to eight bits does (`tests/benchmarks/results.md`).
    """

    def __init__(self, levels: Tensor, scales: Tensor) -> None:
        self.rows = levels
        self._scales = scales

    @classmethod
    def of(cls, weight: Tensor) -> "Int8Table":
        """Round ``[vocab, hidden]``."""
        levels, scales = quantise_rows(weight, torch.float32)
        return cls(levels, scales.squeeze(1))

    @property
    def weight_bytes(self) -> int:
        """Bytes that levels and scales take."""
        return byte_count(self.rows, self._scales)

    def look_up(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """The rows of `ids` ``[rows]``: ``[rows, hidden]``."""
        return (self.rows[ids].float() * self._scales[ids].unsqueeze(1)).to(dtype)
