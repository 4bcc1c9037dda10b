"""Any file may be picked for an import: it is read, or refused in plain words."""

import copy
import json
import os
import random
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.chats.importers import building, jan, reading
from llama_gui.chats.importers.building import as_time
from llama_gui.chats.importers.reading import read_import
from llama_gui.chats.tree import ChatTree
from llama_gui.errors import StoreError
from tests.chats.importers.conftest import ReadJson
from tests.chats.importers.samples import (
    gpt_chat,
    gpt_entry,
    studio_answer,
    studio_chat,
    studio_user,
    webui_chat,
    webui_message,
)
from tests.chats.importers.test_jan import THREAD, VERSIONS

OURS = {
    "format": "llama-gui chats",
    "version": 1,
    "chats": [
        {
            "id": "c",
            "title": "T",
            "created": 1.0,
            "settings": {"system_prompt": "s", "sampling": {"seed": 3}, "max_tokens": None, "stop": []},
            "leaf_id": "a",
            "nodes": [
                {"id": "q", "parent_id": None, "role": "user", "content": "x", "status": "complete", "created": 1.0},
                {
                    "id": "a",
                    "parent_id": "q",
                    "role": "assistant",
                    "content": "y",
                    "status": "streaming",
                    "created": 2.0,
                },
            ],
        }
    ],
}
EXPORTS = [
    OURS,
    [gpt_chat([gpt_entry("q", "sys"), gpt_entry("a", "q", "assistant")], "a")],
    [webui_chat([webui_message("q", None, "user", "x"), webui_message("a", "q", "assistant", "y")], "a")],
    studio_chat([studio_user("x"), studio_answer("y", "z")]),
    jan.joined(THREAD, b"\n".join(json.dumps(message).encode() for message in VERSIONS)),
]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a JSON file"),
        (b"hello", "not a JSON file"),
        (b'[{"mapping": {', "only a part of one"),
        (b"\x00\x01\xff" * 50, "not a JSON file"),
        (b"[" * 200_000, "nested so deeply"),
        (b"1" * 10_000, "not a JSON file"),
        (b"{}", "holds no chats that llama-gui knows"),
        (b"[]", "holds no chats"),
        (b"[1, null, []]", "holds no chats"),
        (b'{"format": "llama-gui chats", "version": 99}', "newer version"),
        (b"PK\x03\x04 not really", "not a JSON file"),
    ],
)
def test_what_is_no_export_is_refused_in_plain_words(tmp_path: Path, content: bytes, words: str):
    path = tmp_path / "picked.json"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=words):
        read_import(path)


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(StoreError, match=r"nothing\.json cannot be read: (No such file|File not found)"):
        read_import(tmp_path / "nothing.json")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_any_unicode_encoding_is_read(tmp_path: Path, encoding: str):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(studio_chat([studio_user("Grüße 京都")]), ensure_ascii=False), encoding=encoding)
    assert read_import(path).chats[0].nodes[0].content == "Grüße 京都"


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)  # takes no room
    with pytest.raises(StoreError, match=r"has 1000 MB or more; up to 400 MB can be read"):
        read_import(path)


