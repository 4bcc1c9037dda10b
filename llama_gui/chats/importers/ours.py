"""Our own JSON export."""

import json
import re
from typing import Any, get_args

from llama_gui.chats.chat_list import TitleSource, clean_name
from llama_gui.chats.chat_settings import settings_from_json
from llama_gui.chats.export import FORMAT, VERSION
from llama_gui.chats.importers.building import (
    MAX_MESSAGES,
    BrokenChatError,
    LeftOut,
    as_dict,
    as_list,
    as_text,
    as_time,
    as_title,
    stable_id,
)
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.tree import Node, sound_nodes
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings

NAME = "llama-gui"

_ID = re.compile(r"[\w-]{1,64}")


def conversations(content: object) -> list[Any] | None:
    """The conversations in a file, or None if it is not ours.

    Raises:
        StoreError: a newer llama-gui has written it.
    """
    values = as_dict(content)
    if values.get("format") != FORMAT:
        return None
    if values.get("version") != VERSION:
        raise StoreError(
            f"This export has the format {values.get('version')!r:.20}; this llama-gui reads {VERSION}. Please use the "
            "newer version. Nothing was imported."
        )
    return as_list(values.get("chats"))


def read(values: Any, _left_out: LeftOut) -> ChatRecord:
    """One conversation with its ids as they were.

    Raises:
        BrokenChatError: there is nothing to take over.
    """
    values = as_dict(values)
    chat_id = _id(values.get("id"))
    rows = [as_dict(row) for row in as_list(values.get("nodes"))]
    if len(rows) > MAX_MESSAGES:
        raise BrokenChatError(f"it has more than {MAX_MESSAGES} messages")
    created = as_time(values.get("created"))
    nodes = tuple(sound_nodes(_node(chat_id, row, created) for row in rows if isinstance(row.get("content"), str)))
    if not nodes:
        raise BrokenChatError("it has no messages")
    leaf_id = values.get("leaf_id")
    source = values.get("title_source")
    return ChatRecord(
        id=chat_id,
        title=as_text(values.get("title")) or as_title(None),
        created=created,
        nodes=nodes,
        settings=_settings(values.get("settings")),
        leaf_id=_id(leaf_id) if leaf_id is not None else None,
        title_source=source if source in get_args(TitleSource) else "user",
        folder=clean_name(as_text(values.get("folder"))),
        pinned=values.get("pinned") is True,
        archived=values.get("archived") is True,
    )


def _id(value: object) -> str:
    """An id of ours as it is; anything else becomes one that is always the same for it."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else stable_id(NAME, json.dumps(value))


def _settings(values: Any) -> ChatSettings:
    return settings_from_json(json.dumps(values or "")).without_reach()


def _node(chat_id: str, row: dict[str, Any], created: float) -> Node:
    parent = row.get("parent_id")
    role: Any = as_text(row.get("role"))  # sound_nodes knows which there are
    status: Any = as_text(row.get("status"))
    return Node(
        id=_id(row.get("id")),
        chat_id=chat_id,
        parent_id=_id(parent) if parent is not None else None,
        role=role,
        content=as_text(row["content"]),
        status="interrupted" if status == "streaming" else status,
        created=as_time(row.get("created"), created),
        model=as_text(row.get("model")),
        recipe=as_text(row.get("recipe")),
        error=as_text(row.get("error")),
        attachments=as_text(row.get("attachments")),
    )
