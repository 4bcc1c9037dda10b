"""llama-gui: a desktop chat application, and the inference library under it."""

__version__ = "0.1.0"
