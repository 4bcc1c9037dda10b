"""The part of config.json about mixtures of experts, and what checkpoints call their weights."""

from dataclasses import dataclass, replace

from llama_gui.engine.fields import Fields, shown
from llama_gui.errors import UnsupportedModelError

_MOST = 1024
_PLAIN = "first_k_dense_replace"
_MOST_IN_ALL = 100_000  # a table with rows for each is made before the weights are checked


@dataclass(frozen=True, slots=True)
class ExpertNames:
    """Of the weights of a layer's MLP. ``{}`` stands for the number of an expert.

    A name without it is that of a stack: one weight ``[experts, out, in]`` for all. `gate_up`: one name, or two whose
    channels lie behind one another.
    """

    router: str
    gate_up: tuple[str, ...]
    down: str
    has_gate: bool = True
    """An expert has a gate beside up; otherwise `gate_up` is up alone."""
    has_biases: bool = False
    """Beside each weight there is a bias: ``bias`` in the place of ``weight`` at the end of its name."""
    shared: str = ""
    """Of those of an MLP that all rows go through besides; ``{}`` stands for the part of it. "": there is none."""
    fuses_shared: bool = False
    """Its gate and up are one weight."""
    shared_gate: str = ""
    """Of what decides how much of it a row gets: through a sigmoid. "": all of it."""
    correction: str = ""
    """Of what is added to the weights of all experts while some are chosen. "": nothing is."""
    router_scale: str = ""
    """Of what goes to the router: a number for each of its inputs. "": nothing scales it."""
    scales: str = ""
    """Of what each expert has made: a number for each. "": nothing scales it."""
    are_flat: bool = False
    """`shared_gate` and `correction` are vectors, and not matrices of one row."""

    @property
    def is_stacked(self) -> bool:
        """Whether a weight is of all experts."""
        return "{}" not in self.down


QWEN_NAMES = ExpertNames(
    "mlp.gate.weight",
    ("mlp.experts.{}.gate_proj.weight", "mlp.experts.{}.up_proj.weight"),
    "mlp.experts.{}.down_proj.weight",
)
QWEN2_NAMES = replace(QWEN_NAMES, shared="mlp.shared_expert.{}.weight", shared_gate="mlp.shared_expert_gate.weight")
QWEN35_NAMES = replace(QWEN2_NAMES, gate_up=("mlp.experts.gate_up_proj",), down="mlp.experts.down_proj")
ERNIE_NAMES = replace(
    QWEN_NAMES, shared="mlp.shared_experts.{}.weight", correction="mlp.moe_statics.e_score_correction_bias"
)
MIXTRAL_NAMES = ExpertNames(
    "block_sparse_moe.gate.weight",
    ("block_sparse_moe.experts.{}.w1.weight", "block_sparse_moe.experts.{}.w3.weight"),
    "block_sparse_moe.experts.{}.w2.weight",
)
GRANITE_NAMES = ExpertNames(
    "block_sparse_moe.router.layer.weight",
    ("block_sparse_moe.input_linear.weight",),
    "block_sparse_moe.output_linear.weight",
)
GRANITE4_NAMES = replace(GRANITE_NAMES, shared="mlp.{}.weight", fuses_shared=True)
NEMOTRON_NAMES = ExpertNames(
    "mlp.gate.weight",
    ("mlp.experts.{}.up_proj.weight",),
    "mlp.experts.{}.down_proj.weight",
    has_gate=False,
    shared="mlp.shared_experts.{}.weight",
    correction="mlp.gate.e_score_correction_bias",
    are_flat=True,
)
LFM2_NAMES = ExpertNames(
    "feed_forward.gate.weight",
    ("feed_forward.experts.{}.w1.weight", "feed_forward.experts.{}.w3.weight"),
    "feed_forward.experts.{}.w2.weight",
    correction="feed_forward.expert_bias",
    are_flat=True,
)
GEMMA4_NAMES = ExpertNames(
    "router.proj.weight",
    ("experts.gate_up_proj",),
    "experts.down_proj",
    router_scale="router.scale",
    scales="router.per_expert_scale",
)
GGUF_NAMES = ExpertNames(
    "mlp.gate.weight", ("mlp.experts.gate_proj.weight", "mlp.experts.up_proj.weight"), "mlp.experts.down_proj.weight"
)
"""What we call the tensors of GGUF files, whatever the family."""
GGUF_SHARED = {
    "shared": "mlp.shared_expert.{}.weight",
    "shared_gate": "mlp.shared_expert_gate.weight",
    "correction": "mlp.correction.bias",
}
"""The fields of these names that families have besides."""
GGUF_FUSED = "mlp.experts.gate_up_proj.weight"
"""Of files that have gate and up of all experts in one tensor."""
GPT_OSS_NAMES = replace(GGUF_NAMES, has_biases=True)
"""Its folders have gate and up in turn: see `gpt_oss_folder.py`."""


