"""A program that was started: its pipes, the last that it wrote on stderr, and its end, with all that it started."""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from asyncio.subprocess import Process, SubprocessStreamProtocol

import anyio
import psutil
from mcp.client.stdio import get_default_environment

from llama_gui.errors import ToolError
from llama_gui.vocabulary import ToolServer

LONGEST_LINE = 32 * 2**20
"""Bytes of one message; pictures come in them."""

_KEPT_WORDS = 8192
_SHOWN_LINES = 5
_SHOWN_LETTERS = 1000
_GRACE_S = 2.0
"""For a program to end by itself when its input has ended; as long again after it was asked to."""


def command_of(server: ToolServer) -> str:
    """What is started, as somebody would type it."""
    return shlex.join((server.command, *server.args))


def _find(server: ToolServer, folders: str) -> str:
    path = shutil.which(os.path.expanduser(server.command), path=folders)
    if path is None:
        raise ToolError(
            f"“{server.name}”: the program {server.command} is not found. Is it installed? Looked for in {folders}."
        )
    return path


class _Pipes(SubprocessStreamProtocol):
    """`gone`: the program has ended. Its pipes need not have: what it started may hold them open."""

    def __init__(self) -> None:
        super().__init__(LONGEST_LINE, asyncio.get_running_loop())
        self.gone = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.gone.set()


class Program:
    """Started with a process group of its own, so that nothing it starts outlives it."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes) -> None:
        self._transport = transport
        self._pid = transport.get_pid()
        self._gone = pipes.gone
        process = Process(transport, pipes, asyncio.get_running_loop())
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._input, self._output, self._errors = process.stdin, process.stdout, process.stderr
        self._words = bytearray()
        self.rubbish = ""
        """The last thing it wrote on stdout that was no message."""
        self._hearing = asyncio.create_task(self._hear())

    @classmethod
    async def start(cls, server: ToolServer) -> "Program":
        """Start the command of a server, with what is safe of our environment, and what it says.

        Raises:
            ToolError: it cannot be started.
        """
        env = get_default_environment() | dict(server.env)
        path = _find(server, env.get("PATH", ""))
        try:
            transport, pipes = await asyncio.get_running_loop().subprocess_exec(
                _Pipes,
                path,
                *server.args,
                env=env,
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, ValueError) as error:  # ValueError: a zero byte
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise ToolError(f"“{server.name}”: {command_of(server)} cannot be started: {why}.") from error
        return cls(transport, pipes)

    async def read_line(self) -> bytes:
        """The next line of its output; b"": there is none any more.

        Raises:
            ValueError: it is longer than `LONGEST_LINE`.
        """
        return await self._output.readline()

    async def write(self, data: bytes) -> None:
        """Give it input; OSError when it takes none any more."""
        self._input.write(data)
        await self._input.drain()

    def last_words(self) -> str:
        """The last lines that it wrote on stderr, as a sentence; "" if it wrote none."""
        lines = self._words.decode(errors="replace").replace("\0", "").splitlines()
        said = "\n".join([line.rstrip() for line in lines if line.strip()][-_SHOWN_LINES:])[-_SHOWN_LETTERS:]
        words = f"\nIt said last:\n{said}" if said else ""
        if self.rubbish:
            words += f"\nIt wrote something that is no message: {self.rubbish}"
        return words

    async def wait(self) -> None:
        """Until it has ended, whoever may hold its pipes."""
        await self._gone.wait()

    async def exit_code(self, within_s: float) -> int | None:
        """Its exit code, if it ends in this time and the last of its words have come."""
        if await self._ends(within_s):
            await asyncio.wait({self._hearing}, timeout=within_s)
        return self._transport.get_returncode()

    # --- its end

    async def end(self) -> None:
        """End it politely: no more input; then a signal; then by force, with all that it started."""
        family = self._family()
        with contextlib.suppress(OSError):
            self._input.close()
        if not await self._ends(_GRACE_S):
            self.terminate()
            await self._ends(_GRACE_S)
        self._kill(family)
        await self._ends(_GRACE_S)
        self._hearing.cancel()
        with contextlib.suppress(OSError):
            self._transport.close()  # a survivor may hold its pipes open

    def terminate(self) -> None:
        """Ask it to end. From any thread."""
        if sys.platform != "win32":  # which has nothing to ask with
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it and all that it started. From any thread."""
        self._kill(self._family())

    def _kill(self, family: list[psutil.Process]) -> None:
        """`family`: what may have left the group. psutil does not mistake another process of the same number."""
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def _family(self) -> list[psutil.Process]:
        if not self._gone.is_set():
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(self._pid)
                return [process, *process.children(recursive=True)]
        return []

    async def _ends(self, within_s: float) -> bool:
        with anyio.move_on_after(within_s):
            await self._gone.wait()
        return self._gone.is_set()

    async def _hear(self) -> None:
        while words := await self._errors.read(4096):
            self._words += words
            del self._words[:-_KEPT_WORDS]
