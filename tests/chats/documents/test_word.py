"""DOCX."""

from pathlib import Path

from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import HEADING_STYLES, NUMBERING, W, docx, paragraph


def read(tmp_path: Path, body: str, **parts: str) -> str:
    return read_document(docx(tmp_path / "a.docx", body, **parts))


def test_headings_are_known_by_their_styles_in_every_language(tmp_path: Path):
    body = (
        paragraph("Größe", '<w:pStyle w:val="berschrift1"/>')
        + paragraph("Ähnlich", '<w:pStyle w:val="Meine"/>')
        + paragraph("Tiefer", '<w:pStyle w:val="Gliederung"/>')
        + paragraph("Straße & Weg".replace("&", "&amp;"))
    )
    assert read(tmp_path, body, styles=HEADING_STYLES) == "# Größe\n\n# Ähnlich\n\n## Tiefer\n\nStraße & Weg\n"


def test_lists_are_counted_by_level(tmp_path: Path):
    def item(text: str, level: int) -> str:
        return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="3"/></w:numPr>')

    body = paragraph("List:") + item("one", 0) + item("deep", 1) + item("two", 0) + paragraph("End")
    assert read(tmp_path, body, numbering=NUMBERING) == "List:\n\n1. one\n  - deep\n2. two\n\nEnd\n"


def test_tables_are_tables(tmp_path: Path):
    def cell(text: str, looks: str = "") -> str:
        return f"<w:tc><w:tcPr>{looks}</w:tcPr>{text}</w:tc>"

    body = (
        "<w:tbl><w:tr>" + cell(paragraph("Name")) + cell(paragraph("a|b") + paragraph("c")) + cell("<w:p/>") + "</w:tr>"
        "<w:tr>" + cell(paragraph("wide"), '<w:gridSpan w:val="2"/>') + cell(paragraph("last")) + "</w:tr></w:tbl>"
    )
    assert read(tmp_path, body) == "| Name | a\\|b<br>c |  |\n| --- | --- | --- |\n| wide |  | last |\n"


def test_what_was_deleted_and_what_is_said_twice_is_left_out(tmp_path: Path):
    body = f"""<w:p {W}>
<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>
<w:r><w:instrText>PAGE</w:instrText><w:tab/><w:t>after</w:t><w:br/><w:t>line</w:t></w:r>
<w:r><mc:AlternateContent xmlns:mc="m"><mc:Choice><w:txbxContent>{paragraph("box")}</w:txbxContent></mc:Choice>
<mc:Fallback><w:txbxContent>{paragraph("box")}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>
<w:sdt><w:sdtContent>{paragraph("in a control")}</w:sdtContent></w:sdt>"""
    assert read(tmp_path, body) == "new\tafter\nline\nbox\n\nin a control\n"


def test_notes_stand_at_the_end(tmp_path: Path):
    notes = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("the note")}</w:footnote></w:footnotes>'
    body = '<w:p><w:r><w:t>Word</w:t><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("more")
    assert read(tmp_path, body, footnotes=notes) == "Word[^1]\n\nmore\n\n[^1]: the note\n"
