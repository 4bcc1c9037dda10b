"""The window of models: find, download, keep."""

from PySide6.QtCore import QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QDialog, QHBoxLayout, QMessageBox, QStackedWidget, QVBoxLayout, QWidget

from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.library.sign_in import SignedIn
from llama_gui.settings import UserSettings
from llama_gui.ui.dialogs import confirm_link
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.catalog_page import CatalogPage
from llama_gui.ui.models.download_list import DownloadList
from llama_gui.ui.models.options_dialog import OptionsDialog
from llama_gui.ui.models.page import ModelPage
from llama_gui.ui.models.search_page import SearchPage
from llama_gui.ui.models.shelf_page import ShelfPage
from llama_gui.ui.models.sign_in_dialog import SignInDialog
from llama_gui.ui.models.states import ModelStates
from llama_gui.ui.models.words import plain
from llama_gui.ui.notice import Notice
from llama_gui.ui.theme import FRAME_PX, theme_of
from llama_gui.ui.widgets import Button, Surface, plain_tip

NARROW = 760


class PageButton(Button):
    """A word in the head; the page in front is underlined."""

    def __init__(self, icons: Icons, text: str) -> None:
        super().__init__(icons, text=text, height=36, pixels=FRAME_PX)
        self.setCheckable(True)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            painter = QPainter(self)
            painter.fillRect(12, self.height() - 2, self.width() - 24, 2, theme_of(self).color("accent"))


