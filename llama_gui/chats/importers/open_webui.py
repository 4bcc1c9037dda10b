"""Open WebUI's export: a list of chats, the messages of each in a map."""

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
    under_parents,
)
from llama_gui.chats.record import ChatRecord
from llama_gui.vocabulary import ChatSettings

NAME = "Open WebUI"


def conversations(content: object) -> list[Any] | None:
    """The conversations in a file, or None if it is not Open WebUI's."""
    found = content if isinstance(content, list) else [content]
    return found if any(_chat_of(value) for value in found) else None


def _chat_of(value: object) -> dict[str, Any]:
    """The chat in an entry of the list, or the entry itself where it was exported alone."""
    entry = as_dict(value)
    for chat in (as_dict(entry.get("chat")), entry):
        if isinstance(as_dict(chat.get("history")).get("messages"), dict):
            return chat
    chat = as_dict(entry.get("chat"))
    return chat if isinstance(chat.get("messages"), list) else {}


def read(values: Any, left_out: LeftOut) -> ChatRecord:
    """One conversation.

    Raises:
        BrokenChatError: there is nothing to take over.
    """
    chat, entry = _chat_of(values), as_dict(values)
    history = as_dict(chat.get("history"))
    created = as_time(entry.get("created_at")) or as_time(chat.get("timestamp"))
    drafts = [
        _draft(name, as_dict(message), created, left_out) for name, message in as_dict(history.get("messages")).items()
    ]
    if not drafts:  # of old versions only the shown path
        rows = enumerate(map(as_dict, as_list(chat.get("messages"))))
        drafts = under_parents([_draft(as_key(row.get("id")) or str(n), row, created, left_out) for n, row in rows])
    key = as_key(entry.get("id")) or as_key(chat.get("id")) or stable_id(*sorted(draft.key for draft in drafts))
    chat_id = stable_id(NAME, key)
    nodes, leaf_id = build_tree(chat_id, drafts, as_key(history.get("currentId")))
    prompt = as_text(as_dict(chat.get("params")).get("system")) or as_text(chat.get("system"))
    return ChatRecord(
        id=chat_id,
        title=as_title(entry.get("title") or chat.get("title")),
        created=created or nodes[0].created,
        nodes=nodes,
        settings=ChatSettings(prompt),
        leaf_id=leaf_id,
        pinned=entry.get("pinned") is True,
        archived=entry.get("archived") is True,
    )


def _draft(key: str, message: dict[str, Any], created: float, left_out: LeftOut) -> Draft:
    spoken = as_role(message.get("role"))
    if message.get("role") == "tool":
        left_out["message of a tool"] += 1
    if files := len(as_list(message.get("files"))):
        left_out["file or picture"] += files
    return Draft(
        key=key,
        parent=as_key(message.get("parentId")),
        role=spoken or "user",
        text=_text(message.get("content"), left_out) if spoken else None,
        created=as_time(message.get("timestamp"), created),
        model=as_text(message.get("modelName") or message.get("model")) if spoken == "assistant" else "",
    )


def _text(content: object, left_out: LeftOut) -> str | None:
    if isinstance(content, str):
        return content if content.strip() else None
    texts: list[str] = []
    for part in as_list(content):
        if text := as_text(as_dict(part).get("text")):
            texts.append(text)
        else:
            left_out["part that is not text"] += 1
    return "\n\n".join(texts) or None
