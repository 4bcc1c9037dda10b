"""The conversation tree, pure: a message is a node, a new answer or edit is its sibling, nothing is overwritten."""

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from llama_gui.chats.message_images import images_in, joined_messages
from llama_gui.chats.tool_use import NOT_MADE, ToolUse, read_use
from llama_gui.errors import BugError
from llama_gui.paths import as_unicode
from llama_gui.vocabulary import ROLES, ChatSettings, Message, Role

NodeStatus = Literal["complete", "streaming", "stopped", "interrupted", "failed"]
STATUSES: tuple[NodeStatus, ...] = ("complete", "streaming", "stopped", "interrupted", "failed")

DEFAULT_TITLE = "New chat"

LEFT = -1
"""The place in the strip of a tab that was closed."""


@dataclass(frozen=True, slots=True)
class Node:
    """One message. `recipe` is the JSON text of how an answer was made, or of what a "tool" message answers
    (`tool_use.py`); `error` says why a failed one failed.
    `attachments` is the JSON text of what `attachments.py` keeps of the files sent along, whose text is in `content`.

    A failed *user* node is a message that the engine refused: it is kept and shown, but never sent again on its own.
    """

    id: str
    chat_id: str
    parent_id: str | None
    role: Role
    content: str
    status: NodeStatus
    created: float
    model: str = ""
    recipe: str = ""
    error: str = ""
    attachments: str = ""


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """One line of the chat list. Times are seconds since the epoch. `deleted`: since when it is in the bin, or None."""

    id: str
    title: str
    created: float
    updated: float
    last_status: NodeStatus
    pinned: bool = False
    folder: str = ""
    archived: bool = False
    deleted: float | None = None


@dataclass(frozen=True, slots=True)
class OpenTab:
    """One open tab: which chat, where in the strip, what was typed and not sent, how far it was scrolled.

    At `LEFT` it is none any more, but was closed with something written in it.
    """

    chat_id: str
    position: int
    draft: str = ""
    scroll: float = 1.0
    is_current: bool = False


def new_node(chat_id: str, role: Role, text: str, status: NodeStatus, parent_id: str | None, model: str = "") -> Node:
    """A message that is made now."""
    return Node(uuid.uuid4().hex, chat_id, parent_id, role, text, status, time.time(), model)


def clean_text(text: str) -> str:
    """`text` as it can be stored, tokenized and searched: lone surrogates become U+FFFD, NUL becomes U+2400."""
    return as_unicode(text).replace("\0", "\u2400")


def clean_settings(settings: ChatSettings) -> ChatSettings:
    """`settings` with clean texts. A stop text is compared with clean text, so it must be clean as well."""
    lists = {
        name: tuple(clean_text(text) for text in getattr(settings, name)) for name in ("stop", "tools", "allowed_tools")
    }
    system_prompt, preset = clean_text(settings.system_prompt), clean_text(settings.preset)
    return replace(settings, system_prompt=system_prompt, preset=preset, **lists)


def sound_nodes(nodes: Iterable[Node]) -> list[Node]:
    """The nodes, oldest first, as a tree can be made of them, whatever damage or another program has written.

    A node whose parent is missing, or not older, hangs on the one before it; a doubled id is left out.
    """
    found: dict[str, Node] = {}
    newest: str | None = None
    for node in nodes:
        if node.id in found:
            continue
        parent_id = node.parent_id if node.parent_id is None or node.parent_id in found else newest
        role = node.role if node.role in ROLES else "user"
        status = node.status if node.status in STATUSES else "interrupted"
        if (parent_id, role, status) != (node.parent_id, node.role, node.status):
            node = replace(node, parent_id=parent_id, role=role, status=status)
        found[node.id] = node
        newest = node.id
    return list(found.values())


