"""What of the window is about models that are not open: finding them, fetching them, taking those that are dropped."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QMessageBox

from llama_gui.bridge.download_host import model_path
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.settings import UserSettings
from llama_gui.ui.composer import dropped_paths, model_among
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.download_line import DownloadLine
from llama_gui.ui.models.words import percent, plain, size_words
from llama_gui.ui.screen_room import fitted
from llama_gui.vocabulary import STARTER, ModelEntry, ModelInfo, is_remote

if TYPE_CHECKING:
    from llama_gui.library.download_queue import QueuedDownload, QueueTotals
    from llama_gui.ui.models.window import ModelsWindow

KEPT = ("offline", "download_limit", "model_folders")
"""What of the settings is chosen in the window of models."""


@dataclass(frozen=True, slots=True)
class LibraryParts:
    """What it works with. `settings` and `keep` read and change the user's settings, `choose` opens a model."""

    host: EngineHost
    desk: ModelDesk
    icons: Icons
    settings: Callable[[], UserSettings]
    keep: Callable[..., None]
    choose: Callable[[str], None]


class WindowLibrary(QObject):
    """Opens the window of models, shows how far downloads are, and asks about models that are dropped."""

    said = Signal(str)
    """One line about what is going on."""
    news = Signal(str, str)
    """A title and a sentence for the desktop: the user may be elsewhere."""
    arrived = Signal(str, str)
    """A model is here, whose window is not seen: its name and its path."""
    told = Signal(str)
    """What went wrong."""

    def __init__(self, parts: LibraryParts, window: QMainWindow) -> None:
        super().__init__(window)
        self._parts = parts
        self._window = window
        self._title = ""
        self._opened: ModelsWindow | None = None
        self._in_front = ""  # the model of the chat in front
        self.line = DownloadLine(parts.desk.downloads)
        self.line.clicked.connect(self.show_models)
        desk, host = parts.desk, parts.host
        desk.adviser.freed = desk.planner.freed = self._freed
        desk.adviser.cache_dtype_of = self._cache_dtype_of
        desk.downloads.totals_changed.connect(self._show_totals)
        desk.downloads.finished.connect(self._on_finished)
        desk.downloads.trouble.connect(self.told)
        desk.shelf.looked_at.connect(self._ask_about)
        desk.shelf.look_failed.connect(self._on_look_failed)
        host.loaded.connect(self._on_loaded)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def start(self) -> None:
        """Go on with the downloads of the last time."""
        self._parts.desk.apply(self._parts.settings())
        self._parts.desk.start()

    def shutdown(self) -> bool:
        """Pause the downloads; False: a thread did not end in time."""
        return self._parts.desk.shutdown()

    # The window of models

    @Slot()
    def show_models(self) -> None:
        """Open it where models were looked for last, first on what we recommend."""
        self._show("recommended" if self.models_window.page() == "shelf" else "")

    @Slot()
    def show_shelf(self) -> None:
        """Open it on what is on this machine, at the model of the chat in front."""
        self._show("shelf")
        self.models_window.mark_open_model()

    @property
    def models_window(self) -> "ModelsWindow":
        """The window of models, made when it is first asked for."""
        if self._opened is None:
            parts = self._parts
            from llama_gui.ui.models.window import ModelsWindow  # here: the main window shows sooner

            made = self._opened = ModelsWindow(parts.desk, parts.settings(), parts.icons, self._window)
            made.model_chosen.connect(parts.choose)
            made.settings_changed.connect(self._on_settings)
            made.resize(fitted(made.sizeHint(), made))
            made.show_page("recommended")
            parts.desk.shelf.scan()
        return self._opened

    def _show(self, page: str) -> None:
        parts, opened = self._parts, self.models_window
        parts.desk.apply(parts.settings())
        opened.set_settings(parts.settings())
        opened.set_open_model(self._in_front)
        was_visible = opened.isVisible()
        if page or not was_visible:
            opened.show_page(page or opened.page())
        opened.show()
        if was_visible:
            opened.raise_()
        opened.activateWindow()

    @Slot(object)
    def _on_settings(self, settings: UserSettings) -> None:
        self._parts.keep(**{name: getattr(settings, name) for name in KEPT})
        self._parts.desk.apply(self._parts.settings())

    def _freed(self) -> int:
        """The models in memory would make room for another."""
        models = self._parts.host.models
        engines = [models.engine_of(key) for key in models.loaded_keys()]
        return sum(engine.stats().weight_bytes for engine in engines if engine is not None)

    def _cache_dtype_of(self, key: str) -> str:
        options = self._parts.settings().load_options.get(key)
        return "auto" if options is None else options.cache_dtype

    @Slot(str, object)
    def _on_loaded(self, key: str, info: ModelInfo) -> None:
        if key != STARTER and not is_remote(key) and not info.embeds:  # those are loaded unasked, too
            self._parts.desk.shelf.note_use(key)
            self._parts.desk.apply(self._parts.settings())

    @Slot(str)
    def set_in_front(self, key: str) -> None:
        """The model of the chat in front is another."""
        self._in_front = key
        if self._opened is not None:
            self._opened.set_open_model(key)

    # Downloads

    @Slot(object)
    def _show_totals(self, totals: "QueueTotals") -> None:
        """How far everything is, before the name of the window."""
        if not self._title:
            self._title = self._window.windowTitle()
        far = f"{percent(totals.bytes_done, totals.bytes_total)} % · " if totals.count else ""
        self._window.setWindowTitle(far + self._title)

    @Slot(object)
    def _on_finished(self, item: "QueuedDownload") -> None:
        name = plain(item.plan.repo, 80)
        self.said.emit(self.tr("{} is here. Open it with the model picker.").format(name))
        if self._opened is None or not self._opened.isVisible():  # there it can be opened as well
            self.arrived.emit(name, model_path(item))
        if self._parts.settings().notify:
            self.news.emit(name, self.tr("The download is finished."))

    # What is dropped

    def take(self, path: str) -> None:
        """A file or folder was dropped that could be a model: look at it, then ask."""
        self.said.emit(self.tr("Looking at {}…").format(plain(Path(path).name, 80)))
        self._parts.desk.shelf.look_at(path)

    @Slot(object)
    def _ask_about(self, entry: ModelEntry) -> None:
        self.said.emit("")
        title = self.tr("Open {}?").format(plain(entry.name, 80))
        buttons = QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, buttons, self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        text = self.tr("{} with {}. It stays where it lies, and is listed with your models from now on.")
        box.setInformativeText(text.format(plain(entry.path, 400), size_words(entry.size)))
        box.setDefaultButton(QMessageBox.StandardButton.Open)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(lambda result, path=entry.path: self._on_answer(path, result))
        box.open()

    def _on_answer(self, path: str, result: int) -> None:
        if result == QMessageBox.StandardButton.Open:
            self._parts.choose(path)

    @Slot(str)
    def _on_look_failed(self, text: str) -> None:
        self.said.emit("")
        self.told.emit(text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Models may be dropped anywhere on the window."""
        if isinstance(event, QDropEvent):  # QDragEnterEvent is one, too
            path = model_among(dropped_paths(event.mimeData()))
            if path and event.type() in (QEvent.Type.DragEnter, QEvent.Type.Drop):
                event.acceptProposedAction()
                if not isinstance(event, QDragEnterEvent):
                    self.take(path)
                return True
        return False
