"""PDF."""

from pathlib import Path

import pytest

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.pdf import tidy
from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import LOCKED, pdf


def test_pages_are_marked_as_readers_count_them(tmp_path: Path):
    path = pdf(tmp_path / "a.pdf", ["Größe (eins)\nund Straße", "", "Seite drei"])
    assert read_document(path) == "[page 1]\nGröße (eins)\nund Straße\n\n[page 3]\nSeite drei\n"


def test_divided_words_are_whole_again(tmp_path: Path):
    path = pdf(tmp_path / "a.pdf", ["Die Straßen-\nbahn der Nord-\nSüd-Achse 2010-\n2020"])
    assert read_document(path) == "[page 1]\nDie Straßenbahn der Nord-Süd-Achse 2010-\n2020\n"


def test_odd_signs_are_tidied():
    assert tidy("e\ufb03cient \u2f00 \r\nx\x03\x0c \t\r\n\r\n\r\n\r\nend\ufffe") == "efficient 一\nx\n\nend-"


@pytest.mark.parametrize(
    ("pages", "trailer", "why"),
    [
        (["text"], LOCKED, "password"),
        (["", ""], "", "scanned"),
    ],
)
def test_why_there_is_no_text(tmp_path: Path, pages: list[str], trailer: str, why: str):
    with pytest.raises(DocumentError) as error:
        read_document(pdf(tmp_path / "a.pdf", pages, trailer))
    assert error.value.why == why


def test_one_damaged_page_does_not_cost_the_others(tmp_path: Path):
    path = pdf(tmp_path / "a.pdf", ["one", "two", "three"])
    path.write_bytes(path.read_bytes().replace(b"6 0 obj\n<< /Type /Page ", b"6 0 obj\n<< /Type /Nope"))
    found = read_document(path)
    assert "[page 1]\none" in found
    assert "[page 3]\nthree" in found


def test_a_cut_file_is_read_as_far_as_it_goes_or_refused(tmp_path: Path):
    path = pdf(tmp_path / "a.pdf", ["one", "two"])
    sound = path.read_bytes()
    path.write_bytes(sound[:-20])  # where its table stands is not said any more
    assert "one" in read_document(path)
    path.write_bytes(sound[: len(sound) // 2])
    with pytest.raises(DocumentError, match="damaged"):
        read_document(path)
