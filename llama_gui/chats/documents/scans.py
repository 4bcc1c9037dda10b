"""A PDF without text: its pages as images."""

from pathlib import Path

import pypdfium2
from pypdfium2 import PdfDocument, PdfiumError

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.images import LONGEST_SIDE, encoded_image

MOST_PAGES = 10
"""Of one scan: a model takes seconds for each, and hundreds of tokens."""
_LARGEST_SCALE = 300 / 72
"""A small page becomes no larger than scanners make it."""


def page_images(path: Path) -> tuple[list[bytes], int]:
    """The first pages as PNG or JPEG, no larger than models read them; and how many pages there are.

    Raises:
        DocumentError: it cannot be opened, or no page can be drawn.
    """
    try:
        document = pypdfium2.PdfDocument(path)
    except PdfiumError as error:
        raise DocumentError("damaged") from error
    try:
        made = [image for number in range(min(len(document), MOST_PAGES)) if (image := _drawn(document, number))]
        if not made:
            raise DocumentError("damaged")
        return made, len(document)
    finally:
        document.close()


def _drawn(document: PdfDocument, number: int) -> bytes:
    """b"": this page is damaged."""
    try:
        page = document[number]
    except PdfiumError:
        return b""
    try:
        longest = max(page.get_size())
        scale = min(LONGEST_SIDE / longest, _LARGEST_SCALE) if longest > 0 else 1.0
        drawn = page.render(scale=scale)  # pyright: ignore[reportArgumentType] - its default makes it look whole
        return encoded_image(drawn.to_pil().convert("RGB"))
    except (PdfiumError, ValueError):
        return b""
    finally:
        page.close()
