"""The folders of documents that chats use."""

import threading
import time
from pathlib import Path

import pytest

from llama_gui.bridge import folder_desk
from llama_gui.bridge.folder_desk import FolderDesk, FolderState
from llama_gui.chats import folder_index
from llama_gui.chats.documents.child import ReadingCancelledError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("Llamas eat hay.")
    return folder


@pytest.fixture
def desk(tmp_path: Path, qapp):
    desk = FolderDesk(tmp_path / "folders")
    yield desk
    assert desk.close()


def wait_read(qtbot, desk: FolderDesk, folder: Path) -> FolderState:
    qtbot.waitUntil(lambda: not desk.state(str(folder)).is_reading)
    return desk.state(str(folder))


def test_a_folder_that_is_held_is_read(desk: FolderDesk, folder: Path, qtbot):
    with qtbot.waitSignal(desk.changed, check_params_cb=lambda changed: changed == str(folder)):
        desk.hold("chat", str(folder))
    assert wait_read(qtbot, desk, folder) == FolderState(1)
    (found,) = desk.reader(str(folder)).find("What do llamas eat?", ())
    assert (found.name, found.passage.text) == ("a.txt", "Llamas eat hay.")


def test_it_is_looked_at_again_after_a_while_or_when_somebody_says_so(
    desk: FolderDesk, folder: Path, qtbot, monkeypatch
):
    desk.hold("chat", str(folder))
    wait_read(qtbot, desk, folder)
    (folder / "b.txt").write_text("Quokkas eat grass.")
    desk.read(str(folder))
    assert not desk.state(str(folder)).is_reading
    desk.read(str(folder), again=True)
    assert wait_read(qtbot, desk, folder).files == 2
    monkeypatch.setattr(folder_desk, "AGAIN_S", 0.0)
    (folder / "b.txt").unlink()
    desk.read(str(folder))
    assert wait_read(qtbot, desk, folder).files == 1


def test_a_missing_folder_is_said_and_what_was_read_is_found(desk: FolderDesk, folder: Path, qtbot):
    desk.hold("chat", str(folder))
    wait_read(qtbot, desk, folder)
    folder.rename(folder.with_name("elsewhere"))
    desk.read(str(folder), again=True)
    assert wait_read(qtbot, desk, folder) == FolderState(1, is_missing=True)
    assert desk.reader(str(folder)).find("llamas", ())
    desk.hold("other", str(folder / "never"))
    qtbot.waitUntil(lambda: desk.state(str(folder / "never")).is_missing)
    assert desk.reader(str(folder / "never")).find("llamas", ()) == []


@pytest.fixture
def hanging(monkeypatch) -> threading.Event:
    """Files are read until nobody wants them; set when one begins to be."""
    began = threading.Event()

    def read(_path: Path, cancelled: threading.Event, **_options: object):
        began.set()
        assert cancelled.wait(10)
        raise ReadingCancelledError

    monkeypatch.setattr(folder_index, "read_attachment", read)
    return began


def test_reading_ends_when_the_last_chat_lets_go(desk: FolderDesk, folder: Path, qtbot, hanging: threading.Event):
    desk.hold("one", str(folder))
    desk.hold("two", str(folder))
    qtbot.waitUntil(hanging.is_set)
    qtbot.waitUntil(lambda: desk.state(str(folder)).total == 1)
    desk.hold("one", "")
    time.sleep(0.05)
    assert desk.state(str(folder)).is_reading
    desk.hold("two", "")
    assert wait_read(qtbot, desk, folder) == FolderState()


def test_who_comes_back_meanwhile_has_it_read(
    desk: FolderDesk, folder: Path, qtbot, hanging: threading.Event, monkeypatch
):
    desk.hold("one", str(folder))
    qtbot.waitUntil(hanging.is_set)
    monkeypatch.undo()
    desk.hold("one", "")
    desk.hold("one", str(folder))
    qtbot.waitUntil(lambda: desk.state(str(folder)).files == 1)
    wait_read(qtbot, desk, folder)


def test_reading_can_be_stopped_and_gone_on_with(desk: FolderDesk, folder: Path, qtbot, hanging, monkeypatch):
    desk.hold("one", str(folder))
    qtbot.waitUntil(hanging.is_set)
    desk.stop(str(folder))
    assert wait_read(qtbot, desk, folder) == FolderState(is_stopped=True)
    monkeypatch.undo()
    desk.read(str(folder))  # by the next question
    assert not desk.state(str(folder)).is_reading
    desk.read(str(folder), again=True)
    assert wait_read(qtbot, desk, folder) == FolderState(1)
    desk.stop(str(folder))
    assert desk.state(str(folder)) == FolderState(1)


def test_who_chooses_a_stopped_folder_anew_has_it_read(desk: FolderDesk, folder: Path, qtbot, hanging, monkeypatch):
    desk.hold("one", str(folder))
    qtbot.waitUntil(hanging.is_set)
    desk.stop(str(folder))
    wait_read(qtbot, desk, folder)
    monkeypatch.undo()
    desk.hold("one", "")
    desk.hold("two", str(folder))
    assert wait_read(qtbot, desk, folder) == FolderState(1)


def test_the_end_does_not_wait_for_the_rest(tmp_path: Path, qapp, folder: Path, qtbot, hanging: threading.Event):
    desk = FolderDesk(tmp_path / "folders")
    desk.hold("one", str(folder))
    qtbot.waitUntil(hanging.is_set)
    assert desk.close()
    desk.read(str(folder), again=True)  # nothing comes of it


def test_an_index_that_cannot_be_kept_is_said(tmp_path: Path, qapp, folder: Path, qtbot):
    (tmp_path / "folders").write_text("in the way")
    desk = FolderDesk(tmp_path / "folders")
    desk.hold("one", str(folder))
    assert "folder" in wait_read(qtbot, desk, folder).error
    assert desk.reader(str(folder)).find("llamas", ()) == ()
    assert desk.close()


def test_what_nobody_has_asked_for_long_is_forgotten(tmp_path: Path, qapp, folder: Path, qtbot, monkeypatch):
    (tmp_path / "folders").mkdir()
    old = tmp_path / "folders" / "1.db"
    old.touch()
    monkeypatch.setattr(folder_desk, "KEPT_DAYS", -1)
    desk = FolderDesk(tmp_path / "folders")
    desk.hold("one", str(folder))
    wait_read(qtbot, desk, folder)
    assert not old.exists()
    assert desk.close()
