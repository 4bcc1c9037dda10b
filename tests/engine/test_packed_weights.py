"""Weights in few bits lie as the kernels read them."""

import torch

from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.packed_weights import WIDTH_UNIT, pack_int4


def test_the_first_of_two_groups_lies_in_the_lower_bits():
    levels = torch.randint(0, 16, (11, 2 * WIDTH_UNIT), generator=torch.Generator().manual_seed(1))
    steps, lows = torch.arange(44).view(11, 4), -torch.arange(44).view(11, 4)
    packed = pack_int4(levels.float(), steps.float(), lows.float())
    assert (packed.levels.dtype, packed.steps.dtype, packed.lows.dtype) == (torch.uint8, torch.uint8, torch.int8)
    assert (packed.channels, packed.width, len(packed.levels)) == (11, 2 * WIDTH_UNIT, 2)
    bytes_ = packed.levels.view(2, 2, 8, 8, 4)  # [blocks, pairs of groups, fours of inputs, channels, inputs]
    for channel in range(16):
        mine = bytes_[channel // 8, :, :, channel % 8].flatten(1)
        want = levels[channel].view(2, 2, GROUP) if channel < 11 else torch.zeros(2, 2, GROUP)
        assert torch.equal(mine & 15, want[:, 0].to(torch.uint8))
        assert torch.equal(mine >> 4, want[:, 1].to(torch.uint8))
        for packed_groups, groups in ((packed.steps, steps), (packed.lows, lows)):
            found = packed_groups.view(2, 2, 8, 2)[channel // 8, :, channel % 8].flatten()
            assert found.tolist() == (groups[channel].tolist() if channel < 11 else 4 * [0])