class ModelsWindow(QDialog):
    """Three pages, and the downloads below them. It opens a model by telling its path."""

    model_chosen = Signal(str)
    settings_changed = Signal(object)
    """The whole `UserSettings`, with what was changed here."""

    def __init__(self, desk: ModelDesk, settings: UserSettings, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk = desk
        self._settings = settings
        self._icons = icons
        self._is_narrow = False
        self.setWindowTitle(self.tr("Models"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint, True)
        states = ModelStates(desk.downloads, desk.shelf, self)
        self.recommended = CatalogPage(desk, states, icons)
        self.search = SearchPage(desk, states, icons)
        self.shelf = ShelfPage(desk, states, icons)
        self.downloads = DownloadList(desk.downloads, icons)
        self.notice = Notice(icons)
        self.account_button = Button(icons, text=self.tr("Sign in…"), look="quiet", height=30)
        self.options_button = Button(icons, "sliders", self.tr("Options"), look="quiet", height=30)
        self._pages = QStackedWidget()
        self._group = QButtonGroup(self)
        self.tabs: dict[str, PageButton] = {}
        self._lay_out()
        self._connect()
        self.setMinimumSize(420, 380)

    def _lay_out(self) -> None:
        head = Surface("side", "bottom")
        bar = QHBoxLayout(head)
        bar.setContentsMargins(16, 6, 12, 0)
        bar.setSpacing(2)
        for name, text, page in (
            ("recommended", self.tr("Recommended"), self.recommended),
            ("search", self.tr("Search"), self.search),
            ("shelf", self.tr("On this computer"), self.shelf),
        ):
            button = self.tabs[name] = PageButton(self._icons, text)
            self._group.addButton(button, self._pages.addWidget(page))
            bar.addWidget(button)
        bar.addStretch(1)
        bar.addWidget(self.account_button)
        bar.addWidget(self.options_button)
        self.account_button.setAccessibleName(self.tr("Sign in to the hub"))
        self.options_button.setAccessibleName(self.tr("Options for models"))
        notices = QHBoxLayout()
        notices.setContentsMargins(12, 0, 12, 0)
        notices.addWidget(self.notice)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(head)
        layout.addLayout(notices)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.downloads)

    def _connect(self) -> None:
        desk = self._desk
        self._group.idClicked.connect(self._on_tab)
        for page in self._all_pages():
            page.open_wanted.connect(self._open)
            page.link_wanted.connect(self._ask_about_link)
            page.trouble.connect(self.notice.add)
            page.cancel_wanted.connect(self._ask_to_cancel)
        self.downloads.open_wanted.connect(self._open)
        self.downloads.link_wanted.connect(self._ask_about_link)
        self.downloads.sign_in_wanted.connect(self.show_sign_in)
        self.downloads.cancel_wanted.connect(self._ask_to_cancel)
        self.account_button.clicked.connect(self.show_sign_in)
        self.options_button.clicked.connect(self.show_options)
        desk.downloads.refused.connect(self._on_refused)
        desk.downloads.trouble.connect(self.notice.add)
        desk.account.changed.connect(self._on_account)
        desk.account.known.connect(self._on_account)

    def _all_pages(self) -> tuple[ModelPage, ...]:
        return self.recommended, self.search, self.shelf

    # Pages

    def show_page(self, name: str) -> None:
        """Bring a page to the front: recommended, search or shelf."""
        self.tabs[name].setChecked(True)
        self._on_tab(self._group.id(self.tabs[name]))

    def page(self) -> str:
        """The page in front."""
        return next((name for name, button in self.tabs.items() if button.isChecked()), "recommended")

    @Slot(int)
    def _on_tab(self, number: int) -> None:
        self._desk.adviser.measure()
        self._pages.setCurrentIndex(number)
        page = self._all_pages()[number]
        page.show_list()
        page.enter()

    def set_open_model(self, path: str) -> None:
        """The model of the chat in front."""
        self.shelf.set_open_model(path)

    def mark_open_model(self) -> None:
        """Make it the current row of what is on this computer."""
        self.shelf.mark_open_model()

    def set_settings(self, settings: UserSettings) -> None:
        """The settings as they are now."""
        self._settings = settings

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < NARROW
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            for page in self._all_pages():
                page.set_narrow(is_narrow)

    def sizeHint(self) -> QSize:
        return QSize(960, 680)

    # What is wanted

    @Slot(str)
    def _open(self, path: str) -> None:
        if path:
            self.model_chosen.emit(path)
            self.close()

    @Slot(str)
    def _ask_about_link(self, address: str) -> None:
        confirm_link(self, address, _follow)

    @Slot(int)
    def _ask_to_cancel(self, item_id: int) -> None:
        item = next((item for item in self._desk.downloads.items if item.id == item_id), None)
        if item is None:
            return
        title = self.tr("Cancel the download of {}?").format(plain(item.plan.repo, 80))
        buttons = QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, buttons, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText(self.tr("What was fetched of it is deleted. To keep it for later, pause instead."))
        box.button(QMessageBox.StandardButton.Discard).setText(self.tr("Cancel the download"))
        box.button(QMessageBox.StandardButton.Cancel).setText(self.tr("Go on"))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(lambda result, number=item_id: self._on_cancel_answer(number, result))
        box.open()

    def _on_cancel_answer(self, item_id: int, result: int) -> None:
        if result == QMessageBox.StandardButton.Discard:
            self._desk.downloads.remove(item_id)

    @Slot(str, str, str)
    def _on_refused(self, _repo: str, problem: str, _page: str) -> None:
        self.notice.add(problem)

    # Dialogs

    @Slot()
    def show_sign_in(self) -> SignInDialog:
        """Ask for a token."""
        dialog = SignInDialog(self._desk.account, self)
        dialog.link_wanted.connect(self._ask_about_link)
        dialog.open()
        return dialog

    @Slot()
    def show_options(self) -> OptionsDialog:
        """Offline mode, speed, folders."""
        dialog = OptionsDialog(self._settings, self._desk, self._icons, self)
        dialog.changed.connect(self._on_options)
        dialog.open()
        return dialog

    @Slot(object)
    def _on_options(self, settings: UserSettings) -> None:
        has_other_folders = settings.model_folders != self._settings.model_folders
        self._settings = settings
        self.settings_changed.emit(settings)
        if has_other_folders:
            self._desk.shelf.scan()

    @Slot(object)
    def _on_account(self, signed_in: SignedIn) -> None:
        text = self.tr("Signed in") if signed_in.token else self.tr("Sign in…")
        self.account_button.setText(text)
        self.account_button.setToolTip(plain_tip(signed_in.words))
        self.account_button.updateGeometry()


def _follow(address: str, answer: QMessageBox.StandardButton) -> None:
    if answer == QMessageBox.StandardButton.Open:
        QDesktopServices.openUrl(QUrl(address))
