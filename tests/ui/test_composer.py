"""The composer's keys and its button."""

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QImage, QInputMethodEvent, QTextCursor
from PySide6.QtWidgets import QApplication

from llama_gui.ui.composer import Composer
from llama_gui.ui.theme import apply_theme


@pytest.fixture
def composer(qtbot, icons) -> Composer:
    composer = Composer(icons)
    qtbot.addWidget(composer)
    composer.resize(500, 100)
    composer.show()
    return composer


@pytest.mark.parametrize("with_key", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
def test_enter_sends_and_keeps_the_text_until_it_is_accepted(composer, qtbot, with_key):
    qtbot.keyClicks(composer.edit, "Hello")
    with qtbot.waitSignal(composer.send_requested) as sent:
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return, with_key)
    assert sent.args == ["Hello"]
    assert composer.text() == "Hello"


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_is_not_sent(composer, qtbot, text):
    composer.set_text(text)
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert not composer.button.isEnabled()


def test_an_empty_field_leaves_the_keys_of_beginning_and_end_to_what_is_read(composer, qtbot):
    ctrl = Qt.KeyboardModifier.ControlModifier
    for key, by in ((Qt.Key.Key_Home, -1), (Qt.Key.Key_End, 1)):
        with qtbot.waitSignal(composer.edit.edge_wanted) as wanted:
            qtbot.keyClick(composer.edit, key, ctrl)
        assert wanted.args == [by]
    composer.set_text("Short")
    with qtbot.assertNotEmitted(composer.edit.edge_wanted):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Home, ctrl)
    assert composer.edit.textCursor().position() == 0


def test_pages_are_turned_in_what_is_read_unless_the_text_itself_scrolls(composer, qtbot):
    composer.set_text("Short")
    for key, by in ((Qt.Key.Key_PageUp, -1), (Qt.Key.Key_PageDown, 1)):
        with qtbot.waitSignal(composer.edit.page_turned) as turned:
            qtbot.keyClick(composer.edit, key)
        assert turned.args == [by]
    composer.set_text("line\n" * 100)
    before = composer.edit.textCursor().position()
    with qtbot.assertNotEmitted(composer.edit.page_turned):
        qtbot.keyClick(composer.edit, Qt.Key.Key_PageUp)
    assert composer.edit.textCursor().position() < before


def test_shift_enter_starts_a_line_and_the_field_grows(composer, qtbot):
    height = composer.edit.height()
    qtbot.keyClicks(composer.edit, "one")
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.edit, "two")
    assert composer.text() == "one\ntwo"
    assert composer.edit.height() > height
    composer.set_text("line\n" * 100)
    assert composer.edit.height() < 12 * composer.edit.fontMetrics().lineSpacing()


def test_enter_that_ends_a_composition_does_not_send(composer, qtbot):
    composer.set_text("に")
    QApplication.sendEvent(composer.edit, QInputMethodEvent("ほん", []))
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    QApplication.sendEvent(composer.edit, QInputMethodEvent("", []))
    with qtbot.waitSignal(composer.send_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return)


def test_send_turns_into_stop(composer, qtbot):
    composer.set_text("Draft")
    composer.set_answering(True)
    assert composer.button.text() == "Stop"
    with qtbot.waitSignal(composer.stop_requested), qtbot.assertNotEmitted(composer.send_requested):
        qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    with qtbot.assertNotEmitted(composer.send_requested), qtbot.waitSignal(composer.queue_requested) as queued:
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert queued.args == ["Draft"]
    assert composer.queue_button.isVisible()
    composer.set_text("")
    assert not composer.queue_button.isVisible()
    composer.set_answering(False)
    assert composer.button.text() == "Send"


def test_a_narrow_one_says_less_beside_its_numbers(composer, qtbot):
    composer.set_answering(True)
    composer.resize(380, 120)
    assert not composer._key.isVisible()
    composer.set_text("Draft")
    assert (composer.queue_button.isVisible(), composer.queue_button.text()) == (True, "")
    assert composer.queue_button.accessibleName() == "Queue"
    composer.resize(600, 120)
    assert composer.queue_button.text() == "Queue"
    composer.set_text("")
    assert composer._key.isVisible()
    composer.set_front(False)  # Esc is for the chat beside
    assert not composer._key.isVisible()


