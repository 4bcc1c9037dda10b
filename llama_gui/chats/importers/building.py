"""What all importers share: values of unknown files made sound, and messages put together to a tree."""

import hashlib
import heapq
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from llama_gui.chats.tree import Node, clean_text, sound_nodes
from llama_gui.vocabulary import Role

MAX_MESSAGES = 200_000
"""Of one conversation."""
MAX_TITLE = 200

_LATEST = 253402300799.0  # the last second of the year 9999


class BrokenChatError(Exception):
    """One conversation that cannot be taken over, and why, for the report."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as another application wrote it. `text` None: it is left out, and what hangs on it moves up."""

    key: str
    parent: str | None
    role: Role
    text: str | None
    created: float
    model: str = ""


class LeftOut(Counter[str]):
    """What was not taken over: kind, in the singular -> how many."""

    def words(self) -> list[str]:
        """One sentence for each kind."""
        return [f"{number} × {kind} was left out." for kind, number in sorted(self.items())]


def stable_id(*parts: object) -> str:
    """The same id for the same origin, so that what is imported twice is there once."""
    text = "\0".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def as_dict(value: object) -> dict[str, Any]:
    """The value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value as clean text if it is a text, else an empty one."""
    return clean_text(value) if isinstance(value, str) else ""


def as_role(value: object) -> Role | None:
    """Who said something, if it was the user or the assistant; tools and systems did not speak."""
    return value if value in ("user", "assistant") else None


def as_title(value: object, otherwise: str = "New chat") -> str:
    """A title on one line, of bounded length."""
    return " ".join(as_text(value).split())[:MAX_TITLE] or otherwise


def as_key(value: object) -> str | None:
    """The id of a message or conversation: a text or number that is not empty."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return str(value) or None


def as_time(value: object, otherwise: float = 0.0) -> float:
    """Seconds since the epoch of a number (of seconds, or of milliseconds or less) or an ISO date."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
        except (ValueError, OverflowError, OSError):
            return otherwise
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e20 or math.isnan(value):
        return otherwise
    seconds = float(value)
    while seconds > 1e11:  # no date of this age in seconds: milli-, micro- or nanoseconds
        seconds /= 1000
    return min(seconds, _LATEST)


def build_tree(
    chat_id: str, drafts: Iterable[Draft], current: str | None = None
) -> tuple[tuple[Node, ...], str | None]:
    """The nodes of a chat, parents first and else by age, and the id of the one that ends the shown path.

    Raises:
        BrokenChatError: there are no messages, or too many.
    """
    by_key: dict[str, Draft] = {}
    for draft in drafts:
        by_key.setdefault(draft.key, draft)
        if len(by_key) > MAX_MESSAGES:
            raise BrokenChatError(f"it has more than {MAX_MESSAGES} messages")
    kept_above: dict[str | None, str | None] = {None: None}  # key -> its node, or that of the next one above it
    nodes: list[Node] = []
    for draft in _parents_first(by_key):
        parent_id = kept_above.get(draft.parent)
        if draft.text is None:
            kept_above[draft.key] = parent_id
            continue
        node_id = stable_id(chat_id, draft.key)
        kept_above[draft.key] = node_id
        text, model = clean_text(draft.text), clean_text(draft.model)
        nodes.append(Node(node_id, chat_id, parent_id, draft.role, text, "complete", draft.created, model))
    if not nodes:
        raise BrokenChatError("it has no messages with text")
    return tuple(sound_nodes(nodes)), kept_above.get(current)


def _parents_first(by_key: dict[str, Draft]) -> list[Draft]:
    """By age, but no message before its parent. Those in a circle begin at their oldest."""
    place = {key: number for number, key in enumerate(by_key)}
    children: dict[str | None, list[str]] = {}
    for key, draft in by_key.items():
        children.setdefault(draft.parent if draft.parent in by_key else None, []).append(key)
    oldest_first = sorted(by_key, key=lambda key: (by_key[key].created, place[key]))
    found: dict[str, Draft] = {}
    for starts in (children.get(None, []), *([key] for key in oldest_first)):
        heap = [(by_key[key].created, place[key], key) for key in starts if key not in found]
        heapq.heapify(heap)
        while heap:
            key = heapq.heappop(heap)[2]
            if key not in found:
                found[key] = by_key[key]
                for child in children.get(key, ()):
                    heapq.heappush(heap, (by_key[child].created, place[child], child))
    return list(found.values())


def under_parents(drafts: list[Draft]) -> list[Draft]:
    """Messages in a row: each under the one before it."""
    return [replace(draft, parent=drafts[n - 1].key if n else None) for n, draft in enumerate(drafts)]
