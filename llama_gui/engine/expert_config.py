"""The part of config.json about mixtures of experts, and what checkpoints call their weights."""

from dataclasses import dataclass, replace

from llama_gui.engine.fields import Fields, shown
from llama_gui.errors import UnsupportedModelError

_MOST = 1024
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
    has_biases: bool = False
    """Beside each weight there is a bias: ``bias`` in the place of ``weight`` at the end of its name."""

    @property
    def is_stacked(self) -> bool:
        """Whether a weight is of all experts."""
        return "{}" not in self.down


QWEN_NAMES = ExpertNames(
    "mlp.gate.weight",
    ("mlp.experts.{}.gate_proj.weight", "mlp.experts.{}.up_proj.weight"),
    "mlp.experts.{}.down_proj.weight",
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
GGUF_NAMES = ExpertNames(
    "mlp.gate.weight", ("mlp.experts.gate_proj.weight", "mlp.experts.up_proj.weight"), "mlp.experts.down_proj.weight"
)
"""What we call the tensors of GGUF files, whatever the family."""
GPT_OSS_NAMES = replace(GGUF_NAMES, has_biases=True)
"""Its folders have gate and up in turn: see `gpt_oss_folder.py`."""


def bias_of(weight: str) -> str:
    """The name of the bias beside the weight of this name."""
    return weight.removesuffix("weight") + "bias"


@dataclass(frozen=True, slots=True)
class ExpertConfig:
    """The experts in the place of every MLP.

    `count`: in each layer. `chosen`: by how many of them a token goes. `inner`: the width between gate and down.
    `normalises`: the weights of the chosen ones add up to 1, and otherwise those of all do.
    """

    count: int
    chosen: int
    inner: int
    normalises: bool
    names: ExpertNames


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
    width = "moe_intermediate_size" if "moe_intermediate_size" in values else "intermediate_size"
    return ExpertConfig(count, chosen, fields.integer(width), fields.flag("norm_topk_prob", False), names)
