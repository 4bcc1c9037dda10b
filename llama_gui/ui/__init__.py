"""The window: widgets that show and ask. Everything they do goes through `llama_gui.bridge`."""

from llama_gui.ui.theme import apply_theme
from llama_gui.ui.window import MainWindow

__all__ = ["MainWindow", "apply_theme"]
