"""The window's models: which one each tab has, which are loaded for them, and what is done where one does not come."""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QFileDialog, QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.load_planner import LoadPlanner
from llama_gui.errors import ModelError
from llama_gui.library import shelf
from llama_gui.settings import UserSettings
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.icons import Icons
from llama_gui.ui.load_news import LoadNews
from llama_gui.ui.model_menu import ModelMenu
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.ui.status_line import StatusLine
from llama_gui.ui.window_loading import WindowLoading
from llama_gui.vocabulary import (
    DEFAULT_SAMPLING,
    STARTER,
    EngineStats,
    LoadOptions,
    ModelEntry,
    ModelInfo,
    is_remote,
)

_MOST_RECENT = 8


@dataclass(slots=True)
class _Former:
    """What is had again where a model does not come: by the chats that have chosen it, and how it was loaded."""

    models: dict[str, str] = field(default_factory=dict)
    options: LoadOptions | None = None


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What of the window shows models."""

    host: EngineHost
    deck: TabDeck
    panel: SettingsPanel
    status: StatusLine
    planner: LoadPlanner
    icons: Icons


class WindowModels(QObject):
    """Each tab has a model; the one that is chosen becomes that of new chats, too.

    `entries` lists the models on this machine, those in the folders it is given among them, and those of remote
    servers. `settings` and `keep` read and change the user's settings. `models_keys`: the keys that open the picker.
    """

    told = Signal(str)
    """What went wrong, for the tab in front."""
    front_changed = Signal(str)
    """The key of the model of the tab in front, which is another than before."""

    def __init__(
        self,
        parts: ModelParts,
        entries: Callable[[Sequence[str]], list[ModelEntry]],
        settings: Callable[[], UserSettings],
        keep: Callable[..., None],
        models_keys: str,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._host, self._deck, self._status = parts.host, parts.deck, parts.status
        self._panel, self._picker, self._icons = parts.panel, parts.panel.picker, parts.icons
        self._list_entries = entries
        self._settings = settings
        self._keep = keep
        self._models_keys = models_keys
        self._window = window
        self._listed: dict[str, ModelEntry] = {}  # as they were listed last
        self._former: defaultdict[str, _Former] = defaultdict(_Former)
        self._is_starting = False  # nothing was loaded yet for the tab in front
        self._loading = WindowLoading(parts.planner, self.name_of, parts.icons, window)
        self._shown = ""  # the key that was told last
        self._asked_for: set[str] = set()  # models that no tab has, and that the user waits for
        self._gone: dict[str, str] = {}  # models that did not come, and what the tabs that have them are told
        self._connect()
        # After `_connect`: what there is, is listed anew before a load is told.
        self._news = LoadNews(parts.host, parts.deck, self._picker, parts.status, self.name_of, self._size_of, self)

    def _connect(self) -> None:
        host, models, picker = self._host, self._host.models, self._picker
        host.loaded.connect(self._on_loaded)
        host.load_failed.connect(self._on_load_failed)
        host.load_cancelled.connect(self._on_cancelled)
        host.current_changed.connect(self._on_current_model)
        host.stats_changed.connect(self._on_stats)
        models.loading.connect(self._on_loading)
        models.changed.connect(self.show)
        models.devices_found.connect(self._loading.set_devices)
        self._loading.chosen.connect(self.set_options)
        self._loading.told.connect(self.told)
        picker.model_chosen.connect(self.choose)
        picker.options_wanted.connect(self.show_options)
        picker.unload_wanted.connect(models.unload)
        picker.cancel_wanted.connect(self._cancel)
        picker.folder_wanted.connect(self.ask_for_folder)
        picker.file_wanted.connect(self.ask_for_file)
        picker.offer(self.entries, self._loaded)
        self._deck.current_changed.connect(self._load_first)

    # --- what there is

    def entries(self) -> list[ModelEntry]:
        """The models that can be chosen."""
        entries = self._list_entries(self._settings().recent_models)
        self._listed = {entry.key: entry for entry in entries}
        return [entry for entry in entries if entry.chats]

    def name_of(self, key: str) -> str:
        """What the user calls a model."""
        known = (self._host.info_of(key) if key else None) or self._listed.get(key)
        return known.name if known else key.partition("#")[2] if is_remote(key) else Path(key).name

    def _size_of(self, key: str) -> int:
        return self._listed[key].size if key in self._listed else 0

    def start(self) -> None:
        """Load the model of the tab in front once its chat is read; the others are loaded when they are asked.

        A chat without its own has the model of the last time, or the one that comes with us.
        """
        settings = self._settings()
        for key, options in settings.load_options.items():
            self._host.models.set_options(key, options)
        self._host.models.unload_after(settings.unload_after_minutes)
        has_starter = any(entry.is_starter for entry in self.entries())
        key = settings.model_path or (STARTER if has_starter else "")
        if key and not self._host.current:
            self._host.set_current(key)
        self._is_starting = True
        self._load_first()

    @Slot()
    def _load_first(self) -> None:
        tab = self._deck.current()
        if self._is_starting and tab is not None and tab.session.is_loaded:
            self._is_starting = False
            if tab.session.model:
                self._host.models.load(tab.session.model)

    def _loaded(self) -> dict[str, tuple[str, int]]:
        """Key -> name and number of answers, of the models in memory."""
        host = self._host
        return {key: (self.name_of(key), host.answers_of(key)) for key in host.models.loaded_keys()}

    # --- choosing

    @Slot(str)
    def choose(self, key: str) -> None:
        """Let the tab in front have a model, and new chats, too. The other tabs keep theirs.

        One that cannot chat is only loaded: other programs can ask it then.
        """
        if self._embeds(key):
            self._asked_for.add(key)
            self._host.models.load(key)
            return
        tab = self._deck.current()
        if tab is None or not key:
            return
        if not tab.session.is_loaded:
            self.told.emit(self.tr("This chat is still being read. Choose its model again in a moment."))
            return
        tab.notice.say("")  # what went wrong the last time
        former = tab.session.settings.model
        for other in self._deck.tabs():
            if other is not tab and self._host.current and other.session.is_loaded and not other.session.settings.model:
                _give(other.session, self._host.current)
        _give(tab.session, key)
        if self._host.models.state_of(key) != "ready":
            self._former[key].models[tab.session.chat_id] = former
        self._host.load(key)
        self.show()

    def _embeds(self, key: str) -> bool:
        entry = self._listed.get(key)
        if entry is None and key and not is_remote(key):  # it was downloaded, or opened, just now
            with contextlib.suppress(ModelError):
                entry = shelf.describe(Path(key))
        return entry is not None and entry.embeds

    @Slot()
    def show_options(self) -> None:
        """Let the user choose how the model of the tab in front runs."""
        key = self._key()
        self._loading.show(key, self._host.models.options_of(key))

    @Slot(str, object)
    def set_options(self, key: str, options: LoadOptions) -> None:
        """Run a model so from now on: it is loaded again if it is there, and remembered."""
        former = self._host.models.options_of(key)
        if options == former:
            return
        self._former[key].options = self._former[key].options or former
        self._keep(load_options={**self._settings().load_options, key: options})
        self._host.reload(key, options)
        self.show()

    @Slot()
    def _cancel(self) -> None:
        self._host.models.cancel(self._key())

    @Slot()
    def ask_for_folder(self) -> None:
        """Let the user show us a model folder."""
        dialog = self._dialog(self.tr("Open model folder"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.open()

    @Slot()
    def ask_for_file(self) -> None:
        """Let the user show us a GGUF file."""
        dialog = self._dialog(self.tr("Open GGUF file"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(self.tr("GGUF models (*.gguf)"))
        dialog.open()

    def _dialog(self, title: str) -> QFileDialog:
        opened = next(iter(self._settings().recent_models), None)
        dialog = QFileDialog(self._window, title, str(Path(opened).parent if opened else Path.home()))
        dialog.fileSelected.connect(self.choose)
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def ask_again_with(self, session: ChatSession, node_id: str | None = None) -> ModelMenu:
        """Offer the models to answer a question again; the chat keeps its own."""
        menu = ModelMenu(self._icons, self._window)
        menu.add_models(self.entries(), self._host.models.loaded_keys(), session.model)
        menu.chosen.connect(lambda key: session.regenerate(node_id, model=key))
        session.destroyed.connect(menu.close)  # its tab was closed
        menu.popup(QCursor.pos())
        return menu

    def add_tab(self, tab: ChatTab) -> None:
        """Look after another tab."""
        self.name_model(tab)
        tab.session.settings_changed.connect(self._load_first)
        tab.session.settings_changed.connect(self.show)
        tab.session.model_awaited.connect(self._news.say)
        tab.messages.other_model_wanted.connect(partial(self.ask_again_with, tab.session))
        tab.notice.accepted.connect(partial(self._try_again, tab.session))
        if tab.session.model in self._gone:
            self._tell_gone(tab)

    def _try_again(self, session: ChatSession) -> None:
        self._host.models.load(session.model)

    # --- what the host tells

    @Slot(str)
    def _on_loading(self, key: str) -> None:
        sentence = self._gone.pop(key, "")
        for tab in self._deck.tabs():
            tab.notice.drop(sentence)
        self.entries()

    @Slot(str, object)
    def _on_loaded(self, key: str, info: ModelInfo) -> None:
        self._former.pop(key, None)
        self._asked_for.discard(key)
        is_on_shelf = info.embeds and key in self._listed  # and nobody has opened it
        if key != STARTER and not is_remote(key) and not is_on_shelf:
            recent = (key, *(other for other in self._settings().recent_models if other != key))
            self._keep(recent_models=recent[:_MOST_RECENT])
        self._on_current_model(self._host.current)
        self.show()

    @Slot(str)
    def _on_current_model(self, key: str) -> None:
        """Remember what new chats have."""
        if self._host.info_of(key) is not None:
            self._keep(model_path=None if key == STARTER else key)
        self.show()

    @Slot(str, str)
    def _on_load_failed(self, key: str, text: str) -> None:
        concerned = [tab for tab in self._deck.tabs() if tab.session.model == key]
        self._go_back(key)
        if self._host.models.state_of(key) == "failed":  # else it stays as it was loaded before
            self._gone[key] = self.tr("{} is not available. {}").format(self.name_of(key), problem_text(text))
        keepers = [tab for tab in concerned if tab.session.model in self._gone]
        for tab in keepers:
            tab.notice.drop(text)  # of a question that waited for it
            self._tell_gone(tab)
        if others := [tab for tab in concerned if tab not in keepers]:
            self._tell(others, text)
        if key in self._asked_for:
            self._asked_for.discard(key)
            self._tell([], text)
        if concerned or key == self._host.current:  # others were loaded for what says itself what it lacks
            self._news.say_failed()
        self.show()

    def _tell_gone(self, tab: ChatTab) -> None:
        """Nothing takes the place of a model that did not come: what it would say were not what the user asked for."""
        tab.notice.add(self._gone[tab.session.model], self.tr("Try again"))

    def _tell(self, tabs: Sequence[ChatTab], text: str) -> None:
        """Say what went wrong in these tabs, or in the one in front where there are none."""
        current = self._deck.current()
        for tab in tabs:
            if tab is not current:
                tab.notice.add(text)
        if current is None or current in tabs or not tabs:
            self.told.emit(text)

    @Slot(str)
    def _on_cancelled(self, key: str) -> None:
        self._go_back(key)
        self.show()

    def _go_back(self, key: str) -> None:
        """A model does not come: the tabs that chose it have what they had, and it is loaded as it was."""
        former = self._former.pop(key, _Former())
        for tab in self._deck.tabs():
            model = former.models.get(tab.session.chat_id)
            if model is not None and tab.session.settings.model == key:
                _give(tab.session, model)
        if former.options is not None:
            self._host.models.set_options(key, former.options)
            self._keep(load_options={**self._settings().load_options, key: former.options})

    @Slot(str, object)
    def _on_stats(self, key: str, stats: EngineStats) -> None:
        if key == self._key():
            self._status.show_stats(stats, reads_ahead=stats.running < 2 and self._host.is_reading_ahead(key))

    # --- what is shown

    def _key(self) -> str:
        tab = self._deck.current()
        return tab.session.model if tab else self._host.current

    @Slot()
    def show(self) -> None:
        """Show the model of the tab in front, and name each tab's."""
        key = self._key()
        if key != self._shown:
            self._shown = key
            self.front_changed.emit(key)
        models = self._host.models
        info = self._host.info_of(key) if key else None
        self._picker.set_model(self.name_of(key), key, info)
        if is_remote(key):
            self._panel.show_server_defaults()
        elif info is None and key:
            self._panel.show_unknown_defaults()
        else:
            self._panel.show_defaults(info.sampling if info else DEFAULT_SAMPLING)
        engine = models.engine_of(key)
        if info is None or engine is None:
            self._status.show_no_model(self.name_of(key), models.state_of(key), is_remote=is_remote(key))
        else:
            self._status.show_model(info)
            self._status.show_stats(engine.stats())
        self._news.say(key)
        for tab in self._deck.tabs():
            self.name_model(tab)

    def name_model(self, tab: ChatTab) -> None:
        """Name the tab's model in its greeting and its empty field."""
        key = tab.session.model
        state = self._host.models.state_of(key)
        tab.set_model(
            self.name_of(key),
            is_ready=state == "ready",
            is_starter=key == STARTER,
            is_coming=bool(key) and state in ("absent", "loading", "short"),  # what is absent comes when it is asked
            models_keys=self._models_keys,
        )
        info = self._host.info_of(key) if key else None
        tab.thinking.set_model(*(info.thinking, info.efforts) if info is not None else (None, ()))
        tab.tools.set_model(is_remote(key) or info.tools if info is not None else None)
        for other, sentence in self._gone.items():
            if other != key:  # the user has chosen another, or it is known only now which one the chat has
                tab.notice.drop(sentence)


def _give(session: ChatSession, key: str) -> None:
    session.set_settings(replace(session.settings, model=key))
