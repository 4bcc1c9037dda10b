"""Where the buttons of a message float, and how the keyboard steps from one message to the next."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit

from llama_gui.chats.tree import Node
from llama_gui.ui.icons import Icons
from llama_gui.ui.transcript.hover_bar import HoverBar
from llama_gui.ui.transcript.painter import column_width

_ABOVE = 22


class MessageBar(QObject):
    """Places one `HoverBar` over the messages of a view. `drawn` tells which there are, `extent_of` where one is."""

    def __init__(
        self,
        icons: Icons,
        view: QTextEdit,
        drawn: Callable[[], Sequence[Node]],
        extent_of: Callable[[str], tuple[int, int] | None],
    ) -> None:
        super().__init__(view)
        self.bar = HoverBar(icons, view.viewport())
        self._view = view
        self._drawn = drawn
        self._extent_of = extent_of
        self.bar.left.connect(self._leave)
        view.verticalScrollBar().valueChanged.connect(self.hide)
        view.viewport().setMouseTracking(True)

    def show(self, node_id: str | None) -> None:
        """Float at the upper right of a message, or at the upper edge when that is out of sight."""
        node = next((node for node in self._drawn() if node.id == node_id), None)
        extent = self._extent_of(node_id) if node_id is not None else None
        if node is None or extent is None or not self.bar.show_for(node):
            self.bar.hide()
            return
        height = self._view.viewport().height()
        top, bottom = self._rect(extent[0])[0], self._rect(extent[1])[1]
        y = max(4, min(top - _ABOVE, height - self.bar.height() - 4))
        if bottom < y or top > height:
            self.bar.hide()
            return
        self.bar.move(round(column_width(self._view.document())) - self.bar.width(), y)

    def step(self, by: int) -> None:
        """Put the keyboard on the buttons of the next or previous message that is drawn."""
        drawn = [node.id for node in self._drawn()]
        if not drawn:
            return
        at = self.bar.node_id if self.bar.isVisible() else ""
        place = drawn.index(at) + by if at in drawn else len(drawn) - 1
        node_id = drawn[min(max(place, 0), len(drawn) - 1)]
        extent = self._extent_of(node_id)
        if extent is not None:
            top = self._rect(extent[0])[0]
            if not 0 <= top <= self._view.viewport().height() - 40:
                bar = self._view.verticalScrollBar()
                bar.setValue(bar.value() + top - 60)
            self.show(node_id)
            self.bar.focus_first()

    def look_again(self) -> None:
        """Other messages are drawn: one that is gone has nothing to press."""
        if self.bar.isVisible() and all(node.id != self.bar.node_id for node in self._drawn()):
            if self.bar.has_focus:
                self._leave()
            else:
                self.bar.hide()

    @Slot()
    def hide(self) -> None:
        """Take the buttons away, unless the keyboard is on them."""
        if not self.bar.has_focus:
            self.bar.hide()

    @Slot()
    def _leave(self) -> None:
        self._view.setFocus()  # before it hides: else Qt looks for the next link in the text, and goes there
        self.bar.hide()

    def _rect(self, position: int) -> tuple[int, int]:
        cursor = QTextCursor(self._view.document())
        cursor.setPosition(min(position, self._view.document().characterCount() - 1))
        rect = self._view.cursorRect(cursor)
        return rect.top(), rect.bottom()
