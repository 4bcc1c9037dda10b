"""Imports as Python makes them, also where there is PySide."""

import builtins


def import_plainly() -> None:
    """Take PySide's own way to import out of the way of what is imported from now on.

    It reads the source of each module and keeps every line of it, to learn whether names there may be spelled
    otherwise (`from __feature__ import snake_case`), which none of ours does. With torch, whose import reads 800
    modules, that was 0.8 s of a start, and 40 MB for good. PySide has no switch for it (6.11).
    """
    import PySide6.QtCore  # noqa: F401 (puts it there)

    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
