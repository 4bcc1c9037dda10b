"""The numbers that decide how large a network is and how much it reads: from config.json, or from the catalogue."""

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Self

from llama_gui.library.conv_shape import ConvShape
from llama_gui.library.delta_shape import DeltaShape
from llama_gui.library.gemma4_shape import Gemma4Shape
from llama_gui.library.mamba_shape import MambaShape

_ACTIVE = re.compile(r"\ba(\d+(?:\.\d+)?)([bm])\b", re.ASCII | re.IGNORECASE)
"""As in Qwen3-30B-A3B or granite-3.1-1b-a400m: the parameters that a token goes through."""

_EXPERTS_OF_ALL = re.compile(r"\b(\d+)x\d+(?:\.\d+)?b\b", re.ASCII | re.IGNORECASE)
"""As in Mixtral-8x7B, of whose experts a token goes through two."""

_EFFECTIVE = re.compile(r"\be(\d+)b\b", re.ASCII | re.IGNORECASE)
"""As in Gemma-4-E2B: the billions that are in memory, nearly; the rest is a table that stays in the file."""
_OF_EFFECTIVE = 1.14e9

_USUAL_CHOSEN = 8


@dataclass(frozen=True, slots=True)
class Matrix:
    """A linear layer's weight ``[rows, columns]``; `has_bias`: with one number more for each row."""

    rows: int
    columns: int
    has_bias: bool = False

    @property
    def numbers(self) -> int:
        """How many the weight holds, without the bias."""
        return self.rows * self.columns


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A Llama or a relative. `is_tied`: one matrix is both embedding and vocabulary projection on disk.

    `has_qkv_bias` and `has_head_norms` are what Qwen2 and Qwen3 add, `has_post_norms` what Gemma does. `is_olmo`: all
    heads are normed as one. `experts`: how
    many MLPs of width `inner` a layer has, of which a token goes through `chosen`, and through one of width `shared`
    besides; `plain_layers` of the layers have one of width `plain_inner` instead; `has_no_gate`: it consists of two
    matrices, and not of three. `is_gpt_oss`: everything but the vocabulary has a bias, and each head a sink;
    `is_packed`: its files hold the experts in MXFP4. `is_fp8`: they hold the matrices of layers in FP8. `vision`: how
    many numbers the network for images has beside it, nearly. `bare_layers`: so many have no MLP. `gemma4`, `delta`,
    `conv`, `mamba`: what layers have otherwise.
    """

    vocabulary: int
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    is_tied: bool = False
    has_qkv_bias: bool = False
    has_head_norms: bool = False
    has_post_norms: bool = False
    experts: int = 1
    chosen: int = 1
    is_gpt_oss: bool = False
    is_packed: bool = False
    is_fp8: bool = False
    is_olmo: bool = False
    shared: int = 0
    has_shared_gate: bool = False
    has_correction: bool = False
    plain_layers: int = 0
    plain_inner: int = 0
    has_no_gate: bool = False
    vision: int = 0
    gemma4: Gemma4Shape | None = None
    delta: DeltaShape | None = None
    conv: ConvShape | None = None
    mamba: MambaShape | None = None
    bare_layers: int = 0

    @classmethod
    def guess(cls, parameters: int, name: str = "", *, is_fp8: bool = False) -> Self:
        """The shape that a Llama of about so many parameters has as a rule, where nobody tells the real one.

        `name`: that of the model or its file, which tells of a mixture how many of them a token goes through.
        """
        return replace(cls._guess(parameters, name), is_fp8=is_fp8)

    @classmethod
    def _guess(cls, parameters: int, name: str) -> Self:
        active = _active(name, parameters)
        if active is not None:
            return cls._guess(active, "")._with_experts(parameters)
        if effective := _EFFECTIVE.search(name.replace("_", "-")):
            parameters = min(parameters, round(int(effective[1]) * _OF_EFFECTIVE))

        def shape_of(hidden: int) -> Self:
            layers, heads = max(hidden // 128, 1), max(hidden // 64, 4)
            return cls(128256, hidden, hidden * 7 // 2, layers, heads, heads // 4, 64, is_tied=hidden < 3584)

        return shape_of(
            next(h for h in range(128, 1 << 17, 64) if h >= 1 << 16 or shape_of(h).parameters >= parameters)
        )

    def _with_experts(self, parameters: int) -> Self:
        """The same for a token, but of so many parameters."""
        inner = max(self.inner // _USUAL_CHOSEN // 64, 1) * 64  # as wide as those that can have four bits
        others = (parameters - self.parameters) // (self.layers * self.hidden * 3 * inner)
        return replace(self, inner=inner, experts=_USUAL_CHOSEN + max(others, 0), chosen=_USUAL_CHOSEN)

    def _matrices(self, experts: int) -> Counter[Matrix]:
        """The weights of all layers, as the engine holds them: queries, keys and values in one, gate and up in one.

        Each with how many there are, which is a number from somebody's file. `experts`: of so many in each layer. The
        router is not among them, see `router_numbers`.
        """
        if self.gemma4 is not None:
            wide, more = (self.hidden, self.inner), self.gemma4.experts and experts
            sizes = self.gemma4.linears(self.layers, *wide, self.heads, self._window, more)
            return Counter({Matrix(*size): count for size, count in sizes.items()})
        found = Counter[Matrix]()
        if self.recurrent is not None:
            sizes = self.recurrent.linears(self.layers, self.hidden, (self.heads, self.kv_heads, self.head_dim))
            found += Counter({Matrix(*size): count for size, count in sizes.items()})
        else:
            qkv = (self.heads + 2 * self.kv_heads) * self.head_dim
            found[Matrix(qkv, self.hidden, self.has_qkv_bias)] += self.layers
            found[Matrix(self.hidden, self.heads * self.head_dim, self.is_gpt_oss)] += self.layers
        later = self.layers - self.plain_layers - self.bare_layers
        mlps = ((self.inner, later * experts), (self.shared, later), (self.plain_inner, self.plain_layers))
        for inner, count in mlps:
            if inner and count:
                found[Matrix(inner if self.has_no_gate else 2 * inner, self.hidden, self.is_gpt_oss)] += count
                found[Matrix(self.hidden, inner, self.is_gpt_oss)] += count
        return found

    @property
    def _window(self) -> tuple[int, int]:
        """Key heads and their width, of Gemma 4's layers with a window."""
        return self.kv_heads, self.head_dim

    @property
    def recurrent(self) -> DeltaShape | ConvShape | MambaShape | None:
        """What most layers have in the place of attention."""
        return self.delta or self.conv or self.mamba

    @property
    def stored(self) -> str:
        """As `fit.resolve` has it, of files that are no GGUF."""
        return "int4" if self.is_packed else "int8" if self.is_fp8 else ""

    @property
    def router_numbers(self) -> int:
        """Numbers in all routers, which are float32 whatever the rest is; and in what is like them."""
        if self.gemma4 is not None:
            return self.gemma4.router_numbers(self.layers, self.hidden)
        rates = 0 if self.delta is None else self.delta.rate_numbers(self.hidden)
        if self.experts == 1:
            return rates
        in_layer = self.experts * (self.hidden + self.is_gpt_oss + self.has_correction)
        mixtures = self.layers - self.plain_layers - self.bare_layers
        return rates + mixtures * (in_layer + self.hidden * self.has_shared_gate)

    @property
    def head(self) -> Matrix:
        """The vocabulary projection; the embedding has the same size."""
        return Matrix(self.vocabulary, self.hidden)

    @property
    def norms(self) -> int:
        """Numbers in all norms and sinks."""
        if self.gemma4 is not None:
            return self.gemma4.norms(self.layers, self.hidden, self._window) + self.hidden
        if self.recurrent is not None:
            small = self.recurrent.small_numbers(self.layers, self.head_dim)
            return (2 * self.layers - self.bare_layers + 1) * self.hidden + small
        count = 4 if self.has_post_norms else 2
        normed = self.heads + self.kv_heads if self.is_olmo else 2 if self.has_head_norms else 0
        of_heads = normed * self.head_dim + (self.heads if self.is_gpt_oss else 0)
        return self.layers * (count * self.hidden + of_heads) + self.hidden

    @property
    def parameters(self) -> int:
        """Numbers in a checkpoint; a tied matrix counts once. A table that stays in its file counts, too."""
        layers = sum(n * (m.numbers + (m.rows if m.has_bias else 0)) for m, n in self.matrices.items())
        table = 0 if self.gemma4 is None else self.gemma4.table_numbers(self.layers)
        return layers + table + self.router_numbers + self.norms + self.head.numbers * (1 if self.is_tied else 2)

    @property
    def comparable_parameters(self) -> int:
        """How many a model without experts has that answers about as well.

        The geometric mean of all and of those that a token goes through: a rule of thumb among those who compare
        mixtures with other models, and no law.
        """
        idle = sum(n * m.numbers for m, n in self.matrices.items()) - sum(
            n * m.numbers for m, n in self.read_matrices.items()
        )
        return math.isqrt(self.parameters * (self.parameters - idle))

    @property
    def kv_numbers(self) -> int:
        """Numbers that the cache holds for each token."""
        if self.gemma4 is not None:
            return self.gemma4.kv_numbers(self.layers, self._window)
        keeping = self.layers if self.recurrent is None else self.layers - self.recurrent.layers
        return 2 * keeping * self.kv_heads * self.head_dim

    @property
    def state_bytes(self) -> int:
        """What each chat takes besides, however long it is."""
        return 0 if self.recurrent is None else self.recurrent.state_bytes

    @property
    def matrices(self) -> Counter[Matrix]:
        """Every linear layer but routers and the vocabulary projection, with how many there are of each."""
        return self._matrices(self.experts)

    @property
    def read_matrices(self) -> Counter[Matrix]:
        """Those of them that a token goes through."""
        return self._matrices(self.chosen)


def _active(name: str, parameters: int) -> int | None:
    """How many of the `parameters` of the mixture `name` a token goes through; None: it is none by its name."""
    name = name.replace("_", "-")
    if match := _ACTIVE.search(name):
        active = round(float(match[1]) * {"b": 1e9, "m": 1e6}[match[2].lower()])
    elif match := _EXPERTS_OF_ALL.search(name):
        active = parameters * 2 // max(int(match[1]), 2)
    else:
        return None
    return active if 0 < active < parameters else None
