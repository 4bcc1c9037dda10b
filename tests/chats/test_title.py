"""A chat's name from its first message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_gui.chats.title import MAX_TITLE, title_from, title_from_answer, title_request


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("Hello", "Hello"),
        ("\n\n  # A heading\nand more", "A heading"),
        ("- one\n- two", "one"),
        ("a\tb   c", "a b c"),
        ("", "New chat"),
        ("\n  \n###\n", "New chat"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 39 + "…"),
        ("How do I write a function that adds two numbers?", "How do I write a function that adds two…"),
        ("One two three four five six seven, eighteen", "One two three four five six seven…"),
        ("One two three four five six, seventeen eighteens", "One two three four five six, seventeen…"),
        ("One two three four five six seven eig, nineteen", "One two three four five six seven eig…"),
    ],
)
def test_titles(message: str, title: str):
    assert title_from(message) == title


@given(st.text(max_size=200))
def test_a_title_is_one_short_line(message: str):
    title = title_from(message)
    assert 0 < len(title) <= MAX_TITLE
    assert len(title.splitlines()) == 1


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Trams of Lisbon", "Trams of Lisbon"),
        ('**Title: "Trams of Lisbon"**\n\nIt is about trams.', "Trams of Lisbon"),
        ("\n# Titel: Straßenbahnen.\n", "Straßenbahnen"),
        ("里斯本的电车", "里斯本的电车"),
        ("", ""),
        ("***", ""),
        ("I am sorry, I cannot do that.", ""),
        ("Here is a title for it", ""),
        ("This conversation is about many things that one cannot say shortly at all", ""),
        ("x" * 61, ""),
    ],
)
def test_a_title_out_of_what_a_model_says(said, title):
    assert title_from_answer(said) == title


def test_a_long_beginning_is_shortened_for_the_model():
    request = title_request("word " * 10_000, "answer")
    assert len(request) < 1200
    assert "answer" in request
