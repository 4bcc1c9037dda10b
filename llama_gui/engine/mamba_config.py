"""What most layers of Granite 4.0 H have in the place of attention: state spaces, which sum up what was read."""

import math
from dataclasses import dataclass
from typing import Any

from llama_gui.engine.fields import Fields
from llama_gui.engine.recurrent_config import ATTENDS, RecurrentConfig, recurrent_layers

MAMBA = "mamba"
_UNLIMITED: tuple[list[Any], ...] = ([math.inf], [{"__float__": "Infinity"}], [None])
"""The second is how transformers 5 writes the first, which is no JSON."""


@dataclass(frozen=True, slots=True)
class MambaConfig(RecurrentConfig):
    """State spaces of Mamba-2 (Dao and Gu 2024, https://arxiv.org/abs/2405.21060).

    Each of `heads` holds a matrix ``[state_dim, head_dim]``. Those of a group, which lie behind one another, share what
    is called keys and queries here, and B and C elsewhere. `eps`: of the norm behind it.
    """

    heads: int
    head_dim: int
    groups: int
    state_dim: int
    eps: float
    has_bias: bool
    """The convolution has one."""
    is_gguf: bool = False
    """In the files the convolution is a matrix, `mamba.slopes` are what A_log would be the logarithm of, and what a
    head has one number of are columns."""

    @property
    def inner(self) -> int:
        """Numbers of all values of a token, and of its gates."""
        return self.heads * self.head_dim

    @property
    def mixed_width(self) -> int:
        """Numbers that are convolved: values, keys and queries."""
        return self.inner + 2 * self.groups * self.state_dim

    @property
    def made_width(self) -> int:
        """Numbers that are made of a token: gates, what is convolved, and how fast each head forgets."""
        return self.inner + self.mixed_width + self.heads


def read_mamba(fields: Fields, layers: int, hidden: int) -> MambaConfig | None:
    """What the fields say of state spaces; None: all layers attend.

    Raises:
        BrokenModelError, UnsupportedModelError: they do not describe what we run.
    """
    kinds = fields.values.get("layer_types")
    if isinstance(kinds, list) and all(kind == ATTENDS for kind in kinds):
        return None
    if fields.flag("mamba_proj_bias", False):
        raise fields.unsupported("mamba_proj_bias")
    heads, width = fields.integer("mamba_n_heads", 128), fields.values.get("mamba_d_head", "auto")
    expand = fields.values.get("mamba_expand", 2)
    inner = heads * fields.integer("mamba_d_head") if expand is None else fields.integer("mamba_expand", 2) * hidden
    width = max(inner // heads, 1) if width == "auto" else fields.integer("mamba_d_head")
    if heads * width != inner:
        raise fields.wrong("mamba_n_heads", f"as many as heads of {width} are in {inner}, mamba_expand * hidden_size")
    groups = fields.integer("mamba_n_groups", 1)
    if heads % groups:
        raise fields.wrong("mamba_n_heads", f"a multiple of mamba_n_groups ({groups})")
    taps = fields.integer("mamba_d_conv", 4)
    if taps < 2:
        raise fields.wrong("mamba_d_conv", "at least 2, the last tokens that are convolved")
    if _limits(fields.values.get("time_step_limit")):
        raise fields.unsupported("time_step_limit")
    return MambaConfig(
        recurrent_layers(fields, MAMBA, layers, [MAMBA] * layers),
        taps,
        heads,
        width,
        groups,
        fields.integer("mamba_d_state", 256),
        fields.number("rms_norm_eps", 1e-6),
        fields.flag("mamba_conv_bias", True),
    )


def _limits(limit: Any) -> bool:
    """Whether it bounds how much a token counts."""
    return limit is not None and not (isinstance(limit, list) and limit[:1] == [0] and limit[1:] in _UNLIMITED)
