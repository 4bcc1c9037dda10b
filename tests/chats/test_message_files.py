"""Files in a message, as the model reads them, and out of it again."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from llama_gui.chats.attachments import MAX_NAME, Attachment, FileLine, clean
from llama_gui.chats.message_files import compose, listed, split
from llama_gui.chats.tree import clean_text


def test_the_files_of_a_message_are_listed():
    _content, where = compose("x", [Attachment("a.py", "x = 1\n", 6), Attachment("b", "y", 9)])
    assert listed(where) == (FileLine("a.py", 6), FileLine("b", 9))
    for damaged in ("", "{", "[]", "null", '{"files": 3}', '{"files": [{}]}', '{"files": [{"name": 1, "size": "x"}]}'):
        assert listed(damaged) == ()


def test_the_model_reads_name_and_text_and_then_the_question():
    content, where = compose("What is it?", [Attachment("a.py", "x = 1\n", 6), Attachment("b", "```\ny\n```", 9)])
    assert content == ("File “a.py”:\n```py\nx = 1\n```\n\nFile “b”:\n````\n```\ny\n```\n````\n\nWhat is it?")
    assert split(content, where) == (
        "What is it?",
        (Attachment("a.py", "x = 1\n", 6), Attachment("b", "```\ny\n```", 9)),
    )


def test_without_attachments_the_message_is_the_text():
    assert compose("Hi", ()) == ("Hi", "")
    assert split("Hi", "") == ("Hi", ())


def test_a_name_is_one_line_and_keeps_its_ending():
    content, _where = compose("", [Attachment("a\n```\n# “x”" + "y" * 300 + ".tar.gz", "z", 1)])
    name = content.splitlines()[0]
    assert len(name) < MAX_NAME + 10
    assert name.endswith(".tar.gz”:")
    assert "`" not in name


CHAOS = st.text(st.sampled_from("`~\n\r a“”") | st.characters(exclude_categories=()), max_size=40)


@settings(deadline=None, max_examples=150)
@given(CHAOS, st.lists(st.tuples(CHAOS, CHAOS), min_size=1, max_size=3))
def test_no_text_gets_out_of_its_fence_and_all_comes_back(text: str, files: list[tuple[str, str]]):
    content, where = compose(text, [Attachment(name, body, 1) for name, body in files])
    words, found = split(content, where)
    assert words == clean_text(text)
    assert [file.text for file in found] == [clean(body) for _name, body in files]
    tokens = [token for token in MarkdownIt("commonmark").parse(content) if token.type == "fence"]
    assert len(tokens) >= len(files)
    assert all(token.level == 0 for token in tokens[: len(files)])


@pytest.mark.parametrize(
    "where",
    [
        "{",
        "[]",
        "3",
        '{"files": 3}',
        '{"text": 999}',
        '{"text": -1}',
        '{"text": true, "files": [{}]}',
        '{"text": 1, "files": [{"name": "a", "size": 1, "start": 0, "length": 99}]}',
        json.dumps({"text": 0, "files": [{"name": "a", "size": "1", "start": 0, "length": 1}]}),
    ],
)
def test_damaged_places_leave_the_message_whole(where: str):
    assert split("content", where) == ("content", ())
