"""Messages as rows of the store."""

from dataclasses import astuple
from typing import Any

from llama_gui.chats.tree import Node, clean_text

NODE_COLUMNS = "id, chat_id, parent_id, role, content, status, created, model, recipe, error, attachments"
"""In the order of the fields of `Node`."""

SAVE_NODE = f"""
    INSERT INTO nodes ({NODE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET content = excluded.content, status = excluded.status, model = excluded.model,
        recipe = excluded.recipe, error = excluded.error, attachments = excluded.attachments
"""
ADD_NODE = f"INSERT OR IGNORE INTO nodes ({NODE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def node_row(node: Node) -> tuple[Any, ...]:
    """The values of `NODE_COLUMNS`, with clean texts: also names come from files and servers that have odd ones."""
    return tuple(clean_text(value) if isinstance(value, str) else value for value in astuple(node))


def readable_text(raw: bytes) -> str:
    """A text of the store, for `text_factory`: where damage has made it none, with a mark in that place."""
    return raw.decode("utf-8", "replace")
