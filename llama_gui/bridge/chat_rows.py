"""Chats put into groups: the rows of the side bar. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

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
        """What tells this row from all others: a chat's id, or the key of a group."""
        return self.chat.id if self.chat is not None else f"group:{self.group}"


def can_fold(group: str) -> bool:
    """Whether a heading can hide its chats; those of the dates do not."""
    return group in (ARCHIVE, PINNED) or group.startswith(FOLDER)


def chat_rows(
    chats: Iterable[ChatSummary], archived: Iterable[ChatSummary], today: date, folded: Collection[str] = ()
) -> list[ListRow]:
    """Pinned chats, folders by name, the others by date, and the archive: each a heading and its chats, newest first.

    A pinned chat stands under Pinned also when it is in a folder. A group in `folded` shows its heading only.
    """
    groups: dict[str, list[ChatSummary]] = {}
    bounds = _bounds(today)
    for chat in chats:
        groups.setdefault(_group_of(chat, bounds), []).append(chat)
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


def _bounds(today: date) -> list[tuple[float, str]]:
    """(earliest second, group) of the groups by date, the newest first."""
    days = ((0, "today"), (1, "yesterday"), (7, "week"), (30, "month"))
    return [(datetime.combine(today - timedelta(days=n), datetime.min.time()).timestamp(), key) for n, key in days]


def _group_of(chat: ChatSummary, bounds: list[tuple[float, str]]) -> str:
    if chat.pinned:
        return PINNED
    if chat.folder:
        return FOLDER + chat.folder
    for earliest, key in bounds:
        if chat.updated >= earliest:
            return key
    try:
        return f"{datetime.fromtimestamp(chat.updated):%Y-%m}"
    except (ValueError, OverflowError, OSError):  # a time that no calendar has
        return "0001-01"
