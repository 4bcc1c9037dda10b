"""Looking at the words: keys and mouse go from token to token, and a choice becomes a new version."""

import math
from itertools import pairwise

import pytest
from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from llama_gui.bridge.word_reader import Words
from llama_gui.chats.tree import Node
from llama_gui.ui.theme import LIGHT, apply_theme
from llama_gui.ui.words.dialog import WordDialog
from llama_gui.vocabulary import TokenOutput, TopLogprob

END = 7
NODE = Node("a1", "chat", "u1", "assistant", "One <b>two</b>\n🦙 three", "complete", 0.0, "Tiny")


def output(index: int, text: str, token_id: int, share: float, *others: tuple[str, int, float]) -> TokenOutput:
    tops = sorted([(text, token_id, share), *others], key=lambda top: -top[2])
    logprobs = tuple(TopLogprob(i, word, math.log(part)) for word, i, part in tops)
    return TokenOutput(text, token_id, index, math.log(share), logprobs)


TOKENS = (
    output(0, "One", 10, 0.9, ("Two", 20, 0.05)),
    output(1, " <b>two</b>", 11, 0.3, (" three", 21, 0.6)),
    output(2, "\n", 12, 0.95, ("", END, 0.04)),
    output(3, "", 13, 0.99),
    output(4, "🦙", 14, 0.99),
    output(5, " three", 15, 0.1, (" four", 22, 0.7), ("teen", 23, 0.15)),
    output(6, "", END, 0.85, ("!", 24, 0.1)),
)
WORDS = Words("a1", TOKENS, frozenset({END}))


class Reader(QObject):
    awaited = Signal(str)
    progressed = Signal(float)
    told = Signal(object)
    failed = Signal(str)

    def __init__(self):
        super().__init__()
        self.asked: list[str] = []
        self.cancelled = 0

    def read(self, node_id: str) -> None:
        self.asked.append(node_id)

    def cancel(self) -> None:
        self.cancelled += 1


class Session(QObject):
    def __init__(self):
        super().__init__()
        self.words = Reader()
        self.answering = False
        self.ways: list[tuple[Words, int, int]] = []

    def go_another_way(self, words: Words, place: int, token_id: int) -> None:
        self.ways.append((words, place, token_id))


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def window(qtbot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1100, 760)
    window.show()
    return window


@pytest.fixture
def fresh(window, session, qtbot) -> WordDialog:
    dialog = WordDialog(session, NODE, 1.0, window)
    dialog.open()
    qtbot.waitExposed(dialog)
    return dialog


@pytest.fixture
def dialog(fresh, session, qtbot) -> WordDialog:
    session.words.told.emit(WORDS)
    qtbot.waitUntil(fresh.sheet.hasFocus)
    return fresh


def rows(dialog: WordDialog) -> list[str]:
    items = dialog.choices.list
    return [items.item(row).text() for row in range(items.count())]


def place_of(dialog: WordDialog, token: int) -> QPoint:
    """The middle of a token on the screen."""
    sheet = dialog.sheet
    index = sheet._text.span_of(token)
    block = sheet.document().findBlock(sheet._text.spans[index].start)
    rect = next(rect for at, rect in sheet._rects_in(block) if at == index)
    return (rect.center().toPoint()) - QPoint(0, sheet.verticalScrollBar().value())


def hover(dialog: WordDialog, place: QPoint) -> None:
    """Move the mouse there. Through the window: `QTest.mouseMove` on a widget of a dialog does not get there."""
    viewport = dialog.sheet.viewport()
    handle = dialog.windowHandle()
    assert handle is not None
    QTest.mouseMove(handle, viewport.mapTo(dialog, place))


def test_it_is_read_while_it_is_open(fresh, session):
    assert session.words.asked == ["a1"]
    assert fresh.sheet.toPlainText() == NODE.content
    assert fresh.state.text() == "Reading the answer…"
    session.words.awaited.emit("key")
    assert fresh.state.text() == "Loading Tiny, which wrote this answer…"
    session.words.progressed.emit(0.5)
    assert fresh.state.text() == "Reading the answer…"
    QTest.keyClick(fresh.sheet, Qt.Key.Key_Right)  # there is nothing to go to yet
    QTest.keyClick(fresh.sheet, Qt.Key.Key_Escape)
    assert session.words.cancelled == 1


