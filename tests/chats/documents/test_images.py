"""Images as they are kept: upright, in few enough pixels, and otherwise as they were."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pillow

from llama_gui.chats.documents.faults import DocumentError
from llama_gui.chats.documents.images import LONGEST_SIDE, is_image, reduced_image
from llama_gui.vocabulary import media_type_of
from tests.fakes.tiny_pixtral import encoded, picture


def reduced(folder: Path, data: bytes) -> tuple[bytes, Pillow.Image]:
    file = folder / "image"
    file.write_bytes(data)
    made = reduced_image(file)
    return made, Pillow.open(BytesIO(made))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_a_small_one_stays_as_it_is(tmp_path: Path, kind: str):
    data = picture(300, 200, kind=kind).data
    assert is_image(data)
    assert reduced(tmp_path, data)[0] == data


def test_a_large_photo_is_smaller_and_keeps_its_form(tmp_path: Path):
    made, image = reduced(tmp_path, picture(3000, 1500, kind="JPEG", quality=95).data)
    assert media_type_of(made) == "image/jpeg"
    assert image.size == (LONGEST_SIDE, LONGEST_SIDE // 2)
    assert len(made) < 1_000_000


def test_a_large_drawing_keeps_its_edges(tmp_path: Path):
    made, image = reduced(tmp_path, encoded(Pillow.new("RGB", (4000, 100), "red")))
    assert media_type_of(made) == "image/png"
    assert image.size == (LONGEST_SIDE, 39)


def test_what_is_transparent_stays_so(tmp_path: Path):
    clear = Pillow.new("RGBA", (2000, 2000), (255, 0, 0, 0))
    made, image = reduced(tmp_path, encoded(clear))
    assert (media_type_of(made), image.mode, image.getpixel((5, 5))[3]) == ("image/png", "RGBA", 0)


def test_one_that_lies_is_stood_up(tmp_path: Path):
    exif = Pillow.Exif()
    exif[0x0112] = 6
    _, image = reduced(tmp_path, encoded(Pillow.new("RGB", (30, 20), "red"), "JPEG", exif=exif))
    assert image.size == (20, 30)
    assert 0x0112 not in image.getexif()


def test_where_it_was_taken_is_left_out(tmp_path: Path):
    exif = Pillow.Exif()
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    data = encoded(Pillow.new("RGB", (30, 20), "red"), "JPEG", exif=exif)
    assert 0x8825 in Pillow.open(BytesIO(data)).getexif()
    assert 0x8825 not in reduced(tmp_path, data)[1].getexif()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: picture(200, 200).data[:500], "damaged"),
        (lambda: b"\x89PNG\r\n\x1a\n" + b"x" * 100, "damaged"),
        (lambda: encoded(Pillow.new("1", (9200, 9200))), "too_large"),
        (lambda: encoded(Pillow.new("1", (30_000, 30_000))), "too_large"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, make: Callable[[], bytes], why: str):
    with pytest.raises(DocumentError) as caught:
        reduced(tmp_path, make())
    assert caught.value.why == why
