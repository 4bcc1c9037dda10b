"""XLSX: sheet by sheet, each as a table of what its cells show."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markdown import MOST_TEXT, Writer, sparse_table
from llama_gui.chats.documents.markup import Node, parse, parse_each

_PLACE = re.compile(r"([A-Z]{1,3})\d+")
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""The numbers of Excel's own formats that show a date or a time."""
_PERCENT = frozenset({9, 10})
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE_SIGNS = re.compile("[ymdhs]", re.IGNORECASE)
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_MOST_CELLS = 2_000_000


def read_spreadsheet(archive: Archive) -> str:
    """The sheets as Markdown.

    Raises:
        DocumentError: it cannot be read.
    """
    main = archive.main_part()
    return _Workbook(archive, main, parse(archive.needed(main))).read()


class _Workbook:
    def __init__(self, archive: Archive, main: str, book: Node) -> None:
        self._archive = archive
        self._book = book
        self._related = archive.related(main)
        self._texts = list(self._shared_texts())
        self._forms = list(self._number_forms())
        properties = book.find("workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._epoch = _EPOCH_1904 if is_1904 else _EPOCH
        self._cells = self._size = 0

    def read(self) -> str:
        writer = Writer()
        for sheet in self._book.inside("sheet"):
            kind, part = self._related.get(sheet.get("r:id"), ("", ""))
            if kind == "worksheet":
                rows = [self._row(row) for row in parse_each(self._archive.chunks(part), "row")]
                if any(rows):
                    writer.heading(2, sheet.get("name"))
                    writer.paragraph(sparse_table(rows))
        return writer.text()

    def _part(self, kind: str) -> str:
        return next((part for found, part in self._related.values() if found == kind), "")

    def _shared_texts(self) -> Iterator[str]:
        for item in parse_each(self._archive.chunks(self._part("sharedStrings")), "si"):
            yield _text(item)

    def _number_forms(self) -> Iterator[str]:
        """By the number of a cell's style: "date", "percent" or nothing."""
        content = self._archive.read(self._part("styles"))
        styles = parse(content) if content is not None else Node("", {})
        own = {node.get("numFmtId"): _form(node.get("formatCode")) for node in styles.inside("numFmt")}
        looks = styles.find("cellXfs")
        for look in looks.nodes() if looks is not None else ():
            form = look.get("numFmtId")
            number = int(form) if form.isascii() and form.isdigit() and len(form) < 6 else 0
            yield own.get(form) or ("date" if number in _DATES else "percent" if number in _PERCENT else "")

    def _row(self, row: Node) -> dict[int, str]:
        cells: dict[int, str] = {}
        at = -1
        for cell in row.nodes("c"):
            place = _PLACE.fullmatch(cell.get("r"))
            at = _column(place[1]) if place else at + 1
            if words := self._shown(cell):
                cells[at] = words
                self._size += len(words) + 3  # with what the table puts around it
        self._cells += len(cells)
        if self._cells > _MOST_CELLS or self._size > MOST_TEXT:
            raise DocumentError("too_long")
        return cells

    def _shown(self, cell: Node) -> str:
        kind, value = cell.get("t", "n"), cell.find("v")
        if kind == "inlineStr":
            inline = cell.find("is")
            return _text(inline) if inline is not None else ""
        text = value.text() if value is not None else ""
        if kind == "s":
            index = _index(text)
            return self._texts[index] if 0 <= index < len(self._texts) else ""
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        if kind == "n" and text:
            style = _index(cell.get("s", "0"))
            return self._number(text, self._forms[style] if 0 <= style < len(self._forms) else "")
        return text

    def _number(self, text: str, form: str) -> str:
        try:
            value = float(text)
            if form == "date":
                return _date(self._epoch, value)
            return f"{value * 100:.12g} %" if form == "percent" else f"{value:.15g}"
        except (ValueError, OverflowError):
            return text


def _text(item: Node) -> str:
    """The letters of a text in pieces, without those that say how it is pronounced."""
    return "".join(node.text() for node in item.inside("t", "rPh") if node.name == "t")


def _form(code: str) -> str:
    plain = _QUOTED.sub("", code.partition(";")[0])
    if "general" in plain.lower():
        return ""
    return "date" if _DATE_SIGNS.search(plain) else "percent" if "%" in plain else ""


def _date(epoch: datetime, days: float) -> str:
    """A day, a time, or both."""
    moment = epoch + timedelta(seconds=round(days * 86400))
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _index(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
