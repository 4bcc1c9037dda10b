"""Small documents of every kind, made by hand."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
R = f'xmlns:r="{_RELATION}"'
_ODF = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)
HEADING_STYLES = f"""<w:styles {W}>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Meine"><w:name w:val="Meine"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:styleId="Gliederung"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
</w:styles>"""
NUMBERING = f"""<w:numbering {W}>
<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>"""


def pack(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """A zip of parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def relations(**targets: str) -> str:
    """Ids with the kind of a part and where it is: ``rId1="styles styles.xml"``."""
    lines = (
        f'<Relationship Id="{key}" Type="{_RELATION}/{value.split()[0]}" Target="{value.split()[1]}"/>'
        for key, value in targets.items()
    )
    return f"<Relationships>{''.join(lines)}</Relationships>"


def docx(path: Path, body: str, **parts: str) -> Path:
    """A Word document; `parts` are others by their kind, as ``styles``."""
    main = relations(**{kind: f"{kind} {kind}.xml" for kind in parts})
    return pack(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(rId1="officeDocument word/document.xml"),
            "word/_rels/document.xml.rels": main,
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            **{f"word/{kind}.xml": content for kind, content in parts.items()},
        },
    )


def paragraph(text: str, looks: str = "") -> str:
    """One of Word's."""
    return f'<w:p><w:pPr>{looks}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def xlsx(path: Path, sheets: Mapping[str, str], shared: str = "", styles: str = "", book: str = "") -> Path:
    """A workbook of sheets, each by its rows."""
    targets = {f"rId{at}": f"worksheet worksheets/sheet{at}.xml" for at in range(len(sheets))}
    names = "".join(f'<sheet name="{name}" sheetId="{at + 1}" r:id="rId{at}"/>' for at, name in enumerate(sheets))
    return pack(
        path,
        {
            "_rels/.rels": relations(rId1="officeDocument /xl/workbook.xml"),
            "xl/_rels/workbook.xml.rels": relations(
                **targets, texts="sharedStrings sharedStrings.xml", looks="styles styles.xml"
            ),
            "xl/workbook.xml": f"<workbook {R}>{book}<sheets>{names}</sheets></workbook>",
            "xl/sharedStrings.xml": f"<sst>{shared}</sst>",
            "xl/styles.xml": f"<styleSheet>{styles}</styleSheet>",
            **{
                f"xl/worksheets/sheet{at}.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
                for at, rows in enumerate(sheets.values())
            },
        },
    )


def pptx(path: Path, slides: Sequence[str], notes: Mapping[int, str] | None = None) -> Path:
    """A presentation of slides, each by its shapes; the notes by the number of their slide, from 0."""
    notes = notes or {}
    parts: dict[str, str] = {
        "_rels/.rels": relations(rId1="officeDocument ppt/presentation.xml"),
        "ppt/_rels/presentation.xml.rels": relations(
            **{f"rId{at}": f"slide slides/slide{at}.xml" for at in range(len(slides))}
        ),
        "ppt/presentation.xml": f"<presentation {R}><sldIdLst>"
        + "".join(f'<sldId id="{256 + at}" r:id="rId{at}"/>' for at in range(len(slides)))
        + "</sldIdLst></presentation>",
    }
    for at, shapes in enumerate(slides):
        parts[f"ppt/slides/slide{at}.xml"] = f"<sld><cSld><spTree>{shapes}</spTree></cSld></sld>"
    for at, shapes in notes.items():
        parts[f"ppt/slides/_rels/slide{at}.xml.rels"] = relations(rId1=f"notesSlide ../notesSlides/n{at}.xml")
        parts[f"ppt/notesSlides/n{at}.xml"] = f"<notes><spTree>{shapes}</spTree></notes>"
    return pack(path, parts)


def shape(paragraphs: str, place: str = "") -> str:
    """A shape on a slide; `place` is its kind of placeholder."""
    mark = f'<ph type="{place}"/>' if place not in ("", "content") else "<ph/>" if place else ""
    return f"<sp><nvSpPr><nvPr>{mark}</nvPr></nvSpPr><txBody>{paragraphs}</txBody></sp>"


def odf(path: Path, body: str, kind: str = "text", manifest: str = "<manifest/>") -> Path:
    """A document of LibreOffice: text, spreadsheet or presentation."""
    content = f"<office:document-content {_ODF}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return pack(
        path,
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": manifest,
            "content.xml": content + "</office:document-content>",
        },
    )


def epub(path: Path, chapters: Sequence[str], title: str = "", **more: str) -> Path:
    """A book; its chapters are packed in reverse, so that only the spine says their order."""
    numbers = range(len(chapters))
    items = "".join(
        f'<item id="c{at}" href="text/c%20{at}.xhtml" media-type="application/xhtml+xml"/>' for at in reversed(numbers)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in numbers)
    return pack(
        path,
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OEBPS/b.opf"/></container>',
            "OEBPS/b.opf": f"<package><metadata><title>{title}</title></metadata>"
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OEBPS/text/c {at}.xhtml": chapters[at] for at in reversed(numbers)},
            **more,
        },
    )


def pdf(path: Path, pages: Sequence[str], trailer: str = "") -> Path:
    """A PDF of pages with lines of Latin letters; an empty page has a drawn square."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids: list[str] = []
    for text in pages:
        lines = "".join(f"({_escaped(line)}) Tj 0 -16 Td " for line in text.split("\n"))
        drawn = f"BT /F1 12 Tf 72 720 Td {lines}ET" if text else "72 72 200 200 re f"
        content = drawn.encode("cp1252")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{drawn}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            f"/Resources << /Font << /F1 {font} >> >> >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    content, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(content))
        content += f"{number} 0 obj\n{text}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    content += (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(content)}\n%%EOF\n"
    ).encode("cp1252")
    path.write_bytes(content)
    return path


_ID = f"<{'01' * 16}>"
LOCKED = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >> /ID [{_ID} {_ID}]"
"""For `pdf`: a trailer that asks for a password."""


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
