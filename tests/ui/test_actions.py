"""One registry: no key twice, every key readable."""

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel, QWidget

from llama_gui.ui.actions import ACTIONS, Actions
from llama_gui.ui.dialogs import KeysDialog, confirm_link
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.ui.settings_places import FIELD_SYNONYMS, settings_places
from llama_gui.ui.synonyms import SYNONYMS


def test_no_key_means_two_things():
    keys = [QKeySequence(key).toString() for spec in ACTIONS for key in spec.keys]
    assert len(keys) == len(set(keys))
    assert all(keys)


def test_the_help_names_every_key_once(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    actions = Actions(window)
    dialog = KeysDialog(actions, window)
    shown = [label.text() for label in dialog.findChildren(QLabel)]
    for spec, action in actions:
        if spec.in_palette and spec.keys:
            assert shown.count(action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)) == 1


def test_the_help_names_what_several_chats_are_chosen_with(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    dialog = KeysDialog(Actions(window), window)
    shown = [label.text() for label in dialog.findChildren(QLabel)]
    assert {"Choose several in the list", "Ctrl or Shift + click", "Delete what is chosen there"} <= set(shown)


def test_a_link_is_shown_as_it_is(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    address = "https://example.org/<b>x</b>?" + "y" * 2000
    answers = []
    box = confirm_link(window, address, lambda *answer: answers.append(answer))
    assert "<b>x</b>" in box.informativeText()
    assert len(box.informativeText()) < 800
    box.button(box.StandardButton.Cancel).click()
    assert answers == [(address, box.StandardButton.Cancel)]


def test_only_actions_have_synonyms():
    assert SYNONYMS.keys() <= {spec.name for spec in ACTIONS}


def test_only_fields_have_synonyms(qtbot, icons):
    panel = SettingsPanel(icons)
    qtbot.addWidget(panel)
    assert FIELD_SYNONYMS.keys() <= panel.field_names().keys()
    assert len(settings_places(panel, lambda _: None)) == len(panel.field_names())