class ChatTree:
    """The nodes of one chat. Parents come before their children; the order of adding is the order of age."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self._nodes: dict[str, Node] = {}
        self._children: dict[str | None, list[str]] = {}
        for node in nodes:
            self.add(node)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node_id: str) -> bool:
        return node_id in self._nodes

    def __getitem__(self, node_id: str) -> Node:
        return self._nodes[node_id]

    def add(self, node: Node) -> None:
        """Put a new node under its parent, which must be here already.

        Raises:
            BugError: the id is taken, or the parent is not in this tree.
        """
        if node.id in self._nodes:
            raise BugError(f"Message {node.id} is already in the chat.")
        if node.parent_id is not None and node.parent_id not in self._nodes:
            raise BugError(f"Message {node.id} answers {node.parent_id}, which is not in the chat.")
        self._nodes[node.id] = node
        self._children.setdefault(node.parent_id, []).append(node.id)

    def replace(self, node: Node) -> None:
        """Put a newer value in the place of the node with the same id and parent.

        Raises:
            BugError: there is no such node, or it has another parent.
        """
        old = self._nodes.get(node.id)
        if old is None or old.parent_id != node.parent_id:
            raise BugError(f"Message {node.id} cannot be replaced: it is not where it should be.")
        self._nodes[node.id] = node

    def children(self, node_id: str | None) -> list[Node]:
        """The nodes under `node_id`, oldest first; under None, the beginnings of the chat."""
        return [self._nodes[child] for child in self._children.get(node_id, ())]

    def subtree(self, node_id: str) -> list[Node]:
        """A node and all below it, each parent before its children."""
        found = [self._nodes[node_id]]
        for node in found:  # which grows while it is read
            found += self.children(node.id)
        return found

    def remove(self, node_id: str) -> list[Node]:
        """Take a node and all below it out of the tree. What was taken, each parent before its children."""
        removed = self.subtree(node_id)
        self._children[removed[0].parent_id].remove(node_id)
        for node in removed:
            del self._nodes[node.id]
            self._children.pop(node.id, None)
        return removed

    def newest_leaf(self) -> str | None:
        """The id of the leaf that was added last, or None in an empty tree."""
        return next((node_id for node_id in reversed(self._nodes) if not self._children.get(node_id)), None)

    def path(self, leaf_id: str | None = None) -> list[Node]:
        """The nodes from the root to `leaf_id`; without it, to the newest leaf."""
        found: list[Node] = []
        step = leaf_id if leaf_id is not None else self.newest_leaf()
        while step is not None:
            node = self._nodes[step]
            found.append(node)
            step = node.parent_id
        return found[::-1]

    def messages(self, leaf_id: str | None = None, system_prompt: str = "") -> list[Message]:
        """The path as the engine reads it.

        Answers without text say nothing, so they are left out, unless they called tools; the user messages that then
        meet are joined, because many chat templates refuse two turns of one role in a row.
        """
        found = [Message("system", system_prompt)] if system_prompt.strip() else []
        path = self.path(leaf_id)
        for place, node in enumerate(path):
            if node.role == "tool":
                continue  # it went along with the answer that called
            if node.role == "assistant" and (called := _called_by(path, place)):
                calls = [use.call() for use, _reply in called]
                found.append(Message("assistant", node.content, tool_calls=calls))
                found += [
                    Message("tool", reply.content or NOT_MADE, tool_call_id=use.id, name=use.called)
                    for use, reply in called
                ]
                continue
            images = images_in(node.content, node.attachments) if node.role == "user" else ()
            if not node.content.strip() and not images:
                continue
            if found and found[-1].role == node.role:
                found[-1] = joined_messages(found[-1], Message(node.role, node.content, images=images))
            else:
                found.append(Message(node.role, node.content, images=images))
        return found


def _called_by(path: Sequence[Node], place: int) -> list[tuple[ToolUse, Node]]:
    """What the answer at `place` called, with the replies, which stand right behind it."""
    found: list[tuple[ToolUse, Node]] = []
    for node in path[place + 1 :]:
        use = read_use(node.recipe) if node.role == "tool" else None
        if use is None:
            break
        found.append((use, node))
    return found
