"""One request from its arrival to its end: its id, what the log says of it, and what the metrics count."""

import logging
import re
import secrets
import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from llama_gui.server.asgi import App, Receive, Scope, Send, header_values
from llama_gui.server.error_shapes import refusal_body
from llama_gui.server.json_body import dump
from llama_gui.server.messages.errors import is_of_anthropic
from llama_gui.server.metrics import Metrics
from llama_gui.server.refusal import RefusedError

access_log = logging.getLogger("llama_gui.server.access")
"""A line for each request, at INFO: no key is in it, no text, and nothing that could be taken for another line."""

_ID = re.compile(rb"[\x21-\x7e]{1,128}")
_VISIT = "llama_gui.visit"
_LONGEST = 200
"""Of what a request asks for; a method, too, may be as long as a head."""


@dataclass(slots=True)
class Visit:
    """One request. The tokens are those of all its answers, as far as they were written.

    `route`: which of ours it came to. `status` 0: it got no answer. `code`: why it was refused, in our word for it.
    """

    id: str
    arrived: float = field(default_factory=time.monotonic)
    route: str = "none"
    status: int = 0
    code: str | None = None
    hung_up: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def seconds(self) -> float:
        """Since it arrived."""
        return time.monotonic() - self.arrived


def visit_of(scope: Scope) -> Visit:
    """That of a request. It begins with the first who asks for it, before any layer makes a scope of its own."""
    if _VISIT not in scope:
        scope[_VISIT] = Visit(_id_of(scope))
    return scope[_VISIT]


async def refuse(refused: RefusedError, scope: Scope, send: Send) -> None:
    """Answer a request with a refusal. Where the body was not read and is too large to be, the connection ends."""
    visit = visit_of(scope)
    visit.code = refused.code
    body = dump(refusal_body(refused, scope, visit.id))
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "x-content-type-options": "nosniff",
        **{name.lower(): value for name, value in refused.headers.items()},
    }
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


class Reception:
    """The outermost ASGI application: whatever becomes of a request, it has an id, is counted and logged."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            return
        visit = visit_of(scope)

        async def noting_send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                visit.status = message["status"]
                names = (b"x-request-id", *((b"request-id",) if is_of_anthropic(scope) else ()))
                ids = [(name, visit.id.encode()) for name in names]
                message = {**message, "headers": [*message.get("headers", ()), *ids]}
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        finally:
            self._end(visit, scope.get("client"), _asked_for(scope))

    def note_unreadable(self, client: tuple[str, int] | None, refused: RefusedError) -> Visit:
        """A request that is no HTTP, and was refused before anybody could look at it."""
        visit = Visit(_new_id(), status=refused.status, code=refused.code)
        self._end(visit, client, "-")
        return visit

    def _end(self, visit: Visit, client: tuple[str, int] | None, asked_for: str) -> None:
        self._metrics.requests[visit.route, visit.status] += 1
        if access_log.isEnabledFor(logging.INFO):
            access_log.info("%s", _line(visit, client, asked_for))


def _id_of(scope: Scope) -> str:
    """The client's own, where it has one that may stand in a log."""
    given = header_values(scope, b"x-request-id")
    if len(given) == 1 and _ID.fullmatch(given[0]):
        return given[0].decode()
    return _new_id()


def _new_id() -> str:
    return f"req_{secrets.token_hex(16)}"


def _asked_for(scope: Scope) -> str:
    # As it came, so that no %0A begins a line; what stands behind a question mark may be a key.
    path = scope["raw_path"].split(b"?")[0].decode("ascii", "backslashreplace")
    return f"{scope['method']} {path}"[:_LONGEST]


def _line(visit: Visit, client: tuple[str, int] | None, asked_for: str) -> str:
    host, port = (client or ("-", 0))[:2]
    parts = [f'{host}:{port} "{asked_for}" {visit.status or "-"}']
    parts += [visit.code] if visit.code else []
    parts += ["hung up"] if visit.hung_up else []
    parts += [f"{visit.seconds:.3f} s"]
    if visit.prompt_tokens:
        parts += [f"{visit.prompt_tokens} + {visit.completion_tokens} tokens"]
    return ", ".join([*parts, visit.id])
