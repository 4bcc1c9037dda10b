"""Bytes in words."""

from llama_gui.ui.numbers import number_text


def size_text(size: float) -> str:
    """Bytes in words: 14 MB, 2.5 GB."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{number_text(size, 1)} GB"
