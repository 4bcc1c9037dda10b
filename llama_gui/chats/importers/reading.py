"""A file or folder that the user picked -> the chats in it, whoever wrote it."""

import codecs
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_gui.chats.importers import chatgpt, jan, lm_studio, open_webui, ours
from llama_gui.chats.importers.building import BrokenChatError, LeftOut, as_dict, as_list, as_title
from llama_gui.chats.record import ChatRecord
from llama_gui.errors import StoreError

MAX_BYTES = 400_000_000
"""Of a file: reading it takes about six times as much memory."""
MAX_FILES = 20_000
"""Of a folder."""

_OF_JAN = (jan.THREAD_FILE, jan.MESSAGES_FILE)
_IN_ARCHIVE = re.compile(r"(.*/)?conversations(-\d+)?\.json")
_KINDS: tuple[tuple[str, Callable[[object], list[Any] | None], Callable[[Any, LeftOut], ChatRecord]], ...] = (
    (ours.NAME, ours.conversations, ours.read),
    (chatgpt.NAME, chatgpt.conversations, chatgpt.read),
    (open_webui.NAME, open_webui.conversations, open_webui.read),
    (lm_studio.NAME, lm_studio.conversations, lm_studio.read),
    (jan.NAME, jan.conversations, jan.read),
)
_KNOWN = "llama-gui, ChatGPT (conversations.json, or the whole .zip), Open WebUI, LM Studio and Jan (its threads)"


@dataclass(frozen=True, slots=True)
class FoundChats:
    """What a file holds: of which application, the chats, what was skipped and why, what was left out."""

    kind: str
    chats: tuple[ChatRecord, ...]
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def read_import(path: Path) -> FoundChats:
    """Read an export of `_KNOWN`: a file, or a folder with one file for each conversation.

    A broken conversation is skipped, and named in `skipped`.

    Raises:
        StoreError: there is nothing that can be read, and why.
    """
    if path.is_dir():
        return _read_folder(path)
    try:
        if path.name in _OF_JAN and all((path.parent / name).is_file() for name in _OF_JAN):
            return _found(_jan_thread(path.parent), path)
        contents = [_json(path, content) for content in _contents(path)]
        return _found(
            contents[0] if len(contents) == 1 else [value for part in contents for value in as_list(part)], path
        )
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror or error}. Check that it exists and that you may read it."
        ) from error


def _jan_thread(folder: Path) -> object:
    thread, messages = (folder / name for name in _OF_JAN)
    return jan.joined(_json(thread, _contents(thread)[0]), _contents(messages)[0])


def _read_folder(path: Path) -> FoundChats:
    files = sorted(path.rglob("*.json"))[:MAX_FILES]
    found: list[FoundChats] = []
    skipped: list[str] = []
    for file in files:
        try:
            found.append(read_import(file))
        except StoreError as error:
            skipped.append(str(error))
    if not found:
        raise StoreError(f"There are no chats in the folder {path}. An export of {_KNOWN} can be read.")
    return FoundChats(
        " and ".join(dict.fromkeys(one.kind for one in found)),
        tuple(chat for one in found for chat in one.chats),
        (*skipped, *(text for one in found for text in one.skipped)),
        tuple(text for one in found for text in one.left_out),
    )


def _found(content: object, path: Path) -> FoundChats:
    for name, conversations, read in _KINDS:
        values = conversations(content)
        if values is not None:
            return _read_all(name, values, read)
    raise StoreError(
        f"{path} holds no chats that llama-gui knows. An export of {_KNOWN} can be read. Nothing was imported."
    )


def _read_all(name: str, values: list[Any], read: Callable[[Any, LeftOut], ChatRecord]) -> FoundChats:
    chats: dict[str, ChatRecord] = {}
    skipped: list[str] = []
    left_out = LeftOut()
    for number, value in enumerate(values, start=1):
        values[number - 1] = None  # what was read is let go: the whole file is in memory
        try:
            chat = read(value, left_out)
        except BrokenChatError as error:
            skipped.append(f"Conversation {number} ({_title_of(value)}) was skipped: {error}.")
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError):
            skipped.append(f"Conversation {number} ({_title_of(value)}) was skipped: it is damaged.")
        else:
            if chat.id in chats:
                skipped.append(f"Conversation {number} ({_title_of(value)}) was skipped: it is in the file twice.")
            chats.setdefault(chat.id, chat)
    return FoundChats(name, tuple(chats.values()), tuple(skipped), tuple(left_out.words()))


def _title_of(value: object) -> str:
    values = as_dict(value)
    return f"“{as_title(values.get('title') or values.get('name'), 'without a title')[:80]}”"


# --- the bytes


def _contents(path: Path) -> list[bytes]:
    size = path.stat().st_size
    if not path.is_file():  # a pipe or a device might never end
        raise StoreError(f"{path} is not a file. Choose the file that was exported.")
    if zipfile.is_zipfile(path):
        return _unpacked(path)
    if size > MAX_BYTES:
        raise _too_large(path, size)
    return [path.read_bytes()]


def _unpacked(path: Path) -> list[bytes]:
    """The conversations.json, or its parts, out of ChatGPT's archive. Nothing is unpacked to the disk."""
    contents: list[bytes] = []
    room = MAX_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(name for name in archive.namelist() if _IN_ARCHIVE.fullmatch(name)):
                with archive.open(name) as file:
                    contents.append(file.read(room + 1))  # what the archive says of the size may be wrong
                room -= len(contents[-1])
                if room < 0:
                    raise _too_large(path, MAX_BYTES)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise StoreError(f"The archive {path} is damaged or locked ({error}). Download it again.") from error
    if not contents:
        raise StoreError(f"There is no conversations.json in {path}. Nothing was imported.")
    return contents


def _too_large(path: Path, size: int) -> StoreError:
    return StoreError(
        f"{path} has {size / 1e6:.0f} MB or more; up to {MAX_BYTES / 1e6:.0f} MB can be read, because all of it must "
        "be in memory at once. Export fewer chats into one file."
    )


def _json(path: Path, content: bytes) -> object:
    try:
        text = content.decode(json.detect_encoding(content), "replace").removeprefix(codecs.BOM_UTF8.decode())
        return json.loads(text)
    except RecursionError as error:
        raise StoreError(f"{path} is nested so deeply that it is no export of chats. Nothing was imported.") from error
    except ValueError as error:
        raise StoreError(
            f"{path} is not a JSON file, or only a part of one ({error}). Export it again. Nothing was imported."
        ) from error
    except MemoryError as error:
        raise StoreError(f"{path} does not fit into memory. Close other programs and try again.") from error
