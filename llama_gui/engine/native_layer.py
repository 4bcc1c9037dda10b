"""Whole layers of the network by our own kernels, in one call: see `native/layer.h`."""

import ctypes
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, get_args

from torch import Tensor

from llama_gui.engine.experts import Experts
from llama_gui.engine.gating import Gate
from llama_gui.engine.gemma4_mixture import Gemma4Mixture
from llama_gui.engine.layer_states import StateSpans
from llama_gui.engine.layers import Attention, RMSNorm
from llama_gui.engine.linear import Linear, StackedLinear
from llama_gui.engine.native_attention import NativeSpans
from llama_gui.engine.native_delta import NativeDeltaNet
from llama_gui.engine.native_kernels import LANES, NativeKernels
from llama_gui.engine.native_linear import (
    NativeBlocksLinear,
    NativeHalfLinear,
    NativeQuantisedLinear,
    NativeRouterLinear,
)
from llama_gui.engine.native_mamba import NativeMamba
from llama_gui.engine.packed_weights import OPERAND_FORMS, Operand
from llama_gui.engine.rotary import Turns
from llama_gui.engine.short_conv import ShortConv

_GATES: tuple[Gate, ...] = get_args(Gate)

_Address, _Number = ctypes.c_void_p, ctypes.c_int64


_log = logging.getLogger(__name__)


class _Part(ctypes.Structure):
    _fields_ = (
        ("form", _Number),
        ("channels", _Number),
        ("parts", 4 * _Address),
        ("scales", _Address),
        ("bias", _Address),
    )


class _Linear(ctypes.Structure):
    _fields_ = (("parts", ctypes.POINTER(_Part)), ("count", _Number), ("channels", _Number), ("width", _Number))


class _Experts(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.POINTER(_Linear)) for name in ("gate_up", "down")),
        *((name, _Address) for name in ("router", "router_bias")),
        *((name, _Number) for name in ("count", "chosen", "normalises")),
        ("correction", _Address),
        *((name, ctypes.POINTER(_Linear)) for name in ("shared_gate_up", "shared_down")),
        ("shared_gate", _Address),
        ("by_sigmoid", _Number),
        *((name, _Address) for name in ("scales", "router_norm", "expert_norm", "after_shared", "after_experts")),
    )


class _Layer(ctypes.Structure):
    _fields_ = (
        *((name, _Linear) for name in ("qkv", "out", "gate_up", "down")),
        *(
            (name, _Address)
            for name in ("attention_norm", "mlp_norm", "q_norm", "k_norm", "after_attention", "after_mlp")
        ),
        ("eps", ctypes.c_double),
        *((name, _Number) for name in ("heads", "kv_heads", "dim", "window", "rotary_dim", "gate", "whole_norms")),
        ("norms_turned", _Number),
        ("experts", ctypes.POINTER(_Experts)),
        ("sinks", _Address),
        ("cap", ctypes.c_double),
        ("borrows", _Number),
        ("v_norm", _Address),
        *((name, ctypes.POINTER(_Linear)) for name in ("input_gate", "input_out")),
        ("input_norm", _Address),
        ("scalar", ctypes.c_double),
        ("gates", _Number),
        ("delta", _Address),
        ("conv", _Address),
        ("mamba", _Address),
    )


class _ShortConv(ctypes.Structure):
    _fields_ = (("taps", _Address), *((name, _Number) for name in ("width", "tap_count", "number")))


class _Pass(ctypes.Structure):
    _fields_ = (("layer", _Address), *((name, _Number) for name in ("number", "turns", "part", "begins")))


class _Turns(ctypes.Structure):
    _fields_ = (("cosines", _Address), ("sines", _Address), ("scales", _Address))


@dataclass(frozen=True, slots=True)
class NativeInput:
    """An input of a layer's own, see `LayerInput`: the operands of its two linears, and the norm's weight."""

    gate: Sequence[Operand]
    out: Sequence[Operand]
    norm: Tensor

    @property
    def width(self) -> int:
        """How many numbers it is."""
        return self.out[0].width


