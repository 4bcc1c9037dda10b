"""Markdown, and code within it, into a text document; as it arrives or as a whole."""
