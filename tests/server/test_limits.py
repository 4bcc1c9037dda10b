"""The gate: so many inside, so many in front of it, in order."""

import asyncio
from collections.abc import Awaitable

import pytest

from llama_gui.server.limits import Gate, ServerLimits
from llama_gui.server.refusal import RefusedError, StoppingError


def run(work: Awaitable[None]) -> None:
    async def main() -> None:
        await work

    asyncio.run(main())


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_in_order_and_not_more_than_fit():
    async def work() -> None:
        gate, order = Gate(2, 10), []

        async def visit(number: int, places: int, done: asyncio.Event) -> None:
            with await gate.enter(places):
                order.append(number)
                await done.wait()

        events = [asyncio.Event() for _ in range(5)]
        # The second waits for both places, so the third waits behind it though one is free.
        tasks = [asyncio.create_task(visit(n, places, events[n])) for n, places in enumerate([1, 2, 1, 1])]
        await settle()
        assert (order, gate.taken, gate.waiting) == ([0], 1, 3)
        events[0].set()
        await settle()
        assert (order, gate.taken, gate.waiting) == ([0, 1], 2, 2)
        events[1].set()
        await settle()
        assert (order, gate.taken, gate.waiting) == ([0, 1, 2, 3], 2, 0)
        events[2].set(), events[3].set()
        await asyncio.gather(*tasks)
        assert gate.taken == 0

    run(work())


def test_some_hundred_requests_at_once_wait():
    async def work() -> None:
        limits = ServerLimits()
        assert limits.streams + limits.queue < limits.connections
        gate = Gate(limits.streams, limits.queue)
        tasks = [asyncio.create_task(gate.enter(1)) for _ in range(400)]
        await settle()
        assert (gate.taken, gate.waiting) == (limits.streams, 400 - limits.streams)
        gate.close()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(work())


def test_a_full_queue_refuses_and_says_when_to_come_again():
    async def work() -> None:
        gate = Gate(1, 1)
        place = await gate.enter(1)
        waiting = asyncio.create_task(gate.enter(1))
        await settle()
        with pytest.raises(RefusedError) as caught:
            await gate.enter(1)
        assert (caught.value.status, caught.value.code) == (429, "queue_full")
        assert 1 <= int(caught.value.headers["Retry-After"]) <= 60
        with place:
            pass
        with await waiting:
            assert (gate.taken, gate.waiting) == (1, 0)
        assert gate.taken == 0

    run(work())


@pytest.mark.parametrize("has_turn", [False, True])
def test_who_gives_up_waiting_keeps_no_place(has_turn: bool):
    async def work() -> None:
        gate = Gate(1, 5)
        place = await gate.enter(1)
        first, second = (asyncio.create_task(gate.enter(1)) for _ in range(2))
        await settle()
        if has_turn:
            place.__exit__()  # the first has its turn now, but does not know it yet
        first.cancel()
        await settle()
        if not has_turn:
            place.__exit__()
        with await second:
            assert (gate.taken, gate.waiting) == (1, 0)
        assert gate.taken == 0

    run(work())


def test_more_places_than_there_are_are_refused_and_hold_up_nobody():
    async def work() -> None:
        gate = Gate(2, 5)
        with pytest.raises(RefusedError, match="at most 2"):
            await gate.enter(3)
        with await gate.enter(2):
            assert gate.taken == 2

    run(work())


def test_a_closed_gate_lets_nobody_in():
    async def work() -> None:
        gate = Gate(1, 5)
        with await gate.enter(1):
            waiting = asyncio.create_task(gate.enter(1))
            await settle()
            gate.close()
            with pytest.raises(StoppingError):
                await waiting
            with pytest.raises(StoppingError):
                await gate.enter(1)
        assert gate.taken == 0

    run(work())