def archive(path: Path, name: str, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return path


def test_chatgpts_archive_is_read_as_it_is(tmp_path: Path):
    path = archive(tmp_path / "x.zip", "export/conversations.json", json.dumps(EXPORTS[1]).encode())
    assert len(read_import(path).chats) == 1
    path = archive(tmp_path / "y.zip", "../../else.json", b"[]")
    with pytest.raises(StoreError, match=r"no conversations\.json in"):
        read_import(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.zip", "y.zip"]


def test_the_parts_of_a_large_export_are_read_together(tmp_path: Path):
    path = archive(tmp_path / "x.zip", "conversations-000.json", json.dumps(EXPORTS[1]).encode())
    with zipfile.ZipFile(path, "a") as file:
        other = [gpt_chat([gpt_entry("q", "sys")], "q", conversation_id="other")]
        file.writestr("conversations-001.json", json.dumps(other))
        file.writestr("shared_conversations.json", "[1]")
    assert len(read_import(path).chats) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of this kind")
@pytest.mark.timeout(10)
def test_a_pipe_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is not a file"):
        read_import(tmp_path / "pipe")


def test_an_archive_that_swells_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 1_000_000)
    path = archive(tmp_path / "bomb.zip", "conversations.json", b" " * 50_000_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(StoreError, match="can be read"):
        read_import(path)


def test_a_damaged_archive_is_told(tmp_path: Path):
    path = archive(tmp_path / "x.zip", "conversations.json", random.Random(1).randbytes(5000))
    content = bytearray(path.read_bytes())
    content[500:600] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged or locked"):
        read_import(path)


# --- broken conversations


def test_a_broken_conversation_is_skipped_and_named(read_json: ReadJson):
    good = gpt_chat([gpt_entry("q", "sys")], "q")
    broken = [
        {"title": "No tree", "mapping": "x"},
        {"title": 7, "mapping": {}},
        None,
        gpt_chat([], "q", title="Nothing said", conversation_id="n"),
        good,
    ]
    found = read_json([good, *broken])
    assert len(found.chats) == 1
    assert found.skipped == (
        "Conversation 2 (“No tree”) was skipped: it has no messages with text.",
        "Conversation 3 (“without a title”) was skipped: it has no messages with text.",
        "Conversation 4 (“without a title”) was skipped: it has no messages with text.",
        "Conversation 5 (“Nothing said”) was skipped: it has no messages with text.",
        "Conversation 6 (“Trip”) was skipped: it is in the file twice.",
    )


def test_circles_lost_parents_and_mad_times_make_a_tree(read_json: ReadJson):
    entries = [
        gpt_entry("a", "c", create_time=float("nan")),
        gpt_entry("b", "a", create_time=1e300),
        gpt_entry("c", "b", create_time=-5),
        gpt_entry("lost", "nobody", create_time="2024-01-01T00:00:00Z"),
        gpt_entry("self", "self", create_time=True),
        gpt_entry("under", "self", create_time=[]),
    ]
    (chat,) = read_json([gpt_chat(entries, "c")]).chats
    tree = ChatTree(chat.nodes)
    assert len(tree) == 6
    assert all(0 <= node.created < 1e12 for node in chat.nodes)
    assert sum(len(tree.subtree(root.id)) for root in tree.children(None)) == 6


def test_a_conversation_with_too_many_messages_is_skipped(read_json: ReadJson, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(building, "MAX_MESSAGES", 5)
    long = [gpt_entry(str(n), str(n - 1) if n else "sys") for n in range(10)]
    found = read_json([gpt_chat(long, "9"), gpt_chat([gpt_entry("q", "sys")], "q", conversation_id="other")])
    assert len(found.chats) == 1
    assert "more than 5 messages" in found.skipped[0]


def test_a_very_long_row_of_messages_is_read(read_json: ReadJson):
    entries = [gpt_entry(str(n), str(n - 1) if n else "sys", create_time=1.0) for n in range(20_000)]
    random.Random(2).shuffle(entries)
    (chat,) = read_json([gpt_chat(entries, "19999")]).chats
    path = ChatTree(chat.nodes).path(chat.leaf_id)
    assert [node.content for node in path] == [f"text {n}" for n in range(20_000)]


def test_texts_are_cleaned(read_json: ReadJson):
    found = read_json([gpt_chat([gpt_entry("q", "sys", parts=["a\0b \ud800"])], "q", title="a\0\n b")])
    assert found.chats[0].nodes[0].content == "a\u2400b \ufffd"
    assert found.chats[0].title == "a\u2400 b"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (1_700_000_000, 1.7e9),
        (1_700_000_000_000, 1.7e9),
        (1_700_000_000_000_000_000, 1.7e9),
        ("2023-11-14T22:13:20Z", 1.7e9),
        ("2023-11-14T22:13:20+00:00", 1.7e9),
        ("yesterday", 7.0),
        (float("nan"), 7.0),
        (float("inf"), 7.0),
        (-1, 7.0),
        (10**400, 7.0),
        (None, 7.0),
        (True, 7.0),
    ],
)
def test_times_in_all_their_units(value: object, seconds: float):
    assert as_time(value, 7.0) == seconds


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=4),
    st.just([]),
    st.just({}),
    st.just([None, {"text": 3}]),
    st.just({"a": {"message": []}}),
)


def places(value: object) -> list[tuple[dict | list, object]]:
    """Every place in a value of JSON where something else could stand."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]  # type: ignore[index, misc]


@pytest.mark.parametrize("rounds", [80, pytest.param(1500, marks=pytest.mark.campaign)])
def test_an_export_with_anything_in_any_place_is_read_or_refused(read_json: ReadJson, rounds: int):
    @settings(deadline=None, max_examples=rounds)
    @given(st.sampled_from(EXPORTS), st.data())
    def check(export, data: st.DataObject):
        export = copy.deepcopy(export)
        for _ in range(data.draw(st.integers(1, 3))):
            holder, key = data.draw(st.sampled_from(places(export)))
            holder[key] = copy.deepcopy(data.draw(ODD))  # type: ignore[index]
        try:
            found = read_json(export)
        except StoreError:
            return
        for chat in found.chats:
            tree = ChatTree(chat.nodes)
            assert len(tree) > 0
            assert chat.leaf_id is None or chat.leaf_id in tree or export is not OURS
            assert all(isinstance(node.content, str) and 0 <= node.created < 1e12 for node in chat.nodes)

    check()
