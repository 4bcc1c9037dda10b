"""DOCX: paragraphs, headings, lists, tables and notes of Word."""

from collections.abc import Iterator
from dataclasses import dataclass

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markdown import Writer
from llama_gui.chats.documents.markup import Node, parse

_MUTE = frozenset({
    "pPr", "rPr", "tblPr", "trPr", "tcPr", "sdtPr", "sectPr", "del", "moveFrom", "instrText", "delText", "Fallback",
})  # fmt: skip
"""What is not said: looks, what was deleted with changes tracked, the code of fields, things said twice."""
_SIGNS = {"tab": "\t", "cr": "\n", "noBreakHyphen": "-"}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}


@dataclass(frozen=True, slots=True)
class _Style:
    heading: int = 0
    list_id: str = ""
    list_level: int = 0
    base: str = ""


def read_word(archive: Archive) -> str:
    """The text as Markdown.

    Raises:
        DocumentError: it cannot be read.
    """
    main = archive.main_part()
    body = parse(archive.needed(main)).find("body")
    if body is None:
        raise DocumentError("damaged")
    return _Word(archive, main).read(body)


class _Word:
    def __init__(self, archive: Archive, main: str) -> None:
        parts = {kind: parse(content) for kind, content in _beside(archive, main)}
        self._styles = {node.get("styleId"): _style(node) for node in _children(parts.get("styles"), "style")}
        self._lists = _lists(parts.get("numbering"))
        self._notes = {kind: {note.get("id"): note for note in _children(parts.get(kind))} for kind in _NOTES.values()}
        self._said_notes: list[Node] = []
        self._counts: dict[tuple[str, int], int] = {}
        self._writer = Writer()

    def read(self, body: Node) -> str:
        self._blocks(body)
        for number, note in enumerate(self._said_notes, start=1):
            self._writer.paragraph(f"[^{number}]: " + self._lines(note).replace("\n", " ").strip())
        return self._writer.text()

    def _blocks(self, parent: Node) -> None:
        for node in parent.nodes():
            if node.name == "p":
                self._paragraph(node)
            elif node.name == "tbl":
                self._writer.table([list(self._cells(row)) for row in node.inside("tr")])
            elif node.name not in _MUTE:  # content controls, tracked insertions, sections of other programs
                self._blocks(node)

    def _cells(self, row: Node) -> Iterator[str]:
        for cell in row.inside("tc"):
            yield self._lines(cell)
            span = cell.find("tcPr", "gridSpan")
            for _ in range(min(_number(span.get("val") if span else ""), 64) - 1):
                yield ""

    def _lines(self, parent: Node) -> str:
        """The paragraphs in a cell, a note or a box, each on its line."""
        return "\n".join(line for node in parent.inside("p") if (line := self._inline(node).strip()))

    def _paragraph(self, node: Node) -> None:
        text = self._inline(node)
        if not text.strip():
            return
        looks = node.find("pPr")
        style = self._style_of(looks)
        if style.heading:
            self._writer.heading(style.heading, text)
        elif style.list_id and style.list_id != "0":
            self._writer.item(style.list_level, self._mark(style.list_id, style.list_level), text)
        else:
            self._writer.paragraph(text)

    def _style_of(self, looks: Node | None) -> _Style:
        """What a paragraph says of itself, else its style, else the styles that that one is based on."""
        own = _style(looks) if looks is not None else _Style()
        name = looks.find("pStyle") if looks is not None else None
        base = name.get("val") if name is not None else ""
        heading, list_id, level = own.heading, own.list_id, own.list_level
        for _ in range(10):
            style = self._styles.get(base)
            if style is None:
                break
            heading = heading or style.heading
            if not list_id:
                list_id, level = style.list_id, style.list_level
            base = style.base
        return _Style(heading, list_id, level)

    def _mark(self, list_id: str, level: int) -> str:
        if not self._lists.get((list_id, level), False):
            return "-"
        count = self._counts[list_id, level] = self._counts.get((list_id, level), 0) + 1
        for deeper in range(level + 1, 10):
            self._counts.pop((list_id, deeper), None)
        return f"{count}."

    def _inline(self, node: Node) -> str:
        return "".join(self._words(node))

    def _words(self, parent: Node) -> Iterator[str]:
        for node in parent.nodes():
            if node.name == "t":
                yield node.text()
            elif node.name in _SIGNS:
                yield _SIGNS[node.name]
            elif node.name == "br":
                yield "\n" if node.get("type") not in ("page", "column") else ""
            elif node.name in _NOTES:
                yield self._note(_NOTES[node.name], node.get("id"))
            elif node.name == "txbxContent":
                yield "\n" + self._lines(node) + "\n"
            elif node.name not in _MUTE:
                yield from self._words(node)

    def _note(self, kind: str, note_id: str) -> str:
        note = self._notes[kind].get(note_id)
        if note is None:
            return ""
        self._said_notes.append(note)
        return f"[^{len(self._said_notes)}]"


def _beside(archive: Archive, main: str) -> Iterator[tuple[str, bytes]]:
    for kind, part in archive.related(main).values():
        if kind in ("styles", "numbering", "footnotes", "endnotes") and (content := archive.read(part)) is not None:
            yield kind, content


def _children(node: Node | None, *names: str) -> Iterator[Node]:
    return node.nodes(*names) if node is not None else iter(())


def _style(node: Node) -> _Style:
    """A style, or what a paragraph says of its own looks."""
    looks = node if node.name == "pPr" else node.find("pPr") or node
    name, outline, base = node.find("name"), looks.find("outlineLvl"), node.find("basedOn")
    number, level = looks.find("numPr", "numId"), looks.find("numPr", "ilvl")
    heading = _heading(name.get("val").lower() if name is not None else "")
    if outline is not None and not heading and _number(outline.get("val"), 9) < 9:  # 9 is the body's text
        heading = _number(outline.get("val")) + 1
    return _Style(
        heading,
        number.get("val") if number is not None else "",
        min(_number(level.get("val")), 9) if level is not None else 0,
        base.get("val") if base is not None else "",
    )


def _heading(name: str) -> int:
    """The level that a style's name says. Word keeps these names in English, whatever it shows."""
    if name == "title":
        return 1
    return _number(name.removeprefix("heading ")) if name.startswith("heading ") else 0


def _lists(numbering: Node | None) -> dict[tuple[str, int], bool]:
    """By list and level: whether its items are counted."""
    kinds: dict[str, dict[int, bool]] = {}
    for abstract in _children(numbering, "abstractNum"):
        levels = kinds[abstract.get("abstractNumId")] = {}
        for level in abstract.nodes("lvl"):
            form = level.find("numFmt")
            levels[_number(level.get("ilvl"))] = form is not None and form.get("val") not in ("bullet", "none")
    found: dict[tuple[str, int], bool] = {}
    for number in _children(numbering, "num"):
        abstract_id = number.find("abstractNumId")
        for level, is_counted in kinds.get(abstract_id.get("val") if abstract_id else "", {}).items():
            found[number.get("numId"), level] = is_counted
    return found


def _number(text: str, default: int = 0) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
