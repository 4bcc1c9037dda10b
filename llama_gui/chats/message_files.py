"""Files and passages in a message: as the model reads them, and out of it again."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llama_gui.chats.attachments import Attachment, FileLine, Source, clean, clean_name
from llama_gui.chats.documents.kinds import ENDINGS
from llama_gui.chats.message_images import image_entry, image_of
from llama_gui.chats.passages import PASSAGE, SMALLEST, Excerpt
from llama_gui.chats.tree import clean_text

_FENCES = re.compile("`{3,}")


def compose(
    text: str, attachments: Sequence[Attachment], sources: Sequence[Source] = (), *, in_vain: bool = False
) -> tuple[str, str]:
    """The message as the model reads it, and the JSON text that says where in it the files and the user's words are.

    That text also holds the whole of a file of which an excerpt goes along: nothing of it is lost.
    The files come first: models answer better when the question follows what it is about.
    """
    text = clean_text(text)
    if not attachments and not sources and not in_vain:
        return text, ""
    content, files = sources_text(sources), []
    for attachment in attachments:
        if attachment.image:  # it stands before the user's words, and has none
            files.append(image_entry(clean_name(attachment.name), attachment.size, attachment.image))
            continue
        name, whole, excerpt = clean_name(attachment.name), clean(attachment.text), attachment.excerpt
        body = clean(excerpt.text) if excerpt is not None else whole
        parts = f", {excerpt.chosen} of its {excerpt.total} passages" if excerpt is not None else ""
        beginning, end = _fenced(f"File “{name}”{parts}", body, name)
        content += beginning
        file: dict[str, Any] = {"name": name, "size": attachment.size, "start": len(content), "length": len(body)}
        if excerpt is not None:
            file |= {"whole": whole, "chosen": excerpt.chosen, "total": excerpt.total, "cut": excerpt.size}
        files.append(file)
        content += body + end
    where: dict[str, Any] = {"text": len(content), "files": files}
    if sources or in_vain:
        where["sources"] = [_source_entry(source) for source in sources]
    return content + text, json.dumps(where, ensure_ascii=False)


def sources_text(sources: Sequence[Source]) -> str:
    """What stands of them at the beginning of a message."""
    text = ""
    for source in sources:
        body = clean(source.excerpt.text)
        text += body.join(_fenced(_headline(source), body, "" if source.is_listing else source.name))
    return text


def _headline(source: Source) -> str:
    name, excerpt = clean_name(source.name), source.excerpt
    if not source.is_listing:
        return f"From the file “{name}”, {excerpt.chosen} of its {excerpt.total} passages"
    among = ", among them" if excerpt.chosen < excerpt.total else ""
    return f"The folder “{name}” has {excerpt.total} files{among}"


def _source_entry(source: Source) -> dict[str, Any]:
    """Its text once more, beside where it stands in the message: so it can be shown by itself."""
    excerpt = source.excerpt
    entry: dict[str, Any] = {
        "name": clean_name(source.name),
        "text": clean(excerpt.text),
        "chosen": excerpt.chosen,
        "total": excerpt.total,
        "cut": excerpt.size,
    }
    return entry | {"listing": True} if source.is_listing else entry


def _fenced(headline: str, body: str, name: str) -> tuple[str, str]:
    """What stands before and behind a text that is not the user's own words."""
    fence = _fence_for(body)
    return f"{headline}:\n{fence}{_language(name)}\n", ("" if body.endswith("\n") else "\n") + f"{fence}\n\n"


def split(content: str, where: str) -> tuple[str, tuple[Attachment, ...]]:
    """The user's words and the whole files again. If the two do not go together, all of it is the user's words."""
    try:
        values = json.loads(where) if where else {}
        files = tuple(_file(content, entry) for entry in values.get("files", ()))
        begin = values.get("text", 0)
        if not _is_place(begin, len(content)):
            return content, ()
        return content[begin:], files
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return content, ()


def listed_images(where: str) -> tuple[FileLine, ...]:
    """The images among the files of a message."""
    return tuple(file for file in listed(where) if file.image)


def listed(where: str) -> tuple[FileLine, ...]:
    """The files of a message."""
    try:
        files = json.loads(where).get("files", ()) if where else ()
        return tuple(
            FileLine(
                clean_name(str(entry["name"])),
                int(entry["size"]),
                int(entry.get("chosen", 0)),
                int(entry.get("total", 0)),
                image_of(entry),
            )
            for entry in files
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return ()


def sources_of(where: str) -> tuple[Source, ...]:
    """The passages that went along with a message of files that are not its own."""
    try:
        entries = json.loads(where).get("sources", ()) if where else ()
        return tuple(_source(entry) for entry in entries)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return ()


def was_in_vain(where: str) -> bool:
    """Whether passages were looked for, and there were none; see `Draft`."""
    try:
        return bool(where) and json.loads(where).get("sources") == []
    except (ValueError, AttributeError, RecursionError):
        return False


def _source(entry: Any) -> Source:
    name = clean_name(str(entry["name"]))
    return Source(name, _excerpt(str(entry["text"]), entry), is_listing=entry.get("listing") is True)


def cut_files(content: str, where: str) -> tuple[Attachment, ...]:
    """The files of a message as they went along: with the excerpt of those that did not go whole."""
    files = split(content, where)[1]
    try:
        entries = json.loads(where)["files"] if files else ()
        return tuple(_as_sent(file, content, entry) for file, entry in zip(files, entries, strict=True))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return files


def _as_sent(file: Attachment, content: str, entry: Any) -> Attachment:
    if not entry.get("total"):
        return file
    return replace(file, excerpt=_excerpt(content[entry["start"] : entry["start"] + entry["length"]], entry))


def _excerpt(text: str, entry: Any) -> Excerpt:
    size = int(entry.get("cut", PASSAGE))
    return Excerpt(clean(text), int(entry["chosen"]), int(entry["total"]), min(max(size, SMALLEST), PASSAGE))


def _file(content: str, entry: Any) -> Attachment:
    start, length, name, size = entry["start"], entry["length"], entry["name"], entry["size"]
    if not (_is_place(start, len(content)) and _is_place(length, len(content) - start) and _is_place(size, 10**12)):
        raise ValueError("no place in the message")
    if image := image_of(entry):
        return Attachment(clean_name(str(name)), "", size, image=image)
    whole = entry.get("whole")
    text = clean(whole) if isinstance(whole, str) else content[start : start + length]
    return Attachment(clean_name(str(name)), text, size)


def _is_place(value: object, end: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= end


def _fence_for(body: str) -> str:
    """A fence that is longer than any in the text, so that no text can end it."""
    longest = max((len(fence) for fence in _FENCES.findall(body)), default=2)
    return "`" * (longest + 1)


def _language(name: str) -> str:
    suffix = Path(name).suffix[1:].lower()
    if suffix in ENDINGS:  # what stands there is its text, not such a file
        return ""
    return suffix if suffix.isascii() and suffix.isalnum() and len(suffix) <= 10 else ""
