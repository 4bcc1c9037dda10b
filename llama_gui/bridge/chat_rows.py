"""Chats put into groups: the rows of the side bar. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from llama_gui.chats.tree import ChatSummary

ARCHIVE = "archive"
PINNED = "pinned"
FOLDER = "folder:"
"""Begins the key of a folder's group."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """A heading, or a chat below one. `group` is the group's key; `count` says how many chats a heading stands for."""

    group: str
    chat: ChatSummary | None = None
    count: int = 0
    is_folded: bool = False

    @property
    def key(self) -> str:
        """The row's unique key: a chat's id, or the key of a group."""
        return self.chat.id if self.chat is not None else f"group:{self.group}"


def can_fold(group: str) -> bool:
    """Whether a heading can hide its chats; those of the dates do not."""
    return group in (ARCHIVE, PINNED) or group.startswith(FOLDER)


def hiding_group(chat: ChatSummary) -> str:
    """The key of the group that hides a chat when it is folded; "" where none does."""
    if chat.archived or chat.pinned:
        return ARCHIVE if chat.archived else PINNED
    return FOLDER + chat.folder if chat.folder else ""


def moved_to(chat: ChatSummary, group: str) -> ChatSummary:
    """A chat as it is once it was put into a group of the list; among those of a date it is in no other."""
    if group == PINNED:
        return replace(chat, pinned=True, archived=False)
    folder = group.removeprefix(FOLDER) if group.startswith(FOLDER) else ""
    return replace(chat, folder=folder, pinned=False, archived=False)


def chat_rows(
    chats: Iterable[ChatSummary], archived: Iterable[ChatSummary], today: date, folded: Collection[str] = ()
) -> list[ListRow]:
    """Pinned chats, folders by name, the others by date, and the archive: each a heading and its chats, newest first.

    A pinned chat stands under Pinned also when it is in a folder. A group in `folded` shows its heading only.
    """
    groups: dict[str, list[ChatSummary]] = {}
    dated = _Calendar(today)
    for chat in chats:
        key = hiding_group(chat) or dated.group_of(chat.updated)
        groups.setdefault(key, []).append(chat)
    if stored := list(archived):
        groups[ARCHIVE] = stored
    folders = sorted((key for key in groups if key.startswith(FOLDER)), key=str.casefold)
    dates = [key for key in groups if key not in (PINNED, ARCHIVE) and not key.startswith(FOLDER)]
    dates.sort(key=lambda key: groups[key][0].updated, reverse=True)
    rows: list[ListRow] = []
    for key in (PINNED, *folders, *dates, ARCHIVE):
        members = groups.get(key, ())
        if members:
            is_folded = can_fold(key) and key in folded
            rows.append(ListRow(key, count=len(members), is_folded=is_folded))
            rows += [] if is_folded else [ListRow(key, chat) for chat in members]
    return rows


class _Calendar:
    """The groups by date. Chats come newest first, so the next is almost always in the same month as the last."""

    def __init__(self, today: date) -> None:
        days = ((0, "today"), (1, "yesterday"), (7, "week"), (30, "month"))
        self._days = [(_start_of(today - timedelta(days=count)), key) for count, key in days]
        self._month = (0.0, 0.0, "")  # its first second, the first of the next one, its key

    def group_of(self, when: float) -> str:
        """The key of the group for a time."""
        start, end, key = self._month
        if start <= when < end and when < self._days[-1][0]:
            return key
        for earliest, day in self._days:
            if when >= earliest:
                return day
        try:
            first = date.fromtimestamp(when).replace(day=1)
            following = (first + timedelta(days=32)).replace(day=1)
        except (ValueError, OverflowError, OSError):  # a time outside the calendar's range
            return "0001-01"
        self._month = (_start_of(first), _start_of(following), f"{first.year:04}-{first.month:02}")
        return self._month[2]


def _start_of(day: date) -> float:
    return datetime.combine(day, time()).timestamp()
