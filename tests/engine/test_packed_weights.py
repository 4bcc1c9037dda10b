"""Weights in few bits lie as the kernels read them."""

import pytest
import torch

from llama_gui.engine import native_library
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.packed_weights import WIDTH_UNIT, fits_panels, pack_int4
from llama_gui.engine.weight_rows import WeightRows


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


@pytest.mark.parametrize(("width", "fits"), [(4, True), (6, False), (2**19 - 4, True), (2**19, False)])
def test_panels_hold_what_their_strays_can_tell_the_place_of(width: int, fits: bool):
    assert fits_panels(width) is fits
    weight = torch.randn(1, width, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    weight[0, -1] = 2.0**-60  # a stray
    kernels = native_library.load()
    if kernels is not None and fits:
        coded = kernels.coded(WeightRows.of(weight))
        assert torch.equal(kernels.coded_rows(coded, torch.tensor([0])), weight)
    elif kernels is not None:
        with pytest.raises(ValueError, match="inputs"):
            kernels.coded(WeightRows.of(weight))
