"""The file of an image -> its pixels, in the size in which a network reads them."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import torch
from PIL import Image as Pillow
from PIL import ImageOps
from torch import Tensor

from llama_gui.engine.vision.config import VisionConfig
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import IMAGE_KINDS, Image

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
_MOST_PIXELS = 80_000_000
"""Of a file. More take as many bytes three times over, whatever small file they come in."""
MOST_PIXELS_ON_CPU = 1024 * 1024
"""Of an image as it is read. Each patch sees all others: one of 1540 x 1540 takes a CPU four times as long."""
_KEPT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """An image as it is read: uint8 `pixels` ``[height, width, 3]``.

    `rows` and `columns`: see `Layout`. Squares lie below each other in `pixels`, line by line, and if there are several
    the whole image as one more behind them. `digest`: of the file.
    """

    digest: bytes
    rows: int
    columns: int
    pixels: Tensor


class ImagePreparer:
    """Decodes and resizes images as transformers' processors do; in any thread. The latest are kept.

    `most_pixels`: a limit beside that of the model; None: there is none.
    """

    def __init__(self, config: VisionConfig, most_pixels: int | None = None) -> None:
        self._config = config
        self._most_pixels = most_pixels
        self._kept: OrderedDict[bytes, PreparedImage] = OrderedDict()
        self._lock = threading.Lock()

    def prepare(self, image: Image) -> PreparedImage:
        """`image`, decoded and resized.

        Raises:
            InvalidRequestError: it is damaged, or has far too many pixels.
        """
        with self._lock:
            found = self._kept.get(image.digest)
            if found is not None:
                self._kept.move_to_end(image.digest)
                return found
        made = self._made(image)
        with self._lock:
            self._kept[image.digest] = made
            while len(self._kept) > 1 and sum(one.pixels.nbytes for one in self._kept.values()) > _KEPT_BYTES:
                self._kept.popitem(last=False)
        return made

    def _made(self, image: Image) -> PreparedImage:
        picture = _decoded(image)
        layout = self._config.layout(picture.height, picture.width, self._most_pixels)
        manner = Pillow.Resampling[self._config.resampling.upper()]
        for size in layout.sizes:
            picture = picture.resize(size, manner)  # which leaves one of that size as it is
        pixels = np.array(picture)
        if layout.rows * layout.columns > 1 and layout.square:
            whole = picture.resize((layout.square, layout.square), manner)
            pixels = np.concatenate((_squares(pixels, layout.square), np.array(whole)))
        return PreparedImage(image.digest, layout.rows, layout.columns, torch.from_numpy(pixels))


def _squares(pixels: np.ndarray, size: int) -> np.ndarray:
    """The squares of `size` pixels below each other: ``[height, width, 3]`` -> ``[squares * size, size, 3]``."""
    rows, columns = pixels.shape[0] // size, pixels.shape[1] // size
    return pixels.reshape(rows, size, columns, size, 3).swapaxes(1, 2).reshape(-1, size, 3)


def _decoded(image: Image) -> Pillow.Image:
    """Upright, in colours, and on white where it is transparent."""
    try:
        with Pillow.open(BytesIO(image.data), formats=_FORMATS) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                raise _too_large(f"of {opened.width} x {opened.height} pixels")
            picture = ImageOps.exif_transpose(opened)
            if picture.has_transparency_data:
                picture = picture.convert("RGBA")
                white = Pillow.new("RGBA", picture.size, "white")
                return Pillow.alpha_composite(white, picture).convert("RGB")
            return picture.convert("RGB")
    except InvalidRequestError:
        raise
    except Pillow.DecompressionBombError as error:  # Pillow has a limit of its own
        raise _too_large("of far more pixels") from error
    except Exception as error:  # decoders raise whatever damaged files make of them
        raise InvalidRequestError("image", f"damaged ({error})", f"whole, and {IMAGE_KINDS}") from error


def _too_large(size: str) -> InvalidRequestError:
    return InvalidRequestError("image", size, f"one of {_MOST_PIXELS:,} pixels at most")
