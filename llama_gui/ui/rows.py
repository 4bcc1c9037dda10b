"""Rows of a list: words on the left, a note on the right, and a list that says what it is for while it is empty."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from llama_gui.ui.theme import FRAME_PX, RADIUS, SMALL_PX, frame_font, theme_of
from llama_gui.ui.widgets import plain_tip

ROW_HEIGHT = 34
NOTE_ROLE = Qt.ItemDataRole.UserRole + 100
"""What stands on the right of a row, in small muted text."""

_MARGIN, _GAP = 12, 16
_AHEAD = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
_BEHIND = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing


class RowDelegate(QStyledItemDelegate):
    """Paints one row; its parent is the view."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        parent = self.parent()
        assert isinstance(parent, QWidget)
        theme = theme_of(parent)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("selected_row"))
            painter.drawRoundedRect(QRectF(rect).adjusted(0, 1, 0, -1), RADIUS - 2, RADIUS - 2)
        inner = rect.adjusted(_MARGIN, 0, -_MARGIN, 0)
        words, note = str(index.data() or ""), str(index.data(NOTE_ROLE) or "")
        plain, small = frame_font(FRAME_PX), frame_font(SMALL_PX)
        note = QFontMetrics(small).elidedText(note, Qt.TextElideMode.ElideMiddle, inner.width() // 2)
        taken = QFontMetrics(small).horizontalAdvance(note) + _GAP if note else 0
        words = QFontMetrics(plain).elidedText(words, Qt.TextElideMode.ElideRight, inner.width() - taken)
        painter.setFont(plain)
        painter.setPen(theme.color("text"))
        painter.drawText(inner, _AHEAD, words)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(inner, _BEHIND, note)


class RowList(QListWidget):
    """A list of such rows. `hint`: what stands in its middle while there are none."""

    def __init__(self, hint: str = "") -> None:
        super().__init__()
        self._hint = hint
        self.setItemDelegate(RowDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def add(self, words: str, note: str = "") -> QListWidgetItem:
        """A row at the end; hovering shows all of its words."""
        item = QListWidgetItem(words)
        item.setData(NOTE_ROLE, note)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{words}, {note}" if note else words)
        item.setToolTip(plain_tip(words))
        self.addItem(item)
        return item

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.count() or not self._hint:
            return
        painter = QPainter(self.viewport())
        painter.setFont(frame_font(FRAME_PX))
        painter.setPen(theme_of(self).color("muted"))
        room = self.viewport().rect().adjusted(32, 0, -32, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._hint)
