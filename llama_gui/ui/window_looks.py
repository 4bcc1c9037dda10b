"""How the window looks: its colours, and the size of the text that is read."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from llama_gui.settings import MAX_ZOOM, MIN_ZOOM
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.theme import ColorScheme, apply_theme

ZOOM_STEP = 0.1


class WindowLooks(QObject):
    """Dresses the application, and zooms all tabs alike."""

    def __init__(self, deck: TabDeck, kept: KeptSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._deck = deck
        self._kept = kept
        deck.tab_added.connect(self._on_tab_added)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_scheme)

    # Colours

    def set_scheme(self, scheme: ColorScheme) -> None:
        """Dress in light, in dark, or as the system asks, and remember it."""
        self._kept.keep(color_scheme=scheme)
        self.dress()

    def dress(self) -> None:
        """Put on the colours of the settings."""
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, self._kept.now().color_scheme)

    @Slot()
    def _on_system_scheme(self) -> None:
        if self._kept.now().color_scheme == "system":
            self.dress()

    # The size of the text

    def zoom_by(self, step: float) -> None:
        """Make the text larger, or smaller with a step below 0; 1 is its normal size."""
        self.set_zoom(self._kept.now().zoom + step)

    def set_zoom(self, zoom: float) -> None:
        """Give the text of all tabs a size, within the limits, and remember it."""
        zoom = round(min(MAX_ZOOM, max(MIN_ZOOM, zoom)), 2)
        self._kept.keep(zoom=zoom)
        for tab in self._deck.tabs():
            _zoom(tab, zoom)

    @Slot(object)
    def _on_tab_added(self, tab: ChatTab) -> None:
        _zoom(tab, self._kept.now().zoom)
        tab.zoom_wanted.connect(self._on_zoom_wanted)

    @Slot(int)
    def _on_zoom_wanted(self, steps: int) -> None:
        self.zoom_by(steps * ZOOM_STEP)


def _zoom(tab: ChatTab, zoom: float) -> None:
    tab.welcome.set_zoom(zoom)
    tab.transcript.set_zoom(zoom)
    tab.composer.set_zoom(zoom)
