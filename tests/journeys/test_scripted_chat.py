"""From the keyboard to the painted text, through the whole application but the network of weights."""

import time

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from llama_gui.chats.search import SearchHit
from llama_gui.errors import UserError
from llama_gui.settings import UserSettings
from llama_gui.ui.dialogs import CommandPalette
from llama_gui.ui.rows import NOTE_ROLE
from llama_gui.ui.widgets import Button
from llama_gui.vocabulary import STARTER
from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.driving import ask, ink, shown, trigger

LONG = pieces_of("and so it goes on " * 400)


def test_type_and_read(open_window, qtbot):
    script = {"Hello": ["Good ", "**mor", "ning**", " to you."]}
    window = open_window(ScriptedEngine(script))
    tab = window.deck.current()
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: "4 tokens" in shown(tab))
    assert shown(tab).startswith("Hello\nScripted\nGood morning to you.\nCopy")
    assert ink(tab.transcript, "morning") > 50
    assert tab.composer.text() == ""
    assert window.strip.bar.title(0) == "Hello"
    assert [session.title for session in window.deck._book.sessions()] == ["Hello"]
    qtbot.waitUntil(lambda: window.sidebar.view.model().rowCount() == 2)


def test_the_keyboard_is_in_the_composer_at_the_start(open_window, qtbot):
    window = open_window(ScriptedEngine())
    first = window.deck.current()
    assert window.focusWidget() is first.composer.edit
    assert window.deck.new_tab().composer.edit is window.focusWidget()
    qtbot.mouseClick(window.strip.new_button, Qt.MouseButton.LeftButton)
    assert window.focusWidget() is window.deck.current().composer.edit
    assert len(window.deck.tabs()) == 3
    window.deck.go_to(1)
    assert window.focusWidget() is first.composer.edit


