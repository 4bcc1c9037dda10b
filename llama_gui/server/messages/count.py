"""How many tokens the prompt of a message has: the answer of /v1/messages/count_tokens."""

from typing import Any

from llama_gui.server.messages.request import read_prompt
from llama_gui.server.request_fields import Fields
from llama_gui.server.served import ServedEngine


def count_tokens(engine: ServedEngine, fields: Fields) -> dict[str, Any]:
    """As many as are read if it is asked. It may take a while.

    Raises:
        RefusedError: a field is missing or wrong.
    """
    (request,) = read_prompt(fields.with_defaults()).requests
    return {"input_tokens": engine.measure(request).tokens + engine.count(request.answer_text)}
