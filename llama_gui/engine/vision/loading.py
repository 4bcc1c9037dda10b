"""A checkpoint -> the network for images that it holds."""

import math

import torch

from llama_gui.engine.checkpoint import Shape, WeightSource
from llama_gui.engine.device import Precision, resolve_precision
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.vision.config import PixtralConfig, VisionConfig
from llama_gui.engine.vision.gemma4_config import Gemma4UnifiedConfig, Gemma4VisionConfig
from llama_gui.engine.vision.gemma4_loading import gemma4_shapes, load_gemma4, load_unified, unified_shapes
from llama_gui.engine.vision.pixtral_loading import load_pixtral, pixtral_shapes
from llama_gui.engine.vision.qwen_config import QwenVisionConfig
from llama_gui.engine.vision.qwen_loading import load_qwen, qwen_shapes
from llama_gui.engine.vision.siglip_loading import load_siglip, siglip_shapes
from llama_gui.engine.vision.tower import VisionTower
from llama_gui.engine.vision.weights import VisionWeights


def vision_shapes(config: VisionConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint holds of it."""
    match config:
        case PixtralConfig():
            return pixtral_shapes(config)
        case QwenVisionConfig():
            return qwen_shapes(config)
        case Gemma4VisionConfig():
            return gemma4_shapes(config)
        case Gemma4UnifiedConfig():
            return unified_shapes(config)
        case _:
            return siglip_shapes(config)


def vision_parameters(config: VisionConfig) -> int:
    """How many numbers its weights have."""
    return sum(map(math.prod, vision_shapes(config).values()))


def vision_precision(text: Precision, device: torch.device, kernels: NativeKernels | None) -> Precision:
    """How it is held beside a text network that is held as `text`: never in fewer bits than 16."""
    name = "auto" if text.quantised else text.name
    return resolve_precision(name, device, has_kernels=kernels is not None)


def load_vision(
    config: VisionConfig,
    checkpoint: WeightSource,
    precision: Precision,
    device: torch.device,
    notes: KernelNotes | None = None,
    kernels: NativeKernels | None = None,
    *,
    row_norm_shift: float = 1.0,
) -> VisionTower:
    """Check every name and shape, then read, a layer at a time. For the arguments see `VisionWeights`.

    Raises:
        BrokenModelError, UnsupportedModelError: see `Checkpoint`.
    """
    shapes = vision_shapes(config)
    weights = VisionWeights(checkpoint, shapes, precision, device, notes, kernels, row_norm_shift=row_norm_shift)
    match config:
        case PixtralConfig():
            return load_pixtral(config, weights)
        case QwenVisionConfig():
            return load_qwen(config, weights)
        case Gemma4VisionConfig():
            return load_gemma4(config, weights)
        case Gemma4UnifiedConfig():
            return load_unified(config, weights)
        case _:
            return load_siglip(config, weights)
