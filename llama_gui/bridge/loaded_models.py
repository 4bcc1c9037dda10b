"""The models in memory, those on their way, and those that make room for them."""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal, cast

from PySide6.QtCore import QDeadlineTimer, QObject, QTimer, Signal, Slot

from llama_gui.bridge.engine_thread import EngineLike, EngineThread, LoadEngine
from llama_gui.bridge.load_order import RoomWish
from llama_gui.bridge.tickets import Tickets
from llama_gui.vocabulary import LoadOptions, LoadProgress, ModelInfo, is_remote

ModelState = Literal["absent", "loading", "short", "ready", "failed"]
"""short: of memory; it waits until another model has finished its answers and can be unloaded."""

LARGE_BYTES = 256 * 2**20
"""Unloading smaller models is not worth the seconds that it takes to load them again."""
_SWEEP_MS = 30_000


@dataclass(slots=True)
class _Model:
    """The state of one model. While it is reloaded with other options, it has two threads."""

    options: LoadOptions = field(default_factory=LoadOptions)
    ready: EngineThread | None = None
    coming: EngineThread | None = None
    wish: RoomWish | None = None  # of the thread that is coming
    is_modest: bool = False  # nothing makes room for it: see `LoadedModels.prepare`
    has_failed: bool = False
    used: float = 0.0  # monotonic seconds

    @property
    def state(self) -> ModelState:
        if self.coming is not None:
            return "loading" if self.wish is None else "short"
        if self.ready is not None:
            return "ready"
        return "failed" if self.has_failed else "absent"

    def has(self, thread: EngineThread) -> bool:
        return thread is self.ready or thread is self.coming

    def lose(self, thread: EngineThread) -> None:
        """A thread will not serve it any more; the options are then those of the thread that stays."""
        if thread is self.coming:
            self.coming = None
        else:
            self.ready = None
        if self.ready is not None:
            self.options = self.ready.options


