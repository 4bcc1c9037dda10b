"""A chat's title and its settings for the model: loaded with its messages, shown, changed, saved."""

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.chat_news import ChatNews
from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.store import StoredChat
from llama_gui.chats.tree import DEFAULT_TITLE, clean_settings, clean_text
from llama_gui.vocabulary import ChatSettings


class ChatCard(QObject):
    """Title and settings of one chat. All methods are called on the GUI thread and return at once."""

    loaded = Signal()
    """What the store has of the chat is known; emitted after `changed`."""
    unreadable = Signal()
    """The store could not be read; emitted before `failed`."""

    def __init__(self, chat_id: str, path: ShownPath, store: StoreLane, saver: ChatSaver, news: ChatNews) -> None:
        super().__init__(news)
        self._chat_id = chat_id
        self._path = path
        self._store = store
        self._saver = saver
        self._news = news
        self._title = DEFAULT_TITLE
        self._settings = self._first_settings = ChatSettings()
        self._is_loaded = False
        self._is_reading = False

    @property
    def title(self) -> str:
        """The chat's name in tab and list."""
        return self._title

    @property
    def settings(self) -> ChatSettings:
        """The chat's settings for the model."""
        return self._settings

    @property
    def is_loaded(self) -> bool:
        """Whether it is known what the store has of this chat."""
        return self._is_loaded

    # --- reading it in

    def start_new(self, settings: ChatSettings) -> None:
        """Begin a chat that the store does not know."""
        self._is_loaded = True
        self._settings = settings

    def load(self, first_settings: ChatSettings) -> None:
        """Read the chat and its messages from the store. One that is empty has `first_settings`."""
        self._first_settings = first_settings
        self._is_reading = False  # the store may hold more now
        self.read_on()

    def read_on(self) -> None:
        """Read what `load` asked for once more, where it could not be read."""
        chat_id = self._chat_id
        if not self._is_reading:
            self._is_reading = True
            self._store.run(lambda store: store.chat(chat_id), self._on_loaded, self._on_load_failed)

    @Slot(object)
    def _on_loaded(self, stored: StoredChat) -> None:
        self._is_reading = False
        nodes = {node.id: node for node in (*stored.nodes, *self._saver.pending)}  # read anew, with what is on its way
        self._path.reset(nodes.values(), self._path.leaf if self._path.leaf in nodes else stored.leaf_id)
        if self._settings == ChatSettings():  # else they were changed before the chat was read, which counts
            is_new = not stored.nodes and stored.settings == ChatSettings()
            self._settings = self._first_settings if is_new else stored.settings
        self._is_loaded = True
        self.show_title(stored.title)
        self._news.settings_changed.emit(self._settings)
        self._news.changed.emit()
        self.loaded.emit()

    @Slot(object)
    def _on_load_failed(self, error: Exception) -> None:
        self._is_reading = False
        self.unreadable.emit()
        self._news.failed.emit(self.tr("This chat could not be read. {}").format(error))

    # --- changing it

    def show_title(self, title: str) -> None:
        """Have a title that is in the store already."""
        if title != self._title:
            self._title = title
            self._news.title_changed.emit(title)

    def retitle(self, title: str) -> None:
        """Give the chat another name."""
        title = " ".join(clean_text(title).split())[:200]
        if not title or title == self._title:
            return
        chat_id = self._chat_id
        # First queue the write, then emit: whoever reads the list on the signal finds the new name.
        self._store.run(lambda store: store.rename_chat(chat_id, title), None, self._on_title_not_saved)
        self.show_title(title)

    @Slot(object)
    def _on_title_not_saved(self, error: Exception) -> None:
        self._news.failed.emit(self.tr("The new name was not saved. {}").format(error))

    def set_settings(self, settings: ChatSettings) -> None:
        """Use these settings from the next message on."""
        settings = clean_settings(settings)
        if settings == self._settings:
            return
        self._settings = settings
        self._saver.save_settings_soon(settings)
        self._news.settings_changed.emit(settings)
