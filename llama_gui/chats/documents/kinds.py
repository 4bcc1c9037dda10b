"""Which files are documents, by their first bytes and by what is in them; web pages by their names."""

from pathlib import Path

from llama_gui.chats.documents.archive import Archive
from llama_gui.chats.documents.faults import DocumentError, Why

ENDINGS = (
    "pdf", "docx", "docm", "odt", "xlsx", "xlsm", "ods", "pptx", "pptm", "ppsx", "odp", "epub",
    "html", "htm", "xhtml", "rtf",
)  # fmt: skip
"""How the names of documents end, the common ones first. What a file is, its content says."""

_WEB_PAGES = ("html", "htm", "xhtml")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MARKS = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"{\\rtf", _OLD_OFFICE)


_PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")


def is_picture(beginning: bytes) -> bool:
    """Whether bytes that are no text begin as a picture does: PNG, JPEG, GIF, TIFF, WebP, HEIC or AVIF."""
    if beginning[4:8] == b"ftyp":
        return beginning[8:12] in (b"heic", b"heix", b"mif1", b"avif")
    return beginning.startswith(_PICTURES) or (beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP")


def may_be_document(path: Path, beginning: bytes) -> bool:
    """Whether to read it as a document, by its name and its first 1,024 bytes; else it is text, or nothing for us."""
    ending = path.suffix[1:].lower()
    return beginning.lstrip().startswith(_MARKS) or (ending in ENDINGS and ending != "rtf")


def kind_of(path: Path, beginning: bytes) -> str:
    """One of pdf, rtf, html, docx, xlsx, pptx, epub, odf.

    Raises:
        DocumentError: it is of none of these kinds, or it is one that only its password opens.
    """
    ending = path.suffix[1:].lower()
    if beginning.lstrip().startswith(b"%PDF-") or (ending == "pdf" and b"%PDF-" in beginning):
        return "pdf"
    if beginning.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    if beginning.startswith(_OLD_OFFICE):
        raise DocumentError(_old_office(path))
    if beginning.startswith(b"PK"):
        with Archive(path) as archive:
            return _packed_kind(archive)
    if ending in _WEB_PAGES:
        return "html"
    raise DocumentError("damaged" if ending in ENDINGS else "unknown")


def _packed_kind(archive: Archive) -> str:
    mime = (archive.read("mimetype") or b"")[:100].strip()
    if mime == b"application/epub+zip" or "META-INF/container.xml" in archive:
        return "epub"
    if mime.startswith(b"application/vnd.oasis.opendocument."):
        return "odf"
    main = archive.main_part()
    for kind, folder in (("docx", "word/"), ("xlsx", "xl/"), ("pptx", "ppt/")):
        if main.startswith(folder):
            return kind
    raise DocumentError("unknown")


def _old_office(path: Path) -> Why:
    """Word, Excel and PowerPoint put what needs a password into a container of the old format."""
    with path.open("rb") as file:
        content = file.read(1_000_000)
    return "password" if "EncryptedPackage".encode("utf-16-le") in content else "old"
