"""Finding chats and messages by their words."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llama_gui.chats.snippet import SNIPPET
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node
from llama_gui.errors import StoreError
from tests.chats.samples import answer, question


def say(store: ChatStore, node_id: str, text: str, chat_id: str = "chat", title: str = "New chat") -> None:
    store.create_chat(chat_id, title)
    store.save_node(replace(question(node_id, chat_id), content=text))


def found(store: ChatStore, query: str) -> list[str | None]:
    return [hit.node_id for hit in store.search(query)]


def marked(store: ChatStore, query: str) -> list[str]:
    """What is highlighted in the first find."""
    hit = store.search(query)[0]
    return [hit.snippet[start : start + length] for start, length in hit.ranges]


@pytest.mark.parametrize(
    ("text", "query", "highlights"),
    [
        ("The quick brown fox", "fox quick", ["quick", "fox"]),
        ("The quick brown fox", "bro", ["bro"]),
        ("Voilà un CAFÉ", "cafe", ["CAFÉ"]),
        ("Voila un cafe\u0301!", "café", ["cafe\u0301"]),
        ("I don't know", "don't", ["don't"]),
        ("read foo_bar(x)", "foo_bar", ["foo_bar"]),
        ("我昨天去了北京大学。", "北京", ["北京"]),
        ("我昨天去了北京大学。", "学", ["学"]),
        ("東京タワーに行く", "タワー", ["タワー"]),
        ("서울에서 만나요", "서울", ["서울"]),
        ("สวัสดีครับ", "ครับ", ["ครับ"]),
        ("mixed 中文 and English", "english 中文", ["中文", "English"]),
        ("so happy 😀 today", "😀", ["😀"]),
        ("Привет, МИР", "мир", ["МИР"]),
        ("İstanbul'da", "istanbul", ["İstanbul"]),
        ("Größe", "grosse größ", None),
        ("label", "abel", None),
        ("alpha beta", "alp beta", None),
        ("北京", "京北", None),
    ],
)
def test_words_are_found_and_highlighted(store: ChatStore, text: str, query: str, highlights: list[str] | None):
    say(store, "m", text)
    if highlights is None:
        assert found(store, query) == []
    else:
        assert found(store, query) == ["m"]
        assert marked(store, query) == highlights


def test_titles_come_first_then_the_newest_messages(store: ChatStore):
    say(store, "m1", "about kites", "one", "Birds")
    say(store, "m2", "more wind", "two", "Flying kites")
    say(store, "m3", "nothing", "three", "None")
    hits = store.search("KITES")
    assert [(hit.chat_id, hit.node_id, hit.title) for hit in hits] == [
        ("two", None, "Flying kites"),
        ("one", "m1", "Birds"),
    ]
    assert (hits[0].snippet, hits[0].ranges, hits[0].title_ranges) == ("Flying kites", ((7, 5),), ((7, 5),))
    assert hits[1].title_ranges == ()
    assert [hit.node_id for hit in store.search("kites", limit=1)] == [None]
    assert store.search("kites", limit=0) == []


def test_a_chat_with_the_words_in_its_title_and_in_messages_is_one_find_first(store: ChatStore):
    say(store, "m1", "of kites", "kites", "Kites")
    say(store, "m2", "again kites", "kites")
    say(store, "m3", "other kites", "other", "Birds")
    hits = store.search("kites")
    assert [(hit.chat_id, hit.node_id) for hit in hits] == [("kites", "m2"), ("other", "m3"), ("kites", "m1")]
    assert [hit.title_ranges for hit in hits] == [((0, 5),), (), ((0, 5),)]
    assert (hits[0].snippet, hits[0].words) == ("again kites", "kites")


def test_a_message_that_is_the_title_is_not_told_again(store: ChatStore):
    say(store, "m1", "How do kites\nfly?", "one", "How do kites fly?")
    assert found(store, "kites") == ["m1"]
    say(store, "m2", "Kites fly by the wind.", "one")
    assert found(store, "kites") == ["m2"]
    say(store, "m3", "How do kites fly?", "two", "Birds")
    assert found(store, "kites") == ["m2", "m3"]


@pytest.mark.parametrize("limit", range(1, 15))
def test_titles_and_messages_share_the_room_and_leave_none(store: ChatStore, limit: int):
    for number in range(9):
        say(store, f"m{number}", "kites" if number % 2 else "none", f"c{number}", "Kites")
    for number in range(3):
        say(store, f"b{number}", "kites", f"b{number}", "Birds")
    hits = store.search("kites", limit=limit)
    assert len(hits) == min(limit, 12)
    assert len({(hit.chat_id, hit.node_id) for hit in hits}) == len(hits)
    assert sum(hit.title == "Kites" for hit in hits) >= (limit + 1) // 2 if limit < 9 else 9


def test_a_chat_that_is_full_of_a_word_leaves_room_for_others(store: ChatStore):
    say(store, "old", "kites", "one")
    for number in range(9):
        say(store, f"m{number}", "kites", "two")
    say(store, "new", "kites", "three")
    assert [hit.node_id for hit in store.search("kites", limit=7)] == ["new", "m8", "m7", "m6", "m5", "m4", "old"]
    assert len(store.search("kites", limit=20)) == 11


def test_the_snippet_of_an_answer_has_no_marks(store: ChatStore):
    say(store, "q", "a **needle**")
    store.save_node(replace(answer(content="## The **needle**\n\n`in` it"), status="complete"))
    assert [hit.snippet for hit in store.search("needle")] == ["The needle in it", "a **needle**"]


def test_archived_chats_come_last_and_deleted_ones_not_at_all(store: ChatStore):
    for chat_id in ("kept", "archived", "binned", "cut"):
        say(store, f"m-{chat_id}", "needle", chat_id, f"needle {chat_id}")
    store.archive_chat("archived")
    store.delete_chat("binned")
    store.delete_branch("m-cut")
    assert [(hit.chat_id, hit.node_id) for hit in store.search("needle")] == [
        ("kept", "m-kept"),
        ("archived", "m-archived"),
    ]


def test_changed_renamed_and_deleted_texts_are_followed(store: ChatStore):
    say(store, "m", "before", title="Old name")
    store.save_node(replace(question("m"), content="after"))
    store.rename_chat("chat", "Novel name")
    assert (found(store, "before"), found(store, "after")) == ([], ["m"])
    assert (found(store, "old"), found(store, "novel")) == ([], [None])
    store.delete_chat("chat")
    store.empty_bin()
    assert found(store, "after") + found(store, "novel") == []


def test_an_answer_is_found_when_it_has_ended(store: ChatStore, path: Path):
    say(store, "q", "question")
    writing = answer(content="the needle")
    store.save_node(writing)
    assert found(store, "needle") == []
    store.save_node(replace(writing, status="complete"))
    assert found(store, "needle") == ["a"]
    store.save_node(replace(writing, content="the needle and the thread"))  # goes on
    assert found(store, "needle") == []
    store.close()
    again = ChatStore.open(path)
    assert found(again, "thread") == ["a"]
    again._connection.execute("INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)")
    again._connection.execute("INSERT INTO title_index (title_index, rank) VALUES ('integrity-check', 1)")
    again.close()


def test_the_snippet_is_one_line_around_the_find(store: ChatStore):
    say(store, "m", "word\n" * 500 + "the needle\tin it\n" + "word\n" * 500)
    (hit,) = store.search("needle")
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) == SNIPPET + 2
    assert "the needle in it" in hit.snippet
    assert len(hit.snippet.splitlines()) == 1


def test_the_snippet_is_where_most_words_meet(store: ChatStore):
    say(store, "m", "one " + "x " * 400 + "one two three " + "x " * 400)
    assert marked(store, "one two three") == ["one", "two", "three"]


def test_words_that_are_everywhere_do_not_draw_the_snippet_away(store: ChatStore):
    say(store, "m", "the cat and the dog and the cow. " * 40 + "Here the needle is. " + "the end of the story. " * 40)
    (hit,) = store.search("the needle")
    assert "Here the needle is." in hit.snippet
    assert hit.snippet.index("the needle") < 60
    assert (hit.words, hit.nth) == ("the needle", 0)
    (hit,) = store.search("here cow")
    assert (hit.words, hit.nth) == ("Here", 0)
    (hit,) = store.search("story is")
    assert (hit.words, hit.nth) == ("story", 0)


def test_words_in_quotation_marks_are_a_phrase(store: ChatStore):
    say(store, "both", "a red fox and a blue whale " * 3)
    say(store, "apart", "the fox is red, the whale is blue")
    assert set(found(store, "red fox")) == {"both", "apart"}
    for query in ('"red fox"', "“Red fox”", "„red fox“", "«red fox»", 'whale "red fox"', '"red fo'):
        assert found(store, query) == ["both"]
    assert found(store, '"red fo"') == []
    assert marked(store, '"red fox"') == ["red fox"] * 3


def test_a_find_far_inside_a_long_message_is_shown(store: ChatStore):
    say(store, "m", "é " * 30_000 + "needle")
    assert marked(store, "needle") == ["needle"]
    say(store, "m", "é " * 300_000 + "thread")
    assert (found(store, "thread"), marked(store, "thread")) == (["m"], [])


ODD = [
    '"',
    '""',
    '"a',
    "a AND",
    "NOT",
    "a OR b",
    "NEAR(a b)",
    "content:a",
    "^a",
    "a*",
    "*",
    "(",
    "{a b}",
    "-a",
    "+",
    "'",
]


@pytest.mark.parametrize("query", [*ODD, "", " ", "\0", "\ud800", "a" * 10_000, "a " * 5000, "ab " * 5000, "😀", "_"])
def test_odd_queries_are_just_words(store: ChatStore, query: str):
    say(store, "m", "a b content NOT and or near")
    store.search(query)


def test_operators_are_words(store: ChatStore):
    say(store, "m", "black or white")
    assert found(store, "black OR white") == ["m"]
    assert found(store, "black OR green") == []
    assert found(store, 'say "black') == []
    assert found(store, '"or white"') == ["m"]


TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
CLOSE = st.text(st.sampled_from("ab é\u0301北京'\"_-*😀ß\u200bกิ"), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(TEXT | CLOSE, TEXT | CLOSE)
def test_any_text_can_be_looked_for_and_ranges_lie_in_the_snippet(store: ChatStore, text: str, query: str):
    store.create_chat("chat", "Title")
    node: Node = replace(question("m"), content=text)
    store.save_node(node)
    for hit in store.search(query) + store.search(text):
        assert all(0 <= start < start + length <= len(hit.snippet) for start, length in hit.ranges)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.text(st.sampled_from("abcé北京서울ก😀"), min_size=1, max_size=5), min_size=1, max_size=6), st.data())
def test_a_piece_of_a_text_finds_it(store: ChatStore, words: list[str], data: st.DataObject):
    store.create_chat("chat", "Title")
    store.save_node(replace(question("m"), content=", ".join(words)))
    picked = data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=3))
    assert found(store, " ".join(picked)) == ["m"]
    assert store.search(" ".join(picked))[0].ranges


def test_a_damaged_index_is_made_anew(store: ChatStore):
    say(store, "m", "needle")
    say(store, "m2", "thread")
    store._connection.execute("DELETE FROM message_index_data WHERE id > 10")
    assert found(store, "needle") == ["m"]


def test_a_damaged_index_beside_a_damaged_text(store: ChatStore):
    say(store, "m", "needle")
    say(store, "m2", "thread")
    store._connection.execute("DROP TRIGGER message_index_change")
    store._connection.execute("UPDATE nodes SET content = CAST(x'ff74' AS TEXT) WHERE id = 'm2'")
    store._connection.execute("DELETE FROM message_index_data WHERE id > 10")
    assert found(store, "needle") == ["m"]
    assert found(store, "t") == ["m2"]


def test_a_message_is_saved_beside_a_damaged_index_at_the_second_try(store: ChatStore):
    say(store, "m", "needle")
    store._connection.execute("UPDATE message_index_data SET block = x'ff' WHERE id = 10")
    store._connection.execute("DELETE FROM message_index_data WHERE id > 10")
    with contextlib.suppress(StoreError):
        store.save_node(replace(question("m"), content="needle and thread"))
    store.save_node(replace(question("m"), content="needle and thread"))
    assert found(store, "thread") == ["m"]
