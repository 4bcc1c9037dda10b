"""What becomes of a request, as its id and the log tell it."""

import logging
import re
import socket

import pytest

from llama_gui.server.serve import ApiServer
from tests.server.conftest import CHAT, KEY, Serve, ServedScript, client_of, connect, exchange, head, post, question
from tests.server.test_connection import eventually


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="llama_gui.server.access")
    return caplog


def lines(log: pytest.LogCaptureFixture, count: int) -> list[str]:
    """The lines, without what is different each time. The answer is there before them."""
    eventually(lambda: len(log.messages) >= count)
    return [re.sub(r"^127.0.0.1:\d+ |, \d+\.\d{3} s|, req_[0-9a-f]{32}$", "", line) for line in log.messages]


def test_a_request_has_the_id_that_its_client_chose(plain_server: ApiServer, log):
    _, headers, _ = exchange(plain_server, head("/v1/models", plain_server, X_Request_Id="a-b.c/1"))
    assert headers["x-request-id"] == "a-b.c/1"
    assert lines(log, 1) == ['"GET /v1/models" 200, a-b.c/1']


@pytest.mark.parametrize("given", ["", "two words", "\xe4", "x" * 129])
def test_an_id_that_cannot_stand_in_a_log_is_replaced(plain_server: ApiServer, given: str):
    _, headers, _ = exchange(plain_server, head("/v1/models", plain_server, X_Request_Id=given))
    assert re.fullmatch("req_[0-9a-f]{32}", headers["x-request-id"])


@pytest.mark.parametrize("stream", [False, True])
def test_openais_client_knows_the_id(serve: Serve, stream: bool):
    with client_of(serve()) as client:
        reply = client.chat.completions.with_raw_response.create(
            model="Scripted", messages=[{"role": "user", "content": "one"}], stream=stream
        )
        assert re.fullmatch("req_[0-9a-f]{32}", reply.request_id or "")


def test_a_line_tells_how_a_request_went(serve: Serve, log):
    server = serve()
    exchange(server, post(CHAT, server, question("one two three", stream=True)))
    exchange(server, post(CHAT, server, question("a secret", temperature=-1)))
    exchange(server, head("/v1/models?api_key=" + KEY, server, Authorization="Bearer wrong-" + KEY))
    exchange(server, head("/nothing%0a127.0.0.1:1%20%22GET%20/", server))
    assert lines(log, 4) == [
        f'"POST {CHAT}" 200, 3 + 3 tokens',
        f'"POST {CHAT}" 400, invalid_value',
        '"GET /v1/models" 401',
        '"GET /nothing%0a127.0.0.1:1%20%22GET%20/" 404',
    ]
    assert not any(KEY in line or "secret" in line for line in log.messages)


def test_a_line_is_short_whatever_is_asked_for(plain_server: ApiServer, log):
    exchange(plain_server, head("/" + "a" * 9000, plain_server, method="M" * 9000))
    assert all(len(line) < 250 for line in lines(log, 1))


def begin_stream(client: socket.socket, server: ApiServer) -> None:
    """Ask, and wait for the answer's first words."""
    client.sendall(post(CHAT, server, question("Go", stream=True)))
    while b"word" not in client.recv(65536):
        pass


def test_a_line_tells_that_the_client_hung_up(serve: Serve, log):
    server = serve(ServedScript({"Go": ["word "] * 10_000}, tokens_per_second=50))
    with connect(server) as client:
        begin_stream(client, server)
    (line,) = lines(log, 1)
    assert re.fullmatch(rf'"POST {CHAT}" 200, hung up, 1 \+ \d+ tokens', line)


def test_a_line_tells_why_a_stream_failed(serve: Serve, log):
    server = serve(ServedScript({"Go": ["word "] * 10_000}, tokens_per_second=50))
    with connect(server) as client:
        begin_stream(client, server)
        server.stop()
    (line,) = lines(log, 1)
    assert "200, server_stopped, " in line
