"""The servers of tools that the user has set up, in one file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_gui.errors import InvalidRequestError, SettingsError
from llama_gui.files import write_whole
from llama_gui.tools.entries import LISTS, entry_of, server_of
from llama_gui.vocabulary import ToolServer


class ToolBook:
    """Servers by name, in the form that other applications have. What we do not understand stays as it is."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> tuple[tuple[ToolServer, ...], tuple[str, ...]]:
        """Those that can be run, in their order; and of each of the others why it cannot.

        Raises:
            SettingsError: the file cannot be read or understood.
        """
        servers: list[ToolServer] = []
        problems: list[str] = []
        for name, entry in self._entries(self._values()).items():
            try:
                servers.append(server_of(name, entry))
            except InvalidRequestError as error:
                problems.append(str(error))
        return tuple(servers), tuple(problems)

    def keep(self, servers: Sequence[ToolServer], former: str = "") -> None:
        """Add servers, or put them in the places of those with their names; the first one in that of `former`.

        Raises:
            SettingsError: the file cannot be read, understood or written.
        """
        values = self._values()
        entries = self._entries(values)
        for server in servers:
            place = former if former in entries else server.name
            entry = entry_of(server, _mapping(entries.get(place)))
            kept = {name: held for name, held in entries.items() if name == place or name != server.name}
            entries = {server.name if name == place else name: held for name, held in kept.items()}
            entries[server.name] = entry
            former = ""
        self._write(values, entries)

    def remove(self, name: str) -> None:
        """Forget a server; a name that is not known is no fault. Raises SettingsError."""
        values = self._values()
        entries = self._entries(values)
        if name in entries:
            self._write(values, {other: entry for other, entry in entries.items() if other != name})

    def _values(self) -> dict[str, Any]:
        try:
            values = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SettingsError(f"The tool servers in {self._file} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or not isinstance(values.get(LISTS[0], {}), dict):
            raise SettingsError(f"{self._file} does not hold a list of tool servers. Mend it, or move it away.")
        return values

    @staticmethod
    def _entries(values: dict[str, Any]) -> dict[str, Any]:
        return dict(values.get(LISTS[0], {}))

    def _write(self, values: dict[str, Any], entries: dict[str, Any]) -> None:
        content = json.dumps({**values, LISTS[0]: entries}, indent=2, ensure_ascii=False)
        try:
            write_whole(self._file, content.encode(errors="backslashreplace"))  # for its owner's eyes: env has secrets
        except OSError as error:
            raise SettingsError(f"The tool servers cannot be written to {self._file}: {error.strerror}.") from error


def _mapping(entry: object) -> dict[str, Any]:
    return entry if isinstance(entry, dict) else {}
