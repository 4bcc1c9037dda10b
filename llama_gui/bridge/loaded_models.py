"""The models in memory, those on their way, and those that make room for them."""

import time
from typing import Literal

from PySide6.QtCore import QDeadlineTimer, QObject, QTimer, Signal, Slot

from llama_gui.bridge.engine_thread import EngineLike, EngineThread, LoadEngine
from llama_gui.bridge.load_order import RoomWish
from llama_gui.bridge.tickets import Tickets
from llama_gui.vocabulary import LoadOptions, LoadProgress, ModelInfo, is_remote

ModelState = Literal["absent", "loading", "short", "ready", "failed"]
"""short: it waits until another model has answered and makes room."""

LARGE_BYTES = 256 * 2**20
"""What weighs less is not worth the seconds that it takes to load it again."""
_SWEEP_MS = 30_000


class LoadedModels(QObject):
    """One thread for each model, by key. Every method is called on the GUI thread and returns at once.

    Several are loaded at once while there is memory; the loader says so, through `LoadOrder.make_room`. A model that
    is loaded in another way stays until the answers that it writes are finished.
    """

    loading = Signal(str)
    progressed = Signal(str, object)
    loaded = Signal(str, object)
    failed = Signal(str, str)
    """Key, and why: it could not be loaded, or it broke."""
    cancelled = Signal(str)
    short = Signal(object)
    """`RoomWish`: a load waits for the end of answers."""
    ended = Signal(object, str)
    """A thread that will write nothing more, and what to tell those who still wait for it."""
    changed = Signal()
    """What is loaded, or on its way, is another."""
    devices_found = Signal(object)

    def __init__(self, load_engine: LoadEngine, tickets: Tickets, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._load_engine = load_engine
        self._tickets = tickets
        self._threads: list[EngineThread] = []  # every thread that has not ended: dropping one aborts the process
        self._ready: dict[str, EngineThread] = {}
        self._coming: dict[str, EngineThread] = {}
        self._retiring: list[EngineThread] = []  # replaced, and still answering
        self._options: dict[str, LoadOptions] = {}
        self._used: dict[str, float] = {}  # monotonic seconds
        self._errors: dict[str, str] = {}
        self._wishes: list[RoomWish] = []
        self._closing = False
        self._unload_after_s = 0.0
        self._sweep = QTimer(self, interval=_SWEEP_MS)
        self._sweep.timeout.connect(self._on_sweep)
        self.changed.connect(self._watch_time)

    # --- what there is

    def loaded_keys(self) -> list[str]:
        """The loaded models, the one that was used last first."""
        return sorted(self._ready, key=lambda key: self._used.get(key, 0.0), reverse=True)

    def thread_of(self, key: str) -> EngineThread | None:
        """The thread of a loaded model."""
        return self._ready.get(key)

    def engine_of(self, key: str) -> EngineLike | None:
        """The engine of a loaded model."""
        thread = self._ready.get(key)
        return thread.engine if thread else None

    def options_of(self, key: str) -> LoadOptions:
        """How a model is, or would be, loaded."""
        return self._options.get(key, LoadOptions())

    def state_of(self, key: str) -> ModelState:
        """How it stands with a model."""
        if key in self._coming:
            return "short" if any(wish.key == key for wish in self._wishes) else "loading"
        if key in self._ready:
            return "ready"
        return "failed" if key in self._errors else "absent"

    @property
    def is_loading(self) -> bool:
        """Whether any model is on its way."""
        return bool(self._coming)

    # --- loading

    def set_options(self, key: str, options: LoadOptions) -> None:
        """How a model is to be loaded the next time."""
        self._options[key] = options

    def load(self, key: str) -> None:
        """Load a model as its options say; nothing happens when it is there, or on its way, like that already.

        What is there like that stays, and a load in another way that was on its way is given up.
        """
        options, coming, ready = self.options_of(key), self._coming.get(key), self._ready.get(key)
        if self._closing or (coming is not None and coming.options == options):
            return
        if ready is not None and ready.options == options:
            self.cancel(key)
            return
        former = self._coming.pop(key, None)
        if former is not None:
            self._drop(former)
        self._errors.pop(key, None)
        thread = EngineThread(key, options, self._load_engine, self)
        thread.progressed.connect(self._on_progressed)
        thread.room_wanted.connect(self._on_room_wanted)
        thread.devices_found.connect(self.devices_found)
        thread.loaded.connect(self._on_loaded)
        thread.failed.connect(self._on_failed)
        thread.finished.connect(self._on_finished)
        self._coming[key] = thread
        self._threads.append(thread)
        self.loading.emit(key)
        self.changed.emit()
        thread.start()

    def cancel(self, key: str) -> None:
        """Give up loading a model. One that is loaded already stays."""
        thread = self._coming.pop(key, None)
        if thread is not None:
            if key in self._ready:
                self._options[key] = self._ready[key].options
            self._drop(thread)
            self.cancelled.emit(key)
            self.changed.emit()

    def unload(self, key: str) -> None:
        """Free the memory of a model; answers that it writes are stopped, and can go on later."""
        thread = self._ready.pop(key, None)
        if thread is not None:
            thread.stop()
            self.changed.emit()

    def _drop(self, thread: EngineThread) -> None:
        """Stop a load; what it brings is thrown away."""
        thread.stop()
        for wish in [wish for wish in self._wishes if wish.key == thread.key]:
            self._answer(wish, is_granted=False)

    @Slot(object)
    def _on_progressed(self, progress: LoadProgress) -> None:
        thread = self._sender_of(self._coming)
        if thread is not None:
            self.progressed.emit(thread.key, progress)

    @Slot(object)
    def _on_loaded(self, info: ModelInfo) -> None:
        thread = self._sender_of(self._coming)
        if thread is None or self._closing:
            return  # it was told to stop
        key = thread.key
        former = self._ready.pop(key, None)
        del self._coming[key]
        self._ready[key] = thread
        if former is not None:
            self._retiring.append(former)
        self.touch(key)
        self.loaded.emit(key, info)
        self.changed.emit()
        self.settle()

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        thread = self.sender()
        if not isinstance(thread, EngineThread):
            return
        for threads in (self._ready, self._coming):
            if threads.get(thread.key) is thread:
                del threads[thread.key]
                self._errors[thread.key] = text
                self.ended.emit(thread, text)  # the loop broke: its answers will not come
                if thread.key in self._ready:
                    self._options[thread.key] = self._ready[thread.key].options
                self.failed.emit(thread.key, text)
                self.changed.emit()
                return
        self.ended.emit(thread, text)

    @Slot()
    def _on_finished(self) -> None:
        thread = self.sender()
        if not isinstance(thread, EngineThread):
            return
        self.ended.emit(thread, self.tr("The model was closed before the answer was finished."))
        self._threads = [other for other in self._threads if other is not thread]
        self._retiring = [other for other in self._retiring if other is not thread]  # it broke
        thread.deleteLater()
        for wish in list(self._wishes):  # they look again at what is free, and ask again if that is not enough
            self._answer(wish, is_granted=True)
        self.settle()

    def _sender_of(self, threads: dict[str, EngineThread]) -> EngineThread | None:
        thread = self.sender()
        return thread if isinstance(thread, EngineThread) and threads.get(thread.key) is thread else None

    # --- room

    def touch(self, key: str) -> None:
        """A model was just used."""
        self._used[key] = time.monotonic()

    def settle(self) -> None:
        """Answers have ended, or a thread has: those that were replaced can go, and those that wait may have room."""
        for thread in [thread for thread in self._retiring if not self._is_busy(thread)]:
            self._retiring.remove(thread)
            thread.stop()
        for wish in list(self._wishes):
            self._grant(wish)

    @Slot(object)
    def _on_room_wanted(self, wish: RoomWish) -> None:
        if self._closing or wish.key not in self._coming:
            wish.answer(is_granted=False)
            return
        self._wishes.append(wish)
        self._grant(wish)

    def _grant(self, wish: RoomWish) -> None:
        """Unload the idle model that was used longest ago; where all are busy, the wish waits for one to end."""
        if any(map(self._is_going, self._threads)):
            return
        idle = next((key for key in reversed(self.loaded_keys()) if self._can_go(key)), None)
        if idle is not None:
            self.unload(idle)
        elif any(not is_remote(thread.key) for thread in (*self._ready.values(), *self._retiring)):
            self.short.emit(wish)
            self.changed.emit()
        else:
            self._answer(wish, is_granted=False)

    def _is_going(self, thread: EngineThread) -> bool:
        """Whether it has been told to go, and holds memory until it has ended."""
        known = (*self._ready.values(), *self._coming.values(), *self._retiring)
        return thread.engine is not None and not is_remote(thread.key) and all(other is not thread for other in known)

    def _can_go(self, key: str) -> bool:
        return not is_remote(key) and not self._is_busy(self._ready[key])

    def _answer(self, wish: RoomWish, *, is_granted: bool) -> None:
        self._wishes = [other for other in self._wishes if other is not wish]
        wish.answer(is_granted)
        self.changed.emit()

    def _is_busy(self, thread: EngineThread) -> bool:
        engine = thread.engine
        if engine is None:  # it has ended
            return False
        if self._tickets.has_any_of(thread):
            return True
        stats = engine.stats()  # others than our tabs may ask it, too
        return stats.running + stats.waiting > 0

    # --- time

    def unload_after(self, minutes: int) -> None:
        """How long a large model stays that nobody asks anything; 0: for ever."""
        self._unload_after_s = minutes * 60.0
        self._watch_time()

    @Slot()
    def _watch_time(self) -> None:
        wanted = self._unload_after_s > 0 and not self._closing and any(map(self._is_large, self._ready))
        if wanted != self._sweep.isActive():
            if wanted:
                self._sweep.start()
            else:
                self._sweep.stop()

    @Slot()
    def _on_sweep(self) -> None:
        self.unload_unused(time.monotonic())

    def unload_unused(self, now: float) -> None:
        """Unload what nobody has used for too long. `now`: monotonic seconds."""
        for key in self.loaded_keys():
            if self._is_busy(self._ready[key]):
                self._used[key] = now
            elif self._is_large(key) and now - self._used[key] >= self._unload_after_s > 0:
                self.unload(key)

    def _is_large(self, key: str) -> bool:
        engine = self.engine_of(key)
        return engine is not None and engine.stats().weight_bytes >= LARGE_BYTES

    # --- the end

    def stop(self) -> None:
        """Tell every thread to end."""
        self._closing = True
        self._sweep.stop()
        for wish in list(self._wishes):
            wish.answer(is_granted=False)
        self._wishes.clear()
        for thread in self._threads:
            thread.stop()

    def wait(self, deadline: QDeadlineTimer) -> bool:
        """Whether every thread has ended in time; one that has not must not be destroyed."""
        return min((thread.wait(deadline) for thread in list(self._threads)), default=True)
