"""Eight bits by torch's plain product, for cards; a CPU has the operator, too, so that it can be tried here."""

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import int8_linear, native_library
from llama_gui.engine.decode_graph import FixedStep
from llama_gui.engine.device import Precision
from llama_gui.engine.int8_linear import Int8Linear
from llama_gui.engine.int8_matmul import Int8MatMul, probe
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.linear import LinearFactory
from llama_gui.engine.llama import Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.native_linear import NativeInt8Linear
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import UnsupportedModelError
from tests.engine.this_machine import adds_int8, needs_native_kernels, needs_torch_int8
from tests.fakes.tiny_llama import write_tiny_llama

SHAPES = ((96, 64), (33, 48), (17, 100), (512, 301))
CPU = torch.device("cpu")


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_near_to_the_exact_product_and_the_same_in_calls_of_any_size(shape, dtype, bias):
    weight, x = numbers(*shape, dtype=dtype), numbers(70, shape[1], dtype=dtype, seed=2)
    offset = numbers(shape[0], dtype=dtype, seed=3) if bias else None
    linear = Int8MatMul(weight, offset)
    got = linear(x)
    want = F.linear(x.float(), weight.float(), None if offset is None else offset.float())
    assert (got.dtype, got.shape) == (dtype, (70, shape[0]))
    assert (got.float() - want).norm() / want.norm() < 0.02
    for count in (1, 2, 16, 17, 32, 33, 69):
        assert torch.equal(linear(x[:count]), got[:count])
        assert torch.equal(linear(x[-count:]), got[-count:])


def native(weight, bias):
    kernels = native_library.load()
    assert kernels is not None
    return NativeInt8Linear(WeightRows.of(weight), bias, kernels, weight.dtype)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Int8Linear, id="torch", marks=needs_torch_int8),
        pytest.param(native, id="native", marks=needs_native_kernels),
    ],
)
def test_the_numbers_are_those_of_the_other_kernels(other):
    weight = numbers(96, 128)
    levels = torch.randint(-127, 128, (40, 128), generator=torch.Generator().manual_seed(1)).to(torch.int8)
    assert torch.equal(Int8MatMul(weight, None).multiply(levels), other(weight, None).multiply(levels))


def test_its_bytes_and_what_is_not_finite():
    assert Int8MatMul(numbers(33, 44), None).weight_bytes == 40 * 48 + 4 * 33
    x = numbers(2, 44)
    x[1, 5] = float("nan")
    got = Int8MatMul(numbers(33, 44), None)(x)
    assert torch.isfinite(got[0]).all()
    assert got[1].isnan().all()


@pytest.mark.parametrize("wrong", ["saturates", "is missing"])
def test_a_device_that_cannot(monkeypatch, wrong):
    probe(CPU)
    multiply = torch._int_mm

    def broken(x, y):
        if wrong == "is missing":
            raise NotImplementedError("aten::_int_mm")
        return multiply(x, y).clamp(-(2**15) * 100, 2**15 * 100)

    monkeypatch.setattr(torch, "_int_mm", broken)
    with pytest.raises(UnsupportedModelError, match=r"cpu.*Use auto"):
        probe(CPU)


def test_which_devices_get_it(monkeypatch):
    probed = []
    monkeypatch.setattr("llama_gui.engine.linear.probe_matmul", probed.append)
    meta = torch.device("meta")
    linear = LinearFactory(Precision(torch.bfloat16, "int8"), meta)(torch.empty(16, 8, device="meta"))
    assert isinstance(linear, Int8MatMul)
    assert probed == [meta]
    kernels = native_library.load()
    if kernels is None and not adds_int8():
        return  # nothing here multiplies int8
    on_cpu = LinearFactory(Precision(torch.float32, "int8"), kernels=kernels)(numbers(16, 8))
    assert type(on_cpu) is (Int8Linear if kernels is None or int8_linear.is_preferred() else NativeInt8Linear)


@torch.inference_mode()
def test_a_network_of_them(tmp_path, monkeypatch):
    if native_library.load() is None and not adds_int8():
        pytest.skip("nothing else here multiplies int8, to compare with")
    folder = write_tiny_llama(tmp_path)
    want = load_model(folder, dtype="int8").network
    # As on a card, where all is torch's: that is what recorded steps are made of.
    monkeypatch.setattr(native_library, "load", lambda: None)
    monkeypatch.setattr(int8_linear, "probe", lambda: None)
    monkeypatch.setattr(LinearFactory, "_int8", lambda self, weight, bias: Int8MatMul(weight, bias))
    got = load_model(folder, dtype="int8").network
    assert all(isinstance(linear, Int8MatMul) for linear in got.linears)
    rows = []
    want._kernels = None  # a recorded step attends by torch, too
    for network in (want, got):
        cache = KVCache(network.config, network.dtype, CPU, 2**26)
        slot = cache.acquire("a", [0] * 20)
        cache.ensure_capacity(slot, 20)  # else what attention masks may be no number
        rows.append(network.forward([Segment(slot, list(range(5, 15)), 10, is_prompt=True)]))
        slot.tokens = list(range(5, 15))
        segment = [Segment(slot, [3])]
        step = FixedStep(network, segment)
        step.set(segment)
        step.run()
        assert torch.equal(step.logits, network.forward(segment))
    # Our kernels round the table as it is stored, torch's route by way of bfloat16.
    assert (rows[0] - rows[1]).norm() / rows[0].norm() < 0.05
