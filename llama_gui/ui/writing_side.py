"""On which side a field of several lines is written: as its text begins, or as the window does while it is empty."""

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

from llama_gui.ui.markdown.direction import direction_or

_MOST_LINES = 20


class WritingSide(QObject):
    """Keeps text and caret of one field on the right side. Qt leaves them on the left, and only mirrors the hint."""

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field)
        self._field = field
        field.textChanged.connect(self._keep)
        field.installEventFilter(self)
        self._keep()

    @Slot()
    def _keep(self) -> None:
        document = self._field.document()
        window = self._field.layoutDirection()
        is_right = direction_or(window, _first_lines(document)) == Qt.LayoutDirection.RightToLeft
        alignment = Qt.AlignmentFlag.AlignRight if is_right else Qt.AlignmentFlag.AlignLeft
        option = document.defaultTextOption()
        if option.alignment() != alignment:
            option.setAlignment(alignment)
            document.setDefaultTextOption(option)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._keep()
        return False


def _first_lines(document: QTextDocument) -> Iterator[str]:
    block = document.firstBlock()
    while block.isValid() and block.blockNumber() < _MOST_LINES:
        yield block.text()
        block = block.next()
