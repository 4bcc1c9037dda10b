"""The servers of tools that the user has set up: kept, started, asked what they offer, and called."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from llama_gui.vocabulary import ToolInfo, ToolServer, ToolServerState


class ToolDesk(QObject):
    """All methods are called on the GUI thread and return at once. Nothing is started before a chat wants it."""

    changed = Signal(str)
    """A server whose state is another; "": the list of them is."""
    replied = Signal(int, object)
    """The number of a call, and its `ToolReply`. Never told within `call`."""
    failed = Signal(str)
    """Something could not be kept or read, and why."""

    def __init__(self, file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file

    def servers(self) -> tuple[ToolServer, ...]:
        """All that are set up, in their order; those that cannot be read are left out, and kept."""
        return ()

    def state(self, name: str) -> ToolServerState:
        """How it stands with a server."""
        return ToolServerState()

    def keep(self, server: ToolServer, former: str = "") -> None:
        """Add a server, or put it in the place of the one that was called `former`; it is started anew if it ran."""

    def add_text(self, text: str) -> tuple[str, ...]:
        """Add the servers of a text that other applications keep theirs in (`{"mcpServers": {...}}`). Their names.

        Raises:
            InvalidRequestError: it is no such text, or says why an entry of it cannot be.
        """
        return ()

    def remove(self, name: str) -> None:
        """Stop a server, and forget it."""

    def start(self, names: Sequence[str]) -> None:
        """Have these run, but for those that do already; one that failed is tried again."""

    def stop(self, name: str) -> None:
        """End a server."""

    def is_settled(self, names: Sequence[str]) -> bool:
        """Whether none of these is still starting."""
        return True

    def tools(self, names: Sequence[str]) -> tuple[ToolInfo, ...]:
        """What those of these servers offer that are ready, in order."""
        return ()

    def call(self, tool: ToolInfo, arguments: Mapping[str, Any]) -> int:
        """Call a tool; `replied` tells what comes back under the number that this returns."""
        return 0

    def cancel(self, number: int) -> None:
        """Wait no longer for a call; nothing is told of it any more."""

    def close(self, timeout_s: float = 2.0) -> bool:
        """End all servers. False: one of them hangs, and was killed."""
        return True
