"""Our kernels for NVIDIA cards, as the network calls them: of tensors, with the sizes of tiles chosen.

torch launches a dozen kernels for what is one of ours, and attends to each conversation by itself. A card reads the
weights of a small model faster than it launches all those.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.card_int4 import CardLevels
from llama_gui.engine.device import has_card_kernels
from llama_gui.engine.gating import CLAMPED_AT, CLAMPED_SLOPE, GELU_SLOPE, Gate
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.rotary import Turns

_PROGRAMS = 264
"""About two for each multiprocessor of a large card: with fewer rows the keys of each are split among more."""
_MOST_SPLITS = 32
_MOST_DIM = 256
"""Of a head: the tiles of wider ones do not fit into the memory that the cores of small cards share."""
_GATE_BLOCK = 1024
_SLOPES = {"clamped": CLAMPED_SLOPE, "gelu": GELU_SLOPE}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the rows of a step belong, an int64 number for each, on the card.

    `positions`: of the row in its conversation. `keys` and `values`: the addresses of its slot. `capacities`: how many
    tokens fit into that.
    """

    positions: Tensor
    keys: Tensor
    values: Tensor
    capacities: Tensor

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int, int]], device: torch.device) -> "Places":
        """The four numbers of each row."""
        return cls(*torch.tensor(rows, dtype=torch.int64).t().contiguous().to(device))

    def of_first(self, rows: int) -> "Places":
        """Those of the first rows."""
        return Places(self.positions[:rows], self.keys[:rows], self.values[:rows], self.capacities[:rows])


