"""A checkpoint -> the network for images."""

from collections.abc import Sequence

import torch
from torch import Tensor

from llama_gui.engine.checkpoint import Shape, WeightSource
from llama_gui.engine.device import Precision, has_native_bfloat16, resolve_precision
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear, LinearFactory
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.vision.config import VisionConfig
from llama_gui.engine.vision.tower import Projector, VisionLayer, VisionTower

_EPS = 1e-5
_PATCHES, _NORM = "vision_tower.patch_conv.weight", "vision_tower.ln_pre.weight"
_PROJECTOR = "multi_modal_projector."
_QKV, _GATE_UP = ("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj")


def vision_shapes(config: VisionConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint holds of it."""
    hidden, inner, text = config.hidden_size, config.intermediate_size, config.text_size
    shapes: dict[str, Shape] = {_PATCHES: (hidden, 3, config.patch_size, config.patch_size), _NORM: (hidden,)}
    for layer in range(config.num_hidden_layers):
        prefix = layer_prefix(layer)
        shapes |= {f"{prefix}{name}.weight": (hidden,) for name in ("attention_norm", "ffn_norm")}
        shapes |= {f"{prefix}attention.{name}.weight": (hidden, hidden) for name in (*_QKV, "o_proj")}
        shapes |= {f"{prefix}feed_forward.{name}.weight": (inner, hidden) for name in _GATE_UP}
        shapes[f"{prefix}feed_forward.down_proj.weight"] = (hidden, inner)
    shapes[f"{_PROJECTOR}norm.weight"] = (hidden,)
    shapes[f"{_PROJECTOR}patch_merger.merging_layer.weight"] = (hidden, hidden * config.merge**2)
    for name, width in (("linear_1", hidden), ("linear_2", text)):
        shapes[f"{_PROJECTOR}{name}.weight"] = (text, width)
        if config.projector_bias:
            shapes[f"{_PROJECTOR}{name}.bias"] = (text,)
    return shapes


def vision_parameters(config: VisionConfig) -> int:
    """How many numbers its weights have."""
    return sum(torch.Size(shape).numel() for shape in vision_shapes(config).values())


def vision_precision(text: Precision, device: torch.device, kernels: NativeKernels | None) -> Precision:
    """How it is held beside a text network that is held as `text`: never in fewer bits than 16."""
    name = "auto" if text.quantised else text.name
    return resolve_precision(name, device, has_kernels=kernels is not None)


def layer_prefix(number: int) -> str:
    """How the names of the weights of a layer begin."""
    return f"vision_tower.transformer.layers.{number}."


class VisionLoader:
    """Builds a `VisionTower` from an open checkpoint, a layer at a time."""

    def __init__(
        self,
        config: VisionConfig,
        checkpoint: WeightSource,
        precision: Precision,
        device: torch.device,
        notes: KernelNotes | None = None,
        kernels: NativeKernels | None = None,
    ) -> None:
        """`precision`: without any rounding of weights."""
        self._config = config
        self._checkpoint = checkpoint
        self._shapes = vision_shapes(config)
        self._precision = precision
        self._device = device
        self._linear = LinearFactory(precision, device, notes=notes, kernels=kernels)

    def load(self) -> VisionTower:
        """Check every name and shape, then read.

        Raises:
            BrokenModelError, UnsupportedModelError: see `Checkpoint`.
        """
        self._checkpoint.check(self._shapes)
        halves = self._precision.table_dtype == torch.bfloat16 and (self._device.type != "cpu" or has_native_bfloat16())
        return VisionTower(
            self._config,
            self._patches(),
            self._norm(_NORM, _EPS),
            [self._one(number) for number in range(self._config.num_hidden_layers)],
            self._projector(),
            torch.bfloat16 if halves else self._precision.dtype,
        )

    def _patches(self) -> Linear:
        weight = self._checkpoint.weight(_PATCHES, self._precision.table_dtype, self._device)
        return self._linear(weight.flatten(1))

    def _one(self, number: int) -> VisionLayer:
        prefix = layer_prefix(number)
        return VisionLayer(
            self._norm(f"{prefix}attention_norm.weight", _EPS),
            self._joined(f"{prefix}attention.", _QKV),
            self._joined(f"{prefix}attention.", ("o_proj",)),
            self._norm(f"{prefix}ffn_norm.weight", _EPS),
            self._joined(f"{prefix}feed_forward.", _GATE_UP),
            self._joined(f"{prefix}feed_forward.", ("down_proj",)),
        )

    def _projector(self) -> Projector:
        has_bias = self._config.projector_bias
        return Projector(
            self._norm(f"{_PROJECTOR}norm.weight", self._config.text_eps),
            self._joined(f"{_PROJECTOR}patch_merger.", ("merging_layer",)),
            self._joined(_PROJECTOR, ("linear_1",), has_bias=has_bias),
            self._joined(_PROJECTOR, ("linear_2",), has_bias=has_bias),
        )

    def _norm(self, name: str, eps: float) -> RMSNorm:
        return RMSNorm(self._weight(name), eps)

    def _joined(self, prefix: str, names: Sequence[str], *, has_bias: bool = False) -> Linear:
        weights = [f"{prefix}{name}.weight" for name in names]
        bias = self._weight(f"{prefix}{names[0]}.bias") if has_bias else None
        if self._linear.takes_rows(self._shapes[weights[0]][-1]):
            return self._linear.of_rows([self._checkpoint.rows(name) for name in weights], bias)
        dtype = self._precision.table_dtype
        return self._linear(torch.cat([self._checkpoint.borrowed(name, dtype, self._device) for name in weights]), bias)

    def _weight(self, name: str) -> Tensor:
        return self._checkpoint.weight(name, self._precision.dtype, self._device)
