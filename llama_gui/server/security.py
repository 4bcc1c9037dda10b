"""Who may speak to the server: the outermost layer, before any route is looked at.

Where the request came from (Host, Origin, what browsers say about themselves), then the key, then the kind of body.
The Host check is what keeps a web page from reaching us under a name of its own that points to this machine.
"""

import contextlib
import hmac
import ipaddress
import re
from collections.abc import Collection, Iterable, MutableMapping
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.server.asgi import App, Receive, Scope, Send, header_values
from llama_gui.server.refusal import RefusedError
from llama_gui.server.visits import refuse

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = ("0.0.0.0", "::")

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(:[0-9]+)?")
_USUAL_PORTS = {"http": ":80", "https": ":443"}
"""Browsers leave them out."""


_OPEN = ("/health", "/ping")
"""What needs no key. Load balancers and containers ask for it, and have none. It tells of no model and no chat; that
something listens here is known already to whoever is told that a key is missing."""


class Guard:
    """An ASGI application around another one, which sees only what may come in.

    Args:
        key: every request must bring it, but those that `_OPEN` names.
        hosts: what a Host header may say, port included; see `host_names`.
        origins: web pages that may ask, as browsers write them ("https://example.org").
        header_bytes: how large a head may be.
        own_address: whether the address that the client connected to is also a name for us (the server listens on all
            addresses, and an address, unlike a name, cannot be made to point elsewhere).
    """

    def __init__(
        self,
        app: App,
        *,
        key: str,
        hosts: Collection[str],
        origins: Collection[str],
        header_bytes: int,
        own_address: bool,
    ) -> None:
        self._app = app
        self._key = key.encode()
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)
        self._header_bytes = header_bytes
        self._own_address = own_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it with a refusal."""
        if scope["type"] != "http":
            return
        origin = None
        try:
            self._check_size(scope)
            self._check_host(scope)
            origin = self._check_origin(scope)
            if origin is not None and scope["method"] == "OPTIONS":
                await _send_preflight(scope, send, origin)
                return
            if not _is_open(scope):
                self._check_key(scope)
            _check_body_kind(scope)
        except RefusedError as refused:
            await refuse(refused, scope, send if origin is None else _with_origin(send, origin))
            return
        await self._app(scope, receive, send if origin is None else _with_origin(send, origin))

    def _check_size(self, scope: Scope) -> None:
        """What came in one piece, h11 has not measured."""
        size = len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(n) + len(v) for n, v in scope["headers"])
        if size > self._header_bytes:
            raise RefusedError(431, f"The headers are larger than {self._header_bytes} bytes.", code="header_too_large")

    def _check_host(self, scope: Scope) -> None:
        if not scope["path"].startswith("/"):
            raise RefusedError(400, "The request line must hold a path that begins with a slash.")
        values = header_values(scope, b"host")
        host = values[0].decode("latin-1").lower() if len(values) == 1 else ""
        if host in self._hosts or (self._own_address and host in _names_of_address(scope)):
            return
        # Without a port it is what a proxy was called by, which has one: see `host_names`.
        name = host if ":" in host.rpartition("]")[2] else f"{host}:443"
        allow = name if _HOST.fullmatch(name) else "NAME"
        raise RefusedError(
            403,
            f"The Host header says {host[:100]!r}, and this server does not go by that name. "
            f"If it should: llama-gui serve --allow-host {allow}",
            code="host_not_allowed",
        )

    def _check_origin(self, scope: Scope) -> str | None:
        """The web page that asks; None when no browser does."""
        values = header_values(scope, b"origin")
        if values:
            origin = values[0].decode("latin-1")
            if len(values) == 1 and origin in self._origins:
                return origin
            raise RefusedError(
                403,
                f"The web page {origin[:100]!r} may not use this server. "
                "If it should: llama-gui serve --allow-origin ORIGIN",
                code="origin_not_allowed",
            )
        if header_values(scope, b"sec-fetch-site") not in ([], [b"none"], [b"same-origin"]):
            raise RefusedError(403, "Another web page may not use this server.", code="origin_not_allowed")
        return None

    def _check_key(self, scope: Scope) -> None:
        values = header_values(scope, b"authorization")
        scheme, _, given = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
        own = header_values(scope, b"x-api-key")  # as Anthropic's clients have it; some send both
        if len(own) == 1 and hmac.compare_digest(own[0].strip(b" "), self._key):
            return
        # Schemes are written in any case (RFC 9110), keys are not. Nobody who guesses is slowed down: of the 256 random
        # bits of our keys a network that brings a million guesses a second finds none, and a counter of wrong ones
        # would let any device shut out the others.
        if scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(b" "), self._key):
            return
        raise RefusedError(
            401,
            "The key is missing or wrong. Send the header: Authorization: Bearer KEY (or: x-api-key: KEY)",
            code="invalid_api_key",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _is_open(scope: Scope) -> bool:
    return scope["method"] in ("GET", "HEAD") and scope["path"].rstrip("/") in _OPEN


def _check_body_kind(scope: Scope) -> None:
    """Only JSON: what a web form can send without asking first is refused.

    But to those who speak Ollama's protocol: that looks at no kind, so some of its clients tell none. That they bring a
    key, which a form cannot, was seen before.
    """
    if scope["method"] != "POST":
        return
    kinds = header_values(scope, b"content-type")
    kind = kinds[0].split(b";")[0].strip().lower() if len(kinds) == 1 else b""
    if kind != b"application/json" and not scope["path"].startswith("/api/"):
        raise RefusedError(
            415, "The body must be JSON. Send the header: Content-Type: application/json", code="no_json"
        )
    if any(coding.strip().lower() != b"identity" for coding in header_values(scope, b"content-encoding")):
        raise RefusedError(415, "The body must not be compressed.", code="compressed_body")


def read_host(text: str) -> str:
    """A name or address of this machine, with a port or without.

    Raises:
        InvalidRequestError: no Host header could say it.
    """
    host = text.strip().lower()
    with contextlib.suppress(ValueError):
        host = _bracketed(str(ipaddress.ip_address(host)))
    if not _HOST.fullmatch(host):
        raise InvalidRequestError("allowed host", text, "a name or an address, as in box.local or box.local:443")
    return host


def read_origin(text: str) -> str:
    """A web page's origin as browsers write it: ``https://example.org``.

    Raises:
        InvalidRequestError: no browser could send it.
    """
    if text in ("null", "file://"):  # pages without a host
        return text
    origin = text.strip().rstrip("/").lower()
    if not _ORIGIN.fullmatch(origin):
        raise InvalidRequestError("allowed origin", text, "scheme and host without a path, as in https://example.org")
    return origin.removesuffix(_USUAL_PORTS.get(origin.partition("://")[0], ""))


def host_names(bound: str, port: int, allowed: Iterable[str] = ()) -> frozenset[str]:
    """What a Host header may say to a server that listens on `bound`: that, this machine's names, and `allowed`."""
    names = [*LOOPBACK_NAMES, *allowed]
    if bound not in WILDCARDS:
        names.append(_bracketed(bound))
    spelled = {f"{name.lower()}:{port}" for name in names}
    with_port = {name.lower() for name in allowed if _has_port(name)}
    # Whoever calls a proxy at a usual port leaves that out, and the proxy says what it was told.
    spelled |= with_port | {name.removesuffix(usual) for name in with_port for usual in _USUAL_PORTS.values()}
    # A browser or client leaves out the port only where it is the one that everybody knows.
    return frozenset(spelled | {name.lower() for name in names} if port == 80 else spelled)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")


