"""Every type of tensor beside the `gguf` package, bit for bit, for any bytes."""

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType

from llama_gui.engine.gguf_blocks import FEWER_BITS, FOUR_BITS, KINDS, block_shape, is_quantised, numbers_of
from llama_gui.engine.native_kernels import DEQUANTISED_KINDS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:(invalid value|overflow):RuntimeWarning")  # numpy's, where a scale is no number
def test_numbers_are_those_of_the_package(kind):
    block, size = gguf.GGML_QUANT_SIZES[GGMLQuantizationType[kind]]
    blocks = np.random.default_rng(1).integers(0, 256, (500, 512 // block * size), dtype=np.uint8)
    expected = gguf.dequantize(blocks, GGMLQuantizationType[kind]).ravel()
    numbers = numbers_of(torch.from_numpy(blocks.ravel()), kind).float().numpy()
    assert len(numbers) == 500 * 512
    finite = np.isfinite(expected)
    assert finite.mean() > 0.9
    assert (np.isfinite(numbers) == finite).all()
    assert (numbers[finite] == expected[finite]).all()


@pytest.mark.parametrize("kind", DEQUANTISED_KINDS)
@pytest.mark.parametrize("count", [0, 1, 500])
def test_our_kernels_have_the_same_numbers(kernels, kind, count):
    size, numbers = block_shape(kind)
    blocks = torch.randint(256, (count * size,), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))
    got, want = kernels.dequantise(blocks, kind), numbers_of(blocks, kind)
    assert got.shape == (count * numbers,)
    assert torch.equal(got.isfinite(), want.isfinite())
    assert torch.equal(got[got.isfinite()], want[want.isfinite()])


def test_what_is_quantised():
    assert [kind for kind in KINDS if not is_quantised(kind)] == ["F32", "F16", "BF16"]


def test_how_many_bits_they_have():
    assert {"Q3_K", "Q2_K", "IQ3_S", "TQ2_0"} <= set(FEWER_BITS) <= set(FOUR_BITS)
    assert {"Q4_0", "Q4_1", "Q4_K", "IQ4_XS", "IQ4_NL"} <= set(FOUR_BITS) - set(FEWER_BITS)
    assert not {"Q5_0", "Q5_1", "Q5_K", "Q6_K", "Q8_0"} & set(FOUR_BITS)
