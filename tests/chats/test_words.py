"""Texts as the search sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_gui.chats.words import fold, pattern, places, spaced, tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Hello, World!", ["hello", "world"]),
        ("snake_case and don't", ["snake", "case", "and", "don", "t"]),
        ("Ünïcödé E\u0301tat", ["unicode", "etat"]),
        ("北京is大", ["北", "京", "is", "大"]),
        ("한국어", ["한", "국", "어"]),
        ("v1.2 😀", ["v1", "2", "😀"]),
        ("?!\"' --", []),
    ],
)
def test_the_words_of_a_text(text: str, words: list[str]):
    assert tokens(text) == words


def test_plain_english_is_indexed_as_it_is():
    assert spaced("Plain English, 100 %") == "Plain English, 100 %"
    assert spaced("去北京 now").split() == ["去", "北", "京", "now"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_folding_keeps_each_character_in_its_place(text: str):
    assert len(fold(text)) == len(text)


def test_the_longest_term_is_marked():
    finder = pattern([["art"], ["artful"]])
    assert list(places(finder, fold("Artful art"), 9)) == [(0, 6), (7, 3)]
    assert list(places(finder, fold("art art art"), 2)) == [(0, 3), (4, 3)]
