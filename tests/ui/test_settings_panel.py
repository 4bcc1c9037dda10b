"""Parameters: the model's value, the user's value, and wrong input."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication

from llama_gui.ui.parameter_table import GROUPS
from llama_gui.ui.settings_panel import SettingsPanel, escape_stop, parse_stops
from llama_gui.ui.sizes import size_text
from llama_gui.vocabulary import SAMPLING_RANGES, ChatSettings, SamplingParams
from tests.mouse import double_click


@pytest.fixture
def panel(qtbot, icons) -> SettingsPanel:
    panel = SettingsPanel(icons)
    qtbot.addWidget(panel)
    panel.show_defaults(SamplingParams(temperature=0.6, top_k=50, top_p=0.9, min_p=0.0, repetition_penalty=1.0))
    panel.resize(272, 760)
    for group in panel.groups.values():
        group.open()
    panel.show()
    return panel


def type_into(qtbot, row, text):
    row.edit.setFocus()
    row.edit.selectAll()
    row.edit.setText(text)
    qtbot.keyClick(row.edit, Qt.Key.Key_Return)


def test_defaults_are_the_models(panel):
    assert panel.rows["temperature"].edit.text() == "0.60 · Default"
    assert panel.rows["top_k"].edit.text() == "50 · Default"
    assert panel.rows["seed"].edit.text() == "random · Default"
    assert panel.rows["max_tokens"].edit.text() == "no limit · Default"
    assert panel.rows["temperature"].edit.property("state") == "default"
    assert panel.rows["temperature"].reset_button.isHidden()


def test_what_a_server_is_not_sent_has_no_number(panel):
    panel.show_unknown_defaults()
    assert panel.rows["temperature"].edit.text() == "the model’s default"
    panel.show_server_defaults()
    assert panel.rows["temperature"].edit.text() == "the server’s default"
    assert panel.rows["seed"].edit.text() == "random · Default"
    panel.rows["temperature"].set_value(0.4)
    assert panel.rows["temperature"].edit.text() == "0.40"
    panel.rows["temperature"].reset()
    assert panel.rows["temperature"].edit.text() == "the server’s default"
    panel.show_defaults(SamplingParams(temperature=0.6))
    assert panel.rows["temperature"].edit.text() == "0.60 · Default"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("temperature", "0.4", 0.4),
        ("temperature", "0,25", 0.25),
        ("temperature", "99", 99.0),
        ("top_p", "1", 1.0),
        ("top_k", "0", 0),
        ("min_p", "0.123456", 0.123456),
        ("repetition_penalty", "1.1", 1.1),
        ("frequency_penalty", "-0.5", -0.5),
        ("presence_penalty", "0.5", 0.5),
        ("penalty_window", "-1", -1),
        ("typical_p", "0.9", 0.9),
        ("xtc_probability", "0.5", 0.5),
        ("xtc_threshold", "0.2", 0.2),
        ("dry_multiplier", "0.8", 0.8),
        ("dry_base", "2", 2.0),
        ("dry_allowed_length", "4", 4),
        ("seed", str(2**63 - 1), 2**63 - 1),
    ],
)
@pytest.mark.sampled(6)
def test_a_typed_value_is_the_chats(panel, qtbot, name, text, value):
    with qtbot.waitSignal(panel.settings_edited) as edited:
        type_into(qtbot, panel.rows[name], text)
    assert getattr(edited.args[0].sampling, name) == value
    assert panel.rows[name].edit.property("state") == "changed"
    assert not panel.rows[name].reset_button.isHidden()


def test_who_types_without_a_pause_is_not_kept_waiting(panel, qtbot):
    taken: list[str] = []
    panel.settings_edited.connect(lambda settings: taken.append(settings.system_prompt))
    for _ in range(12):
        qtbot.keyClicks(panel.system_prompt, "word ")
        qtbot.wait(100)
    assert taken  # else a crash takes all of it


def test_max_tokens(panel, qtbot):
    with qtbot.waitSignal(panel.settings_edited) as edited:
        type_into(qtbot, panel.rows["max_tokens"], "64")
    assert edited.args[0] == ChatSettings(max_tokens=64)


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("temperature", "-1", "a number from 0 to 100"),
        ("temperature", "hot", "a number from 0 to 100"),
        ("temperature", "nan", "a number from 0 to 100"),
        ("temperature", "inf", "a number from 0 to 100"),
        ("top_p", "0", "a number above 0, up to 1"),
        ("top_p", "7", "a number above 0, up to 1"),
        ("top_k", "1.5", "a whole number of at least 0"),
        ("repetition_penalty", "0", "a number above 0, up to 100"),
        ("max_tokens", "0", "a whole number of at least 1"),
        ("seed", "-3", "a whole number of at least 0"),
    ],
)
@pytest.mark.sampled(5)
def test_wrong_input_is_named_and_changes_nothing(panel, qtbot, name, text, allowed):
    row = panel.rows[name]
    row.set_value(1)
    with qtbot.assertNotEmitted(panel.settings_edited):
        type_into(qtbot, row, text)
    assert row.value() == 1
    assert row.error is not None
    assert row.error.isVisible()
    assert row.error.text() == f"{row.spec.label} is “{text}”, but it must be {allowed}."
    type_into(qtbot, row, "")
    assert not row.error.isVisible()


@pytest.mark.parametrize("way", ["button", "keyboard", "empty", "slider", "label"])
def test_ways_back_to_the_default(panel, qtbot, way):
    row = panel.rows["temperature"]
    type_into(qtbot, row, "1.5")
    with qtbot.waitSignal(panel.settings_edited) as edited:
        if way == "button":
            qtbot.mouseClick(row.reset_button, Qt.MouseButton.LeftButton)
        elif way == "keyboard":
            row.reset_button.setFocus()
            qtbot.keyClick(row.reset_button, Qt.Key.Key_Space)
        elif way == "empty":
            type_into(qtbot, row, "")
        elif way == "slider":
            double_click(row.slider)
        else:
            double_click(row.label)
    assert edited.args[0] == ChatSettings()


def test_the_slider_moves_by_mouse_and_keys(panel, qtbot):
    row = panel.rows["temperature"]
    with qtbot.waitSignal(panel.settings_edited) as edited:
        qtbot.mouseClick(row.slider, Qt.MouseButton.LeftButton, pos=row.slider.rect().center())
    assert edited.args[0].sampling.temperature == pytest.approx(1.0, abs=0.05)
    before = row.value()
    qtbot.keyClick(row.slider, Qt.Key.Key_Right)
    assert row.value() == pytest.approx(before + 0.05)
    qtbot.keyClick(row.slider, Qt.Key.Key_Home)
    assert row.value() == 0
    qtbot.keyClick(panel.rows["top_p"].slider, Qt.Key.Key_Home)
    assert panel.rows["top_p"].value() == 0.01


def test_an_assistive_program_moves_the_slider(panel, qtbot):
    """Qt's interface for them sets the number of steps."""
    row = panel.rows["temperature"]
    with qtbot.waitSignal(panel.settings_edited) as edited:
        row.slider.setValue(14)
    assert edited.args[0].sampling.temperature == row.value() == pytest.approx(0.7)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_the_ring_of_the_keyboard_is_whole_at_the_end_of_the_line(panel, qtbot, direction):
    panel.setLayoutDirection(direction)
    slider = panel.rows["temperature"].slider
    panel.activateWindow()
    slider.setFocus()
    qtbot.waitUntil(slider.hasFocus)
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    picture = slider.grab().toImage()
    if direction == Qt.LayoutDirection.RightToLeft:
        picture = picture.flipped(Qt.Orientation.Horizontal)
    rows = [y for y in range(picture.height()) if abs(y + 0.5 - picture.height() / 2) > 2]  # the line is a row between
    painted = [
        x for x in range(30) for y in rows if picture.pixelColor(x, y).saturation() > 100
    ]  # nothing else has the accent's strong colour
    assert max(painted) > 12
    outer, inner = sum(x < 9 for x in painted), sum(x >= 9 for x in painted)
    assert outer == pytest.approx(inner, abs=2)


