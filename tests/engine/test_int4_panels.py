"""Reading torch's packing of four bits: the order of channels, and what is noticed when it is another one."""

import pytest
import torch

from llama_gui.engine import int4_panels
from llama_gui.engine.int4_panels import find_columns, interleave


@pytest.mark.parametrize("columns", [32, 64])
def test_halves_of_blocks_come_from_both_halves_of_the_channels(columns: int):
    half = columns // 2
    order = interleave(torch.arange(4 * columns), columns)
    assert sorted(order.tolist()) == list(range(4 * columns))
    assert order[:half].tolist() == list(range(half))
    assert order[half : 2 * half].tolist() == list(range(2 * columns, 2 * columns + half))
    assert order[columns : columns + half].tolist() == list(range(half, 2 * half))


def test_only_the_packing_that_is_here_is_read():
    if (columns := find_columns()) is not None:
        assert [int4_panels._reads(other) for other in (32, 64) if other != columns] == [False]


def test_a_product_that_saturates_is_not_used(monkeypatch: pytest.MonkeyPatch):
    product = torch._int_mm
    monkeypatch.setattr(torch, "_int_mm", lambda x, y, out: product(x, y, out=out).clamp_(-(2**20), 2**20))
    assert find_columns() is None


def test_a_packing_in_another_order_is_not_read(monkeypatch: pytest.MonkeyPatch):
    expand = int4_panels._expand
    monkeypatch.setattr(int4_panels, "_expand", lambda *given: expand(*given)[::-1])
    assert find_columns() is None
