"""What a new question gets of documents further up that did not go along whole, and of the chat's folder. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from llama_gui.chats import overview
from llama_gui.chats.attachments import Attachment, Draft, Source
from llama_gui.chats.message_files import cut_files, sources_text, split
from llama_gui.chats.overview import Folder, Overview
from llama_gui.chats.passages import PASSAGE, Beginning, Excerpt, Found, cut, joined
from llama_gui.chats.ranking import Asked, best
from llama_gui.chats.tree import Node, clean_text

_QUESTIONS = 3
"""The questions before the new one that may say what it is about."""
_TRIES = 8


class Documents:
    """The files of the messages above a question and those of the chat's folder, and what was asked before it.

    All passages are ranked by how well they fit, so that the best of all documents come. Ranking takes some tenths of
    a second for a million characters, and is done when it is first needed. Those of a file that is in the folder, too,
    are taken from the message.
    """

    def __init__(self, nodes: Sequence[Node], question: str, folder: Folder | None = None) -> None:
        asked = [node for node in nodes if node.role == "user"]
        files: dict[tuple[str, str], Attachment] = {}
        for node in asked:
            for file in cut_files(node.content, node.attachments):
                files.setdefault((file.name, file.text), file)
        self._files = list(files.values())
        self._contents = [node.content for node in asked if node.attachments]
        self._former = [split(node.content, node.attachments)[0] for node in asked[: -_QUESTIONS - 1 : -1]]
        self._question = clean_text(question)
        self._folder = folder
        self._is_about_all = overview.is_asked_for(self._question)

    @property
    def are_whole(self) -> bool:
        """Whether all of them went along whole with their messages."""
        return self._folder is None and all(file.excerpt is None for file in self._files)

    def are_before(self, seen: Sequence[str]) -> bool:
        """Whether one of these texts is, or has in it, a message with a document or passages of one."""
        return any(content in text for content in self._contents for text in seen)

    def chosen(self, seen: Sequence[str], most: int) -> tuple[Source, ...]:
        """Of the passages that fit the question best, in `most` characters, those that none of the texts `seen` has.

        What is seen already takes its part of `most`: the model has it before it. Of a question about all documents it
        is the beginnings of these, with the names of those that do not fit in.
        """
        if self._is_about_all:
            return self._overview.chosen(seen, most)
        chosen: dict[tuple[int, str], list[Found]] = {}
        for number, found in self._ranked:
            if found.passage.room > most:
                continue
            most -= found.passage.room
            if not any(found.passage.text.strip() in text for text in seen):
                chosen.setdefault((number, found.name), []).append(found)
        return tuple(_source(of_file) for of_file in chosen.values())

    @property
    def are_silent(self) -> bool:
        """Whether there is a folder, and nothing in it or elsewhere has a word of a question that has any."""
        if self._folder is None or not any(len(word) > 1 for word in Asked.of(self._question).own):
            return False
        return self._overview.is_empty if self._is_about_all else not self._ranked

    @cached_property
    def _overview(self) -> Overview:
        attached = {file.name: cut(file.text, size) for file, size in zip(self._files, self._sizes, strict=True)}
        beginnings = [Beginning(name, dict(enumerate(found)), len(found)) for name, found in attached.items()]
        return Overview({beginning.name: beginning for beginning in beginnings}, self._folder)

    @cached_property
    def _ranked(self) -> list[tuple[int, Found]]:
        """With the number of the file; -1: one of the folder."""
        return sorted([*self._of_files(), *self._of_folder()], key=lambda one: -one[1].score)

    @property
    def _sizes(self) -> list[int]:
        """Of the passages of each file."""
        return [file.excerpt.size if file.excerpt is not None else PASSAGE for file in self._files]

    def _of_files(self) -> list[tuple[int, Found]]:
        sizes = self._sizes
        passages = [cut(file.text, size) for file, size in zip(self._files, sizes, strict=True)]
        places = [(n, place) for n, of_file in enumerate(passages) for place in range(len(of_file))]
        ranked = best([passages[n][place].text for n, place in places], self._question, self._former)
        found: list[tuple[int, Found]] = []
        for score, index in ranked:
            n, place = places[index]
            one = Found(self._files[n].name, place, len(passages[n]), passages[n][place], score, sizes[n])
            found.append((n, one))
        return found

    def _of_folder(self) -> list[tuple[int, Found]]:
        found = self._folder.find(self._question, self._former) if self._folder is not None else ()
        return [(-1, one) for one in found if not any(one.passage.text.strip() in file.text for file in self._files)]


def _source(found: Sequence[Found]) -> Source:
    """Passages of one file."""
    text = joined({one.place: one.passage for one in found}, found[0].total)
    return Source(found[0].name, Excerpt(text, len(found), found[0].total, found[0].size))


def recalled(
    draft: Draft,
    documents: Documents,
    seen: Sequence[str],
    most: int,
    count: Callable[[str], int],
) -> Draft:
    """The draft with the passages that fit it best, in `most` tokens; where there are none, it says if that is in vain.

    `seen`: the messages that the model has before it. `count`: the tokens of a text.
    """
    room = 4 * most  # characters, as in `attachments.fitted`
    for _ in range(_TRIES):
        sources = documents.chosen(seen, room)
        if not sources:
            break
        tokens = count(sources_text(sources))
        if tokens <= most:
            return replace(draft, sources=sources)
        room = min(int(room * most / tokens * 0.95), room - 1)
    return replace(draft, in_vain=documents.are_silent and not draft.files)
