"""Chats in groups."""

from datetime import date, datetime, timedelta

import pytest

from llama_gui.bridge.chat_rows import ARCHIVE, PINNED, can_fold, chat_rows
from llama_gui.chats.tree import ChatSummary

TODAY = date(2026, 3, 2)


def chat(name: str, days_ago: int = 0, **more) -> ChatSummary:
    day = TODAY - timedelta(days=days_ago)
    when = datetime(day.year, day.month, day.day, 12).timestamp()
    return ChatSummary(name, name, when, when, "complete", **more)


def shown(rows) -> list[str]:
    return [row.chat.title if row.chat else f"[{row.group}]" for row in rows]


@pytest.mark.parametrize(
    ("days_ago", "group"),
    [
        (-1, "today"),
        (0, "today"),
        (1, "yesterday"),
        (2, "week"),
        (7, "week"),
        (8, "month"),
        (30, "month"),
        (31, "2026-01"),
        (70, "2025-12"),
    ],
)
def test_groups_follow_the_calendar(days_ago, group):
    day = TODAY - timedelta(days=days_ago)
    for hour in (0, 23):
        when = datetime(day.year, day.month, day.day, hour, 59).timestamp()
        rows = chat_rows([ChatSummary("a", "a", when, when, "complete")], [], TODAY)
        assert shown(rows) == [f"[{group}]", "a"]


def test_pinned_folders_dates_archive_in_this_order():
    chats = [
        chat("new"),
        chat("pinned", 1, pinned=True, folder="Work"),
        chat("zoo", 1, folder="zoo"),
        chat("work", 3, folder="Work"),
        chat("last week", 5),
        chat("older work", 50, folder="Work"),
    ]
    rows = chat_rows(chats, [chat("away", 3, archived=True)], TODAY)
    assert shown(rows) == [
        "[pinned]", "pinned", "[folder:Work]", "work", "older work", "[folder:zoo]", "zoo",
        "[today]", "new", "[week]", "last week", "[archive]", "away",
    ]  # fmt: skip
    assert [row.count for row in rows if row.chat is None] == [1, 2, 1, 1, 1, 1]


def test_what_is_folded_shows_its_heading_only_and_dates_cannot_be():
    rows = chat_rows([chat("new"), chat("p", pinned=True)], [chat("away")], TODAY, {ARCHIVE, PINNED, "today"})
    assert shown(rows) == ["[pinned]", "[today]", "new", "[archive]"]
    assert not can_fold("today")


def test_no_time_is_too_strange():
    strange = [ChatSummary(str(when), "", when, when, "complete") for when in (-1e18, 1e18, float("inf"))]
    assert len([row for row in chat_rows(strange, [], TODAY) if row.chat]) == 3


def test_keys_are_unique():
    rows = chat_rows([chat("a"), chat("b", folder="today"), chat("c", folder="archive")], [chat("d")], TODAY)
    assert len({row.key for row in rows}) == len(rows)
