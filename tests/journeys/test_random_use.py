"""Somebody presses, clicks and types whatever comes to mind; nothing breaks, and nothing they wrote is lost.

A longer campaign, half a minute for each ten people, from the number `RANDOM_FIRST` on:
``RANDOM_USE=200 .venv/bin/pytest tests/journeys/test_random_use.py``
"""

import os
import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QMenu, QWidget
from shiboken6 import isValid

from llama_gui.ui import MainWindow
from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.driving import close_all, others
from tests.mouse import double_click

FIRST = int(os.environ.get("RANDOM_FIRST", "0"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("RANDOM_USE", "1")))
STEPS = 150
KEYS = (
    Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Up, Qt.Key.Key_Down,
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_Home, Qt.Key.Key_End,
    Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_F2, Qt.Key.Key_Menu, Qt.Key.Key_Backspace,
)  # fmt: skip
MODIFIERS = (
    *3 * (Qt.KeyboardModifier.NoModifier,), Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)  # fmt: skip
TEXTS = (
    "Hello", "long", "code", "table", "**a** `b` [c](d)", "مرحبا", "日本語 🙂", "x" * 300, "0.7", "-1", "one\ntwo", " ",
    "fails",
)  # fmt: skip
SCRIPT = {
    "long": pieces_of("and so it goes on " * 60),
    "code": ["```py\n", "print(1)\n", "```\n", "done"],
    "table": ["| a | b |\n", "| - | - |\n", "| 1 | 2 |\n", "\n", "$x^2$ and <b>no</b>"],
}
NOT_HERE = {"quit"}


class Person:
    """Does things at random, and remembers them."""

    def __init__(self, window: MainWindow, seed: int) -> None:
        self._window = window
        self._random = random.Random(seed)
        self.done: list[str] = []
        self._ways: list[tuple[int, Callable[[], str]]] = [
            (6, self._ask), (5, self._key), (5, self._action), (5, self._click), (3, self._type), (2, self._menu),
            (2, self._item), (1, self._resize), (3, self._wait),
        ]  # fmt: skip

    def act(self) -> None:
        """One thing."""
        weights, ways = zip(*self._ways, strict=True)
        way = self._random.choices(ways, weights)[0]
        self.done.append(way.__name__)  # should it break on the way
        self.done[-1] = f"{way.__name__}: {way()}"
        QTest.qWait(self._random.choice((0, 0, 5, 20)))
        for dialog in others():
            if isinstance(dialog, QFileDialog):  # its questions hold everything up until they are answered
                dialog.close()

    def _where(self) -> QWidget:
        """The window in front, which may be a dialog or a menu."""
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self._in_front()

    def _in_front(self) -> QWidget:
        return self._random.choice([self._window, *others()])

    def _widgets(self) -> list[QWidget]:
        """What can be seen and used; Qt may have deleted what Python still knows."""
        found = self._where().findChildren(QWidget)
        return [widget for widget in found if isValid(widget) and widget.isVisible() and widget.isEnabled()]

    def _ask(self) -> str:
        tab = self._window.deck.current()
        if tab is None or not tab.composer.edit.isEnabled() or self._where() is not self._window:
            return "nobody there"
        text = self._random.choice(TEXTS)
        tab.composer.edit.setFocus()
        _write(tab.composer.edit, text)
        QTest.keyClick(tab.composer.edit, Qt.Key.Key_Return)
        return text[:20]

    def _key(self) -> str:
        place = self._where()
        target = place.focusWidget() or place
        key, modifier = self._random.choice(KEYS), self._random.choice(MODIFIERS)
        QTest.keyClick(target, key, modifier)
        return f"{modifier.name} {key.name} in {_name(target)}"

    def _type(self) -> str:
        place = self._where()
        target, text = place.focusWidget() or place, self._random.choice(TEXTS)
        _write(target, text)
        return f"{text[:20]!r} in {_name(target)}"

    def _action(self) -> str:
        actions = [a for spec, a in self._window.actions_ if spec.name not in NOT_HERE and a.isEnabled()]
        action = self._random.choice(actions)
        action.trigger()
        return action.objectName()

    def _click(self) -> str:
        buttons = [widget for widget in self._widgets() if isinstance(widget, QAbstractButton)]
        if not buttons:
            return "no button"
        button = self._random.choice(buttons)
        name = f"{_name(button)} {button.text()!r} {button.accessibleName()!r}"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        return name

    def _item(self) -> str:
        """Anything else, anywhere in it: rows, tabs, sliders, texts."""
        widgets = self._widgets()
        if not widgets:
            return "nothing"
        widget = self._random.choice(widgets)
        spot = QPoint(self._random.randrange(widget.width() or 1), self._random.randrange(widget.height() or 1))
        name = _name(widget)
        click = self._random.choice((QTest.mouseClick, QTest.mouseClick, double_click))
        button = self._random.choice((*4 * (Qt.MouseButton.LeftButton,), Qt.MouseButton.MiddleButton))
        click(widget, button, Qt.KeyboardModifier.NoModifier, spot)
        return f"{name} at {spot.x()},{spot.y()}"

    def _menu(self) -> str:
        """The context menu of something, and something in the menu."""
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            actions = [a for a in menu.actions() if a.isEnabled() and not a.isSeparator() and a.menu() is None]
            if actions:
                action = self._random.choice(actions)
                name = action.text()
                action.trigger()
                menu.close()
                return name
            menu.close()
            return "empty"
        widgets = self._widgets()
        if not widgets:
            return "nothing"
        widget = self._random.choice(widgets)
        spot, name = widget.rect().center(), _name(widget)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot, widget.mapToGlobal(spot))
        QApplication.sendEvent(widget, event)
        return f"of {name}"

    def _resize(self) -> str:
        size = self._random.choice(((1280, 820), (760, 560), (500, 400), (1700, 1000)))
        self._window.resize(*size)
        return str(size)

    def _wait(self) -> str:
        QTest.qWait(60)
        return ""


