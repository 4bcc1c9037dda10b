"""Painted words stand as the window is, and read as they are."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter

from llama_gui.ui.composer import Composer
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import frame_font

LEFT, RIGHT = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
ROOM = QRect(0, 0, 300, 30)
LEADING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
TRAILING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
ON_LEFT, ON_RIGHT = (
    Qt.AlignmentFlag.AlignVCenter | side | Qt.AlignmentFlag.AlignAbsolute
    for side in (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
)


def picture(direction: Qt.LayoutDirection, draw) -> QImage:
    image = QImage(300, 30, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setFont(frame_font(13))
    painter.setLayoutDirection(direction)
    draw(painter)
    assert painter.layoutDirection() == direction
    painter.end()
    return image


@pytest.mark.parametrize(
    ("window", "alignment", "words", "reads", "stands"),
    [
        (LEFT, LEADING, "What is it?", LEFT, ON_LEFT),
        (RIGHT, LEADING, "What is it?", LEFT, ON_RIGHT),
        (RIGHT, TRAILING, "1.8 GB · MIT", LEFT, ON_LEFT),
        (RIGHT, Qt.AlignmentFlag.AlignVCenter, "Attach files…", LEFT, ON_RIGHT),
        (LEFT, LEADING, "كيف حالك؟ 1!", RIGHT, ON_LEFT),
        (RIGHT, LEADING, "كيف حالك؟ 1!", RIGHT, ON_RIGHT),
        (RIGHT, LEADING, "12 %", RIGHT, ON_RIGHT),  # no letter: as the window
    ],
)
def test_words_are_read_in_their_own_direction(qapp, window, alignment, words, reads, stands):
    drawn = picture(window, lambda painter: draw_words(painter, ROOM, alignment, words))
    assert drawn == picture(reads, lambda painter: painter.drawText(ROOM, stands, words))
    otherwise = LEFT if reads == RIGHT else RIGHT
    assert drawn != picture(otherwise, lambda painter: painter.drawText(ROOM, stands, words))


def test_the_hint_of_a_mirrored_composer_is_read_in_its_own_direction_too(icons, qtbot):
    composer = Composer(icons)
    qtbot.addWidget(composer)
    composer.set_placeholder("Message Tiny …")
    assert composer.edit.placeholderText() == "Message Tiny …"
    composer.setLayoutDirection(RIGHT)
    composer.set_placeholder("Message Tiny …")
    assert composer.edit.placeholderText() == "\u2068Message Tiny …\u2069"
