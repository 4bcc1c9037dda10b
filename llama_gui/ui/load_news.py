"""How far models are on their way: in the status line, in the picker, and where an answer waits for one."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.load_order import RoomWish
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.model_picker import ModelPicker
from llama_gui.ui.sizes import size_text
from llama_gui.ui.status_line import StatusLine
from llama_gui.vocabulary import LoadProgress


class LoadNews(QObject):
    """Tells it as the host does. `name_of`: what the user calls a model; `size_of`: its bytes, 0 where nobody knows."""

    def __init__(
        self,
        host: EngineHost,
        deck: TabDeck,
        picker: ModelPicker,
        status: StatusLine,
        name_of: Callable[[str], str],
        size_of: Callable[[str], int],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._host = host
        self._deck = deck
        self._picker = picker
        self._status = status
        self._name_of = name_of
        self._size_of = size_of
        self._heard: dict[str, LoadProgress | RoomWish] = {}  # of each model's load what came last
        self._has_loaded = False
        self._is_saying = False  # what the status line says is the state of a load
        host.models.loading.connect(self._on_loading)
        host.models.progressed.connect(self._on_progress)
        host.models.short.connect(self._on_short)
        host.loaded.connect(self._on_loaded)

    @Slot(str)
    def say(self, key: str) -> None:
        """How it stands with a model: for the tab in front, and where an answer waits for this model."""
        is_coming = self._host.models.state_of(key) in ("loading", "short")
        text = self._text(key) if is_coming else ""
        tab = self._deck.current()
        if key == (tab.session.model if tab else self._host.current):
            if text or self._is_saying:
                self._status.say(text, stays=True)
            self._is_saying = is_coming
            self._picker.set_progress(self._fraction(key) if is_coming else None)
        if text:
            self._wait_with(key, text)

    def say_failed(self) -> None:
        """A model does not come."""
        self._status.say(self.tr("The model could not be loaded."), is_error=True)
        self._is_saying = False

    # What the host tells

    @Slot(str)
    def _on_loading(self, key: str) -> None:
        self._heard.pop(key, None)
        self.say(key)

    @Slot(str, object)
    def _on_progress(self, key: str, progress: LoadProgress) -> None:
        self._heard[key] = progress
        self.say(key)

    @Slot(object)
    def _on_short(self, wish: RoomWish) -> None:
        self._heard[wish.key] = wish
        self.say(wish.key)

    @Slot(str)
    def _on_loaded(self, key: str) -> None:
        self._has_loaded = True
        self._wait_with(key, self.tr("Waiting for the model…"))

    # In words

    def _fraction(self, key: str) -> float:
        heard = self._heard.get(key)
        return heard.parameters_read / max(heard.parameters, 1) if isinstance(heard, LoadProgress) else 0.0

    def _text(self, key: str) -> str:
        name, heard = self._name_of(key), self._heard.get(key)
        if heard is None:
            text = self.tr("Loading {}…") if self._has_loaded else self.tr("Starting the engine and loading {}…")
            return text.format(name)
        if isinstance(heard, RoomWish):
            text = self.tr("{} needs {}, and {} are free. It waits until another answer has ended.")
            return text.format(name, size_text(heard.needed), size_text(max(heard.available, 0)))
        fraction, size = self._fraction(key), self._size_of(key)
        text = self.tr("Loading {}… {} %").format(name, f"{fraction * 100:.0f}")
        return text + (self.tr(" · {} of {}").format(size_text(size * fraction), size_text(size)) if size else "")

    def _wait_with(self, key: str, text: str) -> None:
        for tab in self._deck.tabs():
            if tab.session.awaited_model == key:
                tab.transcript.set_waiting(text)