class CardKernels:
    """Activations, weights and caches are on one card, and of one dtype where nothing else is said."""

    def __init__(self) -> None:
        """Raises ImportError where there is no Triton, which comes with torch for cards on Linux."""
        from llama_gui.engine import card_int4_programs, card_programs

        self._programs: Any = card_programs  # launches take more than the functions tell
        self._int4_programs: Any = card_int4_programs

    def norm(self, x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
        """The norm of `RMSNorm`, as `dtype`: of ``[rows, size]``, or of each head of ``[rows, heads, size]``.

        The numbers of a row, or a head, lie together.
        """
        out = torch.empty(x.shape, dtype=dtype, device=x.device)
        self._norm(x, None, weight, eps, out)
        return out

    def added(self, x: Tensor, more: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
        """Add `more` to `x`, in place, and norm that: ``[rows, size]`` each."""
        out = torch.empty(x.shape, dtype=dtype, device=x.device)
        self._norm(x, more, weight, eps, out)
        return out

    def _norm(self, x: Tensor, more: Tensor | None, weight: Tensor, eps: float, out: Tensor) -> None:
        heads = x.shape[1] if x.dim() == 3 else 1
        width = x.shape[-1]
        self._programs.normed[(len(x), heads)](
            x, x if more is None else more, weight, out,
            x.stride(0), x.stride(1) if heads > 1 else 0, 0 if more is None else more.stride(0),
            out.stride(0), out.stride(1) if heads > 1 else 0, width, eps,
            ADDS=more is not None, BLOCK=power_of_two(width), num_warps=_warps(width),
        )  # fmt: skip

    def gated(self, x: Tensor, gate: Gate) -> Tensor:
        """As `gated_rows`."""
        width = x.shape[1] if gate == "squared" else x.shape[1] // 2
        out = x.new_empty(len(x), width)
        blocks = -(-width // _GATE_BLOCK)
        self._programs.gated[(len(x), blocks)](
            x, out, x.stride(0), out.stride(0), width, _SLOPES.get(gate, 1.0), CLAMPED_AT, KIND=gate, BLOCK=_GATE_BLOCK
        )
        return out

    def keep(self, qkv: tuple[Tensor, Tensor, Tensor], turns: Turns | None, places: Places, layer: int) -> Tensor:
        """Rotate queries and keys, and write keys and values into the slots.

        Args:
            qkv: queries ``[rows, heads, dim]``, keys and values ``[rows, kv_heads, dim]``, whose last numbers lie
                together.
            turns: those of the rows; None: nothing is rotated.

        Returns:
            The queries, contiguous.
        """
        q, k, v = qkv
        rows, heads, dim = q.shape
        turned = q.new_empty(rows, heads, dim)
        rotary = 0 if turns is None else turns.cos.shape[-1]
        cos, sin = (q, q) if turns is None else (turns.cos, turns.sin)
        self._programs.kept[(rows, heads + 2 * k.shape[1])](
            q, k, v, turned, cos, sin, places.keys, places.values, places.positions, places.capacities,
            q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), turned.stride(0), layer,
            HEADS=heads, KV_HEADS=k.shape[1], DIM=dim, ROTARY=rotary, BLOCK=power_of_two(dim), num_warps=1,
        )  # fmt: skip
        return turned

    def attend(
        self,
        q: Tensor,
        places: Places,
        layer: int,
        kv_heads: int,
        window: int | None,
        sinks: Tensor | None,
        cap: float | None,
    ) -> Tensor:
        """``[rows, heads, dim] -> [rows, heads * dim]``: each row sees the keys of its slot up to its own.

        `q` is contiguous. For `window`, `sinks` and `cap` see `Attention`.
        """
        rows, count, dim = q.shape
        splits = _splits(rows * kv_heads)
        out = torch.empty_like(q)
        parts, masses, maxima = self._room_for_splits(q, splits)
        block, is_wide = max(16, power_of_two(dim)), q.dtype == torch.float32
        self._programs.attended[(rows, kv_heads, splits)](
            q, out, parts, masses, maxima, q if sinks is None else sinks,
            places.keys, places.values, places.positions, places.capacities, layer, dim**-0.5, window or 0, cap or 1.0,
            HEADS=count, KV_HEADS=kv_heads, GROUP_BLOCK=max(16, power_of_two(count // kv_heads)),
            DIM=dim, BLOCK=block, KEYS=32 if is_wide or block > 128 else 64, SPLITS=splits,
            HAS_WINDOW=window is not None, HAS_CAP=cap is not None, HAS_SINKS=sinks is not None,
            PRECISION="ieee", num_warps=4, num_stages=2,
        )  # fmt: skip
        if splits > 1:
            self._programs.joined[(rows, count)](
                out, parts, masses, maxima, q if sinks is None else sinks,
                HEADS=count, DIM=dim, BLOCK=block, SPLITS=splits, HAS_SINKS=sinks is not None, num_warps=1,
            )  # fmt: skip
        return out.flatten(1)

    @staticmethod
    def _room_for_splits(q: Tensor, splits: int) -> tuple[Tensor, Tensor, Tensor]:
        if splits == 1:
            return q, q, q
        rows, heads, dim = q.shape
        wide = torch.float32
        parts = torch.empty(rows, heads, splits, dim, dtype=wide, device=q.device)
        masses, maxima = (torch.empty(rows, heads, splits, dtype=wide, device=q.device) for _ in range(2))
        return parts, masses, maxima

    def multiply(self, x: Tensor, levels: Tensor, scales: Tensor, bias: Tensor | None) -> Tensor:
        """``x [rows, in]`` times int8 ``levels [out, in]`` times ``scales [out]``, plus ``bias [out]``."""
        rows, (outs, width) = len(x), levels.shape
        if rows == 1 and outs < _WIDE:
            return self.multiply_row(x, levels, scales, bias)
        out = x.new_empty(rows, outs)
        tile = tile_for(rows, outs)
        grid = (-(-outs // tile.outs), -(-rows // tile.rows))
        self._programs.multiplied[grid](
            x, levels, scales, x if bias is None else bias, out, rows, outs, width, x.stride(0), out.stride(0),
            ROWS=tile.rows, OUTS=tile.outs, INNER=tile.inner if x.dtype != torch.float32 else 32,
            HAS_BIAS=bias is not None, PRECISION="ieee", num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
        return out

    def multiply_row(self, x: Tensor, weight: Tensor, scales: Tensor | None, bias: Tensor | None) -> Tensor:
        """The same of one row, ``[1, in]``; without `scales` the weight is of the dtype of `x`."""
        outs, width = weight.shape
        out = x.new_empty(1, outs)
        each = _ROW_OUTS if scales is None else _INT8_ROW_OUTS
        self._programs.multiplied_row[(-(-outs // each),)](
            x, weight, x if scales is None else scales, x if bias is None else bias, out, outs, width,
            OUTS=each, INNER=_ROW_BLOCK, HAS_SCALES=scales is not None, HAS_BIAS=bias is not None,
        )  # fmt: skip
        return out

    def multiply_int4(self, x: Tensor, weight: CardLevels, bias: Tensor | None) -> Tensor:
        """``x [rows, in]`` times `weight` ``[out, in]``, plus ``bias [out]``."""
        rows, (outs, groups, _) = len(x), weight.levels.shape
        if rows > _MOST_INT4_ROWS:
            return self._multiply_widened(x, weight, bias)
        out = x.new_empty(rows, outs)
        offsets = x if bias is None else bias
        if rows == 1:
            self._int4_programs.multiplied_row_int4[(-(-outs // INT4_ROW.outs),)](
                x, *weight.tensors, offsets, out, outs, groups,
                OUTS=INT4_ROW.outs, GROUPS=INT4_ROW.inner, CODED=weight.is_coded, HAS_BIAS=bias is not None,
                num_warps=INT4_ROW.warps,
            )  # fmt: skip
            return out
        tile = tile_for(rows, outs, INT4_TILES)
        grid = (-(-outs // tile.outs), -(-rows // tile.rows))
        self._int4_programs.multiplied_int4[grid](
            x, *weight.tensors, offsets, out, rows, outs, groups, x.stride(0), out.stride(0),
            ROWS=tile.rows, OUTS=tile.outs, GROUPS=tile.inner, CODED=weight.is_coded, HAS_BIAS=bias is not None,
            PRECISION="ieee", num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
        return out

    def _multiply_widened(self, x: Tensor, weight: CardLevels, bias: Tensor | None) -> Tensor:
        """Many rows, by torch: it multiplies faster than a weight is unpacked for each tile of them."""
        outs, groups, _ = weight.levels.shape
        out = x.new_empty(len(x), outs)
        at_once = max(1, _WIDENED // (groups * GROUP))
        for first in range(0, outs, at_once):
            some = [part[first : first + at_once] for part in weight.tensors]
            wide = x.new_empty(len(some[0]), groups * GROUP)
            self._int4_programs.widened_int4[(len(wide), -(-groups // _WIDENED_GROUPS))](
                *some, wide, groups, GROUPS=_WIDENED_GROUPS, CODED=weight.is_coded
            )
            offset = None if bias is None else bias[first : first + at_once]
            out[:, first : first + at_once] = F.linear(x, wide, offset)
        return out


@dataclass(frozen=True, slots=True)
class Tile:
    """What one program multiplies: `rows` by `outs`, `inner` numbers of each at a time, and how Triton is to do it."""

    rows: int
    outs: int
    inner: int
    warps: int
    stages: int


_WIDE = 8192
"""With so many outputs there are tiles enough to keep a card busy, however large they are."""
_ROW_BLOCK = 1024
_ROW_OUTS, _INT8_ROW_OUTS = 2, 1
"""For a single row: the numbers and the outputs of which a program takes so many at a time."""
TILES = (
    (16, Tile(16, 16, 256, 4, 5), Tile(16, 32, 256, 4, 3)),
    (32, Tile(32, 16, 256, 4, 3), Tile(32, 64, 128, 4, 4)),
    (64, Tile(32, 32, 128, 4, 4), Tile(64, 64, 128, 4, 3)),
    (128, Tile(64, 32, 128, 4, 4), Tile(128, 64, 64, 4, 4)),
    (256, Tile(64, 64, 128, 4, 3), Tile(128, 128, 64, 8, 3)),
    (math.inf, Tile(64, 128, 64, 4, 4), Tile(128, 128, 64, 8, 3)),
)
"""For up to so many rows: the fastest that were found on H100 and H200, for few outputs and for many.

All fit into the memory that the cores of small cards share (99 KiB).
"""


INT4_ROW = Tile(1, 2, 16, 2, 1)
"""For a single row; `inner` counts groups of 32 inputs here and in `INT4_TILES`."""
INT4_TILES = (
    (16, Tile(16, 32, 8, 4, 3), Tile(16, 64, 8, 4, 2)),
    (32, Tile(32, 64, 4, 4, 3), Tile(32, 64, 4, 4, 3)),
    (64, Tile(32, 64, 4, 4, 3), Tile(64, 64, 8, 4, 2)),
    (math.inf, Tile(64, 64, 4, 4, 3), Tile(128, 128, 4, 8, 3)),
)
"""The fastest that were found on an H100 for weights of Llama 3.2 1B and 3.1 8B."""
EXPERT_INT4_TILES = (
    (16, Tile(16, 64, 4, 4, 3), Tile(16, 64, 4, 4, 3)),
    INT4_TILES[1],
    (math.inf, *INT4_TILES[2][1:]),
)
"""Of experts, where so many rows go to each; the first was the fastest on an H100 for gpt-oss 20B."""
_MOST_INT4_ROWS = 128
"""From more on it is faster to unpack the weight for torch: on an H100 from about 200."""
_WIDENED = 2**25
"""Numbers that are unpacked at a time."""
_WIDENED_GROUPS = 16


def tile_for(rows: int, outs: int, tiles: Sequence[tuple[float, Tile, Tile]] = TILES) -> Tile:
    """That of `tiles` for so many rows and outputs."""
    narrow, wide = next((narrow, wide) for most, narrow, wide in tiles if rows <= most)
    return narrow if outs < _WIDE else wide


def _splits(programs: int) -> int:
    return max(1, min(_MOST_SPLITS, power_of_two(_PROGRAMS // max(programs, 1) + 1) // 2))


def power_of_two(number: int) -> int:
    """The next one from `number` on."""
    return 1 << max(number - 1, 0).bit_length()


def _warps(width: int) -> int:
    return max(1, min(8, width // 256))


def find(device: torch.device, head_dim: int) -> CardKernels | None:
    """Our kernels, where `device` is a card that they run on; None: torch does it all."""
    if not has_card_kernels(device) or head_dim > _MOST_DIM:
        return None
    kernels = None
    try:
        kernels = CardKernels()
        reason = "" if _are_right(kernels, device) else "they compute something else than torch"
    except Exception as error:  # of Triton, its compiler, the driver: whatever it is, torch does the same
        reason = str(error) or type(error).__name__
    if reason:
        _log.warning("Our kernels for cards cannot be used here (%s); torch's are slower.", reason)
        return None
    return kernels


def _are_right(kernels: CardKernels, device: torch.device) -> bool:
    x = torch.linspace(-2, 2, 3 * 128, device=device).view(3, 128)
    return torch.allclose(kernels.gated(x, "silu"), F.silu(x[:, :64]) * x[:, 64:], atol=1e-5)
