"""The engines that requests ask for, got off the server's loop: a load of minutes holds up nobody else."""

import asyncio
import contextlib
import threading

from llama_gui.errors import EngineClosedError
from llama_gui.server.refusal import StoppingError, unloadable
from llama_gui.server.served import Models, ServedEngine


class EngineLoads:
    """One load for each model, however many requests wait for it, each in a thread of its own. One event loop.

    The threads are not those of `asyncio.to_thread`: a few loads would take all of them, and stopping waits for them.
    """

    def __init__(self, models: Models) -> None:
        self._models = models
        self._loads: dict[str, asyncio.Future[ServedEngine]] = {}

    async def engine(self, name: str) -> ServedEngine:
        """The engine of a model, loaded if need be.

        Raises:
            EngineClosedError: it is gone again.
            RefusedError: it cannot be loaded, or the server stops.
        """
        load = self._loads.get(name) or self._begin(name)
        try:
            return await asyncio.shield(load)  # who gives up does not end it for the others
        except EngineClosedError:
            raise
        except Exception as error:
            raise unloadable(error, name) from error

    def close(self) -> None:
        """Nobody waits any more. A load that is under way ends by itself."""
        for load in self._loads.values():
            if not load.done():
                load.set_exception(StoppingError())

    def _begin(self, name: str) -> "asyncio.Future[ServedEngine]":
        loop = asyncio.get_running_loop()
        load: asyncio.Future[ServedEngine] = loop.create_future()
        load.add_done_callback(lambda done: done.exception())  # those who waited may have gone: it was looked at
        threading.Thread(target=self._load, args=(name, load, loop), name=f"llama-gui-load {name}").start()
        self._loads[name] = load  # behind the start: a thread that the system refuses would be waited for for ever
        return load

    def _load(self, name: str, load: "asyncio.Future[ServedEngine]", loop: asyncio.AbstractEventLoop) -> None:
        """In a thread of its own."""
        outcome: ServedEngine | BaseException
        try:
            outcome = self._models.engine(name)
        except BaseException as error:
            outcome = error
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(self._end, name, load, outcome)

    def _end(self, name: str, load: "asyncio.Future[ServedEngine]", outcome: "ServedEngine | BaseException") -> None:
        del self._loads[name]
        if load.done():  # the server stops
            return
        if isinstance(outcome, BaseException):
            load.set_exception(outcome)
        else:
            load.set_result(outcome)
