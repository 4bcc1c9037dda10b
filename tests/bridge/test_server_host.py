"""The server behind the window: on, asked by another program, off."""

import json
import os
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.server_host import HostModels, ServerHost
from llama_gui.desktop import engine_loader
from llama_gui.errors import EngineClosedError
from llama_gui.server.limits import ServerLimits
from llama_gui.server.network import addresses_here
from llama_gui.settings import UserSettings
from llama_gui.vocabulary import GenerateRequest
from tests.fakes.tiny_embedder import write_tiny_embedder
from tests.server.conftest import CHAT, ServedScript, connect, post, question, read_reply, serving
from tests.server.test_connection import eventually
from tests.server.test_serve import listening

STARTER = Path(__file__).parents[2] / "resources" / "starter_model"


@pytest.fixture
def host(qtbot: QtBot):
    host = EngineHost(engine_loader(STARTER, UserSettings()))
    with qtbot.waitSignal(host.loaded, timeout=60_000):
        host.load("starter")
    yield host
    assert host.shutdown()


@pytest.fixture
def server(host, tmp_path: Path):
    server = ServerHost(host, tmp_path / "server-key")
    yield server
    assert server.shutdown()


def ask(server: ServerHost, path: str, body: object = None, key: str | None = None):
    headers = {"Authorization": f"Bearer {key or server.key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(server.url + path, data, headers), timeout=30) as reply:
        return json.load(reply)


def test_other_programs_use_the_model_in_memory(qtbot: QtBot, server):
    with qtbot.waitSignal(server.started) as told:
        server.start(0)
    assert told.args[1] is False
    assert [model["id"] for model in ask(server, "/models")["data"]] == ["starter"]
    question = {"model": "starter", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8, "seed": 3}
    answer = ask(server, "/chat/completions", question)
    assert answer["choices"][0]["message"]["content"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(server, "/models", key="not the key")
    assert refused.value.code == 401
    refused.value.close()
    url = server.url
    with qtbot.waitSignal(server.stopped):
        server.stop()
    assert server.url == ""
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{url}/models", timeout=5)


def test_the_key_stays_and_only_the_owner_reads_it(qtbot: QtBot, server, tmp_path: Path):
    keys = []
    for _ in range(2):
        with qtbot.waitSignal(server.started):
            server.start(0)
        keys.append(server.key)
    assert keys[0] == keys[1]
    assert (tmp_path / "server-key").stat().st_mode & 0o077 == 0 or os.name != "posix"


def test_a_port_that_is_taken_is_said(qtbot: QtBot, server, host, tmp_path: Path):
    with qtbot.waitSignal(server.started):
        server.start(0)
    other = ServerHost(host, tmp_path / "server-key")
    with qtbot.waitSignal(other.failed) as told:
        port = int(server.url.rsplit(":", 1)[1].removesuffix("/v1"))
        other.start(port)
    assert told.args == [f"Another program uses port {port} already. Enter another number."]
    assert other.shutdown()


def test_it_is_for_others_only_when_told_so(qtbot: QtBot, server):
    for for_network in (True, False):
        with qtbot.waitSignal(server.started) as told:
            server.start(0, for_network=for_network)
        assert told.args[1] is server.is_for_others is for_network
        assert server.url.startswith("http://127.0.0.1:")
        assert len(server.urls_for_others()) == (len(addresses_here()) if for_network else 0)
        assert listening(int(server.url.rsplit(":", 1)[1].removesuffix("/v1"))) <= {
            "00000000" if for_network else "0100007F"
        }


def test_a_server_that_cannot_start_again_is_off_for_everybody(qtbot: QtBot, server, host, monkeypatch):
    expected: list[bool] = []
    monkeypatch.setattr(host, "expect_guests", expected.append)
    with qtbot.waitSignal(server.started):
        server.start(0, for_network=True)
    with socket.create_server(("127.0.0.1", 0)) as taken, qtbot.waitSignal(server.failed):
        server.start(taken.getsockname()[1])
    assert (server.url, server.urls_for_others()) == ("", ())
    assert expected == [True, False]


def test_a_switch_that_was_never_touched_has_no_thread(server):
    assert server.shutdown()
    assert server.findChildren(object) == []


def test_the_window_hears_what_is_done_for_other_programs(qtbot: QtBot, server, host):
    with qtbot.waitSignal(server.started):
        server.start(0)
    heard: list[int] = []
    host.stats_changed.connect(lambda _key, stats: heard.append(stats.running))
    engine = host.models.engine_of("starter")
    story = GenerateRequest(prompt="A long story:", max_tokens=600, min_tokens=600)
    jobs = [engine.submit(story) for _ in range(30)]  # one may have ended before anybody looks
    qtbot.waitUntil(lambda: any(heard))
    for job in jobs:
        job.cancel()
    with qtbot.waitSignal(server.stopped):
        server.stop()
    qtbot.wait(700)
    heard.clear()
    qtbot.wait(700)
    assert heard == []


def test_a_model_that_was_unloaded_while_a_request_waited_is_not_there():
    engine, models = ServedScript(hang_at=1), HostModels()
    models.show({"a": engine})
    with serving() as serve:
        server = serve(engine, models, limits=ServerLimits(streams=1))
        gate = server._routes.generator.gate
        with connect(server) as first, connect(server) as second:
            first.sendall(post(CHAT, server, question(model="a")))
            assert eventually(lambda: engine._jobs)
            second.sendall(post(CHAT, server, question(model="a")))
            assert eventually(lambda: gate.waiting == 1)
            models.show({})
            engine.stop()
            assert read_reply(first)[0] == 503
            status, _, body = read_reply(second)
    assert (status, json.loads(body)["error"]["code"]) == (404, "model_not_found")
    with pytest.raises(EngineClosedError, match="a was unloaded"):  # in the moment between the name and the engine
        models.engine("a")


def test_a_model_for_embeddings_answers_no_request_that_names_none(qtbot: QtBot, server, host, tmp_path: Path):
    folder = write_tiny_embedder(tmp_path / "Embedder")
    with qtbot.waitSignal(host.loaded, timeout=60_000):
        host.models.load(str(folder))
    with qtbot.waitSignal(server.started):
        server.start(0)
    assert [model["id"] for model in ask(server, "/models")["data"]] == ["starter", "Embedder"]
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4}
    assert ask(server, "/chat/completions", body)["choices"]
    assert ask(server, "/embeddings", {"input": "Hello"})["model"] == "Embedder"
