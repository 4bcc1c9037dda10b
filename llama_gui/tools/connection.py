"""One server while it runs: how it begins, what it offers, its calls, and why it ended."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp import ClientSession, MCPError
from pydantic import ValidationError

from llama_gui.errors import ToolError
from llama_gui.tools.http import HttpTransport
from llama_gui.tools.program import Program, command_of
from llama_gui.tools.replies import cut, reply_of
from llama_gui.tools.stdio import StdioTransport
from llama_gui.vocabulary import ToolInfo, ToolReply, ToolServer, ToolServerState

_MOST_PAGES = 100
_MOST_TOOLS = 1000
_LONGEST_DESCRIPTION = 10_000
_BETWEEN_LISTS_S = 0.2
_REASON_S = 2.0
_OLD_ANSWERS = (mcp_types.UNSUPPORTED_PROTOCOL_VERSION, mcp_types.METHOD_NOT_FOUND)

for _name in ("mcp", "client"):  # what they log is told by us, in words; without a handler it goes to stderr
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds. `start_s`: until a server has said what it offers, which npx and uvx may have to fetch first; `call_s`:
    until a tool has replied.
    """

    start_s: float = 120.0
    call_s: float = 120.0


class Connection:
    """`tell` is called with each state but the first, "starting"; the last is "off" or "failed"."""

    def __init__(self, server: ToolServer, limits: Limits, tell: Callable[[ToolServerState], None]) -> None:
        self.server = server
        self._limits = limits
        self._tell = tell
        self._transport = HttpTransport(server) if server.url else StdioTransport(server)
        self._scope = anyio.CancelScope()
        self._session: ClientSession | None = None
        self._changed = anyio.Event()
        self._tools: tuple[ToolInfo, ...] = ()
        self._why = ""

    @property
    def program(self) -> Program | None:
        """What was started for it."""
        return None if isinstance(self._transport, HttpTransport) else self._transport.program

    async def run(self) -> None:
        """Until `stop`, or its own end."""
        try:
            with self._scope:
                await self._serve()
            self._tell(ToolServerState("failed", error=self._why) if self._why else ToolServerState())
        except Exception as error:  # whatever a server can cause is its fault, not the end of the others
            self._tell(ToolServerState("failed", error=self._words(error)))
        finally:
            self._session = None

    def stop(self) -> None:
        """End it; `run` does."""
        self._scope.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolReply:
        """Call one of its tools. When this is cancelled, the server is told so."""
        if self._session is None:
            return ToolReply(f"“{self.server.name}” is not running.", is_error=True)
        params = mcp_types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        request = mcp_types.CallToolRequest(params=params)
        try:
            with anyio.fail_after(self._limits.call_s):
                # Not `call_tool`, which refuses replies that are not as announced: the model may read those, too.
                return reply_of(await self._session.send_request(request, mcp_types.CallToolResult))
        except Exception as error:  # whatever it is: who called waits for a reply
            return ToolReply(cut(self._fault(error)), is_error=True)

    # --- its life

    async def _serve(self) -> None:
        info = mcp_types.Implementation(name="llama-gui", version="1")
        async with (
            self._transport.open() as (received, sent),
            ClientSession(received, sent, client_info=info, message_handler=self._hear) as session,
        ):
            try:
                with anyio.fail_after(self._limits.start_s):
                    await _shake_hands(session)
                    self._tools = await self._list(session)
                self._session = session
                self._tell(ToolServerState("ready", self._tools))
                await self._watch(session)
            except MCPError as error:
                if error.code == mcp_types.CONNECTION_CLOSED and self.program is not None:
                    await anyio.sleep(_REASON_S)  # who read its lines will tell why there are none any more
                raise

    async def _watch(self, session: ClientSession) -> None:
        """Ask again what it offers whenever it says that this has changed."""
        while True:
            await self._changed.wait()
            await anyio.sleep(_BETWEEN_LISTS_S)
            self._changed = anyio.Event()
            with anyio.fail_after(self._limits.start_s):
                tools = await self._list(session)
            if tools != self._tools:
                self._tools = tools
                self._tell(ToolServerState("ready", tools))

    async def _hear(self, message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._changed.set()

    async def _list(self, session: ClientSession) -> tuple[ToolInfo, ...]:
        tools: dict[str, ToolInfo] = {}
        cursor: str | None = None
        for _page in range(_MOST_PAGES):
            try:
                page = await session.list_tools(params=mcp_types.PaginatedRequestParams(cursor=cursor))
            except MCPError as error:
                if error.code == mcp_types.METHOD_NOT_FOUND:  # a server of other things
                    break
                raise
            for tool in page.tools[: _MOST_TOOLS - len(tools)]:
                tools.setdefault(tool.name, _info(self.server.name, tool))
            cursor = page.next_cursor
            if cursor is None or len(tools) >= _MOST_TOOLS:
                break
        return tuple(tools.values())

    # --- words

    def _fault(self, error: Exception) -> str:
        """Why a call has no result."""
        name = self.server.name
        if isinstance(error, TimeoutError):
            return f"“{name}” did not reply within {self._limits.call_s:g} s; the call was cancelled."
        if not isinstance(error, MCPError):
            return f"“{name}” sent a reply that cannot be understood ({type(error).__name__})."
        if error.code == mcp_types.CONNECTION_CLOSED:
            return f"“{name}” has ended, and the call with it."
        if isinstance(self._transport, HttpTransport) and self._transport.is_shut_out:
            self._why = self._transport.refused()  # as when it has forgotten the session; the next start makes another
            self._scope.cancel()
            return f"“{name}” takes no more calls."  # not why: a model may be elsewhere, and addresses hold keys
        return error.message or f"“{name}” refuses the call, and does not say why."

    def _words(self, error: BaseException) -> str:
        """Why it failed, for the user."""
        while isinstance(error, BaseExceptionGroup):
            told = [one for one in error.exceptions if isinstance(one, ToolError | BaseExceptionGroup)]
            error = (told or error.exceptions)[0]
        name = self.server.name
        if isinstance(error, ToolError):
            return str(error)
        if isinstance(self._transport, HttpTransport):
            if isinstance(error, httpx2.HTTPError):
                return self._transport.unreachable(error)
            if words := self._transport.refused():
                return words
        where = self.server.url or command_of(self.server)
        said = self.program.last_words() if self.program else ""
        if isinstance(error, TimeoutError):
            return f"“{name}”: {where} did not answer within {self._limits.start_s:g} s.{said}"
        if isinstance(error, MCPError):
            return f"“{name}”: {where} refuses: {cut(error.message, 500)}.{said}"
        kind = str(error)[:500] or repr(error)
        if isinstance(error, ValidationError):
            kind = "what it sent cannot be understood"
        return f"“{name}”: {where} cannot be used: {kind}.{said}"


async def _shake_hands(session: ClientSession) -> None:
    """In the manner of all servers until 2026; only who does not know that is asked in the newer one, because many of
    the older ones end when the first thing they are told is anything else.
    """
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in _OLD_ANSWERS:
            raise
        await session.discover()


def _info(server: str, tool: mcp_types.Tool) -> ToolInfo:
    hints = tool.annotations
    return ToolInfo(
        server,
        tool.name,
        cut(tool.description or "", _LONGEST_DESCRIPTION),
        tool.input_schema,
        title=tool.title or (hints.title if hints else None) or "",
        only_reads=bool(hints and hints.read_only_hint),
    )
