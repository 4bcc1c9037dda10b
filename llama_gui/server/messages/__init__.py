"""Anthropic's protocol, /v1/messages: the same engines, asked and answered in blocks of content."""
