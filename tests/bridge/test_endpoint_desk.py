"""Remote servers are kept, asked and forgotten; here the remote server is our own."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.endpoint_desk import EndpointDesk, RemoteServer, ServerForm, remote_entries
from llama_gui.bridge.typed_address import whole_address
from llama_gui.errors import InvalidRequestError
from llama_gui.server.endpoint import Endpoint
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


def test_an_address_without_its_path_is_completed_once_the_server_answers_there(qtbot: QtBot, desk, server):  # noqa: F811
    with qtbot.waitSignal(server.started):
        server.start(0)
    bare = server.url.removesuffix("/v1")
    desk._open_book().keep(Endpoint("mine", bare, server.key))
    with qtbot.waitSignal(desk.models_found) as told:
        desk.ask_for_models("mine")
    assert told.args == ["mine", ("mine#starter",)]
    assert desk.endpoint("mine").base_url == server.url
    desk._open_book().keep(Endpoint("other", f"{bare}/", server.key))  # a slash says that nothing is missing
    with qtbot.waitSignal(desk.failed):
        desk.ask_for_models("other")
    assert desk.endpoint("other").base_url == f"{bare}/"


def test_a_server_that_answers_nowhere_is_told_by_its_own_address(qtbot: QtBot, desk, server):  # noqa: F811
    with qtbot.waitSignal(server.started):
        server.start(0)
    bare = server.url.removesuffix("/v1")
    desk._open_book().keep(Endpoint("mine", bare, "another-key"))
    with qtbot.waitSignal(desk.failed):
        desk.ask_for_models("mine")
    assert desk.endpoint("mine").base_url == bare


def test_a_key_stays_with_its_address(qtbot: QtBot, desk):
    for address, key in (("https://a.example/v1", "secret-key"), ("https://a.example/v1", None)):
        with qtbot.waitSignal(desk.kept):
            desk.keep(ServerForm("a", address, key))
    assert desk.endpoint("a").key == "secret-key"
    with qtbot.waitSignal(desk.kept):
        desk.keep(ServerForm("a", "https://b.example/v1", None))
    assert desk.endpoint("a").key == ""


@pytest.mark.parametrize("address", ["https://a.example", "http://127.0.0.1:8000", "https://api.openai.com"])
def test_a_kept_address_stays_as_it_is(qtbot: QtBot, desk, address):
    desk._open_book().keep(Endpoint("a", address, "secret-key"))
    with qtbot.waitSignal(desk.kept):
        desk.keep(ServerForm("a", address, None))
    assert (desk.endpoint("a").base_url, desk.endpoint("a").key) == (address, "secret-key")
    with qtbot.waitSignal(desk.kept):
        desk.keep(ServerForm("a", f" {address} ", "another"))
    assert (desk.endpoint("a").base_url, desk.endpoint("a").key) == (address, "another")


def test_a_key_stays_when_the_address_is_typed_shorter(qtbot: QtBot, desk):
    desk._open_book().keep(Endpoint("a", "http://127.0.0.1:8000/v1", "secret-key"))
    with qtbot.waitSignal(desk.kept):
        desk.keep(ServerForm("a", "127.0.0.1:8000", None))
    assert (desk.endpoint("a").base_url, desk.endpoint("a").key) == ("http://127.0.0.1:8000/v1", "secret-key")


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (ServerForm("a", "http://far.example/v1", ""), "plain"),
        (ServerForm("a", "192.168.1.77:8000", ""), "plain"),
        (ServerForm("a", "ftp://a.example", ""), "address"),
        (ServerForm("a", "nonsense", ""), "address"),
        (ServerForm("a", "http://me:word@a.example/v1", ""), "address"),
        (ServerForm("a", "https://a.example/v1", "kéy"), "key"),
        (ServerForm(" ", " ", ""), "address"),
        (ServerForm("", "https://[half", ""), "address"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_field(qtbot: QtBot, desk, form, field):
    with qtbot.waitSignal(desk.refused) as told:
        desk.keep(form)
    assert told.args == [field]


@pytest.mark.parametrize(
    ("address", "name"), [("localhost:8000", "localhost:8000"), ("https://api.example/v1", "api.example")]
)
def test_a_server_without_a_name_is_called_as_its_host_is(qtbot: QtBot, desk, address, name):
    with qtbot.waitSignal(desk.kept) as told:
        desk.keep(ServerForm("", address, "", is_new=True))
    assert told.args[0] == name
    assert desk.endpoint(name).base_url == whole_address(address)
    with qtbot.waitSignal(desk.refused) as told:
        desk.keep(ServerForm("", address, "", is_new=True))
    assert told.args == ["taken"]


def test_models_are_listed_by_server():
    (entry,) = remote_entries(["lab#meta/Llama-3.1-70B"])
    assert (entry.endpoint, entry.name, entry.key) == ("lab", "meta/Llama-3.1-70B", "lab#meta/Llama-3.1-70B")
