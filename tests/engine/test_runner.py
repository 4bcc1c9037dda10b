"""A step that nobody waits for any more ends between two layers, and leaves nothing behind."""

from types import SimpleNamespace

import pytest
import torch

from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.llama import PassCancelled, Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.runner import Runner, Work
from tests.fakes.tiny_llama import write_tiny_llama


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return load_model(write_tiny_llama(tmp_path_factory.mktemp("tiny")), dtype="float32").network


@pytest.fixture
def cache(network):
    return KVCache(network.config, network.dtype, network.device, 2**26)


class Cancelled:
    """A job that is cancelled after it was asked `layers` times."""

    def __init__(self, layers):
        self.left = layers

    @property
    def is_cancelled(self):
        self.left -= 1
        return self.left < 0


def reader(cache, number, job):
    """As much of a sequence as a step reads."""
    slot = cache.acquire(str(number), [1] * 40)
    slot.tokens = [1] * 8
    accepted = []
    return SimpleNamespace(
        number=number, slot=slot, job=job, is_prefilling=True, pending=32, accepted=accepted,
        next_tokens=lambda count: [72] * count, accept=accepted.extend, draws=True,
        scored_rows=lambda _count: 0, image_rows=lambda _count: None, positions=lambda _count: None,
    )  # fmt: skip


@torch.inference_mode()
def test_the_pass_ends_before_the_next_layer(network, cache):
    answers = iter([False, True])
    slot = cache.acquire("a", [70, 71, 72])
    cache.ensure_capacity(slot, 3)
    with pytest.raises(PassCancelled):
        network.forward([Segment(slot, [70, 71, 72])], lambda: next(answers))
    assert slot.keys[0, :, :3].any()
    assert not slot.keys[1:, :, : slot.finite].any()


def test_a_cancelled_prompt_accepts_nothing_and_leaves_no_rows(network, cache):
    sequence = reader(cache, 1, Cancelled(2))
    slot = sequence.slot
    cache.ensure_capacity(slot, 8)
    slot.keys[:, :, :8] = 5
    assert Runner(network, cache).step([Work(sequence, 32)]) == {1: None}
    assert sequence.accepted == []
    assert bool((slot.keys[:, :, :8] == 5).all())
    assert not slot.keys[:, :, 8 : slot.finite].any()
    assert not slot.values[:, :, 8 : slot.finite].any()


def test_while_one_is_wanted_the_step_goes_on(network, cache):
    cancelled, wanted = reader(cache, 1, Cancelled(0)), reader(cache, 2, SimpleNamespace(is_cancelled=False))
    results = Runner(network, cache).step([Work(cancelled, 32), Work(wanted, 32)])
    assert results[2].shape == (1, network.config.vocab_size)
    assert len(wanted.accepted) == 32
