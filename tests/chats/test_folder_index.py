"""A folder of documents as an index."""

import os
import sqlite3
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.chats import folder_index
from llama_gui.chats.documents.child import ReadingCancelledError
from llama_gui.chats.folder_index import FolderContents, FolderIndex
from llama_gui.errors import StoreError, UserError
from tests.fakes.documents import pdf

FILLER = "Words about nothing at all, again and again. " * 17


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Über alles"
    (folder / "animals").mkdir(parents=True)
    (folder / "animals" / "llamas.md").write_text(f"{FILLER}\n\nThe blue llama lives in Köln.\n\n{FILLER}")
    (folder / "plants.txt").write_text("Roses need water.\n")
    return folder


@pytest.fixture
def index(tmp_path: Path, folder: Path) -> FolderIndex:
    index = FolderIndex(tmp_path / "index" / "1.db", folder)
    assert index.refresh(threading.Event())
    return index


def refreshed(index: FolderIndex) -> list[tuple[int, int]]:
    """What is told while it is brought up to date."""
    told: list[tuple[int, int]] = []
    assert index.refresh(threading.Event(), lambda done, total: told.append((done, total)))
    return told


def names(index: FolderIndex, question: str) -> list[str]:
    return [found.name for found in index.find(question)]


def contents_of(index: FolderIndex) -> FolderContents:
    """But for how many passages there are."""
    return replace(index.contents(), passages=0)


def test_passages_are_found_by_the_words_of_the_question(index: FolderIndex):
    assert contents_of(index) == FolderContents(2)
    (found, *_) = index.find("Where do blue llamas live?")
    assert (found.name, found.total) == ("animals/llamas.md", 2)
    assert "lives in Köln" in found.passage.text
    assert names(index, "WATER for a rose") == ["plants.txt"]
    assert names(index, "Thank you!") == []
    assert names(index, "") == []


def test_the_questions_before_help_to_choose(tmp_path: Path, folder: Path):
    (folder / "a.txt").write_text("The llama: its price is 90.")
    (folder / "b.txt").write_text("The quokka: its price is 5.")
    index = FolderIndex(tmp_path / "1.db", folder)
    index.refresh(threading.Event())
    assert index.find("And its price?", ["Tell me of the llama"])[0].name == "a.txt"
    assert index.find("And its price?", ["Tell me of the quokka"])[0].name == "b.txt"


def test_only_what_has_changed_is_read_again(index: FolderIndex, folder: Path):
    assert refreshed(index) == [(0, 0)]
    (folder / "plants.txt").write_text("Tulips need sun.\n")
    (folder / "new.txt").write_text("Cats sleep.\n")
    (folder / "animals" / "llamas.md").unlink()
    assert refreshed(index) == [(0, 2), (1, 2), (2, 2)]
    assert contents_of(index) == FolderContents(2)
    assert (names(index, "tulip"), names(index, "roses"), names(index, "llama")) == (["plants.txt"], [], [])
    os.utime(folder / "new.txt", ns=(0, 0))
    assert refreshed(index) == [(0, 1), (1, 1)]
    assert names(index, "cats") == ["new.txt"]


def test_what_cannot_be_read_is_listed_with_its_reason(index: FolderIndex, folder: Path):
    (folder / "scan.pdf").write_bytes(pdf(folder / "x.pdf", [""]).read_bytes())
    (folder / "x.pdf").unlink()
    (folder / "photo.JPG").write_bytes(b"\xff\xd8\xff" * 1000)
    (folder / ".hidden.txt").write_text("secret")
    (folder / "~$letter.docx").write_bytes(b"x")
    (folder / "nowhere.txt").symlink_to(folder / "gone")
    refreshed(index)
    found = index.contents()
    assert (found.files, [problem.name for problem in found.problems]) == (2, ["scan.pdf"])
    assert found.others == 1
    assert found.problems[0].why.startswith("scan.pdf has no text in it")
    assert refreshed(index) == [(0, 0)]
    assert not found.is_cut


def test_a_question_may_name_a_file(index: FolderIndex):
    (found, *_) = index.find("What do you know from plants.txt?")
    assert (found.name, found.passage.text) == ("plants.txt", "Roses need water.\n")


def test_pages_are_told(index: FolderIndex, folder: Path):
    pdf(folder / "book.pdf", ["First", "The quokka eats grass"])
    refreshed(index)
    (found,) = index.find("What does a quokka eat?")
    assert (found.name, found.passage.mark, found.place, found.total) == ("book.pdf", "[page 2]", 1, 2)


def test_a_folder_that_is_gone_keeps_what_was_read(index: FolderIndex, folder: Path):
    folder.rename(folder.parent / "elsewhere")
    assert not index.refresh(threading.Event())
    assert names(index, "roses") == ["plants.txt"]


def test_a_folder_that_cannot_be_listed_keeps_what_was_read(index: FolderIndex, monkeypatch):
    def refuse(_folder: Path) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(StoreError, match="cannot be read: Permission denied"):
        index.refresh(threading.Event())
    assert names(index, "roses") == ["plants.txt"]


