"""The part of config.json about layers that see less than others: a window, or no positions."""

from llama_gui.engine.families import Family
from llama_gui.engine.fields import Fields


def window_of(fields: Fields, family: Family) -> int | None:
    """Tokens that a layer with a sliding window sees; None: no layer has one."""
    if family.window == "never" or (family.window == "when used" and not fields.flag("use_sliding_window", False)):
        return None
    if fields.values.get("sliding_window") is None:
        return None
    return fields.integer("sliding_window")


def sliding_layers(fields: Fields, family: Family, layers: int) -> frozenset[int]:
    """Which layers of a network with a window have one. Raises BrokenModelError where nobody can tell."""
    if family.window == "always":
        return frozenset(range(layers))
    kinds = fields.values.get("layer_types")
    if kinds is None and family.rope_interval is not None:
        return unrotated_layers(fields, family, layers)
    if kinds is None and family.window == "by pattern":
        interval = fields.integer("sliding_window_pattern", 6)
        return frozenset(layer for layer in range(layers) if (layer + 1) % interval)
    if kinds is None:
        first = fields.values.get("max_window_layers", 28)
        if isinstance(first, bool) or not isinstance(first, int) or first < 0:
            raise fields.wrong("max_window_layers", "a whole number of at least 0")
        return frozenset(range(first, layers))
    known = ("full_attention", "sliding_attention")
    if not isinstance(kinds, list) or len(kinds) != layers or not all(kind in known for kind in kinds):
        raise fields.wrong("layer_types", f"a list of {layers} names, each {' or '.join(known)}")
    return frozenset(layer for layer, kind in enumerate(kinds) if kind == "sliding_attention")


def unrotated_layers(fields: Fields, family: Family, layers: int) -> frozenset[int]:
    """Layers whose heads do not know positions. Raises BrokenModelError where nobody can tell."""
    if family.rope_interval is None:
        return frozenset()
    flags = fields.values.get("no_rope_layers")  # 1 for those that are rotated
    if flags is None:
        interval = fields.integer("no_rope_layer_interval", family.rope_interval)
        return frozenset(range(interval - 1, layers, interval))
    if not isinstance(flags, list) or len(flags) != layers or not all(flag in (0, 1) for flag in flags):
        raise fields.wrong("no_rope_layers", f"a list of {layers} numbers, each 0 or 1")
    return frozenset(layer for layer, flag in enumerate(flags) if not flag)
