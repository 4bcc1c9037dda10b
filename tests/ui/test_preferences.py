"""What is chosen in the preferences is told at once, and nothing else changes."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QWidget

from llama_gui.settings import UserSettings
from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.icons import Icons
from llama_gui.ui.preferences import PREFERENCES, PreferencesDialog
from tests.journeys.conftest import RESOURCES

KEPT = UserSettings(model_path="/models/x", zoom=1.15, sidebar_open=False)


@pytest.fixture
def dialog(qtbot, tmp_path: Path):
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = PreferencesDialog(KEPT, tmp_path, Icons(RESOURCES / "icons"), parent)
    dialog.show()
    yield dialog
    parent.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("color_scheme", "dark"),
        ("language", "de"),
        ("layout_direction", "right_to_left"),
        ("strategy", "interleaved"),
        ("unload_after_minutes", 0),
        ("prompt_cache_gb", 32),
        ("meaning_model", ""),
    ],
)
def test_a_choice_is_told(dialog, qtbot, name, value):
    box = dialog.findChild(ChoiceBox, name)
    with qtbot.waitSignal(dialog.changed) as told:
        box.setCurrentIndex(box.findData(value))
    assert told.args == [replace(KEPT, **{name: value})]


@pytest.mark.parametrize("name", ["notify", "auto_titles"])
def test_a_flag_is_told(dialog, qtbot, name):
    with qtbot.waitSignal(dialog.changed) as told:
        dialog.findChild(QCheckBox, name).click()
    assert told.args == [replace(KEPT, **{name: False})]


def test_a_zoom_between_the_steps_is_among_the_choices(dialog):
    assert dialog.findChild(ChoiceBox, "zoom").currentData() == 1.15


def test_all_that_the_window_takes_over_can_be_chosen(dialog):
    shown = {widget.objectName() for kind in (ChoiceBox, QCheckBox) for widget in dialog.findChildren(kind)}
    assert shown == set(PREFERENCES)


def test_the_wheel_changes_nothing(dialog, qtbot):
    box = dialog.findChild(ChoiceBox, "strategy")
    with qtbot.assertNotEmitted(dialog.changed):
        qtbot.mouseMove(box)
        box.wheelEvent(_wheel())
    assert box.currentData() == "batched"


def _wheel():
    from PySide6.QtCore import QPoint, QPointF
    from PySide6.QtGui import QWheelEvent

    return QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(0, -120), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
