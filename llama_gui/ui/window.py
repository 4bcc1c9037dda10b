"""The main window: top bar, chat list, tabs, settings, status, and the keys that move between them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.endpoint_desk import EndpointDesk
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.item_models import ChatListItemModel
from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.bridge.server_host import ServerHost
from llama_gui.errors import SettingsError
from llama_gui.settings import MAX_ZOOM, MIN_ZOOM, UserSettings
from llama_gui.ui.actions import Actions
from llama_gui.ui.chat_keeping import ChatKeeping
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.dialogs import CommandPalette, KeysDialog
from llama_gui.ui.exchange_dialogs import ExchangeDialogs
from llama_gui.ui.icons import Icons
from llama_gui.ui.message_actions import UNDO_SECONDS
from llama_gui.ui.notifier import LONG_S, Notifier
from llama_gui.ui.preferences import PREFERENCES, PreferencesDialog
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.ui.sidebar import Sidebar
from llama_gui.ui.status_line import StatusLine
from llama_gui.ui.tabs import STRIP_HEIGHT, TabStrip
from llama_gui.ui.theme import COLOR_SCHEMES, ColorScheme, apply_theme
from llama_gui.ui.widgets import Button, Surface
from llama_gui.ui.window_connections import WindowConnections
from llama_gui.ui.window_library import LibraryParts, WindowLibrary
from llama_gui.ui.window_models import ModelParts, WindowModels
from llama_gui.vocabulary import DEFAULT_SAMPLING, ChatSettings, ModelEntry, Timings

NARROW = 900


class MainWindow(QMainWindow):
    """Shows the chats of a book and the state of a host. `start` brings the tabs back and loads a model.

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
        self._settings = settings
        self._save_settings = save_settings
        self._data = data
        self._is_wide = True
        self._untold: list[str] = []  # trouble from before the first tab was there
        icons = self._icons = Icons(resources / "icons")
        self.actions_ = Actions(self)
        self.strip = TabStrip(icons)
        self.deck = TabDeck(book, self.strip.bar, icons, self)
        self.chats = ChatListItemModel(book, self)
        self.sidebar = Sidebar(self.chats, book.search, icons)
        self.keeping = ChatKeeping(book, self.chats, self.sidebar, self.deck, self)
        self.exchange = ExchangeDialogs(book.exchange, self.chats, self)
        self.panel = SettingsPanel(self._list_models, icons)
        self.status = StatusLine()
        self.connections = WindowConnections(server, endpoints, lambda: self._settings, self._keep, self)
        self.models = WindowModels(
            ModelParts(host, self.deck, self.panel, self.status, icons),
            lambda opened: [*entries(opened), *self.connections.entries()],
            lambda: self._settings,
            self._keep,
            self.actions_.keys("models"),
            self,
        )
        self.library = WindowLibrary(
            LibraryParts(host, desk, icons, lambda: self._settings, self._keep, self.models.choose), self
        )
        self.sidebar.add_foot(self.library.line)
        self._presets = book.presets
        self.notifier = Notifier(self)
        self.setWindowTitle("llama-gui")
        self.setWindowIcon(icons.icon("llama-gui", self.palette().windowText().color(), 64))
        self._lay_out(icons)
        self._connect_actions()
        self._connect_parts()
        self._restore_window()

    # Building

    def _lay_out(self, icons: Icons) -> None:
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.sidebar)
        middle.addWidget(self.deck.stack, 1)
        middle.addWidget(self.panel)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._top_bar(icons))
        layout.addLayout(middle, 1)
        layout.addWidget(self.status)
        self.setCentralWidget(centre)
        self.setMinimumSize(480, 400)

    def _top_bar(self, icons: Icons) -> QWidget:
        bar = Surface("side", "bottom")
        bar.setFixedHeight(STRIP_HEIGHT)
        menu, panel = Button(icons, "menu", height=30), Button(icons, "panel", height=30)
        palette = Button(icons, text=self.actions_.keys("palette"), look="outlined", height=24, pixels=11)
        menu.stand_for(self.actions_["sidebar"])
        panel.stand_for(self.actions_["settings_panel"])
        palette.stand_for(self.actions_["palette"])
        self.strip.new_button.stand_for(self.actions_["new_tab"])
        layout = QHBoxLayout(bar)
        layout.setContentsMargins(5, 0, 5, 0)
        layout.setSpacing(4)
        layout.addWidget(menu)
        layout.addWidget(self.strip, 1)
        layout.addSpacing(12)
        layout.addWidget(palette)
        layout.addSpacing(4)
        layout.addWidget(panel)
        return bar

    def _connect_actions(self) -> None:
        deck = self.deck
        runs: dict[str, Callable[[], object]] = {
            "new_tab": deck.new_tab,
            "close_tab": deck.close_current,
            "reopen_tab": deck.reopen,
            "next_tab": partial(deck.step, 1),
            "previous_tab": partial(deck.step, -1),
            "stop": self._stop,
            "regenerate": self._regenerate,
            "edit_last": partial(self._on_last_message, "edit"),
            "previous_version": partial(self._on_last_message, "previous"),
            "next_version": partial(self._on_last_message, "next"),
            "continue_answer": partial(self._on_last_message, "continue"),
            "edit_answer": partial(self._on_last_message, "edit_answer"),
            "run_again": partial(self._on_last_message, "run_again"),
            "fork": partial(self._on_last_message, "fork"),
            "copy_answer": self._copy_answer,
            "branches": self._show_branches,
            "reasoning": self._toggle_reasoning,
            "find": self._find,
            "find_next": partial(self._find_step, 1),
            "find_previous": partial(self._find_step, -1),
            "focus_composer": self._focus_composer,
            "models": self._show_models,
            "find_models": self.show_models,
            "manage_models": self.library.show_shelf,
            "open_model": self.models.ask_for_folder,
            "open_model_file": self.models.ask_for_file,
            "regenerate_with": partial(self._on_last_message, "regenerate_with"),
            "rename_chat": partial(self._on_current_chat, self._rename_chat),
            "delete_chat": partial(self._on_current_chat, self.keeping.delete),
            "archive_chat": partial(self._on_current_chat, partial(self.keeping.archive, archived=True)),
            "import_chats": self.exchange.ask_where_from,
            "import_folder": self.exchange.ask_for_folder,
            "export_chat": partial(self._on_current_chat, lambda chat_id: self.exchange.ask_where_to([chat_id])),
            "export_all": partial(self.exchange.ask_where_to, []),
            "bin": self.keeping.show_bin,
            "sidebar": partial(self._toggle, "sidebar"),
            "settings_panel": partial(self._toggle, "panel"),
            "search": self._search,
            "zoom_in": partial(self._zoom_by, 0.1),
            "zoom_out": partial(self._zoom_by, -0.1),
            "zoom_reset": partial(self._set_zoom, 1.0),
            "server": self.connections.show_server,
            "endpoints": self.connections.show_endpoints,
            "preferences": self._show_preferences,
            "palette": self._show_palette,
            "help": self._show_help,
            "quit": self.close,
            **{f"tab_{number}": partial(deck.go_to, number) for number in range(1, 10)},
            **{f"scheme_{scheme}": partial(self.set_scheme, scheme) for scheme in COLOR_SCHEMES},
        }
        for name, run in runs.items():
            self.actions_[name].triggered.connect(lambda _=False, run=run: run())

    def _connect_parts(self) -> None:
        book = self._book
        self.models.told.connect(self.tell)
        book.restored.connect(self.deck.restore)
        book.answering_changed.connect(self._on_answering)
        book.answering_changed.connect(self._notify)
        book.trouble.connect(self.tell)
        self.deck.tab_added.connect(self._on_tab_added)
        self.deck.current_changed.connect(self._on_current)
        self.deck.tabs_changed.connect(self._keep_tabs)
        self.sidebar.chat_chosen.connect(self.deck.open_chat)
        self.sidebar.hit_chosen.connect(self.deck.open_message)
        self.connections.said.connect(self.status.say)
        self.connections.told.connect(self.tell)
        self.keeping.export_wanted.connect(self.exchange.ask_where_to)
        self.keeping.import_wanted.connect(self.exchange.ask_where_from)
        self.exchange.said.connect(self.status.say)
        self.exchange.failed.connect(self.tell)
        self.chats.set_folded(self._settings.folded_groups)
        self.chats.folded_changed.connect(self._on_folded)
        self.panel.settings_edited.connect(self._on_settings_edited)
        self.panel.picker.download_wanted.connect(self.show_models)
        self.panel.picker.manage_wanted.connect(self.library.show_shelf)
        self.library.said.connect(self.status.say)
        self.library.told.connect(self.tell)
        self.library.news.connect(self.notifier.tell)
        self._connect_presets()
        self.panel.show_defaults(DEFAULT_SAMPLING)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_scheme)

    def _connect_presets(self) -> None:
        presets, picker, bar = self._presets, self.panel.presets, self.panel.preset_bar
        picker.save_wanted.connect(presets.save)
        picker.rename_wanted.connect(presets.rename)
        picker.delete_wanted.connect(presets.delete)
        picker.default_wanted.connect(self._set_default_preset)
        picker.show_default(self._settings.default_preset)
        presets.changed.connect(picker.show_presets)
        presets.changed.connect(self._set_first_settings)
        presets.renamed.connect(self._on_preset_renamed)
        presets.failed.connect(self.tell)
        presets.done.connect(self._on_preset_done)
        bar.accepted.connect(presets.undo)

    @Slot(str)
    def _set_default_preset(self, name: str) -> None:
        self._keep(default_preset=name)
        self.panel.presets.show_default(name)
        self._set_first_settings()

    @Slot()
    def _set_first_settings(self) -> None:
        first = self._presets.presets().get(self._settings.default_preset, ChatSettings())
        self._book.first_settings = first

    @Slot(str, str)
    def _on_preset_renamed(self, name: str, new_name: str) -> None:
        if self._settings.default_preset == name:
            self._set_default_preset(new_name)
        for tab in self.deck.tabs():
            if tab.session.settings.preset == name:
                tab.session.set_settings(replace(tab.session.settings, preset=new_name))

    @Slot(str, str)
    def _on_preset_done(self, what: str, name: str) -> None:
        text = self.tr("“{}” was deleted.") if what == "deleted" else self.tr("“{}” was replaced.")
        self.panel.preset_bar.offer(text.format(name), self.tr("Undo"), UNDO_SECONDS)

    def start(self) -> None:
        """Bring back the tabs, and load the model of the last time or the one that comes with us."""
        self._presets.load()  # before the tabs: a new one may begin with a preset
        self._book.titler.set_on(self._settings.auto_titles)
        self.connections.start()
        self.library.start()
        self._book.restore()
        self.models.start()

    def _list_models(self) -> list[ModelEntry]:
        return self.models.entries()

    @Slot()
    def show_models(self) -> None:
        """Open the window in which models are found and kept."""
        self.library.show_models()

    @Slot()
    def _show_models(self) -> None:
        self._set_shown("panel", True)
        self.panel.picker.open_menu()

    # Tabs

    @Slot(object)
    def _on_tab_added(self, tab: ChatTab) -> None:
        self.models.add_tab(tab)
        tab.transcript.set_zoom(self._settings.zoom)
        tab.session.settings_changed.connect(self._on_session_settings)
        tab.about_to_send.connect(self.panel.take_texts)
        tab.messages.said.connect(self.status.say)
        tab.messages.editing_changed.connect(self._on_answering)
        tab.session.edits.forked.connect(self.deck.open_chat)
        tab.welcome.models_wanted.connect(self.show_models)
        tab.model_dropped.connect(self.library.take)

    @Slot(object)
    def _on_current(self, tab: ChatTab) -> None:
        self.panel.show_settings(tab.session.settings)
        self.models.show()
        self.sidebar.show_current(tab.session.chat_id)
        self._on_answering()
        untold, self._untold = self._untold, []
        for text in untold:
            tab.notice.add(text)

    @Slot()
    def _keep_tabs(self) -> None:
        self._book.save_tabs(self.deck.open_tabs())

    @Slot()
    def _on_answering(self) -> None:
        self.status.set_answering(self.deck.answering_count())
        tab = self.deck.current()
        self.actions_["stop"].setEnabled(tab is not None and (tab.session.answering or tab.messages.editing))

    @Slot(str, bool)
    def _notify(self, chat_id: str, answering: bool) -> None:
        """Tell of a long answer that has ended while the user was elsewhere."""
        session = next((session for session in self._book.sessions() if session.chat_id == chat_id), None)
        result = session.last_result if session is not None else None
        if answering or session is None or result is None or not self._settings.notify:
            return
        if result.finish_reason != "cancelled" and _took(result.timings) >= LONG_S:
            self.notifier.tell(session.title, self.tr("The answer is finished."))

    @Slot(object)
    def _on_settings_edited(self, settings: ChatSettings) -> None:
        tab = self.deck.current()
        if tab is not None:
            tab.session.set_settings(settings)

    @Slot(object)
    def _on_session_settings(self, settings: ChatSettings) -> None:
        tab = self.deck.current()
        if tab is not None and self.sender() is tab.session:
            self.panel.show_settings(settings)

    @Slot(str)
    def tell(self, text: str) -> None:
        """Show a sentence about something that went wrong, in the tab that is in front."""
        tab = self.deck.current()
        if tab is not None:
            tab.notice.add(text)
        else:
            self._untold.append(text)

    @Slot(object)
    def _on_folded(self, groups: tuple[str, ...]) -> None:
        self._keep(folded_groups=groups)

    def _on_current_chat(self, run: Callable[[str], object]) -> None:
        if tab := self.deck.current():
            run(tab.session.chat_id)

    # Actions on the current tab

    def _stop(self) -> None:
        if (tab := self.deck.current()) and not tab.messages.leave():
            tab.session.stop()

    def _regenerate(self) -> None:
        if (tab := self.deck.current()) and tab.session.path():
            tab.session.regenerate()

    def _on_last_message(self, verb: str) -> None:
        if tab := self.deck.current():
            tab.messages.run_on_last(verb)

    def _copy_answer(self) -> None:
        tab = self.deck.current()
        if tab is not None and tab.copy_last_answer():
            self.status.say(self.tr("The last answer is on the clipboard."))

    def _show_branches(self) -> None:
        if (tab := self.deck.current()) and tab.session.path():
            tab.show_branches()

    def _toggle_reasoning(self) -> None:
        if tab := self.deck.current():
            tab.transcript.toggle_last_reasoning()

    def _find(self) -> None:
        if (tab := self.deck.current()) and tab.session.path():
            tab.find_bar.open()

    def _find_step(self, by: int) -> None:
        if (tab := self.deck.current()) and tab.session.path():
            if tab.find_bar.isHidden():
                tab.find_bar.open()
            else:
                tab.find_bar.step(by)

    def _focus_composer(self) -> None:
        if tab := self.deck.current():
            tab.focus_composer()

    # The look

    def set_scheme(self, scheme: ColorScheme) -> None:
        """Dress in light, in dark, or as the system asks, and remember it."""
        self._keep(color_scheme=scheme)
        self._dress()

    @Slot()
    def _on_system_scheme(self) -> None:
        if self._settings.color_scheme == "system":
            self._dress()

    def _dress(self) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, self._settings.color_scheme)

    def _zoom_by(self, step: float) -> None:
        self._set_zoom(self._settings.zoom + step)

    def _set_zoom(self, zoom: float) -> None:
        zoom = round(min(MAX_ZOOM, max(MIN_ZOOM, zoom)), 2)
        self._keep(zoom=zoom)
        for tab in self.deck.tabs():
            tab.transcript.set_zoom(zoom)

    # Side bar and panel

    def _toggle(self, part: str) -> None:
        widget = self.sidebar if part == "sidebar" else self.panel
        self._set_shown(part, widget.isHidden())

    def _set_shown(self, part: str, shown: bool) -> None:
        widget, other = (self.sidebar, self.panel) if part == "sidebar" else (self.panel, self.sidebar)
        widget.setVisible(shown)
        if self._is_wide:
            self._keep(sidebar_open=not self.sidebar.isHidden(), settings_panel_open=not self.panel.isHidden())
        elif shown:  # there is room for one
            other.hide()

    def _fold(self, is_wide: bool) -> None:
        self._is_wide = is_wide
        self.sidebar.setVisible(is_wide and self._settings.sidebar_open)
        self.panel.setVisible(is_wide and self._settings.settings_panel_open)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= NARROW
        if is_wide != self._is_wide:
            self._fold(is_wide)

    def _search(self) -> None:
        self._set_shown("sidebar", True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    def _rename_chat(self, chat_id: str) -> None:
        self._set_shown("sidebar", True)
        self.sidebar.leave_search()
        self.sidebar.view.rename(chat_id)

    def _show_preferences(self) -> None:
        dialog = PreferencesDialog(self._settings, self._data, self._icons, self)
        dialog.changed.connect(self._on_preferences)
        dialog.open()

    @Slot(object)
    def _on_preferences(self, settings: UserSettings) -> None:
        self._keep(**{name: getattr(settings, name) for name in PREFERENCES})
        self._host.models.unload_after(settings.unload_after_minutes)
        self._set_zoom(settings.zoom)
        self._book.titler.set_on(settings.auto_titles)
        self._dress()

    def _show_palette(self) -> None:
        CommandPalette(self.actions_, self).open()

    def _show_help(self) -> None:
        KeysDialog(self.actions_, self).open()

    # Beginning and end

    def _restore_window(self) -> None:
        self.resize(1280, 820)
        geometry = QByteArray.fromBase64(QByteArray(self._settings.window_geometry.encode()))
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        self._fold(self.width() >= NARROW)

    def _keep(self, **changes: object) -> None:
        settings = replace(self._settings, **changes)  # pyright: ignore[reportArgumentType]
        if settings == self._settings:
            return
        self._settings = settings
        try:
            self._save_settings(settings)
        except SettingsError as error:
            self.status.say(str(error), is_error=True)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep everything, end the answers, and go."""
        self.panel.take_texts()
        self._book.save_tabs(self.deck.open_tabs())
        self._keep(window_geometry=bytes(self.saveGeometry().toBase64().data()).decode())
        self.hide()
        self.connections.shutdown()
        self._book.shutdown()
        self.library.shutdown()
        event.accept()


def _took(timings: Timings) -> float:
    """Seconds from the question to the end of the answer."""
    return timings.queued + timings.prefill + timings.decode
