"""ChatGPT's export: conversations.json, a tree of messages for each conversation."""

from typing import Any

from llama_gui.chats.importers.building import (
    Draft,
    LeftOut,
    as_dict,
    as_key,
    as_list,
    as_role,
    as_text,
    as_time,
    as_title,
    build_tree,
    stable_id,
)
from llama_gui.chats.record import ChatRecord
from llama_gui.vocabulary import Role

NAME = "ChatGPT"

_TEXT_TYPES = ("text", "multimodal_text")
_REASONING = ("thoughts", "reasoning_recap")


def conversations(content: object) -> list[Any] | None:
    """The conversations in a file, or None if it is not ChatGPT's."""
    found = content if isinstance(content, list) else [content]
    return found if any("mapping" in as_dict(value) for value in found) else None


def read(values: Any, left_out: LeftOut) -> ChatRecord:
    """One conversation: what people and the assistant said.

    Raises:
        BrokenChatError: there is nothing to take over.
    """
    values = as_dict(values)
    mapping = as_dict(values.get("mapping"))
    key = as_key(values.get("conversation_id")) or as_key(values.get("id")) or stable_id(*sorted(mapping))
    chat_id = stable_id(NAME, key)
    created = as_time(values.get("create_time"))
    drafts = [_draft(name, as_dict(entry), created, left_out) for name, entry in mapping.items()]
    nodes, leaf_id = build_tree(chat_id, drafts, as_key(values.get("current_node")))
    return ChatRecord(
        id=chat_id,
        title=as_title(values.get("title")),
        created=created or nodes[0].created,
        nodes=nodes,
        leaf_id=leaf_id,
        archived=values.get("is_archived") is True,
    )


def _draft(name: str, entry: dict[str, Any], created: float, left_out: LeftOut) -> Draft:
    message = as_dict(entry.get("message"))
    spoken = as_role(as_dict(message.get("author")).get("role"))
    model = as_text(as_dict(message.get("metadata")).get("model_slug")) if spoken == "assistant" else ""
    text = _text(message, spoken, left_out) if message else None
    return Draft(
        key=name,
        parent=as_key(entry.get("parent")),
        role=spoken or "user",
        text=text,
        created=as_time(message.get("create_time"), created),
        model=model,
    )


def _text(message: dict[str, Any], spoken: Role | None, left_out: LeftOut) -> str | None:
    """What was said; None for what the application said to itself and its tools."""
    content = as_dict(message.get("content"))
    kind = content.get("content_type")
    if spoken is None:
        if as_dict(message.get("author")).get("role") == "tool":
            left_out["message of a tool"] += 1
        return None
    if kind in _REASONING:
        left_out["note of the model's reasoning"] += 1
        return None
    if message.get("recipient", "all") not in ("all", None):
        left_out["call of a tool"] += 1
        return None
    if as_dict(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return None
    if kind in _TEXT_TYPES:
        return _joined(as_list(content.get("parts")), left_out)
    return as_text(content.get("text")).strip() or None


def _joined(parts: list[Any], left_out: LeftOut) -> str | None:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif as_text(as_dict(part).get("text")):
            texts.append(as_text(part["text"]))
        elif "image" in as_text(as_dict(part).get("content_type")):
            left_out["picture"] += 1
            texts.append("[picture]")  # else an answer about it would hang in the air
        elif part:
            left_out["part that is not text"] += 1
    text = "\n\n".join(text for text in texts if text.strip())
    return text or None