def _names_of_address(scope: Scope) -> frozenset[str]:
    address, port = (scope.get("server") or ("", 0))[:2]
    # An IPv6 socket that takes IPv4 too calls those addresses ::ffff:192.168.1.5.
    return host_names(str(address).split("%")[0].removeprefix("::ffff:"), int(port or 0))


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


async def _send_preflight(scope: Scope, send: Send, origin: str) -> None:
    """A browser asks whether a web page, one that may, may ask."""
    asked = b", ".join(header_values(scope, b"access-control-request-headers"))
    headers = [
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", asked or b"authorization, content-type"),
        (b"access-control-max-age", b"600"),
    ]
    if header_values(scope, b"access-control-request-private-network"):
        headers.append((b"access-control-allow-private-network", b"true"))
    sender = _with_origin(send, origin)
    await sender({"type": "http.response.start", "status": 204, "headers": headers})
    await sender({"type": "http.response.body", "body": b""})


def _with_origin(send: Send, origin: str) -> Send:
    """`send`, with the headers that let this web page read the answer."""

    async def send_with_origin(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            extra = [
                (b"access-control-allow-origin", origin.encode()),
                (b"access-control-expose-headers", b"x-request-id, request-id, retry-after"),
                (b"vary", b"Origin"),
            ]
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return send_with_origin
