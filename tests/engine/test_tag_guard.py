"""Words that look like tags are broken wherever pieces end, and nothing is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.tag_guard import CALLS, CLOSING, OPENING, TagGuard, unguarded

WORDS = st.sampled_from(["<", "/", "think", ">", "\n", " ", "`", "```", "a", "tool_call", "functools", "[", "<think>"])


def run(guard: TagGuard, pieces: list[str]) -> str:
    return "".join([*map(guard.push, pieces), guard.flush()])


def test_no_such_word_is_left():
    text = "a </think> b </Thinking> c <think>"
    assert run(TagGuard(CLOSING), list(text)) == "a <\u200b/think> b <\u200b/Thinking> c <think>"


def test_some_words_are_tags_only_where_a_line_begins():
    for text, broken in (
        ("<think> a <think>\n  <think>", "<\u200bthink> a <think>\n  <\u200bthink>"),
        ("```\n<think>\n```\n<think>", "```\n<think>\n```\n<\u200bthink>"),
    ):
        assert run(TagGuard(at_line_starts=OPENING), list(text)) == broken
        assert run(TagGuard(at_line_starts=OPENING), [text]) == broken


def test_nothing_is_held_back_for_long():
    guard = TagGuard(CLOSING)
    assert [guard.push(piece) for piece in ("a <", "/th", "e", "b")] == ["a ", "", "</the", "b"]
    assert TagGuard().push("<") == "<"


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(WORDS, max_size=25))
def test_the_same_however_it_is_cut(pieces: list[str]):
    text = "".join(pieces)
    cut = run(TagGuard((*CLOSING, *CALLS), OPENING), pieces)
    assert cut == run(TagGuard((*CLOSING, *CALLS), OPENING), [text])
    assert unguarded(cut) == text
    assert not any(tag in cut for tag in (*CLOSING, *CALLS))
