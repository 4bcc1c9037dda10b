"""An image of a message, large."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from llama_gui.chats.attachments import FileLine
from llama_gui.ui.icons import Icons
from llama_gui.ui.notice import Notice
from llama_gui.ui.picture_dialog import PictureDialog
from tests.fakes.tiny_pixtral import picture

DATA = picture(300, 200, kind="JPEG").data


@pytest.fixture
def dialog(qtbot, icons: Icons) -> Iterator[PictureDialog]:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = PictureDialog(FileLine("holiday.webp", len(DATA), image=DATA), icons, window)
    dialog.show()
    yield dialog
    window.close()


def chosen(dialog: PictureDialog, path: Path) -> str:
    """Save it as `path`; which name the dialog proposed."""
    dialog.save()
    files = dialog.findChild(QFileDialog)
    assert files is not None
    (proposed,) = files.selectedFiles()
    files.fileSelected.emit(str(path))
    files.reject()
    return Path(proposed).name


def test_it_is_saved_as_what_it_is(dialog: PictureDialog, tmp_path: Path):
    assert chosen(dialog, tmp_path / "kept.jpg") == "holiday.jpg"
    assert (tmp_path / "kept.jpg").read_bytes() == DATA


def test_where_it_cannot_be_written_that_is_said(dialog: PictureDialog, tmp_path: Path):
    chosen(dialog, tmp_path / "nowhere" / "kept.jpg")
    notice = dialog.findChild(Notice)
    assert notice is not None
    assert notice.text() == f"{tmp_path / 'nowhere' / 'kept.jpg'} cannot be written: No such file or directory."


def test_keys_copy_and_close(dialog: PictureDialog, qtbot):
    qtbot.keyClick(dialog, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().image().width() == 300
    with qtbot.waitSignal(dialog.destroyed):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
