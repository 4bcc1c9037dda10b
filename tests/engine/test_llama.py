"""Of a prompt's rows only those whose logits are wanted go through all of the last layer, which changes nothing."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from llama_gui.engine.device import torch_threads
from llama_gui.engine.kv_cache import KVCache, Slot
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.loading import load_model
from tests.fakes.tiny_llama import Shape, write_tiny_llama

LENGTHS = 40, 1, 30, 2
"""Of each conversation's prompt: more rows than go through all layers in one call."""

WANTED = ((1, 1, 1, 1), (0, 1, 4, 2), (0, 0, 7, 0), (0, 0, 0, 0), (40, 1, 0, 1))


@pytest.fixture(
    scope="module",
    params=[("llama-3.2", "float32"), ("llama-3.2", "bfloat16"), ("qwen2", "int8"), ("gemma3", "bfloat16")],
    ids=" ".join,
)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Llama:
    shape: Shape
    shape, dtype = request.param
    return load_model(write_tiny_llama(tmp_path_factory.mktemp(shape), shape), dtype=dtype, device="cpu").network


@torch.inference_mode()
def read(network: Llama, wanted: Sequence[int]) -> tuple[Tensor, list[Slot]]:
    cache = KVCache(network.config, network.dtype, torch.device("cpu"), 2**26)
    segments: list[Segment] = []
    for number, (length, logits) in enumerate(zip(LENGTHS, wanted, strict=True)):
        slot = cache.acquire(str(number), [0] * length)
        cache.ensure_capacity(slot, length)
        segments.append(Segment(slot, range(5 + number, 5 + number + length), logits, is_prompt=length > 1))
    with torch_threads(2):
        logits = network.forward(segments)
    return logits, [segment.slot for segment in segments]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_rows_that_nobody_wants_are_left_out(network: Llama, wanted: Sequence[int]):
    every, all_slots = read(network, LENGTHS)
    got, slots = read(network, wanted)
    parts = every.split(LENGTHS)
    want = torch.cat([part[len(part) - count :] for part, count in zip(parts, wanted, strict=True)])
    assert network.is_exact
    assert got.shape == want.shape
    assert torch.equal(got, want)
    for ours, theirs, length in zip(slots, all_slots, LENGTHS, strict=True):
        for kept, full in ((ours.keys, theirs.keys), (ours.values, theirs.values)):
            assert kept[-1, :, :length].any()
            assert torch.equal(kept[:, :, :length], full[:, :, :length])


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_the_last_layer_meets_only_them(network: Llama, wanted: Sequence[int], monkeypatch: pytest.MonkeyPatch):
    block, rows = network.blocks[-1], list[int]()
    if block.native is not None:
        native = block.native
        monkeypatch.setattr(type(native), "__call__", spied(type(native).__call__, native, rows))
    else:
        monkeypatch.setattr(type(block), "finish", spied(type(block).finish, block, rows))
    read(network, wanted)
    assert rows == [max(1, sum(wanted))]


def spied(true, of, rows):
    """As `true`; what it returns when called on `of` is counted in `rows`."""

    def call(self, *args):
        y = true(self, *args)
        if self is of:
            rows.append(len(y))
        return y

    return call
