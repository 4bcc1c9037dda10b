"""An image of a message, as large as the screen lets it be."""

from pathlib import Path

from PySide6.QtCore import QRectF, QSize, QStandardPaths, Qt, Slot
from PySide6.QtGui import QGuiApplication, QImage, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from llama_gui.chats.attachments import FileLine
from llama_gui.chats.message_images import file_name
from llama_gui.ui.icons import Icons
from llama_gui.ui.notice import Notice
from llama_gui.ui.pictures import decoded, fits
from llama_gui.ui.screen_room import fitted
from llama_gui.ui.widgets import Button

_LEAST = QSize(420, 320)
_AROUND = QSize(48, 120)
"""What the frame and the buttons take."""


class _Sheet(QWidget):
    """Paints the image in the middle, no larger than it is."""

    def __init__(self, picture: QImage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = picture

    def sizeHint(self) -> QSize:
        return self._picture.size() / self.devicePixelRatioF()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        whole = self.sizeHint()
        size = whole.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio) if not fits(whole, self.size()) else whole
        left, top = (self.width() - size.width()) / 2, (self.height() - size.height()) / 2
        place = QRectF(left, top, size.width(), size.height())
        painter.fillRect(place, Qt.GlobalColor.white)  # as models see it
        painter.drawImage(place, self._picture)


class PictureDialog(QDialog):
    """Shows it; Ctrl+C copies it."""

    def __init__(self, file: FileLine, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(file.name)
        self._file = file
        self._picture = decoded(file.image)
        self._sheet = _Sheet(self._picture)
        self._sheet.setAccessibleName(file.name)
        self._notice = Notice(icons)
        save = Button(icons, "download", self.tr("Save as…"), look="outlined", height=32, pixels=13)
        copy = Button(icons, "copy", self.tr("Copy"), look="outlined", height=32, pixels=13)
        close = Button(icons, "close", self.tr("Close"), look="filled", height=32, pixels=13)
        save.clicked.connect(self.save)
        copy.clicked.connect(self.copy)
        close.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for button in (save, copy, close):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(self._sheet, 1)
        layout.addWidget(self._notice)
        layout.addLayout(row)
        close.setFocus()
        self.resize(fitted((self._sheet.sizeHint() + _AROUND).expandedTo(_LEAST), self))

    @Slot()
    def copy(self) -> None:
        """To the clipboard."""
        QGuiApplication.clipboard().setImage(self._picture)

    @Slot()
    def save(self) -> None:
        """Let the user choose where its bytes go."""
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation)
        dialog = QFileDialog(self, self.tr("Save image"), folder or str(Path.home()))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(file_name(self._file.name, self._file.image))
        dialog.fileSelected.connect(self._write)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(str)
    def _write(self, path: str) -> None:
        try:
            Path(path).write_bytes(self._file.image)
        except OSError as error:
            self._notice.say(self.tr("{} cannot be written: {}.").format(path, error.strerror or error))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return
        super().keyPressEvent(event)
