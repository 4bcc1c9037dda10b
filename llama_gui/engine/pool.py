"""Several loaded models, one for each folder; the one that was used longest ago makes room for a new one."""

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any, Self

from llama_gui.engine.callbacks import OnFinish, OnOutput
from llama_gui.engine.device import available_bytes, bytes_to_load, give_memory_back
from llama_gui.engine.engine import Engine
from llama_gui.engine.job import Job
from llama_gui.engine.load_plan import plan_load
from llama_gui.engine.model_files import model_folder
from llama_gui.engine.shared_thread import SharedThread
from llama_gui.engine.speculation import FROM_TEXT
from llama_gui.errors import EngineClosedError, NotEnoughMemoryError
from llama_gui.vocabulary import EmbedRequest, GenerateRequest, LoadProgress, ModelInfo
from llama_gui.vocabulary.checks import check_number


class ModelPool:
    """Loads models when they are asked for and keeps them while there is memory. A context manager.

    One thread steps all of them in turn. Every method may be called from any thread.

    Args:
        memory_budget: bytes that all weights together may take; None: what the machine has free.
        options: as `Engine.load` has them, for every model (dtype, device, strategy, ...).

    Raises:
        InvalidRequestError: `memory_budget` is no number of bytes.
        TypeError: `options` has what `Engine.load` does not know.
    """

    def __init__(self, *, memory_budget: int | None = None, **options: Any) -> None:
        if memory_budget is not None:
            check_number("memory_budget", memory_budget, 0)
        signature(Engine.load).bind_partial("", on_progress=None, is_cancelled=None, shared=None, **options)
        self._budget = memory_budget
        self._options = options
        self._thread = SharedThread()
        self._engines: OrderedDict[Path, Engine] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()  # of the engines; held for moments
        self._loading = threading.Lock()  # one model is loaded at a time
        self._closed = False

    @property
    def loaded(self) -> tuple[ModelInfo, ...]:
        """The models in memory, the one that was used longest ago first."""
        with self._lock:
            return tuple(engine.info for engine in self._engines.values())

    def engine(
        self,
        path: str | Path,
        *,
        on_progress: Callable[[LoadProgress], None] | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Engine:
        """The engine of the model at `path`, loaded when it is not yet; it may be closed later to make room.

        Raises:
            NotEnoughMemoryError: it does not fit, even without every model that is idle.
            LoadCancelledError, ModelError, InvalidRequestError: see `Engine.load`.
            EngineClosedError: the pool was closed.
        """
        folder = model_folder(path)
        if (engine := self._use(folder)) is not None:
            return engine
        with self._loading:
            if (engine := self._use(folder)) is not None:  # another thread was faster
                return engine
            self._make_room(*self._needed(folder))
            engine = Engine.load(
                folder, on_progress=on_progress, is_cancelled=is_cancelled, shared=self._thread, **self._options
            )
            with self._lock:
                if not self._closed:
                    self._engines[folder] = engine
                    return engine
            engine.close()
            raise EngineClosedError("The pool was closed while the model was loaded.")

    def submit(
        self,
        path: str | Path,
        request: GenerateRequest | EmbedRequest,
        on_output: OnOutput | None = None,
        on_finish: OnFinish | None = None,
    ) -> Job:
        """Load the model at `path` if need be, and submit `request` to it. Raises what `engine` and `submit` raise."""
        while True:
            engine = self.engine(path)
            try:
                return engine.submit(request, on_output, on_finish)
            except EngineClosedError:
                with self._lock:
                    if self._closed:
                        raise
                # It made room for another model in between: load it again.

    def unload(self, path: str | Path) -> bool:
        """Close the model at `path` and give its memory back; its answers end as cancelled. False: it is not loaded."""
        with self._lock:
            engine = self._engines.pop(model_folder(path), None)
        if engine is not None:
            _release(engine)
        return engine is not None

    def close(self) -> None:
        """Close every model; their answers end as cancelled."""
        with self._lock:
            self._closed = True
            engines = list(self._engines.values())
            self._engines.clear()
        for engine in engines:
            engine.stop()
        for engine in engines:
            engine.close()
        self._thread.close()
        if engines:
            give_memory_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self, folder: Path) -> Engine | None:
        with self._lock:
            if self._closed:
                raise EngineClosedError("The pool was closed.")
            engine = self._engines.get(folder)
            if engine is not None:
                self._engines.move_to_end(folder)
            return engine

    def _needed(self, folder: Path) -> tuple[int, str]:
        """Bytes for the model in `folder` and the draft that each one gets, and the device that it is for.

        With a budget only weights count.
        """
        draft = self._options.get("draft")
        drafts = [draft] if isinstance(draft, str | Path) and draft not in FROM_TEXT else []
        dtype, device = self._options.get("dtype", "auto"), self._options.get("device", "auto")
        plans = [plan_load(path, dtype, device) for path in (folder, *drafts)]
        weights = sum(plan.weight_bytes for plan in plans)
        return bytes_to_load(weights) if self._budget is None else weights, plans[0].device

    def _make_room(self, needed: int, device: str) -> None:
        """Unload idle models, the longest unused first, until `needed` bytes of `device` are free."""
        while (free := self._free(device)) < needed:
            engine = self._take_idle()
            if engine is None:
                raise NotEnoughMemoryError(needed, free)
            _release(engine)

    def _free(self, device: str) -> int:
        if self._budget is None:
            return available_bytes(device)
        with self._lock:
            return self._budget - sum(engine.stats().weight_bytes for engine in self._engines.values())

    def _take_idle(self) -> Engine | None:
        with self._lock:
            idle = next((folder for folder, engine in self._engines.items() if engine.stop_if_idle()), None)
            return self._engines.pop(idle) if idle else None


def _release(engine: Engine) -> None:
    engine.close()
    gc.collect()
    give_memory_back()
