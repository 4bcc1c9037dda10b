"""What a tool sent back -> text for the model, of bounded length. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mcp_types import BlobResourceContents, CallToolResult, ContentBlock

from llama_gui.vocabulary import ToolReply

LONGEST = 100_000
"""Characters of a reply; a model reads a few thousand tokens of it at best."""


def reply_of(result: CallToolResult) -> ToolReply:
    """The texts of a reply; of what is no text, a line each that says what came."""
    text = "\n".join(_lines(result.content))
    if not text.strip() and result.structured_content is not None:  # servers say it as text, too, as a rule
        text = _json(result.structured_content)
    return ToolReply(cut(text or "(The tool sent nothing back.)"), result.is_error)


def cut(text: str, longest: int = LONGEST) -> str:
    """`text`, or its beginning and a line that says how much is left out."""
    text = text.encode(errors="replace").decode()  # half of a surrogate pair can be kept nowhere
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[{len(text) - longest} of {len(text)} characters are left out here.]"


def _lines(blocks: Sequence[ContentBlock]) -> Iterator[str]:
    for block in blocks:
        match block.type:
            case "text":
                yield block.text
            case "image" | "audio":
                kind = "picture" if block.type == "image" else "sound"
                yield f"[A {kind} came, which cannot be shown here: {_about(block.mime_type, block.data)}.]"
            case "resource_link":
                yield f"[A link: {' '.join(filter(None, (block.title or block.name, block.uri, block.description)))}]"
            case "resource":
                held = block.resource
                if isinstance(held, BlobResourceContents):
                    yield f"[A file came, which cannot be read here: {held.uri}, {_about(held.mime_type, held.blob)}.]"
                else:
                    yield held.text


def _about(mime_type: str | None, data: str) -> str:
    return f"{mime_type or 'of no type'}, {len(data) * 3 // 4} bytes"  # base64


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
