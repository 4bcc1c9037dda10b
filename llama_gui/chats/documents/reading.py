"""A document's file -> its text."""

from pathlib import Path

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.epub import read_epub
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.kinds import kind_of
from llama_gui.chats.documents.markdown import MOST_TEXT
from llama_gui.chats.documents.open_document import read_open_document
from llama_gui.chats.documents.rich_text import read_rich_text
from llama_gui.chats.documents.slides import read_slides
from llama_gui.chats.documents.spreadsheet import read_spreadsheet
from llama_gui.chats.documents.web_page import decoded, read_web_page
from llama_gui.chats.documents.word import read_word

_PACKED = {
    "docx": read_word,
    "xlsx": read_spreadsheet,
    "pptx": read_slides,
    "epub": read_epub,
    "odf": read_open_document,
}
_MOST_PLAIN = 50_000_000


def read_document(path: Path) -> str:
    """The text of a document, as Markdown as far as its form is of use. A stranger's file: see `child` for that.

    Raises:
        DocumentError: it cannot be had, whatever the file has in it.
        OSError: the file cannot be read.
        ImportError: a library is missing.
    """
    try:
        text = _text(path)
    except (DocumentError, OSError, ImportError):
        raise
    except MemoryError as error:
        raise DocumentError("too_large") from error
    except Exception as error:  # such a file is made to be wrong in a way that nobody has thought of
        raise DocumentError("damaged") from error
    if not text.strip():
        raise DocumentError("empty")
    if len(text) > MOST_TEXT:
        raise DocumentError("too_long")
    return text


def _text(path: Path) -> str:
    with path.open("rb") as file:
        beginning = file.read(1024)
    kind = kind_of(path, beginning)
    if kind == "pdf":
        from llama_gui.chats.documents.pdf import read_pdf  # its library is loaded for this kind only

        return read_pdf(path)
    if kind in _PACKED:
        with Archive(path) as archive:
            return _PACKED[kind](archive)
    with path.open("rb") as file:
        content = file.read(_MOST_PLAIN + 1)
    if len(content) > _MOST_PLAIN:
        raise DocumentError("too_large")
    if kind == "rtf":
        return read_rich_text(content)
    return read_web_page(content) or decoded(content)  # a page of scripts only is read as what it is
