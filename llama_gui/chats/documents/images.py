"""Images as they are kept: upright, and no larger than models read them."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.vocabulary import media_type_of

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_SIDE = 1540
"""Pixels: what Pixtral reads at most. Others read fewer."""
_KEPT_BYTES = 1_000_000
"""A file that is no larger stays as it is, unless it has to be turned, has more pixels or tells where it was taken."""
_ORIENTATION, _GPS = 0x0112, 0x8825  # tags of Exif
_MOST_PIXELS = 80_000_000
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
_QUALITY = 90


def reduced_image(path: Path) -> bytes:
    """The image in the file, in few enough pixels: its own bytes, or PNG or JPEG.

    Raises:
        DocumentError: it is damaged, or far too large.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    from PIL import Image, ImageOps  # here: the window shows sooner

    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                raise DocumentError("too_large")
            upright = ImageOps.exif_transpose(opened)
            notes = opened.getexif()
            is_fine = notes.get(_ORIENTATION, 1) == 1 and _GPS not in notes
            if max(upright.size) <= LONGEST_SIDE and is_fine and len(data) <= _KEPT_BYTES:
                upright.load()  # or it is not known to be whole
                return data
            has_alpha = upright.has_transparency_data
            picture = upright.convert("RGBA" if has_alpha else "RGB")
            picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
            return encoded_image(picture)
    except DocumentError:
        raise
    except Image.DecompressionBombError as error:
        raise DocumentError("too_large") from error
    except Exception as error:  # decoders raise whatever damaged files make of them
        raise DocumentError("damaged") from error


def encoded_image(picture: "Image") -> bytes:
    """What is drawn is smaller as PNG, and has sharp edges there; what was photographed is smaller as JPEG."""
    drawn = BytesIO()
    picture.save(drawn, "PNG", optimize=False)
    if picture.mode == "RGBA" or len(drawn.getvalue()) <= _KEPT_BYTES // 2:
        return drawn.getvalue()
    photographed = BytesIO()
    picture.save(photographed, "JPEG", quality=_QUALITY)
    return min(drawn.getvalue(), photographed.getvalue(), key=len)


def is_image(beginning: bytes) -> bool:
    """Whether a file that begins so is one that is read."""
    return bool(media_type_of(beginning))
