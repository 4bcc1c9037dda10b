"""Chats as Markdown, HTML and JSON."""

import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llama_gui.chats.export import to_json, to_markdown, write_export
from llama_gui.chats.export_html import MAX_MARKDOWN, to_html
from llama_gui.chats.importers.reading import read_import
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tool_use import ToolUse, use_to_json
from llama_gui.chats.tree import Node, clean_text
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings, SamplingParams

NODES = (
    Node("q", "chat", None, "user", "How do I **add**?", "complete", 1.0),
    Node("a1", "chat", "q", "assistant", "First version", "complete", 2.0, "Llama 3.2", '{"seed": 1}'),
    Node("a2", "chat", "q", "assistant", "Like `so`:\n\n```py\na < b\n```", "stopped", 3.0, "Llama 3.2"),
    Node("q2", "chat", "a1", "user", "and this?", "failed", 4.0, error="too long", attachments='[{"name": "a"}]'),
)
CHAT = ChatRecord(
    "chat",
    "Sums & *things*\nmore",
    1_700_000_000.0,
    NODES,
    ChatSettings("Be <kind>.", SamplingParams(temperature=0.2, logit_bias={3: 1.0}), 7, ("END",)),
    "a2",
    "model",
    "Work",
    pinned=True,
)


def text(pieces) -> str:
    return "".join(pieces)


def test_markdown_has_the_shown_path_with_who_speaks():
    found = text(to_markdown([CHAT, replace(CHAT, title="Other", leaf_id=None)]))
    assert found.startswith("# Sums \\& \\*things\\* more\n\n*2023-11-1")
    assert "\n## System prompt\n\nBe <kind>.\n" in found
    assert "\n## You\n\nHow do I **add**?\n\n## Assistant · Llama 3.2 · stopped\n\nLike `so`:" in found
    assert "\n---\n\n# Other\n" in found
    first, second = found.split("\n---\n")
    assert "First version" not in first
    assert "First version" in second
    assert "## You · failed\n\nand this?" in second


def test_what_was_thought_is_folded_in_both():
    thought = replace(NODES[1], content="<think>\nOne and *one*,\n\nso two.\n</think>\n\nIt is **two**.")
    chat = replace(CHAT, nodes=(NODES[0], thought), leaf_id="a1")
    folded = "<details>\n<summary>Thought for 5 words</summary>\n\nOne and *one*,\n\nso two.\n\n</details>"
    assert text(to_markdown([chat])).endswith(f"{folded}\n\nIt is **two**.\n")
    page = text(to_html([chat]))
    assert '<summary class="muted">Thought for 5 words</summary>' in page
    assert (
        page.index("so two.") < page.index("</details>", page.index("Thought for")) < page.index("<strong>two</strong>")
    )
    assert "think&gt;" not in page
    said = replace(chat, nodes=(replace(thought, role="user", parent_id=None),))  # only answers are told apart
    assert "<think>" in text(to_markdown([said]))


def test_a_call_is_folded_with_what_came_and_stays_text():
    use = ToolUse("id", "files", "read", "read", '{"path": "<b>.txt"}')
    reply = Node("t1", "chat", "a1", "tool", "```\n<i>text</i>", "complete", 2.0, "files/read", recipe=use_to_json(use))
    called, last = replace(NODES[1], content=""), replace(NODES[1], id="a9", parent_id="t1", content="It says i.")
    chat = replace(CHAT, nodes=(NODES[0], called, reply, last), leaf_id="a9")
    found = text(to_markdown([chat]))
    assert found.count("## Assistant") == 1  # one that only calls says nothing
    assert '## Tool · files/read\n\n<details>\n<summary><code>{"path": "<b>.txt"}' not in found
    assert "&lt;b&gt;.txt" in found
    assert "````\n```\n<i>text</i>\n````" in found
    page = text(to_html([chat]))
    check_harmless(page)
    assert "&lt;i&gt;text&lt;/i&gt;" in page
    assert "{&quot;path&quot;: &quot;&lt;b&gt;.txt&quot;}" in page


def test_an_empty_chat_is_exported_too():
    empty = ChatRecord("e", "Empty", float("inf"), ())
    assert text(to_markdown([empty])) == "# Empty\n"
    assert "<h1" in text(to_html([empty]))
    assert json.loads(text(to_json([])))["chats"] == []


# --- HTML


class Tags(HTMLParser):
    """What a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data):
        self.text += data


_TAGS = """
    html head meta title style body section h1 h2 h3 h4 h5 h6 p time details summary article div a em strong s code pre
    ul ol li blockquote hr br table thead tbody tr th td
