"""The OpenAI-compatible face: our models for other programs, and other people's servers for our window."""
