"""Weights in parts: all rows come once, in order, and as many together as who takes them needs."""

import pytest
import torch

from llama_gui.engine.weight_rows import GroupedRows, PairedRows, WeightRows

WEIGHT = torch.arange(37 * 4.0).view(37, 4)


@pytest.mark.parametrize("unit", [1, 8])
@pytest.mark.parametrize("counts", [(37,), (1,) * 37, (8, 29), (7, 1, 29), (32, 3, 2), (0, 37), (36, 1)], ids=str)
def test_every_row_comes_once(counts: tuple[int, ...], unit: int):
    placed = list(WeightRows(37, 4, iter(WEIGHT.split(counts))).placed(unit))
    assert torch.equal(torch.cat([part for _, part in placed]), WEIGHT)
    assert [first for first, _ in placed] == [0, *torch.tensor([len(part) for _, part in placed]).cumsum(0)[:-1]]
    assert all(len(part) % unit == 0 for _, part in placed[:-1])
    assert all(part.is_contiguous() for _, part in placed)


@pytest.mark.parametrize("shape", [(15,), (15, 3)])
def test_pairs_in_a_part_of_each_head_come_apart_and_other_rows_stay(shape: tuple[int, ...]):
    weight = torch.arange(15).view(-1, *[1 for _ in shape[1:]]).expand(shape)
    halves = PairedRows(heads=2, dim=6, rotated=4).in_order(weight)
    wanted = [0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11, 12, 13, 14]
    assert torch.equal(halves, weight[torch.tensor(wanted)])


@pytest.mark.parametrize("shape", [(12,), (12, 3)])
def test_groups_come_apart(shape: tuple[int, ...]):
    weight = torch.arange(12).view(-1, *[1 for _ in shape[1:]]).expand(shape)
    wanted = [0, 6, 1, 2, 7, 8, 3, 4, 5, 9, 10, 11]
    assert torch.equal(GroupedRows(2, (1, 2, 3)).in_order(weight), weight[torch.tensor(wanted)])


def test_a_part_may_be_overwritten_by_the_next():
    def parts():
        room = torch.empty(5, 4)
        for rows in WEIGHT[:35].split(5):
            yield room.copy_(rows)

    found = torch.cat([part.clone() for _, part in WeightRows(35, 4, parts()).placed(8)])
    assert torch.equal(found, WEIGHT[:35])


def test_nothing_is_copied_that_need_not_be():
    first, part = next(WeightRows.of(WEIGHT).placed(8))
    assert (first, part.data_ptr()) == (0, WEIGHT.data_ptr())


def test_a_transposed_weight():
    assert torch.equal(torch.cat([part for _, part in WeightRows.of(WEIGHT.t()).placed()]), WEIGHT.t())
