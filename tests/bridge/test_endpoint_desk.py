"""Remote servers are kept, asked and forgotten; here the remote server is our own."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.endpoint_desk import EndpointDesk, RemoteServer, ServerForm, remote_entries
from llama_gui.errors import InvalidRequestError
from tests.bridge.test_server_host import host, server  # noqa: F401 - fixtures


@pytest.fixture
def desk(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("llama_gui.library.sign_in.system_safe", lambda: None)
    desk = EndpointDesk(tmp_path / "endpoints.json")
    yield desk
    assert desk.shutdown()


def test_a_server_is_kept_asked_and_forgotten(qtbot: QtBot, desk, server):  # noqa: F811
    with qtbot.waitSignal(server.started):
        server.start(0)
    with qtbot.waitSignal(desk.kept) as told:
        desk.keep(ServerForm("mine", server.url, server.key))
    assert "only you can read" in told.args[1]
    with qtbot.waitSignal(desk.models_found) as told:
        desk.ask_for_models("mine")
    assert told.args == ["mine", ("mine#starter",)]
    assert desk.endpoint("mine").key == server.key
    with qtbot.waitSignal(desk.listed) as told:
        desk.read()
    assert told.args == [(RemoteServer("mine", server.url, has_key=True),)]
    with qtbot.waitSignal(desk.listed) as told:
        desk.remove("mine")
    assert told.args == [()]
    with pytest.raises(InvalidRequestError):
        desk.endpoint("mine")


def test_a_key_stays_with_its_address(qtbot: QtBot, desk):
    for address, key in (("https://a.example/v1", "secret-key"), ("https://a.example/v1", None)):
        with qtbot.waitSignal(desk.kept):
            desk.keep(ServerForm("a", address, key))
    assert desk.endpoint("a").key == "secret-key"
    with qtbot.waitSignal(desk.kept):
        desk.keep(ServerForm("a", "https://b.example/v1", None))
    assert desk.endpoint("a").key == ""


@pytest.mark.parametrize("address", ["http://far.example/v1", "ftp://a.example", "nonsense"])
def test_what_cannot_be_used_is_refused_by_name(qtbot: QtBot, desk, address):
    with qtbot.waitSignal(desk.failed) as told:
        desk.keep(ServerForm("a", address, ""))
    assert "base_url" in told.args[0]


def test_models_are_listed_by_server():
    (entry,) = remote_entries(["lab#meta/Llama-3.1-70B"])
    assert (entry.endpoint, entry.name, entry.key) == ("lab", "meta/Llama-3.1-70B", "lab#meta/Llama-3.1-70B")
