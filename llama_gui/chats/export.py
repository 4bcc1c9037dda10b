"""Chats as Markdown and as JSON, and how an export gets to the disk. HTML is in `export_html.py`."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from html import escape
from pathlib import Path

from llama_gui.chats.message_files import listed_images
from llama_gui.chats.reasoning import Parts, parts_of
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.tool_use import read_use
from llama_gui.chats.tree import ChatTree, Node
from llama_gui.errors import StoreError
from llama_gui.files import SHARED, open_whole
from llama_gui.vocabulary import data_url

FORMAT = "llama-gui chats"
VERSION = 1

_ROLES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_ENDS = {"stopped": "stopped", "interrupted": "interrupted", "failed": "failed", "streaming": "not finished"}
_TICKS = re.compile("`+")
_MARKS = re.compile(r"([\\`*_\[\]<>#|~&])")


def shown_nodes(chat: ChatRecord) -> list[Node]:
    """The messages of the path that is shown, but for answers that say nothing, because they only call tools."""
    tree = ChatTree(chat.nodes)
    leaf_id = chat.leaf_id if chat.leaf_id is not None and chat.leaf_id in tree else None
    path = tree.path(leaf_id)
    called = {node.parent_id for node in path if node.role == "tool"}
    return [node for node in path if node.content.strip() or node.id not in called or node.role == "tool"]


def speaker(node: Node) -> str:
    """Who speaks, with which model, and how it ended if not well: one line."""
    parts = [_ROLES[node.role], " ".join(node.model.split())]
    parts.append(_ENDS.get(node.status, "") if node.role == "assistant" or node.status == "failed" else "")
    return " · ".join(part for part in parts if part)


def local_time(seconds: float) -> datetime | None:
    """A time of the store as the clock on the wall; None for one that no clock can show."""
    try:
        return datetime.fromtimestamp(seconds)
    except (ValueError, OverflowError, OSError):
        return None


def to_markdown(chats: Iterable[ChatRecord]) -> Iterator[str]:
    """Chats as Markdown, piece by piece: of each the path that is shown."""
    for number, chat in enumerate(chats):
        title = _plain(" ".join(chat.title.split()))
        created = local_time(chat.created)
        yield ("\n---\n\n" if number else "") + f"# {title}\n" + (f"\n*{created:%Y-%m-%d %H:%M}*\n" if created else "")
        if chat.settings.system_prompt.strip():
            yield f"\n## System prompt\n\n{chat.settings.system_prompt.strip()}\n"
        for node in shown_nodes(chat):
            yield f"\n## {_plain(speaker(node))}\n\n{_content(node)}\n"


def _content(node: Node) -> str:
    """A message, with what was thought before an answer folded, where HTML in Markdown is understood."""
    if node.role == "tool":
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(node.content)), default=0))
        said = f"{fence}\n{node.content}\n{fence}"
        return f"<details>\n<summary><code>{escape(arguments_of(node))}</code></summary>\n\n{said}\n\n</details>"
    if node.role == "user" and (files := listed_images(node.attachments)):
        shown = "".join(f"![{_plain(file.name)}]({data_url(file.image)})\n\n" for file in files)
        return (shown + node.content).strip()
    parts = parts_of(node)
    if parts.reasoning is None:
        return parts.answer.strip()
    head = f"<summary>{thought_line(parts)}</summary>"
    return f"<details>\n{head}\n\n{parts.reasoning}\n\n</details>\n\n{parts.answer}".strip()


def arguments_of(node: Node) -> str:
    """What a tool was called with, in one line."""
    use = read_use(node.recipe)
    return " ".join(use.arguments.split()) if use is not None else ""


def thought_line(parts: Parts) -> str:
    """What stands for reasoning that is folded."""
    return f"Thought for {parts.words} words"


def _plain(text: str) -> str:
    """A text in which Markdown finds no marks."""
    return _MARKS.sub(r"\\\1", text)


def to_json(chats: Iterable[ChatRecord]) -> Iterator[str]:
    """Chats in our own format, piece by piece: all branches, settings and recipes. `importers/ours.py` reads it."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    yield f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION}, "exported": {json.dumps(now)}, "chats": ['
    for number, chat in enumerate(chats):
        values = asdict(chat)
        for node in values["nodes"]:
            del node["chat_id"]
        yield (",\n" if number else "\n") + json.dumps(values, ensure_ascii=False)
    yield "\n]}\n"


def write_export(path: Path, pieces: Iterable[str | bytes]) -> None:
    """Write an export, whole or not at all: what had the name before is replaced at the end.

    Raises:
        StoreError: the file cannot be written.
    """
    try:
        with open_whole(path, SHARED) as file:
            for piece in pieces:
                file.write(piece if isinstance(piece, bytes) else piece.encode())
    except OSError as error:
        raise StoreError(
            f"The export {path} could not be written: {error.strerror or error}. "
            "Check that its folder exists, has room and may be written, or choose another."
        ) from error
