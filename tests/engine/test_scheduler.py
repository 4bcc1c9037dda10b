"""Who runs next: every policy, how large the chunks of a prompt are, and that nobody waits for ever."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.scheduler import (
    ALONE_SECONDS,
    DECODE_PATIENCE,
    FINE_TILE,
    GOOD_CHUNK,
    MAX_CHUNK,
    MOST_SECONDS,
    TILE,
    Chunk,
    Scheduler,
    TokenBudget,
)
from llama_gui.vocabulary import STRATEGIES


class Machine:
    """Plays the loop: admits, schedules and runs, adds a drawn token to whoever has read all, and tells the time."""

    def __init__(self, strategy="batched", max_batch=8, decode_seconds=0.05, token_seconds=0.001):
        self.scheduler = Scheduler(strategy, max_batch)
        self.decode_seconds, self.token_seconds = decode_seconds, token_seconds
        self.pending = {}
        self.left = {}

    def ask(self, number, prompt=1, answer=10**6):
        self.pending[number], self.left[number] = prompt, answer
        self.scheduler.add(number)

    def step(self):
        """The chunks of one step, the seconds it took."""
        while (number := self.scheduler.next_admission()) is not None:
            self.scheduler.admit(number)
        chunks = self.scheduler.schedule(self.pending.__getitem__)
        decodes = sum(chunk.tokens == 1 for chunk in chunks)
        prompt_tokens = sum(chunk.tokens for chunk in chunks) - decodes
        seconds = self.decode_seconds + self.token_seconds * prompt_tokens
        for chunk in chunks:
            assert 1 <= chunk.tokens <= self.pending[chunk.number]
            self.pending[chunk.number] -= chunk.tokens
            if not self.pending[chunk.number]:
                self.pending[chunk.number] = 1
                self.left[chunk.number] -= 1
            if not self.left[chunk.number]:
                self.scheduler.remove(chunk.number)
        self.scheduler.budget.record(decodes, prompt_tokens, seconds)
        return chunks, seconds

    def numbers(self, steps):
        return [[chunk.number for chunk in self.step()[0]] for _ in range(steps)]


# --- the queue


@pytest.mark.parametrize(("strategy", "places"), [("sequential", 1), ("interleaved", 3), ("batched", 3)])
def test_admission_is_in_order_and_limited(strategy, places):
    scheduler = Scheduler(strategy, 3)
    for number in (4, 2, 9, 1):
        scheduler.add(number)
    assert scheduler.next_admission() == scheduler.next_admission() == 4  # asking alone changes nothing
    while (number := scheduler.next_admission()) is not None:
        scheduler.admit(number)
    assert scheduler.running == (4, 2, 9)[:places]
    assert scheduler.waiting == (4, 2, 9, 1)[places:]
    for gone in (1, 4, 77):  # one that waits, one that runs, one that nobody knows
        scheduler.remove(gone)
    assert scheduler.next_admission() == (2 if places == 1 else None)
    assert (*scheduler.running, *scheduler.waiting) == (2, 9)


# --- the policies


def test_sequential_answers_one_after_the_other():
    machine = Machine("sequential")
    for number in (1, 2, 3):
        machine.ask(number, prompt=40, answer=2)
    assert machine.numbers(7) == [[1], [1], [2], [2], [3], [3], []]


def test_interleaved_takes_turns():
    machine = Machine("interleaved", max_batch=3)
    for number in (1, 2, 3, 4):
        machine.ask(number, prompt=10, answer=3)
    assert machine.numbers(12) == [[n] for n in (1, 2, 3) * 3 + (4,) * 3]  # the fourth waited for a place


def test_batched_carries_every_decode_and_one_chunk():
    machine = Machine("batched")
    for number in (1, 2):
        machine.ask(number)
    machine.step()
    for number in (3, 4):
        machine.ask(number, prompt=1000)
    chunks, _ = machine.step()
    assert chunks[:2] == [Chunk(1, 1), Chunk(2, 1)]
    assert [chunk.number for chunk in chunks[2:]] == [3]
    assert sum(chunk.tokens for chunk in chunks) % TILE == 0
    assert machine.numbers(3) == [[1, 2, 4], [1, 2, 3], [1, 2, 4]]


def test_the_last_chunk_is_what_is_left():
    machine = Machine("batched")
    machine.ask(1, prompt=134)
    assert [machine.step()[0] for _ in range(2)] == [[Chunk(1, 128)], [Chunk(1, 6)]]


def test_short_prompts_share_a_step():
    """Each would read the weights for itself; a long one in between is next."""
    machine = Machine("batched")
    for number, prompt in enumerate((30, 40, 200, 50, 60)):
        machine.ask(number, prompt=prompt, answer=2)
    assert machine.step()[0] == [Chunk(0, 30), Chunk(1, 40), Chunk(3, 50)]
    chunks, _ = machine.step()
    assert [chunk.number for chunk in chunks] == [0, 1, 3, 2]


def test_prompts_that_share_a_step_keep_no_answer_waiting():
    machine = Machine("batched", max_batch=20)
    machine.ask(0)
    for _ in range(3):
        machine.step()
    for number in range(1, 16):
        machine.ask(number, prompt=40)
    slowest = max(machine.step()[1] for _ in range(20))
    assert machine.decode_seconds < slowest <= 3 * machine.decode_seconds


# --- fairness


@pytest.mark.parametrize("strategy", ["batched", "interleaved"])
def test_a_long_prompt_never_starves_running_answers(strategy):
    machine = Machine(strategy)
    for number in (1, 2, 3):
        machine.ask(number)
    for _ in range(6):
        machine.step()
    machine.ask(9, prompt=20_000)
    gaps = dict.fromkeys((1, 2, 3), 0.0)
    turn = 1 if strategy == "batched" else 4  # steps until everybody was served
    while machine.pending[9] > 1:
        chunks, seconds = machine.step()
        served = {chunk.number for chunk in chunks}
        gaps = {number: (0.0 if number in served else gap + seconds) for number, gap in gaps.items()}
        # We promise that a step with a chunk takes no more than three times one without.
        assert seconds <= 3 * machine.decode_seconds
        assert max(gaps.values()) <= (turn - 1) * 3 * machine.decode_seconds


def test_nor_does_it_in_the_first_answer_of_an_engine():
    machine = Machine(token_seconds=0.0005)
    machine.ask(1, prompt=1000)
    machine.step()
    machine.ask(2, prompt=20_000)  # joins before anybody has written alone
    slowest = 0.0
    while machine.pending[2] > 1:
        chunks, seconds = machine.step()
        if Chunk(1, 1) in chunks:
            slowest = max(slowest, seconds)
    assert 0 < slowest <= 3 * machine.decode_seconds


@pytest.mark.parametrize("strategy", ["batched", "interleaved"])
def test_a_short_prompt_overtakes_a_long_one(strategy):
    machine = Machine(strategy)
    machine.ask(1, prompt=20_000)
    machine.step()
    machine.ask(2, prompt=30, answer=1)
    machine.step()
    machine.step()
    assert machine.left[2] == 0
    assert machine.pending[1] > 10_000


def test_decodes_do_not_starve_a_prompt():
    """However slow a prompt's tokens are, and however many write."""
    machine = Machine(max_batch=40, decode_seconds=0.01, token_seconds=1.0)
    for number in range(39):
        machine.ask(number)
    for _ in range(3):
        machine.step()
    machine.ask(99, prompt=160)
    assert [machine.step()[0][-1] for _ in range(3)] == [Chunk(99, 57), Chunk(99, 25), Chunk(99, 25)]


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.sampled_from(STRATEGIES),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 400), st.integers(1, 6)), min_size=1, max_size=10),
)
def test_everybody_is_served_and_ends(strategy, max_batch, arrivals):
    """`arrivals`: steps that pass before, length of the prompt, length of the answer."""
    machine = Machine(strategy, max_batch)
    most = 1 if strategy == "sequential" else max_batch
    idle = {}
    for number, (before, prompt, answer) in enumerate([*arrivals, (4000, 1, 1)]):
        for _ in range(before):
            chunks, _ = machine.step()
            served = [chunk.number for chunk in chunks]
            assert len(set(served)) == len(served) <= most
            idle = {n: 0 if n in served else idle.get(n, 0) + 1 for n in machine.scheduler.running}
            assert all(steps < most for steps in idle.values())
            if not chunks:
                break
        machine.ask(number, prompt, answer)
    assert [machine.left[number] for number in range(len(arrivals))] == [0] * len(arrivals)


