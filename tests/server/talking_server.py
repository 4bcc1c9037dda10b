"""A server that says, byte for byte, what a test tells it to."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

Say = Callable[["Asked"], Iterable[bytes]]


@dataclass(frozen=True)
class Asked:
    """A request that came: its first line, its headers in lower case, the JSON of its body."""

    line: str
    headers: dict[str, str]
    body: Any


class TalkingServer:
    """Answers each connection with the bytes of `say`; a context manager. One request for each connection."""

    def __init__(self, say: Say) -> None:
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()
        """Set when a client has gone before all was said."""
        self._say = say
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                asked = _read(connection)
                if asked is None:
                    return
                self.asked.append(asked)
                for part in self._say(asked):
                    connection.sendall(part)
            except OSError:
                self.hung_up.set()


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    top, _, body = data.partition(b"\r\n\r\n")
    line, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (text.partition(":") for text in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        more = connection.recv(65536)
        if not more:  # it went away before it had asked
            return None
        body += more
    return Asked(line, headers, json.loads(body) if body else None)


def reply(body: bytes, status: int = 200, kind: str = "text/event-stream", **headers: str) -> bytes:
    """A reply whose end is the end of the connection."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n".encode() + body


def json_reply(value: Any, status: int = 200, **headers: str) -> bytes:
    """A JSON reply."""
    return reply(json.dumps(value).encode(), status, "application/json", **headers)


def chunk(text: str = "", **choice: Any) -> bytes:
    """One event of a chat stream."""
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}, **choice}]}).encode() + b"\n\n"
