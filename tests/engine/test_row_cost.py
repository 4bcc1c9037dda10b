"""What a row costs is learnt from the steps themselves."""

import random

import pytest

from llama_gui.engine.row_cost import PRIOR, RowCost


def learnt(row: float, base: float = 0.03, noise: float = 0.0, steps: int = 60) -> float:
    cost, chance = RowCost(), random.Random(7)
    for number in range(steps):
        rows = number % 6
        cost.record(rows, base * (1 + row * rows) * (1 + chance.uniform(-noise, noise)))
    return cost.of_step


def test_before_anything_is_known():
    cost = RowCost()
    assert cost.of_step == PRIOR
    for _ in range(50):
        cost.record(0, 0.03)
    assert cost.of_step == pytest.approx(PRIOR)


@pytest.mark.parametrize("row", [0.02, 0.2, 0.6])
@pytest.mark.parametrize("base", [0.0004, 0.03, 2.0])
def test_it_is_learnt(row: float, base: float):
    assert learnt(row, base) == pytest.approx(row, rel=0.2)


def test_noise_averages_out():
    assert learnt(0.2, noise=0.3, steps=400) == pytest.approx(0.2, abs=0.1)


def test_a_pause_of_the_machine_is_no_row():
    cost = RowCost()
    for number in range(60):
        cost.record(number % 5, 30.0 if number == 54 else 0.03 * (1 + 0.05 * (number % 5)))
    assert cost.of_step < 0.15


def test_it_follows_when_rows_become_dearer():
    """As with a longer context, or beside another program."""
    cost = RowCost()
    for row in (0.02, 0.3):
        for number in range(200):
            cost.record(number % 5, 0.03 * (1 + row * (number % 5)))
    assert cost.of_step == pytest.approx(0.3, rel=0.1)


def test_steps_that_take_no_time_or_less_with_more_rows():
    cost = RowCost()
    for number in range(40):
        cost.record(number % 4, 0.03 - 0.002 * (number % 4))
    assert 0 < cost.of_step < 0.01
    cost = RowCost()
    for number in range(40):
        cost.record(number % 4, 0.01 * (number % 4))  # a step without guesses would take nothing
    assert cost.of_step > 1


def test_steps_of_one_kind_teach_nothing():
    for rows in (0, 3):
        cost = RowCost()
        for _ in range(50):
            cost.record(rows, 0.03)
        assert not cost.is_known
    assert not RowCost().is_known
    cost.record(5, 0.04)
    assert cost.is_known
    for _ in range(200):
        cost.record(3, 0.03)
    assert not cost.is_known  # it was long ago
