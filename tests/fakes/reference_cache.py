"""The cache of keys and values of a model of transformers, the reference, as its version takes it."""

import inspect
from typing import Any


def fresh_cache(model: Any) -> dict[str, Any]:
    """An empty one, as the argument of every call of `model` that goes on with it."""
    from transformers import DynamicCache

    takes = inspect.signature(model.forward).parameters
    name = "cache" if "cache" in takes else "past_key_values"  # which 5.24 deprecates, and 5.40 will not know
    return {name: DynamicCache(config=model.config)}
