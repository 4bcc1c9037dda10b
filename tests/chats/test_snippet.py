"""What is shown around a find reads like the message, not like its source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_gui.chats.snippet import snippet


def shown(text: str, word: str, *, is_markdown: bool = True) -> str:
    """The snippet around a word, which is in square brackets there."""
    at = text.index(word)
    line, ranges = snippet(text, [(at, len(word))], at, is_markdown=is_markdown)
    for start, length in reversed(ranges):
        line = line[:start] + "[" + line[start : start + length] + "]" + line[start + length :]
    return line


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("## The **best** way\n\nof all", "best", "The [best] way of all"),
        ("***So*** ~~not~~ *this*.", "this", "So not [this]."),
        ("Call `os.walk` now", "walk", "Call os.[walk] now"),
        ("See:\n```python\nx = 1\n```\nDone", "x", "See: [x] = 1 Done"),
        ("See:\n```python\nx = 1\n```\nDone", "python", "See: ```[python] x = 1 Done"),
        ("| Name | Age |\n|:--|--:|\n| Ann | 30 |\n\nSo", "Ann", "Name · Age [Ann] · 30 So"),
        ("Buy\n- eggs\n  * milk\n1. tea", "milk", "Buy · eggs · [milk] 1. tea"),
        ("> He said\n> > so\n\n---\nEnd", "so", "He said [so] End"),
        ("Read [the *docs*](https://a.example/b) and ![a cat](c.png).", "docs", "Read the [docs] and a cat."),
        ("Read [the docs](a.example/needle).", "needle", "Read the docs](a.example/[needle])."),
        ("<think>Hm.</think>\n\nYes", "Yes", "Hm. [Yes]"),
        ("a * b ** c, 2**3, x_y, a | b || c, $5", "x_y", "a * b ** c, 2**3, [x_y], a | b || c, $5"),
        ("The **two words** here", "two words", "The [two words] here"),
    ],
)
def test_marks_of_markdown_are_not_shown(text: str, word: str, line: str):
    assert shown(text, word) == line


def test_a_find_across_marks_is_one():
    text = "the **red** fox"
    assert snippet(text, [(6, 9)], 6, is_markdown=True) == ("the red fox", ((4, 7),))


def test_only_text_that_is_not_shown_is_left_out():
    assert shown("So: **needle**", "needle") == "So: [needle]"
    assert shown("```\nneedle\n```\n", "needle") == "[needle] "
    assert shown("needle" + "x" * 154, "needle").endswith("x")
    assert shown("needle" + "x" * 154 + "\n```", "needle").endswith("x…")
    assert shown("needle" + "x" * 155, "needle").endswith("x…")


def test_what_the_user_wrote_is_shown_as_it_is():
    assert shown("# **kwargs of f\n- x", "kwargs", is_markdown=False) == "# **[kwargs] of f - x"


def test_marks_before_the_snippet_are_known():
    text = "| " + "word | " * 40 + "needle | x |\n" + "word " * 60
    line = shown(text, "needle")
    assert line.startswith("…")
    assert line.endswith("…")
    assert "word · [needle] · x word" in line


@given(st.text(st.sampled_from("ab*`|-#>[]() \n~_·"), max_size=60), st.data())
def test_a_find_is_marked_whatever_is_around_it(text: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(text)))
    text = text[:at] + "needle" + text[at:]
    assert "[needle]" in shown(text, "needle")
