"""The shape and the words of a refusal: those of the protocol in which was asked."""

from collections.abc import Callable
from typing import Any

from llama_gui.server.asgi import App, Receive, Scope, Send
from llama_gui.server.messages.errors import error_body, is_of_anthropic
from llama_gui.server.refusal import RefusedError


def refusal_body(refused: RefusedError, scope: Scope, request_id: str) -> dict[str, Any]:
    """What is said to whoever has sent the request of `scope`."""
    if is_of_anthropic(scope):
        return error_body(refused, request_id)
    if scope["path"].startswith("/api/"):  # Ollama's
        return {"error": refused.message}
    return refused.body


def in_words(app: App, words: Callable[[RefusedError], RefusedError]) -> App:
    """`app`, whose requests are read as those of chats; what is refused is told in the words of their protocol."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except RefusedError as error:
            raise words(error) from error

    return handle