def test_another_chats_settings_are_shown(panel, qtbot):
    settings = ChatSettings("Be brief.", SamplingParams(temperature=0.4, seed=4711), 128, ("\n\n", "###"))
    with qtbot.assertNotEmitted(panel.settings_edited):
        panel.show_settings(settings)
        panel.take_texts()
    assert panel.system_prompt.toPlainText() == "Be brief."
    assert panel.stops.toPlainText() == "\\n\\n\n###"
    assert panel.rows["seed"].edit.text() == "4711"
    panel.show_settings(ChatSettings())
    assert panel.rows["seed"].edit.text() == "random · Default"


def test_texts_are_taken(panel, qtbot):
    with qtbot.waitSignal(panel.settings_edited) as edited:
        panel.system_prompt.setPlainText("Be kind.")
        panel.take_texts()
    assert edited.args[0].system_prompt == "Be kind."


@pytest.mark.parametrize("stop", ["###", "\n\n", "a\tb", "C:\\new", "\\", "\r\n", " lead", "a,b"])
def test_stop_strings_survive_being_shown(stop):
    assert parse_stops(escape_stop(stop)) == (stop,)


def test_stop_strings_are_one_to_a_line():
    assert parse_stops("a\n\nb\\n\na") == ("a", "b\n")


def test_sizes():
    assert [size_text(size) for size in (0, 999, 14e6, 2.5e9)] == ["0 B", "999 B", "14 MB", "2.5 GB"]


