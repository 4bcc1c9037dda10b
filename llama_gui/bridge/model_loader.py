"""Brings models into memory for the host: those on this machine, and those on somebody else's."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from llama_gui import prompt_folder
from llama_gui.bridge.engine_thread import EngineLike
from llama_gui.bridge.load_order import LoadOrder
from llama_gui.errors import ModelNotFoundError, UserError
from llama_gui.paths import check_model_is_there
from llama_gui.vocabulary import STARTER, Strategy, is_remote

if TYPE_CHECKING:
    from llama_gui.engine.shared_thread import SharedThread
    from llama_gui.server.endpoint import Endpoint

translate = QCoreApplication.translate


class ModelLoader:
    """The host's `load_engine`: called in the thread of the model that it loads. Safe in any thread.

    Models on this machine are loaded one after another, so that each sees what the one before has left free, and one
    thread steps all of them in turn, so that they do not fight for the same cores.

    Args:
        starter: where the model with the key `STARTER` lies.
        name_of: what the user calls the model at a path.
        kernel_notes, prompt_cache, prompt_cache_bytes: as `Engine.load` has them.
        endpoint_of: the server of this name; it raises what the user should read when there is none.
    """

    def __init__(
        self,
        starter: Path,
        name_of: Callable[[str], str],
        *,
        strategy: Strategy = "batched",
        threads: int | None = None,
        kernel_notes: Path | None = None,
        prompt_cache: Path | None = None,
        prompt_cache_bytes: int = 0,
        endpoint_of: "Callable[[str], Endpoint] | None" = None,
    ) -> None:
        self._starter = str(starter)
        self._name_of = name_of
        self._strategy: Strategy = strategy
        self._threads = threads
        self._kernel_notes = kernel_notes
        self._prompt_cache = prompt_cache
        self._prompt_cache_bytes = prompt_cache_bytes
        self._endpoint_of = endpoint_of
        self._turn = threading.Lock()
        self._shared: SharedThread | None = None

    def __call__(self, order: LoadOrder) -> EngineLike:
        """Load what is ordered. Raises what `Engine.load`, `RemoteEngine.connect` and `LoadOrder.make_room` raise."""
        if is_remote(order.key):
            return self._connect(order)
        order.take_turn(self._turn)
        path = self._starter if order.key == STARTER else order.key
        try:
            return self._load(order, path)
        except UserError as error:
            name = self._name_of(path)
            if name not in str(error) and path not in str(error):
                error.args = (translate("ModelLoader", "{} was not loaded. {}").format(name, error),)
            raise
        finally:
            self._turn.release()

    def _connect(self, order: LoadOrder) -> EngineLike:
        from llama_gui.server.remote import RemoteEngine  # its HTTP library is for those who use it

        name, _, model = order.key.partition("#")
        if self._endpoint_of is None:
            gone = translate("ModelLoader", "There is no server {} any more. Choose another model.")
            raise ModelNotFoundError(gone.format(name))
        return RemoteEngine.connect(self._endpoint_of(name), model)

    def _load(self, order: LoadOrder, path: str) -> EngineLike:
        check_model_is_there(path)
        # In the engine's thread: torch takes seconds, behind the window.
        from llama_gui.engine import Engine
        from llama_gui.engine.device import available_bytes, bytes_to_load, devices_here, give_memory_back
        from llama_gui.engine.load_plan import plan_load
        from llama_gui.engine.shared_thread import SharedThread

        if not self._prompt_cache_bytes and self._prompt_cache is not None:
            prompt_folder.empty(self._prompt_cache)  # what was kept before the user turned it off
        order.tell_devices(devices_here())
        self._shared = self._shared or SharedThread()
        dtype, device = order.options.dtype, order.options.device
        plan = plan_load(path, dtype, device)

        def free() -> int:
            give_memory_back()  # what was unloaded a moment ago may still be with the C library
            return available_bytes(plan.device)

        order.make_room(bytes_to_load(plan.weight_bytes), free)
        return Engine.load(
            path,
            dtype=dtype,
            device=device,
            cache_dtype=order.options.cache_dtype,
            max_context=order.options.max_context,
            strategy=self._strategy,
            draft="auto" if order.options.guesses else None,
            threads=order.options.threads or self._threads,
            kernel_notes=self._kernel_notes,
            prompt_cache=self._prompt_cache,
            prompt_cache_bytes=self._prompt_cache_bytes,
            name=self._name_of(path),
            on_progress=order.tell,
            is_cancelled=order.is_cancelled,
            shared=self._shared,
        )
