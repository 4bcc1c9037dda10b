"""What is typed and read of tools: commands, pairs, arguments, titles; nothing in them hides what it says."""

import pytest

from llama_gui.ui.tools.arguments import MOST_LETTERS, readable
from llama_gui.ui.tools.fields import join_command, read_pairs, split_command, write_pairs
from llama_gui.ui.tools.words import state_words, title_of
from llama_gui.vocabulary import ToolServerState
from tests.fakes.fake_tool_desk import tool


@pytest.mark.parametrize("is_windows", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ("uvx", "mcp-server-fetch"),
        ("npx", "-y", "a b", "it's", 'say "so"', "", "#no-comment"),
        ("C:\\Program Files\\x.exe", "\\\\server\\share", "a;b", "*"),
        ("both ' and \"",),
    ],
)
def test_a_command_is_read_as_it_was_written(words, is_windows):
    line = join_command(words, is_windows=is_windows)
    assert split_command(line, is_windows=is_windows) == words


def test_a_backslash_is_a_part_of_a_path_on_windows_and_nowhere_else():
    typed = r'C:\tools\run.exe "C:\My Files" x\ y'
    assert split_command(typed, is_windows=True) == (r"C:\tools\run.exe", r"C:\My Files", "x\\", "y")
    assert split_command(r"run x\ y", is_windows=False) == ("run", "x y")
    assert join_command((r"C:\tools\run.exe",), is_windows=True) == r"C:\tools\run.exe"


def test_an_open_quotation_mark_is_no_command():
    with pytest.raises(ValueError, match="quotation"):
        split_command('run "x')


def test_pairs_come_in_lines():
    assert read_pairs(" TOKEN = a=b \n\nURL=", "=") == {"TOKEN": "a=b", "URL": ""}
    assert read_pairs("Authorization: Bearer x:y", ":") == {"Authorization": "Bearer x:y"}
    assert read_pairs(write_pairs({"A": "1", "B": "x y"}, "="), "=") == {"A": "1", "B": "x y"}


@pytest.mark.parametrize("line", ["TOKEN", "=value"])
def test_a_line_that_is_no_pair_is_named(line):
    with pytest.raises(ValueError, match=line):
        read_pairs(f"A=1\n{line}", "=")


def test_arguments_are_lines():
    assert readable('{"path": "/home/a b", "deep": {"x": [1, true, null]}, "ä": "ö"}') == (
        'path: /home/a b\ndeep: {"x": [1, true, null]}\nä: ö',
        0,
    )
    assert readable("{}") == ("", 0)


def test_lines_of_a_value_cannot_be_taken_for_arguments():
    assert readable('{"text": "a\\npath: /etc", "b\\nc": 1}') == ("text:\n    a\n    path: /etc\nb\\u000ac: 1", 0)


def test_what_cannot_be_seen_is_written_as_its_code():
    text, _ = readable('{"path": "a\\u202egpj.exe\\u200b\\u0007\\u2028"}')
    assert text == "path: a\\u202egpj.exe\\u200b\\u0007\\u2028"


def test_what_is_no_json_is_shown_as_it_is():
    assert readable('{"path": ') == ('{"path": ', 0)
    assert readable("[1, 2]") == ("[1, 2]", 0)
    assert readable("[" * 100_000)[1] == 100_000 - MOST_LETTERS


def test_long_arguments_are_cut_and_say_so():
    text, more = readable('{"text": "%s"}' % ("x" * (MOST_LETTERS + 94)))
    assert (len(text), more) == (MOST_LETTERS, 100)


def test_the_title_of_a_tool_is_one_line_that_hides_nothing():
    assert title_of(tool("s", "read_file")) == "read_file"
    assert title_of(tool("s", "x", title="Read\n a \u202efile")) == "Read a \\u202efile"
    assert len(title_of(tool("s", "x", title="long " * 500))) < 200


def test_states_in_words():
    tools = (tool("s", "a"), tool("s", "b"))
    states = [ToolServerState(), ToolServerState("starting"), ToolServerState("failed", error="why")]
    states += [ToolServerState("ready", tools[:count]) for count in (0, 1, 2)]
    assert [state_words(state) for state in states] == ["off", "starting…", "failed", "0 tools", "1 tool", "2 tools"]
