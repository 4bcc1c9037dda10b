"""The window in German: no English word is left over, and the keys are the same."""

import itertools
import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QFontMetrics, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QTabBar,
    QWidget,
)

from llama_gui.chats.attachments import Attachment
from llama_gui.ui.actions import ACTIONS
from llama_gui.ui.dialogs import CommandPalette
from llama_gui.ui.load_dialog import LoadDialog
from llama_gui.ui.picker import Picker
from llama_gui.ui.tabs import TabBar
from llama_gui.ui.transcript.welcome import QUESTIONS, Suggestion
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import ask, close_all, shown, trigger
from tests.translations import TRANSLATIONS, read_words

OPENED_BY = (
    "", "palette", "help", "preferences", "bin", "find", "search", "branches", "server", "endpoints", "edit_last",
    "find_models", "manage_models",
)  # fmt: skip
READ = ("text", "windowTitle", "toolTip", "placeholderText", "accessibleName", "accessibleDescription")
FIELD = re.compile(r"\{[^{}]*\}")
COMMON = re.compile(r"\b(the|of|is|are|with|and|your|this|that|not|for|to|from|by|it|its|no|all)\b", re.IGNORECASE)
"""Words that stand in most English sentences and in no German one."""
NAMES = re.compile(r"^(/|https?:).*|\S+-it\b\S*|Qwen Research License \(no commercial use\)")
"""Paths, addresses, models (gemma-3-4b-it) and licences, which are called what they are called."""


def pattern(source: str) -> str:
    return ".+".join(re.escape(part) for part in FIELD.split(source.strip()))


@pytest.fixture(scope="module")
def english() -> re.Pattern[str]:
    """Matches what is said in English where the German says something else."""
    words = read_words(TRANSLATIONS / "llama_gui_de.ts")
    german = {translation.strip() for translation in words.values()}
    sources = {source for (_, source), translation in words.items() if source != translation and source not in german}
    with_words = {source for source in sources if len(re.findall("[A-Za-z]{2,}", FIELD.sub("", source))) > 0}
    return re.compile("|".join(sorted(map(pattern, with_words))))


