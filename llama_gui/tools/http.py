"""A server behind an address, by the protocol's streamable HTTP."""

import contextlib
from collections.abc import AsyncGenerator

import anyio
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from llama_gui.certificates import certificates
from llama_gui.errors import InvalidRequestError, ToolError
from llama_gui.tools.entries import check_address, is_on_this_machine
from llama_gui.tools.program import LONGEST_LINE
from llama_gui.vocabulary import ToolServer

_CONNECT_S = 10.0
_GOODBYE_S = 1.0
_STATUSES = {
    401: "wants to know who asks (401). Enter its key in the headers; signing in through a browser is not supported",
    403: "does not allow this (403). Check the key in the headers",
    404: "has no tool server at this path (404)",
    405: "has no tool server of this kind at this path (405). The older one with SSE is not supported",
    429: "has too much to do (429). Try again later",
}


class HttpTransport:
    """Connects to the address of a server. Its headers are sent there and nowhere else."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._status = 200
        self._session_id = ""

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        """The streams of a session.

        Raises:
            ToolError: its address cannot be used.
        """
        try:
            check_address(self._server)
        except InvalidRequestError as error:
            raise ToolError(f"“{self._server.name}”: {error}") from error
        url = self._server.url
        trust_env = url.startswith("https:") and not is_on_this_machine(url)  # proxies, as for remote models
        client = httpx2.AsyncClient(
            headers={"User-Agent": "llama-gui", **self._server.headers},
            follow_redirects=False,
            trust_env=trust_env,
            verify=certificates(trust_env=trust_env),
            timeout=httpx2.Timeout(None, connect=_CONNECT_S, write=30.0),
            event_hooks={"response": [self._note]},
        )
        async with client:
            try:
                # It would say goodbye itself, but wait for the answer as long as it takes.
                async with streamable_http_client(
                    url, http_client=client, terminate_on_close=False, max_sse_event_size=LONGEST_LINE
                ) as streams:
                    yield streams
            finally:
                with contextlib.suppress(httpx2.HTTPError), anyio.move_on_after(_GOODBYE_S, shield=True):
                    await self._say_goodbye(client)

    @property
    def is_shut_out(self) -> bool:
        """Whether the server would not listen to the last request at all."""
        return self._status in (401, 403, 404)

    def refused(self) -> str:
        """What the last refusal of the server means, in words; "": it has not refused anything."""
        if self._status < 300:
            return ""
        if self._status < 400:
            what = f"sends to another address ({self._status}), which is not followed. Enter that one, if you trust it"
        else:
            what = _STATUSES.get(self._status, f"refuses with status {self._status}")
        return f"“{self._server.name}”: {self._server.url} {what}."

    def unreachable(self, error: httpx2.HTTPError) -> str:
        """Why there is no connection, in words."""
        if isinstance(error, httpx2.TimeoutException):
            return f"“{self._server.name}” does not answer at {self._server.url}."
        if isinstance(error, httpx2.ConnectError):
            return f"“{self._server.name}”: nothing can be reached at {self._server.url}. Is it running? ({error})"
        return f"“{self._server.name}”: the connection to {self._server.url} broke."

    async def _say_goodbye(self, client: httpx2.AsyncClient) -> None:
        if self._session_id:
            await client.delete(self._server.url, headers={"Mcp-Session-Id": self._session_id})

    async def _note(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":  # a GET, for its news, may be refused by any server
            self._status = response.status_code
            self._session_id = response.headers.get("mcp-session-id", self._session_id)
