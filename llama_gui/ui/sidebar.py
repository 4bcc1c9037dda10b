"""The list of chats, by date, with a field that filters it."""

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from llama_gui.bridge.item_models import ChatListItemModel, ChatRole
from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import FRAME_PX, RADIUS, TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import Surface, paint_focus, plain_label, plain_tip

SIDEBAR_WIDTH = 236
_ROW, _GROUP = 34, 32
Index = QModelIndex | QPersistentModelIndex


class ChatDelegate(QStyledItemDelegate):
    """Paints a chat, and above the first chat of a group the group's name."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, _ROW + (_GROUP if begins_group(index) else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view = self.parent()
        assert isinstance(view, QListView)
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        theme = theme_of(view)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row = rect.adjusted(0, rect.height() - _ROW, 0, 0)
        if begins_group(index):
            painter.setFont(frame_font(TINY_PX, QFont.Weight.DemiBold))
            painter.setPen(theme.color("muted"))
            painter.drawText(rect.adjusted(13, 9, -8, -_ROW), Qt.AlignmentFlag.AlignVCenter, index.data(ChatRole.GROUP))
        ground = QRectF(row).adjusted(0, 1, 0, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if state & QStyle.StateFlag.State_Selected:
            painter.setBrush(theme.color("selected_row"))
            painter.drawRoundedRect(ground, RADIUS - 2, RADIUS - 2)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(ground, RADIUS - 2, RADIUS - 2)
        if state & QStyle.StateFlag.State_HasFocus and view.hasFocus():
            paint_focus(painter, ground, theme.color("accent"))
        self._paint_title(painter, row, index)

    def _paint_title(self, painter: QPainter, row: QRect, index: Index) -> None:
        view = self.parent()
        assert isinstance(view, QListView)
        theme = theme_of(view)
        answering = bool(index.data(ChatRole.ANSWERING))
        painter.setFont(frame_font(FRAME_PX))
        painter.setPen(theme.color("text"))
        room = row.adjusted(10, 0, -28 if answering else -10, 0)
        title = QFontMetrics(painter.font()).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        if answering:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            painter.drawEllipse(QRectF(row.right() - 16, row.center().y() - 3, 7, 7))

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        if event.type() == QEvent.Type.ToolTip and index.isValid():
            QToolTip.showText(event.globalPos(), plain_tip(str(index.data())), view)
            return True
        return super().helpEvent(event, view, option, index)


def begins_group(index: Index) -> bool:
    """Whether a row is the first of its group, in what the filter left."""
    above = index.sibling(index.row() - 1, 0)
    return not above.isValid() or above.data(ChatRole.GROUP) != index.data(ChatRole.GROUP)


class Sidebar(Surface):
    """Lets the user find and open a chat."""

    chat_chosen = Signal(str)

    def __init__(self, chats: ChatListItemModel, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__("side", "right", parent)
        self._chats = chats
        self._current = ""
        self._icons = icons
        self.setFixedWidth(SIDEBAR_WIDTH)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search chats"))
        self.search.setAccessibleName(self.tr("Search chats"))
        self.search.setClearButtonEnabled(True)
        self._filtered = QSortFilterProxyModel(self)
        self._filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._filtered.setSourceModel(chats)
        self.view = QListView()
        self._set_up_view()
        self._nothing = plain_label("", "muted", FRAME_PX)
        self._nothing.setContentsMargins(10, 12, 10, 0)
        self._nothing.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 14, 12, 8)
        layout.setSpacing(6)
        layout.addWidget(self.search)
        layout.addWidget(self._nothing)
        layout.addWidget(self.view, 1)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._open_first)
        for changed in (chats.modelReset, chats.dataChanged):
            changed.connect(self._lay_out_rows)
        self._lay_out_rows()

    def _set_up_view(self) -> None:
        view = self.view
        view.setModel(self._filtered)
        view.setItemDelegate(ChatDelegate(view))
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setAccessibleName(self.tr("Chats"))
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        view.viewport().setAutoFillBackground(False)
        view.clicked.connect(self._choose)
        view.activated.connect(self._choose)

    @Slot(str)
    def show_current(self, chat_id: str) -> None:
        """Mark the chat of the current tab."""
        self._current = chat_id
        index = self._filtered.mapFromSource(self._chats.index_of(chat_id))
        if index.isValid():
            self.view.setCurrentIndex(index)
        else:
            self.view.clearSelection()

    @Slot(str)
    def _filter(self, text: str) -> None:
        self._filtered.setFilterFixedString(text.strip())
        self._lay_out_rows()

    @Slot()
    def _lay_out_rows(self) -> None:
        """Heights depend on the row above, which Qt cannot know."""
        self.view.scheduleDelayedItemsLayout()
        is_empty = self._filtered.rowCount() == 0
        searching = bool(self.search.text().strip())
        self._nothing.setText(
            self.tr("No chat has this in its title.") if searching else self.tr("Your chats appear here.")
        )
        self._nothing.setVisible(is_empty)
        self.show_current(self._current)

    @Slot()
    def _open_first(self) -> None:
        self._choose(self._filtered.index(0, 0))

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chat_chosen.emit(index.data(ChatRole.CHAT_ID))
