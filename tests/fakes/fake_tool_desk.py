"""A tool desk without programs: it does at once what it is asked, and its servers stand as a test says."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import ToolInfo, ToolReply, ToolServer, ToolServerState

CLOCK = ToolInfo("clock", "now", "Tells the time.", {"type": "object", "properties": {"zone": {"type": "string"}}})


class FakeToolDesk(ToolDesk):
    """`started`, `stopped`, `calls` and `cancelled`: what was asked for, in order.

    `replies`: by the name of the tool; one that is not there never replies.
    """

    def __init__(
        self,
        file: Path = Path("mcp.json"),
        parent: QObject | None = None,
        replies: Mapping[str, ToolReply] | None = None,
    ) -> None:
        super().__init__(file, parent)
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[int] = []
        self._replies = dict(replies or {})
        self._known: dict[str, ToolServer] = {}
        self._stands: dict[str, ToolServerState] = {}

    def add(self, name: str, state: ToolServerState | None = None) -> ToolServer:
        """Set a server up."""
        server = ToolServer(name, command="run", args=(name,))
        self.keep(server)
        if state is not None:
            self.set_state(name, state)
        return server

    def set_state(self, name: str, state: ToolServerState) -> None:
        """Let it stand so with a server from now on."""
        self._stands[name] = state
        self.changed.emit(name)

    def servers(self) -> tuple[ToolServer, ...]:
        return tuple(self._known.values())

    def state(self, name: str) -> ToolServerState:
        return self._stands.get(name, ToolServerState())

    def keep(self, server: ToolServer, former: str = "") -> None:
        servers = [server if known.name == former else known for known in self.servers()]
        self._known = {known.name: known for known in (servers if former else [*servers, server])}
        self.changed.emit("")

    def add_text(self, text: str) -> tuple[str, ...]:
        try:
            entries: dict[str, dict[str, Any]] = json.loads(text)["mcpServers"]
        except (ValueError, KeyError) as error:
            raise InvalidRequestError("text", text, "JSON with mcpServers") from error
        for name, entry in entries.items():
            self.keep(ToolServer(name, command=entry["command"], args=tuple(entry.get("args", ()))))
        return tuple(entries)

    def remove(self, name: str) -> None:
        del self._known[name]
        self._stands.pop(name, None)
        self.changed.emit("")

    def start(self, names: Sequence[str]) -> None:
        self.started += names
        for name in names:
            if self.state(name).status in ("off", "failed"):
                self.set_state(name, ToolServerState("starting"))

    def stop(self, name: str) -> None:
        self.stopped.append(name)
        self.set_state(name, ToolServerState())

    def tools(self, names: Sequence[str]) -> tuple[ToolInfo, ...]:
        return tuple(tool for name in names for tool in self.state(name).tools)

    def call(self, tool: ToolInfo, arguments: Mapping[str, Any]) -> int:
        self.calls.append((tool.key, dict(arguments)))
        number = len(self.calls)
        if tool.name in self._replies:
            QTimer.singleShot(0, self, lambda: self.replied.emit(number, self._replies[tool.name]))
        return number

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)


def clock_desk(replies: Mapping[str, ToolReply] | None = None, *more: ToolInfo) -> FakeToolDesk:
    """With a server that runs for each of the tools: the clock, and others."""
    desk = FakeToolDesk(replies=replies)
    for one in (CLOCK, *more):
        desk.add(one.server, ToolServerState("ready", (one,)))
    return desk


def tool(server: str, name: str, description: str = "", *, title: str = "", only_reads: bool = False) -> ToolInfo:
    """One without parameters."""
    return ToolInfo(server, name, description, {}, title, only_reads)
