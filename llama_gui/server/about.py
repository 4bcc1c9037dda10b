"""What is told of the server and its models without asking a model anything."""

from typing import Any

import llama_gui
from llama_gui.server.limits import Gate
from llama_gui.server.served import ServedEngine


def version() -> dict[str, Any]:
    """The answer of /version."""
    return {"version": llama_gui.__version__}


def load(gate: Gate) -> dict[str, Any]:
    """The answer of /load, as vLLM has it: how many answers are written, and requests wait."""
    return {"server_load": gate.taken + gate.waiting}


def tokenizer_info(engine: ServedEngine) -> dict[str, Any]:
    """The answer of /tokenizer_info, as vLLM has it: what lm-evaluation-harness needs to use a remote tokenizer."""
    tokenizer = engine.tokenizer
    end = min(engine.eos_token_ids, default=None)
    named = {} if end is None else {"eos_token": tokenizer.token_text(end)}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": engine.info.max_context,
        "chat_template": engine.chat_template,
        **named,
        **tokenizer.special_tokens_map,
    }
