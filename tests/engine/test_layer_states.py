"""States of conversations that cannot be cut: where one can go back to, and what is shared and kept."""

import itertools

import pytest
import torch

from llama_gui.engine import layer_states
from llama_gui.engine.conv_config import ConvConfig
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.layer_states import (
    MARK_BEFORE_END,
    MARK_BEFORE_QUESTION,
    MARK_EVERY,
    MOST_GUESSES,
    MOST_MARKS,
    MOST_SMALL_MARKS,
    KeptRows,
    Piece,
    SlotStates,
    StateShape,
    StateSpan,
    StateSpans,
    cuts_of,
)
from llama_gui.engine.prompt_lookup import PromptLookup

CONFIG = DeltaConfig(frozenset({0, 2}), 4, 2, 4, 8, 16)
SHAPE = StateShape.of(CONFIG)
CPU = torch.device("cpu")


def run(states: SlotStates, held: int, rows: int, cuts: tuple[int, ...] = (), guesses: int = 0) -> list[Piece]:
    """A pass in which each state becomes how many tokens are behind it."""
    pieces = states.pieces(rows, cuts, guesses)
    place = states.place(held)
    for piece in pieces:
        assert (piece.source.memory == place).all()
        place += piece.rows + (0 if piece.pending is None else piece.pending.mixed.shape[1])
        if piece.target is not None:
            piece.target.memory.fill_(place)
            piece.target.inputs.fill_(place)
    states.advance(held, rows)
    return pieces


def place_of(states: SlotStates) -> int:
    assert (states.current.memory == states.current.memory[0, 0, 0, 0]).all()
    return int(states.current.memory[0, 0, 0, 0])


def test_shapes():
    assert SHAPE.inputs == (2, 3, 2 * 16 + 64)
    assert SHAPE.memory == (2, 4, 8, 16)
    states = SlotStates(SHAPE, CPU)
    assert sum(part.nbytes for part in (states.current.inputs, states.current.memory)) == SHAPE.byte_count
    assert states.byte_count == 2 * SHAPE.byte_count
    assert place_of(states) == 0


def test_marks_are_where_one_can_go_back_to():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 100, (30, 84))
    assert [tokens for tokens, _ in states.marks] == [30, 84]
    assert states.byte_count == 4 * SHAPE.byte_count
    run(states, 100, 1)
    assert [states.reach(length, 101) for length in (0, 29, 30, 83, 84, 100, 101, 200)] == [
        0,
        0,
        30,
        30,
        84,
        84,
        101,
        101,
    ]
    states.go_back(84)
    assert place_of(states) == 84
    run(states, 84, 50)
    assert place_of(states) == 134
    states.go_back(30)
    assert place_of(states) == 30
    assert [tokens for tokens, _ in states.marks] == [30]
    states.go_back(0)
    assert (place_of(states), states.marks) == (0, [])


def test_a_mark_behind_all_rows_of_a_pass():
    states = SlotStates(SHAPE, CPU)
    assert len(run(states, 0, 100, (30, 100))) == 2
    assert [tokens for tokens, _ in states.marks] == [30, 100]
    for held in range(100, 110):
        run(states, held, 1)
    states.go_back(100)
    assert place_of(states) == 100


def test_a_state_goes_to_the_disk_and_comes_back():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 100, (84,))
    contents = {place: bytearray(states.block(place, 100)) for place in (84, 100)}
    assert {len(content) for content in contents.values()} == {states.block_bytes}
    other = SlotStates(SHAPE, CPU)
    run(other, 0, 50)
    other.put(34, memoryview(contents[84]), is_mark=True)
    assert (place_of(other), other.marks) == (50, [])  # nothing counts yet
    other.advance(50, 34)
    assert place_of(other) == 84
    run(other, 84, 5)
    run(other, 89, 5)
    assert other.reach(90, 94) == 84
    other.go_back(84)
    assert place_of(other) == 84
    other.put(16, memoryview(contents[100]), is_mark=False)
    other.advance(84, 16)
    assert (place_of(other), len(other.marks)) == (100, 1)


def test_what_is_kept_is_never_written_again():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 100, (30, 84))
    for held in range(100, 140):
        run(states, held, 1)
    assert [int(state.memory.max()) for _, state in states.marks] == [30, 84]
    other = SlotStates(SHAPE, CPU)
    other.take(states, 140, 140)
    run(states, 140, 1)
    run(states, 141, 1)
    assert place_of(other) == 140
    run(other, 140, 5)
    run(other, 145, 5)
    assert (place_of(states), place_of(other)) == (142, 150)
    other.take(states, 84, 142)
    assert place_of(other) == 84
    other.take(states, 0, 142)
    assert (place_of(other), other.marks) == (0, [])


def test_a_pass_that_failed_is_begun_again():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 10)
    for piece in states.pieces(40, (20,)):
        assert piece.target is not None
        piece.target.memory.fill_(torch.nan)
    assert place_of(states) == 10
    run(states, 10, 40, (20,))
    assert place_of(states) == 50
    assert [tokens for tokens, _ in states.marks] == [30]


def pending_of(states: SlotStates) -> KeptRows | None:
    """What the next pass begins with."""
    return states.pieces(1)[0].pending


def guess(states: SlotStates, held: int, guesses: int, mark: float) -> None:
    """A pass over a token and guesses, whose rows are `mark` and the numbers behind it."""
    pieces = run(states, held, 1, guesses=guesses)
    kept = pieces[-1].kept
    assert [piece.rows for piece in pieces] == [1, guesses]
    assert kept is not None
    kept.mixed.copy_(torch.arange(mark, mark + guesses)[:, None].expand(2, guesses, SHAPE.mixed))


