"""What a person does in the window, and what they see."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent, QImage, QTextCursor
from PySide6.QtWidgets import QApplication, QInputDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from llama_gui.ui import MainWindow
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.markdown.formula import JOINER, OBJECT
from llama_gui.ui.transcript.view import TranscriptView

_TYPED = 50
"""What a person types of a message. Each key takes as long as an answer of some words."""


def ask(qtbot: QtBot, tab: ChatTab, text: str) -> None:
    """Type a message, the end of a long one, and press Enter."""
    if len(text) > _TYPED:
        tab.composer.set_text(text[:-_TYPED])
    qtbot.keyClicks(tab.composer.edit, text[-_TYPED:])
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)


def shown(tab: ChatTab) -> str:
    """The text of the transcript, with the words of formulas, and without the signs that hold their places."""
    return tab.transcript.toPlainText().replace(JOINER, "").replace(OBJECT, "")


def trigger(window: MainWindow, name: str) -> None:
    """Do what a key would."""
    window.actions_[name].trigger()


def others() -> list[QWidget]:
    """Dialogs, and the windows beside the main one."""
    kinds = (Qt.WindowType.Window, Qt.WindowType.Dialog)
    found = [w for w in QApplication.topLevelWidgets() if not isinstance(w, MainWindow) and w.windowType() in kinds]
    return [widget for widget in found if widget.isVisible()]


def close_all() -> None:
    """Whatever is open beside the window."""
    while popup := QApplication.activePopupWidget():
        popup.close()
    for widget in others():
        widget.close()


def name_it(qtbot: QtBot, name: str) -> None:
    """Answer the dialog that asks for a name."""
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QInputDialog)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.selectAll()
    qtbot.keyClicks(field, name)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def announcements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told to a screen reader from now on."""
    heard: list[str] = []
    tell = QAccessible.updateAccessibility

    def hear(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            heard.append(event.message())
        tell(event)

    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    return heard


def ink(view: TranscriptView, word: str) -> int:
    """How many pixels of a word are not the page."""
    found = view.document().find(word)
    assert not found.isNull()
    end, start = QTextCursor(found), QTextCursor(found)
    start.setPosition(found.selectionStart())
    area = view.cursorRect(start).united(view.cursorRect(end))
    image = view.viewport().grab(area).toImage().convertToFormat(QImage.Format.Format_RGB32)
    page = image.pixel(0, 0)
    return sum(image.pixel(x, y) != page for x in range(image.width()) for y in range(image.height()))
