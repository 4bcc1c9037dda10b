"""Whether the chat template of a model has a place for what a request brings beside its messages."""

from datetime import datetime

from llama_gui.server.asked import Asked
from llama_gui.server.refusal import RefusedError
from llama_gui.server.served import ServedEngine

_INSTEAD = {"tools": "Leave them out, or ask another model.", "documents": "Put their texts into a message."}


def check_places(asked: Asked, engine: ServedEngine) -> None:
    """Some models were never told of tools, and few of documents. It may take a while.

    Raises:
        RefusedError: the prompt is the same with them and without.
    """
    request = asked.requests[0]
    brought = [name for name, value in (("tools", asked.tools), ("documents", asked.documents)) if value]
    if request.messages is None or not brought:
        return
    tools = {"tools": asked.tools.schemas} if asked.tools else {}
    variables = {**(request.chat_template_kwargs or {}), **tools, "now": datetime.now()}
    prompt = engine.apply_chat_template(request.messages, **variables)
    for name in brought:
        rest = {other: value for other, value in variables.items() if other != name}
        if engine.apply_chat_template(request.messages, **rest) == prompt:
            raise RefusedError(
                400,
                f"The chat template of this model has no place for {name}. {_INSTEAD[name]}",
                param=name,
                code="unsupported_parameter",
            )
