"""What is written in front of a text before a model for embeddings reads it, as its authors say."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

_FILE = "config_sentence_transformers.json"
_MOST_BYTES = 2**20
_QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
"""What Qwen3 Embedding has for questions; its GGUF files do not hold it."""


@dataclass(frozen=True, slots=True)
class EmbedPrompts:
    """In front of a question, and of a passage that may answer it."""

    query: str = _QUERY
    document: str = ""


def embed_prompts(model: Path) -> EmbedPrompts:
    """Those of a folder, as sentence-transformers saves them; Qwen3 Embedding's where it has none, or is a file."""
    with contextlib.suppress(OSError, ValueError, RecursionError, AttributeError):
        with open(model / _FILE, "rb") as file:
            prompts = json.loads(file.read(_MOST_BYTES)).get("prompts") or {}
        query, document = prompts.get("query", _QUERY), prompts.get("document", "")
        if isinstance(query, str) and isinstance(document, str):
            return EmbedPrompts(query, document)
    return EmbedPrompts()
