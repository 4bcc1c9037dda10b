"""Passages of a folder are found by their meaning, in the whole window."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from llama_gui.bridge import meaning_desk
from llama_gui.bridge.folder_desk import MeaningState
from llama_gui.settings import UserSettings
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.folder_dialog import FolderDialog
from llama_gui.ui.preferences import PreferencesDialog
from llama_gui.ui.window import MainWindow
from llama_gui.vocabulary import STARTER
from tests.fakes.scripted_embedder import ScriptedEmbedder
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.tiny_embedder import write_tiny_embedder
from tests.journeys.conftest import ENTRIES
from tests.journeys.driving import shown, trigger
from tests.journeys.test_recall import asked_with

CARS, PLANTS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.fixture(autouse=True)
def _times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning_desk, "PAUSE_MS", 20)
    monkeypatch.setattr(meaning_desk, "LIMIT_S", 30.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Garage"
    folder.mkdir()
    (folder / "notes.txt").write_text("Each automobile has wheels.")
    (folder / "plants.txt").write_text("A rose has thorns.")
    return folder


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder({"automobile": CARS, "vehicle": CARS, "rose": PLANTS})


@pytest.fixture
def open_with_embedder(show_window, tmp_path: Path, embedder: ScriptedEmbedder):
    """The window, with a model for embeddings on its shelf."""
    path = write_tiny_embedder(tmp_path / "models" / "Tiny Embedder")

    def open_window(settings: UserSettings | None = None) -> MainWindow:
        return show_window(lambda order: embedder if order.key == str(path) else ScriptedEngine(), ENTRIES, settings)

    return open_window


def use_folder(window: MainWindow, folder: Path) -> ChatTab:
    tab = window.deck.current()
    assert tab is not None
    tab.folder.use(str(folder))
    return tab


def says(tab: ChatTab) -> str:
    return tab.composer.folder_button.words


def test_a_question_finds_what_has_none_of_its_words(open_with_embedder, folder: Path, embedder, qtbot):
    window = open_with_embedder()
    embedder.may_go.clear()
    tab = use_folder(window, folder)
    qtbot.waitUntil(lambda: len(embedder.texts) == 2, timeout=10_000)
    assert says(tab) == "Garage · 2 files"
    embedder.may_go.set()
    meaning = MeaningState(2, 2)
    qtbot.waitUntil(lambda: tab.session.folders.state(str(folder)).meaning == meaning, timeout=10_000)
    assert says(tab) == "Garage · 2 files"
    assert "by words and meaning" in tab.composer.folder_button.toolTip()
    assert window.status.work.text() == ""  # nobody was answered
    content = asked_with(qtbot, tab, "Which vehicle is there?")
    assert content.startswith("From the file “notes.txt”")
    assert "▤ notes.txt  1 passage ▸" in shown(tab)
    assert asked_with(qtbot, tab, "Which moon?") == "Which moon?"
    assert shown(tab).count("Nothing that was read of the folder has the words of this question.") == 1
    assert tab.session.model == STARTER


def test_the_window_says_how_far_it_is(open_with_embedder, folder: Path, embedder, qtbot, monkeypatch):
    monkeypatch.setattr(meaning_desk, "BATCH", 1)
    window = open_with_embedder()
    tab = use_folder(window, folder)
    told: list[str] = []
    tab.session.folders.changed.connect(lambda _folder: told.append(says(tab)))
    qtbot.waitUntil(lambda: "Garage · 2 files · meaning: 1 of 2" in told, timeout=10_000)
    qtbot.waitUntil(lambda: told[-1] == "Garage · 2 files")
    tab.folder.show_contents()
    (dialog,) = tab.findChildren(FolderDialog)
    assert "All passages are found by their meaning, too." in dialog.facts.text()
    tab.session.folders.set_meaning(str(folder), MeaningState(1, 2))
    assert "Found by meaning so far: 1 of 2 passages." in dialog.facts.text()
    tab.session.folders.set_meaning(str(folder), MeaningState(1, 2, "It broke."))
    assert "1 of 2 passages; then it failed. It broke." in dialog.facts.text()
    assert says(tab) == "Garage · 2 files · not by meaning"
    tab.session.folders.set_meaning(str(folder), MeaningState(error="It broke."))
    assert "No passages are found by meaning. It broke." in dialog.facts.text()
    dialog.close()


def test_it_can_be_turned_off_and_on(open_with_embedder, folder: Path, embedder, qtbot):
    window = open_with_embedder(UserSettings(meaning_model=""))
    tab = use_folder(window, folder)
    qtbot.waitUntil(lambda: says(tab) == "Garage · 2 files")
    qtbot.waitUntil(lambda: bool(window.library._parts.desk.shelf.items))
    qtbot.wait(100)
    assert embedder.texts == []
    trigger(window, "preferences")
    (dialog,) = window.findChildren(PreferencesDialog)
    box = dialog.findChild(ChoiceBox, "meaning_model")
    assert [box.itemText(n) for n in range(box.count())] == ["With Tiny Embedder", "No, by words only"]
    assert box.currentText() == "No, by words only"
    assert any("Of folders of documents" in label.text() for label in dialog.findChildren(QLabel))
    box.setCurrentIndex(0)
    qtbot.waitUntil(lambda: len(embedder.texts) == 2, timeout=10_000)
    box.setCurrentIndex(1)
    assert asked_with(qtbot, tab, "Which vehicle is there?") == "Which vehicle is there?"
    dialog.close()