def test_what_is_no_sampling_is_the_chats_too(panel, qtbot):
    type_into(qtbot, panel.rows["min_tokens"], "5")
    row = panel.rows["overflow"]
    with qtbot.waitSignal(panel.settings_edited) as edited:
        row.box.setFocus()
        qtbot.keyClick(row.box, Qt.Key.Key_Down)
    assert edited.args[0] == ChatSettings(min_tokens=5, overflow="error")
    assert not row.reset_button.isHidden()
    with qtbot.waitSignal(panel.settings_edited) as edited:
        row.reset()
    assert edited.args[0] == ChatSettings(min_tokens=5)
    panel.show_settings(ChatSettings(overflow="error"))
    assert row.box.currentText() == "Refuse the message"


def test_what_is_scrolled_below_the_mouse_is_explained(panel, qtbot):
    first, second = panel.rows["temperature"], panel.rows["top_k"]
    QCursor.setPos(first.mapToGlobal(first.rect().center()))
    qtbot.waitUntil(lambda: panel.help.text() == first.spec.tip)
    QApplication.processEvents()
    bar = panel._area.verticalScrollBar()
    bar.setValue(second.mapTo(panel._area.widget(), QPoint()).y() - first.mapTo(panel._area.widget(), QPoint()).y())
    qtbot.waitUntil(lambda: panel.help.text() == second.spec.tip)
    panel.rows["min_p"].edit.setFocus()
    bar.setValue(0)
    qtbot.wait(50)
    assert panel.help.text() == panel.rows["min_p"].spec.tip, "of what the keyboard is at, wherever the mouse stands"


def test_every_parameter_says_what_it_does(panel, qtbot):
    for group in GROUPS:
        for spec in group.parameters:
            assert spec.tip.endswith(".")
            assert len(spec.tip) < 90
            field = panel.rows[spec.name].box if spec.name == "overflow" else panel.rows[spec.name].edit
            assert field.accessibleDescription() == spec.tip
            field.setFocus()
            assert panel.help.text() == spec.tip
    panel.groups["basics"].headline.setFocus()
    assert panel.help.text() == "Changes apply from the next answer."


def test_every_number_of_the_sampling_is_there(panel):
    assert set(SAMPLING_RANGES) | {"max_tokens", "min_tokens", "overflow", "dry_window"} == {
        *panel.rows,
        "dry_window",
    }


def test_a_folded_group_tells_how_many_values_were_changed(panel, qtbot):
    headline = panel.groups["penalties"].headline
    type_into(qtbot, panel.rows["frequency_penalty"], "0.5")
    type_into(qtbot, panel.rows["presence_penalty"], "0.5")
    headline.setFocus()
    qtbot.keyClick(headline, Qt.Key.Key_Space)
    assert panel.rows["frequency_penalty"].isHidden() or not panel.rows["frequency_penalty"].isVisible()
    assert headline.accessibleName() == "Penalties, folded away, 2 changed"
    qtbot.keyClick(headline, Qt.Key.Key_Space)
    assert panel.rows["frequency_penalty"].isVisible()


def test_the_preset_of_a_chat_and_what_differs(panel, qtbot):
    warm = ChatSettings("Be kind.", SamplingParams(temperature=1.2), preset="Warm")
    panel.presets.show_presets({"Warm": warm})
    assert panel.presets.text() == "The model's defaults"
    menu = panel.presets.make_menu()
    with qtbot.waitSignal(panel.settings_edited) as edited:
        next(action for action in menu.actions() if action.text() == "Warm").trigger()
    assert edited.args[0] == warm
    assert panel.rows["temperature"].value() == 1.2
    assert panel.system_prompt.toPlainText() == "Be kind."
    assert (panel.presets.text(), panel.presets.differences()) == ("Warm", [])
    type_into(qtbot, panel.rows["temperature"], "0.5")
    panel.system_prompt.setPlainText("")
    panel.take_texts()
    assert panel.presets.differences() == ["System prompt", "Temperature"]
    assert panel.presets.accessibleDescription() == "Not as in “Warm”: System prompt, Temperature"


