"""What arrives may be slow, endless, broken or no HTTP at all: the server says so, and forgets it."""

import contextlib
import json
import socket
import struct
import time

import pytest

from llama_gui.server.limits import ServerLimits
from tests.server.conftest import (
    CHAT,
    Serve,
    ServedScript,
    ask,
    connect,
    exchange,
    head,
    post,
    question,
    read_reply,
)

SHORT = ServerLimits(header_seconds=0.3, body_seconds=0.3, idle_seconds=0.3, write_seconds=0.3)


def is_closed_by_server(client: socket.socket) -> bool:
    try:
        return client.recv(100) == b""
    except ConnectionResetError:
        return True


def drained(client: socket.socket) -> bytes:
    """The first bytes of what comes before the server closes the connection."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while more := client.recv(65536):
            data += more
    return data[:12]


def drip(client: socket.socket) -> None:
    """A byte now and then, for longer than any limit; an OSError when the server has had enough."""
    for _ in range(200):
        client.sendall(b"x")
        time.sleep(0.02)


def eventually(condition, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


@pytest.mark.parametrize("beginning", [b"", b"GET /v1/models HTTP/1.1\r\nHost: 127", b"\r\n\r\n\r\n"])
def test_a_slow_head_ends_the_connection(serve: Serve, beginning: bytes):
    server = serve(limits=SHORT)
    with connect(server) as client:
        client.sendall(beginning)
        assert drained(client) in (b"", b"HTTP/1.1 400")


def test_a_head_that_drips_ends_the_connection(serve: Serve):
    server = serve(limits=SHORT)
    with connect(server) as client:
        began = time.monotonic()
        with pytest.raises(OSError):  # noqa: PT011 - reset or broken pipe
            drip(client)
        assert time.monotonic() - began < 3


def test_a_slow_body_is_refused(serve: Serve):
    server = serve(limits=SHORT)
    with connect(server) as client:
        client.sendall(post(CHAT, server, question())[:-5])
        assert read_reply(client)[0] == 408
        assert is_closed_by_server(client)


def test_an_idle_connection_ends_though_its_refused_body_still_drips(serve: Serve):
    server = serve(limits=SHORT)
    with connect(server) as client:
        client.sendall(post(CHAT, server, question(), Authorization="Bearer wrong-wrong", Content_Length="100000"))
        assert read_reply(client)[0] == 401
        with pytest.raises(OSError):  # noqa: PT011
            drip(client)


def test_idle_connections_make_room_for_new_ones(serve: Serve):
    server = serve(limits=ServerLimits(connections=8))
    idle = [connect(server) for _ in range(30)]
    try:
        assert exchange(server, head("/v1/models", server))[0] == 200
        assert eventually(lambda: len(server._server.server_state.connections) <= 8)
    finally:
        for client in idle:
            client.close()


def test_a_reader_that_reads_nothing_is_left(serve: Serve):
    engine = ServedScript({"much": ["x" * 50_000] * 400})
    server = serve(engine, limits=SHORT)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(post(CHAT, server, question("much", stream=True)))
        assert eventually(lambda: engine.requests)
        assert eventually(lambda: not server._server.server_state.connections)
    assert eventually(lambda: not engine._jobs)


@pytest.mark.parametrize(
    ("request_bytes", "statuses"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), {400}),  # a TLS hello
        (b"GET /\r\n\r\n", {400}),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
        (b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n", {400, 403}),
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 2**20 + b"\r\n\r\n", {431, 0}),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"a" * 70_000 + b"\r\n\r\n", {431}),
        (b"GET /?" + b"a" * 33_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", {431}),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Y: a\r\n" * 10_000 + b"\r\n", {431, 0}),
        (b"GET / HTTP/1.1\nHost: x\n\tfolded\n\n", {400, 403}),
        (b"GET / HTTP/1.1\r\nH\xf6st: x\r\n\r\n", {400}),
        (b"\x00" * 1000, {400}),
    ],
)
def test_what_is_no_http_is_refused(serve: Serve, request_bytes: bytes, statuses: set[int], caplog):
    server = serve()
    with connect(server) as client:
        with contextlib.suppress(OSError):  # refused before it was all sent
            client.sendall(request_bytes)
        assert read_reply(client)[0] in statuses
    assert exchange(server, head("/health", server))[0] == 200
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Length": "-1"},
        {"Content_Length": "ten"},
        {"Content_Length": "5, 6"},
        {"Content_Length": "9" * 30},
        {"Content_Length": "99999999999"},
        {"Transfer_Encoding": "gzip"},
    ],
)
def test_wrong_lengths_are_refused(serve: Serve, headers: dict[str, str]):
    server = serve()
    status, top, _ = exchange(server, post(CHAT, server, question(), **headers))
    assert status in (400, 413, 501)
    assert top["connection"] == "close"


def test_a_body_over_the_limit_is_refused_announced_or_not(serve: Serve):
    server = serve(limits=ServerLimits(body_bytes=1000))
    fits = json.dumps(question("x" * (1000 - len(json.dumps(question("")))))).encode()
    assert len(fits) == 1000
    assert exchange(server, post(CHAT, server, fits))[0] == 200
    assert exchange(server, post(CHAT, server, fits + b" "))[0] == 413
    chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
    request = head(CHAT, server, method="POST", Content_Type="application/json", Transfer_Encoding="chunked")
    with connect(server) as client:
        with contextlib.suppress(OSError):
            client.sendall(request + chunk * 1000)
        assert read_reply(client)[0] in (413, 0)  # 0: the rest was on its way when the connection ended
    assert ask(server, question())[0] == 200


@pytest.mark.parametrize(
    "chunk", [b"zz\r\nabc\r\n", b"ffffffffffffffffffffff\r\nabc", b"-5\r\nabc\r\n", b"5\r\nabcdefgh\r\n"]
)
def test_a_broken_chunk_ends_the_connection(serve: Serve, chunk: bytes):
    server = serve()
    request = head(CHAT, server, method="POST", Content_Type="application/json", Transfer_Encoding="chunked")
    with connect(server) as client:
        client.sendall(request + chunk)
        assert read_reply(client)[0] == 400
        assert is_closed_by_server(client)


def test_pipelined_requests_are_answered_in_order(serve: Serve):
    server = serve()
    with connect(server) as client:
        client.sendall(head("/health", server) + head("/nobody", server) + head("/v1/models", server))
        assert [read_reply_exactly(client) for _ in range(3)] == [200, 404, 200]


def read_reply_exactly(client: socket.socket) -> int:
    """The status of one reply, without a byte of the next."""
    top = b""
    while not top.endswith(b"\r\n\r\n"):
        top += client.recv(1)
    length = int(top.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while length:
        length -= len(client.recv(length))
    return int(top.split()[1])


def hanging() -> ServedScript:
    """An engine that writes three words of each answer, and no more."""
    return ServedScript(hang_at=3)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("reset", [True, False])
def test_who_hangs_up_frees_the_engine_at_once(serve: Serve, stream: bool, reset: bool):
    engine = hanging()
    server = serve(engine)
    with connect(server) as client:
        client.sendall(post(CHAT, server, question("one two three four five", stream=stream, n=2)))
        assert eventually(lambda: len(engine._jobs) == 2 and all(job._drawn == 3 for job in engine._jobs))
        assert eventually(lambda: server._routes.metrics.completion_tokens == 6)  # though no answer will end
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert eventually(lambda: not engine._jobs, 1.0)
    assert eventually(lambda: server._routes.generator.gate.taken == 0)
    assert server._routes.metrics.hung_up == 1


def test_who_hangs_up_in_the_queue_is_never_asked_for(serve: Serve):
    engine = hanging()
    server = serve(engine, limits=ServerLimits(streams=1))
    gate = lambda: server._routes.generator.gate  # noqa: E731
    with connect(server) as first, connect(server) as second:
        first.sendall(post(CHAT, server, question("one two three four")))
        assert eventually(lambda: gate().taken == 1)
        second.sendall(post(CHAT, server, question("nobody waits for this")))
        assert eventually(lambda: gate().waiting == 1)
        second.close()
        assert eventually(lambda: gate().waiting == 0)
    assert eventually(lambda: gate().taken == 0)
    assert len(engine.requests) == 1


def test_who_hangs_up_in_the_middle_of_the_body_leaves_nothing(serve: Serve):
    engine = ServedScript()
    server = serve(engine)
    for cut in (50, 200, 260):
        with connect(server) as client:
            client.sendall(post(CHAT, server, question("a question that is cut " * 10))[:cut])
    assert ask(server, question("hello"))[0] == 200
    assert len(engine.requests) == 1


def test_many_that_hang_up_leave_nothing(serve: Serve):
    engine = ServedScript(tokens_per_second=200)
    server = serve(engine)
    body = post(CHAT, server, question("one two three four five six seven", stream=True))
    for number in range(100):
        with connect(server) as client:
            client.sendall(body)
            if number % 3:
                client.recv(100)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    state, generator = server._server.server_state, server._routes.generator

    # A connection is gone before its request is: the last one may only then be on its way through the gate.
    def is_idle() -> bool:
        left = (state.connections, state.tasks, engine._jobs, generator._running)
        return not any(left) and generator.gate.taken == 0

    assert eventually(is_idle)
