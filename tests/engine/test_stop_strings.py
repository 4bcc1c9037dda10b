"""A stop is found wherever tokens end, and nothing that is not part of one is lost or late."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.stop_strings import StopStrings


def run(stops: list[str], pieces: list[str]) -> tuple[list[str], str | None]:
    watch = StopStrings(stops)
    shown = [watch.push(piece) for piece in pieces]
    return [*shown, watch.flush()], watch.matched


@pytest.mark.parametrize(
    ("stops", "pieces", "shown", "matched"),
    [
        (["END"], ["a E", "N", "D b"], ["a ", "", "", ""], "END"),
        (["END"], ["a E", "N", "X"], ["a ", "", "ENX", ""], None),
        (["END"], ["a E", "N"], ["a ", "", "EN"], None),
        (["END"], ["xENDyEND"], ["x", ""], "END"),
        (["aab"], ["a", "a", "a", "b"], ["", "", "a", "", ""], "aab"),  # what looked like a beginning was not
        (["late", "a"], ["so a late"], ["so ", ""], "a"),  # the first in the text counts, not in the list
        (["\n\n"], ["one\n", "two\n", "\nthree"], ["one", "\ntwo", "", ""], "\n\n"),
        (["🦙x"], ["a🦙", "x"], ["a", "", ""], "🦙x"),
        ([], ["a", "", "b"], ["a", "", "b", ""], None),
    ],
)
def test_examples(stops: list[str], pieces: list[str], shown: list[str], matched: str | None):
    assert run(stops, pieces) == (shown, matched)


def test_nothing_comes_after_a_stop():
    watch = StopStrings(["."])
    assert watch.push("one. two") == "one"
    assert watch.found
    assert (watch.push("three"), watch.flush()) == ("", "")


def test_a_stop_may_be_a_part_of_the_text():
    watch = StopStrings(["END", "\nUser:"], included=["END"])
    assert [watch.push(piece) for piece in ("a E", "ND b")] == ["a ", "END"]
    assert (watch.matched, watch.push("c"), watch.flush()) == ("END", "", "")
    watch = StopStrings(["END", "\nUser:"], included=["END"])
    assert (watch.push("a\nUser: b"), watch.matched) == ("a", "\nUser:")


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=3), st.lists(st.text("abc", max_size=3), max_size=12))
def test_the_same_as_looking_at_the_whole_text(stops: list[str], pieces: list[str]):
    shown, matched = run(stops, pieces)
    text = "".join(pieces)
    places = [text.find(stop) for stop in stops if stop in text]
    # A stop that ends earlier can hide one that begins earlier, but never reach beyond it.
    if matched is None:
        assert not places
        assert "".join(shown) == text
    else:
        assert text.startswith("".join(shown) + matched)
