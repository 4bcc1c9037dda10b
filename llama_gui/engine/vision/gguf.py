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
from llama_gui.engine.gguf_file import GgufFile, read_header
from llama_gui.engine.gguf_weights import GgufWeights
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.vision.config import PixtralConfig
from llama_gui.engine.vision.files import VisionFiles
from llama_gui.engine.vision.gemma4_gguf import GEMMA4, GEMMA4_TOKENS, UNIFIED, gemma4_names, gemma4_vision
from llama_gui.engine.vision.pixtral_loading import pixtral_layer
from llama_gui.engine.vision.qwen_gguf import IMAGE, KINDS, qwen_config, qwen_names
from llama_gui.engine.vision.siglip_config import Gemma3VisionConfig, Idefics3Config, Siglip
from llama_gui.engine.vision.siglip_loading import siglip_layer
from llama_gui.engine.weight_rows import PairedRows
from llama_gui.errors import BrokenModelError, ModelError, UnsupportedModelError

_PIXTRAL_IMAGE = "[IMG]"
_GEMMA_TOKENS = ("<start_of_image>", "<end_of_image>")
_GEMMA_IMAGE = "<image_soft_token>"
"""Many files lack it, as it is in no text: there another token stands for it where only its place counts."""
_IDEFICS_TOKENS = ("<image>", "<fake_token_around_image>")
_KINDS = ("bf16", "f16", "f32", "q8_0")
"""Of several files with the same network the first of these is taken: images need more bits than words."""

