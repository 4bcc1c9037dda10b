"""A folder of documents for a chat."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from llama_gui.chats import folder_index
from llama_gui.chats.documents.child import ReadingCancelledError
from llama_gui.chats.message_files import split
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.folder_dialog import FolderDialog
from llama_gui.vocabulary import ModelEntry
from tests.fakes.documents import pdf
from tests.fakes.scripted_engine import ScriptedEngine, loader
from tests.journeys.driving import ask, shown, trigger
from tests.journeys.test_attachments import drop, names, window_of_tab
from tests.journeys.test_recall import _command, asked_with


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Berichte"
    (folder / "2024").mkdir(parents=True)
    (folder / "llamas.txt").write_text("The blue llama lives in Köln.\n")
    pdf(folder / "2024" / "zoo.pdf", ["About animals", "Quokkas eat grass."])
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7 nothing else")
    return folder


@pytest.fixture
def tab(open_window) -> ChatTab:
    return open_window(ScriptedEngine()).deck.current()


def wait_read(qtbot, tab: ChatTab, says: str = "Berichte · 2 files, 1 not read") -> None:
    qtbot.waitUntil(lambda: tab.composer.folder_button.words == says, timeout=10_000)


def choose(tab: ChatTab, folder: Path) -> None:
    dialog = next(found for found in tab.findChildren(QFileDialog) if found.isVisible())
    dialog.fileSelected.emit(str(folder))
    dialog.close()


def test_questions_get_passages_of_a_folder_which_are_shown_as_sources(tab: ChatTab, folder: Path, qtbot):
    assert tab.composer.folder_button.words == ""
    trigger(window_of_tab(tab), "folder")
    choose(tab, folder)
    wait_read(qtbot, tab)
    assert "They stay on this machine." in tab.composer.folder_button.toolTip()
    content = asked_with(qtbot, tab, "What do quokkas eat?")
    assert content.startswith(
        "From the file “2024/zoo.pdf”, 1 of its 2 passages:\n```\n[…]\n[page 2]\nQuokkas eat grass."
    )
    asked = tab.session.path()[0]
    assert split(asked.content, asked.attachments) == ("What do quokkas eat?", ())
    assert "▤ 2024/zoo.pdf, page 2  1 passage ▸" in shown(tab)
    assert shown(tab).count("Quokkas eat grass.") == 1  # in the answer, which repeats what it reads
    tab.transcript.anchorClicked.emit(_command(tab, "sources"))
    assert shown(tab).count("Quokkas eat grass.") == 2
    assert "2024/zoo.pdf  ·  1 of 2 passages" in shown(tab)
    trigger(window_of_tab(tab), "sources")
    assert shown(tab).count("Quokkas eat grass.") == 1
    assert asked_with(qtbot, tab, "Really, quokkas?") == "Really, quokkas?"  # it is there already
    assert "lives in Köln" in asked_with(qtbot, tab, "And where is the llama?")


def test_a_folder_can_be_dropped_and_left_again(tab: ChatTab, folder: Path, tmp_path: Path, qtbot):
    notes = tmp_path / "notes.md"
    notes.write_text("one")
    drop(tab, folder, notes)
    qtbot.waitUntil(lambda: names(tab) == ["notes.md"])
    wait_read(qtbot, tab)
    menu = tab.folder.make_menu()
    next(action for action in menu.actions() if "no longer" in action.text()).trigger()
    menu.deleteLater()
    assert tab.composer.folder_button.words == ""
    tab.composer.files.set_files(())
    assert asked_with(qtbot, tab, "What do quokkas eat?") == "What do quokkas eat?"


def test_the_reading_can_be_stopped(tab: ChatTab, folder: Path, qtbot, monkeypatch):
    began = threading.Event()

    def read(_path: Path, cancelled: threading.Event, **_options: object):
        began.set()
        assert cancelled.wait(10)
        raise ReadingCancelledError

    monkeypatch.setattr(folder_index, "read_attachment", read)
    tab.folder.use(str(folder))
    qtbot.waitUntil(began.is_set)
    menu = tab.folder.make_menu()
    next(action for action in menu.actions() if action.text() == "Stop reading").trigger()
    wait_read(qtbot, tab, "Berichte · 0 files, stopped")
    menu.deleteLater()
    monkeypatch.undo()
    menu = tab.folder.make_menu()
    next(action for action in menu.actions() if action.text() == "Look for changes now").trigger()
    wait_read(qtbot, tab)
    menu.deleteLater()


def test_a_folder_with_a_model_in_it_is_no_folder_of_documents(tab: ChatTab, folder: Path, qtbot):
    (folder / "config.json").write_text("{}")
    with qtbot.waitSignal(tab.model_dropped):
        drop(tab, folder)
    assert tab.session.settings.documents == ""


def test_it_is_there_at_the_next_start_and_may_be_gone_by_then(open_window, folder: Path, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    tab.folder.use(str(folder))
    wait_read(qtbot, tab)
    asked_with(qtbot, tab, "Hello")
    window.close()
    folder.rename(folder.with_name("elsewhere"))
    again = open_window(ScriptedEngine()).deck.current()
    wait_read(qtbot, again, "Berichte · not found")
    assert "Quokkas eat grass." in asked_with(qtbot, again, "What do quokkas eat?")
    again.folder.show_contents()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, FolderDialog)
    assert "not there now" in dialog.facts.text()
    dialog.close()


def test_chats_share_a_folder_and_new_ones_have_none(tab: ChatTab, folder: Path, qtbot):
    tab.folder.use(str(folder))
    wait_read(qtbot, tab)
    other = window_of_tab(tab).deck.new_tab()
    assert other.composer.folder_button.words == ""
    other.folder.use(str(folder))
    wait_read(qtbot, other)
    tab.folder.leave()
    assert "lives in Köln" in asked_with(qtbot, other, "Where is the llama?")


def test_what_was_not_read_is_listed_with_its_reason(tab: ChatTab, folder: Path, qtbot):
    tab.folder.use(str(folder))
    tab.folder.show_contents()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, FolderDialog)
    qtbot.waitUntil(
        lambda: (
            dialog.facts.text()
            == "Read: 2. Not read: 1. Left out: 1, as they are pictures, recordings, archives or programs."
        ),
        timeout=10_000,
    )
    assert dialog.list.toPlainText().startswith("damaged.pdf is damaged")
    dialog.close()
    (folder / "damaged.pdf").unlink()
    tab.folder._read_again()
    wait_read(qtbot, tab, "Berichte · 2 files")


def test_a_preset_leaves_the_folder_alone(tab: ChatTab, folder: Path, qtbot):
    tab.folder.use(str(folder))
    wait_read(qtbot, tab)
    window = window_of_tab(tab)
    window.panel.presets.make_menu().actions()[0].trigger()
    assert tab.session.settings.documents == str(folder)


def test_of_a_servers_model_it_is_said_where_passages_go(show_window, folder: Path, qtbot):
    key = "office#big"
    entries = [
        ModelEntry("Scripted", "/models/Scripted", 14_000_000, is_starter=True),
        ModelEntry("big", key, 0, endpoint="office"),
    ]
    tab = show_window(loader(ScriptedEngine(), ScriptedEngine()), entries).deck.current()
    tab.folder.use(str(folder))
    wait_read(qtbot, tab)
    window_of_tab(tab).models.choose(key)
    wait_read(qtbot, tab, "Berichte · passages go to office · 2 files, 1 not read")
    assert "They are sent to office" in tab.composer.folder_button.toolTip()
    assert "passages go to office" in tab.composer.folder_button.accessibleName()
    assert "Quokkas eat grass." in asked_with(qtbot, tab, "What do quokkas eat?")


def test_a_question_about_all_of_it_gets_the_beginnings(tab: ChatTab, folder: Path, qtbot):
    tab.folder.use(str(folder))
    wait_read(qtbot, tab)
    content = asked_with(qtbot, tab, "What is in this folder?")
    assert "[page 1]\nAbout animals" in content
    assert "The blue llama lives in Köln." in content
    assert "▤ 2024/zoo.pdf, pages 1, 2  ·  llamas.txt  3 passages ▸" in shown(tab)


def test_it_is_said_where_no_passage_fits(tab: ChatTab, folder: Path, qtbot):
    tab.folder.use(str(folder))
    wait_read(qtbot, tab)
    says = "▤ Nothing that was read of the folder has the words of this question."
    assert asked_with(qtbot, tab, "Who is Zaphod?") == "Who is Zaphod?"
    assert says in shown(tab)
    tab.session.regenerate()
    qtbot.waitUntil(lambda: not tab.session.answering)
    assert shown(tab).count(says) == 1
    assert asked_with(qtbot, tab, "Thanks!") == "Thanks!"
    assert shown(tab).count(says) == 1


def test_the_dialog_grows_with_what_it_says(tab: ChatTab, folder: Path, qtbot):
    (folder / "damaged.pdf").rename(folder / "sound.pdf")
    (folder / "sound.pdf").unlink()
    tab.folder.use(str(folder))
    wait_read(qtbot, tab, "Berichte · 2 files")
    tab.folder.show_contents()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, FolderDialog)
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7 nothing else")
    tab.folder._read_again()
    wait_read(qtbot, tab)
    (close,) = dialog.findChildren(QPushButton)
    qtbot.waitUntil(lambda: dialog.list.isVisible() and dialog.list.geometry().bottom() < close.geometry().top())
    dialog.close()


@pytest.mark.parametrize(
    ("is_on_internet", "max_context", "least", "most"),
    [
        (True, 0, 9_000, 13_000),  # it does not say: those there read far more than this
        (False, 0, 2_500, 4_000),  # on a machine nearby 4,096 tokens are usual
        (False, 131_072, 9_000, 13_000),
        (False, 4_096, 2_000, 3_500),
    ],
)
@pytest.mark.sampled(2)
def test_a_server_gets_as_much_as_it_reads(
    show_window, tmp_path: Path, qtbot, monkeypatch, is_on_internet: bool, max_context: int, least: int, most: int
):
    class Served(ScriptedEngine):
        @property
        def is_on_internet(self) -> bool:
            return is_on_internet

    monkeypatch.setattr("llama_gui.bridge.document_recall.Counts", type("Nobody", (), {}))
    folder = tmp_path / "Berichte"
    folder.mkdir()
    for number in range(90):
        (folder / f"{number}.txt").write_text(f"Quokka number {number} eats grass. " + "It chews. " * 70)
    entries = [ModelEntry("Scripted", "/models/Scripted", 14, is_starter=True), ModelEntry("big", "office#big", 0)]
    served = Served(max_context=max_context)
    tab = show_window(loader(ScriptedEngine(), served), entries).deck.current()
    tab.folder.use(str(folder))
    wait_read(qtbot, tab, "Berichte · 90 files")
    window_of_tab(tab).models.choose("office#big")
    wait_read(qtbot, tab, "Berichte · passages go to office · 90 files")
    qtbot.waitUntil(lambda: tab.session._host.models.engine_of("office#big") is served)
    ask(qtbot, tab, "What does the quokka eat?")
    qtbot.waitUntil(lambda: len(tab.session.path()) >= 1)
    assert least < len(tab.session.path()[0].content) < most
