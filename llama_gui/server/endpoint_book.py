"""The remote servers that the user has added: a file for the addresses, the system's safe for the keys."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llama_gui.errors import InvalidRequestError, SettingsError
from llama_gui.files import write_whole
from llama_gui.library.sign_in import Safe
from llama_gui.server.endpoint import Endpoint

_SERVICE = "llama-gui endpoint"


class EndpointBook:
    """Endpoints by name. `safe` None: this system has none, and keys are kept in the file, for its owner's eyes only.

    A key belongs to its address: an endpoint that gets another address needs its key entered again.
    """

    def __init__(self, file: Path, safe: Safe | None = None) -> None:
        self._file = file
        self._safe = safe

    def endpoints(self) -> tuple[Endpoint, ...]:
        """All of them, as they were added.

        Raises:
            SettingsError: the file cannot be read or understood.
        """
        return tuple(self._endpoint(entry) for entry in self._entries())

    def names(self) -> tuple[str, ...]:
        """Their names; no key is asked for. Raises SettingsError."""
        return tuple(entry["name"] for entry in self._entries())

    def endpoint(self, name: str) -> Endpoint:
        """One of them.

        Raises:
            InvalidRequestError: there is none of this name.
            SettingsError: see `endpoints`.
        """
        entry = next((entry for entry in self._entries() if entry["name"] == name), None)
        if entry is None:
            raise InvalidRequestError("endpoint", name, f"one of {', '.join(self.names()) or 'none'}")
        return self._endpoint(entry)

    def keep(self, endpoint: Endpoint) -> str:
        """Add an endpoint, or put it in the place of the one with its name; where its key is now, in words.

        Raises:
            InvalidRequestError: it has no name.
            SettingsError: it cannot be written.
        """
        if not endpoint.name.strip():
            raise InvalidRequestError("name", endpoint.name, "a text that is not empty")
        entries = self._entries()
        former = next((entry for entry in entries if entry["name"] == endpoint.name), None)
        entry: dict[str, Any] = {
            "name": endpoint.name,
            "base_url": endpoint.base_url,
            "allow_plain_http": endpoint.allow_plain_http,
        }
        words = "It has no key."
        if endpoint.key and self._is_in_safe(endpoint):
            words = "Its key is kept in this system's safe for passwords."
        elif endpoint.key:
            entry["key"] = endpoint.key
            words = f"This system has no safe for passwords, so the key is in {self._file}, which only you can read."
        if former is None:
            entries.append(entry)
        else:
            entries[entries.index(former)] = entry
        self._write(entries)
        if former is not None and (former["base_url"] != endpoint.base_url or not endpoint.key):
            self._forget_key(former, entries)
        return words

    def remove(self, name: str) -> None:
        """Forget an endpoint and its key; a name that is not known is no fault. Raises SettingsError."""
        entries = self._entries()
        rest = [entry for entry in entries if entry["name"] != name]
        if len(rest) < len(entries):
            self._write(rest)
            self._forget_key(next(entry for entry in entries if entry["name"] == name), rest)

    # --- keys

    def _endpoint(self, entry: Mapping[str, Any]) -> Endpoint:
        key = entry.get("key") or self._from_safe(entry["base_url"])
        return Endpoint(entry["name"], entry["base_url"], key, allow_plain_http=entry.get("allow_plain_http") is True)

    def _from_safe(self, base_url: str) -> str:
        if self._safe is not None:
            with contextlib.suppress(Exception):  # each system's safe has errors of its own: locked, refused, gone
                return self._safe.get_password(_SERVICE, base_url) or ""
        return ""

    def _is_in_safe(self, endpoint: Endpoint) -> bool:
        """Put the key into the safe; whether it is there now."""
        if self._safe is not None:
            with contextlib.suppress(Exception):
                self._safe.set_password(_SERVICE, endpoint.base_url, endpoint.key)
                return self._safe.get_password(_SERVICE, endpoint.base_url) == endpoint.key
        return False

    def _forget_key(self, former: Mapping[str, Any], left: list[dict[str, Any]]) -> None:
        """Unless another endpoint has the same address, and so the same key."""
        if self._safe is not None and not any(e["base_url"] == former["base_url"] and "key" not in e for e in left):
            with contextlib.suppress(Exception):
                self._safe.delete_password(_SERVICE, former["base_url"])

    # --- the file

    def _entries(self) -> list[dict[str, Any]]:
        try:
            values = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SettingsError(f"The remote servers in {self._file} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError):
            values = None
        entries = values.get("endpoints") if isinstance(values, dict) else None
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise SettingsError(f"{self._file} does not hold a list of remote servers. Mend it, or move it away.")
        return entries

    def _write(self, entries: list[dict[str, Any]]) -> None:
        content = json.dumps({"endpoints": entries}, indent=2, ensure_ascii=False).encode()
        try:
            write_whole(self._file, content)  # it may hold keys, so nobody else can read it
        except OSError as error:
            raise SettingsError(f"The remote servers cannot be written to {self._file}: {error.strerror}.") from error


def _is_entry(entry: object) -> bool:
    """Whether it can be an endpoint; one that a newer or a careless hand wrote must not break the list later."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return False
    try:
        Endpoint(entry["name"], entry["base_url"], entry.get("key", ""), entry.get("allow_plain_http") is True)
    except (InvalidRequestError, KeyError, TypeError):
        return False
    return True
