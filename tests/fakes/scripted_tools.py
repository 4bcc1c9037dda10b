"""A desk of tools without programs: servers are ready when the test says so, and calls answered from a script."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer

from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.vocabulary import ToolInfo, ToolReply, ToolServer, ToolServerState

CLOCK = ToolInfo("clock", "now", "Tells the time.", {"type": "object", "properties": {"zone": {"type": "string"}}})


class ScriptedTools(ToolDesk):
    """`replies`: by the name of the tool; a tool that is not there never replies."""

    def __init__(self, replies: Mapping[str, ToolReply] | None = None, tools: Sequence[ToolInfo] = (CLOCK,)) -> None:
        super().__init__(Path("no-such-folder/mcp.json"))
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[int] = []
        self.started: list[str] = []
        self.states = {tool.server: ToolServerState("ready", tuple(tools)) for tool in tools}
        self._replies = dict(replies or {})

    def servers(self) -> tuple[ToolServer, ...]:
        return tuple(ToolServer(name, command=name) for name in self.states)

    def state(self, name: str) -> ToolServerState:
        return self.states.get(name, ToolServerState())

    def put(self, name: str, state: ToolServerState) -> None:
        """A server's state is another."""
        self.states[name] = state
        self.changed.emit(name)

    def start(self, names: Sequence[str]) -> None:
        self.started += names

    def stop(self, name: str) -> None:
        self.put(name, ToolServerState())

    def is_settled(self, names: Sequence[str]) -> bool:
        return all(self.state(name).status != "starting" for name in names)

    def tools(self, names: Sequence[str]) -> tuple[ToolInfo, ...]:
        ready = (self.state(name) for name in names)
        return tuple(tool for state in ready if state.status == "ready" for tool in state.tools)

    def call(self, tool: ToolInfo, arguments: Mapping[str, Any]) -> int:
        self.calls.append((tool.key, dict(arguments)))
        number = len(self.calls)
        if tool.name in self._replies:
            QTimer.singleShot(0, self, lambda: self.replied.emit(number, self._replies[tool.name]))
        return number

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)

    def close(self, timeout_s: float = 2.0) -> bool:
        return True
