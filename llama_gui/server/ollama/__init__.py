"""Ollama's protocol, /api/chat and its neighbours: the same engines, answered in lines of JSON."""