@dataclass(frozen=True, slots=True)
class NativeExperts:
    """A mixture in the place of the MLP of a `NativeLayer`.

    `router`: float32 ``[experts, hidden]``, contiguous; `router_bias`: ``[experts]``. `linears`: the operands of gate
    and up, and of down, of each expert; `shared`: those of the shared one, if there is one, and `shared_gate` as
    `SharedExpert.gate` has it. For the others see `ExpertConfig` and `Router`.
    """

    router: Tensor
    linears: Sequence[Sequence[Sequence[Operand]]]
    chosen: int
    normalises: bool
    router_bias: Tensor | None = None
    correction: Tensor | None = None
    shared: Sequence[Sequence[Operand]] = ()
    shared_gate: Tensor | None = None
    by_sigmoid: bool = False
    scales: Tensor | None = None
    norms: Sequence[Tensor] = ()
    """See `Gemma4Mixture`: the MLP is `shared` then."""

    @classmethod
    def beside(cls, mixture: Gemma4Mixture) -> Self | None:
        """As `of`, with the MLP."""
        found, shared = cls.of(mixture.experts), [*map(operands_of, mixture.mlp.linears)]
        if found is None or not all(shared):
            return None
        return replace(found, shared=shared, norms=[norm.weight for norm in mixture.norms])

    @classmethod
    def of(cls, experts: Experts) -> Self | None:
        """`experts`, whose router is a `NativeRouterLinear`; None: a native layer cannot multiply all of them.

        It needs the same scratch memory for each.
        """
        router = experts.router
        linears = [tuple(map(operands_of, expert.linears)) for expert in experts.experts]
        shapes = {tuple(map(_shapes, expert)) for expert in linears}
        if len(shapes) > 1:
            _log.info(
                "The experts of a layer lie in memory in %d ways; it is computed operation by operation.", len(shapes)
            )
        if not isinstance(router.linear, NativeRouterLinear) or len(shapes) > 1 or not all(next(iter(shapes))):
            return None
        shared, gate = [], None
        if experts.shared is not None:
            shared, gate = list(map(operands_of, experts.shared.mlp.linears)), experts.shared.gate
        if not all(shared) or not isinstance(gate, NativeRouterLinear | None):
            return None
        return cls(
            router.linear.weight,
            linears,
            router.chosen,
            router.normalises,
            router.linear.bias,
            router.correction,
            shared,
            None if gate is None else gate.weight,
            router.by_sigmoid,
            router.scales,
        )


def _shapes(operands: Sequence[Operand]) -> tuple[tuple[str, int, int], ...]:
    return tuple((operand.form, operand.channels, operand.width) for operand in operands)


class NativeLayer:
    """Attention (or what is in its place) and the feed-forward part, each behind its norm, on rows of float32."""

    def __init__(
        self,
        kernels: NativeKernels,
        attention: Attention | NativeDeltaNet | NativeMamba | ShortConv,
        linears: Sequence[Sequence[Operand]],
        norms: tuple[RMSNorm | None, RMSNorm | None],
        post_norms: tuple[RMSNorm, RMSNorm] | None = None,
        gate: Gate = "silu",
        experts: NativeExperts | None = None,
        own: NativeInput | None = None,
        scalar: float = 1.0,
    ) -> None:
        """`linears`: what `operands_of` says of queries, keys and values, of out, of gate and up, and of down.

        Of the last two those of one expert, where there are `experts`; where there is no feed-forward part, only the
        first two. `norms`, `post_norms`: see `Block`; all have one epsilon. `own`, `scalar`: see `Block`.
        """
        self._kernels = kernels
        self._kept = linears, norms, post_norms, attention, experts, own  # whose memory is used
        self.width = 0 if own is None else own.width
        after = post_norms or (None, None)
        of_heads = (attention.norms if isinstance(attention, Attention) else None) or (None, None)
        qkv, out, gate_up, down = (_linear(operands) for operands in (*linears, [], [])[:4])
        self._layer = _Layer(
            qkv=qkv,
            out=out,
            gate_up=gate_up,
            down=down,
            attention_norm=_weight_of(norms[0]),
            mlp_norm=_weight_of(norms[1]),
            after_attention=_weight_of(after[0]),
            after_mlp=_weight_of(after[1]),
            eps=next(norm.eps for norm in (*norms, *of_heads, *after) if norm is not None),
            gate=_GATES.index(gate),
            experts=None if experts is None else ctypes.pointer(_experts(experts)),
            scalar=scalar,
            **_inputs(own),
            **self._first_part(attention),
        )

    def _first_part(self, attention: Attention | NativeDeltaNet | NativeMamba | ShortConv) -> dict[str, Any]:
        """The fields of what is not the feed-forward part."""
        if isinstance(attention, Attention):
            return _heads(attention)
        if isinstance(attention, NativeDeltaNet):
            return {"delta": attention.address}
        if isinstance(attention, NativeMamba):
            return {"mamba": attention.address}
        taps, width = attention.taps.shape
        self._conv = _ShortConv(attention.taps.data_ptr(), width, taps, attention.number)
        return {"conv": ctypes.addressof(self._conv)}

    @property
    def address(self) -> int:
        """Where it is described."""
        return ctypes.addressof(self._layer)

    def __call__(
        self,
        x: Tensor,
        layer: int,
        turns: Turns,
        spans: NativeSpans,
        given: Tensor | None = None,
        states: StateSpans | None = None,
    ) -> Tensor:
        """``[rows, hidden] -> [rows that attend, hidden]``, in place; `layer` is its number, see `CacheLayout.places`.

        `given`: what all layers get besides, ``[rows that attend, layers * width]``. `states`: for what keeps some.
        """
        run = NativeLayers(self._kernels, [self], [0], layer, spans.places)
        return run(x, [turns], spans, given, states)[: spans.attending]


