"""The network that reads images for a GGUF file: another file beside it, which people call mmproj."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from llama_gui.engine import native_library
from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.fields import AGAIN, Fields, brief_list
from llama_gui.engine.gguf_file import GgufFile, StoredTensor, read_header
from llama_gui.engine.gguf_weights import GgufWeights
from llama_gui.engine.vision.config import VisionConfig
from llama_gui.engine.vision.files import VisionFiles
from llama_gui.engine.vision.loading import layer_prefix
from llama_gui.engine.weight_rows import PairedRows
from llama_gui.errors import BrokenModelError, ModelError, UnsupportedModelError

_IMAGE = "[IMG]"
_KINDS = ("bf16", "f16", "f32", "q8_0")
"""Of several files with the same network the first of these is taken: images need more bits than words."""

_LAYER_PARTS = {
    "ln1": "attention_norm",
    "ln2": "ffn_norm",
    "attn_q": "attention.q_proj",
    "attn_k": "attention.k_proj",
    "attn_v": "attention.v_proj",
    "attn_out": "attention.o_proj",
    "ffn_gate": "feed_forward.gate_proj",
    "ffn_up": "feed_forward.up_proj",
    "ffn_down": "feed_forward.down_proj",
}
_WHOLE = {
    "v.patch_embd.weight": "vision_tower.patch_conv.weight",
    "v.pre_ln.weight": "vision_tower.ln_pre.weight",
    "mm.input_norm.weight": "multi_modal_projector.norm.weight",
    "mm.patch_merger.weight": "multi_modal_projector.patch_merger.merging_layer.weight",
    **{
        f"mm.{number}.{part}": f"multi_modal_projector.linear_{number}.{part}"
        for number in (1, 2)
        for part in ("weight", "bias")
    },
}
_LAYER = re.compile(r"v\.blk\.(0|[1-9][0-9]{0,3})\.([a-z0-9_]+)\.weight", re.ASCII)
_BREAK = "v.token_embd.img_break"
"""The embedding of a token that the text network has, too."""

_log = logging.getLogger(__name__)


def vision_beside(model: Path, tokens: Sequence[str], hidden_size: int) -> VisionFiles | None:
    """That of a file in the folder of the GGUF file `model`, where it goes with it; None: there is none.

    `tokens`: those of the model, `hidden_size` that of its text network. What is damaged, or not for this model, is
    left aside: texts it reads all the same.
    """
    image_token = next((place for place, token in enumerate(tokens) if token == _IMAGE), None)
    if image_token is None:
        return None
    found: list[tuple[int, str, VisionFiles]] = []
    for path in sorted(model.parent.glob("*.gguf")):
        if "mmproj" not in path.name.lower():
            continue
        try:
            files = _read(path, image_token)
        except ModelError as error:
            _log.warning("Images are not read: %s", error)
            continue
        if files is not None and files.config.text_size == hidden_size:
            kind = next((place for place, kind in enumerate(_KINDS) if kind in path.name.lower()), len(_KINDS))
            found.append((kind, path.name, files))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _read(path: Path, image_token: int) -> VisionFiles | None:
    file = read_header(path)
    kinds = ("clip.vision.projector_type", "clip.projector_type")
    projector = next((file.metadata[key] for key in kinds if key in file.metadata), None)
    if file.metadata.get("general.architecture") != "clip" or projector != "pixtral":
        return None
    if "mm.patch_merger.weight" not in file.tensors:  # the first Pixtral, whose text network is another one
        return None
    config = _config(file, image_token)
    rows = PairedRows(config.num_attention_heads, config.head_dim, config.head_dim)
    paired = {
        f"{layer_prefix(layer)}attention.{name}.weight": rows
        for layer in range(config.num_hidden_layers)
        for name in ("q_proj", "k_proj")
    }
    return VisionFiles(config, partial(_VisionWeights, file, paired))


def _config(file: GgufFile, image_token: int) -> VisionConfig:
    fields = Fields(
        {key.removeprefix("clip.vision."): value for key, value in _plain(file.metadata).items()}, file.path
    )
    heads, hidden = fields.integer("attention.head_count"), fields.integer("embedding_length")
    outer = file.tensors.get("mm.2.weight")
    if outer is None or len(outer.shape) != 2:
        raise BrokenModelError(f"{file.path}: mm.2.weight is missing. {AGAIN}")
    return VisionConfig(
        hidden_size=hidden,
        intermediate_size=fields.integer("feed_forward_length"),
        num_hidden_layers=fields.integer("block_count", most=1000),
        num_attention_heads=heads,
        head_dim=max(hidden // heads, 1),
        patch_size=fields.integer("patch_size"),
        activation="silu" if fields.flag("clip.use_silu", False) else "gelu",
        rope_theta=10000.0,
        merge=fields.integer("spatial_merge_size", 2),
        text_size=outer.shape[0],
        text_eps=fields.number("attention.layer_norm_epsilon", 1e-5),
        projector_bias="mm.1.bias" in file.tensors,
        longest_edge=fields.integer("image_size"),
        mean=fields.numbers("image_mean"),
        deviation=fields.numbers("image_std"),
        image_token_id=image_token,
    ).checked(fields)


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """With lists of numbers as `Fields` knows them."""
    return {key: value.tolist() if hasattr(value, "tolist") else value for key, value in metadata.items()}


class _VisionWeights(GgufWeights):
    """The weights by the names that they have in folders."""

    def __init__(
        self, file: GgufFile, paired: Mapping[str, PairedRows], on_read: Callable[[int], None] | None = None
    ) -> None:
        super().__init__([file], paired, on_read, native_library.load(), tensors=_named(file.tensors))

    def check(self, expected: Mapping[str, Shape], ignored_suffixes: Sequence[str] = ()) -> None:
        """See `Checkpoint.check`."""
        if missing := [name for name in expected if name not in self.names]:
            raise BrokenModelError(f"{self.path}: {brief_list(missing)} missing. {AGAIN}")
        for name, shape in expected.items():
            self.check_one(name, shape)
        if surplus := sorted(self.names - expected.keys() - {_BREAK}):
            raise UnsupportedModelError(
                f"{self.path} holds {brief_list(surplus)} that a network for images has no place for here. "
                "Move the file elsewhere to use the model for texts."
            )


def _named(tensors: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
    return {_name(stored): tensor for stored, tensor in tensors.items()}


def _name(stored: str) -> str:
    match = _LAYER.fullmatch(stored)
    if match is not None and match[2] in _LAYER_PARTS:
        return f"{layer_prefix(int(match[1]))}{_LAYER_PARTS[match[2]]}.weight"
    return _WHOLE.get(stored, stored)
