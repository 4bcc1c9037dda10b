"""Every text can be read on every ground it stands on."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPalette, QTextLayout
from PySide6.QtWidgets import QCheckBox, QDialog, QPushButton, QRadioButton, QVBoxLayout, QWidget

from llama_gui.ui.theme import DARK, LIGHT, apply_theme, code_font, theme_of

GROUNDS = ("page", "side", "raised", "user_message")
PAIRS = [(text, ground) for text in ("text", "muted", "accent", "error") for ground in GROUNDS]
PAIRS += [("on_accent", "accent"), ("text", "selected_row"), ("text", "hover"), ("text", "found")]
PAIRS += [("text", f"unsure_{level}") for level in (1, 2, 3)]
PAIRS += [(role, "code_surface") for role in ("text", "muted", "accent", "code_keyword", "code_number")]


def contrast(first: str, second: str) -> float:
    """The WCAG contrast ratio of two colours, from 1 to 21."""
    lighter, darker = sorted((_luminance(QColor(first)), _luminance(QColor(second))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: QColor) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_contrast(theme, text, ground):
    assert contrast(getattr(theme, text), getattr(theme, ground)) >= 4.5


def test_known_contrasts():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


@pytest.mark.parametrize(("scheme", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_widgets_know_their_theme(qapp, qtbot, scheme, theme):
    apply_theme(qapp, scheme)
    widget = QWidget()
    qtbot.addWidget(widget)
    assert theme_of(widget) is theme
    assert widget.palette().color(QPalette.ColorRole.Accent).name().upper() == theme.accent


class Dressed(QWidget):
    """Counts how often it was given a style."""

    times = 0

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.StyleChange:
            self.times += 1
        super().changeEvent(event)


def test_widgets_are_dressed_once_for_a_new_theme_and_not_for_the_same(qapp, qtbot):
    apply_theme(qapp, "light")
    widget = Dressed()
    qtbot.addWidget(widget)
    widget.show()
    seen = [widget.times]
    for scheme in ("light", "dark", "dark"):
        apply_theme(qapp, scheme)
        seen.append(widget.times)
    assert seen == [seen[0], seen[0], seen[0] + 1, seen[0] + 1]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
def test_the_edge_of_a_box_can_be_seen(qapp, qtbot, theme, kind):
    apply_theme(qapp, "dark" if theme.is_dark else "light")
    box = kind("A word")
    qtbot.addWidget(box)
    box.show()
    image = box.grab().toImage()
    row = [image.pixelColor(x, image.height() // 2).name() for x in range(16)]
    assert max(contrast(color, theme.side) for color in row) >= 3


def test_signs_of_code_are_drawn_as_they_are_typed(qapp):
    """Also in fonts that would draw an arrow for these two."""

    def glyphs(text: str) -> list[int]:
        layout = QTextLayout(text, code_font())
        layout.beginLayout()
        layout.createLine()
        layout.endLayout()
        return [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]

    for signs in ("->", "!=", "=>", "<="):
        assert glyphs(signs) == [glyph for sign in signs for glyph in glyphs(sign)]


def test_a_button_with_the_keyboard_has_one_ring_and_is_told_from_the_one_that_enter_presses(qapp, qtbot):
    apply_theme(qapp, "light")
    dialog = QDialog()
    layout = QVBoxLayout(dialog)
    first, enter = QPushButton(""), QPushButton("")
    for button in (first, enter):
        button.setAutoDefault(False)
        layout.addWidget(button)
    enter.setDefault(True)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitActive(dialog)
    first.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(first.hasFocus)
    accent, ground = theme_of(first).color("accent"), theme_of(first).color("raised")

    def across(button: QPushButton) -> list[QColor]:
        picture, middle = button.grab().toImage(), button.height() // 2
        return [picture.pixelColor(x, middle) for x in range(button.width() // 2)]

    assert across(first)[:2] == [accent, accent]
    assert set(map(QColor.name, across(first)[3:])) == {ground.name()}
    assert across(enter)[0] == accent
    assert across(enter)[1] == ground
