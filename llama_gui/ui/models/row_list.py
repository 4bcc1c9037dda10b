"""A list of models: a name, what it is, whether it runs; the same on every page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QLineEdit, QListView, QStyle, QStyleOptionViewItem, QWidget

from llama_gui.ui.chat_delegates import IconDelegate
from llama_gui.ui.chat_list_view import set_up_list
from llama_gui.ui.icons import Icons
from llama_gui.ui.rows import Index
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, TINY_PX, frame_font, theme_of

ROW = Qt.ItemDataRole.UserRole + 1
ROW_MARGIN = 14
"""Between the edge of a row and its words."""
_HEIGHT, _TALL = 64, 84
_ROOT = QModelIndex()
_LEADING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
_TRAILING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model in a list. `key` finds it again; `lead` and `facts` are lines below its name, `note` a word beside it.

    `state` replaces the note while something happens to it: it is downloaded, it is here.
    """

    key: str
    name: str
    facts: str = ""
    lead: str = ""
    note: str = ""
    note_role: str = "muted"
    state: str = ""


class RowModel(QAbstractListModel):
    """The rows, as Qt asks for them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[ModelRow] = []

    @property
    def rows(self) -> Sequence[ModelRow]:
        """What is shown."""
        return self._rows

    def show(self, rows: Sequence[ModelRow]) -> None:
        """Have these rows. Where their keys begin as before, nothing is reset: selection and place stay."""
        rows = list(rows)
        keys, before = [row.key for row in rows], [row.key for row in self._rows]
        if before and keys[: len(before)] == before:
            old = len(before)
            if len(rows) > old:
                self.beginInsertRows(_ROOT, old, len(rows) - 1)
                self._rows = rows
                self.endInsertRows()
            self._rows = rows
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def index_of(self, key: str) -> QModelIndex:
        """The row of a model; invalid when it is not there."""
        place = next((place for place, row in enumerate(self._rows) if row.key == key), None)
        return QModelIndex() if place is None else self.index(place)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The name; all of the row as `ROW`."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (row.name, row.lead, row.facts, row.state or row.note) if part)
        return row if role == ROW else None


class RowPainter(IconDelegate):
    """Paints a row in two lines."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: ModelRow = index.data(ROW)
        return QSize(160, _TALL if row.lead else _HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: ModelRow = index.data(ROW)
        painter.save()
        rect = self.paint_ground(painter, option).adjusted(ROW_MARGIN, 10, -ROW_MARGIN, -10)
        theme = theme_of(self._view)
        lines = [line for line in (row.lead, row.facts) if line]
        height = rect.height() // (1 + len(lines))
        upper = QRect(rect.x(), rect.y(), rect.width(), height)
        word, role = (row.state, "accent") if row.state else (row.note, row.note_role)
        painter.setFont(frame_font(TINY_PX))
        painter.setPen(theme.color(role))
        draw_words(painter, upper, _TRAILING, word)
        taken = QFontMetrics(painter.font()).horizontalAdvance(word) + 12 if word else 0
        if self._view.isRightToLeft():
            upper.setLeft(upper.left() + taken)
        else:
            upper.setRight(upper.right() - taken)
        painter.setFont(frame_font(FRAME_PX, QFont.Weight.DemiBold))
        painter.setPen(theme.color("text"))
        _draw(painter, upper, row.name)
        painter.setFont(frame_font(SMALL_PX))
        for place, line in enumerate(lines, start=1):
            painter.setPen(theme.color("text" if row.lead and place == 1 else "muted"))
            _draw(painter, QRect(rect.x(), rect.y() + place * height, rect.width(), height), line)
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        if not state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            bottom: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
            painter.fillRect(bottom.x() + 14, bottom.bottom(), bottom.width() - 28, 1, theme.color("line"))
        painter.restore()


class RowList(QListView):
    """The list itself. A row that is chosen, by mouse or keys, is told once."""

    chosen = Signal(str)
    """The key of the row that is current now."""
    opened = Signal(str)
    """A row was double-clicked, or Enter was pressed on it."""
    end_reached = Signal()
    touched = Signal()
    """The user has pressed a key or the mouse in it, if only on the row that is current anyway."""
    menu_wanted = Signal(object)
    """The place on the screen where the menu of the current row is to stand."""

    def __init__(self, icons: Icons, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._field: QLineEdit | None = None
        self.rows = RowModel(self)
        set_up_list(self, name)
        self.setModel(self.rows)
        self.setItemDelegate(RowPainter(icons, self))
        self.selectionModel().currentChanged.connect(self._on_current)
        self.activated.connect(self._on_activated)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def show_rows(self, rows: Sequence[ModelRow]) -> None:
        """Have these; what was current stays so where it is still there, else the first becomes it."""
        key = self.current_key()
        self.rows.show(rows)
        if self.currentIndex().isValid():
            return
        index = self.rows.index_of(key)
        if not index.isValid() and rows:
            index = self.rows.index(0)
        self.setCurrentIndex(index)

    def current_key(self) -> str:
        """The key of the current row; "" for none."""
        row: ModelRow | None = self.currentIndex().data(ROW)
        return row.key if row else ""

    def select(self, key: str) -> bool:
        """Make a row the current one; whether it is there."""
        index = self.rows.index_of(key)
        if index.isValid():
            self.setCurrentIndex(index)
        return index.isValid()

    def steer_by(self, field: QLineEdit) -> None:
        """Let Down and Up move in the list while the keyboard stays with the field."""
        self._field = field
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            count = self.rows.rowCount()
            if step and count:
                row = min(max(self.currentIndex().row() + step, 0), count - 1)
                self.setCurrentIndex(self.rows.index(row))
                return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.touched.emit()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.touched.emit()
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            self.setCurrentIndex(index)
            place = self.visualRect(index).center() if by_key else event.pos()
            self.menu_wanted.emit(self.viewport().mapToGlobal(place))

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row: ModelRow | None = current.data(ROW)
        self.chosen.emit(row.key if row else "")

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        row: ModelRow | None = index.data(ROW)
        if row is not None:
            self.opened.emit(row.key)

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        if bar.maximum() > 0 and value >= bar.maximum() - _HEIGHT:
            self.end_reached.emit()


def _draw(painter: QPainter, room: QRect, text: str) -> None:
    metrics = QFontMetrics(painter.font())
    draw_words(painter, room, _LEADING, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width()))
