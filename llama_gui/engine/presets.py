"""Random weights in the shapes of real models, made in memory: as fast as the real ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.config import network_config
from llama_gui.engine.device import Precision
from llama_gui.engine.fields import Fields
from llama_gui.engine.generation_defaults import GenerationDefaults
from llama_gui.engine.gguf_blocks import block_shape, numbers_of
from llama_gui.engine.model_files import ModelFiles
from llama_gui.engine.mtp_files import mtp_config
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.vocabulary import SamplingParams

_SPREAD = 0.02  # standard deviation, as networks begin their training
_EXPONENT = 120  # of blocks of MXFP4 with that spread
_DRAWN = 2**22 - 3  # numbers that are drawn; a prime, so that no two rows of a weight are the same


def _shape(
    layers: int, hidden: int, inner: int, heads: int, kv_heads: int, vocabulary: int, **more: Any
) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": vocabulary,
        "dtype": "bfloat16",
        **more,
    }


_LLAMA3 = {"rms_norm_eps": 1e-5, "rope_theta": 500000.0, "max_position_embeddings": 131072}
_GEMMA3 = {"architectures": ["Gemma3ForCausalLM"], "max_position_embeddings": 32768, "sliding_window": 512}
_QWEN35 = {
    "architectures": ["Qwen3_5ForCausalLM"], "head_dim": 256, "tie_word_embeddings": True, "rope_theta": 1e7,
    "max_position_embeddings": 262144,
}  # fmt: skip
_LFM2 = {
    "architectures": ["Lfm2ForCausalLM"], "block_auto_adjust_ff_dim": False, "max_position_embeddings": 128000,
    "full_attn_idxs": [2, 5, 8, 10, 12, 14],
}  # fmt: skip
_GRANITE4_H = {
    "architectures": ["GraniteMoeHybridForCausalLM"], "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
    "layer_types": ["attention" if layer % 10 == 5 else "mamba" for layer in range(40)], "mamba_n_heads": 48,
    "mamba_d_head": 64, "mamba_d_state": 128, "tie_word_embeddings": True, "embedding_multiplier": 12.0,
    "residual_multiplier": 0.22, "attention_multiplier": 0.0078125, "logits_scaling": 6.0,
}  # fmt: skip
_CONFIGS: dict[str, dict[str, Any]] = {
    "llama-3.2-1b": _shape(16, 2048, 8192, 32, 8, 128256, tie_word_embeddings=True, **_LLAMA3),
    "qwen2.5-0.5b": _shape(
        24, 896, 4864, 14, 2, 151936, tie_word_embeddings=True, rms_norm_eps=1e-6, rope_theta=1e6,
        max_position_embeddings=32768, architectures=["Qwen2ForCausalLM"]),
    "tinyllama-1.1b": _shape(
        22, 2048, 5632, 32, 4, 32000, rms_norm_eps=1e-5, rope_theta=1e4, max_position_embeddings=2048),
    "llama-3.1-8b": _shape(32, 4096, 14336, 32, 8, 128256, **_LLAMA3),
    "gemma-3-270m": _shape(18, 640, 2048, 4, 1, 262144, **_GEMMA3),
    "gemma-3-1b": _shape(26, 1152, 6912, 4, 1, 262144, **_GEMMA3),
    "gemma-4-12b": _shape(
        48, 3840, 15360, 16, 8, 262144, architectures=["Gemma4UnifiedForCausalLM"], head_dim=256, global_head_dim=512,
        num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=1024, rms_norm_eps=1e-6,
        hidden_activation="gelu_pytorch_tanh", final_logit_softcapping=30.0, tie_word_embeddings=True,
        max_position_embeddings=131072),
    "qwen3.5-0.8b": _shape(24, 1024, 3584, 8, 2, 248320, linear_num_value_heads=16, **_QWEN35),
    "qwen3.5-4b": _shape(32, 2560, 9216, 16, 4, 248320, linear_num_value_heads=32, **_QWEN35),
    "lfm2-1.2b": _shape(16, 2048, 8192, 32, 8, 65536, **_LFM2),
    "granite-4.0-h-1b": _shape(
        40, 1536, 4096, 12, 4, 100352, shared_intermediate_size=4096, num_local_experts=0, **_GRANITE4_H),
    "granite-4.0-h-tiny": _shape(
        40, 1536, 512, 12, 4, 100352, shared_intermediate_size=1024, num_local_experts=64, num_experts_per_tok=6,
        **_GRANITE4_H),
    "granite-3.1-1b-a400m": _shape(
        24, 1024, 512, 16, 8, 49152, architectures=["GraniteMoeForCausalLM"], num_local_experts=32,
        num_experts_per_tok=8, tie_word_embeddings=True, rope_theta=1.5e6, max_position_embeddings=131072,
        embedding_multiplier=12.0, residual_multiplier=0.22, attention_multiplier=0.015625, logits_scaling=6.0),
    "qwen3-30b-a3b": _shape(
        48, 2048, 6144, 32, 4, 151936, architectures=["Qwen3MoeForCausalLM"], num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=768, norm_topk_prob=True, head_dim=128, rope_theta=1e6, max_position_embeddings=40960),
    "gpt-oss-20b": _shape(
        24, 2880, 2880, 64, 8, 201088, architectures=["GptOssForCausalLM"], num_local_experts=32,
        num_experts_per_tok=4, quantization_config={"quant_method": "mxfp4"}),
}  # fmt: skip

PRESETS = tuple(_CONFIGS)


def preset_config(name: str) -> dict[str, Any]:
    """The config.json of the preset `name`, as a copy. Raises KeyError for other names than `PRESETS`."""
    return dict(_CONFIGS[name])


class RandomModel(ModelFiles):
    """A model as `load_model` takes it, whose weights are drawn when they are asked for.

    `config`: the content of a config.json. `tokenizer_folder`: whose tokenizer it borrows; ids that it does not know
    have no text. `has_mtp`: it has a layer that guesses further tokens.
    """

    def __init__(self, name: str, config: Mapping[str, Any], tokenizer_folder: Path, *, has_mtp: bool = False) -> None:
        self.name = name
        self._has_mtp = has_mtp
        self.config = network_config(Fields(dict(config), Path(name)))
        self.defaults = GenerationDefaults(SamplingParams(), frozenset())
        self._tokenizer_folder = tokenizer_folder

    def tokenizer(self) -> Tokenizer:
        """The borrowed one."""
        return Tokenizer.load(self._tokenizer_folder)

    def template(self, tokenizer: Tokenizer) -> ChatTemplate | None:
        """None: random weights have no conversation to hold."""
        return None

    def weights(self, on_read: Callable[[int], None] | None = None) -> "RandomWeights":
        """See `RandomWeights`."""
        return _weights_of(self.config, on_read)

    def mtp_weights(self, on_read: Callable[[int], None] | None = None) -> "RandomWeights | None":
        """See `RandomWeights`."""
        return _weights_of(mtp_config(self.config), on_read) if self._has_mtp else None

    def source(self, precision: Precision) -> str:
        """What they are."""
        return "random weights"


def _weights_of(config: NetworkConfig, on_read: Callable[[int], None] | None) -> "RandomWeights":
    return RandomWeights(weight_shapes(config), on_read, norm=1 - config.norm_shift, kind=config.stored_kind)


class RandomWeights:
    """Normally distributed matrices, and norms of the constant `norm`; a name always gives the same numbers.

    A few million are drawn and repeated, with a different start for each name: drawing eight billion takes minutes.
    `kind`: the type that experts are stored in, MXFP4; "": they are plain.
    """

    def __init__(
        self,
        shapes: Mapping[str, Shape],
        on_read: Callable[[int], None] | None = None,
        *,
        norm: float = 1.0,
        kind: str = "",
    ) -> None:
        self._shapes = shapes
        self._kind = kind
        self._norm = norm
        self._on_read = on_read
        self._drawn_blocks = torch.empty(0, dtype=torch.uint8)
        self._drawn = torch.empty(_DRAWN).normal_(0, _SPREAD, generator=torch.Generator().manual_seed(1))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    @property
    def names(self) -> frozenset[str]:
        """The names of all weights."""
        return frozenset(self._shapes)

    def check(self, expected: Mapping[str, Shape], ignored_suffixes: Sequence[str] = ()) -> None:
        """They are made to measure."""

    def weight(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """The weight `name`. Every call gives the same numbers, and so does each part of a stack."""
        shape = self._shapes[name][0 if part is None else 1 :]
        tensor = torch.empty(shape, dtype=dtype)
        if self._on_read is not None:
            self._on_read(tensor.numel())
        if name.endswith("norm.weight"):
            return tensor.fill_(1 if "linear_attn" in name else self._norm).to(device)
        start = (sum(name.encode()) + (part or 0)) * 7919 % _DRAWN
        flat, filled = tensor.view(-1), 0
        while filled < len(flat):
            piece = self._drawn[start : start + len(flat) - filled]
            flat[filled : filled + len(piece)] = piece
            filled, start = filled + len(piece), 0
        return tensor.to(device)

    def borrowed(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """As `weight`."""
        return self.weight(name, dtype, device, part)

    def rows(self, name: str, part: int | None = None) -> WeightRows:
        """The matrix `name` in bfloat16, as models come."""
        out, width = self._shapes[name][-2:]
        if self._kind and ".experts." in name:
            blocks = self._blocks(name, out, width)
            return WeightRows(
                out, width, (numbers_of(some.flatten(), self._kind).view(out, width) for some in (blocks,)),
                self._kind, (blocks,),
            )  # fmt: skip
        return WeightRows(out, width, (self.weight(one, torch.bfloat16, torch.device("cpu"), part) for one in (name,)))

    def file_rows(self, name: str) -> "_DrawnRows":
        """The matrix `name`, which is in no file either."""
        return _DrawnRows(self._drawn, self._shapes[name][-1])

    def _blocks(self, name: str, out: int, width: int) -> Tensor:
        """Uint8 ``[out, bytes]``, of about the same spread: one weight's, its rows in turn for each name."""
        if self._on_read is not None:
            self._on_read(out * width)
        size, numbers = block_shape(self._kind)
        shape = (out, width // numbers, size)
        if self._drawn_blocks.shape != shape:  # drawing those of all experts takes minutes
            generator = torch.Generator().manual_seed(1)
            self._drawn_blocks = torch.randint(256, shape, dtype=torch.uint8, generator=generator)
            self._drawn_blocks[..., 0] = _EXPONENT
        return self._drawn_blocks.roll(sum(name.encode()), 0).flatten(1)


class _DrawnRows:
    """A `RowSource` of what was drawn."""

    def __init__(self, drawn: Tensor, width: int) -> None:
        self._drawn = drawn
        self._width = width

    def look_up(self, ids: Sequence[int]) -> Tensor:
        """See `RowSource`: each row begins somewhere else."""
        starts = torch.tensor(ids, dtype=torch.int64).unsqueeze(1) * 7919
        return self._drawn[(starts + torch.arange(self._width)) % _DRAWN]
