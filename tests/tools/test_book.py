"""The file of the servers."""

import json
import stat
import sys
from pathlib import Path

import pytest

from llama_gui.errors import SettingsError
from llama_gui.tools.book import ToolBook
from llama_gui.vocabulary import ToolServer

A, B, C = (ToolServer(name, "run", (name,)) for name in "abc")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "profile" / "mcp.json"


def names(file: Path) -> list[str]:
    return [server.name for server in ToolBook(file).read()[0]]


def test_a_server_is_kept_and_forgotten(file: Path):
    book = ToolBook(file)
    assert book.read() == ((), ())
    book.keep([A, B])
    assert book.read() == ((A, B), ())
    book.remove("a")
    book.remove("nobody")
    assert book.read() == ((B,), ())
    assert json.loads(file.read_text()) == {"mcpServers": {"b": {"command": "run", "args": ["b"]}}}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_it_is_for_its_owners_eyes_only(file: Path):
    ToolBook(file).keep([ToolServer("a", "run", env={"KEY": "a secret"})])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_places_are_kept(file: Path):
    book = ToolBook(file)
    book.keep([A, B, C])
    book.keep([ToolServer("b", "other")])
    assert names(file) == ["a", "b", "c"]
    book.keep([ToolServer("new", "other")], former="b")
    assert names(file) == ["a", "new", "c"]
    book.keep([ToolServer("c", "other")], former="a")  # a name that another has
    assert names(file) == ["c", "new"]
    book.keep([A], former="nobody")
    assert names(file) == ["c", "new", "a"]


def test_what_we_do_not_understand_stays(file: Path):
    odd = {"old": {"type": "sse", "url": "https://a.example"}, "worse": 5, "off": {"command": "x", "disabled": True}}
    file.parent.mkdir()
    file.write_text(json.dumps({"theme": "dark", "mcpServers": {**odd, "a": {"command": "run", "timeout": 5}}}))
    book = ToolBook(file)
    servers, problems = book.read()
    assert [server.name for server in servers] == ["a"]
    assert [words.split("”")[0] for words in problems] == ["“old", "“worse", "“off"]
    book.keep([A, B])
    book.remove("b")
    values = json.loads(file.read_text())
    assert values["theme"] == "dark"
    assert values["mcpServers"] == {**odd, "a": {"command": "run", "args": ["a"], "timeout": 5}}


@pytest.mark.parametrize(
    "content", ["", "[]", '{"mcpServers": []}', '{"mcpServers": {', "[" * 100_000, b"\xff\xfe\x00"]
)
def test_a_file_of_another_kind_is_left_as_it_is(file: Path, content: str | bytes):
    file.parent.mkdir()
    content = content if isinstance(content, bytes) else content.encode()
    file.write_bytes(content)
    book = ToolBook(file)
    for act in (book.read, lambda: book.keep([A]), lambda: book.remove("a")):
        with pytest.raises(SettingsError, match="does not hold a list of tool servers"):
            act()
    assert file.read_bytes() == content


def test_what_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="cannot be"):
        ToolBook(tmp_path / "file" / "mcp.json").keep([A])


def test_half_a_letter_does_not_break_the_file(file: Path):
    ToolBook(file).keep([ToolServer("a", "run", ("\ud83d",)), ToolServer("ü", "run")])
    assert names(file) == ["a", "ü"]
