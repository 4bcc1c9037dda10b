"""Servers as ``mcpServers`` files write them, ours and those of other applications; believed in nothing. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from llama_gui.errors import InvalidRequestError
from llama_gui.hosts import is_this_machine
from llama_gui.vocabulary import ToolServer

LISTS = ("mcpServers", "servers")
"""What the list of servers is called; the second one in VS Code."""

_KINDS = {"stdio": "command", "http": "url", "streamable-http": "url", "streamableHttp": "url"}
_OURS = ("type", "command", "args", "env", "url", "headers", "allow_plain_http")
_NOT_DONE = ("cwd", "envFile")
"""What changes how a program runs: without it, it would do something else than its entry says."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ASKED = re.compile(r"\$\{(input|env):[^}]*\}")


def servers_of(text: str) -> tuple[ToolServer, ...]:
    """The servers of a text that somebody pasted: a whole file, its list, or one line of it.

    Raises:
        InvalidRequestError: it is no such text, or says why an entry of it cannot be.
    """
    values = _json(text)
    entries = next((values[name] for name in LISTS if isinstance(values.get(name), dict)), values)
    if "command" in entries or "url" in entries:
        raise InvalidRequestError("text", "a server without a name", 'like {"name": {"command": ...}}')
    if not entries or not all(isinstance(entry, dict) for entry in entries.values()):
        raise InvalidRequestError("text", _short(text), 'like {"mcpServers": {"name": {"command": ...}}}')
    return tuple(server_of(name, entry) for name, entry in entries.items())


def server_of(name: str, entry: object) -> ToolServer:
    """The server of an entry.

    Raises:
        InvalidRequestError: it cannot be one, or is of a kind that we do not run.
    """
    if not isinstance(entry, Mapping):
        raise InvalidRequestError(f"“{name}”", _short(repr(entry)), "an object with a command or a url")
    if entry.get("disabled") not in (None, False):
        raise InvalidRequestError(f"“{name}”: disabled", entry["disabled"], "false, or left out")
    kind = entry.get("type", entry.get("transport"))
    if kind is not None and (not isinstance(kind, str) or kind not in _KINDS):
        known = "stdio or http; the older sse is not supported" if kind == "sse" else "stdio or http"
        raise InvalidRequestError(f"“{name}”: type", kind, known)
    if kind is not None and _KINDS[kind] not in entry:
        raise InvalidRequestError(f"“{name}”: {_KINDS[kind]}", None, f"there, because its type is {kind}")
    for field in _NOT_DONE:
        if entry.get(field):
            raise InvalidRequestError(f"“{name}”: {field}", entry[field], "left out, because it is not supported")
    found = {field: entry[field] for field in _OURS[1:] if entry.get(field) is not None}
    asked = _ASKED.search(json.dumps(found, ensure_ascii=False))
    if asked:
        raise InvalidRequestError(f"“{name}”", asked[0], "the value itself; nothing is put in its place here")
    try:
        server = ToolServer(name, **found)
        check_address(server)
    except InvalidRequestError as error:
        raise InvalidRequestError(f"“{name}”: {error.field}", error.value, error.allowed) from error
    return server


def entry_of(server: ToolServer, former: Mapping[str, Any]) -> dict[str, Any]:
    """What is written of a server; what `former` has besides stays."""
    entry = {name: value for name, value in former.items() if name not in (*_OURS, "transport", "disabled")}
    if server.url:
        ours: dict[str, Any] = {"type": "http", "url": server.url, "headers": dict(server.headers)}
        ours["allow_plain_http"] = server.allow_plain_http
    else:
        ours = {"command": server.command, "args": list(server.args), "env": dict(server.env)}
    return {name: value for name, value in ours.items() if value} | entry


def check_address(server: ToolServer) -> None:
    """Plain http, on which everybody on the way reads along, is for this machine, unless `allow_plain_http`.

    Raises:
        InvalidRequestError: its address or its headers cannot be used.
    """
    if not server.url:
        return
    try:
        url = urlsplit(server.url)
        host, _port = url.hostname, url.port
    except ValueError:
        host, url = None, None
    if url is None or not host or not server.url.isascii() or any(letter <= " " for letter in server.url):
        raise InvalidRequestError("url", server.url[:200], "an address like https://server.example/mcp")
    if url.username or url.password or url.fragment:
        raise InvalidRequestError("url", host, "an address without a name, a password or a hash")
    if url.scheme == "http" and not is_on_this_machine(server.url) and not server.allow_plain_http:
        raise InvalidRequestError(
            "url", server.url[:200], 'https, unless its entry says "allow_plain_http": true; others can read plain http'
        )
    for name, value in server.headers.items():
        if not _HEADER.fullmatch(name) or not all(" " <= letter <= "~" for letter in value):
            raise InvalidRequestError("headers", name, "names and values in visible ASCII letters")


def is_on_this_machine(url: str) -> bool:
    """Whether it is reached without leaving this machine."""
    return is_this_machine(urlsplit(url).hostname or "")


def _json(text: str) -> dict[str, Any]:
    text = text.strip()
    for whole in (text, f"{{{text.rstrip(',')}}}") if text.startswith('"') else (text,):  # a line of such a file
        try:
            values = json.loads(whole)
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict):
            return values
    raise InvalidRequestError("text", _short(text), 'JSON like {"mcpServers": {"name": {"command": ...}}}')


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
