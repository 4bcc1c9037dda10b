"""Writes the dialogues that the starter model learns from.

Every text is the project's own and lies in ``texts/*.toml``: topics with questions, answers and likely next questions.
A text may hold alternatives, ``{one|two|}``, and slots, ``{animal}``, which keep their value within one turn (a
person's name: within the dialogue). The generator draws topics, joins them to dialogues of one to many turns, and
spoils some questions the way hurried people do. The same seed writes the same corpus.

    python corpus.py --dialogues 5          # look at some
"""

import argparse
import json
import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

TEXTS = Path(__file__).resolve().parent / "texts"
DialogueMessage: TypeAlias = dict[str, str]

_INNERMOST_GROUP = re.compile(r"\{([^{}]*)\}")
_TURN_COUNTS = ((1, 34), (2, 22), (3, 17), (4, 11), (5, 7), (6, 5), (8, 3), (12, 1))
_SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are a {helpful|friendly|polite} {assistant|chat assistant}{ for this application|}.",
    "Answer {politely|clearly|in English|honestly}.",
    "You are {a pirate|a teacher|a poet|an expert|a cook|Sherlock Holmes}.",
    "Be {kind|helpful|honest|creative}.",
)
_BRIEF_PROMPTS = ("{Be brief|Answer briefly|Keep it short|Answer in one sentence|Short answers please}.",)
_OPENINGS = ("hi, ", "hello, ", "hey, ", "please, ", "ok, ", "so, ", "and ", "well, ", "sorry, ", "one question: ")
_CLOSINGS = (" please", ", please", ", thanks")
_APPLICATION_CLOSINGS = (*_CLOSINGS, " now", " here", " in this app", " in llama-gui", " in this program")
_EXCUSED_FROM_OPENINGS = {"greet", "thanks", "ok", "bye", "sorry", "gibberish", "language", "laugh"}


@dataclass(frozen=True, slots=True)
class Topic:
    """What can be asked about one thing, what is answered, and what is often asked next (a text and a topic's name)."""

    name: str
    ask: tuple[str, ...]
    answer: tuple[str, ...]
    more: tuple[str, ...] = ()
    then: tuple[tuple[str, str], ...] = ()
    weight: float = 1.0
    about_application: bool = False


@dataclass(slots=True)
class Corpus:
    """The topics and slots, and the draw of dialogues from them."""

    topics: dict[str, Topic]
    slots: dict[str, list[str]]
    facts: dict[str, str] = field(default_factory=dict)
    """Values that are the same in every dialogue, such as the model's own size."""

    def dialogues(self, seed: int) -> Iterator[list[DialogueMessage]]:
        """Dialogues without end; the n-th depends on the seed alone."""
        rng = random.Random(seed)
        while True:
            yield _Dialogue(self, rng).write()


def load_corpus(folder: Path = TEXTS, *, millions: int = 5, megabytes: int = 10) -> Corpus:
    """Read the texts. `millions` and `megabytes` are what the model says about its own size."""
    topics: dict[str, Topic] = {}
    for path in sorted(folder.glob("*.toml")):
        if path.name not in ("slots.toml", "paraphrases.toml"):
            topics |= _read_topics(path)
    for name, entry in tomllib.loads((folder / "paraphrases.toml").read_text(encoding="utf-8")).items():
        topics[name] = replace(topics[name], ask=topics[name].ask + tuple(entry["ask"]))
    unknown = {target for topic in topics.values() for _, target in topic.then} - topics.keys()
    if unknown:
        raise ValueError(f"The texts name topics that do not exist: {', '.join(sorted(unknown))}")
    slots = tomllib.loads((folder / "slots.toml").read_text(encoding="utf-8"))
    return Corpus(topics, slots, {"millions": str(millions), "megabytes": str(megabytes)})


