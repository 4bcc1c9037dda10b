"""Tests of llama_gui.bridge."""
