"""The list of chats, in groups, with a field that searches all that was said."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListView, QStackedWidget, QVBoxLayout, QWidget

from llama_gui.bridge.chat_search import ChatSearch
from llama_gui.bridge.item_models import ChatListItemModel, ChatRole, HitItemModel
from llama_gui.chats.search import SearchHit
from llama_gui.ui.chat_delegates import HitDelegate
from llama_gui.ui.chat_list_view import ChatListView, set_up_list
from llama_gui.ui.former_focus import FormerFocus
from llama_gui.ui.icons import Icons
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.theme import FRAME_PX
from llama_gui.ui.widgets import Button, Surface, plain_label, plain_tip

LEAST_WIDTH, MOST_WIDTH = 180, 420


class Sidebar(Surface):
    """Lets the user find and open a chat."""

    chat_chosen = Signal(str)
    hit_chosen = Signal(object)
    """`SearchHit`."""
    more_wanted = Signal(object)
    """The place on the screen for the menu about all chats."""

    def __init__(
        self, chats: ChatListItemModel, search: ChatSearch, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__("side", "right", parent)
        self._chats = chats
        self._finder = search
        self._current = ""
        self._answered = ""  # the words that the shown finds are for
        self._opens_first = False  # once the words that are typed are searched
        self._before_search: FormerFocus | None = None  # to whom Esc in the empty field gives the keyboard back
        self.setMinimumWidth(LEAST_WIDTH)
        self.setMaximumWidth(MOST_WIDTH)
        self.view = ChatListView(chats, icons)
        self.hits = QListView()
        self.bar = InfoBar(icons, is_narrow=True)
        self._found = HitItemModel(self)
        self._set_up_search()
        self._set_up_hits(icons)
        self._nothing = plain_label("", "muted", FRAME_PX)
        self._nothing.setContentsMargins(10, 12, 10, 0)
        self._nothing.setWordWrap(True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._lay_out(icons)
        self.view.chat_chosen.connect(self.chat_chosen)
        self.view.left_alone.connect(self._show_front)
        chats.modelReset.connect(self._show_list)
        chats.dataChanged.connect(self._show_list)
        search.found.connect(self._show_hits)
        self._show_list()

    def _set_up_search(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search chats"))
        self.search.setAccessibleName(self.tr("Search titles and messages of all chats"))
        self.search.setClearButtonEnabled(True)
        self.search.installEventFilter(self)
        self.search.textChanged.connect(self._on_text)
        self.search.returnPressed.connect(self._open_hit)

    def _set_up_hits(self, icons: Icons) -> None:
        set_up_list(self.hits, self.tr("Found messages"))
        self.hits.setUniformItemSizes(False)  # one of fewer lines is lower
        self.hits.setResizeMode(QListView.ResizeMode.Adjust)  # which it may be in a wider side bar
        self.hits.setModel(self._found)
        self.hits.setItemDelegate(HitDelegate(icons, self.hits))
        self.hits.clicked.connect(self._choose_hit)
        self.hits.activated.connect(self._choose_hit)
        self.hits.installEventFilter(self)

    def _lay_out(self, icons: Icons) -> None:
        self.more_button = Button(icons, "more", height=30)
        self.more_button.setAccessibleName(self.tr("More about all chats"))
        self.more_button.setToolTip(plain_tip(self.tr("Import, export, bin")))
        self.more_button.clicked.connect(self._want_more)
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.search, 1)
        top.addWidget(self.more_button)
        self._pages = QStackedWidget()
        for page in (self.view, self.hits, self._nothing):
            self._pages.addWidget(page)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(12, 14, 8, 8)
        layout.setSpacing(8)
        layout.addLayout(top)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.bar)

    def add_foot(self, widget: QWidget) -> None:
        """Show something below the list, as long as it wants to be seen."""
        self._column.addWidget(widget)

    # The list

    def show_current(self, chat_id: str) -> None:
        """Mark the chat of the current tab."""
        self._current = chat_id
        index = self._chats.index_of(chat_id)
        if not index.isValid():
            self.view.clearSelection()
        elif self.view.state() != QListView.State.EditingState:
            self.view.mark(index)

    @Slot()
    def _show_front(self) -> None:
        self.show_current(self._current)

    @Slot()
    def _show_list(self) -> None:
        if self.search.text().strip():
            return
        if self.view.has_several():  # chosen by the user, who has something in mind with them
            pass
        elif not self.view.hasFocus() or not self.view.currentIndex().isValid():
            self.show_current(self._current)
        if self._chats.rowCount():
            self._pages.setCurrentWidget(self.view)
        else:
            self._say_nothing(self.tr("Your chats appear here."))

    def _say_nothing(self, text: str) -> None:
        self._nothing.setText(text)
        self._pages.setCurrentWidget(self._nothing)

    # The search

    @Slot(str)
    def _on_text(self, text: str) -> None:
        self._finder.find(text)
        self._opens_first = False
        if not text.strip():
            self._answered = ""
            self._found.show(())
            self._show_list()

    @Slot(str, object)
    def _show_hits(self, text: str, hits: Sequence[SearchHit]) -> None:
        self._found.show(hits)
        self._answered = text
        if hits:
            self.hits.setCurrentIndex(self._found.index(0))
            self._pages.setCurrentWidget(self.hits)
        else:
            self._say_nothing(self.tr("No chat has “{}”.").format(text))
        if self._opens_first:
            self._opens_first = False
            self._open_hit()

    @Slot()
    def _open_hit(self) -> None:
        """The marked find; when Enter was faster than the search, the first of those that it brings."""
        if self._answered == self.search.text().strip():
            self._choose_hit(self.hits.currentIndex())
        else:
            self._opens_first = True

    @Slot(QModelIndex)
    def _choose_hit(self, index: QModelIndex) -> None:
        hit: SearchHit | None = index.data(ChatRole.HIT)
        if hit is not None:
            self.hit_chosen.emit(hit)

    def begin_search(self) -> None:
        """Put the keyboard into the field."""
        if not self.search.hasFocus():
            self._before_search = FormerFocus(self.window().focusWidget())
        self.search.setFocus()
        self.search.selectAll()

    def leave_search(self) -> None:
        """Back to the list."""
        self.search.clear()

    @Slot()
    def _want_more(self) -> None:
        self.more_wanted.emit(self.more_button.mapToGlobal(self.more_button.rect().bottomLeft()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent):
            return False
        key = event.key()
        if key == Qt.Key.Key_Escape and self.search.text():
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # else Esc would stop the answer
            elif event.type() == QEvent.Type.KeyPress:
                self.leave_search()
                self.search.setFocus()
            return True
        if key == Qt.Key.Key_Escape and watched is self.search and self._before_search is not None:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
            elif event.type() == QEvent.Type.KeyPress:
                self._before_search.give_back()
                self._before_search = None
            return True
        if watched is self.search and event.type() == QEvent.Type.KeyPress:
            return self._move_in_hits(key)
        return False

    def _move_in_hits(self, key: int) -> bool:
        """Down and Up go through the finds, or into the list, while the keyboard stays with the field."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(key), 0)
        if not step:
            return False
        if self._pages.currentWidget() is self.hits:
            row = min(max(self.hits.currentIndex().row() + step, 0), self._found.rowCount() - 1)
            self.hits.setCurrentIndex(self._found.index(row))
        elif step > 0 and self._pages.currentWidget() is self.view:
            self.view.setFocus()
        return True
