"""What clients of other servers ask for and is not here: why, or where it is instead."""

_EMBEDDINGS = "Embeddings are at /v1/embeddings, and Ollama's at /api/embed: both need a model for embeddings."
_NO_RANKS = "This server ranks and classifies nothing: its models write text. Ask a server that runs a reranker."
_TEXT_ONLY = "This server reads and writes text only."
_KEEPS_NOTHING = "This server keeps nothing of what it answers: send the whole conversation each time."
_COMPLETIONS = "llama.cpp's own protocol is not spoken here: use /v1/completions or /v1/chat/completions."
_OLLAMA = (
    "Of Ollama's protocol there are /api/chat, /api/generate, /api/embed, /api/show, /api/tags and /api/version here."
)
_ANTHROPIC = "Of Anthropic's protocol there are /v1/messages and /v1/messages/count_tokens here."
_TWICE = "For Anthropic's protocol the base address that your program was given must not end with /v1: it adds that."
_V1 = "Addresses of OpenAI's protocol begin with /v1 here: add it to the base address that your program was given."
_FIXED = "What is served is chosen where the server is started, and cannot be changed from here."

_WHY: dict[str, str] = {
    **dict.fromkeys(("/embeddings", "/embedding", "/v1/embedding", "/pooling"), _EMBEDDINGS),
    **dict.fromkeys(("/v1/rerank", "/v2/rerank", "/rerank", "/reranking", "/v1/reranking"), _NO_RANKS),
    **dict.fromkeys(("/v1/score", "/score", "/classify", "/v1/moderations"), _NO_RANKS),
    **dict.fromkeys(("/v1/audio", "/v1/images", "/v1/videos", "/v1/realtime"), _TEXT_ONLY),
    **dict.fromkeys(("/v1/responses", "/v1/chat/completions", "/v1/conversations"), _KEEPS_NOTHING),
    **dict.fromkeys(("/v1/files", "/v1/batches", "/v1/assistants", "/v1/threads"), _KEEPS_NOTHING),
    **dict.fromkeys(("/chat/completions", "/completions", "/responses", "/models"), _V1),
    "/v1/messages/batches": _KEEPS_NOTHING,
    **dict.fromkeys(("/v1/complete", "/anthropic", "/v1/messages"), _ANTHROPIC),
    "/v1/v1": _TWICE,
    **dict.fromkeys(("/completion", "/infill", "/props", "/slots"), _COMPLETIONS),
    **dict.fromkeys(("/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete", "/api/blobs"), _FIXED),
    "/api": _OLLAMA,
    **dict.fromkeys(("/lora-adapters", "/v1/load_lora_adapter", "/v1/fine_tuning"), _FIXED),
}
"""Path -> a sentence about it and all below it."""


def why_not(path: str) -> str | None:
    """What to say about a path that is none of this server's; None: it is nobody's that we know."""
    return next((why for known, why in _WHY.items() if f"{path}/".startswith(f"{known}/")), None)
