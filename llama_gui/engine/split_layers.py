"""Networks whose files call each half of a layer a layer, and leave some second halves out: Nemotron-H."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

_OF_LAYER = re.compile(r"model\.layers\.([0-9]+)\.(.+)", re.ASCII)
_IN_FOLDER = re.compile(r"(?:backbone|model)\.layers\.([0-9]+)\.(norm|mixer)\.(.+)", re.ASCII)
_WHOLE = {"embeddings.weight": "model.embed_tokens.weight", "norm_f.weight": "model.norm.weight"}
_STORED_WHOLE = {ours: stored for stored, ours in _WHOLE.items()}
_BEFORE, _BEHIND = "input_layernorm.", "post_attention_layernorm."
_MLP, _ATTENTION, _MAMBA = "mlp.", "self_attn.", "mamba."


@dataclass(frozen=True, slots=True)
class SplitLayers:
    """Where the halves of each layer are among the layers of the files.

    `firsts`: attention, or what is in its place. `seconds`: the feed-forward part; None: it has none. `attending`: the
    layers that attend.
    """

    firsts: tuple[int, ...]
    seconds: tuple[int | None, ...]
    attending: frozenset[int]

    @classmethod
    def of(cls, halves: Sequence[str]) -> Self:
        """`halves`: what each layer of the files is, see `nemotron_config`.

        Raises:
            ValueError: a feed-forward part follows nothing that it could be the second half of.
        """
        firsts: list[int] = []
        seconds: list[int | None] = []
        for number, half in enumerate(halves):
            if half in ("attention", "mamba"):
                firsts.append(number)
                seconds.append(None)
            elif seconds and seconds[-1] is None:
                seconds[-1] = number
            else:
                raise ValueError(f"layer {number} is {half} and follows no attention or mamba")
        attending = frozenset(layer for layer, number in enumerate(firsts) if halves[number] == "attention")
        return cls(tuple(firsts), tuple(seconds), attending)

    @property
    def bare(self) -> frozenset[int]:
        """The layers without a feed-forward part."""
        return frozenset(layer for layer, second in enumerate(self.seconds) if second is None)

    def ours(self, name: str) -> str:
        """What we call the weight that would be `name` if each half were a layer."""
        match = _OF_LAYER.fullmatch(name)
        if match is None:
            return name
        number, part = int(match[1]), match[2]
        if number in self.firsts:
            return f"model.layers.{self.firsts.index(number)}.{part}"
        if number in self.seconds:
            return f"model.layers.{self.seconds.index(number)}.{part.replace(_BEFORE, _BEHIND, 1)}"
        return name

    def theirs(self, name: str) -> str:
        """The other way round."""
        match = _OF_LAYER.fullmatch(name)
        if match is None or int(match[1]) >= len(self.firsts):
            return name
        layer, part = int(match[1]), match[2]
        second = self.seconds[layer] if part.startswith((_MLP, _BEHIND)) else None
        number = self.firsts[layer] if second is None else second
        return f"model.layers.{number}.{part.replace(_BEHIND, _BEFORE, 1)}"

    def of_folder(self, stored: str) -> str:
        """What we call the weight that a folder of Nemotron-H calls `stored`."""
        match = _IN_FOLDER.fullmatch(stored)
        if match is None:
            return _WHOLE.get(stored.partition(".")[2], stored)
        number, kind, part = int(match[1]), match[2], match[3]
        if kind == "norm":
            return self.ours(f"model.layers.{number}.{_BEFORE}{part}")
        if number in self.firsts:
            part = (_ATTENTION if self.firsts.index(number) in self.attending else _MAMBA) + part
            return self.ours(f"model.layers.{number}.{part}")
        return self.ours(f"model.layers.{number}.{_MLP}{part}")

    def in_folder(self, name: str) -> str:
        """The other way round."""
        match = _OF_LAYER.fullmatch(self.theirs(name))
        if match is None:
            return f"backbone.{_STORED_WHOLE[name]}" if name in _STORED_WHOLE else name
        part = match[2]
        if part.startswith(_BEFORE):
            return f"backbone.layers.{match[1]}.norm.{part.removeprefix(_BEFORE)}"
        return f"backbone.layers.{match[1]}.mixer.{part.partition('.')[2]}"