def test_only_plain_text_is_pasted(composer):
    data = QMimeData()
    data.setHtml("<b>bold</b><img src='file:///etc/passwd'>")
    data.setText("bold")
    composer.edit.insertFromMimeData(data)
    assert composer.text() == "bold"


def test_another_name_in_the_empty_field_is_painted(composer, qtbot):
    def painted() -> QImage:
        QApplication.processEvents()
        return composer.grab().toImage()

    class Watch(QObject):
        count = 0

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            self.count += event.type() == QEvent.Type.Paint
            return False

    composer.button.setFocus()
    composer.edit.clearFocus()  # or its cursor would be painted now and then
    composer.set_placeholder("Message one …")
    before, watch = painted(), Watch()
    composer.edit.viewport().installEventFilter(watch)
    qtbot.wait(50)
    watch.count = 0
    composer.set_placeholder("Message two …")
    qtbot.waitUntil(lambda: watch.count > 0)
    assert painted() != before


def test_larger_letters_make_a_higher_field_of_fewer_lines(composer):
    composer.set_text("one line")
    line = composer.edit.height()
    composer.set_zoom(2.0)
    assert composer.edit.height() > 1.5 * line
    composer.set_text("\n" * 40)
    assert composer.edit.height() < 6 * composer.edit.fontMetrics().lineSpacing()


def test_the_placeholder_grows_with_the_letters(composer, qapp):
    apply_theme(qapp, "light")
    composer.set_placeholder("HHH")
    composer.edit.clearFocus()

    def height() -> int:
        image = composer.edit.viewport().grab().toImage()
        rows = range(image.height())
        page = image.pixel(0, image.height() - 1)
        return sum(any(image.pixel(x, y) != page for x in range(8, 60)) for y in rows)

    small = height()
    composer.set_zoom(2.0)
    assert height() > 1.7 * small


def test_a_long_text_is_written_into_what_takes_no_files(composer, qtbot):
    long = "\n".join(f"line {number}" for number in range(60))
    data = QMimeData()
    data.setText(long)
    composer.set_text("old words")
    composer.edit.selectAll()
    composer.set_takes_files(False)
    composer.edit.insertFromMimeData(data)
    assert composer.text() == long
    assert not composer.files.files()
    assert not composer.clip_button.isVisible()
    composer.set_takes_files(True)
    composer.edit.selectAll()
    composer.edit.insertFromMimeData(data)
    assert composer.text() == ""
    assert [file.text for file in composer.files.files()] == [long]


def test_the_button_does_not_promise_to_send_what_is_only_kept(composer):
    composer.set_text("better")
    composer.set_takes_files(False)
    assert composer.button.text() == "Save"
    composer.set_takes_files(True)
    assert composer.button.text() == "Send"


def test_a_long_address_is_wrapped_and_nothing_scrolls_sideways(composer, qtbot):
    for text in ("https://example.org/" + "path/" * 60 + "?" + "q" * 300, "word " * 40):
        composer.set_text(text)
        QApplication.processEvents()
        composer.edit.moveCursor(QTextCursor.MoveOperation.End)
        assert not composer.edit.horizontalScrollBar().isVisible()
        assert composer.edit.cursorRect().right() <= composer.edit.viewport().width()
        assert composer.edit.cursorRect().bottom() <= composer.edit.viewport().height()


def test_the_end_of_a_text_that_was_pasted_is_in_sight(composer, qtbot):
    composer.resize(500, 400)
    composer.edit.pasted.emit("\n".join(f"line {n}" for n in range(30)))
    edit = composer.edit
    qtbot.waitUntil(lambda: edit.height() > 100 and edit.viewport().rect().contains(edit.cursorRect()))
