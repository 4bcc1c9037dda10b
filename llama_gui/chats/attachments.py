"""Files that go along with a message: how their text is read, and cut where it is longer than the context."""

import base64
import codecs
import re
import stat
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from llama_gui.chats.documents.child import read_apart, scan_apart
from llama_gui.chats.documents.faults import DocumentError, sentence
from llama_gui.chats.documents.images import is_image
from llama_gui.chats.documents.kinds import is_picture, may_be_document
from llama_gui.chats.documents.markdown import MOST_TEXT
from llama_gui.chats.message_images import image_ending
from llama_gui.chats.passages import PASSAGE, SMALLEST, Excerpt, Passages, fair_share
from llama_gui.chats.tree import clean_text
from llama_gui.errors import UserError

MAX_BYTES = 5_000_000
MAX_DOCUMENT_BYTES = 200_000_000
"""Most of a large document is pictures."""
MAX_IMAGE_BYTES = 64_000_000
LONG_PASTE = 2000
LONG_PASTE_LINES = 40
"""Pasted text of more characters or lines than that becomes an attachment: the composer stays a place to write in."""
MAX_NAME = 120
_TRIES = 8
_LEAST = 200
"""Characters of a file; fewer say nothing."""

_BOMS = (  # UTF-32 before UTF-16, whose mark is the beginning of the other's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")  # without tab, line and page breaks and colours (ESC)
_MOST_ODD = 0.01
"""The share of such characters, and of bytes without a meaning, from which on a file is no text."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes along: its name, its text, its size in bytes.

    `excerpt`: what the model reads of it; None: all. `image`: the bytes of one, which has no text; b"": it is none.
    """

    name: str
    text: str
    size: int
    excerpt: Excerpt | None = None
    image: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class FileLine:
    """What is said of a file of a message: its name, its size in bytes, how many of how many passages went along.

    `image`: see `Attachment`.
    """

    name: str
    size: int
    chosen: int = 0
    total: int = 0
    """0: all of it went along."""
    image: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """Passages that go along with a message of a file that is not its own: an earlier message has brought it, or it
    lies in the folder of the chat.

    `is_listing`: the names of files in place of passages, and `name` is that of their folder.
    """

    name: str
    excerpt: Excerpt
    is_listing: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as the user writes it: the words, and the files that go along.

    `sources`: what else goes along; not the user's doing, and chosen anew when the message is edited. `in_vain`: they
    were looked for, and no document has a word of the question.
    """

    text: str = ""
    files: tuple[Attachment, ...] = ()
    sources: tuple[Source, ...] = ()
    in_vain: bool = False

    def whole(self) -> "Draft":
        """The same with all of its files, whatever question they were cut for."""
        return Draft(self.text, tuple(replace(file, excerpt=None) for file in self.files))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not self.text.strip() and not self.files


def joined(drafts: Iterable[Draft]) -> Draft:
    """Several drafts as one, a blank line between their words."""
    found = list(drafts)
    texts = [draft.text for draft in found if draft.text.strip()]
    return Draft("\n\n".join(texts), tuple(file for draft in found for file in draft.files))


# --- reading


def read_attachment(path: Path, cancelled: threading.Event | None = None, *, takes_images: bool = True) -> Attachment:
    """Read a text file (Unicode with or without a mark, else Windows-1252), the text of a document, or an image.

    Blocks: a document may take a minute, unless `cancelled` is set meanwhile.

    Raises:
        UserError: it is none of these, too large, or cannot be read; in plain words.
        ReadingCancelledError: `cancelled` was set.
    """
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):  # a pipe or a device might never end
            raise UserError(f"{path.name} is not a file. Attach the files in it one by one.")
        with path.open("rb") as file:
            content = file.read(1024)
            if is_image(content) and not takes_images:
                raise UserError(sentence("no_text", path.name, MOST_TEXT))
            if is_image(content):
                return _read_image(path, facts.st_size, cancelled)
            if may_be_document(path, content):
                return _read_document(path, facts.st_size, cancelled)
            content += file.read(MAX_BYTES + 1 - len(content))
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror or error}. Check that it exists and that you may read it."
        ) from error
    if len(content) > MAX_BYTES:
        raise _too_large(path, MAX_BYTES)
    text = _decoded(content)
    if text is None:
        raise UserError(sentence("picture" if is_picture(content) else "unknown", path.name, MOST_TEXT))
    return Attachment(clean_name(path.name), clean(text), len(content))


class ScanError(UserError):
    """A document has pictures of pages, and no text."""


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """What became of a file; of a scan its pages, and how many there are of them in the file."""

    files: tuple[Attachment, ...]
    pages: int = 0


def read_attachments(path: Path, cancelled: threading.Event | None = None, *, takes_scans: bool = True) -> ReadFiles:
    """As `read_attachment`; with `takes_scans` the first pages of a scan as images, else it raises `ScanError`."""
    try:
        return ReadFiles((read_attachment(path, cancelled),))
    except ScanError:
        if not takes_scans:
            raise
    try:
        images, pages = scan_apart(path, cancelled)
    except (DocumentError, OSError) as error:
        why = error.why if isinstance(error, DocumentError) else "damaged"
        raise UserError(sentence(why, path.name, MOST_TEXT)) from error
    files = [
        Attachment(clean_name(f"{path.stem} {number}.{image_ending(image)}"), "", len(image), image=image)
        for number, image in enumerate(images, 1)
    ]
    return ReadFiles(tuple(files), pages)


def _read_document(path: Path, size: int, cancelled: threading.Event | None) -> Attachment:
    if size > MAX_DOCUMENT_BYTES:
        raise _too_large(path, MAX_DOCUMENT_BYTES)
    try:
        text = read_apart(path, cancelled)
    except DocumentError as error:
        kind = ScanError if error.why == "scanned" else UserError
        raise kind(sentence(error.why, path.name, MOST_TEXT)) from error
    return Attachment(clean_name(path.name), clean(text), size)


def _read_image(path: Path, size: int, cancelled: threading.Event | None) -> Attachment:
    if size > MAX_IMAGE_BYTES:
        raise _too_large(path, MAX_IMAGE_BYTES)
    try:
        data = base64.b64decode(read_apart(path, cancelled))
    except DocumentError as error:
        raise UserError(sentence(error.why, path.name, MOST_TEXT)) from error
    return Attachment(clean_name(path.name), "", len(data), image=data)


def _too_large(path: Path, most: int) -> UserError:
    return UserError(
        f"{path.name} is larger than {most / 1e6:.0f} MB, which is more than a model can read. Attach a part."
    )


def _decoded(content: bytes) -> str | None:
    """The text, or None if these bytes are none."""
    try:
        text = _in_unicode(content)
        misread = 0
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
        misread = text.count("\ufffd")
    is_text = "\0" not in text and len(_CONTROL.findall(text)) + misread <= _MOST_ODD * len(text)
    return text if is_text else None


def _in_unicode(content: bytes) -> str:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding)
    return content.decode("utf-8")


PASTED_NAME = "Pasted text {}.txt"
PASTED_IMAGE = "Pasted image {}.{}"


def pasted_attachment(text: str, names: Iterable[str] = (), called: str = PASTED_NAME) -> Attachment | None:
    """Long pasted text as an attachment with a name that is none of `names`; None for text that is short enough.

    `called`: its name in the user's language, with {} for the number.
    """
    if len(text) <= LONG_PASTE and text.count("\n") < LONG_PASTE_LINES:
        return None
    text = clean(text)
    taken, number = set(names), 1
    while (name := called.format(number)) in taken:
        number += 1
    return Attachment(name, text, len(text.encode()))


def pasted_image(data: bytes, names: Iterable[str] = (), called: str = PASTED_IMAGE) -> Attachment:
    """An image from the clipboard, of PNG or JPEG, with a name as in `pasted_attachment`; the second {} is its kind."""
    taken, number = set(names), 1
    while (name := called.format(number, image_ending(data))) in taken:
        number += 1
    return Attachment(name, "", len(data), image=data)


def clean(text: str) -> str:
    """A text that every store and model takes; its lines end as ours do."""
    return clean_text(text).replace("\r\n", "\n").replace("\r", "\n")


def clean_name(name: str) -> str:
    """A name on one line. A long one keeps its end, where the kind of the file stands."""
    name = "".join(char if char.isprintable() and char not in "`“”" else " " for char in clean_text(name))
    name = " ".join(name.split())
    return (name if len(name) <= MAX_NAME else "…" + name[1 - MAX_NAME :]) or "file"


# --- longer than the context


def fitted(draft: Draft, tokens_of: Callable[[Draft], int], most: int) -> Draft | None:
    """The draft with excerpts of its longest files, so that it has `most` tokens; None where that cannot be.

    `tokens_of` counts; it is asked a few times, and always of something that is not far longer than `most`.
    """
    ranked: dict[Attachment, Passages] = {}
    room = 4 * most  # characters: more than any text has in so many tokens, but for long rows of blanks
    for _ in range(_TRIES):
        share = fair_share([len(file.text) for file in draft.files], room)
        files: list[Attachment] = []
        for file in draft.files:
            if len(file.text) > share:
                if file not in ranked:
                    size = max(SMALLEST, min(share // 10, PASSAGE))  # of a small share, too, some shall fit in
                    ranked[file] = Passages(clean(file.text), draft.text, size)
                file = replace(file, excerpt=ranked[file].excerpt(share))
            files.append(file)
        tried = Draft(draft.text, tuple(files))
        tokens = tokens_of(tried)
        if tokens <= most:
            return tried
        room = min(int(room * most / tokens * 0.95), room - 1)
        if room < len(draft.files) * _LEAST:
            return None
    return None