SHARED_INNER = "shared_expert_intermediate_size"
"""The field that says how wide the MLP is that all rows go through besides."""


def bias_of(weight: str) -> str:
    """The name of the bias beside the weight of this name."""
    return weight.removesuffix("weight") + "bias"


@dataclass(frozen=True, slots=True)
class ExpertConfig:
    """The experts in the place of every MLP, but for those of the first layers.

    `count`: in each layer. `chosen`: by how many of them a token goes. `inner`: the width between gate and down.
    `normalises`: the weights of the chosen ones add up to 1, and otherwise those of all do. `by_sigmoid`: a weight is
    the sigmoid of its logit, and all by themselves add up to nothing. `shared`: `inner` of an MLP
    that all tokens go through besides; 0: there is none. `plain_layers`: so many of the first have no experts.
    """

    count: int
    chosen: int
    inner: int
    normalises: bool
    names: ExpertNames
    shared: int = 0
    plain_layers: int = 0
    by_sigmoid: bool = False
    scale: float = 1.0
    """Multiplies the weights of the chosen ones."""

    @property
    def matrices(self) -> int:
        """How many an expert has."""
        return 3 if self.names.has_gate else 2


def read_experts(fields: Fields, names: ExpertNames, *, layers: int) -> ExpertConfig:
    """What the fields of a config.json say of its experts.

    Raises:
        BrokenModelError: they make no sense.
        UnsupportedModelError: some layers have no experts.
    """
    values = fields.values
    if values.get("mlp_only_layers") or values.get("decoder_sparse_step", 1) != 1:
        name = "mlp_only_layers" if values.get("mlp_only_layers") else "decoder_sparse_step"
        raise UnsupportedModelError(
            f"{fields.file}: {name} is {shown(values[name])}, so some layers have no experts, which is not supported. "
            "Choose another model."
        )
    number = "num_local_experts" if "num_local_experts" in values else "num_experts"  # transformers 5, older files
    count = fields.integer(number, most=min(_MOST, max(_MOST_IN_ALL // layers, 1)))
    chosen = fields.integer("num_experts_per_tok")
    if chosen > count:
        raise fields.wrong("num_experts_per_tok", f"at most {count}, as there are experts")
    if values.get(SHARED_INNER) == 0:  # the largest ERNIE has none
        names = replace(names, shared="", shared_gate="")
    if not fields.flag("use_expert_bias", True):
        names = replace(names, correction="")
    width = "moe_intermediate_size" if "moe_intermediate_size" in values else "intermediate_size"
    return ExpertConfig(
        count,
        chosen,
        fields.integer(width),
        fields.flag("norm_topk_prob", False),
        names,
        fields.integer(SHARED_INNER) if names.shared else 0,
        _plain_layers(fields, layers),
        values.get("scoring_func") == "sigmoid",
    )


def _plain_layers(fields: Fields, layers: int) -> int:
    count = fields.values.get(_PLAIN, 0)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < layers:
        raise fields.wrong(_PLAIN, f"a whole number from 0 to {layers - 1}, as there are {layers} layers")
    return count


def with_names_of_qwen(fields: Fields, layers: int) -> Fields:
    """What ERNIE 4.5 calls otherwise.

    Raises:
        UnsupportedModelError: of the later layers only some have experts.
    """
    for name, known in (("moe_layer_interval", (1,)), ("moe_layer_end_index", (-1, layers - 1))):
        if fields.values.get(name, known[0]) not in known:
            raise UnsupportedModelError(
                f"{fields.file}: {name} is {shown(fields.values[name])}, so some layers have no experts, which is not "
                "supported. Choose another model."
            )
    wide, shared = fields.integer("moe_intermediate_size"), fields.values.get("moe_num_shared_experts")
    shared = 0 if type(shared) is int and shared == 0 else fields.integer("moe_num_shared_experts")
    renamed = {
        "num_experts": fields.values.get("moe_num_experts"),
        "num_experts_per_tok": fields.values.get("moe_k"),
        SHARED_INNER: wide * shared,
        _PLAIN: fields.values.get("moe_layer_start_index"),
    }
    said = {name: value for name, value in renamed.items() if value is not None}
    return Fields({**said, **fields.values}, fields.file)
