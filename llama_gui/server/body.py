"""The body of a request, with a limit on its size and its time; and whether the client is still there."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from llama_gui.server.asgi import Receive, Scope, header_values
from llama_gui.server.limits import ServerLimits
from llama_gui.server.refusal import RefusedError

T = TypeVar("T")


class HungUpError(Exception):
    """The client has gone: nobody is there to be answered."""


async def read_body(scope: Scope, receive: Receive, limits: ServerLimits) -> bytes:
    """All bytes of the body.

    Raises:
        RefusedError: it is too large, or comes too slowly.
        HungUpError: the client went away in the middle.
    """
    announced = header_values(scope, b"content-length")
    if announced and int(announced[0]) > limits.body_bytes:  # h11 lets nothing but digits through
        raise _too_large(limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise HungUpError
                body += message.get("body", b"")
                if len(body) > limits.body_bytes:
                    raise _too_large(limits)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError as error:
        raise RefusedError(
            408, f"The body did not arrive within {limits.body_seconds:g} s.", headers={"Connection": "close"}
        ) from error


def _too_large(limits: ServerLimits) -> RefusedError:
    return RefusedError(
        413,
        f"The body is larger than {limits.body_bytes} bytes.",
        code="body_too_large",
        headers={"Connection": "close"},  # the rest is not read
    )


async def unless_gone(work: Awaitable[T], receive: Receive) -> T:
    """Do `work` while the client is there; `receive` is that of a request whose body was read.

    Raises:
        HungUpError: the client went away; the work was cancelled, and has ended.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_until_gone(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise HungUpError
    finally:
        for one in (task, gone):
            one.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
