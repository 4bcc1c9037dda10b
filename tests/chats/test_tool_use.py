"""Calls as a chat keeps them, and tools by the names that a model is told."""

import pytest

from llama_gui.chats.tool_use import ToolUse, new_use, offered, read_use, schemas, use_to_json
from llama_gui.vocabulary import ToolInfo


def tool(server: str, name: str) -> ToolInfo:
    return ToolInfo(server, name, f"{name} of {server}", {"type": "object", "properties": {}})


def test_it_comes_back_as_it_was():
    use = new_use(tool("files", "read"), "read", '{"path": "ä.txt"}')
    assert read_use(use_to_json(use)) == use
    assert len(use.id) == 9
    assert use.call() == {
        "id": use.id,
        "type": "function",
        "function": {"name": "read", "arguments": {"path": "ä.txt"}},
    }
    assert new_use(tool("files", "read"), "read", "{}").id != use.id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"id": 1}',
        '{"sampling": {}, "now": ""}',
        "null",
        '{"id": 1, "server": "", "tool": "", "called": "", "arguments": ""}',
    ],
)
def test_what_is_none_is_none(text: str):
    assert read_use(text) is None


@pytest.mark.parametrize("arguments", ["", "[1]", "nonsense", "[" * 100_000])
def test_arguments_that_are_no_object_are_none(arguments: str):
    assert ToolUse("i", "s", "t", "t", arguments).values() == {}


def test_names_are_those_of_the_protocol_and_each_is_of_one_tool():
    tools = [tool("a", "read"), tool("b", "read"), tool("a", "weiß nicht"), tool("a", "x" * 100), tool("a", "x" * 90)]
    tools += [tool("a_b", "c"), tool("a", "b_c"), tool("a", "c"), tool("a", "")]
    found = offered(tools)
    assert list(found.values()) == tools
    assert list(found)[:3] == ["a_read", "b_read", "wei__nicht"]
    assert all(0 < len(name) <= 64 and name.isascii() for name in found)
    assert [entry["function"]["name"] for entry in schemas(found)] == list(found)
    assert schemas(found)[1]["function"]["description"] == "read of b"
