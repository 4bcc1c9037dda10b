"""Finding chats and messages by their words."""

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from llama_gui.chats.plain_words import means_damaged_index
from llama_gui.chats.search_schema import rebuild_search
from llama_gui.chats.tree import clean_text
from llama_gui.chats.words import fold, pattern, places, spaced, tokens

MAX_QUERY = 1000
MAX_TERMS = 32
SNIPPET = 160
"""Characters of a message that are shown around what was found."""

_LOOKED_THROUGH = (20_000, 400_000)
"""First so much of a message for the words, then so much; a find is almost always early."""
_MAX_PLACES = 200
_BEFORE = 30  # characters shown before the first find

# The newest first, because who searches remembers what was said of late; and the index is read in that order as far as
# `limit`, while the best first would have to weigh each find of a word that is everywhere.
_TITLES = """
    SELECT chats.id, NULL, chats.title, chats.title
    FROM title_index CROSS JOIN chats ON chats.seq = title_index.rowid
    WHERE title_index MATCH ? AND chats.deleted IS NULL AND chats.last_seq IS NOT NULL AND chats.archived = ?
    ORDER BY chats.updated DESC LIMIT ?
"""
_MESSAGES = """
    SELECT chats.id, nodes.id, chats.title, nodes.content
    FROM message_index CROSS JOIN nodes ON nodes.seq = message_index.rowid CROSS JOIN chats ON chats.id = nodes.chat_id
    WHERE message_index MATCH ? AND nodes.deleted IS NULL AND chats.deleted IS NULL AND chats.archived = ?
    ORDER BY message_index.rowid DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One find. `node_id` None: in the title. `ranges` are (start, length) of the words, in characters of `snippet`."""

    chat_id: str
    node_id: str | None
    title: str
    snippet: str
    ranges: tuple[tuple[int, int], ...]


def search(db: sqlite3.Connection, query: str, limit: int = 50) -> list[SearchHit]:
    """Titles, then messages, that have all the words of any text; of the last word the beginning is enough.

    Titles and messages of archived chats come after all others, those in the bin never. An answer that is still being
    written is not found yet. Capitals and accents make no difference.
    """
    terms = _terms(query)
    if not terms or limit <= 0:
        return []
    finder = pattern([words for _text, words in terms])
    try:
        return [_hit(row, finder) for row in _rows(db, _match_text(terms), limit)]
    except sqlite3.DatabaseError as error:
        if not means_damaged_index(error):
            raise
        rebuild_search(db)
        return [_hit(row, finder) for row in _rows(db, _match_text(terms), limit)]


def _terms(query: str) -> list[tuple[str, list[str]]]:
    """The pieces between spaces that have words in them: as SQLite's tokenizer reads them, and folded."""
    pieces = clean_text(query[:MAX_QUERY]).split()
    terms = [(spaced(piece), tokens(piece)) for piece in pieces]
    return [term for term in terms if term[1]][:MAX_TERMS]


def _match_text(terms: list[tuple[str, list[str]]]) -> str:
    """FTS5's query. In quotation marks nothing is an operator, and several words are a phrase."""
    phrases = ['"' + text.replace('"', " ") + '"' for text, _words in terms]
    return " AND ".join(phrases) + " *"


def _rows(db: sqlite3.Connection, match: str, limit: int) -> Iterable[tuple[Any, ...]]:
    """The finds, at most `limit`. Where there are many of both, titles and messages get half of the room each."""
    found: list[tuple[Any, ...]] = []
    for archived in (0, 1):
        if room := limit - len(found):
            titles = db.execute(_TITLES, (match, archived, room)).fetchall()
            messages = db.execute(_MESSAGES, (match, archived, room)).fetchall()
            found += titles[: max(room - len(messages), (room + 1) // 2)]
            found += messages[: limit - len(found)]
    return found


def _hit(row: tuple[Any, ...], finder: re.Pattern[str]) -> SearchHit:
    chat_id, node_id, title, text = row
    snippet, ranges = _snippet(text, finder)
    return SearchHit(chat_id, node_id, title, snippet, ranges)


def _snippet(text: str, finder: re.Pattern[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    found: list[tuple[int, int]] = []
    for size in _LOOKED_THROUGH:
        found = list(places(finder, fold(text[:size]), _MAX_PLACES))
        if found or len(text) <= size:
            break
    first = _densest(found)
    begin = max(0, first - _BEFORE) if first + SNIPPET // 2 > SNIPPET else 0
    end = min(len(text), begin + SNIPPET)
    head, tail = "…" if begin else "", "…" if end < len(text) else ""
    # One character for each, so that the ranges stay right: a line break or tab becomes a space.
    line = "".join(" " if char.isspace() or ord(char) < 32 else char for char in text[begin:end])
    ranges = [(at - begin + len(head), min(length, end - at)) for at, length in found if begin <= at < end]
    return head + line + tail, tuple(ranges)


def _densest(found: list[tuple[int, int]]) -> int:
    """Where the most finds lie within one snippet; of equals the first."""
    best, best_count, last = 0, 0, 0
    for number, (at, _length) in enumerate(found):
        while last < len(found) and found[last][0] < at + SNIPPET - _BEFORE:
            last += 1
        if last - number > best_count:
            best, best_count = at, last - number
    return best
