"""PPTX: slide by slide behind a mark, with titles, lists, tables and the speaker's notes."""

from collections.abc import Iterator

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.markdown import Writer
from llama_gui.chats.documents.markup import Node, parse

_TITLES = ("title", "ctrTitle")
_FRAME = ("dt", "ftr", "sldNum", "hdr", "sldImg")
"""Placeholders that are on every slide."""


def read_slides(archive: Archive) -> str:
    """The slides as Markdown.

    Raises:
        DocumentError: it cannot be read.
    """
    main = archive.main_part()
    show, related = parse(archive.needed(main)), archive.related(main)
    writer = Writer()
    is_empty = True
    for number, slide in enumerate(show.inside("sldId"), start=1):
        kind, part = related.get(slide.get("r:id"), ("", ""))
        content = archive.read(part)
        if kind == "slide" and content is not None:
            said = list(_said(parse(content)))
            notes = _notes(archive, part)
            is_empty = is_empty and not said and not notes
            writer.paragraph(f"[slide {number}]")
            for level, text in said:
                _write(writer, level, text)
            writer.paragraph(f"Notes: {notes}" if notes else "")
    return "" if is_empty else writer.text()


_TITLE, _PLAIN = -2, -1


def _write(writer: Writer, level: int, text: str) -> None:
    if level == _TITLE:
        writer.heading(2, text)
    elif level == _PLAIN:
        writer.paragraph(text)
    else:
        writer.item(level, "-", text)


def _said(slide: Node) -> Iterator[tuple[int, str]]:
    """Title, plain paragraphs and items of lists with their levels, in the order of the file."""
    for shape in slide.inside("sp", "tbl"):
        if shape.name == "tbl":
            rows = [["\n".join(_lines(cell)) for cell in row.nodes("tc")] for row in shape.nodes("tr")]
            writer = Writer()
            writer.table(rows)
            yield _PLAIN, writer.text()
            continue
        place = shape.find("nvSpPr", "nvPr", "ph")
        kind = place.get("type", "body") if place is not None else ""
        if kind in _TITLES:
            yield _TITLE, " ".join(_lines(shape))
        elif kind not in _FRAME:
            for paragraph in shape.inside("p"):
                if words := _inline(paragraph).strip():
                    yield (_level(paragraph) if kind == "body" else _PLAIN), words


def _notes(archive: Archive, slide: str) -> str:
    """What the speaker's notes of a slide say."""
    for kind, part in archive.related(slide).values():
        content = archive.read(part) if kind == "notesSlide" else None
        if content is not None:
            return "\n".join(text for _level, text in _said(parse(content)))
    return ""


def _lines(node: Node) -> list[str]:
    return [words for paragraph in node.inside("p") if (words := _inline(paragraph).strip())]


def _inline(paragraph: Node) -> str:
    return "".join("\n" if node.name == "br" else node.text() for node in paragraph.inside("t", "br"))


def _level(paragraph: Node) -> int:
    looks = paragraph.find("pPr")
    level = looks.get("lvl", "0") if looks is not None else "0"
    return int(level) if level.isascii() and level.isdigit() and len(level) < 3 else 0
