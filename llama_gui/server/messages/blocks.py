"""The system prompt and the messages of a request, which are made of blocks -> the messages of a chat request."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from llama_gui.server.images import part_of_text
from llama_gui.server.refusal import RefusedError
from llama_gui.server.request_fields import Fields

MOST_MESSAGES = 10_000
MOST_BLOCKS = 10_000

_ROLES = ("user", "assistant", "system")
_BILLING = "x-anthropic-billing-header:"
"""How a line begins that Claude Code puts before its system prompt, for Anthropic's own gateway. Where it changes with
each request, nothing behind it would be found in the cache."""
_READ = ("text", "content")
"""Sources of documents that are texts."""
_NO_TEXTS = ("image", "document", "container_upload", "audio", "video")
_TEXT_ONLY = "the models here read texts and, in what the user says, images only"

_Message = dict[str, Any]
_Image = dict[str, Any]
"""A part of a chat request."""


def chat_messages(fields: Fields) -> list[_Message]:
    """`system` and `messages` as chat messages.

    What was thought goes along only while the model is in the middle of its calls: it was thought for these, and
    templates leave out what is older.

    Raises:
        RefusedError: they are missing, or hold something that is no text, no call and no answer to one.
    """
    entries = fields.objects("messages", MOST_MESSAGES)
    if not entries:
        raise RefusedError(400, "messages is missing or empty: give at least one message.", param="messages")
    system = _text(fields, "system") if fields.has("system") else ""
    messages: list[_Message] = [{"role": "system", "content": system}] if system else []
    names: dict[str, str] = {}
    last_said = max((place for place, entry in enumerate(entries) if _is_said(entry)), default=-1)
    for place, entry in enumerate(entries):
        role = entry.one_of("role", _ROLES)
        if role is None:
            raise entry.wrong("role", f"one of {', '.join(_ROLES)}")
        if role == "user":
            for message in _user(entry, names):
                _append(messages, message)
        elif role == "assistant":
            _append(messages, _assistant(entry, names, thinks=place > last_said))
        else:
            _add_system(messages, _text(entry, "content"))
    if not messages:
        raise entries[-1].wrong("content", "a text that is not empty")
    _check_last(entries[-1], messages)
    return messages


def _is_said(entry: Fields) -> bool:
    """Whether it is something that the user says, and not only replies to calls."""
    content = entry.get("content")
    kinds = [block.get("type") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return entry.get("role") == "user" and (isinstance(content, str) or any(kind != "tool_result" for kind in kinds))


def _append(messages: list[_Message], message: _Message) -> None:
    """Two turns of one role in a row are one, as the protocol has it."""
    last = messages[-1] if messages else {}
    if last.get("role") != message["role"] or message["role"] not in ("user", "assistant"):
        messages.append(message)
        return
    last["content"] = _both(last["content"], message["content"])
    if message.get("tool_calls"):
        last["tool_calls"] = [*last.get("tool_calls", ()), *message["tool_calls"]]


def _add_system(messages: list[_Message], text: str) -> None:
    """Of those before the first turn templates want one; the later ones stay where they are."""
    if len(messages) == 1 and messages[0]["role"] == "system":
        messages[0]["content"] += f"\n\n{text}"
    elif text:
        messages.append({"role": "system", "content": text})


def _check_last(entry: Fields, messages: list[_Message]) -> None:
    """An assistant's message at the end is the beginning of the answer."""
    message = messages[-1]
    if message["role"] != "assistant":
        return
    if message.get("tool_calls"):
        raise entry.wrong("content", "followed by a message with the tool_result of each tool_use in it")
    if not message["content"]:
        raise entry.wrong("content", "a text that is not empty: the answer goes on with the last message")
    if len(messages) == 1:
        raise RefusedError(400, "messages holds only what the assistant says: give what it answers.", param="messages")


# --- the messages


def _user(entry: Fields, names: dict[str, str]) -> list[_Message]:
    """Replies to calls stand before what the user says, as templates want them."""
    replies: list[_Message] = []
    said: list[str | _Image] = []
    for block in _blocks(entry, "content"):
        if block.get("type") == "tool_result":
            call_id = _needed(block, "tool_use_id")
            reply = {"role": "tool", "tool_call_id": call_id, "content": _result(block)}
            replies.append({**reply, "name": names[call_id]} if call_id in names else reply)
        elif block.get("type") == "image":
            said.append(_image(block))
        else:
            said.append(_said(block, "text, image or tool_result"))
    return [*replies, *([{"role": "user", "content": _content(said)}] if said or not replies else [])]


