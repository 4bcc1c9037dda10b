"""The host over somebody else's server: tabs cannot tell the difference."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.server.endpoint import Endpoint
from llama_gui.server.remote import RemoteEngine
from llama_gui.server.serve import ApiServer
from tests.bridge.test_engine_host import Watch, asking
from tests.server.conftest import KEY, ServedScript, serving


@pytest.fixture
def served() -> Iterator[tuple[ApiServer, ServedScript]]:
    engine = ServedScript({"Wait": ["Half", " of", " it"]}, hang_at=2, hang_on=["Wait"])
    with serving() as serve:
        yield serve(engine), engine


def test_answers_stream_stop_and_fail_as_those_of_a_local_model(qtbot: QtBot, served: tuple[ApiServer, ServedScript]):
    server, scripted = served
    host = EngineHost(lambda _path: RemoteEngine.connect(Endpoint("Ours", server.url, key=KEY)))
    watch = Watch(host)
    try:
        with qtbot.waitSignal(host.loaded):
            host.load("Ours#Scripted")
        assert host.info is not None
        assert (host.info.name, host.info.device) == ("Scripted", "Ours")

        whole, stopped, long = (
            host.submit(asking("one two")),
            host.submit(asking("Wait")),
            host.submit(asking("w " * 5000)),
        )
        qtbot.waitUntil(lambda: watch.texts.get(stopped) == "Half of")
        host.cancel(stopped)
        qtbot.waitUntil(lambda: len(watch.results) == 3)
        assert (watch.results[whole].text, watch.results[whole].finish_reason) == ("one two", "stop")
        assert (watch.results[stopped].text, watch.results[stopped].finish_reason) == ("Half of", "cancelled")
        assert "maximum context length is" in str(watch.results[long].error)
        assert watch.texts[whole] == "one two"
        qtbot.waitUntil(lambda: not scripted._jobs)
    finally:
        assert host.shutdown()


def test_a_server_that_is_not_there_is_said(qtbot: QtBot):
    host = EngineHost(lambda _path: RemoteEngine.connect(Endpoint("Theirs", "http://127.0.0.1:9/v1")))
    try:
        with qtbot.waitSignal(host.load_failed) as caught:
            host.load("Theirs")
        assert "Is the server of Theirs running?" in caught.args[1]
        assert host.state == "failed"
    finally:
        assert host.shutdown()
