"""Tokens as a text with places, and numbers in words."""

import math

import pytest

from llama_gui.ui.words.spans import is_mixed, level_of, levels, named, percent, seen, spanned
from llama_gui.vocabulary import TokenOutput

END = 99


def output(text: str, token_id: int = 1, share: float = 0.9) -> TokenOutput:
    return TokenOutput(text, token_id, 0, math.log(share))


def test_every_token_has_its_place_in_the_text():
    text = spanned([output("One"), output(" two"), output("\n\n"), output("", END)], {END})
    assert text.text == "One two\u21b5\n\u21b5\n\u2002end\u2002"
    assert [text.text[span.start : span.end] for span in text.spans] == [
        "One",
        " two",
        "\u21b5\n\u21b5\n",
        "\u2002end\u2002",
    ]
    assert [span.is_end for span in text.spans] == [False, False, False, True]


def test_a_character_of_several_tokens_is_one_place():
    tokens = [output("a"), output(""), output(""), output("🦙"), output("b"), output("")]
    text = spanned(tokens, ())
    assert text.text == "a🦙b"
    assert [(span.first, span.last) for span in text.spans] == [(0, 0), (1, 3), (4, 4), (5, 5)]
    assert text.spans[1].end - text.spans[1].start == 2  # as Qt counts it
    assert [text.span_of(token) for token in range(6)] == [0, 1, 1, 1, 2, 3]


def test_nothing_is_said_of_no_tokens():
    assert spanned([], ()).spans == ()


def test_a_place_is_as_unsure_as_its_least_sure_token():
    tokens = [output("a", share=0.99), output("", share=0.1), output("🦙", share=0.99), output("b", share=0.6)]
    assert levels(tokens, spanned(tokens, ()).spans) == [0, 3, 1]


@pytest.mark.parametrize(("share", "level"), [(1, 0), (0.8, 0), (0.79, 1), (0.5, 1), (0.49, 2), (0.2, 2), (0.19, 3)])
def test_levels(share, level):
    assert level_of(share) == level


@pytest.mark.parametrize(
    ("share", "words"),
    [(1.0, "100 %"), (0.9999, "over 99.9 %"), (0.3421, "34.2 %"), (0.001, "0.1 %"), (0.0004, "under 0.1 %")],
)
def test_percents(share, words):
    assert percent(share) == words


def test_what_cannot_be_seen_is_shown():
    assert seen("a\tb\x1b\r\n\u2028") == "a\tb\u241b\u21b5\n\u21b5\n"
    assert named(" two") == "\u2423two"
    assert named(" two", marks_space=False) == "two"
    assert named("  ", marks_space=False) == "\u2423\u2423"
    assert named("\n\n") == "\u21b5\u21b5"
    assert named("") == "part of a character"
    assert named("</s>", is_end=True) == "end of the answer"


def test_spaces_are_marked_where_they_tell_two_ways_apart():
    assert is_mixed([" two", "o"])
    assert not is_mixed([" two", " one", ",", "\n"])
    assert not is_mixed([])
