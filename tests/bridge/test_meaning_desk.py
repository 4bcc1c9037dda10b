"""Passages of folders are read by a model for embeddings while nobody asks for anything."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge import meaning_desk
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import LoadEngine
from llama_gui.bridge.folder_desk import FolderDesk, MeaningState
from llama_gui.bridge.meaning_desk import MeaningDesk
from llama_gui.bridge.model_loader import ModelLoader
from llama_gui.errors import UnsupportedModelError
from llama_gui.vocabulary import GenerateRequest, Message, ModelEntry
from tests.fakes.scripted_embedder import ScriptedEmbedder, load_by_key
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.tiny_embedder import write_tiny_embedder

CARS, PLANTS, NOTHING = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
MEANINGS = {"automobile": CARS, "vehicle": CARS, "rose": PLANTS, "flower": PLANTS}
EMBEDDER = ModelEntry("Embedder", "embedder", 10, embeds=True)


class Office:
    """A desk over a host with a model that writes and one for embeddings, and a folder of documents."""

    def __init__(self, qtbot: QtBot, root: Path, embedder: ScriptedEmbedder, load: LoadEngine | None = None) -> None:
        self.qtbot, self.embedder, self.writer = qtbot, embedder, ScriptedEngine()
        self.folder = str(root / "documents")
        Path(self.folder).mkdir()
        self.write("cars.txt", "Each automobile has wheels.")
        self.write("plants.txt", "A rose has thorns.")
        self.host = EngineHost(load or load_by_key(embedder=embedder, writer=self.writer))  # type: ignore[arg-type]
        self.folders = FolderDesk(root / "index")
        self.desk = MeaningDesk(self.host, self.folders)

    def write(self, name: str, text: str) -> None:
        Path(self.folder, name).write_text(text)

    def begin(self) -> None:
        self.desk.set_model(EMBEDDER)
        self.folders.hold("chat", self.folder)

    def meaning(self) -> MeaningState:
        return self.folders.state(self.folder).meaning

    def wait_whole(self, total: int) -> None:
        self.qtbot.waitUntil(lambda: self.meaning() == MeaningState(total, total))

    def find(self, question: str) -> list[str]:
        """The names of files, asked in another thread as a chat does it."""
        found: list[str] = []
        reader = self.folders.reader(self.folder)
        thread = threading.Thread(target=lambda: found.extend(one.name for one in reader.find(question)))
        thread.start()
        thread.join()
        return found

    def close(self) -> None:
        self.desk.stop()
        assert self.host.shutdown()
        assert self.desk.close()
        assert self.folders.close()


@pytest.fixture(autouse=True)
def _times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning_desk, "PAUSE_MS", 20)
    monkeypatch.setattr(meaning_desk, "WATCH_MS", 20)
    monkeypatch.setattr(meaning_desk, "WRITING_MS", 200)
    monkeypatch.setattr(meaning_desk, "LIMIT_S", 30.0)  # a slow machine is no reason to find less


@pytest.fixture
def office(qtbot: QtBot, tmp_path: Path) -> Iterator[Office]:
    office = Office(qtbot, tmp_path, ScriptedEmbedder(MEANINGS))
    yield office
    office.close()


def test_what_was_read_is_found_by_its_meaning(office: Office):
    office.begin()
    office.wait_whole(2)
    assert office.embedder.texts == ["cars.txt\nEach automobile has wheels.", "plants.txt\nA rose has thorns."]
    assert office.find("Which vehicle is there?") == ["cars.txt"]  # no word of it is in any file
    assert office.embedder.texts[-1].startswith("Instruct: ")
    assert office.embedder.texts[-1].endswith("\nQuery:Which vehicle is there?")
    assert office.find("Whose thorns?") == ["plants.txt"]  # by its words, as before
    assert office.find("Which moon?") == []  # nothing is near
    asked = len(office.embedder.texts)
    assert office.find("Thank you!") == []
    assert len(office.embedder.texts) == asked


def test_a_real_model_finds_the_same_text(qtbot: QtBot, tmp_path: Path):
    """Of random weights; it has no other notion of what is near."""
    model = write_tiny_embedder(tmp_path / "model")
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"query": "", "document": ""}}')
    loader = ModelLoader(tmp_path / "starter", lambda path: Path(path).name)
    office = Office(qtbot, tmp_path, ScriptedEmbedder({}), loader)
    office.desk.set_model(ModelEntry("Tiny", str(model), 10, embeds=True))
    office.folders.hold("chat", office.folder)
    qtbot.waitUntil(lambda: office.meaning() == MeaningState(2, 2), timeout=60_000)
    for name, text in (("cars.txt", "Each automobile has wheels."), ("plants.txt", "A rose has thorns.")):
        find = office.desk.finder(office.folder)
        assert find is not None
        first = find(f"{name}\n{text}")[0]
        assert (first.name, first.passage.text) == (name, text)
        assert first.score == pytest.approx(1.0, abs=2e-3)
    office.close()


def test_only_what_is_new_is_read_again(office: Office):
    office.begin()
    office.wait_whole(2)
    office.write("garden.txt", "My flower is red.")
    office.folders.read(office.folder, again=True)
    office.wait_whole(3)
    assert office.embedder.texts[2:] == ["garden.txt\nMy flower is red."]


def test_a_folder_that_is_read_again_while_nothing_new_is_found(office: Office, monkeypatch: pytest.MonkeyPatch):
    found_nothing, may_say_so, look = threading.Event(), threading.Event(), meaning_desk._read

    def look_slowly(*arguments: Any) -> Any:
        read = look(*arguments)
        if read.is_done:
            found_nothing.set()
            may_say_so.wait(5)
        return read

    monkeypatch.setattr(meaning_desk, "_read", look_slowly)
    office.begin()
    office.qtbot.waitUntil(found_nothing.is_set)
    office.write("garden.txt", "My flower is red.")
    with office.qtbot.waitSignal(office.folders.was_read):
        office.folders.read(office.folder, again=True)
    may_say_so.set()
    office.wait_whole(3)


def test_without_a_model_words_find_what_they_find(office: Office):
    office.folders.hold("chat", office.folder)
    office.qtbot.waitUntil(lambda: office.folders.state(office.folder).files == 2)
    office.qtbot.wait(50)
    assert office.meaning() == MeaningState()
    assert office.host.models.loaded_keys() == []
    assert office.find("Whose thorns?") == ["plants.txt"]
    office.desk.set_model(EMBEDDER)  # chosen later
    office.wait_whole(2)
    assert office.find("Which vehicle is there?") == ["cars.txt"]
    office.desk.set_model(None)
    assert office.meaning() == MeaningState()
    assert office.find("Which vehicle is there?") == []


def test_it_gives_way_to_answers_and_goes_on_behind_them(office: Office):
    office.embedder.may_go.clear()
    office.begin()
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 2)
    assert not office.host.is_asked  # reading passages is no answer
    assert office.host.answers_of("embedder") == 0
    with office.qtbot.waitSignal(office.host.rested):
        office.host.submit(GenerateRequest(messages=[Message("user", "one two three")]), "writer")
        assert all(job.cancelled.is_set() for job in office.embedder.taken)
    assert office.meaning() != MeaningState(2, 2)
    office.embedder.may_go.set()
    office.wait_whole(2)


def test_it_gives_way_to_clients_of_the_server(office: Office):
    with office.qtbot.waitSignal(office.host.loaded):
        office.host.load("writer")
    office.embedder.may_go.clear()
    office.begin()
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 2)
    job = office.writer.submit(GenerateRequest(messages=[Message("user", "word " * 3000)]))
    office.qtbot.waitUntil(lambda: all(job.cancelled.is_set() for job in office.embedder.taken[:2]))
    office.qtbot.wait(100)
    assert len(office.embedder.texts) == 2  # it waits for the end of that answer
    job.cancel()
    office.embedder.may_go.set()
    office.wait_whole(2)


def test_a_question_waits_a_moment_only_and_goes_before_passages(office: Office, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(meaning_desk, "LIMIT_S", 0.05)
    office.begin()
    office.wait_whole(2)
    office.write("garden.txt", "My flower is red.")
    office.embedder.may_go.clear()
    office.folders.read(office.folder, again=True)
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 3)
    assert office.find("Whose vehicle has thorns?") == ["plants.txt"]  # by words: the vector did not come in time
    passage, question = office.embedder.taken[2:4]
    assert passage.cancelled.is_set()
    assert question.cancelled.is_set()
    office.embedder.may_go.set()
    office.wait_whole(3)


def test_it_rests_while_a_question_is_written(office: Office):
    office.embedder.may_go.clear()
    office.begin()
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 2)
    for _ in range(5):
        office.folders.question_expected.emit(office.folder)
        office.qtbot.wait(20)
    assert all(job.cancelled.is_set() for job in office.embedder.taken)
    assert len(office.embedder.texts) == 2
    office.embedder.may_go.set()
    office.wait_whole(2)


def test_who_writes_after_a_while_has_the_model_loaded_again(office: Office, monkeypatch: pytest.MonkeyPatch):
    office.begin()
    office.wait_whole(2)
    office.folders.question_expected.emit(office.folder)
    office.host.models.unload("embedder")
    office.qtbot.waitUntil(lambda: office.host.models.state_of("embedder") == "absent")
    prepared: list[str] = []
    monkeypatch.setattr(office.host.models, "prepare", prepared.append)
    office.folders.question_expected.emit(office.folder)
    assert prepared == []  # it was unloaded while this is written
    monkeypatch.setattr(meaning_desk, "LOAD_AGAIN_S", 0.0)
    office.folders.question_expected.emit("")  # in a chat without a folder
    assert prepared == []
    office.folders.question_expected.emit(office.folder)
    assert prepared == ["embedder"]


def test_a_model_is_not_loaded_where_another_would_have_to_go(office: Office, monkeypatch: pytest.MonkeyPatch):
    prepared: list[str] = []
    monkeypatch.setattr(office.host.models, "prepare", prepared.append)
    office.begin()
    office.qtbot.waitUntil(lambda: prepared == ["embedder"])
    office.qtbot.wait(100)
    assert prepared == ["embedder"]  # once for each reading


def test_who_unloads_the_model_is_not_given_it_back_at_once(office: Office):
    office.embedder.may_go.clear()
    office.begin()
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 2)
    office.host.models.unload("embedder")
    office.qtbot.waitUntil(lambda: office.host.models.state_of("embedder") == "absent")
    office.qtbot.wait(100)
    assert office.host.models.loaded_keys() == []
    assert office.meaning().error == ""
    assert office.find("Whose thorns?") == ["plants.txt"]


def test_a_model_that_fails_is_told_and_asked_again_with_the_next_reading(qtbot: QtBot, tmp_path: Path):
    office = Office(qtbot, tmp_path, ScriptedEmbedder(MEANINGS, otherwise=None))
    office.write("zoo.txt", "A zoo.")
    office.begin()
    qtbot.waitUntil(lambda: office.meaning() == MeaningState(2, 3, "It broke."))  # the others were read
    asked = len(office.embedder.texts)
    qtbot.wait(100)
    assert len(office.embedder.texts) == asked
    assert office.find("A zoo?") == ["zoo.txt"]
    Path(office.folder, "zoo.txt").unlink()
    office.folders.read(office.folder, again=True)
    office.wait_whole(2)
    office.close()


def test_a_model_that_cannot_be_loaded_is_told(qtbot: QtBot, tmp_path: Path):
    def load(_order: object) -> None:
        raise UnsupportedModelError("Its vectors are of another kind.")

    office = Office(qtbot, tmp_path, ScriptedEmbedder({}), load)  # type: ignore[arg-type]
    office.begin()
    qtbot.waitUntil(lambda: office.meaning() == MeaningState(error="Its vectors are of another kind."))
    assert office.find("Whose thorns?") == ["plants.txt"]
    office.close()


def test_it_ends_in_the_middle(office: Office):
    """The fixture closes; nothing is left behind."""
    office.embedder.may_go.clear()
    office.begin()
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 2)


def test_a_folder_that_nobody_uses_is_not_read(office: Office):
    office.embedder.may_go.clear()
    office.begin()
    office.qtbot.waitUntil(lambda: len(office.embedder.texts) == 2)
    office.folders.hold("chat", "")
    office.host.making_way.emit()
    office.qtbot.wait(100)
    assert len(office.embedder.texts) == 2
    assert all(job.cancelled.is_set() for job in office.embedder.taken)


def test_a_key_in_another_chat_does_not_keep_the_model_away(office: Office, monkeypatch: pytest.MonkeyPatch):
    office.begin()
    office.wait_whole(2)
    office.host.models.unload("embedder")
    office.qtbot.waitUntil(lambda: office.host.models.state_of("embedder") == "absent")
    prepared: list[str] = []
    monkeypatch.setattr(office.host.models, "prepare", prepared.append)
    office.folders.question_expected.emit("")
    office.folders.question_expected.emit(office.folder)
    assert prepared == ["embedder"]


def test_new_files_are_not_taken_for_read_while_the_model_is_away(office: Office, monkeypatch: pytest.MonkeyPatch):
    office.begin()
    office.wait_whole(2)
    office.qtbot.waitUntil(lambda: not office.desk._due)  # it looks once more, and would count what is new by then
    office.host.models.unload("embedder")
    office.qtbot.waitUntil(lambda: office.host.models.state_of("embedder") == "absent")
    monkeypatch.setattr(office.host.models, "prepare", lambda _key: None)  # there is no room
    office.write("new.txt", "Something new.")
    office.folders.read(office.folder, again=True)
    office.qtbot.waitUntil(lambda: office.folders.state(office.folder).files == 3)
    assert office.meaning() == MeaningState()
