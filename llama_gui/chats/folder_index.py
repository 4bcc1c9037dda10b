"""A folder of documents as an index: read once, file by file, and searched by the words of a question."""

import contextlib
import os
import re
import sqlite3
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from llama_gui.chats.attachments import read_attachment
from llama_gui.chats.documents.child import ReadingCancelledError
from llama_gui.chats.documents.faults import sentence
from llama_gui.chats.documents.markdown import MOST_TEXT
from llama_gui.chats.passages import Beginning, Found, Passage, cut
from llama_gui.chats.ranking import Asked, Stock, fitting, stems
from llama_gui.chats.tree import clean_text
from llama_gui.errors import StoreError, UserError

MOST_FILES = 10_000
_MOST_FOUND = 200
"""Passages that are looked at more closely."""
_MOST_WORDS = 40
"""Of a question, the rarest."""
_VERSION = 1
_NO_TEXT = re.compile(
    r"png|jpe?g|gif|webp|bmp|tiff?|ico|heic|avif|mp[34]|m4[av]|wav|flac|ogg|opus|aac|wma|mkv|avi|mov|webm|"
    r"zip|gz|bz2|xz|zst|7z|rar|tar|iso|dmg|jar|exe|dll|so|dylib|msi|deb|rpm|apk|bin|dat|img|o|a|obj|lib|class|pyc|"
    r"gguf|safetensors|pth?|onnx|np[yz]|h5|parquet|db|db-shm|db-wal|sqlite3?|[to]tf|woff2?|psd",
    re.IGNORECASE,
)
"""Endings of names of pictures, recordings, archives and programs: these are not opened."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be read: its name in the folder, and why in plain words."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What the index has of a folder: how many files were read, those that could not be, and how many are no texts.

    `passages`: of all files together.
    """

    files: int = 0
    problems: tuple[Problem, ...] = ()
    others: int = 0
    passages: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there may be more files than are ever read."""
        return self.files + len(self.problems) + self.others >= MOST_FILES


class FolderIndex:
    """The index of one folder in a file of ours; it may be deleted at any time, and is made anew then.

    Every method opens the file for itself, so each may be called from any thread; one at a time may `refresh`.
    """

    def __init__(self, file: Path, folder: Path) -> None:
        self._file = file
        self._folder = folder

    # --- reading

    def refresh(
        self,
        cancelled: threading.Event,
        tell: Callable[[int, int], object] = lambda _done, _total: None,
        *,
        retry: bool = False,
    ) -> bool:
        """Read what is new or has changed, by size and time, and forget what is gone. Blocks, perhaps for hours.

        `tell`: how many files are done of how many that have to be read. What was read is kept if `cancelled` is set.
        `retry`: also what could not be read before. False: there is no such folder now; what was read before stays.

        Raises:
            StoreError: the index cannot be written, or the folder cannot be listed; in plain words.
        """
        if not self._folder.is_dir():
            return False
        try:
            there = dict(_files_in(self._folder))
        except OSError as error:
            raise StoreError(f"The folder {self._folder} cannot be read: {error.strerror or error}.") from error
        with self.opened() as db:
            rows = db.execute("SELECT name, size, changed, problem FROM files").fetchall()
            known = {
                name: (size, changed)
                for name, size, changed, problem in rows
                if not (retry and problem) or _has_no_text(name)
            }
            for name in {row[0] for row in rows} - {clean_text(name) for name in there}:
                _forget(db, name)
            stale = [name for name, facts in there.items() if known.get(clean_text(name)) != facts]
            for done, name in enumerate(stale):
                if cancelled.is_set():
                    break
                tell(done, len(stale))
                with contextlib.suppress(ReadingCancelledError):
                    self._read(db, name, *there[name], cancelled)
                if not self._folder.is_dir():
                    return False
            else:
                tell(len(stale), len(stale))
        with contextlib.suppress(OSError):
            os.utime(self._file)  # it is in use, though nothing may have changed
        return True

    def _read(self, db: sqlite3.Connection, name: str, size: int, changed: int, cancelled: threading.Event) -> None:
        passages, why = [], ""
        if _has_no_text(name):
            why = sentence("unknown", Path(name).name, MOST_TEXT)
        else:
            try:
                passages = cut(read_attachment(self._folder / name, cancelled, takes_images=False).text)
            except UserError as error:
                if not os.path.lexists(self._folder / name):  # deleted since it was listed, perhaps with the folder
                    return
                why = str(error)
        db.execute(
            "BEGIN IMMEDIATE"
        )  # else it fails where vectors are saved between its first look and its first write
        with db:
            _forget(db, name)
            values = (clean_text(name), size, changed, len(passages), clean_text(why))
            added = db.execute(
                "INSERT INTO files (name, size, changed, passages, problem) VALUES (?, ?, ?, ?, ?)", values
            )
            for place, passage in enumerate(passages):
                row = (added.lastrowid, place, passage.mark, passage.text)
                kept = db.execute("INSERT INTO passages (file, place, mark, text) VALUES (?, ?, ?, ?)", row)
                words = " ".join(_words(name, passage.text))
                db.execute("INSERT INTO search (rowid, stems) VALUES (?, ?)", (kept.lastrowid, words))

    def contents(self) -> FolderContents:
        """What it has.

        Raises:
            StoreError: it cannot be read.
        """
        with self.opened() as db:
            files, passages = db.execute(
                "SELECT count(*), coalesce(sum(passages), 0) FROM files WHERE problem = ''"
            ).fetchone()
            rows = db.execute("SELECT name, problem FROM files WHERE problem <> '' ORDER BY name").fetchall()
        problems = tuple(Problem(*row) for row in rows if not _has_no_text(row[0]))
        return FolderContents(files, problems, len(rows) - len(problems), passages)

    # --- searching

    def find(self, question: str, former: Sequence[str] = ()) -> list[Found]:
        """The passages that fit a question, the best first. `former`: the questions before it, the newest first.

        Raises:
            StoreError: it cannot be read.
        """
        asked = Asked.of(question, former)
        with self.opened() as db:
            stock = _stock(db, asked.words)
            needed = sorted(asked.found(stock), key=lambda stem: (stock.having[stem], stem))[:_MOST_WORDS]
            if not needed:
                return []
            rows = db.execute(
                "SELECT files.name, files.passages, passages.place, passages.mark, passages.text FROM"
                " (SELECT rowid AS found, rank FROM search WHERE search MATCH ? ORDER BY rank LIMIT ?)"
                " JOIN passages ON passages.id = found JOIN files ON files.id = passages.file ORDER BY rank",
                (" OR ".join(f'"{stem}"' for stem in needed), _MOST_FOUND),
            ).fetchall()
        passages = [Passage(text, mark) for _name, _total, _place, mark, text in rows]
        had = [Counter(stem for stem in _words(row[0], row[4]) if stem in asked.words) for row in rows]
        return [
            Found(rows[n][0], rows[n][2], rows[n][1], passages[n], score)
            for score, n in fitting([passage.text for passage in passages], asked, stock, had, needed)
        ]

    def names(self) -> list[str]:
        """The files that were read, in order.

        Raises:
            StoreError: it cannot be read.
        """
        with self.opened() as db:
            return [row[0] for row in db.execute("SELECT name FROM files WHERE problem = '' ORDER BY name")]

    def beginnings(self, names: Sequence[str], most: int) -> list[Beginning]:
        """How these files begin, with as many passages of each as so many characters take.

        Raises:
            StoreError: it cannot be read.
        """
        with self.opened() as db:
            found = (_beginning(db, name, most) for name in names)
            return [beginning for beginning in found if beginning.passages]

    # --- the file

    @contextlib.contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Its file with its tables, for those who keep more there: each statement counts at once.

        Raises:
            StoreError: it cannot be used, or what was done with it failed.
        """
        try:
            with contextlib.closing(self._connected()) as db:
                yield db
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"What was read of the folder {self._folder} cannot be used: {error}. Check that there is room on the "
                f"disk and that {self._file} may be written, or delete that file: it is made anew."
            ) from error

    def _connected(self) -> sqlite3.Connection:
        """The file, with its tables; one that is damaged or of another version is begun anew."""
        try:
            return self._with_tables()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, full, not allowed: it may be sound
                raise
            self._file.unlink(missing_ok=True)
            return self._with_tables()

    def _with_tables(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._file, timeout=10, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")  # so that a question is answered while a file is written
            db.execute("PRAGMA synchronous = OFF")  # what a power cut spoils is made anew
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise sqlite3.DatabaseError("another version")
            if not version:
                _create(db, self._folder)
        except BaseException:
            db.close()
            raise
        return db


def _beginning(db: sqlite3.Connection, name: str, most: int) -> Beginning:
    file, total = db.execute("SELECT id, passages FROM files WHERE name = ?", (name,)).fetchone() or (0, 0)
    passages: dict[int, Passage] = {}
    rows = db.execute("SELECT place, mark, text FROM passages WHERE file = ? ORDER BY place", (file,))
    for place, mark, text in rows:
        passages[place] = Passage(text, mark)
        most -= len(text)
        if most < 0:
            break
    return Beginning(name, passages, total)


def _create(db: sqlite3.Connection, folder: Path) -> None:
    db.execute("BEGIN IMMEDIATE")
    with db:
        if db.execute("PRAGMA user_version").fetchone()[0]:
            return
        db.execute("CREATE TABLE about (folder TEXT NOT NULL) STRICT")
        db.execute("INSERT INTO about (folder) VALUES (?)", (clean_text(str(folder)),))
        db.execute(
            "CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,"
            " changed INTEGER NOT NULL, passages INTEGER NOT NULL, problem TEXT NOT NULL) STRICT"
        )
        db.execute(
            "CREATE TABLE passages (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, place INTEGER NOT NULL,"
            " mark TEXT NOT NULL, text TEXT NOT NULL) STRICT"
        )
        db.execute("CREATE INDEX passages_by_file ON passages(file)")
        # The words are folded and cut by ourselves, so that they are the same here and in `passages`.
        db.execute(
            "CREATE VIRTUAL TABLE search USING fts5(stems, detail = none, tokenize = 'unicode61 remove_diacritics 0')"
        )
        db.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(search, row)")
        db.execute(f"PRAGMA user_version = {_VERSION}")


def _words(name: str, text: str) -> list[str]:
    """What a passage is found by: also the name of its file, so that a question may name it."""
    return [*stems(name), *stems(text)]


def _has_no_text(name: str) -> bool:
    return _NO_TEXT.fullmatch(Path(name).suffix[1:]) is not None


def _forget(db: sqlite3.Connection, name: str) -> None:
    row = db.execute("SELECT id FROM files WHERE name = ?", (clean_text(name),)).fetchone()
    if row is not None:
        db.execute("DELETE FROM search WHERE rowid IN (SELECT id FROM passages WHERE file = ?)", row)
        db.execute("DELETE FROM passages WHERE file = ?", row)
        db.execute("DELETE FROM files WHERE id = ?", row)


def _stock(db: sqlite3.Connection, asked: Iterable[str]) -> Stock:
    count, usual = db.execute("SELECT count(*), avg(length(text)) FROM passages").fetchone()
    having: dict[str, int] = {}
    for stem in asked:
        row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (stem,)).fetchone()
        having[stem] = row[0] if row is not None else 0
    return Stock(count, usual or 1.0, having)


def _files_in(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name in the folder, size and time of change of its files and those in folders below it; hidden ones are left."""
    os.listdir(folder)  # `os.walk` would take one that cannot be listed for an empty one
    count = 0
    for place, folders, names in os.walk(folder):  # follows no link to a folder: it might lead back
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith((".", "~$"))):
            path = Path(place, name)
            with contextlib.suppress(OSError):  # gone meanwhile, or a link to nowhere
                facts = path.stat()
                if stat.S_ISREG(facts.st_mode):
                    yield path.relative_to(folder).as_posix(), (facts.st_size, facts.st_mtime_ns)
                    count += 1
            if count == MOST_FILES:
                return
