"""ODT, ODS and ODP: the texts, tables and slides of LibreOffice and others."""

from collections.abc import Iterator

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markdown import Writer, sparse_table
from llama_gui.chats.documents.markup import Node, parse

_MUTE = frozenset({
    "tracked-changes", "table-of-content", "annotation", "forms", "ruby-text", "title", "desc", "event-listeners",
    "sequence-decls", "variable-decls", "user-field-decls", "header", "footer", "date-time", "page-number",
})  # fmt: skip
"""What is not said: what was deleted with changes tracked, what stands elsewhere as well, remarks, looks."""
_ROWS = ("table-row",)
_CELLS = ("table-cell", "covered-table-cell")
_MOST_ALIKE = 100
"""How often a cell, row or blank is said that the file says is there many times: a few bytes can say a million."""


def read_open_document(archive: Archive) -> str:
    """The text as Markdown.

    Raises:
        DocumentError: it needs a password, or cannot be read.
    """
    manifest = archive.read("META-INF/manifest.xml")
    if manifest is not None and next(parse(manifest).inside("encryption-data"), None) is not None:
        raise DocumentError("password")
    body = parse(archive.needed("content.xml")).find("body")
    if body is None:
        raise DocumentError("damaged")
    return _OpenDocument().read(body)


class _OpenDocument:
    def __init__(self) -> None:
        self._writer = Writer()
        self._notes: list[Node] = []
        self._slides = 0

    def read(self, body: Node) -> str:
        for kind in body.nodes():
            self._blocks(kind, is_sheets=kind.name == "spreadsheet")
        for number, note in enumerate(self._notes, start=1):
            self._writer.paragraph(f"[^{number}]: " + self._lines(note).replace("\n", " "))
        return self._writer.text()

    def _blocks(self, parent: Node, is_sheets: bool = False) -> None:
        for node in parent.nodes():
            if node.name == "h":
                self._writer.heading(_number(node.get("outline-level"), 1), self._inline(node))
            elif node.name == "p":
                self._writer.paragraph(self._inline(node))
            elif node.name == "list":
                self._list(node, 0)
            elif node.name == "table":
                if is_sheets:
                    self._writer.heading(2, node.get("name"))
                self._writer.paragraph(sparse_table(list(self._rows(node))))
            elif node.name == "page":
                self._slides += 1
                self._writer.paragraph(f"[slide {self._slides}]")
                self._blocks(node)
            elif node.name == "frame" and node.get("class") == "title":
                self._writer.heading(2, self._lines(node))
            elif node.name == "notes":
                if words := self._lines(node):
                    self._writer.paragraph(f"Notes: {words}")
            elif node.name not in _MUTE:
                self._blocks(node)

    def _list(self, node: Node, level: int) -> None:
        for item in node.nodes("list-item", "list-header"):
            words = [self._inline(part) for part in item.nodes("p", "h")]
            self._writer.item(level, "-", "\n".join(words))
            for part in item.nodes("list"):
                self._list(part, level + 1)

    def _rows(self, table: Node) -> Iterator[dict[int, str]]:
        for row in table.inside(*_ROWS):
            cells: dict[int, str] = {}
            at = 0
            for cell in row.nodes(*_CELLS):
                alike = max(_number(cell.get("number-columns-repeated"), 1), 1)
                if words := self._lines(cell):
                    cells |= dict.fromkeys(range(at, at + min(alike, _MOST_ALIKE)), words)
                at += alike
            if cells:
                for _ in range(min(_number(row.get("number-rows-repeated"), 1), _MOST_ALIKE)):
                    yield cells

    def _lines(self, parent: Node) -> str:
        """The paragraphs in a cell, a note or a box, each on its line."""
        return "\n".join(line for node in parent.inside("p", "h") if (line := self._inline(node).strip()))

    def _inline(self, node: Node) -> str:
        return "".join(self._words(node))

    def _words(self, parent: Node) -> Iterator[str]:
        for node in parent.children:
            if isinstance(node, str):
                yield node.replace("\n", " ")
            elif node.name == "s":
                yield " " * min(_number(node.get("c"), 1), _MOST_ALIKE)
            elif node.name == "tab":
                yield "\t"
            elif node.name == "line-break":
                yield "\n"
            elif node.name == "note":
                if (body := node.find("note-body")) is not None:
                    self._notes.append(body)
                    yield f"[^{len(self._notes)}]"
            elif node.name == "text-box":
                yield "\n" + self._lines(node) + "\n"
            elif node.name not in _MUTE:
                yield from self._words(node)


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
