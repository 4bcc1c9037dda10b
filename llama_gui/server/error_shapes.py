"""The shape of a refusal: that of the protocol in which was asked."""

from typing import Any

from llama_gui.server.asgi import Scope
from llama_gui.server.messages.errors import error_body, is_of_anthropic
from llama_gui.server.refusal import RefusedError


def refusal_body(refused: RefusedError, scope: Scope, request_id: str) -> dict[str, Any]:
    """What is said to whoever has sent the request of `scope`."""
    if is_of_anthropic(scope):
        return error_body(refused, request_id)
    if scope["path"].startswith("/api/"):  # Ollama's
        return {"error": refused.message}
    return refused.body
