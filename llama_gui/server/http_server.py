"""uvicorn's server without its pauses: it looks ten times a second whether it shall end, and again who is left."""

import asyncio
import contextlib
import socket
from collections.abc import Callable

import uvicorn

_LOOK_SECONDS = 0.005
"""Between two looks at who is left, while it ends."""


class HttpServer(uvicorn.Server):
    """Says when it serves, sleeps while nobody asks, and ends at once when it is told to."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._told_to_end = asyncio.Event()

    def end(self) -> None:
        """Answer what is being answered, and end. In the thread of its loop."""
        self.should_exit = True
        self._told_to_end.set()

    # --- what uvicorn calls

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):  # which sets the date that replies have
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._told_to_end.wait(), 1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in [*self.servers, *(sockets or ())]:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        try:
            await asyncio.wait_for(self._all_gone(), self.config.timeout_graceful_shutdown)
        except TimeoutError:
            for task in self.server_state.tasks:
                task.cancel()

    async def _all_gone(self) -> None:
        await asyncio.sleep(_LOOK_SECONDS)  # whoever was just let in comes to be seen
        # uvicorn has no event for either.
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
