"""What of a document's form is of use to a model, as Markdown: headings, lists, tables, paragraphs."""

from collections.abc import Mapping, Sequence

from llama_gui.chats.documents.faults import DocumentError

MOST_TEXT = 5_000_000
"""Characters; a thousand pages have three million."""


class Writer:
    """Puts blocks one below the other, an empty line between them but for the items of a list."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._in_list = False

    def paragraph(self, text: str) -> None:
        """A paragraph, a table or a mark; nothing of a blank one."""
        self._add(text.strip("\n"), False)

    def heading(self, level: int, text: str) -> None:
        """A heading of level 1 to 6, on one line."""
        if words := " ".join(text.split()):
            self._add(f"{'#' * max(1, min(level, 6))} {words}", False)

    def item(self, level: int, mark: str, text: str) -> None:
        """An item of a list; level 0 is the outermost."""
        if text.strip():
            indent = "  " * max(0, min(level, 12))
            self._add(f"{indent}{mark} " + text.strip().replace("\n", f"\n{indent}  "), True)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Cells in rows; the first row is the head."""
        self.paragraph(table(rows))

    def text(self) -> str:
        """All of it, with an end of line."""
        return "".join(self._parts).strip("\n") + "\n" if self._parts else ""

    def _add(self, text: str, in_list: bool) -> None:
        if not text.strip():
            return
        self._parts.append("\n" if in_list and self._in_list else "\n\n")
        self._parts.append(text)
        self._in_list = in_list
        self._size += len(text) + 2
        if self._size > MOST_TEXT:
            raise DocumentError("too_long")


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table without empty rows and columns; a single cell is its text."""
    return sparse_table([dict(enumerate(row)) for row in rows])


def sparse_table(rows: Sequence[Mapping[int, str]]) -> str:
    """As `table`, of rows that have cells in some columns only."""
    filled = [{at: cell for at, cell in row.items() if cell.strip()} for row in rows]
    filled = [row for row in filled if row]
    columns = sorted({at for row in filled for at in row})
    if len(columns) == 1 and len(filled) == 1:
        return filled[0][columns[0]].strip()
    if len(columns) * len(filled) > MOST_TEXT:  # far apart on purpose: each cell takes three characters at least
        raise DocumentError("too_long")
    lines = ["| " + " | ".join(_cell(row.get(at, "")) for at in columns) + " |" for row in filled]
    if lines:
        lines.insert(1, "|" + " --- |" * len(columns))
    return "\n".join(lines)


def _cell(text: str) -> str:
    return "<br>".join(" ".join(line.split()) for line in text.strip().split("\n")).replace("|", "\\|")
