"""Weights that are stored in few bits: in a way that the engine reads, or by which method they are.

A search only tells the method and how many numbers there are of each type, config.json tells all; what it says in
detail is for the engine to judge, see its `quantisation_config`.
"""

from collections.abc import Mapping
from typing import Any

_FP8 = ("fp8", "fbgemm_fp8")
_FP8_AMONG_OTHERS = ("compressed-tensors", "modelopt")
"""What is stored by these may be in FP8 or in something else, by the types of the numbers."""
_READ = frozenset({"F8_E4M3", "BF16", "F16", "F32"})


def is_fp8(config: Mapping[str, Any]) -> bool:
    """Whether a config.json says that weights are in FP8; in a part of it they are as in the whole."""
    told = _told(config)
    method = told.get("quant_method")
    if method == "modelopt":
        return str(told.get("quant_algo")).startswith("FP8")
    if method == "compressed-tensors":
        groups = told.get("config_groups")
        weights = [group.get("weights") for group in _objects(groups)]
        kinds = [(weight.get("type"), weight.get("num_bits")) for weight in weights if isinstance(weight, dict)]
        return bool(kinds) and all(kind == ("float", 8) for kind in kinds)
    return method in _FP8


def is_fp8_on_hub(config: Mapping[str, Any], numbers: Mapping[str, int] | None) -> bool:
    """The same, as far as the hub tells. `numbers`: how many there are of each type of safetensors, if it says so."""
    method = _told(config).get("quant_method")
    if not numbers:
        return method in _FP8
    return method in (*_FP8, *_FP8_AMONG_OTHERS) and "F8_E4M3" in numbers and _READ.issuperset(numbers)


def unread_method(config: Mapping[str, Any], *, in_fp8: bool) -> str:
    """By which method weights are stored that the engine does not read; "" where it does. `in_fp8`: see above."""
    told = _told(config)
    method = told.get("quant_method")
    is_read = method == "mxfp4" if config.get("model_type") == "gpt_oss" else in_fp8
    if not told or is_read:
        return ""
    return method[:40] if isinstance(method, str) and method.isprintable() and method else "unknown"


def _told(config: Mapping[str, Any]) -> Mapping[str, Any]:
    part = config.get("text_config")
    places = (config, part) if isinstance(part, dict) else (config,)
    found = (place.get(name) for place in places for name in ("quantization_config", "compression_config"))
    told = next((value for value in found if value), {})
    if not isinstance(told, dict):
        return {"quant_method": told}
    is_early = any(place.get("compression_config") is told for place in places)
    return {"quant_method": "compressed-tensors", **told} if is_early else told


def _objects(values: object) -> list[Mapping[str, Any]]:
    return [value for value in values.values() if isinstance(value, dict)] if isinstance(values, dict) else []