def test_the_button_is_no_wider_while_it_is_read(fresh, qtbot):
    close = next(button for button in fresh.findChildren(QPushButton) if button.text() == "Close")
    assert fresh.bar.isVisible()
    qtbot.waitUntil(lambda: fresh.bar.width() > 100)
    assert close.width() == close.sizeHint().width()
    assert fresh.state.width() > fresh.width() / 2


def test_why_it_cannot_be_read(fresh, session):
    session.words.failed.emit("The model is gone.")
    assert fresh.state.text() == "The model is gone."
    assert fresh.bar.isHidden()
    assert fresh.choices.isHidden()
    session.words.told.emit(Words("another", TOKENS))
    assert fresh.sheet.token_count == 0


def test_it_begins_with_the_first_unsure_word(dialog):
    assert dialog.sheet.current == 1
    assert dialog.choices.word.text() == "<b>two</b>"
    assert dialog.choices.share.text() == "30.0 % · place 2"
    assert rows(dialog) == ["three", "<b>two</b>"]
    assert dialog.choices.rest.text() == "all others together: 10.0 %"
    assert dialog.state.text().startswith("7 tokens, 2 of them unsure.")


def test_arrow_keys_go_from_token_to_token(dialog, qtbot):
    sheet = dialog.sheet
    seen = []
    for _ in range(6):
        qtbot.keyClick(sheet, Qt.Key.Key_Right)
        seen.append(dialog.choices.word.text())
    assert seen == ["↵", "part of a character", "🦙", "␣three", "end of the answer", "end of the answer"]
    qtbot.keyClick(sheet, Qt.Key.Key_Left)
    assert sheet.current == 5
    qtbot.keyClick(sheet, Qt.Key.Key_Home)
    assert sheet.current == 0
    qtbot.keyClick(sheet, Qt.Key.Key_Down)
    assert sheet.current in (4, 5)
    qtbot.keyClick(sheet, Qt.Key.Key_Up)
    assert sheet.current in (0, 1)
    qtbot.keyClick(sheet, Qt.Key.Key_End)
    assert sheet.current == 6


def test_ctrl_goes_from_one_unsure_word_to_the_next(dialog, qtbot):
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(dialog.sheet, Qt.Key.Key_Right, control)
    assert dialog.sheet.current == 5
    qtbot.keyClick(dialog.sheet, Qt.Key.Key_Right, control)
    assert dialog.sheet.current == 5
    qtbot.keyClick(dialog.sheet, Qt.Key.Key_Left, control)
    assert dialog.sheet.current == 1


def test_the_parts_of_a_character(dialog):
    dialog.sheet.go_to(3)
    assert dialog.choices.share.text() == "99.0 % · the likeliest · part 1 of 2"
    dialog.sheet.go_to(4)
    assert dialog.choices.share.text() == "99.0 % · the likeliest · part 2 of 2"


def test_a_word_that_somebody_chose_is_named(fresh, session):
    session.words.told.emit(Words("a1", TOKENS, frozenset({END}), 1))
    assert fresh.choices.share.text() == "30.0 % · place 2 · chosen by you"
    fresh.sheet.step(1)
    assert "chosen" not in fresh.choices.share.text()


def test_a_choice_by_keys_is_a_new_version(dialog, session, qtbot):
    qtbot.keyClick(dialog.sheet, Qt.Key.Key_Return)
    assert dialog.choices.list.hasFocus()
    qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Right)
    assert dialog.sheet.current == 2
    qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Left)
    qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Down)
    qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Return)  # the one that is written
    assert session.ways == []
    qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Up)
    with qtbot.waitSignal(dialog.turned):
        qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Return)
    assert session.ways == [(WORDS, 1, 21)]
    assert session.words.cancelled == 1


def test_the_end_can_be_chosen(dialog, session, qtbot):
    dialog.sheet.go_to(2)
    assert rows(dialog) == ["↵", "end of the answer"]
    row = dialog.choices.list.visualItemRect(dialog.choices.list.item(1))
    qtbot.mouseClick(dialog.choices.list.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    assert session.ways == [(WORDS, 2, END)]


def test_the_mouse_shows_and_keeps_a_word(dialog, qtbot):
    viewport = dialog.sheet.viewport()
    hover(dialog, place_of(dialog, 5))
    qtbot.waitUntil(lambda: dialog.choices.word.text() == "␣three")
    assert dialog.sheet.current == 1
    hover(dialog, QPoint(viewport.width() - 3, viewport.height() - 3))
    qtbot.waitUntil(lambda: dialog.choices.word.text() == "<b>two</b>")
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place_of(dialog, 0))
    assert dialog.sheet.current == 0
    assert dialog.choices.list.hasFocus()


