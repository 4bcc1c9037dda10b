"""The buttons of a message: which there are, where they float, and how the keyboard reaches them."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from llama_gui.chats.tree import Node
from llama_gui.ui.icons import Icons
from llama_gui.ui.transcript.hover_bar import verbs_of, why_not_words
from llama_gui.ui.transcript.view import TranscriptView

ICONS = Path(__file__).parents[2] / "resources" / "icons"


SEEDED = '{"sampling": {"temperature": 0.7, "seed": 3}}'


def node(node_id: str, role="assistant", status="complete", **more: str) -> Node:
    return Node(
        node_id, "chat", None, role, f"text of {node_id}", status, 0.0, **{"model": "m", "recipe": SEEDED, **more}
    )


NODES = [node("u1", "user"), node("a1"), node("u2", "user"), node("a2")]


@pytest.fixture
def view(qtbot) -> TranscriptView:
    view = TranscriptView(Icons(ICONS))
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show_path(NODES, {"u2": (1, 2), "a2": (2, 3)})
    view.show()
    qtbot.waitExposed(view)
    return view


def hover(view: TranscriptView, word: str) -> None:
    found = view.document().find(word)
    assert not found.isNull()
    QTest.mouseMove(view.viewport(), QPoint(200, 5))
    QTest.mouseMove(view.viewport(), view.cursorRect(found).center())


@pytest.mark.parametrize(
    ("message", "verbs"),
    [
        (node("x", "user"), "copy edit regenerate fork delete"),
        (node("x"), "copy regenerate regenerate_with edit words run_again fork delete"),
        (node("x", status="stopped"), "copy regenerate regenerate_with continue edit words run_again fork delete"),
        (node("x", status="interrupted"), "copy regenerate regenerate_with continue edit words run_again fork delete"),
        (
            node("x", recipe='{"sampling": {"temperature": 0.7}, "finish_reason": "length"}'),
            "copy regenerate regenerate_with continue edit words fork delete",
        ),
        (
            node("x", recipe='{"sampling": {"temperature": 0.0}}'),
            "copy regenerate regenerate_with edit words run_again fork delete",
        ),
        (
            node("x", recipe='{"sampling": {"temperature": 0.7}}'),
            "copy regenerate regenerate_with edit words fork delete",
        ),
        (node("x", recipe=""), "copy regenerate regenerate_with continue edit words fork delete"),  # somebody edited it
        (node("x", status="streaming"), ""),
    ],
)
def test_what_can_be_done_with_a_message(message: Node, verbs: str):
    assert " ".join(verbs_of(message)) == verbs


@pytest.mark.parametrize(
    ("message", "why_not"),
    [
        (node("x", recipe='{"model": "/models/m", "token_ids": [1, 2]}'), ""),
        (node("x", recipe='{"model": "gpu#m", "token_ids": []}'), "m runs on another server"),
        (node("x", recipe=""), "Only of answers that a model has written here"),
        (node("x", status="streaming"), "once the answer has ended"),
        (node("x", "user"), "once the answer has ended"),
    ],
)
def test_why_the_words_cannot_be_looked_at(view: TranscriptView, message: Node, why_not: str):
    assert why_not_words(message).startswith(why_not) or why_not in why_not_words(message)
    bar = view._buttons.bar
    if bar.show_for(message) and message.role == "assistant":
        button = bar._buttons["words"]
        assert button.isEnabled() == (not why_not)
        assert why_not in button.toolTip()
        assert why_not in button.accessibleDescription()


@pytest.mark.parametrize("node_id", ["u1", "a1", "u2", "a2"])
def test_the_mouse_brings_the_buttons_of_the_message_below_it(view: TranscriptView, qtbot, node_id: str):
    hover(view, f"text of {node_id}")
    qtbot.waitUntil(view._buttons.bar.isVisible)
    assert view._buttons.bar.node_id == node_id
    assert view.viewport().rect().contains(view._buttons.bar.geometry())
    chosen: list[tuple[str, str]] = []
    view.action_requested.connect(lambda verb, node_id: chosen.append((verb, node_id)))
    for verb in ("copy", "fork", "delete"):
        view._buttons.bar._buttons[verb].click()
    assert chosen == [("copy", node_id), ("fork", node_id), ("delete", node_id)]


def test_the_buttons_go_with_the_mouse(view: TranscriptView, qtbot):
    hover(view, "text of a1")
    qtbot.waitUntil(view._buttons.bar.isVisible)
    view.verticalScrollBar().valueChanged.emit(1)
    assert not view._buttons.bar.isVisible()


def test_the_keyboard_walks_over_messages_and_buttons(view: TranscriptView, qtbot):
    view.setFocus()
    view.activateWindow()
    for wanted in ("a2", "u2", "a1"):
        view.step_message(-1)
        assert view._buttons.bar.node_id == wanted
    view.step_message(1)
    assert view._buttons.bar.node_id == "u2"
    chosen: list[tuple[str, str]] = []
    view.action_requested.connect(lambda verb, node_id: chosen.append((verb, node_id)))
    qtbot.keyClick(view._buttons.bar, Qt.Key.Key_Right)
    shown = [name for name, button in view._buttons.bar._buttons.items() if button.isVisible()]
    assert shown == ["copy", "edit", "regenerate", "fork", "delete"]
    qtbot.keyClick(view._buttons.bar, Qt.Key.Key_Escape)
    assert not view._buttons.bar.isVisible()


def test_versions_stand_in_the_text_and_lead_to_the_others(view: TranscriptView):
    text = view.toPlainText()
    assert "1 / 2" in text
    assert "2 / 3" in text
    chosen: list[tuple[str, str]] = []
    view.action_requested.connect(lambda verb, node_id: chosen.append((verb, node_id)))
    view._run_command("previous", "a2")
    assert chosen == [("previous", "a2")]


def test_every_button_has_a_name(view: TranscriptView):
    assert all(button.accessibleName() and button.toolTip() for button in view._buttons.bar._buttons.values())


@pytest.mark.parametrize("by_keys", [False, True])
def test_the_buttons_of_a_message_that_is_gone_go_with_it(view: TranscriptView, qtbot, by_keys: bool):
    bar = view._buttons.bar  # type: ignore[union-attr]
    if by_keys:
        view.setFocus()
        view.step_message(-1)
    else:
        hover(view, "text of a2")
    assert (bar.isVisible(), bar.node_id) == (True, "a2")
    view.show_path(NODES[:3])
    assert not bar.isVisible()
    view.show_path(NODES)
    hover(view, "text of a1")
    view.show_path(NODES[:3])
    assert (bar.isVisible(), bar.node_id) == (True, "a1")


def test_a_button_that_comes_back_is_not_lit_up(view: TranscriptView, qtbot):
    hover(view, "text of a2")
    bar = view._buttons.bar  # type: ignore[union-attr]
    button = bar._buttons["copy"]
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    bar.hide()
    assert not button.underMouse()


def right_click(view: TranscriptView, word: str) -> QMenu:
    return view.menu_at(view.cursorRect(view.document().find(word)).center())


def texts_of(menu: QMenu) -> list[str]:
    return [action.text().partition("\t")[0] for action in menu.actions() if not action.isSeparator()]


def test_a_right_click_offers_what_can_be_done_with_the_message(view, qtbot):
    menu = right_click(view, "text of u1")
    assert texts_of(menu) == [
        "Copy", "Select all", "Copy the message", "Edit", "Answer again", "Fork into a new tab",
        "Delete this and what follows",
    ]  # fmt: skip
    assert not menu.actions()[0].isEnabled()  # nothing is selected
    with qtbot.waitSignal(view.action_requested) as wanted:
        next(action for action in menu.actions() if action.text() == "Edit").trigger()
    assert wanted.args == ["edit", "u1"]
    answers = right_click(view, "text of a2")
    assert "Look at the words" in texts_of(answers)
    words = next(action for action in answers.actions() if action.text() == "Look at the words")
    assert not words.isEnabled()  # its tokens are not known


def test_only_a_link_that_can_be_opened_is_copied(view):
    view.show_path([node("u1", "user"), replace(node("a1"), content="See [the page](https://a.example/b).")])
    menu = right_click(view, "the page")
    next(action for action in menu.actions() if action.text() == "Copy the link").trigger()
    assert QGuiApplication.clipboard().text() == "https://a.example/b"
    assert "Copy the link" not in texts_of(right_click(view, "Again"))


def test_of_an_answer_that_streams_only_words_are_copied(view):
    view.show_path([node("u1", "user"), node("a1", status="streaming")])
    assert texts_of(right_click(view, "text of a1")) == ["Copy", "Select all"]