def _write(target: QWidget, text: str) -> None:
    """By keys, or as an input method does it where there are none for it."""
    if text.isascii() and text.isprintable():
        QTest.keyClicks(target, text)
        return
    event = QInputMethodEvent()
    event.setCommitString(text)
    QApplication.sendEvent(target, event)


def _name(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.objectName()}".strip()


def texts(window: MainWindow) -> list[list[tuple[str, str]]]:
    """Who said what in each tab, and what is written there and not sent."""
    tabs = [tab for tab in window.deck.tabs() if tab.session.path()]
    return [[*((n.role, n.content) for n in tab.session.path()), ("draft", tab.draft().text)] for tab in tabs]


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # so speaks the platform without a screen
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_breaks_and_nothing_is_lost(open_window, qtbot, qtlog, seed):
    window = open_window(ScriptedEngine(SCRIPT, tokens_per_second=400))
    person, heard = Person(window, seed), 0
    try:
        for _ in range(STEPS):
            person.act()
            complaints = [record.message for record in qtlog.records if not record.ignored]
            person.done += complaints[heard:]
            heard = len(complaints)
            if not window.isVisible():
                break  # there are many ways to close it
        close_all()
        for tab in window.deck.tabs():
            tab.session.stop()
        qtbot.waitUntil(lambda: not any(tab.session.answering for tab in window.deck.tabs()), timeout=20_000)
        qtbot.waitUntil(lambda: all(tab.session.is_loaded for tab in window.deck.tabs()))
        said = texts(window)
        window.close()
        other = open_window(ScriptedEngine(SCRIPT))
        qtbot.waitUntil(lambda: all(tab.session.is_loaded for tab in other.deck.tabs()))
        assert texts(other) == said
    finally:
        print("\n".join(person.done))  # shown when it fails, also by a warning of Qt's
