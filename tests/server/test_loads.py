"""Models that are loaded while requests come: nobody else waits, and nothing of the inside is told."""

import concurrent.futures
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from llama_gui.errors import BrokenModelError, InvalidRequestError, NotEnoughMemoryError
from llama_gui.server.serve import ApiServer
from tests.server.conftest import CHAT, Serve, ServedScript, ask, connect, post, question, read_reply
from tests.server.test_connection import eventually


class SlowModels:
    """ "fast" is there; "slow" comes when `gate` opens, or fails with `error`."""

    def __init__(self, engine: ServedScript, error: Exception | None = None) -> None:
        self.gate = threading.Event()
        self.loads = 0
        self._engine = engine
        self._error = error

    def names(self) -> Sequence[str]:
        return ("fast", "slow")

    def engine(self, name: str) -> Any:
        if name == "slow":
            self.loads += 1
            assert self.gate.wait(30)
            if self._error is not None:
                raise self._error
        return self._engine

    def loaded(self) -> Mapping[str, Any]:
        return {"fast": self._engine}


def slow_server(serve: Serve, error: Exception | None = None) -> tuple[ApiServer, SlowModels]:
    engine = ServedScript()
    models = SlowModels(engine, error)
    return serve(engine, models), models


def test_a_loaded_model_answers_while_another_loads(serve: Serve):
    server, models = slow_server(serve)
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        try:
            waiting = [pool.submit(ask, server, question("one", model="slow")) for _ in range(40)]
            assert eventually(lambda: server._routes.generator.gate.taken == 40)
            began = time.monotonic()
            assert ask(server, question("one", model="fast"))[0] == 200
            assert ask(server, {"model": "fast", "content": "a"}, "/tokenize")[0] == 200
            assert time.monotonic() - began < 5
        finally:
            models.gate.set()
        assert [reply.result()[0] for reply in waiting] == [200] * 40
    assert models.loads == 1


def test_the_server_stops_while_a_model_loads(serve: Serve):
    server, models = slow_server(serve)
    with connect(server) as client:
        client.sendall(post(CHAT, server, question(model="slow")))
        assert eventually(lambda: models.loads)
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 3
        status, _, body = read_reply(client)
    models.gate.set()
    assert (status, b"server_stopped" in body) == (503, True)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (BrokenModelError("/home/somebody/secret/config.json is damaged."), 500, "model_unusable"),
        (InvalidRequestError("max_context", "/home/somebody/secret", "less"), 500, "model_unusable"),
        (RuntimeError("/home/somebody/secret"), 500, "bug"),
        (NotEnoughMemoryError(10**9, 10**8), 503, "not_enough_memory"),
    ],
)
def test_where_a_model_lies_that_cannot_be_loaded_is_not_told(serve: Serve, caplog, error: Exception, status, code):
    server, models = slow_server(serve, error)
    models.gate.set()
    for path, body in (
        (CHAT, question(model="slow")),
        (CHAT, question(model="slow", stream=True)),
        ("/tokenize", {"model": "slow", "content": "a"}),
    ):
        answered, reply = ask(server, body, path)
        assert (answered, reply["error"]["code"]) == (status, code)
        assert "secret" not in str(reply)
    assert ("secret" in caplog.text) == (status == 500)  # but our own log has it


def test_a_thread_that_the_system_refuses_is_waited_for_by_nobody(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    server, models = slow_server(serve)
    models.gate.set()
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("llama-gui-load"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert ask(server, question("one", model="slow"))[0] == 500
    assert ask(server, question("one", model="slow"))[0] == 200
