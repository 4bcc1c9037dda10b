"""EPUB."""

from pathlib import Path

import pytest

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import epub

CHAPTERS = [
    '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "http://127.0.0.1:9/x.dtd"><html><head><title>t</title></head>'
    f"<body><h1>{title}</h1><p>Gr&ouml;&szlig;e {title}.</p></body></html>"
    for title in ("One", "Two")
]


def test_chapters_come_in_the_order_of_the_spine(tmp_path: Path):
    found = read_document(epub(tmp_path / "a.epub", CHAPTERS, "The  Book"))
    assert found == "# The Book\n\n# One\n\nGröße One.\n\n# Two\n\nGröße Two.\n"


def test_copy_protection_is_told_from_hidden_fonts(tmp_path: Path):
    def locked(name: str) -> dict[str, str]:
        return {"META-INF/encryption.xml": f'<e><EncryptedData><CipherReference URI="{name}"/></EncryptedData></e>'}

    assert "Größe" in read_document(epub(tmp_path / "a.epub", CHAPTERS, **locked("OEBPS/a.otf")))
    with pytest.raises(DocumentError, match="protected"):
        read_document(epub(tmp_path / "b.epub", CHAPTERS, **locked("OEBPS/text/c%201.xhtml")))
