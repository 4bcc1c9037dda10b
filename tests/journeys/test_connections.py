"""Other programs use the window's models, and its tabs use other servers' models; here both ends are ours."""

import json
import urllib.request

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from llama_gui.chats.recipe import read_recipe
from llama_gui.errors import SettingsError
from llama_gui.server.endpoint_book import EndpointBook
from llama_gui.settings import UserSettings
from llama_gui.ui.endpoints_dialog import EndpointsDialog, ServerFormDialog
from llama_gui.ui.server_dialog import ServerDialog
from tests.journeys.driving import ask, shown, trigger


@pytest.fixture
def window(open_starter, monkeypatch):
    monkeypatch.setattr("llama_gui.library.sign_in.system_safe", lambda: None)
    return open_starter(UserSettings(server_port=_free_port()))


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_switch_serves_shows_the_address_and_ends_with_the_window(window, qtbot):
    trigger(window, "server")
    dialog = window.findChild(ServerDialog)
    assert "•" not in dialog._key.text()
    dialog.switch.click()
    qtbot.waitUntil(lambda: dialog._address.text().startswith("http://127.0.0.1:"))
    assert window.kept_settings[-1].server_on is True
    assert set(dialog._key.text()) == {"•"}
    qtbot.mouseClick(dialog._show_key, Qt.MouseButton.LeftButton)
    key = dialog._key.text()
    qtbot.mouseClick(dialog._copy_address, Qt.MouseButton.LeftButton)
    url = QGuiApplication.clipboard().text()
    request = urllib.request.Request(f"{url}/models", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        assert [model["id"] for model in json.load(reply)["data"]] == ["starter"]
    dialog.switch.click()
    qtbot.waitUntil(lambda: dialog._address.text() == "Off")
    dialog.accept()


def test_a_remote_model_answers_in_a_tab(window, qtbot):
    """The remote server is the window's own, which is as remote as any: another thread, another protocol."""
    server = window.connections._server
    with qtbot.waitSignal(server.started):
        server.start(0)
    trigger(window, "endpoints")
    dialog = window.findChild(EndpointsDialog)
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    form = dialog.findChild(ServerFormDialog)
    assert not form.save.isEnabled()
    qtbot.keyClicks(form.name, "lab")
    qtbot.keyClicks(form.address, server.url)
    qtbot.keyClicks(form.key, server.key)
    with qtbot.waitSignal(window.connections._desk.models_found, timeout=20_000):
        qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    assert window.kept_settings[-1].remote_models == ("lab#starter",)
    assert "1 models" in dialog._said.text()
    dialog.accept()
    assert "lab#starter" in [entry.key for entry in window.models.entries()]
    window.models.choose("lab#starter")
    assert window.panel.rows["top_k"].edit.text() == "the server’s default"
    tab = window.deck.current()
    ask(qtbot, tab, "What is this application?")
    qtbot.waitUntil(lambda: tab.session.is_settled and len(tab.session.path()) == 2, timeout=30_000)
    answer = tab.session.path()[1]
    assert (answer.status, answer.model) == ("complete", "starter")
    assert answer.content.split()[-1].strip("*.") in shown(tab)
    assert read_recipe(answer.recipe).model == f"{server.url}#starter"


def full(*_args: object) -> str:
    raise SettingsError("The disk is full.")


def test_an_address_without_encryption_elsewhere_is_refused(window, qtbot, monkeypatch):
    trigger(window, "endpoints")
    dialog = window.findChild(EndpointsDialog)
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    form = dialog.findChild(ServerFormDialog)
    qtbot.keyClicks(form.name, "far")
    qtbot.keyClicks(form.address, "http://far.example/v1")
    qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    problem = form.problems["plain"]
    qtbot.waitUntil(problem.isVisible)  # beside the tick that allows it, with all that was typed
    assert "not encrypted" in problem.text()
    assert (form.isVisible(), form.address.text()) == (True, "http://far.example/v1")
    assert dialog.list.count() == 0
    window.connections._desk.failed.emit("Another server does not answer.")  # one that was asked before
    assert "not encrypted" in problem.text()
    form.plain.click()
    assert problem.isHidden()
    with monkeypatch.context() as patch:
        patch.setattr(EndpointBook, "keep", full)
        qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: problem.text() == "The disk is full.")
    assert form.save.isEnabled()
    with qtbot.waitSignal(window.connections._desk.kept):
        qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    assert dialog.list.count() == 1
    dialog.accept()
