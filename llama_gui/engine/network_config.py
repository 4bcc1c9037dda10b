"""The values that shape a network, under the names of config.json where it has them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from llama_gui.engine.cache_layout import CacheLayout
from llama_gui.engine.conv_config import ConvConfig
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.expert_config import ExpertConfig
from llama_gui.engine.gating import Gate
from llama_gui.engine.gemma4_config import Gemma4Config, layout_of
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.quantisation_config import Fp8Config
from llama_gui.engine.rope_config import RopeConfig, rotary_dim
from llama_gui.engine.split_layers import SplitLayers

Recurrence = DeltaConfig | ConvConfig | MambaConfig
"""What some layers have in the place of attention, and what keeps a state."""


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Everything that shapes the network, under the field names of config.json where it has them.

    What has a default below is that of Gemma, Granite, OLMo, EXAONE or gpt-oss alone.
    """

    architecture: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    max_position_embeddings: int
    rope: RopeConfig
    tie_word_embeddings: bool
    qkv_bias: bool
    out_bias: bool
    mlp_bias: bool
    qk_norm: bool
    """Each head of queries and keys is normed before it is rotated; see `whole_qk_norm`."""
    fuses_heads: bool
    """The files hold queries, keys and values in one weight."""
    fuses_mlp: bool
    """The files hold gate and up in one weight."""
    paired: bool
    """The files hold the rows of queries and keys in pairs; see `PairedRows`."""
    sliding_window: int | None
    """How many of the last tokens, themselves included, the `sliding_layers` see; None: there are no such layers."""
    sliding_layers: frozenset[int]
    unrotated_layers: frozenset[int]
    """Layers whose heads do not know positions (NoPE)."""
    local_rope: RopeConfig | None
    """The rotation of `sliding_layers`, where it differs from `rope` (Gemma, OLMo 3)."""
    reads_pictures: bool
    """The files hold a vision network as well, which is left aside."""
    dtype: str
    """In which the weights were saved: one of `FILE_DTYPES`."""
    eos_token_ids: frozenset[int]
    embedding_scale: float = 1.0
    """Multiplies the embeddings that are looked up (Gemma, Granite)."""
    logits_scale: float = 1.0
    """Multiplies the logits (Granite; its other multipliers are in `rms_norm_eps` and `rope`, see `of_family`)."""
    post_norms: bool = False
    """The outputs of attention and MLP are normed before they are added."""
    pre_norms: bool = True
    """What goes into attention and MLP is normed (all but OLMo, EXAONE)."""
    norms_turned: bool = False
    """Heads are normed after they were rotated (Hunyuan)."""
    whole_qk_norm: bool = False
    """All heads of the queries are normed as one, and all of the keys, in the place of each (OLMo)."""
    norm_shift: float = 0.0
    """Is added to the weights of norms."""
    rounds_scale: bool = False
    """`embedding_scale` is rounded to the dtype of the weights."""
    gate: Gate = "silu"
    """The activation in the MLP."""
    experts: ExpertConfig | None = None
    """In the place of MLPs, see `experts_of`; None: there are none."""
    has_sinks: bool = False
    """Each head has a logit that takes part in the softmax of its scores, and stands for no value (gpt-oss)."""
    part_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """See `Family.part_names`."""
    stored_kind: str = ""
    """The type that the files hold the experts in, by GGUF's names; "": they are plain (gpt-oss)."""
    fp8: Fp8Config | None = None
    """How the files hold matrices in FP8; None: they hold plain numbers."""
    score_cap: float | None = None
    """Scores come softly near it, at most: they are ``cap * tanh(score / cap)`` (Gemma 2)."""
    logits_cap: float | None = None
    """The same of logits."""
    gemma4: Gemma4Config | None = None
    """What layers without a window have otherwise, and more; None: it is no Gemma 4."""
    delta: DeltaConfig | None = None
    """Which layers have a gated delta net in the place of attention, whose output is gated then; None: none has."""
    conv: ConvConfig | None = None
    """Which layers have a short convolution there; None: none has."""
    mamba: MambaConfig | None = None
    """Which layers have a state space there; None: none has."""
    split: SplitLayers | None = None
    """Where the halves of layers are in the files, and which layers have only the first; None: layers are whole."""
    mtp_layers: int = 0
    """So many more layers have keys and values beside those of these: they guess further tokens, see `MtpLayer`."""
    lent: CacheLayout | None = None
    """It is such a layer alone, and this is what is kept of the whole network; None: it is a network."""

    @property
    def rotary_dim(self) -> int:
        """How many dimensions of each head are rotated: the first ones."""
        return rotary_dim(self.head_dim, self.rope)

    def head_dim_of(self, layer: int) -> int:
        """How wide the heads of `layer` are."""
        other = self._full(layer)
        return self.head_dim if other is None else other.full_head_dim

    def kv_heads_of(self, layer: int) -> int:
        """How many key heads `layer` has, or attends to."""
        other = self._full(layer)
        return self.num_key_value_heads if other is None else other.full_kv_heads

    def intermediate_of(self, layer: int) -> int:
        """How wide the MLP of `layer` is."""
        if self.gemma4 is None or not self.borrows(layer):
            return self.intermediate_size
        return self.gemma4.borrowing_intermediate

    def borrows(self, layer: int) -> bool:
        """Whether `layer` attends to the keys and values of another, and has none of its own."""
        return layer >= self.keeping_layers

    @property
    def is_assistant(self) -> bool:
        """Whether it only guesses for another network, see `Assistant`."""
        return self.gemma4 is not None and self.gemma4.backbone > 0

    @property
    def keeping_layers(self) -> int:
        """So many layers, the first ones, have keys and values of their own."""
        return self.num_hidden_layers - (0 if self.gemma4 is None else self.gemma4.borrowing_layers)

    def values_are_keys(self, layer: int) -> bool:
        """Whether `layer` has no projection for values, which are its keys before norm and rotation."""
        other = self._full(layer)
        return other is not None and other.values_are_keys

    def _full(self, layer: int) -> Gemma4Config | None:
        """What `layer` has otherwise than those with a window; None: nothing."""
        return None if layer in self.sliding_layers else self.gemma4

    @property
    def cache_layout(self) -> CacheLayout:
        """Which keys and values are kept."""
        if self.lent is not None:
            return self.lent
        layers = self.num_hidden_layers + self.mtp_layers
        if self.recurrent is not None:
            return CacheLayout.of_some(layers, self.recurrent.layers, self.num_key_value_heads, self.head_dim)
        if self.gemma4 is None:
            return CacheLayout.even(layers, self.num_key_value_heads, self.head_dim)
        return layout_of(self.gemma4, (self.num_key_value_heads, self.head_dim), self.sliding_layers, layers)

    @property
    def whole_parts(self) -> frozenset[int]:
        """The parts of `cache_layout` in whose layers rows of an image see each other, with `ImageSpan.is_whole`."""
        layout = self.cache_layout
        if self.gemma4 is None:
            return frozenset(range(len(layout.parts)))
        return frozenset(layout.places[layer][0] for layer in self.sliding_layers)

    @property
    def rope_widths(self) -> tuple[int, ...]:
        """How wide the heads are that each of the `ropes` rotates."""
        full = self.head_dim if self.gemma4 is None else self.gemma4.full_head_dim
        return (full,) if self.local_rope is None else (full, self.head_dim)

    @property
    def ropes(self) -> tuple[RopeConfig, ...]:
        """All rotations; see `rope_of`."""
        return (self.rope,) if self.local_rope is None else (self.rope, self.local_rope)

    def rope_of(self, layer: int) -> int:
        """Which of `ropes` that of `layer` is."""
        return int(self.local_rope is not None and layer in self.sliding_layers)

    @property
    def recurrent(self) -> Recurrence | None:
        """What some layers have in the place of attention, which keeps a state; None: all attend."""
        found = self.delta or self.conv or self.mamba
        return found if found is not None and found.layers else None

    def recurrent_of(self, layer: int) -> Recurrence | None:
        """The same of `layer`; None: it attends."""
        found = self.recurrent
        return found if found is not None and layer in found.layers else None

    def experts_of(self, layer: int) -> ExpertConfig | None:
        """Those of `layer`; None: it has an MLP, or neither."""
        if self.experts is None or layer < self.experts.plain_layers or self.is_bare(layer):
            return None
        return self.experts

    def is_bare(self, layer: int) -> bool:
        """Whether `layer` has no feed-forward part."""
        return self.split is not None and self.split.seconds[layer] is None

    def within(self, context: int) -> Self:
        """The same for conversations of at most `context` tokens."""
        local = None if self.local_rope is None else self.local_rope.within(context)
        return replace(self, rope=self.rope.within(context), local_rope=local)
