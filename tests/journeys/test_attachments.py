"""Files that go along with a message."""

import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication, QFileDialog

from llama_gui.chats import attachments
from llama_gui.chats.attachments import Attachment
from llama_gui.chats.documents.child import ReadingCancelledError
from llama_gui.chats.message_files import split
from llama_gui.ui import MainWindow
from llama_gui.ui.attachment_bar import MOST_FILES
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.picture_dialog import PictureDialog
from llama_gui.vocabulary import ChatSettings, Image, Message
from tests.fakes.documents import docx, paragraph, pdf
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.tiny_pixtral import picture
from tests.journeys.driving import ask, shown, trigger
from tests.ui.transcripts import command_of


@pytest.fixture
def tab(open_window, qtbot) -> ChatTab:
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    tab.window_ = window  # pyright: ignore[reportAttributeAccessIssue]
    return tab


def window_of(tab: ChatTab) -> MainWindow:
    return tab.window_  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text("one two three four", encoding="utf-8")
    return path


def names(tab: ChatTab) -> list[str]:
    return [file.name for file in tab.composer.files.files()]


def drop(target, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(QPoint(20, 20), *how)
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(target, QDragMoveEvent(QPoint(20, 20), *how))
    QApplication.sendEvent(target, QDropEvent(QPointF(20, 20), *how))


def paste(tab: ChatTab, text: str) -> None:
    QApplication.clipboard().setText(text)
    tab.composer.edit.paste()


def test_a_dropped_file_goes_along_and_the_transcript_shows_words_and_name(tab: ChatTab, notes: Path, qtbot):
    drop(tab, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    chip = tab.composer.files.chips()[0]
    qtbot.waitUntil(lambda: chip.accessibleName() == "notes.md, 18 B · 4 tokens")
    assert tab.composer.button.isEnabled()
    ask(qtbot, tab, "What is it?")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    assert names(tab) == []
    asked = tab.session.path()[0]
    assert "one two three four" in asked.content
    words, files = split(asked.content, asked.attachments)
    assert (words, files[0].text) == ("What is it?", "one two three four")
    said = shown(tab).partition("What is it?")[2].partition("Scripted")[0]
    assert "notes.md  ·  18 B" in said
    assert "one two three" not in said


def test_a_file_alone_can_be_sent(tab: ChatTab, notes: Path, qtbot):
    drop(tab.composer.edit.viewport(), notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    qtbot.mouseClick(tab.composer.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    assert tab.session.title == "notes.md"


def test_files_are_looked_for_where_the_last_ones_were(tab: ChatTab, notes: Path, tmp_path: Path, qtbot, monkeypatch):
    def folder_of_dialog(tab: ChatTab) -> Path:
        tab.composer.files_wanted.emit()
        dialog = next(found for found in tab.findChildren(QFileDialog) if found.isVisible())
        folder = Path(dialog.directory().absolutePath())
        if not names(tab):
            dialog.filesSelected.emit([str(notes)])
        dialog.reject()
        return folder

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    first = folder_of_dialog(tab)
    assert first == tmp_path / "home" or sys.platform == "win32"  # which asks nobody where the documents are
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    assert folder_of_dialog(tab) == notes.parent
    assert folder_of_dialog(window_of(tab).deck.new_tab()) == notes.parent


def test_what_is_no_text_is_refused_by_name(tab: ChatTab, notes: Path, tmp_path: Path, qtbot):
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (tmp_path / "photo.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(20))
    (tmp_path / "thing.bin").write_bytes(bytes(range(256)))
    drop(tab, *(tmp_path / name for name in ("photo.png", "photo.heic", "thing.bin", "gone.txt")), notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    qtbot.waitUntil(lambda: len(tab.notice.text().splitlines()) == 4)
    assert "photo.png is damaged and cannot be read." in tab.notice.text()
    assert "photo.heic is a picture of a kind that is not read here." in tab.notice.text()
    assert "thing.bin is neither text nor a document that can be read." in tab.notice.text()
    assert "gone.txt cannot be read" in tab.notice.text()


def test_an_image_that_is_pasted_goes_along(tab: ChatTab):
    data, image = QMimeData(), QImage(2000, 40, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    data.setImageData(image)
    assert tab.composer.edit.canInsertFromMimeData(data)
    tab.composer.edit.insertFromMimeData(data)
    tab.composer.edit.insertFromMimeData(data)  # the same once more is another one by its name
    first, second = tab.composer.files.files()
    assert (first.name, second.name) == ("Pasted image 1.png", "Pasted image 2.png")
    assert QImage.fromData(first.image).width() == 1540
    data.setText("copied with its words")  # as from a web page
    tab.composer.edit.insertFromMimeData(data)
    assert tab.composer.text() == "copied with its words"
    assert len(tab.composer.files.files()) == 2


def test_an_image_is_sent_shown_edited_and_there_after_a_restart(open_window, tmp_path: Path, qtbot):
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(picture(640, 400, kind="JPEG").data)
    engine = ScriptedEngine(reads_images=True)
    window = open_window(engine)
    tab = window.deck.current()
    drop(tab.composer.edit.viewport(), photo)
    qtbot.waitUntil(lambda: len(tab.composer.files.files()) == 1, timeout=10_000)
    (file,) = tab.composer.files.files()
    assert file.image == photo.read_bytes()
    ask(qtbot, tab, "What is it?")
    qtbot.waitUntil(lambda: not tab.session.answering and bool(engine.requests))
    (message,) = engine.requests[-1].messages or ()
    assert message == Message("user", "What is it?", images=[Image(file.image)])
    assert "\ufffc" in tab.transcript.toPlainText()
    tab.transcript.anchorClicked.emit(command_of(tab.transcript, "picture"))
    dialog = tab.findChild(PictureDialog)
    assert dialog is not None
    dialog.copy()
    assert QApplication.clipboard().image().width() == 640
    dialog.close()
    trigger(window, "edit_last")
    assert tab.composer.files.files() == (file,)


def test_a_scan_goes_along_as_images(open_window, tmp_path: Path, qtbot):
    scan = pdf(tmp_path / "letter.pdf", [""] * 12)
    engine = ScriptedEngine(reads_images=True)
    tab = open_window(engine).deck.current()
    qtbot.waitUntil(lambda: tab.session.is_loaded)
    tab.files.attach([str(scan)])
    qtbot.waitUntil(lambda: len(tab.composer.files.files()) == 10, timeout=15_000)
    assert names(tab)[:2] == ["letter 1.png", "letter 2.png"]
    assert "letter.pdf has no text, but 12 pages with pictures. The first 10 go along as images." in tab.notice.text()
    ask(qtbot, tab, "Who wrote it?")
    qtbot.waitUntil(lambda: not tab.session.answering and bool(engine.requests))
    (message,) = engine.requests[-1].messages or ()
    assert (message.content, len(message.images)) == ("Who wrote it?", 10)


def test_a_scan_is_refused_where_the_model_reads_no_images(tab: ChatTab, tmp_path: Path, qtbot):
    qtbot.waitUntil(lambda: tab.session.is_loaded)
    tab.files.attach([str(pdf(tmp_path / "letter.pdf", [""]))])
    qtbot.waitUntil(lambda: "for a model that reads images" in tab.notice.text(), timeout=15_000)
    assert names(tab) == []


def test_a_chat_with_images_goes_on_with_a_model_that_reads_none(open_window, tmp_path: Path, qtbot):
    photo = tmp_path / "photo.png"
    photo.write_bytes(picture(64, 40).data)
    engine = ScriptedEngine(reads_images=True)
    tab = open_window(engine).deck.current()
    tab.files.attach([str(photo)])
    qtbot.waitUntil(lambda: len(tab.composer.files.files()) == 1, timeout=10_000)
    ask(qtbot, tab, "What is it?")
    qtbot.waitUntil(lambda: not tab.session.answering and bool(engine.requests))
    engine.info = replace(engine.info, reads_images=False)
    ask(qtbot, tab, "And now?")
    qtbot.waitUntil(lambda: not tab.session.answering and len(engine.requests) > 1)
    first, *_, last = engine.requests[-1].messages or ()
    assert (first.content, first.images) == ("[Image]\n\nWhat is it?", ())
    assert last.content == "And now?"


def test_documents_go_along_as_their_text(tab: ChatTab, tmp_path: Path, qtbot):
    book = pdf(tmp_path / "Buch über Größe.pdf", ["Straße eins", "Seite zwei"])
    letter = docx(tmp_path / "brief.docx", paragraph("Sehr geehrte Damen"))
    drop(tab, book, letter)
    assert [chip.accessibleName() for chip in tab.composer.files.chips()] == [
        "Buch über Größe.pdf, reading …",
        "brief.docx, reading …",
    ]
    qtbot.waitUntil(lambda: names(tab) == ["Buch über Größe.pdf", "brief.docx"], timeout=10_000)
    chip = tab.composer.files.chips()[0]
    qtbot.waitUntil(lambda: chip.accessibleName().endswith(" tokens"))
    ask(qtbot, tab, "What?")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    asked = tab.session.path()[0]
    assert "[page 2]\nSeite zwei" in asked.content
    assert "Sehr geehrte Damen" in asked.content
    assert "Buch über Größe.pdf  ·" in shown(tab)


def test_a_message_waits_for_a_file_that_is_still_read(tab: ChatTab, tmp_path: Path, qtbot):
    drop(tab, pdf(tmp_path / "a.pdf", ["text"]))
    qtbot.keyClicks(tab.composer.edit, "Hello")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    assert "still being read" in tab.notice.text()
    assert tab.composer.text() == "Hello"
    assert list(tab.session.path()) == []
    qtbot.waitUntil(lambda: names(tab) == ["a.pdf"], timeout=10_000)
    assert tab.notice.text() == ""
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    assert "[page 1]\ntext" in tab.session.path()[0].content


@pytest.fixture
def hanging(monkeypatch) -> threading.Event:
    """Documents are read until nobody wants them; set when one begins to be."""
    began = threading.Event()

    def read_apart(_path: Path, cancelled: threading.Event) -> str:
        began.set()
        assert cancelled.wait(10)
        raise ReadingCancelledError

    monkeypatch.setattr(attachments, "read_apart", read_apart)
    return began


def test_a_file_can_be_removed_while_it_is_read(hanging, tab: ChatTab, tmp_path: Path, qtbot):
    drop(tab, pdf(tmp_path / "a.pdf", ["text"]))
    qtbot.waitUntil(hanging.is_set)
    qtbot.mouseClick(tab.composer.files.chips()[0].close_button, Qt.MouseButton.LeftButton)
    assert tab.composer.files.chips() == []
    assert not tab.composer.files.isVisible()
    hanging.clear()
    drop(tab, pdf(tmp_path / "b.pdf", ["text"]))
    qtbot.waitUntil(hanging.is_set)  # the first holds up nothing any more
    assert tab.notice.text() == ""
    hanging.clear()
    other = window_of(tab).deck.new_tab()
    window_of(tab).deck.close_at(0)
    drop(other, pdf(tmp_path / "c.pdf", ["text"]))
    qtbot.waitUntil(hanging.is_set)  # nor does what was read for a tab that is gone


def test_what_cannot_be_read_gives_its_place_up(tab: ChatTab, notes: Path, tmp_path: Path, qtbot):
    drop(tab, pdf(tmp_path / "scan.pdf", [""]), notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    qtbot.waitUntil(lambda: "scan.pdf has no text in it" in tab.notice.text(), timeout=10_000)
    assert tab.composer.files.count() == 1


def test_a_document_read_while_an_answer_is_edited_goes_nowhere(tab: ChatTab, tmp_path: Path, qtbot):
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    drop(tab, pdf(tmp_path / "a.pdf", ["text"]))
    tab.messages.run("edit", tab.session.path()[1].id)
    qtbot.waitUntil(lambda: "No file can go along with an answer." in tab.notice.text(), timeout=10_000)
    assert tab.composer.files.count() == 0


def test_a_document_longer_than_the_context_is_told_before_it_is_sent(open_window, tmp_path: Path, qtbot):
    tab = open_window(ScriptedEngine(max_context=50)).deck.current()
    tab.session.set_settings(ChatSettings(overflow="error"))
    drop(tab, pdf(tmp_path / "long.pdf", ["word " * 60]))
    qtbot.waitUntil(lambda: "too long" in tab.composer.meter.text(), timeout=10_000)
    qtbot.keyClicks(tab.composer.edit, "What?")
    qtbot.waitUntil(lambda: tab.session.context.known() is not None)
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    assert "but the model reads 50 at most. Remove a file" in tab.notice.text()
    assert (tab.composer.text(), names(tab), list(tab.session.path())) == ("What?", ["long.pdf"], [])
    qtbot.mouseClick(tab.composer.files.chips()[0].close_button, Qt.MouseButton.LeftButton)
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)  # not measured yet, so nobody holds it up
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)


def test_of_a_document_longer_than_the_context_the_passages_go_along_that_fit(open_window, tmp_path: Path, qtbot):
    tab = open_window(ScriptedEngine(max_context=400)).deck.current()
    pages = ["\n".join(["many words about nothing at all"] * 20) for _ in range(30)]
    drop(tab, pdf(tmp_path / "book.pdf", [*pages, "The blue llama lives in Köln."]))
    qtbot.waitUntil(lambda: "passages of the files" in tab.composer.meter.text(), timeout=10_000)
    ask(qtbot, tab, "Where is the blue llama?")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    asked = tab.session.path()[0]
    assert "[page 31]\nThe blue llama lives in Köln." in asked.content
    assert len(asked.content) < 2000
    assert "of 91 passages, those that fit the question" in shown(tab)
    trigger(window_of_tab(tab), "edit_last")
    assert "[page 30]" in tab.composer.files.files()[0].text  # all of it was kept
    assert tab.composer.files.files()[0].excerpt is None


def test_what_is_added_while_a_message_is_on_its_way_stays(tab: ChatTab, notes: Path, qtbot):
    drop(tab, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    qtbot.keyClicks(tab.composer.edit, "one")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    tab.composer.files.add(Attachment("late.txt", "x", 1))
    qtbot.keyClicks(tab.composer.edit, " more")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    assert (tab.composer.text(), names(tab)) == (" more", ["late.txt"])


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text("many words about nothing at all\n" * 900 + "The blue llama lives in Köln.\n", encoding="utf-8")
    return path


def test_a_long_document_is_cut_down_though_nobody_has_counted_it_yet(open_window, book: Path, qtbot):
    tab = open_window(ScriptedEngine(max_context=400)).deck.current()
    qtbot.waitUntil(lambda: tab.composer.meter.text().startswith("0 / "))
    drop(tab, book)
    qtbot.waitUntil(lambda: names(tab) == ["book.txt"])
    tab.composer.set_text("Where is the llama?")
    assert tab.session.context.known() is None
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    assert not tab.composer.button.isEnabled()
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)  # once more: it is sent once
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    assert "lives in Köln" in tab.session.path()[0].content
    assert tab.composer.draft().is_empty


def test_who_writes_on_meanwhile_sends_nothing(open_window, book: Path, qtbot):
    tab = open_window(ScriptedEngine(max_context=400)).deck.current()
    qtbot.waitUntil(lambda: tab.composer.meter.text().startswith("0 / "))
    drop(tab, book)
    qtbot.waitUntil(lambda: names(tab) == ["book.txt"])
    tab.composer.set_text("Where")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    tab.composer.edit.insertPlainText(" is it?")
    assert not tab.composer.button.isEnabled()
    qtbot.waitUntil(tab.composer.button.isEnabled)
    assert (tab.composer.text(), names(tab), list(tab.session.path())) == ("Where is it?", ["book.txt"], [])


def test_passages_are_sent_in_their_turn_and_chosen_anew_for_another_question(open_window, book: Path, qtbot):
    engine = ScriptedEngine({"go": ["word "] * 800}, tokens_per_second=200, max_context=400)
    tab = open_window(engine).deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and tab.composer.draft().is_empty)
    drop(tab, book)
    qtbot.waitUntil(lambda: names(tab) == ["book.txt"])
    ask(qtbot, tab, "The llama?")
    qtbot.waitUntil(lambda: len(tab.session.queue.drafts()) == 1)
    assert tab.session.queue.drafts()[0].files[0].excerpt is not None
    tab.drafts._edit_queued(0)
    assert tab.composer.files.files()[0].excerpt is None
    ask(qtbot, tab, " ")
    qtbot.waitUntil(lambda: len(tab.session.queue.drafts()) == 1)
    tab.session.stop()
    qtbot.waitUntil(lambda: not tab.session.answering)
    tab.session.send_queued()
    qtbot.waitUntil(lambda: len(tab.session.path()) == 4 and not tab.session.answering)
    assert "The blue llama" in tab.session.path()[2].content


def window_of_tab(tab: ChatTab) -> MainWindow:
    window = tab.window()
    assert isinstance(window, MainWindow)
    return window


def test_too_many_files_are_said(tab: ChatTab, notes: Path, tmp_path: Path, qtbot):
    paths = [tmp_path / f"{number}.txt" for number in range(25)]
    for path in paths:
        path.write_text(path.name)
    drop(tab, *paths)
    qtbot.waitUntil(lambda: len(names(tab)) == 20)
    assert "At most 20 files" in tab.notice.text()


def test_a_long_paste_becomes_a_file_and_text_again(tab: ChatTab, qtbot):
    paste(tab, "short")
    long = "line\n" * 41
    paste(tab, long)
    assert (tab.composer.text(), names(tab)) == ("short", ["Pasted text 1.txt"])
    paste(tab, "x" * 2001)
    assert names(tab)[1:] == ["Pasted text 2.txt"]
    chip = tab.composer.files.chips()[0]
    chip.setFocus()
    qtbot.keyClick(chip, Qt.Key.Key_Return)
    assert (tab.composer.text(), names(tab)) == (f"short{long}", ["Pasted text 2.txt"])


def undo(tab: ChatTab, qtbot) -> tuple[str, list[str]]:
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    return tab.composer.text(), names(tab)


def test_undo_makes_text_of_a_long_paste(tab: ChatTab, qtbot):
    long = "line\n" * 41
    paste(tab, "short")
    paste(tab, long)
    assert undo(tab, qtbot) == (f"short{long}", [])
    assert undo(tab, qtbot) == ("short", [])
    paste(tab, long)
    qtbot.keyClicks(tab.composer.edit, "er")
    assert undo(tab, qtbot) == ("short", ["Pasted text 1.txt"])  # what was typed is taken back first
    paste(tab, "y" * 3000)
    tab.composer.files.chips()[1].removed.emit(tab.composer.files.chips()[1])
    assert undo(tab, qtbot) == ("", ["Pasted text 1.txt"])


def test_the_menu_of_the_field_undoes_a_long_paste_too(tab: ChatTab, qtbot):
    long = "line\n" * 41
    paste(tab, "short")
    paste(tab, long)
    for text in (f"short{long}", "short"):
        menu = tab.composer.edit.make_menu()
        action = next(action for action in menu.actions() if action.objectName() == "edit-undo")
        assert action.isEnabled()
        assert action.text() == "&Undo\tCtrl+Z"
        action.trigger()
        menu.close()
        assert (tab.composer.text(), names(tab)) == (text, [])


def test_a_long_paste_beside_as_many_files_as_can_be_stays_text(tab: ChatTab):
    tab.composer.files.set_files(tuple(Attachment(f"{number}.txt", "text", 4) for number in range(MOST_FILES)))
    paste(tab, "line\n" * 41)
    assert (tab.composer.text(), len(names(tab))) == ("line\n" * 41, MOST_FILES)


def test_chips_are_removed_by_mouse_and_keys(tab: ChatTab, notes: Path, tmp_path: Path, qtbot):
    other = tmp_path / "other.txt"
    other.write_text("x")
    drop(tab, notes, other)
    qtbot.waitUntil(lambda: len(names(tab)) == 2)
    first, _second = tab.composer.files.chips()
    assert first.focusPolicy() & Qt.FocusPolicy.TabFocus
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Delete)
    assert names(tab) == ["other.txt"]
    second = tab.composer.files.chips()[0]
    assert second.close_button.accessibleName() == "Remove other.txt"
    qtbot.mouseClick(second.close_button, Qt.MouseButton.LeftButton)
    assert names(tab) == []
    assert not tab.composer.files.isVisible()


def test_an_edited_message_keeps_its_files(tab: ChatTab, notes: Path, qtbot):
    drop(tab, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    trigger(window_of(tab), "edit_last")
    assert (tab.composer.text(), names(tab)) == ("first", ["notes.md"])
    qtbot.keyClicks(tab.composer.edit, " again")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not tab.session.answering and tab.session.path()[0].content.endswith("first again"))
    assert "one two three four" in tab.session.path()[0].content
    assert names(tab) == []
    tab.messages.run("copy", tab.session.path()[0].id)
    assert QApplication.clipboard().text() == "first again"


def test_a_key_opens_the_dialog_with_all_that_can_be_attached(tab: ChatTab, qtbot):
    trigger(window_of(tab), "attach")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QFileDialog)
    first, second = dialog.nameFilters()
    assert first.startswith("Documents, images and texts")
    assert second.startswith("All files")
    dialog.close()


def test_the_clip_opens_a_dialog(tab: ChatTab, notes: Path, qtbot):
    qtbot.mouseClick(tab.composer.clip_button, Qt.MouseButton.LeftButton)
    dialog = QApplication.activeModalWidget()
    assert dialog is not None
    dialog.filesSelected.emit([str(notes)])  # pyright: ignore[reportAttributeAccessIssue]
    dialog.close()
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])


def test_the_meter_counts_conversation_draft_and_files(tab: ChatTab, notes: Path, qtbot):
    meter = tab.composer.meter
    qtbot.waitUntil(lambda: meter.text().startswith("0 / "))
    qtbot.keyClicks(tab.composer.edit, "five words are in here")
    qtbot.waitUntil(lambda: meter.text().startswith("5 / "))
    drop(tab, notes)
    qtbot.waitUntil(lambda: int(meter.text().split()[0]) > 9)
    assert "tokens are used by the conversation" in meter.accessibleName()


def test_a_draft_keeps_its_files_until_the_next_start(open_window, notes: Path, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    drop(tab, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    qtbot.keyClicks(tab.composer.edit, "not sent")
    window.close()
    notes.unlink()
    again = open_window(ScriptedEngine()).deck.current()
    qtbot.waitUntil(lambda: names(again) == ["notes.md"])
    assert again.composer.text() == "not sent"
    ask(qtbot, again, "!")
    qtbot.waitUntil(lambda: len(again.session.path()) == 2 and not again.session.answering)
    assert "one two three four" in again.session.path()[0].content


def test_a_closed_tab_comes_back_with_its_files(open_window, notes: Path, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    drop(tab, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    window.deck.close_current()
    trigger(window, "reopen_tab")
    again = window.deck.current()
    assert again is not tab
    qtbot.waitUntil(lambda: names(again) == ["notes.md"])


def test_a_closed_tab_keeps_its_draft_until_the_next_start(open_window, notes: Path, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    chat_id = tab.session.chat_id
    drop(tab, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    qtbot.keyClicks(tab.composer.edit, "not sent")
    window.deck.new_tab()
    qtbot.keyClicks(window.deck.current().composer.edit, "no chat yet")
    window.deck.close_current()
    window.deck.close_current()
    window.close()
    window = open_window(ScriptedEngine())
    assert len(window.deck.tabs()) == 1
    assert window.deck.current().composer.text() == ""
    again = window.deck.open_chat(chat_id)
    qtbot.waitUntil(lambda: names(again) == ["notes.md"])
    assert again.composer.text() == "not sent"
    trigger(window, "reopen_tab")
    assert window.deck.current().composer.text() == "no chat yet"
    assert len(window.deck.open_tabs()) == len(window.deck.tabs()) == 3


def test_the_draft_of_a_closed_tab_is_kept_longer_than_later_ones_without(open_window, qtbot, monkeypatch):
    monkeypatch.setattr("llama_gui.ui.deck._MOST_CLOSED", 2)
    window = open_window(ScriptedEngine())
    for question, draft in (("one", "not sent"), ("two", ""), ("three", "")):
        tab = window.deck.new_tab()
        ask(qtbot, tab, question)
        qtbot.waitUntil(lambda tab=tab: len(tab.session.path()) == 2 and not tab.session.answering)
        qtbot.keyClicks(tab.composer.edit, draft)
        window.deck.close_current()
    assert [kept.draft for kept in window.deck.open_tabs()] == ["not sent", ""]
    trigger(window, "reopen_tab")
    qtbot.waitUntil(lambda: "three" in shown(window.deck.current()))


def test_a_deleted_chat_takes_the_draft_of_its_closed_tab_along(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    qtbot.keyClicks(tab.composer.edit, "not sent")
    window.deck.close_current()
    assert "not sent" in [kept.draft for kept in window.deck.open_tabs()]
    window.deck.close_chat(tab.session.chat_id)
    assert "not sent" not in [kept.draft for kept in window.deck.open_tabs()]


def test_a_file_is_read_while_the_question_is_written(open_window, qtbot, tmp_path: Path):
    engine = ScriptedEngine()
    tab = open_window(engine).deck.current()
    long = tmp_path / "long.md"
    long.write_text("word " * 400, encoding="utf-8")
    drop(tab, long)
    qtbot.waitUntil(lambda: len(engine.requests) == 1)
    qtbot.keyClicks(tab.composer.edit, "why")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    ahead, asked = (request.messages[-1].content for request in engine.requests)
    assert asked.endswith("why")
    assert ahead.startswith(asked.removesuffix("why"))
