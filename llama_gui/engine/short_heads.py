"""The projection to a vocabulary, cut to its first tokens: what is not looked for need not be read from memory."""

from copy import copy

from llama_gui.engine.linear import Linear
from llama_gui.engine.native_linear import NativeBlocksLinear, NativeHalfLinear, NativeInt8Linear
from llama_gui.engine.packed_weights import CodedPanels, Panels


def short_head(head: Linear, channels: int) -> Linear | None:
    """The first `channels` of `head`, a multiple of `PANEL_CHANNELS`, in the same memory and with the same bits.

    None: it is of no kind that can be cut, or has a bias.
    """
    part = copy(head)
    match part:
        case NativeBlocksLinear():
            part.blocks = part.blocks.leading(channels)
        case NativeInt8Linear():
            part.weight = part.weight.leading(channels) if isinstance(part.weight, Panels) else part.weight[:channels]
            part.scales = part.scales[:channels]
        case NativeHalfLinear():
            weight = part.weight
            part.weight = weight.leading(channels) if isinstance(weight, CodedPanels) else weight[:channels]
        case _:
            return None
    return None if part.operand is None or part.operand.bias is not None else part
