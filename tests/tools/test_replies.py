"""What tools send back."""

from typing import Any

import pytest
from mcp_types import CallToolResult

from llama_gui.tools.replies import cut, reply_of


def told(*content: dict[str, Any], **rest: Any) -> str:
    return reply_of(CallToolResult.model_validate({"content": list(content), **rest})).text


def test_texts_stand_below_each_other():
    assert told({"type": "text", "text": "a"}, {"type": "text", "text": "b\n"}) == "a\nb\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            "[A picture came, which cannot be shown here: image/png, 3 bytes.]",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "what it holds"}},
            "what it holds",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}},
            "[A file came, which cannot be read here: file:///a.bin, of no type, 3 bytes.]",
        ),
        (
            {"type": "resource_link", "uri": "https://a.example", "name": "a", "description": "more"},
            "[A link: a https://a.example more]",
        ),
    ],
)
def test_what_is_no_text_is_told_in_a_line(content: dict[str, Any], line: str):
    assert told({"type": "text", "text": "before"}, content) == f"before\n{line}"


def test_values_are_told_where_there_is_no_text():
    assert told(structuredContent={"grüße": [1]}) == '{"grüße": [1]}'
    assert told({"type": "text", "text": "it is 1"}, structuredContent={"a": 1}) == "it is 1"


def test_nothing_is_told_as_such():
    assert told() == "(The tool sent nothing back.)"
    assert told({"type": "text", "text": ""}) == "(The tool sent nothing back.)"


def test_an_error_stays_one():
    assert reply_of(CallToolResult.model_validate({"content": [], "isError": True})).is_error


def test_only_as_much_is_left_out_as_is_told():
    assert cut("x" * 10, 10) == "x" * 10
    assert cut("x" * 15, 10) == "x" * 10 + "\n[5 of 15 characters are left out here.]"
