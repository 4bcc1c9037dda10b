"""A chat's name from its first message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_gui.chats.title import MAX_TITLE, title_from


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
