"""Parameters and presets, from the panel to what the engine is asked."""

from collections import Counter

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QMenu

from llama_gui.settings import UserSettings
from llama_gui.ui.parameter import ValueEdit
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import ask, name_it, trigger


def set_number(qtbot, window, name: str, text: str) -> None:
    row = window.panel.rows[name]
    for group in window.panel.groups.values():
        group.open()
    row.edit.setFocus()
    row.edit.selectAll()
    qtbot.keyClicks(row.edit, text)
    qtbot.keyClick(row.edit, Qt.Key.Key_Return)


def choose(window, text: str) -> None:
    menu = window.panel.presets.make_menu()
    next(action for action in menu.actions() if action.text() == text).trigger()
    menu.deleteLater()


class Dressed(QObject):
    """Counts how often each field for a number is dressed anew."""

    def __init__(self) -> None:
        super().__init__()
        self.times: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange and isinstance(watched, ValueEdit):
            self.times[watched.accessibleName()] += 1
        return False


def test_the_panel_is_dressed_few_times_until_the_window_is_there(open_window, qapp):
    """Qt dresses a widget anew each time that something around it moves into another widget, which takes long."""
    dressed = Dressed()
    qapp.installEventFilter(dressed)
    open_window(ScriptedEngine())
    qapp.removeEventFilter(dressed)
    assert set(dressed.times.values()) == {1}


def test_what_is_set_applies_from_the_next_answer(open_window, qtbot):
    engine = ScriptedEngine()
    window = open_window(engine)
    tab = window.deck.current()
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    set_number(qtbot, window, "temperature", "0.4")
    set_number(qtbot, window, "frequency_penalty", "0.5")
    set_number(qtbot, window, "dry_multiplier", "0.8")
    set_number(qtbot, window, "min_tokens", "3")
    qtbot.keyClick(window.panel.rows["overflow"].box, Qt.Key.Key_Down)
    window.panel.system_prompt.setFocus()
    qtbot.keyClicks(window.panel.system_prompt, "Be kind.")
    ask(qtbot, tab, "second")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 4 and not tab.session.answering)
    former, request = engine.requests[0], engine.requests[-1]
    assert (former.sampling.temperature, former.min_tokens, former.overflow) == (None, 0, "drop_oldest")
    sampling = request.sampling
    assert (sampling.temperature, sampling.frequency_penalty, sampling.dry_multiplier) == (0.4, 0.5, 0.8)
    assert (request.min_tokens, request.overflow) == (3, "error")
    assert request.messages[0].content == "Be kind."


def test_a_click_takes_the_keyboard_from_the_settings_to_the_message(open_window, qtbot):
    window = open_window(ScriptedEngine())
    for _ in range(2):  # the first chat, and one that was opened later
        edit = window.deck.current().composer.edit
        for settings in (window.panel.system_prompt, window.panel.picker):
            settings.setFocus()
            assert settings.hasFocus()
            qtbot.mouseClick(edit.viewport(), Qt.MouseButton.LeftButton)
            assert edit.hasFocus()
        trigger(window, "new_tab")


def test_what_is_typed_a_moment_before_another_tab_is_shown_is_kept_and_in_no_other(open_window, qtbot):
    window = open_window(ScriptedEngine())
    prompt = window.panel.system_prompt
    first = window.deck.current().session
    qtbot.keyClicks(prompt, "Be kind.")
    trigger(window, "new_tab")
    second = window.deck.current().session
    assert (first.settings.system_prompt, second.settings.system_prompt) == ("Be kind.", "")
    assert prompt.toPlainText() == ""
    window.deck.open_chat(first.chat_id)
    assert prompt.toPlainText() == "Be kind."
    prompt.selectAll()
    qtbot.keyClick(prompt, Qt.Key.Key_Backspace)
    window.deck.open_chat(second.chat_id)
    qtbot.keyClicks(prompt, "Be brief.")
    window.deck.close_chat(second.chat_id)
    assert (first.settings.system_prompt, prompt.toPlainText()) == ("", "")


def test_a_preset_is_saved_applied_changed_renamed_and_deleted_with_undo(open_window, qtbot):
    window = open_window(ScriptedEngine())
    picker = window.panel.presets
    set_number(qtbot, window, "temperature", "1.2")
    choose(window, "Save as a preset…")
    name_it(qtbot, "Warm")
    qtbot.waitUntil(lambda: picker.text() == "Warm")
    trigger(window, "new_tab")
    assert picker.text() == "The model's defaults"
    choose(window, "Warm")
    assert window.deck.current().session.settings.sampling.temperature == 1.2
    set_number(qtbot, window, "top_k", "7")
    assert picker.differences() == ["Top-k"]
    choose(window, "Keep the changes in “Warm”")
    qtbot.waitUntil(lambda: picker.differences() == [])
    assert window.panel.preset_bar.text() == "“Warm” was replaced."
    choose(window, "Rename “Warm”…")
    name_it(qtbot, "Hot")
    qtbot.waitUntil(lambda: picker.text() == "Hot")
    assert [tab.session.settings.preset for tab in window.deck.tabs()] == ["Hot", "Hot"]
    choose(window, "Delete “Hot”")
    qtbot.waitUntil(lambda: picker.text() == "None")
    window.panel.preset_bar.accepted.emit()
    qtbot.waitUntil(lambda: picker.text() == "Hot")


def test_new_chats_begin_with_a_preset_also_after_the_next_start(open_window, qtbot):
    window = open_window(ScriptedEngine())
    set_number(qtbot, window, "max_tokens", "50")
    choose(window, "Save as a preset…")
    name_it(qtbot, "Short")
    qtbot.waitUntil(lambda: window.panel.presets.text() == "Short")
    choose(window, "New chats begin with “Short”")
    trigger(window, "new_tab")
    assert window.deck.current().session.settings.max_tokens == 50
    kept = window.kept_settings[-1]
    assert kept.default_preset == "Short"
    window.close()
    again = open_window(ScriptedEngine(), settings=UserSettings(default_preset="Short"))
    trigger(again, "new_tab")
    assert again.deck.current().session.settings.max_tokens == 50
    assert again.panel.presets.text() == "Short"


def test_presets_are_found_in_the_palette(open_window, monkeypatch):
    shown = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: shown.append(menu))
    window = open_window(ScriptedEngine())
    trigger(window, "settings_panel")
    assert window.panel.isHidden()
    trigger(window, "presets")
    assert not window.panel.isHidden()
    (menu,) = shown
    assert any("Save" in action.text() for action in menu.actions())
