"""HTML: what a reader of the page reads, without scripts, menus' code and looks."""

import codecs
import re
from html.parser import HTMLParser

from llama_gui.chats.documents.markdown import Writer, table

_MUTE = frozenset({"script", "style", "noscript", "template", "svg", "math", "head", "select", "iframe", "object"})
_ENDLESS = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr"})
_BLOCKS = frozenset({
    "p", "div", "section", "article", "aside", "main", "header", "footer", "nav", "figure", "figcaption", "address",
    "blockquote", "dl", "dt", "dd", "form", "fieldset", "legend", "details", "summary", "body", "html", "hr", "caption",
})  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read_web_page(content: bytes) -> str:
    """The text of a page as Markdown, under its title where it has no heading; "" when there is none.

    Raises:
        DocumentError: it is too long.
    """
    page = _Page()
    page.feed(decoded(content))
    page.close()
    return page.text()


def decoded(content: bytes) -> str:
    """The letters of a page, in the encoding that it names, else Unicode, else Western European."""
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    named = _XML_ENCODING.search(content[:1024]) or _CHARSET.search(content[:4096])
    for encoding in (named[1].decode("ascii") if named else "utf-8", "utf-8"):
        try:
            return content.decode(encoding)
        except (LookupError, ValueError):
            continue
    return content.decode("cp1252", "replace")


class _Page(HTMLParser):
    """Follows what is open only as far as the text needs it: pages leave things open, and close what is not."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._writer = Writer()
        self._words: list[str] = []
        self._mute = ""  # the element whose content is not said, and how many of its name are open in it
        self._mute_depth = 0
        self._title = ""
        self._in_title = False
        self._heading = 0
        self._has_heading = False
        self._lists: list[int] = []  # of each open list: 0, or 1 and how many items were counted
        self._marks: list[str] = []  # of the open items, until their text comes
        self._rows: list[list[str]] | None = None  # of the open table; tables in it are parts of its cells
        self._tables = 0
        self._pre = 0

    def text(self) -> str:
        self._flush()
        self._end_table()
        body = self._writer.text()
        title = " ".join(self._title.split())
        return f"# {title}\n\n{body}" if title and body and not self._has_heading else body

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._mute:
            self._in_title = self._mute == "head" and tag == "title" and not self._title
            self._mute_depth += tag == self._mute
            if not (self._mute == "head" and tag == "body"):  # a head that nobody closed
                return
            self._mute = ""
        if tag in _MUTE:
            self._mute, self._mute_depth = tag, 1
        elif tag == "br":
            self._words.append("\n")
        elif tag == "title":
            self._in_title = not self._title
        elif tag == "img":
            self._words.append(next((value or "" for name, value in attrs if name == "alt"), ""))
        elif tag in ("table", "tr", "td", "th"):
            self._start_of_table(tag)
        elif self._rows is None:
            self._start_of_block(tag)
        elif tag in _BLOCKS or tag in _HEADINGS or tag == "li":
            self._words.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _ENDLESS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._mute:
            self._mute_depth -= tag == self._mute
            if not self._mute_depth:
                self._mute = ""
        elif tag == "table":
            self._end_of_table()
        elif self._rows is None:
            self._end_of_block(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title += data[:300]
        elif not self._mute:
            self._words.append(data if self._pre else _spaced(data))

    def _start_of_block(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._flush()
            self._heading = _HEADINGS[tag]
        elif tag in ("ul", "ol"):
            self._flush()
            self._lists.append(int(tag == "ol"))
        elif tag == "li":
            self._flush()
            self._marks = [self._next_mark()]
        elif tag == "pre":
            self._flush()
            self._pre += 1
        elif tag in _BLOCKS:
            self._flush()

    def _end_of_block(self, tag: str) -> None:
        if tag in _HEADINGS or tag in _BLOCKS or tag == "li":
            self._flush()
        elif tag in ("ul", "ol"):
            self._flush()
            self._lists = self._lists[:-1]
        elif tag == "pre":
            self._flush()
            self._pre = max(0, self._pre - 1)

    def _next_mark(self) -> str:
        if not self._lists or not self._lists[-1]:
            return "-"
        self._lists[-1] += 1
        return f"{self._lists[-1] - 1}."

    def _flush(self) -> None:
        text, self._words = "".join(self._words), []
        if self._pre:
            self._writer.paragraph(f"```\n{text.strip(chr(10))}\n```" if text.strip() else "")
            return
        text = _tidy(text)
        heading, self._heading = self._heading, 0
        if heading and text:
            self._has_heading = True
            self._writer.heading(heading, text)
        elif self._lists and text:
            mark = self._marks.pop() if self._marks else " "
            self._writer.item(len(self._lists) - 1, mark, text)
        else:
            self._writer.paragraph(text)

    def _start_of_table(self, tag: str) -> None:
        if tag == "table":
            self._tables += 1
            if self._rows is None:
                self._flush()
                self._rows = []
        elif self._rows is None:
            self._flush()
        elif self._tables > 1:
            self._words.append("\n" if tag == "tr" else " ")
        elif tag == "tr":
            self._end_cell()
            self._rows.append([])
        else:
            self._end_cell()
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append("")

    def _end_of_table(self) -> None:
        self._tables = max(0, self._tables - 1)
        if not self._tables:
            self._end_table()

    def _end_cell(self) -> None:
        text, self._words = _tidy("".join(self._words)), []
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] += text
        elif text:  # between the cells, or a caption
            self._writer.paragraph(text)

    def _end_table(self) -> None:
        if self._rows is not None:
            self._end_cell()
            rows, self._rows, self._tables = self._rows, None, 0
            if all(len(row) <= 1 for row in rows):  # a table for the sake of the looks
                for row in rows:
                    self._writer.paragraph("".join(row))
            else:
                self._writer.paragraph(table(rows))


def _spaced(data: str) -> str:
    return re.sub(r"[ \t\r\n\f]+", " ", data)


def _tidy(text: str) -> str:
    return "\n".join(line for part in text.split("\n") if (line := re.sub(r"[ \t\xa0]+", " ", part).strip()))
