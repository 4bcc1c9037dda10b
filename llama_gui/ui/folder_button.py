"""The button beside the clip: the folder of documents of a chat, and how it stands with it."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QSizePolicy

from llama_gui.ui.icons import Icons
from llama_gui.ui.widgets import Button

_AROUND = 46
_LEAST = 72
"""Of a window that is too narrow for its words, which are shortened then."""


class FolderButton(Button):
    """An icon alone while there is no folder."""

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons, "folder", height=28)
        self.words = ""
        """What it says where there is room for it."""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_words(self, words: str) -> None:
        """Say something else; "": nothing."""
        self.words = words
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """What it says in the room there is."""
        room = self.width() - _AROUND
        return QFontMetrics(self.font()).elidedText(self.words, Qt.TextElideMode.ElideRight, room) if self.words else ""

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self.font()).horizontalAdvance(self.words) + _AROUND + 2 if self.words else self._height
        return QSize(words, self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST if self.words else self._height, self._height)
