"""Files that go along with a message."""

import os
import sys
from pathlib import Path

import pytest

from llama_gui.chats.attachments import (
    LONG_PASTE,
    LONG_PASTE_LINES,
    Attachment,
    Draft,
    FileLine,
    fitted,
    joined,
    pasted_attachment,
    pasted_image,
    read_attachment,
)
from llama_gui.chats.message_files import compose, listed, split
from llama_gui.errors import UserError
from tests.fakes.documents import pdf
from tests.fakes.tiny_pixtral import picture

TEXT = "Grüße,\nKöln – 5 €\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_a_text_file_is_read_in_its_encoding(tmp_path: Path, encoding: str):
    path = tmp_path / "notes.txt"
    path.write_bytes(TEXT.encode(encoding))
    assert read_attachment(path) == Attachment("notes.txt", TEXT, path.stat().st_size)


def test_big_endian_and_other_line_ends_are_read(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xfe\xff" + "a\r\nb\rc".encode("utf-16-be"))
    assert read_attachment(path).text == "a\nb\nc"


def test_an_empty_file_is_an_empty_text(tmp_path: Path):
    path = tmp_path / "empty"
    path.touch()
    assert read_attachment(path) == Attachment("empty", "", 0)


@pytest.mark.parametrize(
    "content",
    [
        b"\x7fELF\x02\x01\x01\0",
        bytes(range(1, 256)) * 10,
        TEXT.encode("utf-16-le"),
        b"\xff\xfe" + b"a\0\0\0",
        b"\x01\x02\x03" * 100,
    ],
)
def test_a_binary_file_is_refused_in_plain_words(tmp_path: Path, content: bytes):
    path = tmp_path / "thing.bin"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"^thing\.bin is neither text nor a document that can be read\. Copy its text"):
        read_attachment(path)


@pytest.mark.parametrize(
    "content", [b"\0\0\0\x18ftypheic\0\0\0\0", b"II*\0" + bytes(20), b"\0\0\0\x18ftypavif\0\0\0\0"]
)
def test_a_picture_of_another_kind_is_refused_as_one(tmp_path: Path, content: bytes):
    path = tmp_path / "thing.bin"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"^thing\.bin is a picture of a kind that is not read here\. Save it as PNG"):
        read_attachment(path)


def test_an_image_comes_as_its_bytes(tmp_path: Path):
    path = tmp_path / "thing.bin"
    path.write_bytes(picture(60, 40).data)
    file = read_attachment(path)
    assert file == Attachment("thing.bin", "", len(file.image), image=path.read_bytes())
    with pytest.raises(UserError, match=r"thing\.bin is a picture\. Of a folder only texts are read"):
        read_attachment(path, takes_images=False)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UserError, match=r"thing\.bin is damaged"):
        read_attachment(path)


def test_pasted_images_have_names_of_their_own():
    png, jpg = picture(9, 9).data, picture(9, 9, kind="JPEG").data
    first = pasted_image(png)
    second = pasted_image(jpg, [first.name, "Pasted image 2.jpg"])
    assert (first.name, first.image, first.size) == ("Pasted image 1.png", png, len(png))
    assert pasted_image(png, [first.name]).name == "Pasted image 2.png"
    assert second.name == "Pasted image 1.jpg"


def test_documents_are_read_as_what_they_are_in(tmp_path: Path):
    path = pdf(tmp_path / "a.pdf", ["Größe"])
    assert read_attachment(path) == Attachment("a.pdf", "[page 1]\nGröße\n", path.stat().st_size)
    content, _where = compose("?", [read_attachment(path)])
    assert content == "File “a.pdf”:\n```\n[page 1]\nGröße\n```\n\n?"


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\0\0\0", b"%PDF-1.7\nall of it looks like text"])
def test_a_damaged_document_is_refused_in_plain_words(tmp_path: Path, content: bytes):
    path = tmp_path / "thing.bin"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"^thing\.bin is damaged and cannot be read\. Fetch it again"):
        read_attachment(path)


def test_a_document_may_be_larger_than_a_text_but_not_endless(tmp_path: Path):
    path = pdf(tmp_path / "a.pdf", ["x"])
    with path.open("r+b") as file:
        file.truncate(300_000_000)  # takes no room
    with pytest.raises(UserError, match=r"larger than 200 MB"):
        read_attachment(path)


def test_a_log_with_colours_is_text(tmp_path: Path):
    path = tmp_path / "x.log"
    path.write_bytes(b"\x1b[31mred\x1b[0m\n" * 100)
    assert read_attachment(path).text.startswith("\x1b[31mred")


def test_a_large_file_is_refused_without_reading_it_all(tmp_path: Path):
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(10_000_000_000)  # takes no room
    with pytest.raises(UserError, match=r"larger than 5 MB"):
        read_attachment(path)


def test_what_cannot_be_read_is_told(tmp_path: Path):
    with pytest.raises(UserError, match=r"cannot be read: (No such file|File not found)"):
        read_attachment(tmp_path / "nowhere.txt")
    with pytest.raises(UserError, match="is not a file"):
        read_attachment(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files")
@pytest.mark.timeout(10)
def test_a_pipe_or_device_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UserError, match="is not a file"):
            read_attachment(path)


def test_a_long_paste_becomes_an_attachment():
    assert pasted_attachment("x" * LONG_PASTE) is None
    first = pasted_attachment("ä" * (LONG_PASTE + 1))
    assert first == Attachment("Pasted text 1.txt", "ä" * (LONG_PASTE + 1), 2 * (LONG_PASTE + 1))
    second = pasted_attachment("x" * 9999, [first.name])
    assert second is not None
    assert second.name == "Pasted text 2.txt"
    assert pasted_attachment("x\n" * (LONG_PASTE_LINES - 1)) is None
    assert pasted_attachment("x\n" * LONG_PASTE_LINES) is not None


def test_what_is_longer_than_the_context_goes_along_in_passages_and_is_kept_whole():
    book = (
        "".join(f"[page {n}]\n{'Words about nothing. ' * 30}\n\n" for n in range(1, 51)) + "[page 51]\nBlue llamas.\n"
    )
    long, short = Attachment("book.pdf", book, 9), Attachment("a.txt", "short", 5)
    draft = Draft("Where is the blue llama?", (long, short))

    def tokens(tried: Draft) -> int:
        return len(compose(tried.text, tried.files)[0]) // 2

    cut = fitted(draft, tokens, 1000)
    assert cut is not None
    assert 700 < tokens(cut) <= 1000
    assert cut.files[1] is short
    assert cut.whole() == draft
    content, where = compose(cut.text, cut.files)
    excerpt = cut.files[0].excerpt
    assert excerpt is not None
    assert "[page 51]\nBlue llamas." in content
    assert content.startswith(f"File “book.pdf”, {excerpt.chosen} of its {excerpt.total} passages:\n```\n[page 1]\n")
    assert content.endswith("\n\nWhere is the blue llama?")
    assert split(content, where) == (draft.text, draft.files)
    assert listed(where) == (FileLine("book.pdf", 9, excerpt.chosen, excerpt.total), FileLine("a.txt", 5))
    assert fitted(Draft("x" * 9999, (long,)), tokens, 1000) is None


def test_drafts_are_joined():
    file = Attachment("a", "x", 1)
    assert Draft(" \n").is_empty
    assert not Draft("", (file,)).is_empty
    assert joined([Draft("one", (file,)), Draft(" "), Draft("two")]) == Draft("one\n\ntwo", (file,))
    assert joined([]) == Draft()