def _content(said: Sequence[str | _Image]) -> str | list[_Image]:
    """A text, or where there are images parts as a chat request has them."""
    if not any(isinstance(part, dict) for part in said):
        return _joined(part for part in said if isinstance(part, str))
    runs = groupby(said, lambda part: isinstance(part, str))
    parts = [[{"type": "text", "text": _joined(map(str, run))}] if are_texts else [*run] for are_texts, run in runs]
    return [part for run in parts for part in run if isinstance(part, dict)]


def _both(one: str | list[_Image], other: str | list[_Image]) -> str | list[_Image]:
    """The contents of two turns as that of one."""
    if isinstance(one, str) and isinstance(other, str):
        return _joined((one, other))
    both = [[{"type": "text", "text": part}] if isinstance(part, str) else part for part in (one, other) if part]
    return [part for parts in both for part in parts]


def _image(block: Fields) -> _Image:
    """As a part of a chat request."""
    source = block.inner("source")
    if source is None or source.get("type") != "base64":
        raise block.wrong("source", "an object of the type base64: this server fetches nothing")
    return part_of_text(source.get("data"), source.path_of("data"))


def _assistant(entry: Fields, names: dict[str, str], *, thinks: bool) -> _Message:
    thoughts: list[str] = []
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in _blocks(entry, "content"):
        kind = block.get("type")
        if kind == "tool_use":
            calls.append(_call(block, names))
        elif kind == "thinking":
            thoughts.append(block.text("thinking") or "")
        elif kind != "redacted_thinking":  # nobody but its writer can read it
            texts.append(_said(block, "text, thinking or tool_use"))
    text = _joined(texts)
    if thinks and calls and any(thoughts):
        text = f"<think>\n{_joined(thoughts)}\n</think>\n\n{text}"
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def _call(block: Fields, names: dict[str, str]) -> dict[str, Any]:
    call_id, name, given = _needed(block, "id"), _needed(block, "name"), block.mapping("input")
    names[call_id] = name
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": given or {}}}


def _result(block: Fields) -> str:
    """The text of a reply; of a picture in it the model is told that it came, as with the tools of the window."""
    parts = _blocks(block, "content") if block.has("content") else []
    return _joined(_about(part) or _said(part, "text") for part in parts)


def _about(part: Fields) -> str:
    kind, source = part.get("type"), part.get("source")
    source = source if isinstance(source, dict) else {}
    media = source.get("media_type") or "of no type"
    if kind == "image":
        return f"[A picture came, which cannot be shown here: {media}.]"
    if kind == "document" and source.get("type") not in _READ:
        return f"[A file came, which cannot be read here: {media}.]"
    return f"[{part.get('tool_name')}]" if kind == "tool_reference" else ""


# --- the blocks


def _blocks(fields: Fields, name: str) -> list[Fields]:
    """A list of blocks; a text is one block of it."""
    value = fields.get(name)
    if isinstance(value, str):
        return [Fields({"type": "text", "text": value}, fields.path_of(f"{name}."))]
    if not isinstance(value, list):
        raise fields.wrong(name, "a text, or a list of blocks")
    return fields.objects(name, MOST_BLOCKS) or []


def _said(block: Fields, allowed: str) -> str:
    """The text of a block."""
    kind = block.get("type")
    if kind == "text":
        text = block.text("text")
        if text is None:
            raise block.wrong("text", "a text")
        return "" if text.startswith(_BILLING) else text
    if kind == "search_result":
        heads = [block.text(name) or "" for name in ("title", "source")]
        return "\n".join([*filter(None, heads), _text(block, "content")])
    source = block.inner("source") if kind == "document" else None
    if source is not None and source.get("type") in _READ:
        name = "data" if source.get("type") == "text" else "content"
        return "\n".join(filter(None, (block.text("title"), _text(source, name))))
    raise block.wrong("type", f"{allowed}: {_TEXT_ONLY}" if kind in _NO_TEXTS else allowed)


def _text(fields: Fields, name: str) -> str:
    """A text, or its blocks one behind the other."""
    return _joined(_said(block, "text") for block in _blocks(fields, name))


def _joined(texts: Iterable[str]) -> str:
    """One behind the other; words do not run together."""
    joined = ""
    for text in filter(None, texts):
        runs_on = not joined or joined[-1].isspace() or text[0].isspace()
        joined += text if runs_on else f"\n{text}"
    return joined


def _needed(block: Fields, name: str) -> str:
    text = block.text(name)
    if not text:
        raise block.wrong(name, "a text that is not empty")
    return text
