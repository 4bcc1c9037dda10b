"""What is told of the server and its models without asking a model anything."""

import contextlib
import hashlib
import platform
import sys
from pathlib import Path
from typing import Any

import llama_gui
from llama_gui.server.limits import Gate
from llama_gui.server.served import ServedEngine


def fingerprint(engine: ServedEngine) -> str | None:
    """The `system_fingerprint` of replies: while it is the same, a request with the same seed gets the same answer.

    None where that is not promised. Looks at the files of the model.
    """
    stats = engine.stats()
    return _digest(engine) if stats.batch_invariant and stats.exact else None


def _digest(engine: ServedEngine) -> str:
    path, info, files = Path(engine.info.path), engine.info, list[tuple[str, int, int]]()
    with contextlib.suppress(OSError):  # it may be gone since it was loaded
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            files.append((file.name, file.stat().st_size, file.stat().st_mtime_ns))
    # The machine, because kernels for another CPU may round otherwise.
    torch = getattr(sys.modules.get("torch"), "__version__", "")
    ways = (info.dtype, info.cache_dtype, info.device)
    made_by = (llama_gui.__version__, torch, platform.node(), info.name, *ways, files)
    return f"fp_{hashlib.sha256(repr(made_by).encode()).hexdigest()[:12]}"


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