_PIXTRAL_PARTS = {
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
_PIXTRAL = {
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
_SIGLIP_PARTS = {
    "ln1": "layer_norm1",
    "ln2": "layer_norm2",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.out_proj",
    "ffn_up": "mlp.fc1",
    "ffn_down": "mlp.fc2",
}
_SIGLIP = {
    **{f"v.patch_embd.{part}": f"vision_tower.embeddings.patch_embedding.{part}" for part in ("weight", "bias")},
    **{f"v.post_ln.{part}": f"vision_tower.post_layernorm.{part}" for part in ("weight", "bias")},
    "v.position_embd.weight": "vision_tower.embeddings.position_embedding.weight",
    "mm.soft_emb_norm.weight": "multi_modal_projector.mm_soft_emb_norm.weight",
    "mm.input_projection.weight": "multi_modal_projector.mm_input_projection_weight",
    "mm.model.fc.weight": "multi_modal_projector.modality_projection.proj.weight",
}
_LAYER = re.compile(r"v\.blk\.(0|[1-9][0-9]{0,3})\.([a-z0-9_]+)\.(weight|bias)", re.ASCII)
_BREAK = "v.token_embd.img_break"
"""The embedding of a token that the text network has, too."""

_log = logging.getLogger(__name__)


def vision_beside(model: Path, tokens: Sequence[str], text: NetworkConfig) -> VisionFiles | None:
    """That of a file in the folder of the GGUF file `model`, where it goes with it; None: there is none.

    `tokens`: those of the model, `text`: its network. What is damaged, or not for this model, is
    left aside: texts it reads all the same.
    """
    found: list[tuple[int, str, VisionFiles]] = []
    for path in sorted(model.parent.glob("*.gguf")):
        if "mmproj" not in path.name.lower():
            continue
        try:
            files = _read(path, tokens, text)
        except ModelError as error:
            _log.warning("Images are not read: %s", error)
            continue
        if files is not None and files.config.text_size == text.hidden_size:
            kind = next((place for place, kind in enumerate(_KINDS) if kind in path.name.lower()), len(_KINDS))
            found.append((kind, path.name, files))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _read(path: Path, tokens: Sequence[str], text: NetworkConfig) -> VisionFiles | None:
    file = read_header(path)
    kinds = ("clip.vision.projector_type", "clip.projector_type")
    projector = next((file.metadata[key] for key in kinds if key in file.metadata), None)
    if file.metadata.get("general.architecture") != "clip":
        return None
    # The first Pixtral has no merger, and another network for text.
    if projector == "pixtral" and _PIXTRAL_IMAGE in tokens and "mm.patch_merger.weight" in file.tensors:
        return _pixtral_files(file, tokens.index(_PIXTRAL_IMAGE))
    if projector == "gemma3" and all(token in tokens for token in _GEMMA_TOKENS):
        # There norms count from 0.
        return VisionFiles(_gemma_config(file, tokens), _siglip_weights(file), row_norm_shift=0.0)
    if projector == "idefics3" and all(token in tokens for token in _IDEFICS_TOKENS):
        return VisionFiles(_idefics_config(file, tokens), _siglip_weights(file))
    if text.gemma4 is not None and projector in (GEMMA4, UNIFIED) and all(token in tokens for token in GEMMA4_TOKENS):
        config = gemma4_vision(file, _fields(file), tokens, is_whole=text.gemma4.sees_images_whole)
        return VisionFiles(config, partial(_Weights, file, gemma4_names(file), {}))
    kind = KINDS.get(projector) if isinstance(projector, str) else None
    if kind is not None and IMAGE in tokens:
        config = qwen_config(file, kind, _fields(file), tokens.index(IMAGE), text.num_hidden_layers)
        return VisionFiles(config, partial(_Weights, file, qwen_names(file, config), {}))
    return None


def _pixtral_files(file: GgufFile, image_token: int) -> VisionFiles:
    config = _pixtral_config(file, image_token)
    rows = PairedRows(config.num_attention_heads, config.head_dim, config.head_dim)
    paired = {
        f"{pixtral_layer(layer)}attention.{name}.weight": rows
        for layer in range(config.num_hidden_layers)
        for name in ("q_proj", "k_proj")
    }
    names = {stored: _name(stored, _PIXTRAL, _PIXTRAL_PARTS, pixtral_layer) for stored in file.tensors}
    return VisionFiles(config, partial(_Weights, file, names, paired))


def _siglip_weights(file: GgufFile) -> Callable[[Callable[[int], None] | None], GgufWeights]:
    names = {stored: _name(stored, _SIGLIP, _SIGLIP_PARTS, siglip_layer) for stored in file.tensors}
    return partial(_Weights, file, names, {})


def _fields(file: GgufFile) -> Fields:
    return Fields({key.removeprefix("clip.vision."): value for key, value in _plain(file.metadata).items()}, file.path)


def _siglip(fields: Fields) -> Siglip:
    return {
        "hidden_size": fields.integer("embedding_length"),
        "intermediate_size": fields.integer("feed_forward_length"),
        "num_hidden_layers": fields.integer("block_count", most=1000),
        "num_attention_heads": fields.integer("attention.head_count"),
        "patch_size": fields.integer("patch_size"),
        "image_size": fields.integer("image_size"),
        "eps": fields.number("attention.layer_norm_epsilon", 1e-6),
        "mean": fields.numbers("image_mean"),
        "deviation": fields.numbers("image_std"),
    }


def _idefics_config(file: GgufFile, tokens: Sequence[str]) -> Idefics3Config:
    fields = _fields(file)
    network = _siglip(fields)
    return Idefics3Config(
        **network,
        text_size=file.shape_of("mm.model.fc.weight", 2)[0],
        merge=fields.integer("projector.scale_factor", 2),
        longest_edge=fields.integer("preproc_image_size", 4 * network["image_size"]),
        splits=True,
        image_token_id=tokens.index(_IDEFICS_TOKENS[0]),
    ).checked(fields)


def _gemma_config(file: GgufFile, tokens: Sequence[str]) -> Gemma3VisionConfig:
    fields = _fields(file)
    network = _siglip(fields)
    begin, end = map(tokens.index, _GEMMA_TOKENS)
    patches = network["image_size"] // network["patch_size"]
    return Gemma3VisionConfig(
        **network,
        rows_per_side=patches // fields.integer("projector.scale_factor", 4),
        text_size=file.shape_of("mm.input_projection.weight", 2)[1],
        image_token_id=tokens.index(_GEMMA_IMAGE) if _GEMMA_IMAGE in tokens else begin,
        begin=begin,
        end=end,
    ).checked(fields)


def _pixtral_config(file: GgufFile, image_token: int) -> PixtralConfig:
    fields = _fields(file)
    heads, hidden = fields.integer("attention.head_count"), fields.integer("embedding_length")
    return PixtralConfig(
        hidden_size=hidden,
        intermediate_size=fields.integer("feed_forward_length"),
        num_hidden_layers=fields.integer("block_count", most=1000),
        num_attention_heads=heads,
        head_dim=max(hidden // heads, 1),
        patch_size=fields.integer("patch_size"),
        activation="silu" if fields.flag("clip.use_silu", False) else "gelu",
        rope_theta=10000.0,
        merge=fields.integer("spatial_merge_size", 2),
        text_size=file.shape_of("mm.2.weight", 2)[0],
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


class _Weights(GgufWeights):
    """The weights by the names that they have in folders, of which `names` tells by those in the file.

    Those that it does not name are left aside.
    """

    def __init__(
        self,
        file: GgufFile,
        names: Mapping[str, str],
        paired: Mapping[str, PairedRows],
        on_read: Callable[[int], None] | None = None,
    ) -> None:
        tensors = {name: file.tensors[stored] for stored, name in names.items()}
        super().__init__([file], paired, on_read, native_library.load(), tensors=tensors)

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


def _name(stored: str, whole: Mapping[str, str], parts: Mapping[str, str], layer: Callable[[int], str]) -> str:
    match = _LAYER.fullmatch(stored)
    if match is not None and match[2] in parts:
        return f"{layer(int(match[1]))}{parts[match[2]]}.{match[3]}"
    return whole.get(stored, stored)
