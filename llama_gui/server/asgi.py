"""What the layers of the server hand on to each other: the words of ASGI, and what stands in a head."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a header, given in lower case."""
    return [value for key, value in scope["headers"] if key == name]
