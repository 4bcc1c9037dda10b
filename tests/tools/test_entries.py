"""Texts as people copy them from the pages of servers."""

import json

import pytest

from llama_gui.errors import InvalidRequestError
from llama_gui.tools.entries import entry_of, is_on_this_machine, server_of, servers_of
from llama_gui.vocabulary import ToolInfo, ToolServer

FILES = ToolServer("files", "npx", ("-y", "server-filesystem", "/home/me"), {"DEBUG": "1"})
ENTRY = {"command": "npx", "args": ["-y", "server-filesystem", "/home/me"], "env": {"DEBUG": "1"}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"mcpServers": {"files": ENTRY}}),
        json.dumps({"inputs": [], "servers": {"files": {"type": "stdio", **ENTRY}}}),
        json.dumps({"files": ENTRY}),
        f'\n  "files": {json.dumps(ENTRY)},\n',
        json.dumps({"mcpServers": {"files": {**ENTRY, "disabled": False, "timeout": 60, "autoApprove": []}}}),
    ],
)
def test_a_server_is_read_however_it_was_copied(text: str):
    assert servers_of(text) == (FILES,)


def test_one_behind_an_address_is_read():
    entry = {"type": "http", "url": "https://a.example/mcp?key=1", "headers": {"Authorization": "Bearer x"}}
    (server,) = servers_of(json.dumps({"mcpServers": {"a": entry}}))
    assert server == ToolServer("a", url="https://a.example/mcp?key=1", headers={"Authorization": "Bearer x"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("npx -y server-filesystem", 'JSON like {"mcpServers"'),
        ('{"mcpServers": {"files": {"command": "npx",}}}', 'JSON like {"mcpServers"'),
        ("[" * 100_000, 'JSON like {"mcpServers"'),
        ('"' + "[" * 100_000, 'JSON like {"mcpServers"'),
        ("[]", 'JSON like {"mcpServers"'),
        ("{}", 'like {"mcpServers"'),
        ('{"mcpServers": {}}', 'like {"mcpServers"'),
        ('{"theme": "dark"}', 'like {"mcpServers"'),
        ('{"command": "npx"}', "a server without a name"),
    ],
)
def test_what_is_no_list_of_servers_is_refused(text: str, words: str):
    with pytest.raises(InvalidRequestError) as told:
        servers_of(text)
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"type": "sse", "url": "https://a.example/sse"}, "the older sse is not supported"),
        ({"type": "ws", "url": "wss://a.example"}, "stdio or http"),
        ({"type": ["http"], "url": "https://a.example"}, "stdio or http"),
        ({"type": "http", "command": "npx"}, "because its type is http"),
        ({"command": "npx", "disabled": True}, "disabled is True"),
        ({"command": "npx", "url": "https://a.example"}, "a program to start, or else a url"),
        ({"args": ["x"]}, "a program to start, or else a url"),
        ({"command": ["npx", "-y"]}, "command is ['npx', '-y'], but it must be a text"),
        ({"command": "npx", "args": "-y x"}, "a list of texts"),
        ({"command": "npx", "args": ["--port", 3000]}, "a list of texts"),
        ({"command": "npx", "env": {"PORT": 3000}}, "texts by name"),
        ({"command": "npx", "env": ["A=1"]}, "texts by name"),
        ({"command": "npx", "env": {"KEY": "${input:key}"}}, "${input:key}"),
        ({"url": "ftp://a.example"}, "an address that begins with"),
        ({"url": "http://"}, "an address like https://"),
        ({"url": "http://a b/"}, "an address like https://"),
        ({"url": "http://[::1/"}, "an address like https://"),
        ({"url": "http://a:99999/"}, "an address like https://"),
        ({"url": "https://me:word@a.example"}, "without a name"),
        ({"url": "http://a.example/mcp"}, "others can read plain http"),
        ({"url": "http://a.example/mcp", "allow_plain_http": "yes"}, "true or false"),
        ({"url": "https://a.example", "headers": {"A": "b\r\nC: d"}}, "visible ASCII"),
        ({"url": "https://a.example", "headers": {"A b": "c"}}, "visible ASCII"),
    ],
)
def test_what_cannot_be_run_is_told_by_its_name(entry: dict, words: str):
    with pytest.raises(InvalidRequestError) as told:
        servers_of(json.dumps({"mcpServers": {"files": ENTRY, "this one": entry}}))
    assert "“this one”" in str(told.value)
    assert words in str(told.value)


@pytest.mark.parametrize(
    "server",
    [
        FILES,
        ToolServer("empty", "run", ("",)),
        ToolServer("a", url="https://a.example/mcp", headers={"X-Key": "k"}),
        ToolServer("here", url="http://127.0.0.1:8000/mcp"),
        ToolServer("near", url="http://nas.local/mcp", allow_plain_http=True),
    ],
)
def test_what_is_written_is_what_is_read(server: ToolServer):
    entry = entry_of(server, {})
    assert server_of(server.name, json.loads(json.dumps(entry))) == server


def test_what_others_have_noted_stays():
    former = {"type": "http", "url": "https://old.example", "headers": {"A": "b"}, "timeout": 60}
    assert entry_of(FILES, former) == {**ENTRY, "timeout": 60}


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:1/", True),
        ("http://127.0.0.9/", True),
        ("http://[::1]:80/", True),
        ("http://localhost.example/", False),
        ("http://127.0.0.1.example/", False),
        ("http://192.168.1.2/", False),
    ],
)
def test_this_machine_is_known(url: str, is_here: bool):
    assert is_on_this_machine(url) is is_here


def test_no_two_tools_share_a_key():
    keys = {ToolInfo(server, name, "", {}).key for server, name in [("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c")]}
    assert len(keys) == 3
    assert ToolInfo("files", "read", "", {}).key == "files/read"
