"""Layers that keep a state of what was read in the place of keys and values: which ones they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_gui.engine.fields import Fields

ATTENDS = "full_attention"


@dataclass(frozen=True, slots=True)
class RecurrentConfig:
    """`layers` have one; the others attend. `taps`: so many of the last tokens go through a convolution."""

    layers: frozenset[int]
    taps: int

    def number_of(self, layer: int) -> int:
        """How many such layers are before `layer`."""
        return sum(other < layer for other in self.layers)


def recurrent_layers(fields: Fields, kind: str, layers: int, otherwise: Sequence[Any]) -> frozenset[int]:
    """Those that `layer_types` calls `kind`; the other ones attend. `otherwise`: what it is where it is not there.

    Raises:
        BrokenModelError: it is not a list of such names, or no layer attends: a cache needs one.
    """
    kinds = fields.values.get("layer_types")
    if kinds is None:
        kinds = otherwise
    if not isinstance(kinds, list) or len(kinds) != layers or not all(one in (ATTENDS, kind) for one in kinds):
        raise fields.wrong("layer_types", f"a list of {layers} names, each {ATTENDS} or {kind}")
    if ATTENDS not in kinds:
        raise fields.wrong("layer_types", f"such that one of them is {ATTENDS}")
    return frozenset(layer for layer, one in enumerate(kinds) if one == kind)
