"""ODT, ODS, ODP."""

from pathlib import Path

import pytest

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import odf


def test_a_text(tmp_path: Path):
    body = """<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
<text:h text:outline-level="2">Größe</text:h><text:p>Ein<text:s text:c="3"/>Wort<text:line-break/>neu
<text:span>fett</text:span><text:note><text:note-citation>1</text:note-citation>
<text:note-body><text:p>Anmerkung</text:p></text:note-body></text:note></text:p>
<text:list><text:list-item><text:p>eins</text:p>
<text:list><text:list-item><text:p>tief</text:p></text:list-item></text:list></text:list-item></text:list>"""
    expected = "## Größe\n\nEin   Wort\nneu fett[^1]\n\n- eins\n  - tief\n\n[^1]: Anmerkung\n"
    assert read_document(odf(tmp_path / "a.odt", body)) == expected


def test_sheets_with_cells_that_repeat(tmp_path: Path):
    body = """<table:table table:name="Preise"><table:table-row>
<table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="16382"/></table:table-row>
<table:table-row table:number-rows-repeated="1048575"><table:table-cell/></table:table-row></table:table>"""
    found = read_document(odf(tmp_path / "a.ods", body, "spreadsheet"))
    assert found == "## Preise\n\n| x | x |\n| --- | --- |\n"


def test_slides(tmp_path: Path):
    body = """<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Start</text:p></draw:text-box>
</draw:frame><draw:frame><draw:text-box><text:p>Words</text:p></draw:text-box></draw:frame>
<presentation:notes><text:p>Say hello</text:p></presentation:notes></draw:page><draw:page/>"""
    found = read_document(odf(tmp_path / "a.odp", body, "presentation"))
    assert found == "[slide 1]\n\n## Start\n\nWords\n\nNotes: Say hello\n\n[slide 2]\n"


def test_a_million_cells_in_a_few_bytes_are_not_said(tmp_path: Path):
    row = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="99999">'
    )
    body = f"<table:table>{row}<text:p>x</text:p></table:table-cell></table:table-row></table:table>"
    assert len(read_document(odf(tmp_path / "a.ods", body, "spreadsheet"))) < 100_000


def test_a_password_is_asked_for(tmp_path: Path):
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    with pytest.raises(DocumentError, match="password"):
        read_document(odf(tmp_path / "a.odt", "", manifest=manifest))
