"""What a model thought is told from what it answered."""

from dataclasses import replace

import pytest

from llama_gui.chats.reasoning import answer_text, parts_of, split_reasoning
from llama_gui.chats.recipe import recipe_text
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import DEFAULT_SAMPLING, GenerateRequest, ModelInfo

THOUGHT = "<think>\nFirst I *wonder*.\n\nThen I know.\n</think>\n\nThe **answer**."


def node(text: str, model: str) -> Node:
    return Node("a", "c", "u", "assistant", text, "complete", 0.0, model)


def recipe(*, wraps_answers: bool, path: str = "/models/mine") -> str:
    sampling = DEFAULT_SAMPLING
    model = ModelInfo("Mine", path, "Any", 1, 1, "", "cpu", sampling, True, wraps_answers=wraps_answers)
    return recipe_text(GenerateRequest(prompt="?"), model)


@pytest.mark.parametrize(
    ("text", "reasoning", "rest", "is_open"),
    [
        (THOUGHT, "First I *wonder*.\n\nThen I know.", "The **answer**.", False),
        ("<thinking>a</thinking>b", "a", "b", False),
        (" \n<Reasoning>a</reasoning>b", "a", "b", False),
        ("<think>\n\n</think>\n\nHi", None, "Hi", False),
        ("<think>never ends", "never ends", "", True),
        ("the prompt opened it\n</think>\n\nHi", "the prompt opened it", "Hi", False),
        ("<think>`</think>` is a tag\n</think>\nHi", "`</think>` is a tag", "Hi", False),
        ("<think>```\n</think>\n```\n</think>Hi", "```\n</think>\n```", "Hi", False),
        ("<think>```\nnever closed\n</think>\nHi", "```\nnever closed", "Hi", False),
        ("<think>```py\nx</think>Hi", "```py\nx", "Hi", False),
        ("<think>```py\nx</think>\nHi\n```py\ny\n```", "```py\nx", "Hi\n```py\ny\n```", False),
        ("<think>it's ` odd</think>Hi `x`", "it's ` odd", "Hi `x`", False),
        ("<think>a</thinking>b</think>c", "a</thinking>b", "c", False),
        ("```\n<think>\n</think>\n```", None, "```\n<think>\n</think>\n```", False),
        ("Write `<think>` and `</think>`.", None, "Write `<think>` and `</think>`.", False),
        ("The </think> tag ends it.", None, "The </think> tag ends it.", False),
        ("Later <think>x</think>", None, "Later <think>x</think>", False),
        ("", None, "", False),
    ],
)
def test_where_the_answer_begins(text, reasoning, rest, is_open):
    parts = split_reasoning(text)
    assert (parts.reasoning, parts.answer, parts.is_open) == (reasoning, rest, is_open)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>\n<response>\nb < c\n</response>", "b < c"),
        ("<think>a</think><response>b", "b"),
        ("a\n</think>\n<response>b</response>", "b"),
        ("<think>a</think><responses>", "<responses>"),
        ("<response>b</response>", "<response>b</response>"),
    ],
)
def test_granite_has_tags_around_its_answers_and_others_were_asked_for_them(text, rest):
    kept = text.partition("</think>")[2].lstrip() or text
    granite, other = node(text, "Granite-3.3-2b-instruct"), node(text, "Qwen3-4B")
    assert (parts_of(granite).answer, answer_text(granite)) == (rest, rest)
    assert (parts_of(other).answer, answer_text(other)) == (kept, kept)
    # What was noted when the answer came goes before what its user calls the model.
    assert answer_text(replace(granite, recipe=recipe(wraps_answers=False))) == kept
    assert answer_text(replace(other, recipe=recipe(wraps_answers=True))) == rest


def test_what_another_server_has_around_its_answers_only_the_name_tells():
    text = "<think>a</think><response>b</response>"
    for name, rest in (("granite3.3:2b", "b"), ("qwen3:4b", "<response>b</response>")):
        noted = recipe(wraps_answers=False, path=f"http://nas.local/v1#{name}")
        assert answer_text(replace(node(text, name), recipe=noted)) == rest


def test_only_answers_are_told_apart():
    assert parts_of(replace(node(THOUGHT, ""), role="user")).answer == THOUGHT


def test_an_open_fence_keeps_a_tag_for_itself_while_more_may_come():
    begun = "<think>I write:\n```html\n<b>x</b></think> is no"
    assert split_reasoning(begun, is_growing=True).is_open
    assert split_reasoning(begun).answer == "is no"
    whole = f"{begun} tag\n```\n</think>\n\nHello"
    for is_growing in (True, False):
        assert split_reasoning(whole, is_growing=is_growing).answer == "Hello"


def test_half_a_tag_is_not_shown():
    for text in ("<", "<th", "<think", "<reason"):
        assert split_reasoning(text, is_growing=True).is_open
        assert not split_reasoning(text).is_open
    assert split_reasoning("<think>so</thi", is_growing=True).reasoning == "so"
    assert split_reasoning("<b", is_growing=True).answer == "<b"


def test_an_answer_without_an_answer_is_copied_whole():
    assert answer_text(node(THOUGHT, "")) == "The **answer**."
    assert answer_text(node("<think>never ends", "")) == "<think>never ends"
