"""Text to tokens and back, as vLLM's server (`prompt` or `messages`) and llama.cpp's (`content`) have it."""

from typing import Any

from llama_gui.server.refusal import RefusedError, wrong
from llama_gui.server.request_fields import Fields
from llama_gui.server.schema import MOST_DOCUMENTS, template_variables
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
    named = fields.flag("with_pieces")
    tokens = [{"id": token_id, "piece": _piece(engine, token_id)} for token_id in ids] if named else ids
    return {"count": len(ids), "max_model_len": engine.info.max_context, "tokens": tokens, "token_strs": pieces}


def _piece(engine: ServedEngine, token_id: int) -> str | list[int]:
    """A token's text, or its bytes where they are none, as llama.cpp has it."""
    raw = engine.tokenizer.token_bytes(token_id)
    if raw is None:
        return engine.tokenizer.token_text(token_id)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return list(raw)


def _chat_ids(engine: ServedEngine, fields: Fields) -> list[int]:
    generation = fields.get("add_generation_prompt") is None or fields.flag("add_generation_prompt")
    tools, variables = read_tools(fields), template_variables(fields) or {}
    if fields.has("chat_template"):
        raise fields.wrong("chat_template", "left out: this server renders with the model's own")
    if fields.flag("continue_final_message"):
        raise fields.wrong("continue_final_message", "false: only /v1/chat/completions goes on with a message")
    documents = fields.objects("documents", MOST_DOCUMENTS)
    named = {} if documents is None else {"documents": [document.with_defaults() for document in documents]}
    ids = engine.apply_chat_template(
        read_messages(fields),
        tokenize=True,
        **{"add_generation_prompt": generation, "tools": tools.schemas if tools else None, **named, **variables},
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
    if fields.get("parse_special") is None or fields.flag("parse_special"):
        return engine.tokenizer.encode(text, add_special_tokens=special)
    return [*engine.tokenizer.encode("", add_special_tokens=special), *engine.tokenizer.encode_literally(text)]


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
