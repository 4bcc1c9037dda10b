"""Speeds, by a clock that the tests wind."""

import pytest

from llama_gui.library.pace import SpeedLimit, Speedometer


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_speed_is_that_of_the_last_seconds():
    clock = Clock()
    meter = Speedometer(clock)
    assert meter.bytes_per_second == 0
    assert meter.seconds_for(10) is None
    clock.now += 0.1
    meter.add(10_000)
    assert meter.bytes_per_second > 0
    assert meter.seconds_for(10) is None, "too early to tell"
    for _ in range(20):
        clock.now += 1
        meter.add(1000)
    assert meter.bytes_per_second == pytest.approx(1000)
    assert meter.seconds_for(5000) == pytest.approx(5)
    for _ in range(10):
        clock.now += 1
        meter.add(200)
    assert meter.bytes_per_second == pytest.approx(200)


def test_silence_is_no_speed():
    clock = Clock()
    meter = Speedometer(clock)
    clock.now += 1
    meter.add(1000)
    clock.now += 2.5
    assert 0 < meter.bytes_per_second < 1000
    clock.now += 3
    assert meter.bytes_per_second == 0
    assert meter.seconds_for(1) is None


def test_a_limit_spreads_what_comes():
    clock = Clock()
    limit = SpeedLimit(1000, clock)
    assert [limit.take(500), limit.take(500)] == [0.5, 1.0]
    clock.now += 10
    assert limit.take(500) == 0.5, "unused time is not saved up"
    limit.bytes_per_second = None
    assert limit.take(10**9) == 0
