"""The conversation tree: branches, paths, and what the engine reads."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_gui.chats.tool_use import NOT_MADE, ToolUse, use_to_json
from llama_gui.chats.tree import ChatTree, Node, NodeStatus, clean_text, sound_nodes
from llama_gui.errors import BugError
from llama_gui.vocabulary import Role


def node(
    node_id: str, parent_id: str | None, role: Role, content: str = "text", status: NodeStatus = "complete"
) -> Node:
    return Node(node_id, "chat", parent_id, role, content, status, created=1.0)


@pytest.fixture
def tree() -> ChatTree:
    """q1 with the answers a1 and a2; under a1 the question q2."""
    return ChatTree(
        [
            node("q1", None, "user", "first"),
            node("a1", "q1", "assistant", "one"),
            node("q2", "a1", "user", "second"),
            node("a2", "q1", "assistant", "other"),
        ]
    )


def ids(nodes: list[Node]) -> list[str]:
    return [found.id for found in nodes]


def test_the_path_ends_in_the_newest_leaf_or_where_it_is_told(tree: ChatTree):
    assert ids(tree.path()) == ["q1", "a2"]
    assert ids(tree.path("q2")) == ["q1", "a1", "q2"]
    assert ids(tree.path("q1")) == ["q1"]
    assert ChatTree().path() == []


def test_children_are_versions_oldest_first(tree: ChatTree):
    assert ids(tree.children("q1")) == ["a1", "a2"]
    assert ids(tree.children(None)) == ["q1"]
    assert tree.children("a2") == []
    assert len(tree) == 4
    assert "a2" in tree


def test_a_replaced_node_keeps_its_place(tree: ChatTree):
    tree.replace(node("a1", "q1", "assistant", "better"))
    assert ids(tree.children("q1")) == ["a1", "a2"]
    assert tree["a1"].content == "better"
    assert ids(tree.path()) == ["q1", "a2"]


@pytest.mark.parametrize("wrong", [node("q1", None, "user"), node("x", "nobody", "user"), node("x", "x", "user")])
def test_what_has_no_place_is_not_added(tree: ChatTree, wrong: Node):
    with pytest.raises(BugError):
        tree.add(wrong)


@pytest.mark.parametrize("wrong", [node("x", None, "user"), node("a1", None, "assistant")])
def test_what_is_not_there_is_not_replaced(tree: ChatTree, wrong: Node):
    with pytest.raises(BugError):
        tree.replace(wrong)


def test_messages_have_the_system_prompt_first(tree: ChatTree):
    messages = tree.messages("q2", "Be kind.")
    assert [(m.role, m.content) for m in messages] == [
        ("system", "Be kind."),
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
    ]
    assert [m.role for m in tree.messages("q2", "  ")] == ["user", "assistant", "user"]


def test_answers_without_text_are_left_out_and_their_questions_joined():
    tree = ChatTree(
        [
            node("q1", None, "user", "first"),
            node("a1", "q1", "assistant", "", "failed"),
            node("q2", "a1", "user", "second"),
        ]
    )
    assert [(m.role, m.content) for m in tree.messages()] == [("user", "first\n\nsecond")]


def test_a_branch_can_be_taken_out(tree: ChatTree):
    assert ids(tree.subtree("q1")) == ["q1", "a1", "a2", "q2"]
    assert ids(tree.remove("a1")) == ["a1", "q2"]
    assert ids(tree.path()) == ["q1", "a2"]
    assert ids(tree.children("q1")) == ["a2"]
    assert ids(tree.remove("q1")) == ["q1", "a2"]
    assert (len(tree), tree.newest_leaf(), tree.children(None)) == (0, None, [])


def test_a_very_long_branch_can_be_taken_out():
    tree = ChatTree(node(str(n), str(n - 1) if n else None, "user") for n in range(5000))
    assert len(tree.remove("0")) == 5000
    assert len(tree) == 0


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([None, *"abcdefgh"])), max_size=12))
def test_of_any_nodes_a_tree_can_be_made(pairs: list[tuple[str, str | None]]):
    nodes = [Node(name, "chat", parent, "robot", "x", "odd", 1.0) for name, parent in pairs]  # type: ignore[arg-type]
    sound = sound_nodes(nodes)
    tree = ChatTree(sound)
    assert {found.id for found in sound} == {name for name, _parent in pairs}
    assert all((found.role, found.status) == ("user", "interrupted") for found in sound)
    assert sum(len(tree.subtree(root.id)) for root in tree.children(None)) == len(tree)


@given(st.lists(st.integers(min_value=-1, max_value=30), max_size=40))
def test_every_path_runs_from_a_root_to_its_leaf(parents: list[int]):
    tree = ChatTree()
    for number, parent in enumerate(parents):
        tree.add(node(str(number), None if parent < 0 or number == 0 else str(min(parent, number - 1)), "user"))
    for number in range(len(parents)):
        path = tree.path(str(number))
        assert path[-1].id == str(number)
        assert path[0].parent_id is None
        assert all(below.parent_id == above.id for above, below in itertools.pairwise(path))
    if parents:
        assert tree.newest_leaf() == str(len(parents) - 1)


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_clean_text_can_be_encoded_and_is_stable(text: str):
    clean = clean_text(text)
    clean.encode()
    assert "\0" not in clean
    assert clean_text(clean) == clean
    if "\0" not in text and text.isprintable():
        assert clean == text


def test_surrogates_that_belong_together_become_their_character():
    assert clean_text("\ud83d\ude00") == "\U0001f600"
    assert clean_text("\ud83dx") == "\ufffdx"


def test_calls_go_along_with_the_answer_that_made_them():
    uses = [ToolUse(f"id{n}", "clock", "now", "now", '{"zone": "Oslo"}') for n in (1, 2)]
    replies = [
        replace(node(f"t{n}", p, "tool", text), recipe=use_to_json(use))
        for n, p, text, use in ((1, "a1", "noon", uses[0]), (2, "t1", "", uses[1]))
    ]
    tree = ChatTree(
        [
            node("q1", None, "user", "when?"),
            node("a1", "q1", "assistant", ""),
            *replies,
            node("a2", "t2", "assistant", "Noon."),
        ]
    )
    messages = tree.messages()
    assert [(m.role, m.content, m.tool_call_id) for m in messages] == [
        ("user", "when?", ""),
        ("assistant", "", ""),
        ("tool", "noon", "id1"),
        ("tool", NOT_MADE, "id2"),
        ("assistant", "Noon.", ""),
    ]
    assert messages[1].tool_calls == [use.call() for use in uses]
    assert [m.role for m in tree.messages("t1")] == ["user", "assistant", "tool"]
    assert [m.role for m in tree.messages("a1")] == ["user"]


def test_a_reply_to_nothing_is_not_sent():
    tree = ChatTree(
        [node("q1", None, "user", "one"), node("t1", "q1", "tool", "damaged"), node("q2", "t1", "user", "two")]
    )
    assert [(m.role, m.content) for m in tree.messages()] == [("user", "one\n\ntwo")]