def test_the_verbs_of_a_preset(panel, qtbot):
    warm = ChatSettings(max_tokens=5, preset="Warm")
    panel.presets.show_presets({"Warm": warm})
    panel.presets.show_default("Warm")
    panel.show_settings(ChatSettings(max_tokens=6, preset="Warm"))
    actions = {action.text(): action for action in panel.presets.make_menu().actions()}
    assert actions["Warm  ·  for new chats"].isChecked()
    assert all(
        action.icon().isNull() != action.isChecked() for action in actions.values()
    )  # ours, in the accent colour
    with qtbot.waitSignal(panel.presets.save_wanted) as saved:
        actions["Keep the changes in “Warm”"].trigger()
    assert saved.args == ["Warm", ChatSettings(max_tokens=6, preset="Warm")]
    with qtbot.waitSignal(panel.presets.delete_wanted) as deleted:
        actions["Delete “Warm”"].trigger()
    assert deleted.args == ["Warm"]
    with qtbot.waitSignal(panel.presets.default_wanted) as default:
        actions["New chats begin with “Warm”"].trigger()
    assert default.args == [""]
    panel.presets.show_presets({})
    assert panel.presets.text() == "None"


def test_the_slider_begins_where_the_language_does(panel, qtbot):
    row = panel.rows["temperature"]
    row.set_value(0.5)
    panel.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    qtbot.keyClick(row.slider, Qt.Key.Key_Left)
    assert row.value() == pytest.approx(0.55)
    qtbot.mouseClick(row.slider, Qt.MouseButton.LeftButton, pos=QPoint(8, 9))
    assert row.value() == pytest.approx(2.0, abs=0.05)


def test_numbers_stand_at_the_outer_edge_in_a_mirrored_panel_too(panel):
    for direction, edge in (
        (Qt.LayoutDirection.RightToLeft, Qt.AlignmentFlag.AlignLeft),
        (Qt.LayoutDirection.LeftToRight, Qt.AlignmentFlag.AlignRight),
    ):
        panel.setLayoutDirection(direction)
        assert panel.rows["temperature"].edit.alignment() == edge


def test_a_click_on_a_number_and_a_new_one(panel, qtbot):
    """Whoever clicks on it and types wants another number, and not two in one."""
    panel.show()
    row = panel.rows["temperature"]
    row.set_default(0.3)
    row.edit.window().activateWindow()
    qtbot.waitUntil(row.edit.isVisible)
    # As QApplication does before it hands on the press.
    row.edit.setFocus(Qt.FocusReason.MouseFocusReason)
    place = QPoint(row.edit.width() - 6, row.edit.height() // 2)
    qtbot.mouseClick(row.edit, Qt.MouseButton.LeftButton, pos=place)
    assert row.edit.selectedText() == "0.30"
    qtbot.keyClicks(row.edit, "0.9")
    qtbot.keyClick(row.edit, Qt.Key.Key_Return)
    assert row.value() == 0.9
    qtbot.mouseClick(row.edit, Qt.MouseButton.LeftButton, pos=place)  # the second click is for one of its digits
    assert row.edit.selectedText() == ""


def test_what_was_wrong_is_forgotten_when_the_user_comes_back(panel, qtbot):
    row = panel.rows["top_p"]
    row.edit.setFocus()
    row.edit.setText("7")
    qtbot.keyClick(row.edit, Qt.Key.Key_Return)
    assert "7" in row.problem
    panel.rows["top_k"].edit.setFocus()
    assert row.problem
    row.edit.setFocus(Qt.FocusReason.TabFocusReason)
    assert row.problem == ""


def test_no_number_is_cut_where_the_panel_is_narrow(panel, qtbot):
    panel.show()
    row = panel.rows["repetition_penalty"]
    panel.groups["penalties"].open()
    row.label.setText("A name as long as in other languages")
    row.set_default(1.0)
    panel.resize(480, 700)
    qtbot.waitUntil(lambda: row.edit.text() == "1.00 · Default")
    panel.resize(250, 700)
    qtbot.waitUntil(lambda: row.edit.text() == "1.00")
    with qtbot.assertNotEmitted(row.changed):
        row.edit.editingFinished.emit()  # nothing was typed
    row.reset()
    row.set_default(None, "the server’s default")
    assert row.edit.text() == "the server’s default"
