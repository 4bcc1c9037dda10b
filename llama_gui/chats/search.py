"""Finding chats and messages by their words."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from llama_gui.chats.plain_words import means_damaged_index
from llama_gui.chats.search_schema import mend_search
from llama_gui.chats.snippet import BEFORE, SNIPPET, snippet
from llama_gui.chats.tree import clean_text
from llama_gui.chats.words import fold, pattern, places, spaced, tokens

MAX_QUERY = 1000
MAX_TERMS = 32

_LOOKED_THROUGH = (20_000, 400_000)
"""First so much of a message for the words, then so much; a find is almost always early."""
_MAX_PLACES = 2000
_QUOTES = '"“”„«»'
_PIECE = re.compile(f"[{_QUOTES}]([^{_QUOTES}]*)([{_QUOTES}]?)|(\\S+)")

# The newest first, because who searches remembers what was said of late; and the index is read in that order as far as
# needed, while the best first would have to weigh each find of a word that is everywhere.
_TITLES = """
    SELECT chats.id, NULL, chats.title, chats.title, ''
    FROM title_index CROSS JOIN chats ON chats.seq = title_index.rowid
    WHERE title_index MATCH ? AND chats.deleted IS NULL AND chats.last_seq IS NOT NULL AND chats.archived = ?
    ORDER BY chats.updated DESC LIMIT ?
"""
_FINDS = """
    SELECT message_index.rowid, nodes.chat_id
    FROM message_index CROSS JOIN nodes ON nodes.seq = message_index.rowid CROSS JOIN chats ON chats.id = nodes.chat_id
    WHERE message_index MATCH ? AND nodes.deleted IS NULL AND chats.deleted IS NULL AND chats.archived = ?
    ORDER BY message_index.rowid DESC LIMIT ?
"""
_MESSAGE = """
    SELECT chats.id, nodes.id, chats.title, nodes.content, nodes.role
    FROM nodes CROSS JOIN chats ON chats.id = nodes.chat_id WHERE nodes.seq = ?
"""
_PER_CHAT = 4
"""Finds of one chat, unless there is room for more: where a word is in all of a long chat, others come through."""
_FINDS_READ = 2000


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One find. `node_id` None: in the title alone. `ranges` are (start, length) of the words, in characters of
    `snippet`, and `title_ranges` the same in `title`.

    `words` is what to look for in the message to come to the find, and `nth` how often it stands there before.
    """

    chat_id: str
    node_id: str | None
    title: str
    snippet: str
    ranges: tuple[tuple[int, int], ...]
    words: str = ""
    nth: int = 0
    title_ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Query:
    """What is looked for: pieces as SQLite's tokenizer reads them, and their words, folded.

    `is_whole`: the last word is one, not the beginning of one.
    """

    terms: list[tuple[str, list[str]]]
    is_whole: bool

    @property
    def match(self) -> str:
        """FTS5's query. In quotation marks nothing is an operator, and several words are a phrase."""
        phrases = ['"' + text.replace('"', " ") + '"' for text, _words in self.terms]
        return " AND ".join(phrases) + ("" if self.is_whole else " *")

    @property
    def finder(self) -> re.Pattern[str]:
        """What finds the same in folded text."""
        return pattern([words for _text, words in self.terms], is_whole=self.is_whole)


def search(db: sqlite3.Connection, query: str, limit: int = 50) -> list[SearchHit]:
    """Titles, then messages, that have all the words of any text; of the last word the beginning is enough.

    Words in quotation marks stand in a row. A title brings the newest message of its chat that has them, too: who
    looks for a chat sees it once, and comes to the words in it.

    Titles and messages of archived chats come after all others, those in the bin never. An answer that is still being
    written is not found yet. Capitals and accents make no difference.
    """
    wanted = _read(query)
    if not wanted.terms or limit <= 0:
        return []
    finder, kinds = wanted.finder, len({tuple(words) for _text, words in wanted.terms})
    try:
        return [_hit(row, finder, kinds) for row in _rows(db, wanted.match, limit)]
    except sqlite3.DatabaseError as error:
        if not means_damaged_index(error):
            raise
        mend_search(db)
        return [_hit(row, finder, kinds) for row in _rows(db, wanted.match, limit)]


def _read(query: str) -> _Query:
    """The phrases in quotation marks and the pieces between spaces that have words in them."""
    terms: list[tuple[str, list[str]]] = []
    is_whole = False
    for phrase, end, piece in _PIECE.findall(clean_text(query[:MAX_QUERY])):
        if words := tokens(phrase or piece):
            terms.append((spaced(phrase or piece), words))
            is_whole = bool(end)
    return _Query(terms[:MAX_TERMS], is_whole and len(terms) <= MAX_TERMS)


