"""The main window: builds its rooms, lets them hear each other, and keeps everything at the end."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QSize, Qt, Slot
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.endpoint_desk import EndpointDesk
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.item_models import ChatListItemModel
from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.bridge.server_host import ServerHost
from llama_gui.settings import UserSettings
from llama_gui.ui.actions import Actions
from llama_gui.ui.backup_offer import BackupOffer
from llama_gui.ui.chat_keeping import ChatKeeping
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.exchange_dialogs import ExchangeDialogs
from llama_gui.ui.icons import Icons
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.last_question import LastQuestion
from llama_gui.ui.long_answers import LongAnswers
from llama_gui.ui.menu_key import MenuKey
from llama_gui.ui.notifier import Notifier
from llama_gui.ui.screen_room import fitted
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.ui.side_foot import SideFoot
from llama_gui.ui.sidebar import Sidebar
from llama_gui.ui.status_line import StatusLine
from llama_gui.ui.tab_strip import TabStrip
from llama_gui.ui.tab_verbs import TabVerbs
from llama_gui.ui.typed_ahead import TypedAhead
from llama_gui.ui.window_actions import ActionParts, connect_actions
from llama_gui.ui.window_connections import WindowConnections
from llama_gui.ui.window_frame import TopBar, WindowFrame
from llama_gui.ui.window_library import LibraryParts, WindowLibrary
from llama_gui.ui.window_looks import WindowLooks
from llama_gui.ui.window_meaning import WindowMeaning
from llama_gui.ui.window_menu_entry import WindowMenuEntry
from llama_gui.ui.window_models import ModelParts, WindowModels
from llama_gui.ui.window_preferences import WindowPreferences
from llama_gui.ui.window_presets import WindowPresets
from llama_gui.ui.window_sides import WindowSides
from llama_gui.ui.window_split import WindowSplit
from llama_gui.ui.window_tabs import WindowTabs
from llama_gui.vocabulary import ModelEntry


class MainWindow(QMainWindow):
    """Shows the chats of a book and the state of a host. `start` brings the tabs back and loads the first model.

    `entries` lists the models on this machine, those in the folders it is given among them. `data`: the folder that
    the preferences show as the user's own.
    """

    def __init__(
        self,
        book: ChatBook,
        host: EngineHost,
        settings: UserSettings,
        save_settings: Callable[[UserSettings], None],
        entries: Callable[[Sequence[str]], list[ModelEntry]],
        resources: Path,
        data: Path,
        server: ServerHost,
        endpoints: EndpointDesk,
        desk: ModelDesk,
    ) -> None:
        super().__init__()
        self._book = book
        self._host = host
        self._kept = KeptSettings(settings, save_settings, self)
        icons = Icons(resources / "icons")
        self.actions_ = Actions(self)
        self._build_places(icons)
        self._build_models(entries, server, endpoints, desk, icons)
        self._build_rooms(desk, data, icons)
        self._menu_entry = WindowMenuEntry(resources, data, self)
        MenuKey(self)
        book.restored.connect(TypedAhead(self.deck, self).hand_over)  # when the deck has its tabs
        self.setWindowTitle("llama-gui")
        self.setWindowIcon(icons.icon("llama-gui", self.palette().windowText().color(), 64))
        top = TopBar(self.strip, self.actions_, icons)
        self._frame.fill(top, self.sidebar, self.deck.panes, self.panel, self.status)
        self._frame.add_bar(self.backup_offer.place)
        self._sides.divide(self._frame.sides)
        self.setMinimumSize(480, 400)
        self._connect_words()
        self._connect_rooms()
        self._restore_place()

    # Building

    def _build_places(self, icons: Icons) -> None:
        """What is seen, and the chats in it."""
        self._frame = WindowFrame(self)
        self.setCentralWidget(self._frame)
        self.strip = TabStrip(icons)
        self.deck = TabDeck(self._book, self.strip.bar, icons, self)
        self.chats = ChatListItemModel(self._book, self)
        self.sidebar = Sidebar(self.chats, self._book.search, icons, self._frame.sides)
        self.panel = SettingsPanel(icons, self._frame.sides)
        self.status = StatusLine()
        self.notifier = Notifier(self)

    def _build_models(
        self,
        entries: Callable[[Sequence[str]], list[ModelEntry]],
        server: ServerHost,
        endpoints: EndpointDesk,
        desk: ModelDesk,
        icons: Icons,
    ) -> None:
        """Models: those of others, those that are open, those that are not."""
        now, keep = self._kept.now, self._kept.keep
        self.connections = WindowConnections(server, endpoints, self._book, icons, now, keep, self)
        self.models = WindowModels(
            ModelParts(self._host, self.deck, self.panel, self.status, desk.planner, icons),
            lambda opened: [*entries(opened), *self.connections.entries()],
            now,
            keep,
            self.actions_.keys("models"),
            self,
        )
        self.library = WindowLibrary(LibraryParts(self._host, desk, icons, now, keep, self.models.choose), self)
        self.models.front_changed.connect(self.library.set_in_front)
        self.sidebar.add_foot(self.library.line)
        self.sidebar.add_foot(SideFoot(self.actions_))

    def _build_rooms(self, desk: ModelDesk, data: Path, icons: Icons) -> None:
        """What is done between them, each room one idea."""
        book, deck, kept = self._book, self.deck, self._kept
        self.keeping = ChatKeeping(book, self.chats, self.sidebar, deck, self)
        self.exchange = ExchangeDialogs(book.exchange, self.chats, self)
        self._tabs = WindowTabs(
            book, deck, self.sidebar, self.panel, self.status, self.models, self.actions_["stop"], self
        )
        self.backup_offer = BackupOffer(book, icons, self)
        self._presets = WindowPresets(book, deck, self.panel, kept, self)
        self._long_answers = LongAnswers(book, deck, self.notifier, kept, self)
        self._verbs = TabVerbs(deck, self)
        self._last_question = LastQuestion(book, deck, self)
        self._sides = WindowSides(self.sidebar, self.panel, kept, self)
        deck.room_wanted.connect(self._sides.make_room)
        self._split = WindowSplit(book, deck, self.actions_["chat_beside"], kept, self)
        self._split.rename_wanted.connect(self._sides.rename_chat)
        self._split.left.connect(self._sides.take_room_back)
        self._looks = WindowLooks(deck, kept, self)
        meaning = WindowMeaning(book.meaning, desk.shelf, kept, self)
        self._preferences = WindowPreferences(book, self._host, self._looks, kept, data, icons, meaning, self)

    def _connect_words(self) -> None:
        """What the rooms have to say: what went wrong, in a tab; what was done, in the status line."""
        for told in (
            self.models.told,
            self._book.trouble,
            self.connections.told,
            self.exchange.failed,
            self.library.told,
            self._presets.told,
            self._menu_entry.told,
        ):
            told.connect(self.tell)
        for said in (
            self._verbs.said,
            self.keeping.said,
            self.connections.said,
            self.exchange.said,
            self.library.said,
            self.backup_offer.said,
            self._menu_entry.said,
        ):
            said.connect(self.status.say)
        self._split.said.connect(self.status.say_briefly)
        self.connections.shared.connect(self.status.show_shared)
        self.library.news.connect(self.notifier.tell)
        self.library.arrived.connect(self._offer_model)
        self._kept.failed.connect(self._on_not_kept)

    def _connect_rooms(self) -> None:
        self.keeping.export_wanted.connect(self.exchange.ask_where_to)
        self.keeping.import_wanted.connect(self.exchange.ask_where_from)
        self.keeping.folder_import_wanted.connect(self.exchange.ask_for_folder)
        self.chats.set_folded(self._kept.now().folded_groups)
        self.chats.folded_changed.connect(self._on_folded)
        self.panel.open_groups(self._kept.now().open_parameters)
        self.panel.folded_changed.connect(self._on_parameters_folded)
        self.panel.picker.download_wanted.connect(self.library.show_models)
        self.panel.picker.manage_wanted.connect(self.library.show_shelf)
        self.status.models_wanted.connect(self._sides.show_models)
        self.panel.picker.servers_wanted.connect(self.connections.show_endpoints_for_chat)
        self.connections.model_wanted.connect(self.models.choose)
        self._tabs.models_wanted.connect(self.library.show_models)
        self._tabs.model_dropped.connect(self.library.take)
        self._tabs.tools_wanted.connect(self.connections.show_tools)
        parts = ActionParts(
            self.deck,
            self._verbs,
            self._sides,
            self._looks,
            self._preferences,
            self.keeping,
            self.exchange,
            self.connections,
            self.models,
            self.library,
            self._menu_entry,
        )
        connect_actions(
            self.actions_,
            parts,
            {
                "palette": self._show_palette,
                "help": self._show_help,
                "full_screen": self._toggle_full_screen,
                "quit": self.close,
            },
        )

    # What happens in it

    @Slot(str)
    def tell(self, text: str) -> None:
        """Show a sentence about something that went wrong, in the tab that is in front."""
        self._tabs.tell(text)

    @Slot(str, str)
    def _offer_model(self, name: str, path: str) -> None:
        self.keeping.offer(self.tr("{} is here.").format(name), self.tr("Use it"), partial(self.models.choose, path))

    @Slot(object)
    def _on_folded(self, groups: tuple[str, ...]) -> None:
        self._kept.keep(folded_groups=groups)

    @Slot(object)
    def _on_parameters_folded(self, is_open: tuple[str, ...]) -> None:
        self._kept.keep(open_parameters=is_open)

    @Slot(str)
    def _on_not_kept(self, text: str) -> None:
        self.status.say(text, is_error=True)

    @Slot()
    def _show_palette(self) -> None:
        from llama_gui.ui.dialogs import CommandPalette, commands_of  # here: the window shows sooner
        from llama_gui.ui.palette_finds import chat_finds, model_finds
        from llama_gui.ui.settings_places import settings_places

        places = settings_places(self.panel, self._sides.go_to_setting)
        models = model_finds(self.models.entries(), self.models.choose)
        chats = chat_finds(self._book.summaries(), self.deck.open_chat)
        CommandPalette([*commands_of(self.actions_), *places], [*models, *chats], self._sides.search_for, self).open()

    @Slot()
    def _show_help(self) -> None:
        from llama_gui.ui.dialogs import KeysDialog

        KeysDialog(self.actions_, self).open()

    @Slot()
    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._sides.fit(self.width())

    # Beginning and end

    def _restore_place(self) -> None:
        self.resize(fitted(QSize(1280, 820), self))
        geometry = QByteArray.fromBase64(QByteArray(self._kept.now().window_geometry.encode()))
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
            if not self.isMaximized() and not self.isFullScreen():
                self.resize(fitted(self.size(), self))  # it may have been on a larger screen
        self._sides.fold(self.width())

    def start(self) -> None:
        """Bring back the tabs, and load the model of the one in front."""
        self._presets.start()
        self._book.titler.set_on(self._kept.now().auto_titles)
        self.connections.start()
        self.library.start()
        self._book.restore()
        self.models.start()

    @Slot()
    def come_to_front(self) -> None:
        """Somebody looks for this window."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep everything, end the answers, and go."""
        self.panel.take_texts()
        if not self._last_question.may_close():
            event.ignore()
            return
        self._sides.keep_widths()
        self._kept.keep(window_geometry=bytes(self.saveGeometry().toBase64().data()).decode())
        self.hide()
        self.connections.shutdown()
        self._book.shutdown()
        self.library.shutdown()
        event.accept()
