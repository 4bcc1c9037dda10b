"""The largest of many numbers, found by blocks, are those that torch finds."""

import math

import pytest
import torch

from llama_gui.engine.largest import argmax, topk

SIZES = (1, 63, 64, 65, 1000, 16384, 16391, 32000, 128256)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 5, 64, 512])
def test_topk(size: int, count: int):
    values = torch.randn(size, generator=torch.Generator().manual_seed(size))
    want = torch.topk(values, min(count, size))
    found, places = topk(values, min(count, size))
    assert torch.equal(found, want.values)
    assert torch.equal(places, want.indices)


@pytest.mark.parametrize("size", SIZES)
def test_the_largest_lie_anywhere(size: int):
    for place in {0, size // 2, size - 1, size // 64 * 64 - 1 if size >= 64 else 0}:
        values = torch.zeros(size)
        values[place] = 1
        assert argmax(values) == int(topk(values, 1)[1]) == place


def test_many_of_the_largest_lie_together():
    values = torch.zeros(100_000)
    values[640:704] = torch.arange(64.0) + 1
    assert topk(values, 64)[1].tolist() == list(range(703, 639, -1))


@pytest.mark.parametrize("size", SIZES)
def test_alike_numbers(size: int):
    values = torch.zeros(size)
    assert argmax(values) == 0
    found, places = topk(values, min(64, size))
    assert found.eq(0).all()
    assert len(set(places.tolist())) == len(places)
    assert 0 <= int(places.min()) <= int(places.max()) < size


@pytest.mark.parametrize("size", SIZES)
def test_numbers_that_may_not_be_drawn(size: int):
    values = torch.full((size,), -math.inf)
    values[-1] = -1e30
    assert argmax(values) == size - 1
    found, places = topk(values, min(64, size))
    assert found[0] == -1e30
    assert places[0] == size - 1


@pytest.mark.parametrize("place", [0, 70_000, 128_255])
def test_what_is_no_number_is_the_largest(place: int):
    values = torch.randn(128_256)
    values[place] = math.nan
    assert argmax(values) == int(topk(values, 64)[1][0]) == int(values.argmax()) == place
