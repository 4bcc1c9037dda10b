"""The palette finds actions by the words of other applications, in English and in the user's language."""

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QWidget

from llama_gui.ui.actions import ACTIONS, Actions
from llama_gui.ui.dialogs import CommandPalette
from llama_gui.ui.other_words import OTHER_WORDS
from tests.translations import TRANSLATIONS


def found(qtbot, typed: str) -> list[str]:
    window = QWidget()
    qtbot.addWidget(window)
    palette = CommandPalette(Actions(window), window)
    palette.field.setText(typed)
    rows = palette.view.model()
    return [rows.index(row, 0).data() for row in range(rows.rowCount())]


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("theme", "Colours: dark"),
        ("language", "Preferences"),
        ("Settings", "Preferences"),
        ("system prompt", "Show or hide the settings"),
        ("API", "Let other programs use the models…"),
        ("mcp", "Tool servers…"),
        ("trash", "Open the bin"),
        ("retry", "Answer again"),
    ],
)
def test_an_action_is_found_by_another_word(qtbot, typed: str, action: str):
    assert action in found(qtbot, typed)


def test_german_words_count_beside_the_english(qtbot, qapp):
    german = QTranslator(qapp)
    assert german.load(str(TRANSLATIONS / "llama_gui_de.qm"))
    qapp.installTranslator(german)
    try:
        assert "Papierkorb öffnen" in found(qtbot, "wiederherstellen")
        assert "Papierkorb öffnen" in found(qtbot, "trash")
    finally:
        qapp.removeTranslator(german)


def test_only_actions_have_other_words():
    assert OTHER_WORDS.keys() <= {spec.name for spec in ACTIONS if spec.in_palette}
