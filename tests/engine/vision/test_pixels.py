"""Files of images: upright, on white, as small as they may be, and what cannot be read."""

from pathlib import Path

import pytest
import torch
from PIL import Image as Pillow

from llama_gui.engine.config import load_config
from llama_gui.engine.vision import pixels
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.pixels import ImagePreparer
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import Image
from tests.fakes.tiny_pixtral import encoded, picture


@pytest.fixture
def preparer(seeing: Path) -> ImagePreparer:
    config = read_vision(seeing, load_config(seeing))
    assert config is not None
    return ImagePreparer(config)


def test_what_is_turned_by_its_exif_is_upright(preparer: ImagePreparer):
    upright = Pillow.new("RGB", (28, 56), "red")
    upright.paste("blue", (0, 0, 28, 14))
    exif = Pillow.Exif()
    exif[0x0112] = 6  # a quarter to the right
    lying = Image(encoded(upright.rotate(90, expand=True), exif=exif))
    assert torch.equal(preparer.prepare(lying).pixels, preparer.prepare(Image(encoded(upright))).pixels)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(preparer: ImagePreparer, mode: str):
    clear = Pillow.new("RGBA", (14, 14), (0, 0, 0, 0)).convert(mode)
    options = {"transparency": 0} if mode == "P" else {}
    assert int(preparer.prepare(Image(encoded(clear, **options))).pixels.min()) == 255


@pytest.mark.parametrize("mode", ["1", "L", "I;16", "CMYK"])
def test_other_colours_become_three(preparer: ImagePreparer, mode: str):
    kind = "JPEG" if mode == "CMYK" else "PNG"
    assert preparer.prepare(Image(encoded(Pillow.new(mode, (20, 30)), kind))).pixels.shape == (42, 28, 3)


@pytest.mark.parametrize(
    ("size", "grid"),
    [((1, 1), (1, 1)), ((14, 15), (2, 1)), ((112, 112), (8, 8)), ((500, 100), (2, 8)), ((10, 3000), (8, 1))],
)
def test_an_image_has_at_most_the_longest_edge(preparer: ImagePreparer, size: tuple[int, int], grid: tuple[int, int]):
    made = preparer.prepare(picture(*size))
    assert (made.rows, made.columns) == grid
    assert made.pixels.shape == (grid[0] * 14, grid[1] * 14, 3)


def test_few_pixels_where_many_would_take_long(seeing: Path):
    config = read_vision(seeing, load_config(seeing))
    assert config is not None
    made = ImagePreparer(config, most_pixels=50 * 50).prepare(picture(200, 100))
    assert (made.rows, made.columns) == (3, 5)  # 35 x 70 pixels


def test_the_first_picture_of_an_animation_counts(preparer: ImagePreparer):
    frames = [Pillow.new("RGB", (14, 14), colour) for colour in ("red", "blue")]
    made = preparer.prepare(Image(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])))
    assert made.pixels[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_a_file_that_is_cut_off_is_refused(preparer: ImagePreparer, kind: str):
    whole = picture(60, 60, kind=kind).data
    for end in (20, len(whole) // 2):
        with pytest.raises(InvalidRequestError, match=r"^image is 'damaged \(.*, but it must be whole, and a PNG"):
            preparer.prepare(Image(whole[:end]))


@pytest.mark.parametrize("side", [9_200, 30_000])
def test_a_small_file_with_far_too_many_pixels_is_refused_at_once(preparer: ImagePreparer, side: int):
    bomb = Image(encoded(Pillow.new("1", (side, side))))
    assert len(bomb.data) < 2**20
    with pytest.raises(InvalidRequestError, match=r"more pixels|9200 x 9200 pixels"):
        preparer.prepare(bomb)


def test_the_latest_are_kept(preparer: ImagePreparer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pixels, "_KEPT_BYTES", 3 * 112 * 112 * 2)
    first, *others = (picture(112, 112, seed) for seed in range(4))
    made = preparer.prepare(first)
    assert preparer.prepare(Image(first.data, 5)) is made
    for other in others:
        preparer.prepare(other)
    again = preparer.prepare(first)
    assert again is not made
    assert torch.equal(again.pixels, made.pixels)
