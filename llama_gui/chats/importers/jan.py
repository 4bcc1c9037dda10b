"""Jan's threads: a folder for each, with what it is in one file and its messages in another, one on each line."""

import json
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
from llama_gui.vocabulary import ChatSettings

NAME = "Jan"
THREAD_FILE, MESSAGES_FILE = "thread.json", "messages.jsonl"

_KIND = "jan.thread"
_LEFT_OUT = {"reasoning": "note of the model's reasoning", "tool_call": "call of a tool"}


def joined(thread: object, messages: bytes) -> dict[str, Any]:
    """Both files as one value. A line that is damaged, as the last is where Jan was killed, is None."""
    lines = [line for line in messages.decode("utf-8", "replace").split("\n") if line.strip()]
    return {"object": _KIND, "thread": thread, "messages": [_line(line) for line in lines]}


def _line(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def conversations(content: object) -> list[Any] | None:
    """The thread that `joined` made, or None if it is not Jan's."""
    return [content] if as_dict(content).get("object") == _KIND else None


def read(values: Any, left_out: LeftOut) -> ChatRecord:
    """One thread. Its messages are in a row, or, once one was edited or asked again, each names the one above it.

    Raises:
        BrokenChatError: there is nothing to take over.
    """
    thread = as_dict(as_dict(values).get("thread"))
    lines = as_list(as_dict(values).get("messages"))
    messages = [as_dict(line) for line in lines if isinstance(line, dict)]
    if damaged := len(lines) - len(messages):
        left_out["damaged line"] += damaged
    assistant = as_dict(next(iter(as_list(thread.get("assistants"))), None))
    model = as_text(as_dict(assistant.get("model")).get("id"))
    drafts = _drafts(messages, model, left_out)
    # A thread without an id: its birth and first words are what stays the same.
    first = next((draft.text for draft in drafts if draft.text), "")
    chat_id = stable_id(NAME, as_key(thread.get("id")) or (thread.get("created"), first))
    nodes, leaf_id = build_tree(chat_id, drafts, _shown(messages, drafts))
    return ChatRecord(
        id=chat_id,
        title=as_title(thread.get("title") or as_dict(thread.get("metadata")).get("title")),
        created=as_time(thread.get("created"), nodes[0].created),
        nodes=nodes,
        settings=ChatSettings(as_text(assistant.get("instructions"))),
        leaf_id=leaf_id,
        pinned=as_dict(thread.get("metadata")).get("is_favorite") is True,
    )


def _drafts(messages: list[dict[str, Any]], model: str, left_out: LeftOut) -> list[Draft]:
    is_tree = any("parentId" in as_dict(message.get("metadata")) for message in messages)
    drafts: list[Draft] = []
    asked: str | None = None  # the last message of the user
    for number, message in enumerate(messages):
        key = as_key(message.get("id")) or f"#{number}"
        role = as_role(message.get("role"))
        parent = drafts[-1].key if drafts else None
        if is_tree:
            parent = as_key(as_dict(message.get("metadata")).get("parentId"))
            if parent is None and role == "assistant":  # some versions of Jan lost what an answer hangs on
                parent = asked
        text = _text(message.get("content"), left_out) if role else None
        said_by = model if role == "assistant" else ""
        drafts.append(Draft(key, parent, role or "user", text, as_time(message.get("created_at")), said_by))
        asked = key if role == "user" else asked
    return drafts


def _text(content: object, left_out: LeftOut) -> str | None:
    if isinstance(content, str):
        return content or None
    texts: list[str] = []
    for block in map(as_dict, as_list(content)):
        kind = as_text(block.get("type"))
        if kind in _LEFT_OUT:
            left_out[_LEFT_OUT[kind]] += 1
        elif text := as_text(as_dict(block.get("text")).get("value")):
            texts.append(text)
        elif kind != "text":
            left_out["file or picture"] += 1
    return "\n\n".join(texts) or None


def _shown(messages: list[dict[str, Any]], drafts: list[Draft]) -> str | None:
    """The key of the message at which the path ends that Jan shows: the newest child, unless another was chosen."""
    chosen = {
        draft.key: as_key(as_dict(message.get("metadata")).get("activeChildId"))
        for draft, message in zip(drafts, messages, strict=True)
    }
    children: dict[str | None, list[Draft]] = {}
    for draft in drafts:
        children.setdefault(draft.parent if draft.parent in chosen else None, []).append(draft)
    here: str | None = None
    passed: set[str | None] = set()
    while (below := children.get(here)) and here not in passed:
        passed.add(here)
        wanted = chosen.get(here or "")
        by_age = sorted(below, key=lambda draft: draft.created)
        here = wanted if any(draft.key == wanted for draft in below) else by_age[-1].key
    return here
