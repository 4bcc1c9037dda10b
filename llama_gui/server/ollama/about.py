"""What this protocol tells of the models. None is loaded for that: of those not in memory little is known."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from llama_gui.server.served import ServedEngine


def tags(names: Sequence[str], loaded: dict[str, ServedEngine], since: int) -> dict[str, Any]:
    """The answer of /api/tags. `since`: when the server began, as no model has a date of its own."""
    return {"models": [_listed(name, loaded.get(name), since) for name in names]}


def show(engine: ServedEngine | None) -> dict[str, Any]:
    """The answer of /api/show; None: the model is not in memory."""
    if engine is None:
        return {"details": _details(None), "model_info": {}, "capabilities": ["completion"]}
    info = engine.info
    abilities = {
        "completion": not info.embeds,
        "embedding": info.embeds,
        "tools": info.tools,
        "vision": info.reads_images,
        "thinking": info.thinking is not None or info.thinking_tag or info.marks_thoughts,
    }
    return {
        "details": _details(engine),
        "template": engine.chat_template or "",
        "model_info": {
            "general.architecture": info.architecture,
            "general.parameter_count": info.parameters,
            f"{info.architecture}.context_length": info.max_context,
        },
        "capabilities": [name for name, has in abilities.items() if has],
    }


def _listed(name: str, engine: ServedEngine | None, since: int) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": datetime.fromtimestamp(since, UTC).isoformat().replace("+00:00", "Z"),
        "size": 0 if engine is None else engine.stats().weight_bytes,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": _details(engine),
    }


def _details(engine: ServedEngine | None) -> dict[str, Any]:
    family = "" if engine is None else engine.info.architecture
    return {
        "parent_model": "",
        "format": "",
        "family": family,
        "families": [family] if family else [],
        "parameter_size": "" if engine is None else _many(engine.info.parameters),
        "quantization_level": "" if engine is None else engine.info.dtype,
    }


def _many(count: int) -> str:
    return f"{count / 1e9:.3g}B" if count >= 1e9 else f"{count / 1e6:.3g}M"
