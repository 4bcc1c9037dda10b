"""Text to tokens and back, as vLLM's server (`prompt` or `messages`) and llama.cpp's (`content`) have it."""

from typing import Any

from llama_gui.server.refusal import RefusedError, wrong
from llama_gui.server.request_fields import Fields
from llama_gui.server.schema import template_variables
from llama_gui.server.served import ServedEngine
from llama_gui.server.tools import read_tools
from llama_gui.server.turns import read_messages

MOST_IDS = 1_000_000


def tokenize(engine: ServedEngine, fields: Fields) -> dict[str, Any]:
    """The answer of /tokenize.

    Raises:
        RefusedError: a field is missing or wrong.
    """
    ids = _chat_ids(engine, fields) if fields.has("messages") else _text_ids(engine, fields)
    pieces = [engine.tokenizer.piece(token_id) for token_id in ids] if fields.flag("return_token_strs") else None
    return {"count": len(ids), "max_model_len": engine.info.max_context, "tokens": ids, "token_strs": pieces}


def _chat_ids(engine: ServedEngine, fields: Fields) -> list[int]:
    generation = fields.get("add_generation_prompt") is None or fields.flag("add_generation_prompt")
    tools, variables = read_tools(fields), template_variables(fields) or {}
    if fields.flag("continue_final_message"):
        raise fields.wrong("continue_final_message", "false: only /v1/chat/completions goes on with a message")
    ids = engine.apply_chat_template(
        read_messages(fields),
        tokenize=True,
        **{"add_generation_prompt": generation, "tools": tools.schemas if tools else None, **variables},
    )
    special = engine.tokenizer.encode("", add_special_tokens=True) if fields.flag("add_special_tokens") else []
    return ids if ids[: len(special)] == special else [*special, *ids]


def _text_ids(engine: ServedEngine, fields: Fields) -> list[int]:
    name = "prompt" if fields.has("prompt") else "content"
    text = fields.text(name)
    if text is None:
        raise RefusedError(400, "Give prompt, content or messages.", param="prompt")
    asked = fields.has("add_special_tokens") or fields.has("add_special")
    special = fields.flag("add_special_tokens") or fields.flag("add_special") if asked else name == "prompt"
    return engine.tokenizer.encode(text, add_special_tokens=special)


def detokenize(engine: ServedEngine, fields: Fields) -> dict[str, Any]:
    """The answer of /detokenize; `prompt` is vLLM's name for the text, `content` llama.cpp's.

    Raises:
        RefusedError: there are no tokens.
    """
    ids = fields.get("tokens")
    if not isinstance(ids, list) or len(ids) > MOST_IDS or not all(type(i) is int and 0 <= i < 2**31 for i in ids):
        raise wrong("tokens", ids, "a list of token ids")
    text = engine.tokenizer.decode(ids, skip_special_tokens=False)
    return {"prompt": text, "content": text}
