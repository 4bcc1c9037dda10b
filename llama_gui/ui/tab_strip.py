"""The tab strip: the tab bar, and what stands beside its last tab."""

from functools import partial

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.tabs import STRIP_HEIGHT, TabBar
from llama_gui.ui.theme import theme_of
from llama_gui.ui.widgets import Button, plain_action, plain_tip


class TabStrip(QWidget):
    """The tab bar with the + beside its last tab, and a list of the tabs when they are too many for it."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.bar = TabBar(icons)
        self.new_button = Button(icons, "plus", height=28)
        self.list_button = Button(icons, "chevron-down", height=28)
        self.list_button.setAccessibleName(self.tr("All tabs"))
        self.list_button.setToolTip(plain_tip(self.tr("All tabs")))
        self.list_button.clicked.connect(self.show_list)
        self.list_button.hide()
        self._icons = icons
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.bar)
        layout.addWidget(self.new_button, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self.list_button, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addStretch(1)
        self.setFixedHeight(STRIP_HEIGHT)
        self.bar.laid_out.connect(self._share_room, Qt.ConnectionType.QueuedConnection)

    @Slot()
    def show_list(self) -> QMenu:
        """All tabs by their whole names."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setStyleSheet("QMenu::item { padding-left: 10px; }")  # ticks and dots are icons, which come before it
        theme = theme_of(self)
        for index in range(self.bar.count()):
            chat_id = self.bar.chat_id(index)
            action = menu.addAction(plain_action(self.bar.title(index)))
            if index == self.bar.currentIndex():
                action.setIcon(self._icons.icon("check", theme.color("accent")))
            elif self.bar.has_dot(chat_id):
                action.setIcon(self._icons.icon("dot", theme.color("accent")))
            action.triggered.connect(partial(self._go_to, chat_id))
        menu.popup(self.list_button.mapToGlobal(QPoint(0, self.list_button.height())))
        return menu

    def _go_to(self, chat_id: str, _checked: bool = False) -> None:
        self.bar.setCurrentIndex(self.bar.index_of(chat_id))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._share_room()

    @Slot()
    def _share_room(self) -> None:
        button = self.new_button.sizeHint().width() + 4
        room = self.width() - button - 8
        is_crowded = self.bar.wanted_room() > room
        self.list_button.setVisible(is_crowded)
        self.bar.set_room(room - button if is_crowded else room)
