"""PDF: the text of each page behind a mark, so that a model can say where something stands."""

import re
import unicodedata
from pathlib import Path

import pypdfium2
from pypdfium2 import PdfDocument, PdfiumError

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markdown import MOST_TEXT

MOST_PAGES = 20_000
_LOCKED = (4, 5)  # of PDFium's reasons why a file cannot be opened: password, kind of encryption
_DIVIDED = re.compile("[\ufffe\x02](?:\r?\n)?(?=(.?))", re.DOTALL)
"""Where PDFium has put the halves of a divided word together."""
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_OLD_FORMS = re.compile("[\u2e80-\u2fdf\ufb00-\ufb06]")
"""Ligatures, and radicals in the place of the characters that look like them, as some programs write them."""
_BLANKS = re.compile(r"[ \t\xa0]+$", re.MULTILINE)
_FAR_APART = re.compile(r"\n{3,}")


def read_pdf(path: Path) -> str:
    """The text, that of each page behind "[page 3]"; pages are counted as every reader of PDF counts them.

    Raises:
        DocumentError: it needs a password, is damaged, or has no text.
    """
    try:
        document = pypdfium2.PdfDocument(path)
    except PdfiumError as error:
        raise DocumentError("password" if error.err_code in _LOCKED else "damaged") from error
    try:
        return _pages(document)
    finally:
        document.close()


def _pages(document: PdfDocument) -> str:
    parts: list[str] = []
    size = failed = 0
    for number in range(min(len(document), MOST_PAGES)):  # a damaged one may say that it has millions
        try:
            text = _page_text(document, number)
        except PdfiumError:  # one page of many is damaged
            failed += 1
            continue
        if text:
            parts.append(f"[page {number + 1}]\n{text}\n")
            size += len(text)
        if size > MOST_TEXT:
            raise DocumentError("too_long")
    if not parts:
        raise DocumentError("damaged" if failed or not len(document) else "scanned")
    return "\n".join(parts)


def _page_text(document: PdfDocument, number: int) -> str:
    page = document[number]
    try:
        words = page.get_textpage()
        if words.count_chars() > MOST_TEXT:
            raise DocumentError("too_long")
        return tidy(words.get_text_range())
    finally:
        page.close()  # its text, too


def tidy(text: str) -> str:
    """Divided words whole again, one form of each letter, control characters gone, no blanks at the ends of lines."""
    # "Nord-" and "Süd" keep their hyphen: what was divided at the end of a line goes on in small letters.
    text = _DIVIDED.sub(lambda found: "" if found[1].islower() else "-", text)
    text = _NO_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _OLD_FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return _FAR_APART.sub("\n\n", _BLANKS.sub("", text)).strip("\n")
