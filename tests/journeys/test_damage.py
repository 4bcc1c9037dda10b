"""A damaged store: what was lost is offered back until somebody has answered."""

from pathlib import Path

from PySide6.QtCore import Qt

from llama_gui.ui.widgets import Button
from tests.chats.test_salvage import fill
from tests.fakes.scripted_engine import ScriptedEngine


def damage(path: Path) -> None:
    fill(path)
    path.write_bytes(b"text" * 5000)


def button(window, name: str) -> Button:
    return next(b for b in window.backup_offer.place.findChildren(Button) if name in b.accessibleName())


def test_the_backup_is_offered_again_and_restored_with_a_click(open_window, qtbot, tmp_path: Path):
    damage(tmp_path / "chats.db")
    window = open_window(ScriptedEngine())
    qtbot.waitUntil(window.backup_offer.place.isVisible)
    window.close()
    window = open_window(ScriptedEngine())
    qtbot.waitUntil(window.backup_offer.place.isVisible)
    restore = button(window, "Restore the backup of ")
    assert restore.text().endswith(", 5 chats")
    with qtbot.waitSignal(window._book.backup_restored):
        qtbot.mouseClick(restore, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.sidebar.view.model().rowCount() > 5)
    assert window.status.state.text() == "From the backup: 200 messages in 5 chats."
    assert window.backup_offer.place.isHidden()
    assert [tab.draft().text for tab in window.deck.tabs()] == ["", "draft"]
    assert window.deck.current() is window.deck.tabs()[0]
    window.close()
    window = open_window(ScriptedEngine())
    assert window.backup_offer.place.isHidden()
    assert [tab.draft().text for tab in window.deck.tabs()] == ["", "draft"]


def test_a_backup_that_is_not_wanted_is_not_offered_again(open_window, qtbot, tmp_path: Path):
    damage(tmp_path / "chats.db")
    window = open_window(ScriptedEngine())
    qtbot.waitUntil(window.backup_offer.place.isVisible)
    qtbot.mouseClick(button(window, "Dismiss"), Qt.MouseButton.LeftButton)
    assert "backups" in window.status.state.text()
    window.close()
    window = open_window(ScriptedEngine())
    qtbot.wait(50)
    assert window.backup_offer.place.isHidden()
