"""What a question about documents as a whole gets of them: how they begin, and what they are called. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from llama_gui.chats.attachments import Source
from llama_gui.chats.passages import LEFT_OUT, Beginning, Excerpt, Found, fair_share
from llama_gui.chats.ranking import Asked, stems

_LEAST = 200
"""Characters of a document; fewer say nothing."""
_FRAME = 100
"""Characters around each, and those of its name."""
_NAMES_SHARE = 4
"""A part of the room is for the names of the documents that do not fit in."""

_WHOLE = frozenset(
    stems(
        "summarise summarised summarising summarize summarized summarizing summary summaries overview gist "
        "content contents contain contained contains document documents doc docs file files folder folders "
        "directory papers topic topics theme themes zusammen zusammenfassen zusammenfassung überblick übersicht "
        "inhalt inhalte dokument dokumente dokumenten datei dateien ordner ordners verzeichnis unterlagen thema "
        "themen "
    )
)
"""English and German words for all of it, and for what is to be done with all of it."""
_BESIDE = frozenset(
    stems(
        "attached brief briefly bullet compare cover covered covers deal deals describe detail details different "
        "discuss discussed each provide s entire every everything general include includes included key kind "
        "kinds lines list main many name names one two three four five six seven eight nine ten overall paragraph "
        "paragraphs point points quick quickly read sentence sentences short show sort summarily text texts there "
        "title titles topics type types various whole words write absatz absätze beschreib beschreibe den die "
        "hier drei dritten eins enthalten enthält fass fasse ganz ganze ganzen geht genannt gesamt gesamten grob "
        "handeln handelt kurz kurze kurzen kurzer lies liegen liegt liste nenn nenne satz sätze sätzen schreib "
        "schreibe stehen steht stichpunkte stichpunkten text texte texten vier fünf wichtigste wichtigsten worum "
        "worten wörtern wovon zeig zeige zwei "
    )
)
"""Words that stand beside them and do not say which documents are meant; "s" is what is left of "what's"."""
_ABOUT = re.compile(
    r"what(?:['’]s| is| are)\b.{0,40}\babout\W*$|\b(?:worum|um was) (?:geht|handelt)\b|\bwovon handel", re.IGNORECASE
)
_MOST_ABOUT = 60


def is_asked_for(question: str) -> bool:
    """Whether a question is about all the documents: it has no word that could be looked for in them."""
    words = Asked.of(question).own
    if words <= _BESIDE and len(question) <= _MOST_ABOUT and _ABOUT.search(question.strip()):
        return True
    return not words.isdisjoint(_WHOLE) and words <= _WHOLE | _BESIDE


class Folder(Protocol):
    """What was read of a folder of documents."""

    @property
    def name(self) -> str: ...

    def find(self, question: str, former: Sequence[str] = ()) -> Sequence[Found]:
        """The passages that fit a question, the best first. `former`: the questions before it, the newest first."""
        ...

    def names(self) -> Sequence[str]:
        """The files that were read, in order."""
        ...

    def beginnings(self, names: Sequence[str], most: int) -> Sequence[Beginning]:
        """How these files begin, with as many passages of each as so many characters take."""
        ...


class Overview:
    """The documents of a chat, `attached` to messages and of its folder, as something to say about all of them."""

    def __init__(self, attached: Mapping[str, Beginning], folder: Folder | None) -> None:
        self._attached = attached
        self._folder = folder
        self._in_folder = [name for name in folder.names() if name not in attached] if folder is not None else []
        self._loaded: dict[str, Beginning] = dict(attached)

    @property
    def is_empty(self) -> bool:
        """Whether there are no documents at all."""
        return not self._attached and not self._in_folder

    def chosen(self, seen: Sequence[str], most: int) -> tuple[Source, ...]:
        """How they begin, in `most` characters that are shared out fairly, but for what the texts `seen` have.

        Where there are too many, some stand for the others, which are named.
        """
        names = [*self._attached, *self._in_folder]
        count, room_for_names = _parts(len(names), most)
        known = self._beginnings(_spread(names, count), most)
        beginnings = [new for beginning in known if (new := beginning.but_for(seen)).passages]
        room = most - room_for_names - _FRAME * len(beginnings)
        share = fair_share([beginning.size for beginning in beginnings], room)
        sources = [Source(beginning.name, beginning.excerpt(share)) for beginning in beginnings]
        if room_for_names and self._folder is not None:
            sources.insert(0, Source(self._folder.name, _listed(self._in_folder, room_for_names), is_listing=True))
        return tuple(source for source in sources if not _is_in(source.excerpt, seen))

    def _beginnings(self, names: Sequence[str], most: int) -> list[Beginning]:
        wanted = [name for name in names if name not in self._loaded]
        if wanted and self._folder is not None:
            self._loaded |= {beginning.name: beginning for beginning in self._folder.beginnings(wanted, most)}
        return [self._loaded[name] for name in names if name in self._loaded]


def _is_in(excerpt: Excerpt, seen: Sequence[str]) -> bool:
    text = excerpt.text.removesuffix(LEFT_OUT).strip()
    return not text or any(text in former for former in seen)


def _parts(documents: int, most: int) -> tuple[int, int]:
    """How many of so many documents get a part of `most` characters, and how many are left for the names of all.

    None for these where every document has a part, which names it.
    """
    if documents * (_LEAST + _FRAME) <= most:
        return documents, 0
    names = most // _NAMES_SHARE
    return (most - names) // (_LEAST + _FRAME), names


def _spread(names: Sequence[str], count: int) -> list[str]:
    """So many of the names, from all along: those of every folder are among them."""
    return [names[number * len(names) // count] for number in range(count)]


def _listed(names: Sequence[str], most: int) -> Excerpt:
    """The names, one on each line, so many as are in `most` characters."""
    usual = sum(len(name) + 1 for name in names) / max(len(names), 1)
    chosen = _spread(names, min(len(names), int(most / max(usual, 1))))
    while chosen and sum(len(name) + 1 for name in chosen) > most:
        chosen.pop()
    return Excerpt("\n".join(chosen), len(chosen), len(names))