# --- how large a chunk is


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1024), st.floats(0, 100)), max_size=6), st.integers(0, 40))
def test_a_chunk_fills_whole_tiles_together_with_the_decodes(steps, decodes):
    budget = TokenBudget()
    for step in steps:
        budget.record(*step)
    tokens = budget.tokens(decodes)
    assert TILE // 2 <= tokens <= MAX_CHUNK
    assert tokens == TILE // 2 or (tokens + decodes) % TILE == 0


@pytest.mark.parametrize(
    ("token_seconds", "tokens"),
    [
        (1e-6, MAX_CHUNK),
        (ALONE_SECONDS / 400, 384),
        (ALONE_SECONDS / 200, GOOD_CHUNK),
        (MOST_SECONDS / 100, 96),
        (1.0, TILE),
    ],
)
def test_alone_a_chunk_is_worth_a_reading_of_the_weights_and_takes_no_age(token_seconds, tokens):
    budget = TokenBudget()
    budget.record(0, 64, 64 * token_seconds)
    assert budget.tokens(0) == tokens


@pytest.mark.parametrize(
    ("token_seconds", "alone", "beside"),
    [(1e-6, MAX_CHUNK, MAX_CHUNK), (0.0015, GOOD_CHUNK + 256, 128), (0.05, 256, 128)],
)
def test_chunks_that_cost_something_however_short_are_longer(token_seconds, alone, beside):
    budget = TokenBudget(overhead=256)
    assert (budget.tokens(0), budget.tokens(1)) == (256, 127)
    budget.record(0, 64, (64 + 256) * token_seconds)
    budget.record(1, 0, 0.05)
    assert (budget.tokens(0), budget.tokens(32)) == (alone, beside)