class LoadedModels(QObject):
    """One thread for each model, by key. Every method is called on the GUI thread and returns at once.

    Several stay loaded while there is memory; the loader asks for more through `LoadOrder.make_room`. A model that is
    being reloaded with other options stays until its running answers are finished.
    """

    loading = Signal(str)
    """Key of a model whose loading has begun."""
    progressed = Signal(str, object)
    loaded = Signal(str, object)
    failed = Signal(str, str)
    """Key, and why: it could not be loaded, or it broke."""
    cancelled = Signal(str)
    short = Signal(object)
    """`RoomWish`: a load waits for the end of answers."""
    ended = Signal(object, str)
    """A thread that will answer nothing more, and the error for those who still wait for it."""
    changed = Signal()
    """What is loaded, or on its way, is another."""
    devices_found = Signal(object)

    def __init__(self, load_engine: LoadEngine, tickets: Tickets, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._load_engine = load_engine
        self._tickets = tickets
        self._models: defaultdict[str, _Model] = defaultdict(_Model)
        self._threads: list[EngineThread] = []  # every thread that has not ended: dropping one aborts the process
        self._closing = False
        self._unload_after_s = 0.0
        self._sweep = QTimer(self, interval=_SWEEP_MS)
        self._sweep.timeout.connect(self.unload_unused)
        self.changed.connect(self._watch_time)

    # --- what there is

    def loaded_keys(self) -> list[str]:
        """The loaded models, the one that was used last first."""
        loaded = [key for key, model in self._models.items() if model.ready is not None]
        return sorted(loaded, key=lambda key: self._models[key].used, reverse=True)

    def thread_of(self, key: str) -> EngineThread | None:
        """The thread of a loaded model."""
        return self._models[key].ready

    def engine_of(self, key: str) -> EngineLike | None:
        """The engine of a loaded model."""
        thread = self.thread_of(key)
        return thread.engine if thread else None

    def options_of(self, key: str) -> LoadOptions:
        """How a model is, or would be, loaded."""
        return self._models[key].options

    def state_of(self, key: str) -> ModelState:
        """How it stands with a model."""
        return self._models[key].state

    @property
    def is_loading(self) -> bool:
        """Whether any model is on its way."""
        return any(model.coming is not None for model in self._models.values())

    # --- loading

    def set_options(self, key: str, options: LoadOptions) -> None:
        """How a model is to be loaded the next time."""
        self._models[key].options = options

    def load(self, key: str) -> None:
        """Load a model as its options say; nothing happens if it is loaded, or being loaded, with these options.

        If it is loaded with these options, a load with other options that is under way is given up.
        """
        model = self._models[key]
        model.is_modest = False
        if self._closing or (model.coming is not None and model.coming.options == model.options):
            return
        if model.ready is not None and model.ready.options == model.options:
            self.cancel(key)
            return
        if model.coming is not None:
            self._drop(model.coming)
        model.has_failed = False
        model.coming = thread = self._new_thread(key, model.options)
        self.loading.emit(key)
        self.changed.emit()
        thread.start()

    def prepare(self, key: str) -> None:
        """Load a model that will most likely be asked, if nothing has to make room for it; else it stays absent.

        Where loading it has failed, only `load` tries again.
        """
        if self.state_of(key) == "absent":
            self.load(key)
            self._models[key].is_modest = True

    def _new_thread(self, key: str, options: LoadOptions) -> EngineThread:
        thread = EngineThread(key, options, self._load_engine, self)
        thread.progressed.connect(self._on_progressed)
        thread.room_wanted.connect(self._on_room_wanted)
        thread.devices_found.connect(self.devices_found)
        thread.loaded.connect(self._on_loaded)
        thread.failed.connect(self._on_failed)
        thread.finished.connect(self._on_finished)
        self._threads.append(thread)
        return thread

    def cancel(self, key: str) -> None:
        """Give up loading a model. One that is loaded already stays."""
        model = self._models[key]
        if (thread := model.coming) is not None:
            model.lose(thread)
            self._drop(thread)
            self.cancelled.emit(key)
            self.changed.emit()

    def unload(self, key: str) -> None:
        """Free the memory of a model; answers that it writes are stopped, and can go on later."""
        model = self._models[key]
        if (thread := model.ready) is not None:
            model.lose(thread)
            thread.stop()
            self.changed.emit()

    def _drop(self, thread: EngineThread) -> None:
        """Stop a load; its result is discarded."""
        thread.stop()
        self._answer(self._models[thread.key], is_granted=False)

    # --- what the threads tell

    def _teller(self) -> tuple[EngineThread, _Model]:
        """The thread that emitted the current signal, and its model."""
        thread = cast(EngineThread, self.sender())
        return thread, self._models[thread.key]

    @Slot(object)
    def _on_progressed(self, progress: LoadProgress) -> None:
        thread, model = self._teller()
        if thread is model.coming:
            self.progressed.emit(thread.key, progress)

    @Slot(object)
    def _on_loaded(self, info: ModelInfo) -> None:
        thread, model = self._teller()
        if thread is not model.coming or self._closing:
            return  # it was told to stop
        model.ready, model.coming, model.has_failed = thread, None, False
        self.touch(thread.key)
        self.loaded.emit(thread.key, info)
        self.changed.emit()
        self.settle()

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        thread, model = self._teller()
        was_awaited = model.has(thread)
        if was_awaited:
            model.lose(thread)
            model.has_failed = model.ready is None
        self.ended.emit(thread, text)  # where the loop broke, its answers will not come
        if was_awaited:
            self.failed.emit(thread.key, text)
            self.changed.emit()

    @Slot()
    def _on_finished(self) -> None:
        thread, _ = self._teller()
        self.ended.emit(thread, self.tr("The model was closed before the answer was finished."))
        self._threads.remove(thread)
        thread.deleteLater()
        for model in self._short_models():  # they look again at what is free, and ask again if that is not enough
            self._answer(model, is_granted=True)
        self.settle()

    # --- room

    def touch(self, key: str) -> None:
        """A model was just used."""
        self._models[key].used = time.monotonic()

    def settle(self) -> None:
        """Answers or a thread have ended: replaced threads can end, and waiting loads may find room."""
        for thread in filter(self._is_idle, self._replaced()):
            thread.stop()
        for model in self._short_models():
            self._make_room(model)

    def _replaced(self) -> list[EngineThread]:
        """The threads whose place another has taken, and which still answer."""
        return [thread for thread in self._threads if not (thread.stopping or self._models[thread.key].has(thread))]

    def _short_models(self) -> list[_Model]:
        return [model for model in self._models.values() if model.wish is not None]

    @Slot(object)
    def _on_room_wanted(self, wish: RoomWish) -> None:
        thread, model = self._teller()
        if self._closing or thread is not model.coming:
            wish.answer(is_granted=False)
            return
        model.wish = wish
        if model.is_modest:  # nobody has asked for it, so nobody is told
            model.lose(thread)
            self._drop(thread)
            self.changed.emit()
        else:
            self._make_room(model)

    def _make_room(self, model: _Model) -> None:
        """Unload the idle model that was used longest ago; where all are busy, this one waits for one to end.

        First one for embeddings: nobody waits for what it reads.
        """
        if any(map(_is_leaving, self._threads)):
            return
        here = [key for key in self.loaded_keys() if not is_remote(key)]
        idle = [key for key in here if self._is_idle(self.thread_of(key))]
        if idle:
            self.unload(next((key for key in reversed(idle) if self._embeds(key)), idle[-1]))
        elif here or any(not is_remote(thread.key) for thread in self._replaced()):
            self.short.emit(model.wish)
            self.changed.emit()
        else:
            self._answer(model, is_granted=False)

    def _embeds(self, key: str) -> bool:
        engine = self.engine_of(key)
        return engine is not None and engine.info.embeds

    def _answer(self, model: _Model, *, is_granted: bool) -> None:
        """Answer the wish of a model, if it has one."""
        wish, model.wish = model.wish, None
        if wish is not None:
            wish.answer(is_granted)
            self.changed.emit()

    def _is_idle(self, thread: EngineThread | None) -> bool:
        engine = thread.engine if thread is not None else None
        if thread is None or engine is None:  # it has ended
            return True
        stats = engine.stats()  # others than our tabs may ask it, too
        return not (self._tickets.has_any_of(thread) or stats.running or stats.waiting)

    # --- time

    def unload_after(self, minutes: int) -> None:
        """How long an idle large model stays in memory; 0: for ever."""
        self._unload_after_s = minutes * 60.0
        self._watch_time()

    @Slot()
    def _watch_time(self) -> None:
        if self._unload_after_s <= 0 or self._closing or not any(map(self._is_large, self.loaded_keys())):
            self._sweep.stop()
        elif not self._sweep.isActive():
            self._sweep.start()

    @Slot()
    def unload_unused(self, now: float | None = None) -> None:
        """Unload what nobody has used for too long. `now`: monotonic seconds."""
        now = time.monotonic() if now is None else now
        for key in self.loaded_keys():
            model = self._models[key]
            if not self._is_idle(model.ready):
                model.used = now
            elif self._is_large(key) and now - model.used >= self._unload_after_s > 0:
                self.unload(key)

    def _is_large(self, key: str) -> bool:
        engine = self.engine_of(key)
        return engine is not None and engine.stats().weight_bytes >= LARGE_BYTES

    # --- the end

    def stop(self) -> None:
        """Tell every thread to end."""
        self._closing = True
        self._sweep.stop()
        for model in self._short_models():
            self._answer(model, is_granted=False)
        for thread in self._threads:
            thread.stop()

    def wait(self, deadline: QDeadlineTimer) -> bool:
        """Whether every thread has ended in time; one that has not must not be destroyed."""
        return min((thread.wait(deadline) for thread in list(self._threads)), default=True)


def _is_leaving(thread: EngineThread) -> bool:
    """Whether it was told to stop but still holds memory."""
    return thread.stopping and thread.engine is not None and not is_remote(thread.key)
