"""The server as a thing that is started and stopped: sockets, a thread of its own, an event loop in it."""

import asyncio
import contextlib
import errno
import ipaddress
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import uvicorn

from llama_gui.errors import InvalidRequestError, ServerError
from llama_gui.server.api_key import is_key
from llama_gui.server.connection import connection_class
from llama_gui.server.http_server import HttpServer
from llama_gui.server.limits import ServerLimits
from llama_gui.server.network import addresses_here, names_here
from llama_gui.server.routes import Routes
from llama_gui.server.security import WILDCARDS, Guard, host_names, read_host, read_origin
from llama_gui.server.served import Models
from llama_gui.server.visits import Reception


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where to listen, and to whom. `port` 0: any that is free.

    Raises:
        InvalidRequestError: the key, a host, the port or an origin cannot be one.
    """

    key: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    limits: ServerLimits = field(default_factory=ServerLimits)

    def __post_init__(self) -> None:
        if not is_key(self.key):
            raise InvalidRequestError("api key", "of another form", "1 to 512 visible ASCII letters without spaces")
        if not self.host.strip():
            raise InvalidRequestError("host", self.host, "an address of this machine")
        if not 0 <= self.port < 65536:
            raise InvalidRequestError("port", self.port, "a whole number from 0 to 65535")
        object.__setattr__(self, "allowed_hosts", tuple(map(read_host, self.allowed_hosts)))
        object.__setattr__(self, "allowed_origins", tuple(map(read_origin, self.allowed_origins)))


class ApiServer:
    """Serves models over HTTP (`FixedModels.of(engine)` for one). A context manager.

    `start` and `stop` are for one thread, whichever. The engine stays its owner's: it is not closed with the server.
    """

    def __init__(self, models: Models, options: ServerOptions) -> None:
        self._models = models
        self._options = options
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: HttpServer | None = None
        self._routes: Routes | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self.address = ""
        self.port = 0

    @property
    def url(self) -> str:
        """What a client on this machine has to know: scheme, address, port, /v1."""
        return self._url({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.address, self.address))

    @property
    def urls_for_others(self) -> tuple[str, ...]:
        """The same for clients on other machines, the likeliest first; none while there is no network, or no way in."""
        if not self.is_for_others:
            return ()
        return tuple(map(self._url, addresses_here() if self.address in WILDCARDS else (self.address,)))

    def _url(self, host: str) -> str:
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"

    @property
    def is_for_others(self) -> bool:
        """Whether other machines can reach it, however its address was spelled; nobody can before the start."""
        return bool(self.address) and not ipaddress.ip_address(self.address.split("%")[0]).is_loopback

    @property
    def is_running(self) -> bool:
        """Whether it serves."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Listen and serve, from when this returns.

        Raises:
            ServerError: the address or port cannot be had.
        """
        if self.is_running:
            return
        sockets = _listen(self._options.host, self._options.port)
        self.address, self.port = sockets[0].getsockname()[:2]
        self._ready.clear()
        self._failure = None
        self._thread = threading.Thread(target=self._run, args=(sockets,), name="llama-gui-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise ServerError(f"The server could not start: {self._failure}") from self._failure

    def stop(self) -> None:
        """End all streams, close all sockets, and wait for it: an instant, or at most three seconds if one hangs on."""
        thread, loop = self._thread, self._loop
        if thread is None:
            return
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(self._end_everything)
        thread.join()
        self._thread = self._loop = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- the server's thread

    def _run(self, sockets: list[socket.socket]) -> None:
        try:
            asyncio.run(self._serve(sockets))
        except BaseException as error:
            self._failure = error
        finally:
            for listener in sockets:
                listener.close()
            self._ready.set()

    async def _serve(self, sockets: list[socket.socket]) -> None:
        self._loop = asyncio.get_running_loop()
        self._routes = Routes(self._models, self._options.limits)
        self._server = HttpServer(self._config(self._routes), self._ready.set)
        await self._server.serve(sockets)
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()  # whoever does not read would keep its socket open
        await asyncio.sleep(0)

    def _config(self, routes: Routes) -> uvicorn.Config:
        options = self._options
        is_wild = self.address in WILDCARDS
        names = options.allowed_hosts if is_wild else (*options.allowed_hosts, options.host)
        names = (*names, *names_here()) if self.is_for_others else names
        guard = Guard(
            routes.app(),
            key=options.key,
            hosts=host_names(self.address, self.port, names),
            origins=options.allowed_origins,
            header_bytes=options.limits.header_bytes,
            own_address=is_wild,
        )
        reception = Reception(guard, routes.metrics)
        return uvicorn.Config(
            reception,  # type: ignore[arg-type]
            http=connection_class(options.limits, reception),
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=options.limits.header_bytes,
            timeout_keep_alive=int(options.limits.idle_seconds) + 1,  # ours is the one that counts
            timeout_graceful_shutdown=options.limits.stop_seconds,
        )

    def _end_everything(self) -> None:
        if self._routes is not None and self._server is not None:
            self._routes.generator.stop()
            self._server.end()


def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on `host`.

    Raises:
        ServerError: they cannot; the text says why and what to do.
    """
    try:
        # "localhost" may be ::1 first, where half of the clients do not look.
        found = socket.getaddrinfo(
            "127.0.0.1" if host == "localhost" else host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise ServerError(f"There is no address {host!r} on this machine: {error.strerror or error}.") from error
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if sys.platform == "win32":  # where SO_REUSEADDR would share the port with anybody
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address[0] == "::":  # everywhere is IPv4, too: Windows would have it otherwise
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ServerError(_why_not(host, port, error)) from error
    return [listener]


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Another program listens on port {port} of {host} already. Choose another: --port {_next_port(port)}"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} needs an administrator. Choose one above 1023: --port 8080"
    return f"The server cannot listen on {host}, port {port}: {error.strerror or error}."


def _next_port(port: int) -> int:
    """A free one near by, as a proposal; 0 lets the system choose."""
    for candidate in range(port + 1, min(port + 50, 65536)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            return candidate
    return 0
