"""OpenAI's newer protocol, /v1/responses: the same engines, asked and answered in items instead of messages."""