def test_a_folder_that_goes_while_it_is_read_blames_no_file(index: FolderIndex, folder: Path, monkeypatch):
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"number{number}\n")
    read = folder_index.read_attachment

    def unplug(path: Path, cancelled: threading.Event, **options: bool):
        if path.name == "1.txt":
            folder.rename(folder.with_name("elsewhere"))
        return read(path, cancelled, **options)

    monkeypatch.setattr(folder_index, "read_attachment", unplug)
    assert not index.refresh(threading.Event())
    assert contents_of(index) == FolderContents(3)
    monkeypatch.undo()
    folder.with_name("elsewhere").rename(folder)
    (folder / "2.txt").unlink()
    assert refreshed(index) == [(0, 1), (1, 1)]
    assert contents_of(index) == FolderContents(4)


def test_what_could_not_be_read_is_tried_again_when_somebody_says_so(index: FolderIndex, folder: Path, monkeypatch):
    def refuse(path: Path, _cancelled: threading.Event, **_options: object):
        raise UserError(f"{path.name} cannot be read: Permission denied.")

    (folder / "new.txt").write_text("Cats sleep.\n")
    monkeypatch.setattr(folder_index, "read_attachment", refuse)
    refreshed(index)
    assert [problem.name for problem in index.contents().problems] == ["new.txt"]
    monkeypatch.undo()
    assert refreshed(index) == [(0, 0)]
    assert index.refresh(threading.Event(), retry=True)
    assert contents_of(index) == FolderContents(3)


@pytest.mark.skipif(sys.platform != "linux", reason="no such names")
def test_a_name_that_is_no_text_is_read_once(index: FolderIndex, folder: Path):
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("Espresso\n")
    assert refreshed(index) == [(0, 1), (1, 1)]
    assert names(index, "espresso") == ["caf\ufffd.txt"]
    assert refreshed(index) == [(0, 0)]


def test_reading_can_be_cancelled_and_goes_on_later(index: FolderIndex, folder: Path, monkeypatch):
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"number{number}\n")
    cancelled = threading.Event()
    read = folder_index.read_attachment

    def read_one(path: Path, event: threading.Event, **options: bool):
        if path.name == "1.txt":
            event.set()
            raise ReadingCancelledError
        return read(path, event, **options)

    monkeypatch.setattr(folder_index, "read_attachment", read_one)
    assert index.refresh(cancelled)
    assert (names(index, "number0"), names(index, "number1")) == (["0.txt"], [])
    monkeypatch.setattr(folder_index, "read_attachment", read)
    assert refreshed(index) == [(0, 2), (1, 2), (2, 2)]
    assert names(index, "number1") == ["1.txt"]


def test_there_is_an_end_to_files(index: FolderIndex, folder: Path, monkeypatch):
    monkeypatch.setattr(folder_index, "MOST_FILES", 2)
    (folder / "zebra.txt").write_text("zebra")
    assert refreshed(index) == [(0, 1), (1, 1)]
    assert (names(index, "zebra"), names(index, "llama")) == (["zebra.txt"], [])
    assert index.contents().is_cut


@pytest.mark.parametrize("content", [b"this is no database" * 100, None])
def test_a_damaged_index_is_made_anew(tmp_path: Path, folder: Path, content: bytes | None):
    file = tmp_path / "1.db"
    if content is None:
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 99")
    else:
        file.write_bytes(content)
    index = FolderIndex(file, folder)
    assert contents_of(index) == FolderContents()
    index.refresh(threading.Event())
    assert names(index, "roses") == ["plants.txt"]


def test_an_index_that_cannot_be_written_is_told(tmp_path: Path, folder: Path):
    (tmp_path / "1.db").mkdir()
    with pytest.raises(StoreError, match=r"What was read of the folder .* cannot be used"):
        FolderIndex(tmp_path / "1.db", folder).refresh(threading.Event())


def test_any_question_can_be_asked(index: FolderIndex):
    for question in ('"', "* OR NOT (", "羊驼 😀 \0", "a" * 10_000, "llama " * 5000, "NEAR AND OR"):
        index.find(question)


def test_of_a_folder_about_one_thing_its_own_word_finds_passages(tmp_path: Path):
    folder = tmp_path / "pumps"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.txt").write_text(f"A heat pump of kind {number}. {FILLER}")
    (folder / "what.txt").write_text("A heat pump is a machine: the heat pump moves heat.")
    index = FolderIndex(tmp_path / "1.db", folder)
    index.refresh(threading.Event())
    assert names(index, "What is a heat pump?")[0] == "what.txt"
    assert names(index, "What is a heat pump machine?") == ["what.txt"]  # a word that tells more counts alone
    assert names(index, "Thank you!") == names(index, "Who is Zaphod?") == []


def test_how_its_files_begin(index: FolderIndex, folder: Path):
    (folder / "empty.txt").write_text("")
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7 nothing else")
    refreshed(index)
    assert index.names() == ["animals/llamas.md", "empty.txt", "plants.txt"]
    (llamas, plants) = index.beginnings([*index.names(), "never.txt"], 100)
    assert (llamas.name, len(llamas.passages), llamas.total) == ("animals/llamas.md", 1, 2)
    assert llamas.passages[0].text.startswith("Words about nothing")
    assert plants.excerpt(100).text == "Roses need water.\n"
    assert len(index.beginnings(["animals/llamas.md"], 10_000)[0].passages) == 2
