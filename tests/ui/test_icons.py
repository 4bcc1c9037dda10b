"""Every icon can be drawn, in the colour that is asked for."""

from pathlib import Path

import pytest
from PySide6.QtGui import QColor

FOLDER = Path(__file__).parents[2] / "resources" / "icons"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.svg")))
def test_icon(icons, name):
    image = icons.pixmap(name, QColor("#B04A1A"), 16, 2.0).toImage()
    assert image.width() == 32
    colours = {
        image.pixelColor(x, y).name() for x in range(32) for y in range(32) if image.pixelColor(x, y).alpha() == 255
    }
    assert "#b04a1a" in colours
