"""The files that go along with the next message, as chips."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from llama_gui.bridge.attachments import FileReading
from llama_gui.chats.attachments import Attachment
from llama_gui.ui.file_chip import CHIP_HEIGHT, Chip
from llama_gui.ui.flow import FlowLayout
from llama_gui.ui.icons import Icons

MOST_FILES = 20
_MOST_LINES = 3


class AttachmentBar(QScrollArea):
    """Hidden while there is none; three lines high at most, the others are scrolled to."""

    changed = Signal()
    text_wanted = Signal(str)
    """A pasted text goes back into the field."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._chips: list[Chip] = []
        inner = QWidget()
        self._flow = FlowLayout(inner)
        self.setWidget(inner)
        inner.setAutoFillBackground(False)  # behind setWidget, which turns it on
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.hide()

    def files(self) -> tuple[Attachment, ...]:
        """What goes along, in order."""
        return tuple(chip.file for chip in self._chips if chip.file is not None)

    def count(self) -> int:
        """How many there are, with those that are still read."""
        return len(self._chips)

    @property
    def is_reading(self) -> bool:
        """Whether some of them are still read."""
        return any(chip.reading is not None for chip in self._chips)

    def chips(self) -> list[Chip]:
        """The widgets of the files."""
        return list(self._chips)

    def set_files(self, files: tuple[Attachment, ...]) -> None:
        """Show these and no others, but for those that are still read."""
        if files == self.files():
            return
        for chip in [chip for chip in self._chips if chip.file is not None]:
            self._drop(chip)
        for file in files:
            self._append(file)
        self._tell()

    def add(self, file: Attachment) -> None:
        """One more; the same one only once."""
        if file not in self.files() and len(self._chips) < MOST_FILES:
            self._append(file)
            self._tell()

    def wait_for(self, reading: FileReading) -> None:
        """Show a file that is still read."""
        self._append(reading)
        self._tell()

    def finish(self, reading: FileReading, file: Attachment | None) -> None:
        """It has been read, and stands where it was waited for; None: it could not be."""
        chip = next((chip for chip in self._chips if chip.reading is reading), None)
        if chip is None:
            if file is not None:
                self.add(file)
            return
        if file is None or file in self.files():
            self._drop(chip)
        else:
            chip.set_file(file)
        self._tell()

    def set_tokens(self, file: Attachment, tokens: int) -> None:
        """How many tokens a file has."""
        for chip in self._chips:
            if chip.file is file or chip.file == file:
                chip.set_tokens(tokens)
        self._fit()

    def _append(self, file: Attachment | FileReading) -> None:
        chip = Chip(file, self._icons)
        chip.removed.connect(self._remove)
        chip.opened.connect(self._open)
        self._chips.append(chip)
        self._flow.addWidget(chip)
        chip.show()

    def _drop(self, chip: Chip) -> None:
        self._chips.remove(chip)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()

    @Slot(object)
    def _remove(self, chip: Chip) -> None:
        place = self._chips.index(chip)
        had_focus = chip.hasFocus() or chip.close_button.hasFocus()
        if chip.reading is not None:
            chip.reading.cancel()
        self._drop(chip)
        if had_focus and self._chips:
            self._chips[min(place, len(self._chips) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        self._tell()

    def put_back(self, file: Attachment) -> bool:
        """Let a pasted text stand in the field, and be no file; False where it is none of these."""
        chip = next((chip for chip in self._chips if chip.file == file), None)
        if chip is not None:
            self._open(chip)
        return chip is not None

    @Slot(object)
    def _open(self, chip: Chip) -> None:
        if chip.file is not None:
            self._remove(chip)
            self.text_wanted.emit(chip.file.text)

    def _tell(self) -> None:
        self.setVisible(bool(self._chips))
        self._fit()
        self.changed.emit()

    def _fit(self) -> None:
        self._flow.invalidate()
        height = self._flow.heightForWidth(self.viewport().width())
        self.setFixedHeight(max(CHIP_HEIGHT, min(height, _MOST_LINES * (CHIP_HEIGHT + self._flow.spacing()))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
