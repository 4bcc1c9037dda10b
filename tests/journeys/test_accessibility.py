"""For everybody: whatever can be used has a name, a role and the keyboard's way to it, in every part of the window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QScrollBar,
    QTextEdit,
    QWidget,
)

from llama_gui.settings import UserSettings
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import announcements, ask, close_all, trigger

USABLE = (QAbstractButton, QLineEdit, QAbstractSpinBox, QComboBox, QAbstractItemView, QTextEdit, QPlainTextEdit)
OPENED_BY = (
    "", "palette", "help", "preferences", "bin", "find", "search", "branches", "find_models", "manage_models", "server",
    "endpoints", "tool_servers", "split_view",
)  # fmt: skip
NO_ROLES = (QAccessible.Role.NoRole, QAccessible.Role.Client)


def is_inner(widget: QWidget) -> bool:
    """Whether a widget is a part of one of Qt's own, which speaks for it."""
    name = widget.objectName()
    parent = widget.parentWidget()
    return name.startswith("qt_") or isinstance(parent, (QComboBox, QAbstractSpinBox)) or isinstance(widget, QScrollBar)


def usable(window: QWidget) -> list[QWidget]:
    """What can be clicked or typed into, and is shown."""
    top = [window, *(other for other in QApplication.topLevelWidgets() if other is not window)]
    found = [child for one in top if one.isVisible() for child in one.findChildren(QWidget)]
    focusable = [w for w in found if isinstance(w, USABLE) or w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    return [w for w in focusable if w.isVisible() and not is_inner(w)]


def describe(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.objectName()!r} in {type(widget.parentWidget()).__name__}"


@pytest.fixture
def window(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    ask(qtbot, tab, "hello there")
    qtbot.waitUntil(lambda: tab.session.is_settled and bool(window._book.summaries()))
    return window


def test_all_that_can_be_used_has_a_name_and_a_role(window, qtbot):
    nameless, roleless = set(), set()
    for opened in OPENED_BY:
        if opened:
            trigger(window, opened)
            qtbot.wait(20)
        for widget in usable(window):
            face = QAccessible.queryAccessibleInterface(widget)
            if face is None or not face.text(QAccessible.Text.Name).strip():
                nameless.add((opened, describe(widget)))
            elif not isinstance(widget, QScrollArea) and face.role() in NO_ROLES:
                roleless.add((opened, describe(widget)))
        close_all()
    assert nameless == set()
    assert roleless == set()


def test_the_tab_key_comes_to_everything_once_around(window, qtbot):
    """What takes the Tab key is reached by it, from the composer around to the composer."""
    start = window.deck.current().composer.edit
    start.setFocus()
    reached, at = set(), start
    for _ in range(5000):
        at = at.nextInFocusChain()
        if at is start:
            break
        reached.add(at)
    wanted = {w for w in usable(window) if w.window() is window and w.focusPolicy() & Qt.FocusPolicy.TabFocus}
    missed = [describe(widget) for widget in wanted - reached - {start}]
    assert missed == []


def test_buttons_without_the_tab_key_stand_for_something_that_has_a_key_or_is_in_the_palette(window):
    for widget in usable(window):
        if isinstance(widget, QAbstractButton) and not widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            in_palette = {action.text() for spec, action in window.actions_ if spec.in_palette or action.shortcut()}
            assert widget.accessibleName() in in_palette, describe(widget)


def test_every_action_is_in_the_palette_or_has_a_key(window):
    for spec, action in window.actions_:
        assert spec.in_palette or not action.shortcut().isEmpty(), spec.name


def test_the_end_of_an_answer_is_announced(window, qtbot, monkeypatch):
    heard = announcements(monkeypatch)
    tab = window.deck.current()
    ask(qtbot, tab, "and again")
    qtbot.waitUntil(lambda: "The answer is finished." in heard)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_the_window_mirrors(qapp, open_window, qtbot, direction):
    qapp.setLayoutDirection(direction)
    try:
        window = open_window(ScriptedEngine(), settings=UserSettings())
        on_left = window.sidebar.mapTo(window, window.sidebar.rect().center()).x() < window.width() // 2
        assert on_left == (direction == Qt.LayoutDirection.LeftToRight)
        assert (window.panel.mapTo(window, window.panel.rect().center()).x() > window.width() // 2) == on_left
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
