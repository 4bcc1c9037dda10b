"""Tests of llama_gui.chats.importers."""
