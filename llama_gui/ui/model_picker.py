"""The model of the current chat: which one, how it is loaded, how far it is; its menu holds the others."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu

from llama_gui.ui.icons import Icons
from llama_gui.ui.model_menu import ModelMenu
from llama_gui.ui.picker import Picker
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import theme_of
from llama_gui.ui.widgets import plain_action, plain_tip
from llama_gui.vocabulary import ModelEntry, ModelInfo, is_remote

_BAR = 3.0
_CANCEL_WIDTH = 32


class ModelPicker(Picker):
    """Shows the model in use; its menu holds the others, the way to how this one runs, and what unloads them."""

    model_chosen = Signal(str)
    """Key."""
    options_wanted = Signal()
    """How the model in use runs is to be chosen."""
    unload_wanted = Signal(str)
    cancel_wanted = Signal()
    folder_wanted = Signal()
    file_wanted = Signal()
    download_wanted = Signal()
    manage_wanted = Signal()
    servers_wanted = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons)
        self._entries: Callable[[], list[ModelEntry]] = list
        self._loaded: Callable[[], Mapping[str, tuple[str, int]]] = dict
        self._key = ""
        self._fraction: float | None = None
        self.clicked.connect(self.open_menu)
        self.set_model("", "")

    # What it shows

    def set_model(self, name: str, key: str, info: ModelInfo | None = None) -> None:
        """Show a model as the one in use. `info`: when it is loaded."""
        self._key = key
        self.setText(name or self.tr("No model"))
        self.setAccessibleName(self.tr("Model: {}").format(self.text()))
        lines = (info.path, info.source, problem_text(info.reason)) if info else (key,)
        self.setToolTip(plain_tip("\n".join(line for line in lines if line)))
        self.update()

    def offer(
        self, entries: Callable[[], list[ModelEntry]], loaded: Callable[[], Mapping[str, tuple[str, int]]] = dict
    ) -> None:
        """Whom to ask for the menu: the models, and of those in memory key -> name and how many answers it writes."""
        self._entries, self._loaded = entries, loaded

    def set_progress(self, fraction: float | None) -> None:
        """How much of the model is in memory, 0 to 1; None: it is not on its way."""
        self._fraction = fraction
        self.set_icon("chevron-down" if fraction is None else "close")
        self.set_note("" if fraction is None else f"{fraction * 100:.0f} %")
        self.setAccessibleDescription("" if fraction is None else self.tr("Loading. Esc cancels."))

    @property
    def is_loading(self) -> bool:
        """Whether the model that it shows is on its way."""
        return self._fraction is not None

    # The menu

    @Slot()
    def open_menu(self) -> None:
        """Show the models."""
        self.pop_up(self.make_menu())

    def make_menu(self) -> QMenu:
        """The models, and the way to others."""
        menu = ModelMenu(self._icons, self)
        loaded = self._loaded()
        menu.add_models(self._entries(), loaded.keys(), self._key)
        menu.chosen.connect(self.model_chosen)
        menu.addSeparator()
        if self.is_loading:
            menu.addAction(self.tr("Cancel loading")).triggered.connect(self.cancel_wanted)
        if self._key and not is_remote(self._key):
            menu.addAction(self.tr("Context length, precision…")).triggered.connect(self.options_wanted)
        self._add_unload(menu, loaded)
        menu.addSeparator()
        menu.addAction(self.tr("Open model folder…")).triggered.connect(self.folder_wanted)
        menu.addAction(self.tr("Open GGUF file…")).triggered.connect(self.file_wanted)
        menu.addAction(self.tr("Find and download models…")).triggered.connect(self.download_wanted)
        menu.addAction(self.tr("Manage models…")).triggered.connect(self.manage_wanted)
        menu.addAction(self.tr("Remote servers…")).triggered.connect(self.servers_wanted)
        return menu

    def _add_unload(self, menu: QMenu, loaded: Mapping[str, tuple[str, int]]) -> None:
        here = {key: model for key, model in loaded.items() if not is_remote(key)}  # a server keeps its own in memory
        if not here:
            return
        place = menu if len(here) == 1 else menu.addMenu(self.tr("Unload"))
        for key, (name, answers) in here.items():
            text = self.tr("Unload {}").format(name) if place is menu else name
            if answers:
                text += self.tr("  ·  ends its answers: {}").format(answers)
            place.addAction(plain_action(text)).triggered.connect(partial(self._unload, key))

    def _unload(self, key: str, _checked: bool = False) -> None:
        self.unload_wanted.emit(key)

    # Cancelling

    def event(self, event: QEvent) -> bool:
        is_esc = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_esc and self.is_loading and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # else Esc would stop an answer
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.is_loading:
            self.cancel_wanted.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.is_loading and self._is_on_icon(event.position().toPoint()):
            self.cancel_wanted.emit()
        else:
            super().mousePressEvent(event)

    def _is_on_icon(self, place: QPoint) -> bool:
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        return place.x() < _CANCEL_WIDTH if mirrored else place.x() > self.width() - _CANCEL_WIDTH

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._fraction is None:
            return
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        line = QRectF(6, self.height() - _BAR - 1, self.width() - 12, _BAR - 1)
        painter.fillRect(line, theme_of(self).color("line"))
        done = line.width() * self._fraction
        left = line.right() - done if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else line.left()
        painter.fillRect(QRectF(left, line.top(), done, line.height()), theme_of(self).color("accent"))
