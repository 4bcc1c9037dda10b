"""In a German window what goes wrong below it is said in German; what is kept stays English."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from llama_gui.errors import GenerationError
from llama_gui.ui.endpoints_dialog import EndpointsDialog, ServerFormDialog
from tests.fakes import scripted_engine
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.conftest import OpenWindow
from tests.journeys.driving import announcements, ask, shown, trigger

SECONDS = 60_000


pytestmark = pytest.mark.usefixtures("in_german")


def test_a_model_that_is_broken_or_cut_off(open_starter: OpenWindow, qtbot, tmp_path: Path):
    window = open_starter()
    notice = window.deck.current().notice
    broken, cut = tmp_path / "kaputt", tmp_path / "abgeschnitten.gguf"
    broken.mkdir()
    (broken / "config.json").write_text("{", encoding="utf-8")
    cut.write_bytes(b"GGUF\x03\0\0\0")
    window.panel.picker.model_chosen.emit(str(broken))
    qtbot.waitUntil(lambda: "config.json lässt sich nicht lesen" in notice.text(), timeout=SECONDS)
    assert notice.text().endswith("Lade die Datei noch einmal herunter.")
    window.panel.picker.model_chosen.emit(str(cut))
    qtbot.waitUntil(
        lambda: f"{cut} ist beschädigt oder abgeschnitten: Sie endet mitten in ihrem Kopf." in notice.text(),
        timeout=SECONDS,
    )


def test_an_answer_that_fails_is_kept_in_english_and_shown_in_german(open_window: OpenWindow, qtbot, monkeypatch):
    error = "lab sent something that cannot be read."
    monkeypatch.setattr(scripted_engine, "GenerationError", lambda _text: GenerationError(error))
    window = open_window(ScriptedEngine(fail_at=2))
    tab = window.deck.current()
    ask(qtbot, tab, "Guten Morgen")
    qtbot.waitUntil(lambda: "lab hat etwas geschickt, was sich nicht lesen lässt." in shown(tab))
    assert tab.session.path()[-1].error == error
    assert error not in shown(tab)


def test_a_refusal_is_heard_as_it_is_read(open_window: OpenWindow, qtbot, monkeypatch):
    heard = announcements(monkeypatch)
    tab = open_window(ScriptedEngine(max_context=4)).deck.current()
    ask(qtbot, tab, "eins zwei drei vier sechs")
    qtbot.waitUntil(tab.notice.isVisible)
    assert tab.notice.text().startswith("Das Gespräch ist 5 Token lang, aber dieses Modell liest höchstens 4 und")
    assert tab.notice.text() in heard


def test_a_file_that_cannot_be_read(open_window: OpenWindow, qtbot, tmp_path: Path):
    tab = open_window(ScriptedEngine()).deck.current()
    (tmp_path / "schaden.pdf").write_bytes(b"%PDF-1.7 nothing else")
    tab.files.attach([str(tmp_path / "schaden.pdf")])
    qtbot.waitUntil(tab.notice.isVisible, timeout=SECONDS)
    assert tab.notice.text().startswith("schaden.pdf ist beschädigt und lässt sich nicht lesen. Hole die Datei noch")


def test_a_server_that_refuses(open_window: OpenWindow, qtbot):
    window = open_window(ScriptedEngine())
    trigger(window, "endpoints")
    dialog = window.findChild(EndpointsDialog)
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    form = dialog.findChild(ServerFormDialog)
    qtbot.keyClicks(form.name, "labor")
    qtbot.keyClicks(form.address, "http://127.0.0.1:9/v1")
    qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    expected = "Unter http://127.0.0.1:9/v1 ist nichts zu erreichen. Läuft der Server von labor?"
    qtbot.waitUntil(lambda: dialog._said.text() == expected, timeout=SECONDS)
    dialog.accept()
