"""How fast tokens have come of late."""

from types import SimpleNamespace

import pytest

from llama_gui.engine import speed as speed_module
from llama_gui.engine.speed import Speed


@pytest.fixture
def clock(monkeypatch):
    """Its seconds are set by hand."""
    now = [100.0]
    monkeypatch.setattr(speed_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_what_came_behind_the_first_counts_and_only_of_late(clock):
    speed = Speed()
    assert speed.tokens_per_second == 0.0
    speed.add(3)
    assert speed.tokens_per_second == 0.0  # nobody knows when these were begun
    clock[0] += 0.5
    speed.add(5)
    assert speed.tokens_per_second == 10.0
    clock[0] += 1.75
    assert speed.tokens_per_second == 0.0
    speed.add(7)
    assert speed.tokens_per_second == 4.0
    speed.clear()
    assert speed.tokens_per_second == 0.0


def test_nothing_drawn_is_no_news(clock):
    speed = Speed()
    for tokens in (2, 0, 0, 4):
        speed.add(tokens)
        clock[0] += 0.25
    assert speed.tokens_per_second == 4.0
