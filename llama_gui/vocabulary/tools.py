"""Tools: functions of other programs that a model may ask for, in the manner of the Model Context Protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import check_kind, keep


@dataclass(frozen=True, slots=True)
class ToolServer:
    """A program that offers tools: one that we start (`command`, `args`, `env`), or one behind an address (`url`,
    `headers`). The fields are those of the `mcpServers` files that other applications have.

    Plain http, on which everybody on the way reads along, is for this machine, unless `allow_plain_http`.

    Raises:
        InvalidRequestError: it has no name, neither a command nor an address, both of them, or no http address.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    allow_plain_http: bool = False

    def __post_init__(self) -> None:
        for name in ("name", "command", "url"):
            check_kind(name, getattr(self, name), str, "a text")
        if not self.name.strip():
            raise InvalidRequestError("name", self.name, "a text that is not empty")
        check_kind("allow_plain_http", self.allow_plain_http, bool, "true or false")
        check_kind("args", self.args, (list, tuple), "a list of texts")
        if not all(isinstance(arg, str) for arg in self.args):
            raise InvalidRequestError("args", self.args, "a list of texts")
        keep(self, "args", tuple(self.args))  # one may be empty
        for name in ("env", "headers"):
            values: Mapping[Any, Any] = getattr(self, name)
            check_kind(name, values, Mapping, "texts by name")
            if not all(isinstance(part, str) for pair in values.items() for part in pair):
                raise InvalidRequestError(name, dict(values), "texts by name")
        if bool(self.command.strip()) == bool(self.url.strip()):
            raise InvalidRequestError("command", self.command, "a program to start, or else a url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise InvalidRequestError("url", self.url, "an address that begins with http:// or https://")


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """One tool. `server`: the name of the server that has it; `name`: what it is called there; `parameters`: the JSON
    schema of its arguments. `only_reads`: its server says that it changes nothing.
    """

    server: str
    name: str
    description: str
    parameters: Mapping[str, Any]
    title: str = ""
    only_reads: bool = False

    @property
    def key(self) -> str:
        """What settings call it. No two tools share one, whatever slashes a server puts into their names."""
        return f"{_in_a_key(self.server)}/{self.name}"


def _in_a_key(server: str) -> str:
    return server.replace("%", "%25").replace("/", "%2F")


def with_server_renamed(key: str, former: str, name: str) -> str:
    """The key of a tool after its server got another name; of one of another server, as it is."""
    start = f"{_in_a_key(former)}/"
    return f"{_in_a_key(name)}/{key.removeprefix(start)}" if key.startswith(start) else key


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a tool says when it was called; of pictures and sounds only that they came. `is_error`: it went wrong, and
    the text says why.
    """

    text: str
    is_error: bool = False


ToolServerStatus = Literal["off", "starting", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class ToolServerState:
    """How it stands with a server: what it offers while it is ready; why it failed, in words for the user."""

    status: ToolServerStatus = "off"
    tools: tuple[ToolInfo, ...] = ()
    error: str = ""


ToolDecision = Literal["once", "always", "decline"]
"""What the user says to a call: this once, always in this chat, or not."""


@dataclass(frozen=True, slots=True)
class ToolQuestion:
    """A call that waits for the user's word. `arguments`: JSON text, as the model wrote it."""

    node_id: str
    tool: ToolInfo
    arguments: str
