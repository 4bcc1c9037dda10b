"""The lines of a program as the messages of the protocol, and back."""

import contextlib
import json
from collections.abc import AsyncGenerator

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from llama_gui.errors import ToolError
from llama_gui.tools.program import LONGEST_LINE, Program, command_of
from llama_gui.vocabulary import ToolServer

_MOST_RUBBISH = 1000
"""Lines in a row that are no message. Many a program writes a few of them before it talks."""
_LAST_S = 0.5


class StdioTransport:
    """Starts the program of a server, and ends it. `program`: while there is one."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self.program: Program | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        """The streams of a session. Raises ToolError in it when the program ends or writes only rubbish."""
        program = await self._start()
        received_in, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, sent_out = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with received_in, received, sent, sent_out, anyio.create_task_group() as group:
                group.start_soon(self._read, program, received_in)
                group.start_soon(self._write, program, sent_out)
                group.start_soon(self._await_end, program, received_in)
                try:
                    yield received, sent
                finally:
                    group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await program.end()

    async def _start(self) -> Program:
        with anyio.CancelScope(shield=True):  # else one could be started, and nobody know of it
            self.program = await Program.start(self._server)
        assert self.program is not None  # what a scope may swallow is only its own end
        return self.program

    async def _read(self, program: Program, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        rubbish = 0
        try:
            while line := await program.read_line():
                try:
                    message = _message(line)
                except ValueError:
                    rubbish += bool(line.strip())
                    program.rubbish = line[:200].decode(errors="replace").strip() or program.rubbish
                    if rubbish > _MOST_RUBBISH:
                        raise ToolError(self._words("does not speak the Model Context Protocol")) from None
                else:
                    rubbish, program.rubbish = 0, ""
                    await received.send(SessionMessage(message))
        except ValueError as error:
            raise ToolError(self._words(f"wrote a line of more than {LONGEST_LINE // 2**20} MiB")) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # the session is over
            return
        await self._tell_end(program, received)

    async def _await_end(self, program: Program, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Its output is open for as long as anything that it started lives."""
        await program.wait()
        await anyio.sleep(_LAST_S)
        await self._tell_end(program, received)

    async def _tell_end(self, program: Program, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        await received.aclose()  # whoever waits for a reply is told so
        code = await program.exit_code(_LAST_S)
        how = "closed its output" if code is None else f"ended with exit code {code}"
        raise ToolError(self._words(how))

    @staticmethod
    async def _write(program: Program, sent: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with contextlib.suppress(OSError), sent:  # it takes nothing any more; the other task learns why
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await program.write(text.encode(errors="replace") + b"\n")

    def _words(self, what: str) -> str:
        words = self.program.last_words() if self.program else ""
        return f"“{self._server.name}”: {command_of(self._server)} {what}.{words}"


def _message(line: bytes) -> mcp_types.JSONRPCMessage:
    """Raises ValueError: it is none."""
    try:
        return mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if b"\\ud" not in line.lower():
            raise
        # Half of a surrogate pair, as where JavaScript has cut a text in the middle of an emoji.
        mended = json.dumps(json.loads(line), ensure_ascii=False).encode(errors="replace")
        return mcp_types.jsonrpc_message_adapter.validate_json(mended, by_name=False)
