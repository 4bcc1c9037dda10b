"""What the window does for its tabs: the one in front fills panel, list and status, and says what went wrong."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from shiboken6 import isValid

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.settings_panel import SettingsPanel
from llama_gui.ui.sidebar import Sidebar
from llama_gui.ui.status_line import StatusLine
from llama_gui.ui.window_models import WindowModels
from llama_gui.vocabulary import DEFAULT_SAMPLING, ChatSettings


class WindowTabs(QObject):
    """Stands between the tabs of a deck and what is around them. `stop` is enabled while there is something to stop."""

    models_wanted = Signal()
    """A tab has no model, and the user wants one."""
    model_dropped = Signal(str)
    """A file or folder that could be a model."""
    tools_wanted = Signal()
    """The servers of tools are to be set up."""

    def __init__(
        self,
        book: ChatBook,
        deck: TabDeck,
        sidebar: Sidebar,
        panel: SettingsPanel,
        status: StatusLine,
        models: WindowModels,
        stop: QAction,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._book, self._deck, self._models = book, deck, models
        self._sidebar, self._panel, self._status, self._stop = sidebar, panel, status, stop
        self._untold: list[str] = []  # trouble from before the first tab was there
        self._shown: ChatSession | None = None  # whose settings the panel has
        book.restored.connect(deck.restore)
        book.answering_changed.connect(self._on_answering)
        deck.tab_added.connect(self._on_tab_added)
        deck.current_changed.connect(self._on_current)
        deck.tabs_changed.connect(self.keep)
        sidebar.chat_chosen.connect(self._on_chosen)
        sidebar.hit_chosen.connect(deck.open_hit)
        panel.settings_edited.connect(self._on_settings_edited)
        panel.show_defaults(DEFAULT_SAMPLING)

    @Slot(str)
    def _on_chosen(self, chat_id: str) -> None:
        self._deck.open_chat(chat_id).take_keyboard()  # also where it was in front: who chooses a chat goes on in it

    @Slot(str)
    def tell(self, text: str) -> None:
        """Show a sentence about something that went wrong, in the tab that is in front."""
        tab = self._deck.current()
        if tab is not None:
            tab.notice.add(text)
        else:
            self._untold.append(text)

    @Slot()
    def keep(self) -> None:
        """Remember which tabs are open, and what is written in them."""
        self._book.save_tabs(self._deck.open_tabs())

    @Slot(object)
    def _on_tab_added(self, tab: ChatTab) -> None:
        self._models.add_tab(tab)
        tab.session.settings_changed.connect(self._on_session_settings)
        tab.about_to_send.connect(self._panel.take_texts)
        tab.messages.said.connect(self._status.say)
        tab.messages.editing_changed.connect(self._on_answering)
        tab.session.edits.forked.connect(self._deck.open_chat)
        tab.welcome.models_wanted.connect(self.models_wanted)
        tab.model_dropped.connect(self.model_dropped)
        tab.tools.setup_wanted.connect(self.tools_wanted)
        tab.composer.meter.clicked.connect(self._models.show_options)

    @Slot(object)
    def _on_current(self, tab: ChatTab) -> None:
        self._panel.take_texts()  # what was typed a moment ago is for the chat before
        self._shown = tab.session
        self._panel.show_settings(tab.session.settings)
        self._models.show()
        self._sidebar.show_current(tab.session.chat_id)
        self._on_answering()
        untold, self._untold = self._untold, []
        for text in untold:
            tab.notice.add(text)

    @Slot()
    def _on_answering(self) -> None:
        self._status.set_answering(self._deck.answering_count())
        tab = self._deck.current()
        self._stop.setEnabled(tab is not None and (tab.session.answering or tab.messages.editing))

    @Slot(object)
    def _on_settings_edited(self, settings: ChatSettings) -> None:
        if self._shown is not None and isValid(self._shown):
            self._shown.set_settings(settings)

    @Slot(object)
    def _on_session_settings(self, settings: ChatSettings) -> None:
        if self._shown is not None and self.sender() is self._shown:
            self._panel.show_settings(settings)
