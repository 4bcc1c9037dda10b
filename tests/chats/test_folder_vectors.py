"""The vectors of a folder's passages, made by hand."""

import contextlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from llama_gui.chats import folder_vectors
from llama_gui.chats.folder_index import FolderIndex
from llama_gui.chats.folder_vectors import DIMENSIONS, FolderVectors, Unread

EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("car", "plane", "ship"):
        (folder / f"{name}.txt").write_text(f"A {name} goes.")
    return folder


@pytest.fixture
def index(tmp_path: Path, folder: Path) -> FolderIndex:
    index = FolderIndex(tmp_path / "index.db", folder)
    refresh(index)
    return index


def refresh(index: FolderIndex) -> None:
    assert index.refresh(threading.Event())


def put(vectors: FolderVectors, known: Mapping[str, Sequence[float]]) -> None:
    """`known`: by the names of files."""
    vectors.put([(unread, known[unread.name]) for unread in vectors.missing(100) if unread.name in known])


def rows(file: Path, asked: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(file)) as db:
        return db.execute(asked).fetchall()


def names(vectors: FolderVectors) -> list[str]:
    return [unread.name for unread in vectors.missing(100)]


def test_passages_without_a_vector_are_given_out_with_the_names_of_their_files(index: FolderIndex):
    vectors = FolderVectors(index, "a model")
    assert vectors.progress() == (0, 3)
    first, second = vectors.missing(2)
    assert (first.said, second.said) == ("car.txt\nA car goes.", "plane.txt\nA plane goes.")
    put(vectors, {"car.txt": EAST, "ship.txt": NORTH})
    assert names(vectors) == ["plane.txt"]
    assert vectors.progress() == (2, 3)


def test_the_nearest_come_first_with_their_cosines(index: FolderIndex, monkeypatch: pytest.MonkeyPatch):
    vectors = FolderVectors(index, "a model")
    put(vectors, {"car.txt": EAST, "plane.txt": BETWEEN, "ship.txt": NORTH})
    for block in (100, 2, 1):  # however many are compared at once
        monkeypatch.setattr(folder_vectors, "_BLOCK", block)
        near = vectors.nearest(EAST, 2)
        assert [(found.name, found.place, found.total) for found in near] == [("car.txt", 0, 1), ("plane.txt", 0, 1)]
        assert [found.score for found in near] == pytest.approx([1.0, 0.6], abs=1e-3)
    assert near[0].passage.text == "A car goes."
    assert [found.name for found in vectors.nearest(NORTH, 1)] == ["ship.txt"]
    assert vectors.nearest((1.0, 0.0, 0.0), 2) == []  # of another length: nothing can be compared


def test_only_the_first_numbers_of_long_vectors_are_kept(index: FolderIndex, tmp_path: Path):
    vectors = FolderVectors(index, "a model")
    long = (1.0, *(0.0,) * (DIMENSIONS + 50))
    put(vectors, {"car.txt": long})
    assert [found.score for found in vectors.nearest(long, 5)] == [1.0]
    assert rows(tmp_path / "index.db", "SELECT numbers FROM vectors") == [(b"\x00\x3c" + bytes(2 * DIMENSIONS - 2),)]


def test_a_vector_goes_with_its_passage(index: FolderIndex, folder: Path):
    vectors = FolderVectors(index, "a model")
    put(vectors, dict.fromkeys(("car.txt", "plane.txt", "ship.txt"), EAST))
    (folder / "plane.txt").unlink()
    (folder / "ship.txt").write_text("A ship goes under.")
    refresh(index)
    assert names(vectors) == ["ship.txt"]
    assert [found.name for found in vectors.nearest(EAST, 5)] == ["car.txt"]


def test_a_vector_of_a_passage_that_has_changed_meanwhile_is_dropped(index: FolderIndex, folder: Path):
    vectors = FolderVectors(index, "a model")
    (*_, ship) = vectors.missing(100)
    (folder / "ship.txt").write_text("Nothing of this kind.")
    refresh(index)
    (*_, new) = vectors.missing(100)
    assert new.id == ship.id  # numbers are given again
    vectors.put([(ship, EAST), (Unread(99, "gone.txt", "gone"), EAST)])
    assert vectors.progress() == (0, 3)


def test_vectors_of_another_model_are_worth_nothing(index: FolderIndex):
    former, now = FolderVectors(index, "a model"), FolderVectors(index, "another")
    put(former, {"car.txt": EAST})
    assert now.nearest(EAST, 5) == []
    assert now.progress() == (0, 3)
    assert former.progress() == (1, 3)  # nothing is deleted by who only looks
    assert len(now.missing(100)) == 3
    assert former.progress() == (0, 3)
    assert former.nearest(EAST, 5) == []


def test_files_are_read_while_vectors_are_saved(index: FolderIndex, folder: Path):
    vectors, ended = FolderVectors(index, "a model"), threading.Event()

    def save() -> None:
        while not ended.is_set():
            vectors.put([(unread, EAST) for unread in vectors.missing(3)])

    saver = threading.Thread(target=save)
    saver.start()
    try:
        for turn in range(30):
            (folder / "ship.txt").write_text(f"A ship goes {turn}. " * (turn + 1))
            refresh(index)
    finally:
        ended.set()
        saver.join()
    assert index.contents().files == 3


def test_an_index_of_the_version_before_gets_its_tables(index: FolderIndex, folder: Path, tmp_path: Path):
    names_of = "SELECT name FROM sqlite_schema WHERE name LIKE 'vectors%'"
    assert rows(tmp_path / "index.db", names_of) == []
    assert FolderVectors(index, "a model").nearest(EAST, 3) == []
    assert len(rows(tmp_path / "index.db", names_of)) == 3
