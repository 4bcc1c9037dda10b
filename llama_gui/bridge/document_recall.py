"""Adds the matching passages to a question before it is saved: of documents further up, and of the chat's folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QObject

from llama_gui.bridge import asking
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.folder_desk import FolderDesk
from llama_gui.bridge.sight import as_seen
from llama_gui.bridge.token_counter import Counts
from llama_gui.chats.attachments import Draft
from llama_gui.chats.message_files import sources_text
from llama_gui.chats.recall import Documents, recalled
from llama_gui.chats.shown_path import ShownPath
from llama_gui.vocabulary import ChatSettings, GenerateRequest, Message, ToolInfo, is_remote

SHARE, MOST = 8, 2000
"""Passages take at most an eighth of the context, and at most this many tokens: they delay the answer's beginning."""
SHARE_AFRESH, MOST_AFRESH = 4, 4000
"""The same where no message with a document is left in what the model reads."""
FULL = 0.75
"""Of the context: from there on the oldest messages are left out, as the rest is kept for the answer."""
UNLOADED, UNTOLD = 600, 1200
"""Tokens of passages where the context's size is unknown: the model is not loaded yet, or its server does not tell it.
A server on the internet surely reads more, so it gets what it would if it had told.
"""
_CHARACTERS = 3
"""Per token, where nothing can be counted."""
_TRIES = 3


@runtime_checkable
class Remote(Protocol):
    """An engine on a server."""

    @property
    def is_on_internet(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is asked, as it would be sent without passages."""

    draft: Draft
    documents: Callable[[], Documents]
    make: Callable[[], GenerateRequest]
    may_drop: bool


class DocumentRecall(QObject):
    """Chooses for one chat. What was sent stays as it is: passages are added to the new message, none twice.

    So the prompt up to it is found in the cache. If there is no room, passages are still added as if there were, and
    the oldest messages are left out: perhaps the document's own, whose passages may then be added again.
    """

    def __init__(
        self,
        path: ShownPath,
        settings: Callable[[], ChatSettings],
        host: EngineHost,
        folders: FolderDesk,
        parent: QObject,
        offered: Callable[[], Sequence[ToolInfo]] = tuple,
    ) -> None:
        super().__init__(parent)
        self._offered = offered
        self._folders = folders
        self._path = path
        self._settings = settings
        self._host = host

    def add(self, draft: Draft, replaces: str | None, done: Callable[[Draft | None], None]) -> None:
        """Give `done` the draft with its passages; None: as it is. At once where the chat has no documents."""
        settings = self._settings()
        nodes = asking.before_draft(self._path, replaces)
        make = asking.would_send(self._path, draft, replaces, settings, self._offered())
        folder = settings.documents
        if make is None or not (folder or any(node.attachments for node in nodes)):
            done(None)
            return
        reader = self._folders.reader(folder) if folder else None
        if folder:
            self._folders.read(folder)  # for the next question; this one is asked of what was read
        may_drop = settings.overflow != "error" and not draft.files  # else the question is about its own files
        wish = _Wish(draft, lambda: Documents(nodes, draft.text, reader), make, may_drop)
        engine = self._host.models.engine_of(settings.model or self._host.current)
        info = self._host.info_of(settings.model)
        max_context = info.max_context if info is not None else 0
        if isinstance(engine, Counts) and max_context:
            self._host.counter.ask(engine, lambda counts: _counted(wish, counts, max_context), done)
        else:
            is_served = is_remote(settings.model or self._host.current)
            most = UNTOLD if is_served else UNLOADED
            most = MOST_AFRESH if isinstance(engine, Remote) and engine.is_on_internet else most
            self._host.counter.run(lambda: _uncounted(wish, most, max_context), done)


def _counted(wish: _Wish, engine: Counts, max_context: int) -> Draft:
    request, documents = as_seen(wish.make(), engine.info, spares_last=False), wish.documents()
    use = engine.measure(request)
    if use.is_too_long or (documents.are_whole and not use.dropped_messages):
        return wish.draft
    found, tokens, dropped = wish.draft, use.tokens, use.dropped_messages
    for _ in range(_TRIES):
        before = _before(request, dropped)
        share = _share(max_context, is_afresh=not documents.are_before(before))
        room = max(0, int(FULL * max_context) - tokens)
        has_room = room >= share // 2 or not wish.may_drop
        found = recalled(wish.draft, documents, before, min(share, room) if has_room else share, engine.count)
        use = engine.measure(_with_sources(request, found))
        if use.is_too_long:
            return wish.draft
        if use.dropped_messages == dropped:
            break
        dropped, tokens = use.dropped_messages, use.tokens - engine.count(sources_text(found.sources))
    return found


def _share(max_context: int, *, is_afresh: bool) -> int:
    """How many tokens of passages a question may have."""
    return min(max_context // SHARE_AFRESH, MOST_AFRESH) if is_afresh else min(max_context // SHARE, MOST)


def _before(request: GenerateRequest, dropped: int) -> list[str]:
    """The texts that the model has before it when so many of the oldest messages are left out."""
    messages = [message.content for message in request.messages or () if message.role != "system"]
    return messages[dropped:-1]


def _with_sources(request: GenerateRequest, draft: Draft) -> GenerateRequest:
    *former, last = request.messages or (Message("user", ""),)
    return replace(request, messages=[*former, replace(last, content=sources_text(draft.sources) + last.content)])


def _uncounted(wish: _Wish, untold: int, max_context: int) -> Draft:
    """`untold`: the most tokens, where `max_context` is not known."""
    request, documents = wish.make(), wish.documents()
    if documents.are_whole:
        return wish.draft
    before = _before(request, 0)
    is_afresh = not documents.are_before(before)
    if max_context:  # servers leave nothing out: they refuse what is too long
        said = sum(len(message.content) for message in request.messages or ()) // _CHARACTERS
        most = max(0, min(_share(max_context, is_afresh=is_afresh), int(FULL * max_context) - said))
    else:
        most = untold if is_afresh else min(untold, MOST)
    return recalled(wish.draft, documents, before, most, lambda text: len(text) // _CHARACTERS)
