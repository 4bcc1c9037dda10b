"""What becomes of a request, as its id and the log tell it."""

import logging
import re
import socket

import pytest

from llama_gui.server.serve import ApiServer
from tests.server.conftest import (
    CHAT,
    KEY,
    Serve,
    ServedScript,
    client_of,
    connect,
    exchange,
    head,
    post,
    question,
    read_reply,
)
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
        '"GET /v1/models" 401, invalid_api_key',
        '"GET /nothing%0a127.0.0.1:1%20%22GET%20/" 404, not_found',
    ]
    assert not any(KEY in line or "secret" in line for line in log.messages)


def test_a_line_tells_why_a_request_came_to_no_route(plain_server: ApiServer, log):
    exchange(plain_server, head("/v1/models", plain_server, Host="evil.example"))
    exchange(plain_server, head("/v1/models", plain_server, Origin="https://evil.example"))
    exchange(plain_server, post(CHAT, plain_server, question(), Content_Type="text/plain"))
    exchange(plain_server, post("/v1/models", plain_server, {}))
    assert lines(log, 4) == [
        '"GET /v1/models" 403, host_not_allowed',
        '"GET /v1/models" 403, origin_not_allowed',
        f'"POST {CHAT}" 415, no_json',
        '"POST /v1/models" 405, method_not_allowed',
    ]


def test_what_is_no_http_has_a_line_and_is_counted(serve: Serve, log):
    server = serve()
    _, headers, _ = exchange(server, b"GET /?key=secret\r\n\r\n")
    exchange(server, b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 70_000)
    assert log.messages[0].endswith(f", {headers['x-request-id']}")
    assert lines(log, 2) == ['"-" 400, invalid_http', '"-" 431, invalid_http']
    assert b'requests_total{route="none",status="431"} 1' in exchange(server, head("/metrics", server))[2]


def test_a_body_that_is_no_http_is_told_in_the_line_of_its_request(serve: Serve, log):
    server = serve()
    chunked = head(CHAT, server, method="POST", Content_Type="application/json", Transfer_Encoding="chunked")
    status, headers, _ = exchange(server, chunked + b"no size\r\n")
    with connect(server) as client:
        client.sendall(chunked)
        eventually(lambda: server._server.server_state.tasks)
        client.sendall(b"no size\r\n")
        assert read_reply(client)[0] == status == 400
    assert lines(log, 2) == [f'"POST {CHAT}" 400, invalid_http'] * 2
    assert log.messages[0].endswith(f", {headers['x-request-id']}")


def test_the_rest_of_a_refused_body_has_no_line_of_its_own(serve: Serve, log):
    server = serve()
    with connect(server) as client:
        fields = {"Authorization": "Bearer wrong", "Transfer_Encoding": "chunked"}
        client.sendall(head(CHAT, server, method="POST", Content_Type="application/json", **fields))
        assert read_reply(client)[0] == 401
        client.sendall(b"no size\r\n")
        while client.recv(65536):
            pass
    exchange(server, head("/health", server))
    assert lines(log, 2) == [f'"POST {CHAT}" 401, invalid_api_key', '"GET /health" 200']


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
