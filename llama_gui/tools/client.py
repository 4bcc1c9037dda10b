"""All servers that run, on one thread with one event loop."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from llama_gui.vocabulary import ToolReply, ToolServer, ToolServerState

if TYPE_CHECKING:
    from llama_gui.tools.connection import Connection, Limits

MISSING = "Tools need a package that is not installed. Install it with: pip install mcp"


class ToolClient:
    """Each start of a server has a number, and so has each call; whoever starts and calls chooses them.

    `told` and `replied` are called on the thread of this client. All methods return at once, but for `close`.
    """

    def __init__(
        self,
        told: Callable[[int, ToolServerState], None],
        replied: Callable[[int, ToolReply], None],
        limits: "Limits | None" = None,
    ) -> None:
        self._told = told
        self._replied = replied
        self._limits = limits
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: dict[int, Connection] = {}
        self._servers: dict[int, asyncio.Task[None]] = {}
        self._latest: dict[str, asyncio.Task[None]] = {}
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._unwanted: set[int] = set()

    def start(self, run: int, server: ToolServer) -> None:
        """Start a server; it waits until a former one of its name has ended."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            # A daemon, so that a server that hangs cannot keep the process alive after `close` has given up on it.
            self._thread = threading.Thread(target=self._live, args=(self._loop,), name="tools", daemon=True)
            self._thread.start()
        self._soon(self._start, run, server)

    def stop(self, run: int) -> None:
        """End a server."""
        self._soon(self._stop, run)

    def call(self, number: int, run: int, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool of a server. `replied` tells in any case, unless the call is cancelled."""
        self._soon(self._call, number, run, tool, arguments)

    def cancel(self, number: int) -> None:
        """Wait no longer for a call, and tell its server so."""
        self._soon(self._cancel, number)

    def close(self, timeout_s: float) -> bool:
        """End all servers, and the thread. False: one of them had to be killed."""
        loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return True
        ending = asyncio.run_coroutine_threadsafe(self._end_all(timeout_s), loop)
        try:
            is_well = ending.result(timeout_s)
        except concurrent.futures.TimeoutError:
            is_well = False
            for connection in list(self._connections.values()):
                if connection.program is not None:
                    connection.program.kill()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(max(0.5, timeout_s / 4))
        return is_well and not self._thread.is_alive()

    # --- on the client's thread

    def _soon(self, act: Callable[..., None], *arguments: Any) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(act, *arguments)

    def _live(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        names = concurrent.futures.ThreadPoolExecutor(2, "tools-addresses")  # asyncio asks for them there
        loop.set_default_executor(names)
        try:
            loop.run_forever()
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            names.shutdown(wait=False, cancel_futures=True)
            loop.close()

    def _start(self, run: int, server: ToolServer) -> None:
        task = asyncio.ensure_future(self._run(run, server, self._latest.get(server.name)))
        self._servers[run] = self._latest[server.name] = task
        task.add_done_callback(lambda _task: self._forget(run, server.name))

    def _forget(self, run: int, name: str) -> None:
        task = self._servers.pop(run)
        self._connections.pop(run, None)
        self._unwanted.discard(run)
        if self._latest.get(name) is task:
            del self._latest[name]

    async def _run(self, run: int, server: ToolServer, former: asyncio.Task[None] | None) -> None:
        if former is not None:
            await asyncio.wait({former})
        try:
            # Here: that takes a second, which neither the window nor anybody without tools should wait for.
            from llama_gui.tools.connection import Connection, Limits
        except ImportError as error:
            words = MISSING if (error.name or "").partition(".")[0] in ("mcp", "mcp_types") else str(error)
            self._told(run, ToolServerState("failed", error=words))
            return
        if run in self._unwanted or self._loop is None:  # `close` has come while that was loaded
            self._told(run, ToolServerState())
            return
        connection = Connection(server, self._limits or Limits(), lambda state: self._told(run, state))
        self._connections[run] = connection
        await connection.run()

    def _stop(self, run: int) -> None:
        if run in self._connections:
            self._connections[run].stop()
        elif run in self._servers:
            self._unwanted.add(run)

    def _call(self, number: int, run: int, tool: str, arguments: Mapping[str, Any]) -> None:
        self._calls[number] = asyncio.ensure_future(self._reply(number, run, tool, arguments))
        self._calls[number].add_done_callback(lambda _task: self._calls.pop(number))

    async def _reply(self, number: int, run: int, tool: str, arguments: Mapping[str, Any]) -> None:
        connection = self._connections.get(run)
        if connection is None:
            reply = ToolReply("The server of this tool is not running.", is_error=True)
        else:
            reply = await connection.call(tool, arguments)
        self._replied(number, reply)

    def _cancel(self, number: int) -> None:
        if number in self._calls:
            self._calls[number].cancel()

    async def _end_all(self, timeout_s: float) -> bool:
        """Half of the time to end politely, a quarter after a signal, and the rest to see that all are gone."""
        for task in list(self._calls.values()):
            task.cancel()
        for run in list(self._servers):
            self._stop(run)
        if await self._ended(timeout_s / 2):
            return True
        for connection in self._connections.values():
            if connection.program is not None:
                connection.program.terminate()
        is_well = await self._ended(timeout_s / 4)
        for connection in self._connections.values():
            if connection.program is not None:
                connection.program.kill()
        await self._ended(timeout_s / 5)
        return is_well

    async def _ended(self, within_s: float) -> bool:
        tasks = {*self._servers.values(), *self._calls.values()}
        with contextlib.suppress(ValueError):  # there are none
            return not (await asyncio.wait(tasks, timeout=within_s))[1]
        return True