def test_guesses_that_were_right_are_summed_up_with_the_next_pass():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 10)
    guess(states, 10, 4, 0.0)
    states.advance(11, 1)
    states.advance(12, 1)
    found = pending_of(states)
    assert found is not None
    assert (place_of(states), states.place(13)) == (11, 11)
    assert found.mixed.shape == (2, 2, SHAPE.mixed)
    assert found.of(1)[0][:, 0].tolist() == [0, 1]
    assert found.rates.shape == (2, 2, 8)
    other = SlotStates(SHAPE, CPU)
    other.take(states, 13, 13)
    guess(states, 13, 4, 50.0)
    theirs = pending_of(other)
    assert theirs is not None
    assert theirs.mixed[0, :, 0].tolist() == [0, 1]
    assert place_of(other) == 11
    states.advance(14, 1)
    again = pending_of(states)
    assert again is not None
    assert again.mixed[0, :, 0].tolist() == [50]
    states.go_back(0)
    assert pending_of(states) is None


def test_a_pass_that_failed_leaves_what_is_pending():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 10)
    guess(states, 10, 4, 0.0)
    states.advance(11, 2)
    for _ in range(2):
        first, last = states.pieces(1, (), 4)
        assert last.kept is not None
        last.kept.mixed.fill_(torch.nan)
        assert first.pending is not None
        assert first.pending.mixed[1, :, 0].tolist() == [0, 1]


def test_states_take_no_more_memory_for_guesses():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 10)
    guess(states, 10, 4, 0.0)
    assert states.byte_count == 2 * SHAPE.byte_count


def test_no_more_guesses_than_our_kernels_take_at_a_time():
    assert PromptLookup.most_guesses <= MOST_GUESSES
    with pytest.raises(ValueError, match="17 guesses are more than 16"):
        SlotStates(SHAPE, CPU).pieces(1, (), 17)


def test_rows_that_no_pass_ran():
    states = SlotStates(SHAPE, CPU)
    run(states, 0, 10, guesses=2)
    for rows in (3, 10):
        with pytest.raises(ValueError, match="none that the last pass ran"):
            states.advance(10, rows)
    states.advance(10, 2)
    run(states, 12, 1)
    with pytest.raises(ValueError, match="none that the last pass ran"):
        states.advance(13, 1)


def test_of_small_states_there_are_more_marks():
    states = SlotStates(StateShape.of(ConvConfig(frozenset({0, 1}), 3, 8)), CPU)
    for held in range(0, 100 * 512, 512):
        states.pieces(512, (496,))
        states.advance(held, 512)
    assert len(states.marks) == MOST_SMALL_MARKS
    assert states.byte_count == (MOST_SMALL_MARKS + 2) * 2 * 2 * 8 * 4
    assert states.reach(51000, 100 * 512) == 50672


def test_of_too_many_marks_the_closest_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layer_states, "SMALL_STATE", 0)
    states, held = SlotStates(SHAPE, CPU), 0
    for _ in range(40):
        run(states, held, 512, (512 - 16,))
        held += 512
    places = [tokens for tokens, _ in states.marks]
    assert len(places) == MOST_MARKS
    assert places[-1] == held - 16
    assert places[0] < held / 8, "the beginning, which others may share, is far away"
    assert places[-2] > held * 7 / 8, "the turn before is far away"
    assert max(after - before for before, after in itertools.pairwise(places)) < held * 2 / 3


def test_where_marks_are_wanted():
    assert cuts_of(0, 100, 100) == [100 - MARK_BEFORE_END]
    assert cuts_of(0, 50, 100) == []
    assert cuts_of(0, 84, 100) == [84]
    assert cuts_of(84, 16, 100) == []
    assert cuts_of(100, 412, 5000) == [412]
    assert cuts_of(50, 50, 100) == [50 - MARK_BEFORE_END]
    assert cuts_of(0, 10, 10) == []
    assert cuts_of(0, 1200, 1200) == [MARK_EVERY, 928, 2 * MARK_EVERY, 1200 - MARK_BEFORE_END]
    assert cuts_of(0, 200, 300) == [300 - MARK_BEFORE_END - MARK_BEFORE_QUESTION]
    assert cuts_of(500, 100, 5000) == [12]
    assert cuts_of(512, 100, 5000) == []


def test_the_table_of_a_step():
    states = [SlotStates(SHAPE, CPU) for _ in range(2)]
    spans = StateSpans([StateSpan(0, states[0].pieces(10, (4,))), StateSpan(10, states[1].pieces(1, (), 2))])
    pieces, begins = spans.table
    assert begins.tolist() == [0, 2, 4]
    assert pieces[:, :2].tolist() == [[0, 4], [4, 6], [10, 1], [11, 2]]
    first, second, third, last = pieces.tolist()
    assert first[4:6] == second[2:4]
    assert first[3] == states[0].current.memory.data_ptr()
    assert first[6:] == second[6:] == third[6:] == [0] * 6
    assert last[2:4] == third[4:6]
    assert last[4:6] == [0, 0]
    assert all(last[6:8])
    states[1].advance(0, 1)
    states[1].advance(1, 1)
    (following,) = StateSpans([StateSpan(0, states[1].pieces(1))]).table[0].tolist()
    assert following[8:10] == last[6:8]
    assert following[10:] == [1, 2], "one of two"