@pytest.fixture
def window(in_german, open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    ask(qtbot, tab, "Guten Morgen")
    qtbot.waitUntil(lambda: tab.session.is_settled and bool(window._book.summaries()))
    return window


def texts_of_model(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[str]:
    for row in range(min(model.rowCount(parent or QModelIndex()), 200)):
        index = model.index(row, 0, parent or QModelIndex())
        for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            value = index.data(role)
            if isinstance(value, str):
                yield value


def texts_of_menu(menu: QMenu) -> Iterator[str]:
    for action in menu.actions():
        yield action.text().partition("\t")[0].replace("&", "")
        if (below := action.menu()) and isinstance(below, QMenu):
            yield from texts_of_menu(below)


def texts_of(widget: QWidget) -> Iterator[str]:
    for name in READ:
        read = getattr(widget, name, None)
        if read is not None:
            yield str(read()).replace("&", "")
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(at) for at in range(widget.count()))
    if isinstance(widget, TabBar):
        yield from (widget.title(at) for at in range(widget.count()))
    if isinstance(widget, QTabBar):
        yield from (widget.tabText(at) for at in range(widget.count()))
        yield from (widget.tabToolTip(at) for at in range(widget.count()))
    if isinstance(widget, QAbstractItemView):
        yield from texts_of_model(widget.model())


def all_texts() -> set[str]:
    """What can be read, or heard from a screen reader, in all windows that are open."""
    tops = [top for top in QApplication.topLevelWidgets() if top.isVisible()]
    widgets = [widget for top in tops for widget in (top, *top.findChildren(QWidget)) if widget.isVisible()]
    lines = (line.strip() for widget in widgets for text in texts_of(widget) for line in plain(text).split("\n"))
    return {line for line in lines if line}


def plain(text: str) -> str:
    return re.sub("<[^>]*>", "", text)


def wanted_width(widget: QWidget) -> int:
    """What a text takes that is neither wrapped nor ended with dots; 0 for anything else."""
    if isinstance(widget, QAbstractButton) and widget.text() and not isinstance(widget, Picker | Suggestion):
        return widget.sizeHint().width() - 12  # of the 32 pixels beside the words
    if isinstance(widget, QLabel) and not widget.wordWrap():
        return widget.sizeHint().width()
    if isinstance(widget, QLineEdit) and not isinstance(widget.parent(), QComboBox):
        return QFontMetrics(widget.font()).horizontalAdvance(widget.text() or widget.placeholderText())
    return 0


def all_have_room() -> None:
    """No text has less room than it takes."""
    tops = [top for top in QApplication.topLevelWidgets() if top.isVisible()]
    widgets = [widget for top in tops for widget in top.findChildren(QWidget) if widget.isVisible()]
    found = [(next(texts_of(widget), ""), widget.width(), wanted_width(widget)) for widget in widgets]
    assert [(text, width, wanted) for text, width, wanted in found if width < wanted] == []
    assert [pair for top in tops for grid in top.findChildren(QGridLayout) for pair in overlapping(grid)] == []


def overlapping(grid: QGridLayout) -> list[tuple[QWidget, QWidget]]:
    """What lies on another in a grid."""
    widgets = [item.widget() for item in map(grid.itemAt, range(grid.count())) if item is not None]
    shown = [widget for widget in widgets if widget is not None and widget.isVisible()]
    return [(a, b) for a, b in itertools.combinations(shown, 2) if a.geometry().intersects(b.geometry())]


def left_in_english(texts: set[str], english: re.Pattern[str]) -> list[str]:
    candidates = {NAMES.sub("", text) for text in texts} - set(QUESTIONS)
    return sorted(text for text in candidates if text and (english.fullmatch(text) or COMMON.search(text)))


def test_english_is_found_where_it_is(open_window, english):
    """The journey below can fail."""
    open_window(ScriptedEngine())
    found = left_in_english(all_texts(), english)
    assert {"New chat", "Search chats", "System prompt", "Send"} <= set(found)


def test_all_words_are_german_and_every_button_and_line_has_room_for_its_own(window, qtbot, english):
    for group in window.panel.groups.values():
        group.open()
    for opened in OPENED_BY:
        window.resize(1000, 700)
        if opened:
            trigger(window, opened)
        qtbot.wait(20)
        qtbot.waitUntil(all_have_room)  # when what other threads are asked has come, and is laid out
        window.resize(1280, 820)  # in which more is said
        qtbot.wait(20)
        texts = all_texts()
        assert "Einstellungen" in texts or "Systemprompt" in texts
        assert left_in_english(texts, english) == [], opened
        close_all()


def test_no_english_is_left_in_the_menus(window, qtbot, english):
    menus = [window.panel.presets.make_menu(), window.panel.picker.make_menu()]
    menus.append(window.keeping.chat_menu(window._book.summaries()[0]))
    texts = {text for menu in menus for text in texts_of_menu(menu)}
    assert {"Umbenennen", "Kontextlänge, Genauigkeit…", "Als Vorlage speichern…"} <= texts
    assert left_in_english(texts, english) == []
    for menu in menus:
        menu.close()
        menu.deleteLater()


def test_how_a_model_runs_is_chosen_in_german(window, qtbot, english):
    trigger(window, "load_options")
    qtbot.waitUntil(lambda: bool(window.findChildren(LoadDialog)), timeout=20_000)
    (dialog,) = window.findChildren(LoadDialog)
    said = {text for widget in (dialog, *dialog.findChildren(QWidget)) for text in texts_of(widget)}
    assert {"Kontextlänge", "CPU-Threads", "Anwenden"} <= said
    assert left_in_english(said - {dialog.reason.text()}, english) == []  # that is a sentence of the engine
    widgets = [widget for widget in dialog.findChildren(QWidget) if widget.isVisible()]
    assert [widget for widget in widgets if widget.width() < wanted_width(widget)] == []


def test_no_english_is_left_in_the_conversation(window, english):
    lines = {line.strip() for line in shown(window.deck.current()).split("\n")}
    assert any("Token" in line for line in lines)
    assert left_in_english(lines, english) == []


def test_the_keys_are_those_of_the_english_window(window):
    for spec in ACTIONS:
        portable = window.actions_[spec.name].shortcut().toString(QKeySequence.SequenceFormat.PortableText)
        assert portable == (spec.keys[0] if spec.keys else ""), spec.name
    assert window.actions_.keys("new_tab") == "Strg+T"


def test_the_palette_has_first_what_begins_with_what_is_typed(window, qtbot):
    trigger(window, "palette")
    palette = window.findChild(CommandPalette)
    palette.field.setText("temp")
    rows = [palette.view.model().index(row, 0).data() for row in range(palette.view.model().rowCount())]
    assert rows[:2] == ["Temperatur", "Systemprompt"]


def test_a_long_paste_has_a_german_name_and_is_known_by_it(window, qtbot):
    composer = window.deck.current().composer
    long = "Zeile\n" * 41
    old = Attachment("Pasted text 7.txt", "from before", 11)  # in a draft, from when the window was English
    composer.files.add(old)
    composer.edit.pasted.emit(long)
    first, second = composer.files.chips()
    assert second.file.name == "Eingefügter Text 1.txt"
    for chip, text in ((second, long), (first, f"{long}{old.text}")):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
        assert composer.text() == text
