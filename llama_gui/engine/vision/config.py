"""What config.json and the processor's file say of the network that reads images."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from llama_gui.engine.fields import AGAIN, Fields, read_json, shown
from llama_gui.errors import BrokenModelError, UnsupportedModelError

Activation = Literal["silu", "gelu"]

_PROCESSOR_FILES = ("processor_config.json", "preprocessor_config.json")
_MOST_LAYERS = 1000
_MOST_ROWS = 90
"""In either direction, of an image."""
_MEAN, _DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""Of red, green and blue from 0 to 1: CLIP's (Radford et al. 2021), with which Pixtral's images are normed, too."""


@dataclass(frozen=True, slots=True)
class VisionConfig:
    """A network in the manner of Pixtral (https://arxiv.org/abs/2410.07073), and how an image is prepared for it.

    `merge`: so many patches in both directions become one row. `text_size`: numbers of a row. `text_eps`: of the norm
    behind the network. `longest_edge`: the most pixels of either side of an image. `image_token_id`: of the token in
    whose place rows stand.
    """

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    head_dim: int
    patch_size: int
    activation: Activation
    rope_theta: float
    merge: int
    text_size: int
    text_eps: float
    projector_bias: bool
    longest_edge: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    image_token_id: int

    @property
    def row_pixels(self) -> int:
        """Pixels of either side of the part of an image that becomes a row."""
        return self.patch_size * self.merge

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; `fields`: what was said of it.

        Raises:
            BrokenModelError: it cannot.
        """
        if self.head_dim % 4 or self.head_dim * self.num_attention_heads != self.hidden_size:
            heads = f"{self.num_attention_heads} heads of {self.head_dim}"
            raise BrokenModelError(f"{fields.file}: rows of {self.hidden_size} numbers cannot be {heads}. {AGAIN}")
        if self.longest_edge // self.row_pixels > _MOST_ROWS:
            most = _MOST_ROWS * self.row_pixels
            raise BrokenModelError(
                f"{fields.file}: images of {self.longest_edge} pixels are larger than {most}. {AGAIN}"
            )
        if len(self.mean) != 3 or len(self.deviation) != 3:
            raise BrokenModelError(
                f"{fields.file}: the mean and the deviation of colours are no three numbers. {AGAIN}"
            )
        return self


def read_vision(folder: Path) -> VisionConfig | None:
    """The network for images of the model in `folder`; None: it has none, or one that we do not run.

    Raises:
        BrokenModelError: what the files say of it cannot be.
        UnsupportedModelError: it has an option that we do not know.
    """
    file = folder / "config.json"
    values = read_json(file)
    inner, text = values.get("vision_config"), values.get("text_config")
    if not isinstance(inner, dict) or not isinstance(text, dict) or inner.get("model_type") != "pixtral":
        return None
    outer, vision = Fields(_said(values), file), Fields(_said(inner), file)
    _refuse(outer, vision)
    heads, hidden = vision.integer("num_attention_heads", 16), vision.integer("hidden_size", 1024)
    token = "image_token_id" if values.get("image_token_id") is not None else "image_token_index"
    processor = _processor(folder)
    config = VisionConfig(
        hidden_size=hidden,
        intermediate_size=vision.integer("intermediate_size", 4096),
        num_hidden_layers=vision.integer("num_hidden_layers", 24, most=_MOST_LAYERS),
        num_attention_heads=heads,
        head_dim=vision.integer("head_dim", max(hidden // heads, 1)),
        patch_size=vision.integer("patch_size", 16),
        activation=_activation(vision),
        rope_theta=_rope_theta(vision),
        merge=outer.integer("spatial_merge_size", 2),
        text_size=Fields(_said(text), file).integer("hidden_size"),
        text_eps=Fields(_said(text), file).number("rms_norm_eps", 1e-5),
        projector_bias=outer.flag("multimodal_projector_bias", False),
        longest_edge=_longest_edge(processor, vision.integer("image_size", 1024)),
        mean=_colours(processor, "image_mean", _MEAN),
        deviation=_colours(processor, "image_std", _DEVIATION),
        image_token_id=outer.integer(token, 10),
    )
    return config.checked(vision)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _refuse(outer: Fields, vision: Fields) -> None:
    known = {
        (outer, "vision_feature_layer"): (-1, [-1]),
        (outer, "projector_hidden_act"): ("gelu",),
        (vision, "num_channels"): (3,),
    }
    for (fields, name), allowed in known.items():
        if fields.values.get(name, allowed[0]) not in allowed:
            raise UnsupportedModelError(
                f"{fields.file}: {name} is {shown(fields.values[name])}, and only {allowed[0]} is supported. "
                "Choose another model."
            )


def _activation(vision: Fields) -> Activation:
    found = vision.values.get("hidden_act", "gelu")
    if found not in ("silu", "gelu"):
        raise UnsupportedModelError(f"{vision.file}: the activation {shown(found)} is not supported.")
    return found


def _rope_theta(vision: Fields) -> float:
    nested = vision.values.get("rope_parameters")
    inner = Fields(_said(nested), vision.file) if isinstance(nested, dict) else vision
    return inner.number("rope_theta", 10000.0)


def _processor(folder: Path) -> Fields:
    """The part for images of what the processor's file says; nothing where there is none."""
    for name in _PROCESSOR_FILES:
        file = folder / name
        values = read_json(file) if file.exists() else {}
        inner = values.get("image_processor")
        if isinstance(inner, dict):
            return Fields(_said(inner), file)
        if "image_mean" in values or "size" in values:
            return Fields(_said(values), file)
    return Fields({}, folder / _PROCESSOR_FILES[0])


def _longest_edge(processor: Fields, otherwise: int) -> int:
    size = processor.values.get("size")
    if not isinstance(size, dict):
        return otherwise
    return Fields(_said(size), processor.file).integer("longest_edge", otherwise)


def _colours(processor: Fields, name: str, otherwise: tuple[float, ...]) -> tuple[float, ...]:
    return processor.numbers(name) if name in processor.values else otherwise
