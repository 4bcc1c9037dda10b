"""The servers of tools that the user has set up: kept, started, asked what they offer, and called."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from llama_gui.bridge.tasks import TaskLane
from llama_gui.errors import SettingsError
from llama_gui.tools.book import ToolBook
from llama_gui.tools.client import ToolClient
from llama_gui.tools.entries import check_address, servers_of
from llama_gui.vocabulary import ToolInfo, ToolReply, ToolServer, ToolServerState


class ToolDesk(QObject):
    """All methods are called on the GUI thread and return at once. Nothing is started before a chat wants it."""

    changed = Signal(str)
    """A server whose state is another; "": the list of them is."""
    replied = Signal(int, object)
    """The number of a call, and its `ToolReply`. Never told within `call`."""
    renamed = Signal(str, str)
    """A server's former name, and its new one."""
    failed = Signal(str)
    """Something could not be kept or read, and why."""
    _told = Signal(int, object)
    _came = Signal(int, object)
    _faulty = Signal(str)

    def __init__(self, file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._book = ToolBook(file)
        self._servers: dict[str, ToolServer] | None = None
        self._states: dict[str, ToolServerState] = {}
        self._runs: dict[str, int] = {}  # by name; news of any other run are outdated
        self._calls: set[int] = set()
        self._numbers = count(1)
        self._closed = False
        self._lane: TaskLane | None = None
        for signal, slot in ((self._told, self._on_told), (self._came, self._on_came), (self._faulty, self.failed)):
            signal.connect(slot, Qt.ConnectionType.QueuedConnection)
        self._client = ToolClient(self._told.emit, self._came.emit)

    # --- the list

    def servers(self) -> tuple[ToolServer, ...]:
        """All that are set up, in their order; those that cannot be read are left out, and kept."""
        return tuple(self._listed().values())

    def state(self, name: str) -> ToolServerState:
        """How it stands with a server."""
        return self._states.get(name, ToolServerState())

    def keep(self, server: ToolServer, former: str = "") -> None:
        """Add a server, or put it in the place of the one that was called `former`; it is started anew if it ran."""
        is_renamed = former in self._listed() and former != server.name
        self._keep([server], former)
        if is_renamed:
            self.renamed.emit(former, server.name)

    def add_text(self, text: str) -> tuple[str, ...]:
        """Add the servers of a text that other applications keep theirs in (`{"mcpServers": {...}}`). Their names.

        Raises:
            InvalidRequestError: it is no such text, or says why an entry of it cannot be.
        """
        found = servers_of(text)
        self._keep(found)
        return tuple(server.name for server in found)

    def check(self, server: ToolServer) -> None:
        """Look at what was typed of a server, before it is kept.

        Raises:
            InvalidRequestError: its address or its headers cannot be used.
        """
        check_address(server)

    def remove(self, name: str) -> None:
        """Stop a server, and forget it."""
        self.stop(name)
        if self._listed().pop(name, None) is not None:
            self._write(lambda: self._book.remove(name))
            self.changed.emit("")

    # --- what they do

    def start(self, names: Sequence[str]) -> None:
        """Start those of these that are not running; one that failed is tried again."""
        for name in names:
            server = self._listed().get(name)
            if server is None or self._closed or self._runs_now(name):
                continue
            run = self._runs[name] = next(self._numbers)
            self._client.start(run, server)
            self._set_state(name, ToolServerState("starting"))

    def stop(self, name: str) -> None:
        """End a server."""
        run = self._runs.pop(name, None)
        if run is not None:
            self._client.stop(run)
        self._set_state(name, ToolServerState())

    def is_settled(self, names: Sequence[str]) -> bool:
        """Whether none of these is still starting."""
        return all(self.state(name).status != "starting" for name in names)

    def tools(self, names: Sequence[str]) -> tuple[ToolInfo, ...]:
        """The tools of those of these servers that are ready, in order."""
        return tuple(tool for name in names for tool in self.state(name).tools)

    def call(self, tool: ToolInfo, arguments: Mapping[str, Any]) -> int:
        """Call a tool; `replied` tells what comes back under the number that this returns."""
        number = next(self._numbers)
        self._calls.add(number)
        if self.state(tool.server).status == "ready":
            self._client.call(number, self._runs[tool.server], tool.name, dict(arguments))
        else:
            # Without the reason: the model may be remote, and commands and addresses may hold keys.
            self._came.emit(number, ToolReply(f"“{tool.server}” is not running.", is_error=True))
        return number

    def cancel(self, number: int) -> None:
        """Wait no longer for a call; nothing is told of it any more."""
        if number in self._calls:
            self._calls.remove(number)
            self._client.cancel(number)

    def close(self, timeout_s: float = 2.0) -> bool:
        """End all servers. False: one of them hangs, and was killed."""
        self._closed = True
        self._calls.clear()
        self._runs.clear()
        is_well = self._client.close(timeout_s)
        return (self._lane is None or self._lane.close(1.0)) and is_well

    # --- the file

    def _listed(self) -> dict[str, ToolServer]:
        if self._servers is None:
            try:
                servers, problems = self._book.read()
            except SettingsError as error:
                servers, problems = (), (str(error),)
            self._servers = {server.name: server for server in servers}
            for words in problems:
                self._faulty.emit(words)  # queued: callers of a getter do not expect a signal
        return self._servers

    def _keep(self, servers: Sequence[ToolServer], former: str = "") -> None:
        ran = [server.name for server in servers if self._runs_now(server.name)]
        if self._runs_now(former):
            ran.append(servers[0].name)
        for name in (former, *(server.name for server in servers)):
            self.stop(name)
        self._put(servers, former)
        self._write(lambda: self._book.keep(servers, former))
        self.start(ran)

    def _put(self, servers: Sequence[ToolServer], former: str) -> None:
        """Change the list as `ToolBook.keep` does, so that it is right before the file is written."""
        listed = self._listed()
        for server in servers:
            if former in listed and former != server.name:
                listed.pop(server.name, None)
                listed = {server.name if name == former else name: held for name, held in listed.items()}
            listed[server.name] = server
        self._servers = listed
        self.changed.emit("")

    def _write(self, work: Callable[[], None]) -> None:
        if self._closed:
            return
        if self._lane is None:
            self._lane = TaskLane("tool-servers", self)
        self._lane.run(work, None, self._on_not_written)

    @Slot(object)
    def _on_not_written(self, error: Exception) -> None:
        """Restore the list from the file."""
        self._servers = None
        for name in [name for name in self._runs if name not in self._listed()]:
            self.stop(name)
        self.failed.emit(str(error))
        self.changed.emit("")

    # --- told by the room's thread

    @Slot(int, object)
    def _on_told(self, run: int, state: ToolServerState) -> None:
        name = next((name for name, latest in self._runs.items() if latest == run), None)
        if name is not None:
            self._set_state(name, state)

    @Slot(int, object)
    def _on_came(self, number: int, reply: ToolReply) -> None:
        if number in self._calls:
            self._calls.remove(number)
            self.replied.emit(number, reply)

    def _runs_now(self, name: str) -> bool:
        return self.state(name).status in ("starting", "ready")

    def _set_state(self, name: str, state: ToolServerState) -> None:
        if state != self.state(name):
            self._states[name] = state
            self.changed.emit(name)