def test_while_an_answer_is_written_it_stays_open(dialog, session, qtbot):
    session.answering = True
    dialog.choices.wanted.emit(1, 21)
    assert session.ways == []
    assert dialog.isVisible()
    assert "still being written" in dialog.state.text()


def test_a_word_outside_of_the_likeliest_is_listed(fresh, session):
    rare = TokenOutput("rare", 50, 0, math.log(0.01), (TopLogprob(51, "usual", math.log(0.9)),))
    session.words.told.emit(Words("a1", (rare,), frozenset()))
    assert rows(fresh) == ["usual", "rare"]
    assert fresh.choices.share.text() == "1.0 % · not among the likeliest"


def test_it_says_when_the_prompt_is_another(fresh, session):
    session.words.told.emit(Words("a1", TOKENS, frozenset({END}), is_as_then=False))
    first, second = fresh.state.text().splitlines()
    assert first == "A message before it or the system prompt is another now, and so are these numbers."
    assert second.startswith("7 tokens")


def test_names_for_a_screen_reader(dialog):
    face = QAccessible.queryAccessibleInterface(dialog.choices.list)
    assert face.text(QAccessible.Text.Name) == "What the model might have written here"
    told = [dialog.choices.list.item(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(2)]
    assert told == ["three, 60.0 %, go on from here with this", "<b>two</b>, 30.0 %, as it is written"]
    assert QAccessible.queryAccessibleInterface(dialog.sheet).text(QAccessible.Text.Name) == "The words of the answer"
    assert all(button.text() for button in dialog.findChildren(QPushButton))


def test_unsure_words_are_tinted_and_underlined(dialog, qapp):
    def colors(token: int) -> set[str]:
        image = dialog.sheet.viewport().grab(
            QRect(place_of(dialog, token), place_of(dialog, token)).adjusted(-14, -9, 14, 12)
        )
        picture: QImage = image.toImage()
        return {
            picture.pixelColor(x, y).name().upper() for x in range(picture.width()) for y in range(picture.height())
        }

    assert {LIGHT.unsure_3, LIGHT.accent} <= colors(5)
    dialog.sheet.go_to(6)
    assert not {LIGHT.unsure_1, LIGHT.unsure_2, LIGHT.unsure_3, LIGHT.accent} & colors(0)
    apply_theme(qapp, "dark")
    assert LIGHT.unsure_3 not in colors(5)


def test_arrow_keys_follow_the_direction_of_the_text(fresh, session, qtbot):
    tokens = tuple(output(i, text, 10 + i, 0.9) for i, text in enumerate(("مرحبا", " بال", "عالم")))
    session.words.told.emit(Words("a1", tokens, frozenset()))
    qtbot.keyClick(fresh.sheet, Qt.Key.Key_Left)
    assert fresh.sheet.current == 1
    assert place_of(fresh, 1).x() < place_of(fresh, 0).x()
    qtbot.keyClick(fresh.sheet, Qt.Key.Key_Right)
    assert fresh.sheet.current == 0


def test_tokens_of_a_line_lie_side_by_side(dialog):
    rects = [rect for _, rect in dialog.sheet._rects_in(dialog.sheet.document().firstBlock())]
    assert all(before.right() <= behind.left() + 1 for before, behind in pairwise(rects))
    assert all(rect.width() > 4 for rect in rects)


def test_long_answers_are_shown_at_once(fresh, session, qapp):
    tokens = tuple(output(i, f" word{i % 9}", 100 + i, 0.4) for i in range(4000))
    session.words.told.emit(Words("a1", tokens, frozenset()))
    qapp.processEvents()
    fresh.sheet.go_to(3999)
    qapp.processEvents()
    assert fresh.sheet.current == 3999
    assert fresh.sheet.viewport().rect().contains(place_of(fresh, 3999))


def test_a_narrow_window_has_the_alternatives_below(dialog, qtbot):
    frame = dialog.sheet.parentWidget()
    dialog.resize(400, 640)
    qtbot.waitUntil(lambda: dialog.choices.geometry().top() > frame.geometry().bottom())
    dialog.resize(900, 640)
    qtbot.waitUntil(lambda: dialog.choices.geometry().left() > frame.geometry().right())
