"""The picker and its menu: what it offers, what it filters, how a load is cancelled."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QVBoxLayout, QWidget

from llama_gui.ui.model_menu import LONG, MOST, ModelMenu
from llama_gui.ui.model_picker import ModelPicker
from llama_gui.vocabulary import DEFAULT_SAMPLING, ModelEntry, ModelInfo

ENTRIES = [
    ModelEntry("Starter", "/m/starter", 14_000_000, True),
    ModelEntry("R & D", "/m/rd", 2_500_000_000),
    ModelEntry("<b>big</b>", "cluster#big", 0, endpoint="cluster"),
]
INFO = ModelInfo("R & D", "/m/rd", "Llama", 1, 4096, "bfloat16", "cpu", DEFAULT_SAMPLING, True)


@pytest.fixture
def picker(qtbot, icons) -> ModelPicker:
    picker = ModelPicker(icons)
    picker.offer(lambda: ENTRIES)
    qtbot.addWidget(picker)
    picker.resize(240, 34)
    picker.show()
    return picker


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text() and action.isVisible()]


def submenu(menu: QMenu, text: str) -> QMenu:
    found = next(action.menu() for action in menu.actions() if action.text() == text)
    assert isinstance(found, QMenu)
    return found


def test_models_are_offered_by_where_they_are(picker, qtbot):
    picker.set_model("Starter", "starter")
    menu = picker.make_menu()
    assert texts(menu)[:5] == ["On this machine", "Starter  ·  14 MB", "R && D  ·  2.5 GB", "cluster", "<b>big</b>"]
    rows = [action for action in menu.actions() if action.isVisible()]
    assert [row.isEnabled() for row in rows[:5]] == [False, True, True, False, True]
    for row, key in ((1, "starter"), (2, "/m/rd"), (4, "cluster#big")):
        with qtbot.waitSignal(picker.model_chosen) as chosen:
            rows[row].trigger()
        assert chosen.args == [key]


def test_models_that_read_images_say_so(qtbot, icons):
    picker = ModelPicker(icons)
    picker.offer(lambda: [ModelEntry("SmolVLM", "/m/v", 10**9, reads_images=True)])
    qtbot.addWidget(picker)
    assert texts(picker.make_menu())[0] == "SmolVLM  ·  1.0 GB  ·  reads images"


def test_without_remote_servers_there_are_no_headings(qtbot, icons):
    picker = ModelPicker(icons)
    picker.offer(lambda: ENTRIES[:2])
    qtbot.addWidget(picker)
    assert texts(picker.make_menu()) == [
        "Starter  ·  14 MB",
        "R && D  ·  2.5 GB",
        "Open model folder…",
        "Open GGUF file…",
        "Find and download models…",
        "Manage models…",
        "Remote servers…",
    ]


def test_what_is_loaded_has_a_dot_and_the_one_in_use_a_tick(picker):
    picker.set_model("Starter", "starter")
    picker.offer(lambda: ENTRIES, lambda: {"starter": ("Starter", 0), "/m/rd": ("R & D", 2)})
    rows = [action for action in picker.make_menu().actions() if action.data()]
    assert [(row.property("current"), row.property("loaded")) for row in rows] == [
        (True, True),
        (False, True),
        (False, False),
    ]
    assert [row.icon().isNull() for row in rows] == [False, False, True]


def test_the_way_to_how_it_runs(picker, qtbot):
    picker.set_model("R & D", "/m/rd", INFO)
    action = next(a for a in picker.make_menu().actions() if a.text() == "Context length, precision…")
    with qtbot.waitSignal(picker.options_wanted):
        action.trigger()


def test_a_remote_model_runs_as_its_server_likes(picker):
    picker.set_model("big", "cluster#big")
    assert "Context length, precision…" not in texts(picker.make_menu())


def test_models_are_unloaded(picker, qtbot):
    picker.offer(lambda: ENTRIES, lambda: {"starter": ("Starter", 0)})
    action = next(action for action in picker.make_menu().actions() if action.text() == "Unload Starter")
    with qtbot.waitSignal(picker.unload_wanted) as wanted:
        action.trigger()
    assert wanted.args == ["starter"]
    picker.offer(lambda: ENTRIES, lambda: {"starter": ("Starter", 0), "/m/rd": ("R & D", 2)})
    assert texts(submenu(picker.make_menu(), "Unload")) == ["Starter", "R && D  ·  ends its answers: 2"]


def test_what_a_server_runs_is_not_unloaded_from_here(picker):
    picker.set_model("big", "cluster#big")
    picker.offer(lambda: ENTRIES, lambda: {"cluster#big": ("big", 0)})
    assert not [text for text in texts(picker.make_menu()) if text.startswith("Unload")]
    picker.offer(lambda: ENTRIES, lambda: {"cluster#big": ("big", 0), "starter": ("Starter", 0)})
    assert "Unload Starter" in texts(picker.make_menu())


@pytest.mark.parametrize(("place", "wanted"), [(-3, "download_wanted"), (-2, "manage_wanted"), (-1, "servers_wanted")])
def test_the_windows_where_others_come_from_are_offered(picker, qtbot, place, wanted):
    with qtbot.waitSignal(getattr(picker, wanted)):
        picker.make_menu().actions()[place].trigger()


@pytest.mark.parametrize("way", ["key", "click", "menu"])
def test_a_load_is_cancelled(picker, qtbot, way):
    picker.set_progress(0.25)
    assert picker.is_loading
    with qtbot.waitSignal(picker.cancel_wanted):
        if way == "key":
            qtbot.keyClick(picker, Qt.Key.Key_Escape)
        elif way == "click":
            place = picker.rect().center()
            place.setX(picker.width() - 12)
            qtbot.mouseClick(picker, Qt.MouseButton.LeftButton, pos=place)
        else:
            next(action for action in picker.make_menu().actions() if action.text() == "Cancel loading").trigger()
    picker.set_progress(None)
    with qtbot.assertNotEmitted(picker.cancel_wanted):
        qtbot.keyClick(picker, Qt.Key.Key_Escape)
    assert "Cancel loading" not in texts(picker.make_menu())


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_long_menu_is_filtered_by_typing(qtbot, icons, picker):
    entries = [ModelEntry(f"Qwen {n}", f"/m/q{n}", 10**9) for n in range(LONG)] + [ModelEntry("Llama", "/m/l", 10**9)]
    menu = ModelMenu(icons, picker)
    menu.add_models(entries, (), "")
    menu.show()
    assert texts(menu)[0] == "Type to filter"
    qtbot.keyClicks(menu, "lla")
    assert texts(menu) == ["lla", "Llama  ·  1.0 GB"]
    with qtbot.waitSignal(menu.chosen) as chosen:
        qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert chosen.args == ["/m/l"]


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_short_menu_is_filtered_too_and_says_so_once_it_is(qtbot, picker):
    menu = picker.make_menu()
    before = texts(menu)
    menu.show()
    qtbot.keyClick(menu, Qt.Key.Key_Backspace)
    assert texts(menu) == before
    qtbot.keyClicks(menu, "r &")
    assert texts(menu)[:2] == ["r &&", "R && D  ·  2.5 GB"]
    with qtbot.waitSignal(picker.model_chosen) as chosen:
        qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert chosen.args == ["/m/rd"]


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_who_chooses_by_the_mouse_goes_on_writing(qtbot, icons):
    window, picker, field = QWidget(), ModelPicker(icons), QLineEdit()
    picker.offer(lambda: ENTRIES)
    layout = QVBoxLayout(window)
    layout.addWidget(field)
    layout.addWidget(picker)
    qtbot.addWidget(window)
    window.show()
    field.setFocus()
    qtbot.mouseClick(picker, Qt.MouseButton.LeftButton)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, ModelMenu)
    menu.close()
    assert window.focusWidget() is field


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_the_filter_is_taken_back(qtbot, icons, picker):
    menu = ModelMenu(icons, picker)
    menu.add_models([ModelEntry(f"Qwen {n}", f"/m/q{n}", 0) for n in range(LONG)], (), "")
    menu.show()
    qtbot.keyClicks(menu, "wen 3x")
    assert texts(menu) == ["No model has this name: wen 3x"]
    qtbot.keyClick(menu, Qt.Key.Key_Backspace)
    assert texts(menu) == ["wen 3", "Qwen 3"]
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert len(texts(menu)) == LONG + 1
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()


def test_a_menu_of_very_many_models_shows_some_and_finds_the_others(qtbot, icons, picker):
    entries = [ModelEntry(f"Model {n:03}", f"/{n:03}", 1) for n in range(300)]
    menu = ModelMenu(icons, picker)
    menu.add_models([*entries, ModelEntry("far", "s#far", 0, endpoint="Server")], ["/200"], "/299")

    def shown() -> list[str]:
        return [action.data() for action in menu.actions() if action.data() and action.isVisible()]

    def headings() -> list[str]:
        return [action.text() for action in menu.actions() if not action.isEnabled() and action.isVisible()]

    assert shown() == [*(f"/{n:03}" for n in range(MOST - 2)), "/200", "/299"]
    assert headings() == ["Type to filter", "On this machine", f"and {301 - MOST} more"]
    menu.filter("model 15")
    assert (len(shown()), headings()) == (13, ["model 15"])
    menu.filter("")
    assert headings() == ["Type to filter", "On this machine", f"and {301 - MOST} more"]
    menu.filter("far")
    assert shown() == ["s#far"]
