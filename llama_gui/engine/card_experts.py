"""A mixture of experts on a card: two launches multiply rows by all experts that they go to, whichever these are.

One expert after the other, as `Experts` does it, is launched from the CPU, which has to wait for the router in each
layer: of gpt-oss 20B an H100 wrote 17 tokens/s so. vLLM's fused experts are one launch, too, of pairs that are sorted
before; here nothing is sorted, see `card_expert_programs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from llama_gui.engine.card_kernels import EXPERT_INT4_TILES, INT4_ROW, TILES, CardKernels, power_of_two, tile_for
from llama_gui.engine.card_linear import CardInt4Linear, CardInt8Linear, CardLinear
from llama_gui.engine.experts import LEAST_SUM, Experts, Router
from llama_gui.engine.gating import Gate
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.layers import MLP
from llama_gui.engine.linear import Linear

_MOST_ROWS = 512
"""More go through in pieces: each program looks at the experts of all rows."""
_PAIRS = 128
"""At so many a program looks at a time."""
_FEW_ROWS = 4
"""The pairs of up to so many rows are multiplied one by one, which is faster there on an H100."""
_ROW_OUTS, _ROW_INNER = 2, 1024
"""There a program has so many outputs, and takes so many numbers at a time."""

_AnyLinear = CardLinear | CardInt8Linear | CardInt4Linear


@dataclass(frozen=True, slots=True)
class ExpertWeights:
    """The same weight of all experts of a layer, ``[outs, width]`` each, which stay where they are.

    `addresses`: int64 ``[parts, experts]`` on the card, of what `card_expert_programs` calls weights, scales and
    biases, or levels, steps, lows, scales and biases. `kind`: of `linears`, whose memory that is.
    """

    linears: tuple[_AnyLinear, ...]
    kind: type[_AnyLinear]
    addresses: Tensor
    outs: int
    width: int
    is_coded: bool
    has_bias: bool

    @classmethod
    def of(cls, linears: Sequence[Linear]) -> Self | None:
        """Those of `linears`; None: they are not all alike."""
        known = [linear for linear in linears if isinstance(linear, _AnyLinear)]
        if len(known) < len(linears) or len({_shape(linear) for linear in known}) != 1:
            return None
        kind, outs, width, is_coded, has_bias = _shape(known[0])
        rows = [[0 if part is None else part.data_ptr() for part in _parts(linear)] for linear in known]
        addresses = torch.tensor(rows, dtype=torch.int64).t().contiguous().to(known[0].packed[0].device)
        return cls(tuple(known), kind, addresses, outs, width, is_coded, has_bias)

    @property
    def experts(self) -> int:
        """How many there are."""
        return self.addresses.shape[1]


def _parts(linear: _AnyLinear) -> tuple[Tensor | None, ...]:
    if isinstance(linear, CardInt4Linear):
        return (*linear.weight.tensors, linear.bias)
    if isinstance(linear, CardInt8Linear):
        return linear.levels, linear.scales, linear.bias
    return linear.weight, None, linear.bias


def _shape(linear: _AnyLinear) -> tuple[type[_AnyLinear], int, int, bool, bool]:
    has_bias = linear.bias is not None
    if isinstance(linear, CardInt4Linear):
        outs, groups, _ = linear.weight.levels.shape
        return CardInt4Linear, outs, groups * GROUP, linear.weight.is_coded, has_bias
    outs, width = linear.packed[0].shape
    return type(linear), outs, width, False, has_bias


class ExpertPrograms:
    """`card_expert_programs`, of tensors on one card."""

    def __init__(self) -> None:
        """Raises ImportError where there is no Triton; with `CardKernels` there is."""
        from llama_gui.engine import card_expert_programs

        self._programs: Any = card_expert_programs  # launches take more than the functions tell

    def route(self, logits: Tensor, router: Router) -> tuple[Tensor, Tensor]:
        """What `router` makes of its float32 `logits` ``[rows, experts]``; numbers are int32."""
        rows, experts = logits.shape
        weights = torch.empty(rows, router.chosen, device=logits.device)
        numbers = torch.empty_like(weights, dtype=torch.int32)
        correction = router.correction
        self._programs.routed[(rows,)](
            logits, logits if correction is None else correction, weights, numbers, experts,
            CHOSEN=router.chosen, PLACES=power_of_two(router.chosen), BLOCK=power_of_two(experts),
            NORMALISES=router.normalises, HAS_CORRECTION=correction is not None, LEAST=LEAST_SUM, num_warps=1,
        )  # fmt: skip
        return weights, numbers

    def multiply(self, x: Tensor, numbers: Tensor, table: ExpertWeights, weights: Tensor | None = None) -> Tensor:
        """Each pair's row by the weight of its expert: ``[pairs, outs]``.

        Args:
            x: contiguous ``[rows, width]``, or ``[pairs, width]``.
            numbers: the experts that each row goes to, contiguous ``[rows, chosen]``.
            table: what they have.
            weights: float32, as `numbers`: what the result of each pair is multiplied by, which then is float32, too.
        """
        pairs, dtype = numbers.numel(), x.dtype if weights is None else weights.dtype
        out = torch.empty(pairs, table.outs, dtype=dtype, device=x.device)
        tensors = x, numbers, *table.addresses, x if weights is None else weights, out
        options = {"HAS_BIAS": table.has_bias, "HAS_WEIGHTS": weights is not None}
        if table.kind is CardInt4Linear:
            options["CODED"] = table.is_coded
        else:
            options["HAS_SCALES"] = table.kind is CardInt8Linear
        if len(numbers) <= _FEW_ROWS:
            self._multiply_pairs(tensors, table, pairs // len(x), pairs, options)
        else:
            self._multiply_tiles(tensors, table, pairs // len(x), numbers, options)
        return out

    def _multiply_pairs(
        self, tensors: Sequence[Tensor], table: ExpertWeights, share: int, pairs: int, options: dict[str, bool]
    ) -> None:
        """One by one: of few rows hardly two go to the same expert."""
        if table.kind is CardInt4Linear:
            self._programs.expert_row_int4[(-(-table.outs // INT4_ROW.outs), pairs)](
                *tensors, table.outs, table.width // GROUP,
                OUTS=INT4_ROW.outs, GROUPS=INT4_ROW.inner, SHARE=share, num_warps=INT4_ROW.warps, **options,
            )  # fmt: skip
        else:
            self._programs.expert_row[(-(-table.outs // _ROW_OUTS), pairs)](
                *tensors, table.outs, table.width, OUTS=_ROW_OUTS, INNER=_ROW_INNER, SHARE=share, **options
            )

    def _multiply_tiles(
        self, tensors: Sequence[Tensor], table: ExpertWeights, share: int, numbers: Tensor, options: dict[str, bool]
    ) -> None:
        pairs, is_int4 = numbers.numel(), table.kind is CardInt4Linear
        tile = tile_for(-(-pairs // table.experts), table.outs, EXPERT_INT4_TILES if is_int4 else TILES)
        grid = -(-table.outs // tile.outs), table.experts, -(-len(numbers) // tile.rows)
        sizes = {"ROWS": tile.rows, "OUTS": tile.outs, "PAIRS": _PAIRS, "SHARE": share, "PRECISION": "ieee"}
        how = {"num_warps": tile.warps, "num_stages": tile.stages}
        if is_int4:
            groups = table.width // GROUP
            self._programs.expert_tile_int4[grid](
                *tensors, pairs, table.outs, groups, GROUPS=tile.inner, **sizes, **options, **how
            )
        else:
            inner = tile.inner if tensors[0].dtype != torch.float32 else 32
            self._programs.expert_tile[grid](
                *tensors, pairs, table.outs, table.width, INNER=inner, **sizes, **options, **how
            )


class CardExperts(Experts):
    """`Experts` whose weights are all alike, on one card."""

    def __init__(
        self, experts: Experts, gate_up: ExpertWeights, down: ExpertWeights, gate: Gate, kernels: CardKernels
    ) -> None:
        super().__init__(experts.router, experts.experts, experts.shared)
        self._gate_up = gate_up
        self._down = down
        self._gate: Gate = gate
        self._kernels = kernels
        self._programs = ExpertPrograms()

    def __call__(self, x: Tensor) -> Tensor:
        """See `Experts`. Nothing in it waits for the card."""
        parts = [self._mixed(some) for some in x.split(_MOST_ROWS)]
        y = parts[0] if len(parts) == 1 else torch.cat(parts)
        if self.shared is not None:
            y += self.shared(x)
        return y.to(x.dtype)

    def _mixed(self, x: Tensor) -> Tensor:
        weights, numbers = self._programs.route(self.router.linear(x.float()).contiguous(), self.router)
        gated = self._kernels.gated(self._programs.multiply(x.contiguous(), numbers, self._gate_up), self._gate)
        made = self._programs.multiply(gated, numbers, self._down, weights)
        return made.unflatten(0, numbers.shape).sum(1)


def on_card(experts: Experts, kernels: CardKernels) -> Experts:
    """The same in two launches; or as it is, where its experts are not alike."""
    mlps = [expert for expert in experts.experts if isinstance(expert, MLP)]
    if len(mlps) < len(experts.experts):
        return experts
    gate_up, down = (ExpertWeights.of(linears) for linears in zip(*(mlp.linears for mlp in mlps), strict=True))
    if gate_up is None or down is None:
        return experts
    return CardExperts(experts, gate_up, down, mlps[0].gate, kernels)
