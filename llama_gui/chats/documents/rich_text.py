"""RTF: its words, paragraphs and tables."""

import re

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markdown import Writer

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)")
_MUTE = frozenset({
    b"fonttbl", b"colortbl", b"stylesheet", b"info", b"pict", b"object", b"header", b"headerl", b"headerr", b"headerf",
    b"footer", b"footerl", b"footerr", b"footerf", b"listtable", b"listoverridetable", b"rsidtbl", b"generator",
    b"themedata", b"datastore", b"latentstyles", b"fldinst", b"xmlnstbl", b"filetbl", b"revtbl", b"bkmkstart",
    b"bkmkend", b"nonshppict", b"mmathPr",
})  # fmt: skip
_SIGNS = {
    b"tab": "\t", b"line": "\n", b"emdash": "—", b"endash": "–", b"bullet": "•", b"lquote": "‘", b"rquote": "’",
    b"ldblquote": "“", b"rdblquote": "”", b"emspace": " ", b"enspace": " ",
}  # fmt: skip
_PARAGRAPH_ENDS = (b"par", b"sect", b"page")
_MOST_GROUPS = 1000


def read_rich_text(content: bytes) -> str:
    """The text as Markdown.

    Raises:
        DocumentError: it is too long, or groups are nested without end.
    """
    return _RichText().read(content)


class _RichText:
    def __init__(self) -> None:
        self._writer = Writer()
        self._words: list[str] = []
        self._bytes = bytearray()  # letters of the code page that are not decoded yet
        self._encoding = "cp1252"
        self._groups: list[tuple[bool, int]] = []  # of each open group what was so before: mute, letters to skip
        self._is_mute = False
        self._fallback = 1  # so many letters stand in for one in Unicode
        self._skip = 0
        self._cells: list[str] = []
        self._rows: list[list[str]] = []

    def read(self, content: bytes) -> str:
        at = 0
        while (found := _TOKEN.search(content, at)) is not None:
            at = found.end()
            word, number, code, sign, brace, letters = found.groups()
            if brace:
                self._brace(brace)
            elif word == b"bin":
                at += max(0, int(number or 0))
            elif word:
                self._control(word, int(number) if number else None)
            elif code:
                self._letters(bytes([int(code, 16)]))
            elif sign:
                self._sign(sign)
            elif letters:
                self._letters(letters)
        self._end_paragraph()
        self._end_table()
        return self._writer.text()

    def _brace(self, brace: bytes) -> None:
        self._flush()
        if brace == b"{":
            self._groups.append((self._is_mute, self._fallback))
            if len(self._groups) > _MOST_GROUPS:
                raise DocumentError("damaged")
        elif self._groups:
            self._is_mute, self._fallback = self._groups.pop()
        self._skip = 0

    def _control(self, word: bytes, number: int | None) -> None:
        if word in _MUTE:
            self._is_mute = True
        elif word == b"ansicpg" and number:
            self._encoding = f"cp{number}"
        elif word == b"uc":
            self._fallback = max(0, min(number or 0, 10))
        elif word == b"u" and number is not None:
            self._say(chr(number % 0x10000))
            self._skip = self._fallback
        elif word in _SIGNS:
            self._say(_SIGNS[word])
        elif word in (b"cell", b"nestcell") and not self._is_mute:
            self._flush()
            self._cells.append("".join(self._words).strip())
            self._words = []
        elif word in (b"row", b"nestrow") and not self._is_mute:
            self._rows.append(self._cells)
            self._cells = []
        elif word in _PARAGRAPH_ENDS and not self._is_mute:
            self._end_paragraph()

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":  # what follows may be left out by those who do not know it
            self._is_mute = True
        elif sign in (b"\n", b"\r"):
            self._end_paragraph()
        elif sign in (b"\\", b"{", b"}"):
            self._letters(sign)
        elif sign in (b"~", b"_"):
            self._say("\xa0" if sign == b"~" else "-")

    def _letters(self, letters: bytes) -> None:
        skipped = min(self._skip, len(letters))
        self._skip -= skipped
        if not self._is_mute:
            self._bytes += letters[skipped:]

    def _say(self, text: str) -> None:
        self._flush()
        if not self._is_mute:
            self._words.append(text)

    def _flush(self) -> None:
        if self._bytes:
            try:
                self._words.append(self._bytes.decode(self._encoding, "replace"))
            except LookupError:
                self._words.append(self._bytes.decode("cp1252", "replace"))
            self._bytes.clear()

    def _end_paragraph(self) -> None:
        self._flush()
        if self._cells:  # a line in a cell
            self._words.append("\n")
            return
        self._end_table()
        # A letter beyond the 16 bits of \u comes as two halves.
        text = "".join(self._words).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._writer.paragraph(text)
        self._words = []

    def _end_table(self) -> None:
        if self._rows:
            self._writer.table(self._rows)
            self._rows = []
