"""The two sides of the window, chat list and settings: which are open, and who makes room when it is narrow."""

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QSplitter

from llama_gui.ui.kept_settings import KeptSettings
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.ui.sidebar import Sidebar

_DRAGGING_MS = 500
NARROW = 900
"""Below this width in pixels, one side is open at a time, and none at first."""


class WindowSides(QObject):
    """Opens and closes them. What the user has opened in a wide window is remembered."""

    def __init__(
        self, sidebar: Sidebar, panel: SettingsPanel, kept: KeptSettings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._sidebar = sidebar
        self._panel = panel
        self._kept = kept
        self._is_wide = True
        self._has_made_room = False
        self._splitter: QSplitter | None = None
        self._widths: dict[str, int] = {}
        self._moved = QTimer(self, singleShot=True, interval=_DRAGGING_MS)
        self._moved.timeout.connect(self.keep_widths)

    def divide(self, splitter: QSplitter) -> None:
        """Give both sides the widths of the last time, and remember those that the user drags them to."""
        self._splitter = splitter
        settings = self._kept.now()
        rest = max(1, splitter.width() - settings.sidebar_width - settings.panel_width)
        splitter.setSizes([settings.sidebar_width, rest, settings.panel_width])
        splitter.splitterMoved.connect(self._on_moved)

    @Slot()
    def _on_moved(self) -> None:
        parts = {"sidebar_width": self._sidebar, "panel_width": self._panel}
        self._widths |= {name: part.width() for name, part in parts.items() if part.isVisible()}
        self._moved.start()

    @Slot()
    def keep_widths(self) -> None:
        """Remember how wide the sides were dragged."""
        self._moved.stop()
        self._kept.keep(**self._widths)

    @Slot()
    def toggle_sidebar(self) -> None:
        """Show the chat list, or hide it."""
        self._show_sidebar(self._sidebar.isHidden())

    @Slot()
    def toggle_panel(self) -> None:
        """Show the settings, or hide them."""
        self._show_panel(self._panel.isHidden())

    @Slot()
    def show_models(self) -> None:
        """Open the model picker, where it stands."""
        self._show_panel(True)
        self._share_width()
        self._panel.picker.open_menu()

    @Slot()
    def show_presets(self) -> None:
        """Open the menu of presets, where it stands."""
        self._show_panel(True)
        self._share_width()
        self._panel.presets.open_menu()

    def go_to_setting(self, name: str) -> None:
        """Put the keyboard into a field of the settings, where it stands."""
        self._show_panel(True)
        self._panel.go_to(name)

    @Slot()
    def search(self) -> None:
        """Put the keyboard into the search of all chats."""
        self._show_sidebar(True)
        self._sidebar.begin_search()

    def search_for(self, words: str) -> None:
        """Search all chats for these words."""
        self.search()
        self._sidebar.search.setText(words)

    def rename_chat(self, chat_id: str) -> None:
        """Let the user name a chat in its row. One in which nothing was said yet has none."""
        if not self._sidebar.view.reveal(chat_id):
            return
        self._show_sidebar(True)
        self._sidebar.leave_search()
        self._sidebar.view.rename(chat_id)

    @Slot(int)
    def make_room(self, missing: int) -> None:
        """Fold the settings away, or the chat list too, if that gives what is between them so many pixels more.

        Nothing of that is remembered: the user has not asked for it.
        """
        panel, sidebar = (0 if part.isHidden() else part.width() for part in (self._panel, self._sidebar))
        if missing > panel + sidebar:
            return
        self._has_made_room = True
        self._panel.hide()
        if missing > panel:
            self._sidebar.hide()
        self._share_width()

    @Slot()
    def take_room_back(self) -> None:
        """Open again what was folded away to make room."""
        if self._has_made_room and self._is_wide:
            self._open_as_kept()

    def fit(self, width: int) -> None:
        """The window has this width now; what is open changes only when it becomes narrow, or wide again."""
        if (width >= NARROW) != self._is_wide:
            self.fold(width)

    def fold(self, width: int) -> None:
        """Open what was open in a wide window; nothing in a narrow one."""
        self._is_wide = width >= NARROW
        self._open_as_kept()

    def _open_as_kept(self) -> None:
        self._has_made_room = False
        settings = self._kept.now()
        self._sidebar.setVisible(self._is_wide and settings.sidebar_open)
        self._panel.setVisible(self._is_wide and settings.settings_panel_open)

    def _share_width(self) -> None:
        """Put everything where it belongs at once: a menu is opened there, or somebody looks how much room there is."""
        if self._splitter is not None:
            self._splitter.refresh()

    def _show_sidebar(self, shown: bool) -> None:
        self._sidebar.setVisible(shown)
        if self._is_wide:
            self._kept.keep(sidebar_open=shown)
        elif shown:  # there is room for one
            self._panel.hide()

    def _show_panel(self, shown: bool) -> None:
        self._panel.setVisible(shown)
        if self._is_wide:
            self._kept.keep(settings_panel_open=shown)
        elif shown:
            self._sidebar.hide()