def test_what_is_typed_while_reading_goes_into_the_message(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    ask(qtbot, tab, "Hello")
    qtbot.waitUntil(lambda: "Again" in shown(tab))
    tab.composer.set_text("And ")
    tab.transcript.setFocus()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_PageUp, Qt.Key.Key_Escape):
        qtbot.keyClick(tab.transcript, key)
    qtbot.keyClick(tab.transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert (tab.composer.text(), window.focusWidget()) == ("And ", tab.transcript)
    qtbot.keyClick(tab.transcript, "N", Qt.KeyboardModifier.ShiftModifier)
    assert window.focusWidget() is tab.composer.edit
    qtbot.keyClicks(window.focusWidget(), "ow?")
    assert tab.composer.text() == "And Now?"


def test_a_suggestion_is_asked_with_one_click(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    assert tab.welcome.isVisible()
    with qtbot.waitSignal(tab.session.accepted):
        tab.welcome.asked.emit("What is this application?")
    qtbot.waitUntil(lambda: "Again" in shown(tab))
    assert tab.transcript.isVisible()


def test_three_tabs_at_once_and_one_is_stopped_alone(open_window, qtbot):
    words = ("one", "two", "three")
    window = open_window(ScriptedEngine(dict.fromkeys(words, LONG), tokens_per_second=200))
    tabs = [window.deck.current(), window.deck.new_tab(), window.deck.new_tab()]
    for number, word in enumerate(words, start=1):
        window.deck.go_to(number)
        ask(qtbot, tabs[number - 1], word)
    qtbot.waitUntil(lambda: all(len(tab.session.path()) == 2 and tab.session.path()[-1].content for tab in tabs))
    assert all(tab.session.answering for tab in tabs)
    assert window.status.answering.text() == "3 answering"
    assert all(window.strip.bar.has_dot(tab.session.chat_id) for tab in tabs)

    window.deck.go_to(2)
    assert tabs[1].composer.button.text() == "Stop"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    trigger(window, "stop")
    qtbot.waitUntil(lambda: not tabs[1].session.answering)
    assert tabs[0].session.answering
    assert tabs[2].session.answering
    assert tabs[1].session.path()[-1].status == "stopped"
    assert "stopped" in shown(tabs[1])
    assert window.status.answering.text() == "2 answering"

    before = len(tabs[0].session.path()[-1].content)
    qtbot.waitUntil(lambda: len(tabs[0].session.path()[-1].content) > before)
    for number in (1, 3):
        window.deck.go_to(number)
        qtbot.mouseClick(window.deck.current().composer.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not any(tab.session.answering for tab in tabs))


def test_an_answer_in_a_hidden_tab_is_marked_unread(open_window, qtbot):
    window = open_window(ScriptedEngine({"hi": ["Hello."]}))
    first = window.deck.current()
    ask(qtbot, first, "hi")
    window.deck.new_tab()
    qtbot.waitUntil(lambda: len(first.session.path()) == 2 and not first.session.answering)
    assert window.strip.bar.has_dot(first.session.chat_id)
    window.deck.go_to(1)
    assert not window.strip.bar.has_dot(first.session.chat_id)
    assert "Hello." in shown(first)


def test_closing_while_it_answers_and_everything_comes_back(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": LONG}, tokens_per_second=200))
    first = window.deck.current()
    ask(qtbot, first, "go")
    qtbot.waitUntil(lambda: "goes on" in shown(first))
    second = window.deck.new_tab()
    second.composer.set_text("A draft")
    third = window.deck.new_tab()
    ask(qtbot, third, "a question with its own words")
    qtbot.waitUntil(lambda: "Again" in shown(third))
    window.strip.bar.moveTab(2, 0)
    written = first.session.path()[-1].content
    started = time.monotonic()
    window.close()
    assert time.monotonic() - started < 3
    assert window.kept_settings[-1].window_geometry

    window = open_window(ScriptedEngine())
    tabs = window.deck.tabs()
    qtbot.waitUntil(lambda: len(tabs[1].session.path()) == 2)
    assert [tab.composer.text() for tab in tabs] == ["", "", "A draft"]
    assert window.deck.current() is tabs[0]
    qtbot.waitUntil(lambda: "a question with its own words" in shown(tabs[0]))
    window.deck.go_to(2)
    assert tabs[1].session.path()[-1].content.startswith(written)
    assert tabs[1].session.path()[-1].status in ("stopped", "interrupted")
    assert written.rstrip() in shown(tabs[1])


def test_closed_tabs_can_be_reopened(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    chat_id = tab.session.chat_id
    ask(qtbot, tab, "remember me")
    qtbot.waitUntil(lambda: "Again" in shown(tab))
    tab.composer.set_text("half a thought")
    trigger(window, "close_tab")
    assert len(window.deck.tabs()) == 1
    assert window.deck.current().session.chat_id != chat_id
    trigger(window, "reopen_tab")
    again = window.deck.current()
    assert again.session.chat_id == chat_id
    assert again.composer.text() == "half a thought"
    qtbot.waitUntil(lambda: "remember me" in shown(again))


@pytest.mark.parametrize("way", ["list", "search", "beside"])
def test_what_was_written_in_a_closed_tab_is_there_however_its_chat_is_opened(open_window, qtbot, way):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    chat_id = tab.session.chat_id
    ask(qtbot, tab, "remember me")
    qtbot.waitUntil(lambda: "Again" in shown(tab))
    tab.composer.set_text("half a thought")
    trigger(window, "close_tab")
    if way == "list":
        window.sidebar.chat_chosen.emit(chat_id)
    elif way == "search":
        window.deck.open_hit(SearchHit(chat_id, None, "remember me", "", ()))
    else:
        window.deck.show_beside(chat_id)
    again = next(tab for tab in window.deck.tabs() if tab.session.chat_id == chat_id)
    assert again.composer.text() == "half a thought"
    again.composer.set_text("a whole one")
    trigger(window, "reopen_tab")  # which has nothing to bring any more
    assert again.composer.text() == "a whole one"


def test_a_prompt_that_is_too_long_says_so_and_comes_back(open_window, qtbot):
    window = open_window(ScriptedEngine(max_context=5))
    tab = window.deck.current()
    text = "far too many words for this model"
    ask(qtbot, tab, text)
    qtbot.waitUntil(tab.notice.isVisible)
    assert "this model reads at most 5" in tab.notice.text()
    assert tab.composer.text() == text
    tab.notice.dismiss()
    assert not tab.notice.isVisible()
    tab.composer.set_text("")
    ask(qtbot, tab, "short")
    qtbot.waitUntil(lambda: "Again" in shown(tab))


def test_messages_that_were_not_sent_are_counted(open_window, qtbot):
    window = open_window(ScriptedEngine(drops=6))
    tab = window.deck.current()
    ask(qtbot, tab, "one more thing")
    qtbot.waitUntil(tab.notice.isVisible)
    assert "the oldest 6 messages were not sent" in tab.notice.text()


def test_an_answer_that_fails_keeps_its_text_and_says_why(open_window, qtbot):
    window = open_window(ScriptedEngine({"hi": ["Half ", "an ", "answer"]}, fail_at=2))
    tab = window.deck.current()
    ask(qtbot, tab, "hi")
    qtbot.waitUntil(lambda: "not finite" in shown(tab))
    assert "Half an" in shown(tab)
    assert not tab.session.answering


def test_settings_belong_to_their_chat_and_reach_the_engine(open_window, qtbot):
    engine = ScriptedEngine()
    window = open_window(engine)
    first = window.deck.current()
    row = window.panel.rows["temperature"]
    row.edit.setFocus()
    row.edit.setText("0.3")
    qtbot.keyClick(row.edit, Qt.Key.Key_Return)
    window.panel.system_prompt.setPlainText("Be brief.")
    ask(qtbot, first, "hello")
    qtbot.waitUntil(lambda: "Again" in shown(first))
    assert engine.requests[-1].sampling.temperature == 0.3
    assert engine.requests[-1].messages[0].content == "Be brief."
    window.deck.new_tab()
    assert row.edit.text() == "0.80 · Default"
    assert window.panel.system_prompt.toPlainText() == ""
    window.deck.go_to(1)
    assert row.edit.text() == "0.30"


def test_again_asks_again(open_window, qtbot):
    engine = ScriptedEngine()
    window = open_window(engine)
    tab = window.deck.current()
    ask(qtbot, tab, "hello")
    qtbot.waitUntil(lambda: "Again" in shown(tab))
    trigger(window, "regenerate")
    qtbot.waitUntil(lambda: len(engine.requests) == 2 and not tab.session.answering)
    assert shown(tab).count("hello") == 2


def test_a_model_that_cannot_be_loaded(open_window, qtbot):
    window = open_window(FileNotFoundError("no such folder"))
    assert "could not be loaded" in window.status.state.text()
    assert "no such folder" in window.deck.current().notice.text()
    assert window.panel.picker.text() == "Scripted"
    assert "not available" in window.status.costs.text()
    tab = window.deck.current()
    ask(qtbot, tab, "hello")
    # It is tried again, because the folder may be back.
    qtbot.waitUntil(lambda: tab.composer.text() == "hello" and not tab.session.answering)
    qtbot.waitUntil(lambda: "no such folder" in tab.notice.text())
    assert "\n" not in tab.notice.text()


def test_trouble_before_the_first_tab_is_told_when_it_is_there(open_window, qtbot):
    window = open_window(ScriptedEngine())
    bar = window.strip.bar
    bar.blockSignals(True)
    bar.removeTab(0)
    bar.blockSignals(False)
    window._book.trouble.emit("A damaged file was set aside.")
    assert window.deck.new_tab().notice.text() == "A damaged file was set aside."


def test_a_narrow_window_folds_and_a_wide_one_unfolds(open_window, qtbot):
    window = open_window(ScriptedEngine())
    assert window.sidebar.isVisible()
    window.resize(800, 700)
    assert not window.sidebar.isVisible()
    assert not window.panel.isVisible()
    trigger(window, "sidebar")
    trigger(window, "settings_panel")
    assert window.panel.isVisible()
    assert not window.sidebar.isVisible()
    window.resize(1280, 820)
    assert window.sidebar.isVisible()
    trigger(window, "sidebar")
    assert window.kept_settings[-1].sidebar_open is False
    assert open_window(ScriptedEngine(), settings=window.kept_settings[-1]).sidebar.isHidden()


def test_schemes_zoom_and_palette(open_window, qtbot):
    window = open_window(ScriptedEngine(), settings=UserSettings(color_scheme="light"))
    trigger(window, "scheme_dark")
    assert window.kept_settings[-1].color_scheme == "dark"
    assert window.grab().toImage().pixelColor(600, 300).lightness() < 60
    trigger(window, "zoom_in")
    assert window.kept_settings[-1].zoom == 1.1
    assert window.deck.current().composer.edit.font().pixelSize() == 15
    assert window.deck.new_tab().composer.edit.font().pixelSize() == 15
    trigger(window, "palette")
    palette = window.findChild(CommandPalette)
    assert palette.isVisible()
    heights = [palette.height()]
    for text in ("colours", "colours light", "there is none"):
        palette.field.setText(text)
        heights.append(palette.height())
    assert heights == sorted(heights, reverse=True)
    assert heights[0] > 2 * heights[2]
    palette.field.setText("colours light")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.kept_settings[-1].color_scheme == "light"
    assert not palette.isVisible()


def turn(widget: QWidget, by: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.ControlModifier) -> bool:
    """Turn the wheel; whether the widget has taken it. If not, Qt asks those that it lies in, which tests must do."""
    place = QPointF(widget.rect().center())
    phase, no_buttons = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
    everywhere = QPointF(widget.mapToGlobal(place))
    event = QWheelEvent(place, everywhere, QPoint(), QPoint(0, by), no_buttons, keys, phase, False)
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def test_the_wheel_zooms_with_ctrl(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": ["A line.\n\n"] * 60}))
    tab = window.deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: tab.session.is_settled and tab.transcript.verticalScrollBar().maximum() > 0)
    assert not turn(tab.transcript.viewport(), 120)
    assert not turn(tab.composer.edit.viewport(), 120)
    for by, zoom in ((240, 1.2), (-120, 1.1), (-60, 1.1), (-60, 1.0)):  # touch pads turn half a step
        assert turn(tab, by)
        assert window._looks._kept.now().zoom == zoom
    assert turn(tab.transcript.viewport(), 120, Qt.KeyboardModifier.NoModifier)
    turn(tab, 120, Qt.KeyboardModifier.NoModifier)
    assert window._looks._kept.now().zoom == 1.0


def test_the_palette_finds_by_other_words(open_window):
    first = {
        "sprache": "preferences",
        "settings": "settings_panel",
        "sampling": "settings_panel",
        "dark": "scheme_dark",
        "schrift": "zoom_in",
        "rag": "folder",
        "retry": "regenerate",
        "umbenennen": "rename_chat",
        "trash": "delete_chat",
        "mcp": "tools",
        "search": "search",
    }
    window = open_window(ScriptedEngine())
    trigger(window, "palette")
    palette, found = window.findChild(CommandPalette), {}
    for words in first:
        palette.field.setText(words)
        found[words] = palette.view.model().index(0, 0).data()
    assert found == {words: window.actions_[name].text() for words, name in first.items()}


def palette_rows(palette: CommandPalette) -> list[tuple[str, str]]:
    model = palette.view.model()
    rows = [model.index(row, 0) for row in range(model.rowCount())]
    return [(row.data(), row.data(NOTE_ROLE)) for row in rows]


def test_the_palette_finds_models_and_chats_and_searches_for_the_rest(open_window, qtbot):
    window = open_window(ScriptedEngine(), ScriptedEngine(name="Other"))
    ask(qtbot, window.deck.current(), "scripted zebras")
    qtbot.waitUntil(lambda: len(window._book.summaries()) == 1 and window.deck.current().session.is_settled)
    trigger(window, "new_tab")
    trigger(window, "palette")
    palette = window.findChild(CommandPalette)
    assert not [row for row in palette_rows(palette) if row[1] in ("Model", "Chat")]
    palette.field.setText("scripted")
    last = ("Search all chats for “scripted”", "")
    assert palette_rows(palette) == [("Scripted", "Model"), ("scripted zebras", "Chat"), last]
    palette.field.setText("zebra")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.deck.current().session.title == "scripted zebras"
    trigger(window, "palette")
    palette = next(found for found in window.findChildren(CommandPalette) if found.isVisible())
    palette.field.setText(" nonesuch ")
    assert palette_rows(palette) == [("Search all chats for “nonesuch”", "")]
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.sidebar.search.text() == "nonesuch"
    assert window.sidebar.search.hasFocus()


@pytest.mark.parametrize(
    ("words", "name"),
    [("temperature", "temperature"), ("creativity", "temperature"), ("dry base", "dry_base"), ("overflow", "overflow")],
)
@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.sampled(3)
def test_the_palette_leads_to_a_field_of_the_settings(open_window, qtbot, words, name, is_open):
    window = open_window(ScriptedEngine(), settings=UserSettings(settings_panel_open=is_open))
    trigger(window, "palette")
    palette = window.findChild(CommandPalette)
    palette.field.setText(words)
    row = window.panel.rows[name]
    assert palette.view.model().index(0, 0).data() == row.label.text()
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert row.field.hasFocus()
    qtbot.waitUntil(lambda: row.field.visibleRegion().boundingRect().size() == row.field.size())


def test_a_refused_question_stands_in_the_composer_or_is_offered_and_never_both(open_window, qtbot):
    gone = UserError("There is no folder /gone.")
    window = open_window(gone, gone, settings=UserSettings(model_path="/gone", recent_models=("/gone",)))
    tab = window.deck.current()
    ask(qtbot, tab, "hello")
    qtbot.waitUntil(lambda: tab.composer.text() == "hello" and "This message was not answered." in shown(tab))
    qtbot.waitUntil(lambda: "Ask again" not in shown(tab))
    tab.composer.set_text("")
    qtbot.waitUntil(lambda: "Ask again" in shown(tab))


def test_nothing_stands_in_for_a_model_that_is_gone(open_window, qtbot):
    settings = UserSettings(model_path="/gone", recent_models=("/gone",))
    gone = UserError("There is no folder /gone.")
    window = open_window(gone, gone, gone, ScriptedEngine(name="Gone"), settings=settings)
    tab = window.deck.current()
    told = "gone is not available. There is no folder /gone."
    assert tab.notice.text() == told
    assert window.panel.picker.text() == "gone"
    assert window.deck.new_tab().notice.text() == told
    window.deck.go_to(1)
    ask(qtbot, tab, "hello")
    qtbot.waitUntil(lambda: tab.composer.text() == "hello" and not tab.session.answering)
    assert tab.notice.text() == told
    again = next(button for button in tab.notice.findChildren(Button) if button.text() == "Try again")
    with qtbot.waitSignal(window._host.load_failed):
        qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    assert tab.notice.text() == told
    with qtbot.waitSignal(window._host.loaded):  # it is back
        qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    assert not tab.notice.text()
    assert tab.session.model == "/gone"
    ask(qtbot, tab, "")
    qtbot.waitUntil(lambda: "Again" in shown(tab))
    assert [node.model for node in tab.session.path()] == ["", "Gone"]


def test_who_has_chosen_another_model_is_not_told_of_the_one_that_is_gone(open_window, qtbot):
    settings = UserSettings(model_path="/gone")
    window = open_window(UserError("There is no folder /gone."), ScriptedEngine(), settings=settings)
    tab = window.deck.current()
    with qtbot.waitSignal(window._host.loaded):
        window.panel.picker.model_chosen.emit(STARTER)
    assert (tab.session.model, tab.notice.text()) == (STARTER, "")


def test_the_foot_shows_what_the_engine_costs_before_the_first_answer(open_window):
    window = open_window(ScriptedEngine())
    assert "1 thread" in window.status.costs.text()
    assert window.status.work.text() == ""
