"""The corpus generator beside the starter model writes whole, clean dialogues, the same for the same seed."""

import importlib.util
import itertools
import sys
from types import ModuleType

import pytest

from llama_gui.paths import find_resources

SCRIPT = find_resources() / "starter_model" / "training" / "corpus.py"


@pytest.fixture(scope="module")
def corpus_module():
    spec = importlib.util.spec_from_file_location("starter_corpus", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up while it is executed
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def draw(module: ModuleType, seed: int, count: int) -> list[list[dict[str, str]]]:
    return list(itertools.islice(module.load_corpus().dialogues(seed), count))


def test_the_same_seed_writes_the_same_dialogues(corpus_module: ModuleType):
    assert draw(corpus_module, 1, 50) == draw(corpus_module, 1, 50)
    assert draw(corpus_module, 1, 50) != draw(corpus_module, 2, 50)


def test_dialogues_alternate_and_leave_no_slot_open(corpus_module: ModuleType):
    for dialogue in draw(corpus_module, 3, 3000):
        roles = [message["role"] for message in dialogue if message["role"] != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        for message in dialogue:
            assert message["content"].strip() == message["content"] != ""
            assert "{" not in message["content"]
            assert "}" not in message["content"]


def test_a_name_is_remembered(corpus_module: ModuleType):
    remembered = 0
    for dialogue in draw(corpus_module, 4, 6000):
        for message in dialogue:
            if message["content"].startswith("Your name is "):
                name = message["content"].removeprefix("Your name is ").removesuffix(".")
                assert any(name in earlier["content"] for earlier in dialogue if "meet" in earlier["content"]) or any(
                    earlier["content"].startswith(f"Hello {name}!") for earlier in dialogue
                )
                remembered += 1
    assert remembered > 0


def test_every_topic_can_come_up(corpus_module: ModuleType):
    corpus = corpus_module.load_corpus()
    followed = {name for topic in corpus.topics.values() for _, name in topic.then}
    for name, topic in corpus.topics.items():
        assert topic.answer, name
        # The name is asked back only where one was given, in place of the answer that it is not known.
        assert topic.ask or name in followed, name
