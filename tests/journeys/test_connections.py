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


def test_other_devices_come_in_only_when_they_are_asked_in(window, qtbot, monkeypatch):
    monkeypatch.setattr("llama_gui.server.serve.addresses_here", lambda: ("192.168.1.20", "10.0.0.5"))
    monkeypatch.setattr("llama_gui.ui.server_dialog._LOOK_MS", 200)
    trigger(window, "server")
    dialog = window.findChild(ServerDialog)
    dialog.switch.click()
    qtbot.waitUntil(lambda: dialog._address.text().startswith("http://127.0.0.1:"))
    here = dialog._address.text()
    assert not window.connections._server.is_for_others
    assert dialog._network_address.text() == "Off"
    assert window.status.shared.isHidden()

    dialog.network.click()
    there = here.replace("127.0.0.1", "192.168.1.20")
    qtbot.waitUntil(lambda: dialog._network_address.text() == there)
    assert dialog._address.text() == here
    assert dialog._more_addresses.text() == f"or {here.replace('127.0.0.1', '10.0.0.5')}"
    qtbot.mouseClick(dialog._copy_network, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == there
    assert window.status.shared.isVisible()
    assert there in window.status.shared.toolTip()
    assert window.status.state.text() == f"Other devices in this network can use the models at {there}."
    assert window.kept_settings[-1].server_for_network is True
    monkeypatch.setattr("llama_gui.server.serve.addresses_here", lambda: ())  # the network has gone
    qtbot.waitUntil(lambda: dialog._network_address.text() == "This computer is in no network")
    assert not dialog._copy_network.isEnabled()

    dialog.network.click()
    qtbot.waitUntil(window.status.shared.isHidden)
    assert not window.connections._server.is_for_others
    assert window.connections._server.url == here
    assert window.kept_settings[-1].server_for_network is False
    dialog.network.click()
    qtbot.waitUntil(window.status.shared.isVisible)
    dialog.switch.click()
    qtbot.waitUntil(window.status.shared.isHidden)
    assert (dialog._address.text(), dialog._network_address.text()) == ("Off", "Off")
    assert (window.kept_settings[-1].server_on, window.kept_settings[-1].server_for_network) == (False, True)
    dialog.accept()


def test_what_was_chosen_for_the_network_holds_at_the_next_start(open_starter, qtbot):
    port = _free_port()
    window = open_starter(UserSettings(server_on=True, server_port=port, server_for_network=True))
    server = window.connections._server
    qtbot.waitUntil(lambda: bool(server.url))
    assert server.is_for_others
    assert window.status.shared.isVisible()
    trigger(window, "server")
    dialog = window.findChild(ServerDialog)
    assert (dialog.switch.isChecked(), dialog.network.isChecked()) == (True, True)
    dialog.accept()


def test_a_server_that_is_still_starting_is_shown_as_on(window, qtbot):
    trigger(window, "server")
    dialog = window.findChild(ServerDialog)
    with qtbot.waitSignal(window.connections._server.started):
        window.connections._server.start(_free_port())  # as at the start of the window
    assert dialog.switch.isChecked()
    dialog.network.click()
    assert window.kept_settings[-1].server_on is True
    qtbot.waitUntil(window.status.shared.isVisible)
    dialog.accept()


def test_a_choice_for_the_network_opens_nothing_while_the_switch_is_off(window, qtbot):
    trigger(window, "server")
    dialog = window.findChild(ServerDialog)
    dialog.network.click()
    assert window.kept_settings[-1].server_for_network is True
    assert window.kept_settings[-1].server_on is False
    assert window.connections._server._lane is None
    assert dialog._network_address.text() == "Off"
    dialog._on_failed("Something long that the system says of this port. " * 8)
    assert dialog.minimumHeight() == dialog.layout().totalHeightForWidth(dialog.width())
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
    qtbot.waitUntil(lambda: form.focusWidget() is form.address)
    qtbot.keyClick(form.address, Qt.Key.Key_Return)
    qtbot.waitUntil(form.problems["address"].isVisible)
    assert form.problems["address"].text().startswith("This is no address")
    qtbot.keyClicks(form.address, server.url)
    assert form.name.placeholderText() == server.url.split("/")[2]
    qtbot.keyClicks(form.name, "lab")
    qtbot.keyClicks(form.key, server.key)
    with qtbot.waitSignal(window.connections._desk.models_found, timeout=20_000):
        qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    assert window.kept_settings[-1].remote_models == ("lab#starter",)
    assert "has one model;" in dialog._said.text()
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


def add_own_server(window, qtbot) -> EndpointsDialog:
    """Into the dialog that is open."""
    dialog, server = window.findChild(EndpointsDialog), window.connections._server
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    form = dialog.findChild(ServerFormDialog)
    for field, text in ((form.address, server.url), (form.name, "lab"), (form.key, server.key)):
        field.setText(text)
    with qtbot.waitSignal(window.connections._desk.models_found, timeout=20_000):
        qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    return dialog


@pytest.mark.parametrize("from_the_chat", [True, False])
def test_the_chat_for_which_a_server_was_added_has_its_only_model(window, qtbot, from_the_chat):
    with qtbot.waitSignal(window.connections._server.started):
        window.connections._server.start(0)
    tab = window.deck.current()
    before = tab.session.model
    if from_the_chat:
        window.panel.picker.make_menu().actions()[-1].trigger()
    else:
        trigger(window, "endpoints")
    dialog = add_own_server(window, qtbot)
    assert tab.session.model == ("lab#starter" if from_the_chat else before)
    assert ("this chat has it now" in dialog._said.text()) is from_the_chat
    if from_the_chat:
        qtbot.waitUntil(lambda: window._host.models.state_of("lab#starter") == "ready", timeout=20_000)
        window.models.choose(before)
        with qtbot.waitSignal(window.connections._desk.models_found, timeout=20_000):
            qtbot.mouseClick(dialog.ask_button, Qt.MouseButton.LeftButton)
        assert tab.session.model == before  # to ask again is not to want it
    dialog.accept()


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

    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    form = dialog.findChildren(ServerFormDialog)[-1]
    qtbot.keyClicks(form.name, "far")
    qtbot.keyClicks(form.address, "https://near.example/v1")
    qtbot.mouseClick(form.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(form.problems["name"].isVisible)  # else it would take the other one's place, key and all
    assert window.connections._desk.endpoint("far").base_url == "http://far.example/v1"
    form.reject()
    dialog.accept()
