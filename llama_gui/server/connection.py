"""One connection: uvicorn's protocol with limits on how long a head, an idle wait and a reader may take."""

import asyncio
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from llama_gui.server.json_body import dump
from llama_gui.server.limits import ServerLimits
from llama_gui.server.refusal import RefusedError
from llama_gui.server.visits import Reception, visit_of


def connection_class(limits: ServerLimits, reception: Reception) -> type[H11Protocol]:
    """The protocol of a server with these limits, in the form in which uvicorn takes it.

    `reception`: is told of what is no HTTP, and comes to no application.
    """

    class Connection(_Connection):
        _limits = limits
        _reception = reception

    return Connection


class _Connection(H11Protocol):
    """Ends a connection that sends its head too slowly, waits too long for its next request, or reads too slowly."""

    _limits: ServerLimits
    _reception: Reception

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it is between two requests, or has not brought one yet."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_head_timer(self._limits.header_seconds)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        former = self.cycle
        super().handle_events()
        if self.cycle is not former and not self.cycle.response_complete and self._head_timer is not None:
            self._head_timer.cancel()

    def on_response_complete(self) -> None:
        # Counts from now, whatever arrives, up to the next whole head: the rest of a refused body counts too.
        self._start_head_timer(self._limits.idle_seconds)
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
        super().resume_writing()

    def shutdown(self) -> None:
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete:
            self.transport.abort()  # the rest of its request would come too late
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        status = getattr(sys.exception(), "error_status_hint", 400)  # h11's, which uvicorn hands on to nobody
        refused = RefusedError(status, msg, code="invalid_http")
        # What is wrong may be the body of a request whose answer has begun: then there is no other answer.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refuse(refused, self._note(refused))
        self.transport.close()

    def _note(self, refused: RefusedError) -> str:
        """Have it in the log; the id under which it is there."""
        if self.conn.our_state is h11.IDLE:
            return self._reception.note_unreadable(self.client, refused).id
        visit = visit_of(self.scope)  # type: ignore[arg-type] # its head was sound, and it is on its way already
        visit.status, visit.code = refused.status, refused.code
        return visit.id

    def _refuse(self, refused: RefusedError, request_id: str) -> None:
        body = dump(refused.body)
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
            "x-request-id": request_id,
        }
        reason = HTTPStatus(refused.status).phrase.encode()
        for part in (
            h11.Response(status_code=refused.status, headers=[*headers.items()], reason=reason),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(part) or b"")

    def _make_room(self) -> None:
        """The longest idle connection makes room for a new one; where none is idle, the new one ends."""
        open_ones = [c for c in self.connections if isinstance(c, _Connection) and not c.transport.is_closing()]
        if len(open_ones) <= self._limits.connections:
            return
        idle = [c for c in open_ones if c is not self and c.is_idle]
        oldest = min(idle, key=lambda c: c._head_timer.when() if c._head_timer else 0.0, default=self)
        oldest.transport.abort()

    def _start_head_timer(self, seconds: float) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = self.loop.call_later(seconds, self._on_too_slow)

    def _on_too_slow(self) -> None:
        # A transport that closes waits until its reader has read everything, which may be never.
        self.transport.abort()
