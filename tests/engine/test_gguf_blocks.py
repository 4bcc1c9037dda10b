"""Every type of tensor beside the `gguf` package, bit for bit, for any bytes."""

from types import SimpleNamespace

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType

from llama_gui.engine import gguf_weights
from llama_gui.engine.gguf_blocks import FEWER_BITS, FOUR_BITS, KINDS, block_shape, is_quantised, numbers_of
from llama_gui.engine.gguf_file import StoredTensor
from llama_gui.engine.gguf_grids import GRID_KINDS, points_of
from llama_gui.engine.gguf_weights import GgufWeights
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


@pytest.mark.parametrize("kind", GRID_KINDS)
@pytest.mark.parametrize("count", [0, 1, 500])
def test_our_kernels_find_the_same_points(kernels, kind, count):
    blocks = torch.randint(
        256, (count, block_shape(kind)[0]), dtype=torch.uint8, generator=torch.Generator().manual_seed(2)
    )
    got, want = kernels.dequantise_grid(blocks.flatten(), kind, points_of(kind)), numbers_of(blocks.flatten(), kind)
    assert got.shape == (count * 256,)
    assert torch.equal(got.isfinite(), want.isfinite())
    assert torch.equal(got[got.isfinite()], want[want.isfinite()])


@pytest.mark.parametrize("kind", GRID_KINDS)
def test_a_weight_of_points_is_read_by_our_kernels(kernels, kind, tmp_path, monkeypatch):
    """Ten times as fast as by torch."""
    out, width, (size, numbers) = 16, 512, block_shape(kind)
    blocks = np.random.default_rng(1).integers(0, 60, (out, width // numbers * size), dtype=np.uint8)
    (tmp_path / "weight").write_bytes(blocks.tobytes())
    tensor = StoredTensor(tmp_path / "weight", "a", (out, width), kind, 0, blocks.size)
    monkeypatch.setattr(gguf_weights, "numbers_of", None)
    weights = GgufWeights([SimpleNamespace(path=tensor.file, metadata={}, tensors={"a": tensor})], {}, kernels=kernels)
    with weights:
        got = weights.weight(*weights.names, torch.float32, torch.device("cpu"))
    assert torch.equal(got, torch.from_numpy(gguf.dequantize(blocks, GGMLQuantizationType[kind])))


def test_other_points_are_refused(kernels):
    with pytest.raises(ValueError, match=r"points \[512, 8\] for IQ2_S, which has \[1024, 8\]"):
        kernels.dequantise_grid(torch.zeros(82, dtype=torch.uint8), "IQ2_S", points_of("IQ2_XS"))


def test_what_is_quantised():
    assert [kind for kind in KINDS if not is_quantised(kind)] == ["F32", "F16", "BF16"]


def test_how_many_bits_they_have():
    assert {"Q3_K", "Q2_K", "IQ3_S", "TQ2_0"} <= set(FEWER_BITS) <= set(FOUR_BITS)
    assert {"Q4_0", "Q4_1", "Q4_K", "IQ4_XS", "IQ4_NL"} <= set(FOUR_BITS) - set(FEWER_BITS)
    assert not {"Q5_0", "Q5_1", "Q5_K", "Q6_K", "Q8_0"} & set(FOUR_BITS)
