"""The list of chats with its keys: open, name, fold, put into the bin, and the menu."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QApplication, QFrame, QListView, QWidget

from llama_gui.bridge.item_models import ChatListItemModel, ChatRole
from llama_gui.ui.chat_delegates import ChatDelegate, has_menu, more_room
from llama_gui.ui.former_focus import FormerFocus, has_keyboard
from llama_gui.ui.icons import Icons

Index = QModelIndex | QPersistentModelIndex


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


class ChatListView(QListView):
    """Shows the chats of a model. It keeps its place when the list changes, and waits for a name that is typed."""

    chat_chosen = Signal(str)
    menu_wanted = Signal(str, object)
    """A chat's id or a group's key, and the place on the screen."""
    delete_wanted = Signal(str)

    def __init__(self, chats: ChatListItemModel, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._place = 0
        self._kept_chat = ""  # that has the keyboard, while the list is another
        self._more = QPersistentModelIndex()  # whose sign for the menu the mouse holds down
        self._before_menu: str | None = None  # the chat that had it when the mouse opened a menu
        self._before_name = FormerFocus(None)
        set_up_list(self, self.tr("Chats"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # after a fold or a menu the keyboard is where one writes
        self.setModel(chats)
        self.setItemDelegate(ChatDelegate(icons, self))
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        chats.modelAboutToBeReset.connect(self._keep_place)
        chats.modelReset.connect(self._go_to_place)

    def current_chat(self) -> str:
        """The chat that has the keyboard; "" for none."""
        return self.currentIndex().data(ChatRole.CHAT_ID) or ""

    def reveal(self, chat_id: str) -> bool:
        """Unfold the group of a chat; False when it is not in the list."""
        return self._chats.reveal(chat_id).isValid()

    def rename(self, chat_id: str) -> None:
        """Let the user type another name for a chat, in its row."""
        index = self._chats.index_of(chat_id)
        if index.isValid():
            self.setCurrentIndex(index)
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

    @Slot()
    def _go_to_place(self) -> None:
        self.doItemsLayout()
        self.setCurrentIndex(self._chats.index_of(self._kept_chat))
        self.verticalScrollBar().setValue(self._place)

    # Mouse and keys

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        if index.data(ChatRole.HEADING):
            self._fold(index, not index.data(ChatRole.FOLDED))
        elif index.isValid():
            self.chat_chosen.emit(index.data(ChatRole.CHAT_ID))

    def _fold(self, index: Index, folded: bool) -> None:
        group = index.data(ChatRole.GROUP)
        self._chats.fold(group, folded)
        for row in range(self._chats.rowCount()):
            heading = self._chats.index(row)
            if heading.data(ChatRole.HEADING) and heading.data(ChatRole.GROUP) == group:
                self.setCurrentIndex(heading)

    def event(self, event: QEvent) -> bool:
        # In the list F2 is for its row, and not for the chat in front.
        is_f2 = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_F2
        if is_f2 and event.type() == QEvent.Type.ShortcutOverride and self.current_chat():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        chat_id = self.current_chat()
        is_delete = event.key() == Qt.Key.Key_Delete and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_F2 and chat_id:
            self._edit(index, FormerFocus(self))
        elif is_delete and chat_id:
            self.delete_wanted.emit(chat_id)
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and index.data(ChatRole.HEADING):
            is_back = (event.key() == Qt.Key.Key_Left) != self.isRightToLeft()
            self._fold(index, is_back)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and index.isValid():
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
        if event.button() == Qt.MouseButton.LeftButton:
            self._more = self._more_at(event.position().toPoint())
        if self._more.isValid():
            return
        # A menu marks its row itself, and knows the former one. A press beside the rows would take the mark away.
        can_select = self.indexAt(event.position().toPoint()).flags() & Qt.ItemFlag.ItemIsSelectable
        if can_select and event.button() != Qt.MouseButton.RightButton:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, self._more = self._more, QPersistentModelIndex()
        place = event.position().toPoint()
        if not held.isValid():
            super().mouseReleaseEvent(event)
        elif self._more_at(place) == held:
            self._want_menu(self.indexAt(place), more_room(self.visualRect(held), self).center(), by_key=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.viewport().update(self.visualRect(self.indexAt(event.position().toPoint())))  # the sign lights up

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            self._want_menu(index, self.visualRect(index).center() if by_key else event.pos(), by_key=by_key)

    def _want_menu(self, index: Index, place: QPoint, *, by_key: bool) -> None:
        is_marked = self.selectionModel().hasSelection()  # no row is while a chat is in front that is not listed yet
        self._before_menu = None if by_key else self.current_chat() if is_marked else ""
        self.setCurrentIndex(index)
        what = index.data(ChatRole.CHAT_ID) or index.data(ChatRole.GROUP)
        self.menu_wanted.emit(what, self.viewport().mapToGlobal(place))

    @Slot()
    def leave_menu(self) -> None:
        """The menu of a row is closed: the row that the mouse has marked for it is marked no longer."""
        if self._before_menu is not None:
            self.setCurrentIndex(self._chats.index_of(self._before_menu))
            self._before_menu = None

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """The keyboard goes back to who had it; a click elsewhere ends a name, too, and keeps it there."""
        focused = QApplication.focusWidget()
        is_elsewhere = focused is not None and focused is not self and not has_keyboard(self)
        super().closeEditor(editor, hint)
        if not is_elsewhere:
            self._before_name.give_back(otherwise=self)