def _rows(db: sqlite3.Connection, match: str, limit: int) -> Iterable[tuple[Any, ...]]:
    """The finds, at most `limit`, first those by a title. Where there are many of both, these get half of the room."""
    found: list[tuple[Any, ...]] = []
    for archived in (0, 1):
        if room := limit - len(found):
            titles = db.execute(_TITLES, (match, archived, room)).fetchall()
            messages = _messages(db, match, archived, room)
            found += _joined(titles, messages, room)
    return found


def _joined(titles: list[tuple[Any, ...]], messages: list[tuple[Any, ...]], room: int) -> list[tuple[Any, ...]]:
    """Titles and messages as one list, in which the newest message of a chat stands for its title.

    A message of which all is in the title, as of most chats the first, is not told again.
    """
    newest: dict[str, tuple[Any, ...]] = {}
    for row in messages:
        newest.setdefault(row[0], row)
    count = min(len(titles), (room + 1) // 2)
    while True:
        first = [newest.get(row[0], row) for row in titles[:count]]
        told = {(row[0], row[2]) for row in first}
        others = [row for row in messages if row not in first and (row[0], " ".join(row[3].split())) not in told]
        free = room - count - len(others)
        if free <= 0 or count == len(titles):
            return [*first, *others][:room]
        count = min(len(titles), count + free)


def _messages(db: sqlite3.Connection, match: str, archived: int, room: int) -> list[tuple[Any, ...]]:
    """The newest finds in messages: a few of each chat, then more of those that have more."""
    few: list[int] = []
    more: list[int] = []
    seen: Counter[str] = Counter()
    for seq, chat_id in db.execute(_FINDS, (match, archived, _FINDS_READ)):
        seen[chat_id] += 1
        (few if seen[chat_id] <= _PER_CHAT else more).append(seq)
        if len(few) == room:
            break
    kept = sorted([*few, *more][:room], reverse=True)
    return [db.execute(_MESSAGE, (seq,)).fetchone() for seq in kept]


def _hit(row: tuple[Any, ...], finder: re.Pattern[str], kinds: int) -> SearchHit:
    chat_id, node_id, title, text, role = row
    found = _places(text, finder, kinds)
    first = _closest(found)
    line, ranges = snippet(text, [place[:2] for place in found], first, is_markdown=role == "assistant")
    words, at = _longest_run(text, found, first)
    in_title = tuple(place[:2] for place in _places(title, finder, kinds))
    return SearchHit(chat_id, node_id, title, line, ranges, words, _count(words, text[:at]), in_title)


def _places(text: str, finder: re.Pattern[str], kinds: int) -> list[tuple[int, int, str]]:
    """Where the words are, and how each is written there, folded. `kinds`: how many different ones there are."""
    found: list[tuple[int, int, str]] = []
    for size in _LOOKED_THROUGH:
        folded = fold(text[:size])
        found = [(at, length, folded[at : at + length]) for at, length in places(finder, folded, _MAX_PLACES)]
        if len({word for _at, _length, word in found}) >= kinds or len(text) <= size:
            break
    return found


def _closest(found: list[tuple[int, int, str]]) -> int:
    """Where the most different words lie within one snippet, and nearest to each other; of equals the first.

    Words that are everywhere would else draw the snippet away from the one that is looked for.
    """
    kinds = len({word for _at, _length, word in found})
    best, best_score = (found[0][0] if found else 0), (1, 0)
    for number, (at, _length, _word) in enumerate(found if kinds > 1 else ()):
        seen: set[str] = set()
        span = 0
        for other, _, word in found[number:]:
            if other >= at + SNIPPET - BEFORE or len(seen) == kinds:
                break
            if word not in seen:
                seen.add(word)
                span = other - at
        if (len(seen), -span) > best_score:
            best, best_score = at, (len(seen), -span)
    return best


def _longest_run(text: str, found: list[tuple[int, int, str]], first: int) -> tuple[str, int]:
    """The longest of the finds of the snippet, and where it is. Those with only spaces between them are one."""
    runs: list[tuple[int, int]] = []
    for at, length, _word in found:
        if not first <= at < first + SNIPPET - BEFORE:
            continue
        if runs and text[runs[-1][1] : at].isspace():
            runs[-1] = runs[-1][0], at + length
        else:
            runs.append((at, at + length))
    start, end = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    return text[start:end], start


def _count(words: str, text: str) -> int:
    """How often the words are in a text, with any white space between them."""
    return len(re.findall(r"\s+".join(map(re.escape, words.split())), text, re.IGNORECASE)) if words else 0