def test_no_short_rest_where_a_chunk_costs_something():
    budget, plain = TokenBudget(overhead=256), TokenBudget()
    assert [budget.chunk(pending, 0) for pending in (5, 256, 320, 321)] == [5, 256, 320, 256]
    assert [plain.chunk(pending, 0) for pending in (5, 128, 129)] == [5, 128, 128]


@pytest.mark.parametrize(("decodes", "tokens"), [(1, 15), (5, 15), (10, 14), (30, 14), (40, 16)])
def test_where_any_number_of_rows_will_do_a_chunk_is_as_long_as_the_decodes_wait(decodes: int, tokens: int):
    budget = TokenBudget(FINE_TILE)
    assert budget.tokens(decodes) <= 2.5 * FINE_TILE  # nobody knows yet what a token costs
    budget.record(decodes, 0, 0.2)
    budget.record(decodes, 8, 0.2 + 8 * 0.0199)
    assert budget.tokens(decodes) == tokens
    assert (tokens - FINE_TILE // 2) * 0.0199 <= (DECODE_PATIENCE - 1) * 0.2  # to the nearest whole tile
    budget.record(decodes, 8, 0.2 + 8 * 10.0)
    assert 2 * FINE_TILE <= budget.tokens(decodes) <= 2.5 * FINE_TILE  # a prompt comes to its end, too


def test_a_tiny_chunk_teaches_nothing():
    """Its time is the reading of the weights: taken for the tokens', it would make all chunks tiny."""
    budget = TokenBudget()
    budget.record(0, 64, 0.064)
    want = budget.tokens(0)
    for _ in range(20):
        budget.record(0, 2, 0.05)
    assert budget.tokens(0) == want


def test_the_time_of_the_decodes_is_not_that_of_the_prompt():
    budget = TokenBudget()
    budget.record(1, 0, 0.2)
    budget.record(1, 64, 0.2 + 0.064)
    assert budget.tokens(0) == (ALONE_SECONDS - 0.2) / 0.001 // TILE * TILE


def test_what_a_token_costs_alone_says_nothing_of_one_beside_decodes():
    """Hundreds of rows are multiplied otherwise than thirty, and the last ones saw a long context."""
    budget = TokenBudget(FINE_TILE)
    budget.record(5, 0, 0.04)
    for alone, beside in ((0.004, 0.002), (0.001, 0.002)):
        for _ in range(10):
            budget.record(5, 27, 0.04 + 27 * beside)
        want = budget.tokens(5)
        for _ in range(10):
            budget.record(0, 256, 256 * alone)
        assert budget.tokens(5) == want
    budget.record(5, 0, 0.04)
    assert budget.tokens(5) == want  # alone it takes less


def test_the_first_chunk_beside_decodes_is_a_careful_one():
    budget = TokenBudget(FINE_TILE)
    budget.record(0, 256, 256 * 0.004)
    budget.record(5, 0, 0.04)
    budget.record(5, 23, 0.04 + 23 * 0.001)
    later = budget.tokens(5)
    budget.record(5, 0, 0.04)
    first = budget.tokens(5)
    assert first * 3 < later
    budget.record(5, first, 0.04 + first * 0.001)
    assert budget.tokens(5) == later


def test_who_writes_waits_no_longer_where_steps_are_uneven():
    """Half of them are disturbed: their mean is what we aim at."""
    budget, seconds = TokenBudget(FINE_TILE), []
    budget.record(5, 0, 0.1)
    for turn in range(200):
        tokens = budget.tokens(5)
        seconds.append(0.1 + tokens * (0.001 if turn % 2 else 0.002))
        budget.record(5, tokens, seconds[-1])
    assert sum(seconds[20:]) / 180 == pytest.approx(DECODE_PATIENCE * 0.1, rel=0.06)


def test_the_first_step_is_slow_and_soon_forgotten():
    """Weights come from the disk, kernels are made: that says nothing of the next prompt."""
    budget = TokenBudget()
    budget.record(0, 128, 1.28)
    for _ in range(3):
        budget.record(0, 128, 0.128)
    assert budget.tokens(0) >= 512


def test_one_slow_step_does_not_change_everything():
    budget = TokenBudget()
    for _ in range(10):
        budget.record(0, 256, 0.25)
    budget.record(0, 256, 2.5)  # another program wanted the machine
    assert GOOD_CHUNK <= budget.tokens(0) < 512
    for _ in range(20):
        budget.record(0, 256, 0.25)
    assert budget.tokens(0) >= 448
