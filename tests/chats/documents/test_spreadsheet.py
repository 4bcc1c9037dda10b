"""XLSX."""

from pathlib import Path

import pytest

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.reading import read_document
from tests.fakes.documents import xlsx

SHARED = "<si><t>Größe</t></si><si><r><t>in </t></r><r><t>pieces</t></r><rPh><t>spoken</t></rPh></si>"
STYLES = """<numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy&quot;x&quot;"/>
<numFmt numFmtId="165" formatCode="0.00 [$€-407]"/></numFmts>
<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs>"""


def test_sheet_by_sheet_as_tables_of_what_the_cells_show(tmp_path: Path):
    rows = """<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"/>
<row r="3"><c r="A3"><v>0.30000000000000004</v></c><c r="C3" s="1"><v>45000</v></c></row>
<row r="4"><c r="A4" s="2"><v>0.125</v></c><c r="C4" s="4"><v>0.75</v></c></row>
<row r="5"><c r="A5" t="b"><v>1</v></c><c r="C5" t="str"><f>A1</f><v>done</v></c></row>
<row r="6"><c r="A6" t="inlineStr"><is><t>here</t></is></c><c r="C6" s="3"><v>12.5</v></c></row>"""
    path = xlsx(tmp_path / "a.xlsx", {"Übersicht": rows, "Empty": ""}, SHARED, STYLES)
    assert read_document(path) == (
        "## Übersicht\n\n| Größe | in pieces |\n| --- | --- |\n| 0.3 | 2023-03-15 |\n| 12.5 % | 18:00:00 |\n"
        "| TRUE | done |\n| here | 12.5 |\n"
    )


def test_days_are_counted_from_1904_where_a_mac_did_so(tmp_path: Path):
    rows = '<row><c s="1"><v>0</v></c><c s="1"><v>1.5</v></c></row>'
    path = xlsx(tmp_path / "a.xlsx", {"A": rows}, "", STYLES, book='<workbookPr date1904="1"/>')
    assert "| 00:00:00 | 1904-01-02 12:00:00 |" in read_document(path)


@pytest.mark.parametrize("value", ["1e999", "nan", "-99999999", "9e15", "x", ""])
def test_a_number_that_is_none_is_shown_as_it_stands(tmp_path: Path, value: str):
    rows = (
        f'<row><c r="A1"><v>{value}</v></c><c s="1"><v>{value}</v></c><c t="s"><v>{value}</v></c><c><v>7</v></c></row>'
    )
    assert "7" in read_document(xlsx(tmp_path / "a.xlsx", {"A": rows}, "", STYLES))


def test_cells_far_apart_make_no_endless_table(tmp_path: Path):
    def column(number: int) -> str:
        return chr(65 + number // 26) + chr(65 + number % 26)

    rows = "".join(f'<row><c r="{column(at % 600)}1"><v>{at}</v></c></row>' for at in range(30_000))
    with pytest.raises(DocumentError, match="too_long"):
        read_document(xlsx(tmp_path / "a.xlsx", {"A": rows}))
