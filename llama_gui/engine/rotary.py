"""Rotary position embedding (Su et al. 2021), and the ways to stretch it beyond the trained context."""

import math
from dataclasses import replace
from typing import NamedTuple, Self

import torch
from torch import Tensor

from llama_gui.engine.rope_config import RopeConfig, rotary_dim


def inverse_frequencies(head_dim: int, rope: RopeConfig) -> Tensor:
    """Float32 ``[rotary_dim / 2]``: how fast each pair of a head turns. As in `transformers.modeling_rope_utils`.

    "dynamic" (NTK) changes the base only beyond the trained context, which we never exceed.
    """
    dim = rotary_dim(head_dim, rope)
    if rope.is_still:
        return torch.zeros(dim // 2)
    steps = torch.arange(0, dim, 2, dtype=torch.int64).float() / dim
    frequencies = 1.0 / (rope.theta**steps)
    if rope.divisors:
        return frequencies / torch.tensor(rope.divisors)
    if rope.kind == "linear":
        return frequencies / rope.factor
    if rope.kind == "llama3":
        return _llama3(frequencies, rope)
    if rope.kind == "yarn":
        return _yarn(frequencies, dim, rope)
    if rope.kind == "proportional":
        frequencies[int(rope.share * head_dim // 2) :] = 0
        return frequencies / rope.factor
    return frequencies


def _llama3(frequencies: Tensor, rope: RopeConfig) -> Tensor:
    """Llama 3.1: slow pairs are divided by the factor, fast ones are left alone, those between are blended."""
    wavelengths = 2 * math.pi / frequencies
    original, low, high = rope.original_max_position_embeddings, rope.low_freq_factor, rope.high_freq_factor
    smooth = (original / wavelengths - low) / (high - low)
    blended = (1 - smooth) * frequencies / rope.factor + smooth * frequencies
    scaled = torch.where(wavelengths > original / low, frequencies / rope.factor, blended)
    return torch.where(wavelengths < original / high, frequencies, scaled)


def _yarn(frequencies: Tensor, head_dim: int, rope: RopeConfig) -> Tensor:
    """YaRN (Peng et al. 2023): a ramp over the pairs, from those that turn often to those that hardly turn."""

    def pair_that_turns(times: float) -> float:
        turns = rope.original_max_position_embeddings / (times * 2 * math.pi)
        return head_dim * math.log(turns) / (2 * math.log(rope.theta))

    low, high = pair_that_turns(rope.beta_fast), pair_that_turns(rope.beta_slow)
    if rope.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    width = (high - low) or 0.001
    ramp = ((torch.arange(head_dim // 2, dtype=torch.float32) - low) / width).clamp(0, 1)
    return frequencies / rope.factor * ramp + frequencies * (1 - ramp)


class Turns(NamedTuple):
    """How rows are rotated, or all positions: cosines and sines ``[rows, (1,) rotary_dim]``.

    The sines of the first half are negative: what `rotate` adds to it. `scales` ``[rows]``: what queries are multiplied
    by besides (`RopeConfig.query_scale`); None: nothing.
    """

    cos: Tensor
    sin: Tensor
    scales: Tensor | None = None

    def of_rows(self, positions: Tensor) -> Self:
        """Those of rows at int64 `positions` ``[rows]``, where these are of all positions."""
        scales = None if self.scales is None else self.scales[positions]
        return self._replace(cos=self.cos[positions].unsqueeze(1), sin=self.sin[positions].unsqueeze(1), scales=scales)


class Rotary:
    """Cosines and sines of every position so far, in a table that grows by doubling."""

    def __init__(self, head_dim: int, rope: RopeConfig, dtype: torch.dtype, device: torch.device) -> None:
        self._frequencies = inverse_frequencies(head_dim, rope).to(device)
        self._scale = rope.attention_factor
        self._query_scale, self._scaled_from = rope.query_scale, rope.original_max_position_embeddings
        self._axes = torch.tensor(rope.axes * 2, dtype=torch.int64, device=device)
        self._dtype = dtype
        empty = torch.empty(0, rotary_dim(head_dim, rope), dtype=dtype, device=device)
        self._table = Turns(empty, empty)

    @classmethod
    def still(cls, head_dim: int, rope: RopeConfig, dtype: torch.dtype, device: torch.device) -> "Rotary":
        """One that leaves heads as they are, for layers that know no positions (NoPE), as wide as that of `rope`."""
        return cls(head_dim, replace(rope, is_still=True, attention_factor=1.0, query_scale=0.0), dtype, device)

    def rows(self, positions: Tensor, last: int) -> Turns:
        """Those for int64 `positions` ``[rows]``, none above `last`."""
        return self.table(last + 1).of_rows(positions)

    def rows_in_grid(self, positions: Tensor, last: int) -> Turns:
        """Those for int64 `positions` ``[3, rows]``, see `RopeConfig.axes`, none above `last`."""
        if not len(self._axes):
            return self.rows(positions[0], last)
        table = self.table(last + 1)
        at, columns = positions.t()[:, self._axes], torch.arange(len(self._axes), device=positions.device)
        return Turns(*(half[at, columns].contiguous().unsqueeze(1) for half in (table.cos, table.sin)))

    def table(self, length: int) -> Turns:
        """Those of all positions below `length`, and maybe more."""
        if length > len(self._table.cos):
            self._table = self._longer(length)
        return self._table

    def _longer(self, length: int) -> Turns:
        size = max(1024, 2 ** math.ceil(math.log2(length)))
        positions = torch.arange(size, dtype=torch.float32, device=self._frequencies.device)
        angles = torch.outer(positions, self._frequencies).repeat(1, 2)
        cos, sin = (angles.cos() * self._scale).to(self._dtype), (angles.sin() * self._scale).to(self._dtype)
        sin[:, : sin.shape[1] // 2].neg_()
        return Turns(cos, sin, self._scales(positions) if self._query_scale else None)

    def _scales(self, positions: Tensor) -> Tensor:
        """Of queries: ``1 + query_scale * ln(1 + floor(position / original))``, as in Llama 4 and Ministral 3."""
        times = torch.floor(positions.cpu().double() / self._scaled_from)  # which not all devices have
        return (1 + self._query_scale * torch.log1p(times)).to(positions.device, self._dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn the halves of each head ``[rows, heads, head_dim]`` against each other (Hugging Face's layout).

    `cos` and `sin` are those of `Turns`; where they are of fewer numbers than a head, its last ones stay.
    """
    rotary_dim = cos.shape[-1]
    if rotary_dim < x.shape[-1]:
        return torch.cat((rotate(x[..., :rotary_dim], cos, sin), x[..., rotary_dim:]), -1)
    return (x * cos).add_(x.roll(x.shape[-1] // 2, -1).mul_(sin))
