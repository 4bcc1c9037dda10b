"""EPUB: the chapters of a book in the order of its spine."""

import posixpath
from urllib.parse import unquote

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.markdown import Writer
from llama_gui.chats.documents.markup import Node, parse
from llama_gui.chats.documents.web_page import read_web_page

_PAGES = ("application/xhtml+xml", "text/html")


def read_epub(archive: Archive) -> str:
    """The book as Markdown, its title first.

    Raises:
        DocumentError: it is copy-protected, or cannot be read.
    """
    container = archive.read("META-INF/container.xml")
    root = next(parse(container).inside("rootfile"), None) if container is not None else None
    package = root.get("full-path") if root is not None else ""
    book = parse(archive.needed(package))
    chapters = _chapters(book, posixpath.dirname(package))
    if _locked(archive) & set(chapters):
        raise DocumentError("protected")
    writer = Writer()
    for chapter in chapters:
        page = archive.read(chapter)
        writer.paragraph(read_web_page(page) if page is not None else "")
    text = writer.text()
    title = next((" ".join(node.text().split()) for node in book.inside("title")), "")
    return f"# {title}\n\n{text}" if title and text else text


def _chapters(book: Node, folder: str) -> list[str]:
    pages = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href"))))
        for item in book.inside("item")
        if item.get("media-type") in _PAGES
    }
    order = [pages[place.get("idref")] for place in book.inside("itemref") if place.get("idref") in pages]
    return list(dict.fromkeys(order)) or list(pages.values())


def _locked(archive: Archive) -> set[str]:
    """Parts that are encrypted. Fonts are in many books that anybody may read."""
    content = archive.read("META-INF/encryption.xml")
    references = parse(content).inside("CipherReference") if content is not None else ()
    return {unquote(node.get("URI")) for node in references}
