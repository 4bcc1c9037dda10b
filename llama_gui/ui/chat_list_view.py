"""The list of chats with its keys: open, name, fold, put into the bin, and the menu; choose several, and drag them."""

from collections.abc import Collection
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QHoverEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemDelegate, QApplication, QFrame, QLineEdit, QListView, QWidget

from llama_gui.bridge.item_models import ChatListItemModel, ChatRole
from llama_gui.ui import chat_dragging
from llama_gui.ui.chat_delegates import ChatDelegate, has_menu, more_room
from llama_gui.ui.former_focus import FormerFocus, has_keyboard
from llama_gui.ui.icons import Icons
from llama_gui.ui.numbers import counted

Index = QModelIndex | QPersistentModelIndex
_CHOOSING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
"""With one of these a click does not open a chat, but chooses it beside others."""
_OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def set_up_list(view: QListView, name: str) -> None:
    """What the lists of the side bar share."""
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setAccessibleName(name)
    view.setMouseTracking(True)
    view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
    view.setUniformItemSizes(True)
    view.viewport().setAutoFillBackground(False)


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that is being typed, and what of it is marked, from where to the mark that blinks."""

    text: str
    begin: int
    cursor: int

    @classmethod
    def of(cls, field: QWidget | None) -> "_Name | None":
        """What stands in `field`; None where nobody types."""
        if not isinstance(field, QLineEdit):
            return None
        cursor = field.cursorPosition()
        ends = (field.selectionStart(), field.selectionEnd()) if field.hasSelectedText() else (cursor, cursor)
        return cls(field.text(), ends[0] if cursor == ends[1] else ends[1], cursor)

    def put_into(self, field: QWidget | None) -> None:
        """Have it in another field."""
        if isinstance(field, QLineEdit):
            field.setText(self.text)
            field.setSelection(self.begin, self.cursor - self.begin)
            if self.begin == self.cursor:
                field.setCursorPosition(self.cursor)


class ChatListView(QListView):
    """Shows the chats of a model. It keeps its place when the list changes, and waits for a name that is typed."""

    chat_chosen = Signal(str)
    menu_wanted = Signal(str, object)
    """A chat's id or a group's key, and the place on the screen."""
    menu_for_all_wanted = Signal(object, object)
    """list[str]: the ids of the chats that are chosen together; and the place on the screen."""
    delete_wanted = Signal(object)
    """list[str]: the ids of the chats."""
    dropped = Signal(object, str)
    """list[str]: the ids of the chats; and the key of the group that they were dropped into."""
    left_alone = Signal()
    """What was chosen is chosen no longer: the list can show again which chat is in front."""

    def __init__(self, chats: ChatListItemModel, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._place = 0
        self._kept_chat = ""  # that has the keyboard, while the list is another
        self._kept_choice: list[str] = []
        self._kept_name: _Name | None = None
        self._is_choosing = False  # the click that is going on
        self._holds_chat = False
        self._target: str | None = None  # the group under the chats that are dragged
        self._more = QPersistentModelIndex()  # whose sign for the menu the mouse holds down
        self._before_menu: str | None = None  # the chat that had it when the mouse opened a menu
        self._before_name = FormerFocus(None)
        set_up_list(self, self.tr("Chats"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # after a fold or a menu the keyboard is where one writes
        self.setModel(chats)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QListView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)  # it would stand between two rows, but chats are in an order of their own
        self.setItemDelegate(ChatDelegate(icons, self))
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        chats.modelAboutToBeReset.connect(self._keep_place)
        chats.modelReset.connect(self._go_to_place)

    def current_chat(self) -> str:
        """The chat that has the keyboard; "" for none."""
        return self.currentIndex().data(ChatRole.CHAT_ID) or ""

    def chosen(self) -> list[str]:
        """The chats that are marked, from top to bottom: most of the time the one that is in front."""
        rows = sorted(self.selectedIndexes(), key=lambda index: index.row())
        return [index.data(ChatRole.CHAT_ID) for index in rows if not index.data(ChatRole.HEADING)]

    def has_several(self) -> bool:
        """Whether the user has chosen more than one chat."""
        return len(self.selectedIndexes()) > 1

    def mark(self, index: Index) -> None:
        """Mark this row and no other, whatever keys are held down meanwhile; none where it is invalid."""
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(index, flags)

    def reveal(self, chat_id: str) -> bool:
        """Unfold the group of a chat; False when it is not in the list."""
        return self._chats.reveal(chat_id).isValid()

    def rename(self, chat_id: str) -> None:
        """Let the user type another name for a chat, in its row."""
        index = self._chats.index_of(chat_id)
        if index.isValid():
            self.mark(index)
            self.scrollTo(index)
            before = FormerFocus(self.window().focusWidget())
            self.setFocus()
            self._edit(index, before)

    def _edit(self, index: Index, before: FormerFocus) -> None:
        if self.state() != QListView.State.EditingState:  # Qt complains of a second editor
            self._before_name = before
            self.edit(index)

    # The place

    @Slot()
    def _keep_place(self) -> None:
        self._place = self.verticalScrollBar().value()
        self._kept_chat = self.current_chat()
        self._kept_choice = self.chosen()
        self._kept_name = _Name.of(self.indexWidget(self.currentIndex()))

    @Slot()
    def _go_to_place(self) -> None:
        self.doItemsLayout()
        # Not marked: the row that has the keyboard need not be one of those that are chosen.
        no_update = QItemSelectionModel.SelectionFlag.NoUpdate
        self.selectionModel().setCurrentIndex(self._chats.index_of(self._kept_chat), no_update)
        self._choose_all(self._kept_choice)
        self.verticalScrollBar().setValue(self._place)
        if self._kept_name is not None:
            self._go_on_naming(self._kept_name)

    def _go_on_naming(self, name: "_Name") -> None:
        """Let the user type on, although the row is another: an answer has ended in some other chat."""
        index = self.currentIndex()
        if not index.isValid():
            return
        self.scrollTo(index)
        self.setFocus()
        self.edit(index)
        name.put_into(self.indexWidget(index))

    # Several

    def _choose_all(self, chat_ids: Collection[str]) -> None:
        rows = QItemSelection()
        for index in map(self._chats.index_of, chat_ids):
            if index.isValid():  # its group may be folded by now
                rows.select(index, index)
        self.selectionModel().select(rows, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        if isinstance(event, QMouseEvent) and event.modifiers() & _CHOOSING and index.data(ChatRole.HEADING):
            return QItemSelectionModel.SelectionFlag.NoUpdate
        return super().selectionCommand(index, event)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        if self.has_several():  # then they are chats: what is between them is no heading that one can delete
            headings = QItemSelection()
            for index in self.selectedIndexes():
                if index.data(ChatRole.HEADING):
                    headings.select(index, index)
            if not headings.isEmpty():
                self.selectionModel().select(headings, QItemSelectionModel.SelectionFlag.Deselect)

    # Mouse and keys

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        if index.data(ChatRole.HEADING):
            self._fold(index, not index.data(ChatRole.FOLDED))
        elif index.isValid() and not self._is_choosing:
            self.chat_chosen.emit(index.data(ChatRole.CHAT_ID))

    def _fold(self, index: Index, folded: bool) -> None:
        group = index.data(ChatRole.GROUP)
        self._chats.fold(group, folded)
        for row in range(self._chats.rowCount()):
            heading = self._chats.index(row)
            if heading.data(ChatRole.HEADING) and heading.data(ChatRole.GROUP) == group:
                self.mark(heading)

    def event(self, event: QEvent) -> bool:
        # In the list F2 is for its row, and not for the chat in front; Esc is for the choice before it stops an answer.
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            is_f2 = event.key() == Qt.Key.Key_F2 and bool(self.current_chat())
            if is_f2 or (event.key() == Qt.Key.Key_Escape and self.has_several()):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        chat_id = self.current_chat()
        is_delete = event.key() == Qt.Key.Key_Delete and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_F2 and chat_id:
            self._edit(index, FormerFocus(self))
        elif is_delete and (chosen := self.chosen()):
            self.delete_wanted.emit(chosen)
        elif event.key() == Qt.Key.Key_Escape and self.has_several():
            self.mark(self.currentIndex())
            self.left_alone.emit()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and index.data(ChatRole.HEADING):
            is_back = (event.key() == Qt.Key.Key_Left) != self.isRightToLeft()
            self._fold(index, is_back)
        elif event.key() in _OPENING and not event.modifiers() & _CHOOSING and index.isValid():
            self._is_choosing = False
            if self.state() != QListView.State.EditingState:
                self._choose(index)
        else:
            super().keyPressEvent(event)

    def _more_at(self, place: QPoint) -> QPersistentModelIndex:
        """The row whose sign for the menu stands there."""
        index = self.indexAt(place)
        is_there = has_menu(index) and more_room(self.visualRect(index), self).contains(place)
        return QPersistentModelIndex(index if is_there else QModelIndex())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._more = QPersistentModelIndex()
        self._holds_chat = False
        if event.button() == Qt.MouseButton.LeftButton:
            self._more = self._more_at(event.position().toPoint())
        if self._more.isValid():
            return
        self._is_choosing = bool(event.modifiers() & _CHOOSING)
        if self._is_choosing and event.button() == Qt.MouseButton.LeftButton:
            self.setFocus(Qt.FocusReason.MouseFocusReason)  # what is chosen is for keys, too
        # A menu marks its row itself, and knows the former one. A press beside the rows would take the mark away.
        can_select = self.indexAt(event.position().toPoint()).flags() & Qt.ItemFlag.ItemIsSelectable
        if can_select and event.button() != Qt.MouseButton.RightButton:
            self._holds_chat = not self.indexAt(event.position().toPoint()).data(ChatRole.HEADING)
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, self._more = self._more, QPersistentModelIndex()
        place = event.position().toPoint()
        if not held.isValid():
            super().mouseReleaseEvent(event)
        elif self._more_at(place) == held:
            self._want_menu(self.indexAt(place), more_room(self.visualRect(held), self).center(), by_key=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._holds_chat or not event.buttons():  # else Qt would drag the chat that was pressed before this
            super().mouseMoveEvent(event)
        self.viewport().update(self.visualRect(self.indexAt(event.position().toPoint())))  # the sign lights up

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            self._want_menu(index, self.visualRect(index).center() if by_key else event.pos(), by_key=by_key)

    def _want_menu(self, index: Index, place: QPoint, *, by_key: bool) -> None:
        if self.has_several() and self.selectionModel().isSelected(index):
            self.menu_for_all_wanted.emit(self.chosen(), self.viewport().mapToGlobal(place))
            return
        is_marked = self.selectionModel().hasSelection()  # no row is while a chat is in front that is not listed yet
        self._before_menu = None if by_key else self.current_chat() if is_marked else ""
        self.mark(index)
        what = index.data(ChatRole.CHAT_ID) or index.data(ChatRole.GROUP)
        self.menu_wanted.emit(what, self.viewport().mapToGlobal(place))

    @Slot()
    def leave_menu(self) -> None:
        """The menu of a row is closed: the row that the mouse has marked for it is marked no longer."""
        if self._before_menu is not None:
            self.mark(self._chats.index_of(self._before_menu))
            self._before_menu = None

    # Dragging

    def startDrag(self, _actions: Qt.DropAction) -> None:
        chosen = self.chosen()
        if not chosen:
            return
        title = str(self._chats.index_of(chosen[0]).data())
        words = title if len(chosen) == 1 else counted(len(chosen), self.tr("{} chat"), self.tr("{} chats"))
        drag = QDrag(self)
        drag.setMimeData(chat_dragging.packed(chosen))
        pixmap, held = chat_dragging.picture(words, self)
        drag.setPixmap(pixmap)
        drag.setHotSpot(held)
        self._light_none()
        drag.exec(Qt.DropAction.MoveAction)
        self._aim(None)
        if len(chosen) == 1:  # several stay chosen for what else is done with them
            self.left_alone.emit()

    def _light_none(self) -> None:
        """While chats are dragged no row is lit as it is under a mouse that could open it: a group is lit instead."""
        beside = QPointF(-1, -1)
        QApplication.sendEvent(self.viewport(), QHoverEvent(QEvent.Type.HoverLeave, beside, beside, beside))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.setAccepted(bool(chat_dragging.chats_in(event)))

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls at the edges
        self._light_none()
        group = self.indexAt(event.position().toPoint()).data(ChatRole.GROUP) if chat_dragging.chats_in(event) else None
        self._aim(group)
        event.setAccepted(group is not None)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._aim(None)

    def dropEvent(self, event: QDropEvent) -> None:
        chat_ids, group = chat_dragging.chats_in(event), self._target
        self._aim(None)
        self.setState(QListView.State.NoState)
        if chat_ids and group is not None:
            event.acceptProposedAction()
            self.dropped.emit(chat_ids, group)

    def _aim(self, group: str | None) -> None:
        if group != self._target:
            self._target = group
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._target is not None:
            rows = QRect()
            for row in range(self._chats.rowCount()):
                if self._chats.index(row).data(ChatRole.GROUP) == self._target:
                    rows = rows.united(self.visualRect(self._chats.index(row)))
            chat_dragging.paint_target(QPainter(self.viewport()), rows, self)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """The keyboard goes back to who had it; a click elsewhere ends a name, too, and keeps it there."""
        focused = QApplication.focusWidget()
        is_elsewhere = focused is not None and focused is not self and not has_keyboard(self)
        super().closeEditor(editor, hint)
        if not is_elsewhere:
            self._before_name.give_back(otherwise=self)
