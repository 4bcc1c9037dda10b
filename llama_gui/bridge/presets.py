"""Named settings: kept in the store, read once, changed with a way back."""

from collections.abc import Callable
from dataclasses import fields, replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.store import ChatStore
from llama_gui.vocabulary import CHAT_FIELDS, ChatSettings

Change = Callable[[ChatStore], object]


def differing(settings: ChatSettings, preset: ChatSettings) -> list[str]:
    """The names of the fields, sampling included, in which a chat differs from a preset."""
    names = [f.name for f in fields(ChatSettings) if f.name not in ("sampling", *CHAT_FIELDS)]
    found = [name for name in names if getattr(settings, name) != getattr(preset, name)]
    sampling = [f.name for f in fields(settings.sampling)]
    return found + [name for name in sampling if getattr(settings.sampling, name) != getattr(preset.sampling, name)]


class PresetBook(QObject):
    """The presets of one profile. All methods are called on the GUI thread and return at once."""

    changed = Signal(object)
    """dict[str, ChatSettings], by name."""
    done = Signal(str, str)
    """What was just done (replaced, deleted), and to which preset; `undo` takes it back."""
    renamed = Signal(str, str)
    failed = Signal(str)

    def __init__(self, store: StoreLane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._presets: dict[str, ChatSettings] = {}
        self._undo: tuple[str, ChatSettings] | None = None

    def presets(self) -> dict[str, ChatSettings]:
        """The known presets, by name; each has its name in `preset`."""
        return dict(self._presets)

    def load(self) -> None:
        """Read them; `changed` brings them."""
        self._run(lambda _store: None)

    def save(self, name: str, settings: ChatSettings) -> None:
        """Keep settings under a name. Those that had it come back by `undo`."""
        former = self._presets.get(name)
        self._run(lambda store: store.save_preset(name, settings.as_preset()))
        if former is not None and former != replace(settings.as_preset(), preset=name):
            self._undo = (name, former)
            self.done.emit("replaced", name)

    def rename(self, name: str, new_name: str) -> None:
        """Give a preset another name; the chats that began with it follow."""
        new_name = " ".join(new_name.split())
        if new_name and new_name != name:
            self._run(lambda store: store.rename_preset(name, new_name))
            self.renamed.emit(name, new_name)

    def delete(self, name: str) -> None:
        """Forget a preset; it comes back by `undo`."""
        former = self._presets.get(name)
        if former is not None:
            self._undo = (name, former)
            self._run(lambda store: store.delete_preset(name))
            self.done.emit("deleted", name)

    @Slot()
    def undo(self) -> None:
        """Bring back what was replaced or deleted last."""
        if self._undo is not None:
            (name, former), self._undo = self._undo, None
            self._run(lambda store: store.save_preset(name, replace(former, preset="")))

    def _run(self, change: Change) -> None:
        def work(store: ChatStore) -> dict[str, ChatSettings]:
            change(store)
            return {name: replace(settings, preset=name) for name, settings in store.presets().items()}

        self._store.run(work, self._on_read, self._on_failed)

    @Slot(object)
    def _on_read(self, presets: dict[str, ChatSettings]) -> None:
        if presets != self._presets:
            self._presets = presets
            self.changed.emit(self.presets())

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))
