"""Rows of a list: words on the left, a note on the right, and a list that says what it is for while it is empty."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
)

from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, RADIUS, SMALL_PX, frame_font, theme_of
from llama_gui.ui.widgets import paint_focus, plain_tip

ROW_HEIGHT = 34
NOTE_ROLE = Qt.ItemDataRole.UserRole + 100
"""What stands on the right of a row, in small muted text."""

_MARGIN, _GAP = 12, 16
LEADING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
_TRAILING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """The ground of a row: selected, under the mouse, with the keyboard. The tip has all of its words."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> QRect:
        """Paint what lies under the words; where the row is."""
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        theme = theme_of(self._view)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QRectF(rect).adjusted(0, 1, 0, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            is_selected = bool(state & QStyle.StateFlag.State_Selected)
            painter.setBrush(theme.color("selected_row" if is_selected else "hover"))
            painter.drawRoundedRect(ground, RADIUS - 2, RADIUS - 2)
        if state & QStyle.StateFlag.State_HasFocus and self._view.hasFocus():
            paint_focus(painter, ground, theme.color("accent"))
        return rect

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        if event.type() == QEvent.Type.ToolTip and index.isValid():
            words = index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data() or ""
            QToolTip.showText(event.globalPos(), plain_tip(str(words)), view)
            return True
        return super().helpEvent(event, view, option, index)


class NoteDelegate(RowDelegate):
    """Words on the left, a note on the right; what is too long is shortened."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        inner = self.paint_ground(painter, option).adjusted(_MARGIN, 0, -_MARGIN, 0)
        theme = theme_of(self._view)
        words, note = str(index.data() or ""), str(index.data(NOTE_ROLE) or "")
        plain, small = frame_font(FRAME_PX), frame_font(SMALL_PX)
        note = QFontMetrics(small).elidedText(note, Qt.TextElideMode.ElideMiddle, inner.width() // 2)
        taken = QFontMetrics(small).horizontalAdvance(note) + _GAP if note else 0
        words = QFontMetrics(plain).elidedText(words, self._view.textElideMode(), inner.width() - taken)
        painter.setFont(plain)
        painter.setPen(theme.color("text" if index.flags() & Qt.ItemFlag.ItemIsSelectable else "muted"))
        draw_words(painter, inner, LEADING, words)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        draw_words(painter, inner, _TRAILING, note)


class NotedList(QListWidget):
    """A list of such rows. `hint`: what stands in its middle while there are none."""

    def __init__(self, hint: str = "") -> None:
        super().__init__()
        self._hint = hint
        self.setItemDelegate(NoteDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def add(self, words: str, note: str = "") -> QListWidgetItem:
        """A row at the end; hovering shows all of it."""
        item = QListWidgetItem(words)
        item.setData(NOTE_ROLE, note)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{words}, {note}" if note else words)
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
