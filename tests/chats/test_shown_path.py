"""Which branch is shown: versions by number, the newest answers behind them, and the question of an answer."""

from dataclasses import replace

import pytest

from llama_gui.chats.attachments import Attachment
from llama_gui.chats.message_files import compose
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tree import Node


def node(node_id: str, parent_id: str | None) -> Node:
    role = "user" if node_id.startswith("u") else "assistant"
    return Node(node_id, "chat", parent_id, role, node_id, "complete", 0.0)


@pytest.fixture
def path() -> ShownPath:
    r"""u1 - a1 - u2 - a3, beside a1: a2; beside u1: v1 - a4."""
    pairs = [("u1", None), ("a1", "u1"), ("u2", "a1"), ("a2", "u1"), ("a3", "u2"), ("ub", None), ("a4", "ub")]
    return ShownPath([node(*pair) for pair in pairs])


def ids(path: ShownPath) -> list[str]:
    return [node.id for node in path.nodes()]


def test_the_newest_is_shown_first(path: ShownPath):
    assert ids(path) == ["ub", "a4"]
    assert path.versions() == {"ub": (2, 2)}


def test_versions_lead_to_their_newest_answers(path: ShownPath):
    first = path.sibling("ub", -1)
    path.show(first)
    assert ids(path) == ["u1", "a2"]
    assert path.versions() == {"u1": (1, 2), "a2": (2, 2)}
    path.show(path.sibling("a2", -1))
    assert ids(path) == ["u1", "a1", "u2", "a3"]
    assert path.sibling("a1", -1) is None
    assert path.sibling("u2", 1) is None


def test_a_kept_leaf_is_shown_again(path: ShownPath):
    path.reset(path.tree.path("a3"), "a3")
    assert ids(path) == ["u1", "a1", "u2", "a3"]
    path.reset([])
    assert (ids(path), path.versions(), path.question_of()) == ([], {}, None)


def test_what_was_written_behind_a_kept_leaf_is_shown_too(path: ShownPath):
    path.reset(path.tree.path("a3"), "a1")
    assert ids(path) == ["u1", "a1", "u2", "a3"]


def test_a_new_message_is_shown(path: ShownPath):
    path.show("a2")
    path.add(node("u9", "a2"))
    assert ids(path) == ["u1", "a2", "u9"]


def test_the_question_of_an_answer(path: ShownPath):
    assert [path.question_of(name).id for name in ("a3", "u2", "a1", "a4")] == ["u2", "u2", "u1", "ub"]  # type: ignore[union-attr]
    assert path.question_of().id == "ub"  # type: ignore[union-attr]


def test_nothing_chosen_shows_as_much_as_there_is(path: ShownPath):
    path.show(None)
    assert ids(path) == ["ub", "a4"]


def test_the_map_has_a_lane_for_each_end(path: ShownPath):
    dots = path.map_dots()
    assert [(dot.node_id, dot.row, dot.lane) for dot in dots] == [
        ("u1", 0, 0),
        ("a1", 1, 0),
        ("u2", 2, 0),
        ("a3", 3, 0),
        ("a2", 1, 1),
        ("ub", 0, 2),
        ("a4", 1, 2),
    ]
    assert [dots[dot.parent].node_id if dot.parent is not None else None for dot in dots] == [
        None,
        "u1",
        "a1",
        "u2",
        "u1",
        None,
        "ub",
    ]
    assert [dot.node_id for dot in dots if dot.is_shown] == ["ub", "a4"]


def test_the_map_has_the_words_of_the_user_and_not_those_of_files():
    content, where = compose("What is it?", [Attachment("a.txt", "x" * 100, 100)])
    asked = replace(node("u1", None), content=content, attachments=where)
    assert ShownPath([asked]).map_dots()[0].text == "What is it?"
    content, where = compose("", [Attachment("a.txt", "x", 1)])
    asked = replace(node("u1", None), content=content, attachments=where)
    assert ShownPath([asked]).map_dots()[0].text.startswith("File “a.txt”")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "<think>\nThe user wants a table.\n</think>\n\n## Two **bold** words\n\n```python\nx\n```",
            "Two bold words x",
        ),
        ("<think>\nStill", "Still"),
        ("word " * 16, ("word " * 16).strip()),
        ("word " * 17, "word " * 15 + "word…"),
    ],
)
def test_the_map_has_the_words_of_an_answer_and_not_its_thoughts_and_marks(content, text):
    answered = replace(node("a1", None), content=content)
    assert ShownPath([answered]).map_dots()[0].text == text


def test_a_very_long_chat_has_a_map():
    nodes = [node(f"u{n}", f"u{n - 1}" if n else None) for n in range(20_000)]
    dots = ShownPath(nodes).map_dots()
    assert dots[-1].row == 19_999
    assert {dot.lane for dot in dots} == {0}
    assert ShownPath().map_dots() == []