"""
ALLOWED = set(_TAGS.split())
EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    '[x](http://a.example "onclick=x")',
    "<svg/onload=alert(1)>",
    "```x\"onmouseover='y'\n</pre><script>\n```",
    "</article></body><iframe src=//evil>",
    "&lt;script&gt;<b>",
    "<http://a.example/'onclick='x>",
]


def check_harmless(page: str) -> Tags:
    found = Tags(page)
    assert found.tags <= ALLOWED
    for name, value in found.attributes:
        assert name in {"charset", "http-equiv", "content", "name", "id", "class", "dir", "datetime", "href", "rel"} | {
            "title",
            "start",
            "style",
        }
        assert name != "style" or value.startswith("text-align:")
        assert name != "href" or not value.lower().lstrip().startswith(("javascript:", "vbscript:", "file:", "data:"))
    return found


@pytest.mark.parametrize("evil", EVIL)
def test_nothing_in_a_text_becomes_html(evil: str):
    nodes = (replace(NODES[0], content=evil), replace(NODES[2], parent_id="q", model=evil, error=evil))
    chat = replace(CHAT, title=evil, nodes=nodes, settings=ChatSettings(evil))
    check_harmless(text(to_html([chat], evil)))


@settings(deadline=None, max_examples=80)
@given(st.text(st.sampled_from("<>&\"'`*_[]()!#|~-=\n ab:/\\") | st.characters(exclude_categories=()), max_size=60))
def test_no_text_becomes_html(content: str):
    chat = replace(CHAT, nodes=(replace(NODES[0], content=clean_text(content)),))
    check_harmless(text(to_html([chat])))


def test_the_page_shows_markdown_and_needs_nothing_else():
    found = check_harmless(page := text(to_html([CHAT], "All")))
    assert {"pre", "code", "strong", "article"} <= found.tags
    assert "Assistant · Llama 3.2 · stopped" in found.text
    assert "Be <kind>." in found.text
    assert "prefers-color-scheme: dark" in page
    assert "default-src 'none'" in page
    assert "@media print" in page


def test_very_long_and_very_nested_messages_are_shown_as_they_are():
    for content in ("x" * (MAX_MARKDOWN + 1), "> " * 20_000 + "deep", "[" * 5000, "*a " * 3000):
        page = text(to_html([replace(CHAT, nodes=(replace(NODES[0], content=content),))]))
        check_harmless(page)


# --- JSON, there and back


def test_an_export_gives_the_same_chats_back(tmp_path: Path):
    other = replace(CHAT, id="other", nodes=(), title="empty")
    path = tmp_path / "chats.json"
    write_export(path, to_json([CHAT, other]))
    found = read_import(path)
    assert found.kind == "llama-gui"
    assert found.chats == (CHAT,)
    assert found.skipped == ("Conversation 2 (“empty”) was skipped: it has no messages.",)


TEXT = st.text(st.characters(exclude_categories=()), max_size=20).map(clean_text)
TREES = st.lists(st.tuples(st.integers(-1, 8), TEXT, st.sampled_from(["user", "assistant"])), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(TREES, TEXT, st.data())
def test_any_tree_comes_back(tmp_path: Path, drawn, title: str, data: st.DataObject):
    nodes = tuple(
        Node(f"n{n}", "c", None if parent < 0 or n == 0 else f"n{min(parent, n - 1)}", role, body, "complete", 1.0 + n)
        for n, (parent, body, role) in enumerate(drawn)
    )
    leaf = data.draw(st.sampled_from([None, *(node.id for node in nodes)]))
    chat = ChatRecord("c", title or "x", 5.0, nodes, ChatSettings(title), leaf)
    write_export(tmp_path / "x.json", to_json([chat]))
    assert read_import(tmp_path / "x.json").chats == (chat,)


def test_an_import_names_nothing_to_be_read_or_run(tmp_path: Path):
    reaching = ChatSettings("kind", documents="/home", tools=("files",), allowed_tools=("files/delete",))
    write_export(tmp_path / "x.json", to_json([replace(CHAT, settings=reaching)]))
    assert read_import(tmp_path / "x.json").chats[0].settings == ChatSettings("kind")


def test_a_store_is_exported_whole_and_imported_into_another(store: ChatStore, tmp_path: Path):
    store.create_chat("chat", "Title")
    store.save_settings("chat", ChatSettings("kind"))
    store.save_nodes(NODES)
    store.set_leaf("chat", "a1")
    store.create_chat("archived", "Old")
    store.save_node(Node("x", "archived", None, "user", "text", "complete", 1.0))
    store.archive_chat("archived")
    store.create_chat("binned")
    store.save_node(Node("y", "binned", None, "user", "text", "complete", 1.0))
    store.delete_chat("binned")
    path = tmp_path / "all.json"
    write_export(path, to_json(store.records()))
    other = ChatStore.open(tmp_path / "other" / "chats.db")
    report = other.import_chats(read_import(path))
    assert (report.added, report.messages, report.skipped) == (2, 5, ())
    assert list(other.records()) == list(store.records())
    assert [chat.id for chat in other.records()] == ["chat", "archived"]
    assert other.record("binned") is None
    other.close()


# --- to the disk


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path):
    path = tmp_path / "chats.md"
    path.write_text("precious")

    def broken():
        yield "half"
        raise StoreError("the store went away")

    with pytest.raises(StoreError, match="went away"):
        write_export(path, broken())
    assert path.read_text(encoding="utf-8") == "precious"
    assert os.listdir(tmp_path) == ["chats.md"]


def test_a_folder_that_is_missing_is_told(tmp_path: Path):
    with pytest.raises(StoreError, match=r"could not be written: No such file.*choose another"):
        write_export(tmp_path / "nowhere" / "chats.md", ["x"])
