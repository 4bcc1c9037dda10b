"""The models as this protocol lists them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any


def model_fields(name: str, created: int, max_context: int | None) -> dict[str, Any]:
    """One of them. `max_context`: tokens of prompt and answer together, where the model is in memory."""
    room = {} if max_context is None else {"max_input_tokens": max_context, "max_tokens": max_context}
    made = datetime.fromtimestamp(created, UTC).isoformat().replace("+00:00", "Z")
    return {
        "type": "model",
        "id": name,
        "display_name": name,
        "created_at": made,
        "lifecycle": "active",
        "line": None,
        "capabilities": None,
        **room,
    }


def listed(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All of them, on one page."""
    ids = [entry["id"] for entry in entries]
    return {
        "data": list(entries),
        "has_more": False,
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
    }
