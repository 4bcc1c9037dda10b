"""Documents of every kind, sound and damaged."""

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from llama_gui.chats.documents import reading
from llama_gui.chats.documents.faults import REASONS, DocumentError, sentence
from llama_gui.chats.documents.kinds import ENDINGS, may_be_document
from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import HEADING_STYLES, NUMBERING, docx, epub, odf, paragraph, pdf, pptx, shape, xlsx

ROWS = "".join(f'<row r="{at}"><c r="A{at}"><v>{at}</v></c><c r="B{at}"><v>7</v></c></row>' for at in range(1, 40))


def plain(content: str) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.write_text(content, encoding="utf-8")
        return path

    return make


MAKERS: dict[str, Callable[[Path], Path]] = {
    "pdf": lambda path: pdf(path, ["Page one\nof text"] * 5),
    "docx": lambda path: docx(path, paragraph("Text") * 30, styles=HEADING_STYLES, numbering=NUMBERING),
    "xlsx": lambda path: xlsx(path, {"A": ROWS}),
    "pptx": lambda path: pptx(path, [shape("<p><r><t>Text</t></r></p>")] * 4),
    "odt": lambda path: odf(path, "<text:p>Text</text:p>" * 30),
    "epub": lambda path: epub(path, ["<p>Text</p>"] * 4),
    "html": plain("<h1>Text</h1><table><tr><td>a<td>b</table><p>more" * 10),
    "rtf": plain(r"{\rtf1{\fonttbl x}Text \b more\par {\i x}\trowd a\cell b\cell\row}" * 10),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_its_kind_is_known_by_what_is_in_it(tmp_path: Path, kind: str):
    path = MAKERS[kind](tmp_path / f"right.{kind}")
    text = read_document(path)
    assert text.strip()
    assert may_be_document(path, path.read_bytes()[:1024])
    if kind != "html":
        wrong = path.rename(tmp_path / "wrong.txt")
        assert may_be_document(wrong, wrong.read_bytes()[:1024])
        assert read_document(wrong) == text


@pytest.mark.parametrize("kind", MAKERS)
def test_damage_of_any_sort_is_told_and_never_hangs(tmp_path: Path, kind: str):
    sound = MAKERS[kind](tmp_path / f"sound.{kind}").read_bytes()
    rng = random.Random(kind)
    path = tmp_path / f"damaged.{kind}"
    began = time.monotonic()
    for _ in range(150):
        content = bytearray(sound)
        for _ in range(rng.choice((0, 1, 3, 20))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        if rng.random() < 0.5:
            content = content[: rng.randrange(len(content))]
        path.write_bytes(content)
        try:
            assert isinstance(read_document(path), str)
        except DocumentError as error:
            assert error.why in REASONS  # noqa: PT017
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.xlsx", "a.epub"])
def test_what_only_has_the_name_is_damaged(tmp_path: Path, name: str):
    path = tmp_path / name
    for content in (b"", b"just text"):
        path.write_bytes(content)
        assert may_be_document(path, content)
        with pytest.raises(DocumentError, match="damaged"):
            read_document(path)


def test_text_about_documents_is_text(tmp_path: Path):
    assert not may_be_document(tmp_path / "notes.md", b"A PDF begins with %PDF-1.7, a zip with PK\x03\x04.")
    assert not may_be_document(tmp_path / "a.rtf", b"plain words")


def test_office_from_before_and_with_a_password(tmp_path: Path):
    path = tmp_path / "a.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(DocumentError, match="old"):
        read_document(path)
    path.write_bytes(path.read_bytes() + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(DocumentError, match="password"):
        read_document(path)


def test_another_zip_is_no_document(tmp_path: Path):
    from tests.fakes.documents import pack

    with pytest.raises(DocumentError, match="unknown"):
        read_document(pack(tmp_path / "a.zip", {"a.txt": "x"}))


def test_a_page_of_scripts_is_read_as_what_it_is(tmp_path: Path):
    path = plain("<script>let größe = 1</script>")(tmp_path / "a.html")
    assert read_document(path) == "<script>let größe = 1</script>"


def test_what_nobody_has_thought_of_is_damage(tmp_path: Path, monkeypatch):
    def fail(content: bytes) -> str:
        raise RecursionError

    monkeypatch.setattr(reading, "read_web_page", fail)
    with pytest.raises(DocumentError, match="damaged"):
        read_document(plain("x")(tmp_path / "a.html"))


def test_text_without_end_is_refused(tmp_path: Path):
    with pytest.raises(DocumentError, match="too_long"):
        read_document(plain("<p>" + "x" * 5_100_000)(tmp_path / "a.html"))


def test_every_reason_has_a_sentence_that_names_the_file():
    for why in REASONS:
        assert "a.pdf" in sentence(why, "a.pdf", 5_000_000)
    assert "5 million" in sentence("too_long", "a.pdf", 5_000_000)
    assert ENDINGS[0] == "pdf"
