"""A menu of models: those on this machine, and those of each remote server; typing filters them."""

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QIcon, QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.sizes import size_text
from llama_gui.ui.theme import FRAME_PX, TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import plain_action
from llama_gui.vocabulary import ModelEntry

_NAME_WIDTH = 340
LONG = 8
"""From so many models on, the menu says that typing filters them."""
MOST = 16
"""So many are shown at once: with more, the menu would cover the screen, and go on beside it."""


class ModelMenu(QMenu):
    """Emits the key of the model that is chosen. A dot: it is in memory; a tick: it is the one in use."""

    chosen = Signal(str)

    def __init__(self, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setStyleSheet("ModelMenu::item { padding-left: 10px; }")  # ticks and dots are icons, which come before it
        self._icons = icons
        self._models: list[tuple[QAction, str]] = []  # and what is looked for
        self._headings: list[tuple[QAction, list[QAction]]] = []  # and the models under it
        self._typed = ""
        self._hint = QAction(self)
        self._more = QAction(self)

    def add_models(self, entries: Sequence[ModelEntry], loaded: Collection[str], current: str) -> None:
        """The models, by where they are. `loaded`: keys of those in memory."""
        self._hint = self._heading(self.tr("Type to filter"))
        self._hint.setVisible(len(entries) >= LONG)
        servers = list(dict.fromkeys(entry.endpoint for entry in entries))
        for server in servers:
            below: list[QAction] = []
            if len(servers) > 1 or server:
                self._headings.append((self._heading(server or self.tr("On this machine")), below))
            for entry in (entry for entry in entries if entry.endpoint == server):
                below.append(self._add_model(entry, entry.key in loaded, entry.key == current))
        if len(entries) > MOST:
            self._more = self._heading("")
            self._show(self._models)

    def _heading(self, text: str) -> QAction:
        action = self.addAction(plain_action(text))
        action.setEnabled(False)
        action.setFont(frame_font(TINY_PX))
        return action

    def _add_model(self, entry: ModelEntry, is_loaded: bool, is_current: bool) -> QAction:
        size = f"  ·  {size_text(entry.size)}" if entry.size else ""
        font = frame_font(FRAME_PX)
        name = QFontMetrics(font).elidedText(entry.name, Qt.TextElideMode.ElideMiddle, _NAME_WIDTH)
        sees = "  ·  " + self.tr("reads images") if entry.reads_images else ""
        action = self.addAction(plain_action(f"{name}{size}{sees}"))
        action.setFont(font)
        theme = theme_of(self)
        if is_current:
            action.setIcon(self._icons.icon("check", theme.color("accent" if is_loaded else "muted")))
        elif is_loaded:
            action.setIcon(self._icons.icon("dot", theme.color("accent")))
        else:
            action.setIcon(QIcon())
        action.setData(entry.key)
        action.setProperty("current", is_current)
        action.setProperty("loaded", is_loaded)
        action.triggered.connect(partial(self._choose, entry.key))
        self._models.append((action, f"{entry.name} {entry.endpoint}".casefold()))
        return action

    def _choose(self, key: str, _checked: bool = False) -> None:
        self.chosen.emit(key)

    # --- the filter

    def keyPressEvent(self, event: QKeyEvent) -> None:
        text = event.text()
        if event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Backspace and self._typed:
            self.filter(self._typed[:-1])
        elif event.key() == Qt.Key.Key_Escape and self._typed:
            self.filter("")
        elif text.isprintable() and text and not (text == " " and not self._typed):
            self.filter(self._typed + text)
        else:
            super().keyPressEvent(event)

    def filter(self, typed: str) -> None:
        """Show only the models whose names have all the words."""
        self._typed = typed
        words = typed.casefold().split()
        found = [model for model in self._models if all(word in model[1] for word in words)]
        self._show(found)
        nothing = self.tr("No model has this name: {}")
        shown = self.tr("Type to filter") if not typed else ("{}" if found else nothing).format(typed)
        self._hint.setText(plain_action(shown))
        self._hint.setVisible(bool(typed) or len(self._models) >= LONG)
        if found:
            self.setActiveAction(found[0][0])

    def _show(self, found: Sequence[tuple[QAction, str]]) -> None:
        """The first of these, and those in use, which are looked for most."""
        used = [action for action, _name in found if action.property("current") or action.property("loaded")]
        shown = [*used, *(action for action, _name in found if action not in used)][:MOST]
        for action, _name in self._models:
            action.setVisible(action in shown)
        for heading, below in self._headings:
            heading.setVisible(not self._typed.strip() and any(action in shown for action in below))
        self._more.setText(self.tr("and {} more").format(len(found) - len(shown)))
        self._more.setVisible(len(found) > len(shown))
