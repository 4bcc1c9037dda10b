"""LM Studio's conversations: one file each, a row of messages with versions."""

from typing import Any

from llama_gui.chats.importers.building import (
    Draft,
    LeftOut,
    as_dict,
    as_list,
    as_role,
    as_text,
    as_time,
    as_title,
    build_tree,
    stable_id,
)
from llama_gui.chats.record import ChatRecord
from llama_gui.vocabulary import ChatSettings

NAME = "LM Studio"


def conversations(content: object) -> list[Any] | None:
    """The conversations in a file, or None if it is not LM Studio's."""
    found = content if isinstance(content, list) else [content]
    return found if any(_is_conversation(value) for value in found) else None


def _is_conversation(value: object) -> bool:
    return any("versions" in as_dict(message) for message in as_list(as_dict(value).get("messages")))


def read(values: Any, left_out: LeftOut) -> ChatRecord:
    """One conversation. Each version hangs on the version that is selected of the message before it.

    Raises:
        BrokenChatError: there is nothing to take over.
    """
    values = as_dict(values)
    created = as_time(values.get("createdAt"))
    drafts: list[Draft] = []
    selected: str | None = None
    for number, message in enumerate(as_list(values.get("messages"))):
        versions = [as_dict(version) for version in as_list(as_dict(message).get("versions"))]
        here = [_draft(number, version, selected, created, left_out) for version in versions]
        drafts += here
        chosen = as_dict(message).get("currentlySelected")
        if here:
            selected = here[chosen if isinstance(chosen, int) and 0 <= chosen < len(here) else -1].key
    # A conversation has no id of its own: its birth and first words are what stays the same.
    first = next((draft.text for draft in drafts if draft.text), "")
    chat_id = stable_id(NAME, values.get("createdAt"), first)
    nodes, leaf_id = build_tree(chat_id, drafts, selected)
    return ChatRecord(
        id=chat_id,
        title=as_title(values.get("name")),
        created=created,
        nodes=nodes,
        settings=ChatSettings(as_text(values.get("systemPrompt"))),
        leaf_id=leaf_id,
        pinned=values.get("pinned") is True,
    )


def _draft(number: int, version: dict[str, Any], parent: str | None, created: float, left_out: LeftOut) -> Draft:
    role = version.get("role")
    spoken = as_role(role)
    blocks = as_list(version.get("content"))
    model = as_text(as_dict(version.get("senderInfo")).get("senderName"))
    for step in map(as_dict, as_list(version.get("steps"))):
        if as_dict(step.get("style")).get("type") == "thinking":
            left_out["note of the model's reasoning"] += 1
        elif step.get("type") == "contentBlock":
            blocks = blocks + as_list(step.get("content"))
            model = model or as_text(as_dict(step.get("genInfo")).get("identifier"))
        elif "tool" in as_text(step.get("type")).lower():
            left_out["call of a tool"] += 1
    text = _text(blocks, left_out) if spoken else None
    key = f"{number} {stable_id(version.get('role'), text, parent)}"
    return Draft(key, parent, spoken or "user", text, created, model if spoken == "assistant" else "")


def _text(blocks: list[Any], left_out: LeftOut) -> str | None:
    texts: list[str] = []
    for block in blocks:
        if isinstance(block, str):
            texts.append(block)
        elif text := as_text(as_dict(block).get("text")):
            texts.append(text)
        elif "tool" in as_text(as_dict(block).get("type")).lower():
            left_out["call of a tool"] += 1
        elif as_dict(block).get("type") not in ("text", None):
            left_out["file or picture"] += 1
    return "\n\n".join(texts) or None