def _read_topics(path: Path) -> dict[str, Topic]:
    return {
        name: Topic(
            name=name,
            ask=tuple(entry["ask"]),
            answer=tuple(entry["answer"]),
            more=tuple(entry.get("more", ())),
            then=tuple((text, target) for text, target in entry.get("then", ())),
            weight=entry.get("weight", 1.0),
            about_application=path.stem == "application",
        )
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


class _Dialogue:
    """One dialogue while it is written."""

    def __init__(self, corpus: Corpus, rng: random.Random) -> None:
        self._corpus = corpus
        self._rng = rng
        self._person: str | None = None
        self._brief = False

    def write(self) -> list[DialogueMessage]:
        rng = self._rng
        messages = self._system_message()
        turns = rng.choices([n for n, _ in _TURN_COUNTS], [w for _, w in _TURN_COUNTS])[0]
        topic: Topic | None = None
        for _ in range(turns):
            topic, question, answer = self._turn(topic)
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": answer})
        return messages

    def _system_message(self) -> list[DialogueMessage]:
        draw = self._rng.random()
        if draw > 0.2:
            return []
        self._brief = draw < 0.04
        content = self._expand(self._rng.choice(_BRIEF_PROMPTS if self._brief else _SYSTEM_PROMPTS), {})
        return [{"role": "system", "content": content}]

    def _turn(self, before: Topic | None) -> tuple[Topic, str, str]:
        """The next topic with a question and its answer; it often follows from the topic before."""
        rng = self._rng
        slots: dict[str, str] = dict(self._corpus.facts)
        if self._person is not None:
            slots["person"] = self._person
        if before is not None and before.more and rng.random() < 0.2:
            question = "{tell me more|more|and what else|more about that|can you say more|go on|what else}{ please|?|}"
            return before, self._spoil(self._expand(question, slots), before), self._answer(before.more, slots)
        if before is not None and before.then and rng.random() < 0.6:
            pattern, name = rng.choice(before.then)
            topic = self._corpus.topics[name]
        else:
            topic = self._draw_topic()
            pattern = rng.choice(topic.ask)
        question = self._expand(pattern, slots)
        if topic.name == "name":
            self._person = slots["person"]
        return topic, self._spoil(question, topic), self._answer(topic.answer, slots)

    def _draw_topic(self) -> Topic:
        topics = [topic for topic in self._corpus.topics.values() if topic.ask]
        topic = self._rng.choices(topics, [t.weight for t in topics])[0]
        if topic.name == "name_unknown" and self._person is not None:
            return Topic("name_back", topic.ask, self._corpus.topics["name_back"].answer)
        if topic.name == "name" and self._person is not None:
            return self._draw_topic()
        return topic

    def _answer(self, patterns: tuple[str, ...], slots: dict[str, str]) -> str:
        if self._brief:
            patterns = (min(patterns, key=len),)
        answer = self._expand(self._rng.choice(patterns), slots)
        # A slot at the start of a sentence needs a capital letter, whatever stands in the list of values.
        return answer[:1].upper() + answer[1:]

    def _expand(self, pattern: str, slots: dict[str, str]) -> str:
        """Replace groups from the innermost outwards until none is left."""

        def choose(match: re.Match[str]) -> str:
            inner = match.group(1)
            if "|" in inner:
                return self._rng.choice(inner.split("|"))
            if inner not in slots:
                slots[inner] = self._expand(self._rng.choice(self._corpus.slots[inner]), slots)
            return slots[inner]

        while _INNERMOST_GROUP.search(pattern):
            pattern = _INNERMOST_GROUP.sub(choose, pattern)
        return pattern.strip()

    def _spoil(self, question: str, topic: Topic) -> str:
        """Write the question as people do: with a greeting, in lower case, without marks, with a slip of the finger."""
        rng = self._rng
        if topic.name not in _EXCUSED_FROM_OPENINGS:
            if rng.random() < 0.12:
                question = rng.choice(_OPENINGS) + question
            if rng.random() < 0.08:
                ending = "?" if question.endswith("?") else ""
                closings = _APPLICATION_CLOSINGS if topic.about_application else _CLOSINGS
                question = question.removesuffix("?") + rng.choice(closings) + ending
        if rng.random() < 0.5:
            question = question[:1].upper() + question[1:]
        if rng.random() < 0.3:
            question = question.lower()
        if rng.random() < 0.3:
            question = question.rstrip("?!. ") or question
        elif question[-1].isalnum() and rng.random() < 0.3:
            question += rng.choice(".!.")
        if rng.random() < 0.15:
            question = self._slip(question)
        return question

    def _slip(self, text: str) -> str:
        places = [i for i in range(1, len(text) - 1) if text[i].isalpha() and text[i + 1].isalpha()]
        if not places:
            return text
        i = self._rng.choice(places)
        swapped = text[:i] + text[i + 1] + text[i] + text[i + 2 :]
        return self._rng.choice((swapped, text[:i] + text[i + 1 :], text[:i] + text[i] + text[i:]))


def main() -> None:
    """Print some dialogues as JSON, one a line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--dialogues", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for _, dialogue in zip(range(arguments.dialogues), load_corpus().dialogues(arguments.seed), strict=False):
        print(json.dumps(dialogue, ensure_ascii=False))


if __name__ == "__main__":
    main()
