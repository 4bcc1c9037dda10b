"""Windows fit on the screen that there is."""

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from llama_gui.settings import UserSettings
from llama_gui.ui import dialogs, preferences
from llama_gui.ui.actions import Actions
from llama_gui.ui.preferences import PreferencesDialog
from llama_gui.ui.screen_room import fitted


def test_no_larger_than_the_screen_with_a_title_bar(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    room = window.screen().availableSize()
    assert fitted(QSize(100, 100), window) == QSize(100, 100)
    assert fitted(QSize(9000, 9000), window).width() == room.width()
    assert fitted(QSize(9000, 9000), window).height() < room.height()


def test_the_preferences_scroll_where_the_screen_is_low(qtbot, icons, tmp_path, monkeypatch):
    monkeypatch.setattr(preferences, "fitted", lambda size, _window: size.boundedTo(QSize(1024, 560)))
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = PreferencesDialog(UserSettings(), tmp_path, icons, parent)
    dialog.show()
    assert dialog.height() <= 560


@pytest.mark.parametrize("room", [QSize(1024, 300), QSize(560, 300)], ids=["low", "low and narrow"])
def test_all_keys_can_be_scrolled_to_where_the_screen_is_small(qtbot, monkeypatch, room):
    monkeypatch.setattr(dialogs, "fitted", lambda size, _window: size.boundedTo(room))
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = dialogs.KeysDialog(Actions(parent), parent)
    dialog.show()
    assert dialog.height() <= 300
    area = dialog.findChild(QScrollArea)
    assert area is not None
    assert area.horizontalScrollBar().maximum() == 0
    last = max(dialog.findChildren(QLabel), key=lambda label: label.mapTo(area.viewport(), QPoint(0, 0)).y())
    for _ in range(9):
        qtbot.keyClick(dialog.focusWidget() or area, Qt.Key.Key_PageDown)
    assert area.viewport().rect().contains(last.mapTo(area.viewport(), last.rect().center()))
