"""The words and the colour of the meter."""

import pytest
from PySide6.QtCore import Qt

from llama_gui.ui.context_meter import ContextMeter, short_count
from llama_gui.vocabulary import ContextUse


@pytest.fixture
def meter(qtbot) -> ContextMeter:
    meter = ContextMeter()
    qtbot.addWidget(meter)
    return meter


@pytest.mark.parametrize(
    ("use", "text", "role"),
    [
        (ContextUse(0, 8192), "0 / 8k context", "muted"),
        (ContextUse(1234, 8192), "1.2k / 8k context", "muted"),
        (ContextUse(6200, 8192), "6.1k / 8k context", "accent"),
        (ContextUse(4000, 8192, 1), "3.9k / 8k context · the oldest left out", "accent"),
        (ContextUse(4000, 8192, 7), "3.9k / 8k context · oldest 7 left out", "accent"),
        (ContextUse(8192, 8192), "8k / 8k context · too long", "error"),
        (ContextUse(8192, 8192, has_long_files=True), "8k / 8k context · passages of the files", "accent"),
        (ContextUse(131_072, 131_072 * 2), "128k / 256k context", "muted"),
    ],
)
def test_what_it_says(meter, use, text, role):
    meter.show_use(use)
    assert not meter.isHidden()
    assert (meter.text(), meter.role()) == (text, role)
    assert f"{use.tokens:,} of {use.max_context:,} tokens" in meter.accessibleName()
    meter.grab()


def test_it_is_hidden_while_nothing_is_known(meter):
    assert meter.isHidden()
    meter.show_use(ContextUse(1, 2))
    meter.show_use(None)
    assert meter.isHidden()
    assert meter.text() == ""


def test_a_click_asks_for_another_length(meter, qtbot):
    meter.show_use(ContextUse(1, 2048))
    assert "A click" in meter.toolTip()
    with qtbot.waitSignal(meter.clicked):
        qtbot.mouseClick(meter, Qt.MouseButton.LeftButton)


def test_counts():
    assert [short_count(count) for count in (0, 999, 1000, 1234, 8191, 8192, 131_072)] == [
        "0",
        "999",
        "1k",
        "1.2k",
        "8k",
        "8k",
        "128k",
    ]


def test_where_there_is_little_room_it_says_less_and_no_half_numbers(meter):
    meter.show_use(ContextUse(1234, 8192))
    width = meter.fontMetrics().horizontalAdvance
    assert meter.text_within(width(meter.text())) == "1.2k / 8k context"
    assert meter.text_within(width(meter.text()) - 1) == "1.2k / 8k"
    assert meter.text_within(width("1.2k / 8k") - 1) == "1.2k"
    assert meter.text_within(width("1.2k") - 1) == ""
    meter.show_use(ContextUse(8192, 8192))
    assert meter.text_within(width("8k / 8k context · too")).endswith("…")
    meter.show_use(ContextUse(2500, 2048))
    assert meter.text_within(width("2.4k / 2k cont…")) == meter.text_within(width("2.4k / 2k")) == "2.4k / 2k"
    assert meter.text_within(width("2.4k / 2k") - 1) == "2.4k"
