"""What a new question gets of the documents further up that the model does not have whole before it. Pure."""

from collections.abc import Callable, Sequence

from llama_gui.chats.attachments import Attachment, Draft, Source, cut_files, sources_text, split
from llama_gui.chats.passages import PASSAGE, Excerpt, Passage, best, cut, joined
from llama_gui.chats.tree import Node, clean_text

_QUESTIONS = 3
"""The questions before the new one that may say what it is about."""
_TRIES = 8


class Documents:
    """The files of the messages above a question, and what was asked before it.

    The passages of all of them are ranked together, so that the best of all documents come; ranking takes a second
    for a million characters, and is done when it is first needed.
    """

    def __init__(self, nodes: Sequence[Node], question: str) -> None:
        asked = [node for node in nodes if node.role == "user"]
        files: dict[tuple[str, str], Attachment] = {}
        for node in asked:
            for file in cut_files(node.content, node.attachments):
                files.setdefault((file.name, file.text), file)
        self._files = list(files.values())
        self._contents = [node.content for node in asked if node.attachments]
        self._former = [split(node.content, node.attachments)[0] for node in asked[: -_QUESTIONS - 1 : -1]]
        self._question = clean_text(question)
        self._passages: list[list[Passage]] = []
        self._ranked: list[tuple[int, int]] | None = None  # which file, and which of its passages

    @property
    def are_whole(self) -> bool:
        """Whether all of them went along whole with their messages."""
        return all(file.excerpt is None for file in self._files)

    def are_before(self, seen: Sequence[str]) -> bool:
        """Whether one of these texts is, or has in it, a message with a document or passages of one."""
        return any(content in text for content in self._contents for text in seen)

    def chosen(self, seen: Sequence[str], most: int) -> tuple[Source, ...]:
        """Of the passages that fit the question best, in `most` characters, those that none of the texts `seen` has.

        What is seen already takes its part of `most`: the model has it before it.
        """
        chosen: dict[int, list[int]] = {}
        for number, place in self._order():
            passage = self._passages[number][place]
            if passage.room > most:
                continue
            most -= passage.room
            if not any(passage.text.strip() in text for text in seen):
                chosen.setdefault(number, []).append(place)
        return tuple(self._source(number, places) for number, places in sorted(chosen.items()))

    def _source(self, number: int, places: Sequence[int]) -> Source:
        file, passages = self._files[number], self._passages[number]
        size = file.excerpt.size if file.excerpt is not None else PASSAGE
        return Source(file.name, Excerpt(joined(passages, places), len(places), len(passages), size))

    def _order(self) -> Sequence[tuple[int, int]]:
        if self._ranked is None:
            sizes = [file.excerpt.size if file.excerpt is not None else PASSAGE for file in self._files]
            self._passages = [cut(file.text, size) for file, size in zip(self._files, sizes, strict=True)]
            places = [(n, place) for n, passages in enumerate(self._passages) for place in range(len(passages))]
            everything = [passage for passages in self._passages for passage in passages]
            self._ranked = [places[index] for index in best(everything, self._question, self._former)]
        return self._ranked


def recalled(
    draft: Draft,
    documents: Documents,
    seen: Sequence[str],
    most: int,
    count: Callable[[str], int],
) -> Draft:
    """The draft with the passages that fit it best, in `most` tokens; as it is where there are none.

    `seen`: the messages that the model has before it. `count`: the tokens of a text.
    """
    room = 4 * most  # characters, as in `attachments.fitted`
    for _ in range(_TRIES):
        sources = documents.chosen(seen, room)
        if not sources:
            break
        tokens = count(sources_text(sources))
        if tokens <= most:
            return Draft(draft.text, draft.files, sources)
        room = min(int(room * most / tokens * 0.95), room - 1)
    return draft
