"""PDF without text: their pages as images."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pillow

from llama_gui.chats.attachments import ScanError, read_attachment, read_attachments
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.images import LONGEST_SIDE
from llama_gui.chats.documents.scans import MOST_PAGES, page_images
from llama_gui.errors import UserError
from tests.fakes.documents import pdf


def test_pages_are_drawn_as_large_as_models_read_them(tmp_path: Path):
    """Letter is 612 x 792 points; its black square is 200 wide, 72 from the left and from below."""
    images, count = page_images(pdf(tmp_path / "a.pdf", ["", ""]))
    assert (len(images), count) == (2, 2)
    page = Pillow.open(BytesIO(images[0]))
    assert page.size == (round(LONGEST_SIDE * 612 / 792), LONGEST_SIDE)
    scale = LONGEST_SIDE / 792
    inside, outside = (round(172 * scale), round((792 - 172) * scale)), (round(400 * scale), round(200 * scale))
    assert page.getpixel(inside) == (0, 0, 0)
    assert page.getpixel(outside) == (255, 255, 255)


def test_a_scan_becomes_images_by_number(tmp_path: Path):
    file = pdf(tmp_path / "old letter.v2.pdf", ["", ""])
    read = read_attachments(file)
    assert [one.name for one in read.files] == ["old letter.v2 1.png", "old letter.v2 2.png"]
    assert all(one.image and one.size == len(one.image) and not one.text for one in read.files)
    assert read.pages == 2
    for refuse in (lambda: read_attachments(file, takes_scans=False), lambda: read_attachment(file)):
        with pytest.raises(ScanError, match=r"pictures of pages \(a scan\)\. Run text recognition"):
            refuse()


def test_of_many_pages_the_first_come(tmp_path: Path):
    read = read_attachments(pdf(tmp_path / "a.pdf", [""] * (MOST_PAGES + 3)))
    assert (len(read.files), read.pages) == (MOST_PAGES, MOST_PAGES + 3)


def test_what_has_text_is_read_as_text(tmp_path: Path):
    read = read_attachments(pdf(tmp_path / "a.pdf", ["", "words"]))
    assert (read.files[0].text, read.pages) == ("[page 2]\nwords\n", 0)


def test_what_cannot_be_opened_says_so(tmp_path: Path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\n")
    with pytest.raises(DocumentError):
        page_images(tmp_path / "a.pdf")
    with pytest.raises(UserError, match=r"a\.pdf is damaged"):
        read_attachments(tmp_path / "a.pdf")