class NativeLayers:
    """Successive layers, in one call."""

    def __init__(
        self,
        kernels: NativeKernels,
        layers: Sequence[NativeLayer],
        turns: Sequence[int],
        first: int = 0,
        places: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """`turns`: which of those of a call turn the heads of each layer. `first`: the number of the first.

        `places`: of each layer by its number, see `CacheLayout`; None: all are in the first part, in order.
        """
        self._kernels = kernels
        self._kept = tuple(layers)  # whose memory is used

        def run(number: int, layer: NativeLayer, at: int) -> _Pass:
            part, place = (0, number) if places is None else places[number]
            return _Pass(layer.address, place, at, part, number * layer.width)

        passes = enumerate(zip(layers, turns, strict=True), first)
        self._passes = (_Pass * len(layers))(*(run(number, *one) for number, one in passes))

    def __call__(
        self,
        x: Tensor,
        turns: Sequence[Turns],
        spans: NativeSpans,
        given: Tensor | None = None,
        states: StateSpans | None = None,
    ) -> Tensor:
        """``[rows, hidden]``, changed in place and returned. Where not all rows attend there is one layer."""
        if len(self._passes) > 1 and spans.attending != len(x):
            raise ValueError(f"{spans.attending} of {len(x)} rows attend: that goes through one layer only")
        table = (_Turns * len(turns))(*(_Turns(*_addresses(*one)) for one in turns))
        passes = (ctypes.addressof(self._passes), len(self._passes))
        conversations = (spans.table, spans.kept_dtype, given, None if states is None else states.table)
        self._kernels.layers(*passes, x, ctypes.addressof(table), *conversations)
        return x


def operands_of(linear: Linear) -> list[Operand]:
    """The operands of the linears in `linear`; none if a native layer cannot multiply all of them."""
    if isinstance(linear, StackedLinear):
        parts = [operands_of(part) for part in linear.parts]
        return [operand for part in parts for operand in part] if all(parts) else []
    if isinstance(linear, NativeQuantisedLinear | NativeBlocksLinear | NativeHalfLinear):
        operand = linear.operand
        return [] if operand is None or operand.width % LANES else [operand]
    return []


def _heads(attention: Attention) -> dict[str, Any]:
    """The fields of a `_Layer` that attends."""
    heads, norms = attention.heads, attention.norms or (None, None)
    return {
        "heads": heads.count,
        "kv_heads": heads.kv_count,
        "dim": heads.dim,
        "window": attention.window or 0,
        "rotary_dim": heads.rotary_dim or heads.dim,
        "q_norm": _weight_of(norms[0]),
        "k_norm": _weight_of(norms[1]),
        "v_norm": _weight_of(attention.value_norm),
        "whole_norms": norms[0] is not None and len(norms[0].weight) != heads.dim,
        "norms_turned": attention.norms_turned,
        "sinks": _address(attention.sinks),
        "cap": attention.cap or 0.0,
        "borrows": attention.borrows,
        "gates": attention.gates,
    }


def _inputs(own: NativeInput | None) -> dict[str, Any]:
    """The fields of a `_Layer` with an input of its own."""
    if own is None:
        return {}
    gate, out = (ctypes.pointer(_linear(one)) for one in (own.gate, own.out))
    return {"input_gate": gate, "input_out": out, "input_norm": _address(own.norm)}


def _weight_of(norm: RMSNorm | None) -> int | None:
    return None if norm is None else _address(norm.weight)


def _experts(experts: NativeExperts) -> _Experts:
    count = len(experts.linears)
    gate_ups, downs = ((_Linear * count)(*(_linear(parts[which]) for parts in experts.linears)) for which in range(2))
    router = _addresses(experts.router, experts.router_bias)
    shared = [ctypes.pointer(_linear(operands)) for operands in experts.shared] or [None, None]
    return _Experts(
        gate_ups,
        downs,
        *router,
        count,
        experts.chosen,
        experts.normalises,
        *_addresses(experts.correction),
        *shared,
        *_addresses(experts.shared_gate),
        experts.by_sigmoid,
        *_addresses(experts.scales, *(experts.norms or 4 * [None])),
    )


def _linear(operands: Sequence[Operand]) -> _Linear:
    if not operands:
        return _Linear()
    parts = (_Part * len(operands))(*(_part(operand) for operand in operands))
    return _Linear(parts, len(operands), sum(operand.channels for operand in operands), operands[0].width)


def _part(operand: Operand) -> _Part:
    addresses = (4 * _Address)(*(part.data_ptr() for part in operand.parts))
    return _Part(
        OPERAND_FORMS.index(operand.form), operand.channels, addresses, *_addresses(operand.scales, operand.bias)
    )


def _addresses(*tensors: Tensor | None) -> Iterable[int | None]:
    return map(_address, tensors)


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()
