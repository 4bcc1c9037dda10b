"""PPTX."""

from pathlib import Path

import pytest

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import pptx, shape


def line(text: str, level: int = 0) -> str:
    return f'<p><pPr lvl="{level}"/><r><t>{text}</t></r></p>'


def test_slides_with_titles_lists_tables_and_notes(tmp_path: Path):
    table = f"<graphicFrame><tbl><tr><tc>{line('a')}</tc><tc>{line('b')}</tc></tr></tbl></graphicFrame>"
    first = (
        shape(line("Größe"), "ctrTitle") + shape(line("one") + line("two", 1), "content") + shape(line("7"), "sldNum")
    )
    second = f"<grpSp>{shape(line('free'))}</grpSp>" + table
    path = pptx(tmp_path / "a.pptx", [first, second], {1: shape(line("say it"), "body") + shape("", "sldImg")})
    assert read_document(path) == (
        "[slide 1]\n\n## Größe\n\n- one\n  - two\n\n[slide 2]\n\nfree\n\n| a | b |\n| --- | --- |\n\nNotes: say it\n"
    )


def test_slides_of_pictures_have_no_text(tmp_path: Path):
    with pytest.raises(DocumentError, match="empty"):
        read_document(pptx(tmp_path / "a.pptx", ["<pic/>", ""]))
