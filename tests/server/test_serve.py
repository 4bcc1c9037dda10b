"""Starting and stopping: nothing is left, and what cannot be is said in a sentence."""

import gc
import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest

from llama_gui.errors import InvalidRequestError, ServerError, SettingsError
from llama_gui.server.api_key import load_or_make_key
from llama_gui.server.serve import ApiServer, ServerOptions
from llama_gui.server.served import FixedModels, LazyModels
from tests.server.conftest import (
    CHAT,
    KEY,
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
from tests.server.test_connection import eventually


def test_one_that_is_not_started_is_for_nobody():
    server = ApiServer(FixedModels.of(ServedScript()), ServerOptions(key=KEY, port=0))
    assert not server.is_for_others
    assert server.urls_for_others == ()


def test_it_starts_and_stops_again_and_again():
    engine = ServedScript()
    server = ApiServer(FixedModels.of(engine), ServerOptions(key=KEY, port=0))
    server.stop()  # not started: nothing to do
    seconds = []
    for _ in range(10):
        with server:
            server.start()  # it runs already
            assert server.is_running
            status, headers, _ = exchange(server, head("/health", server))
            assert (status, "date" in headers) == (200, True)
            began = time.monotonic()
        seconds.append(time.monotonic() - began)
        assert not server.is_running
        with pytest.raises(ConnectionRefusedError):
            connect(server)
    assert min(seconds) < 0.1  # of all, because other programs may keep this one waiting


def listening(port: int) -> set[str]:
    """The addresses that listen on a port, as the system has them."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="utf-8").splitlines()[1:] if Path(table).exists() else ():
            address, _, number = line.split()[1].partition(":")
            if int(number, 16) == port and line.split()[3] == "0A":
                found.add(address)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells who listens")
def test_only_this_machine_is_listened_to(serve: Serve):
    assert listening(serve().port) == {"0100007F"}
    assert listening(serve(host="localhost").port) == {"0100007F"}
    assert listening(serve(host="0.0.0.0").port) == {"00000000"}


def test_a_port_that_is_taken_is_named_and_another_offered(serve: Serve):
    taken = serve().port
    other = ApiServer(FixedModels.of(ServedScript()), ServerOptions(key=KEY, port=taken))
    with pytest.raises(ServerError, match=rf"port {taken} .* --port \d+"):
        other.start()
    assert not other.is_running


def test_an_address_that_is_not_ours_is_refused():
    server = ApiServer(FixedModels.of(ServedScript()), ServerOptions(key=KEY, port=0, host="192.0.2.1"))
    with pytest.raises(ServerError, match=r"192\.0\.2\.1"):
        server.start()


@pytest.mark.parametrize("change", [{"key": ""}, {"key": "x" * 513}, {"key": "with a space"}, {"key": "ключ-ключ"},
                                    {"port": -1}, {"port": 65536}, {"host": ""}, {"host": " "}])  # fmt: skip
def test_options_that_cannot_be(change):
    with pytest.raises(InvalidRequestError):
        ServerOptions(**{"key": KEY, **change})


def test_the_key_is_not_shown_with_the_options():
    assert KEY not in repr(ServerOptions(key=KEY))


def test_the_end_of_the_server_ends_streams_and_says_so(serve: Serve):
    engine = ServedScript(hang_at=2)
    server = serve(engine)
    clients = [connect(server) for _ in range(10)]
    try:
        for client in clients:
            client.sendall(post(CHAT, server, question(stream=True)))
        assert eventually(lambda: sum(job._drawn == 2 for job in engine._jobs) == 10)
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 2
        for client in clients:
            _, _, raw = read_reply(client)
            assert b"server_stopped" in raw
            assert b"[DONE]" not in raw
            assert b'"content":"one"' in raw  # what was written is not lost
    finally:
        for client in clients:
            client.close()
    assert eventually(lambda: not engine._jobs)


def test_the_end_of_the_server_ends_those_that_wait_and_those_that_send(serve: Serve):
    engine = ServedScript(hang_at=1)
    server = serve(engine)
    with connect(server) as idle, connect(server) as half_head, connect(server) as half_body, connect(server) as asks:
        half_head.sendall(b"GET / HT")
        half_body.sendall(post(CHAT, server, question())[:-3])
        asks.sendall(post(CHAT, server, question()))
        assert eventually(lambda: engine._jobs)
        server.stop()
        assert read_reply(asks)[0] == 503
        for client in (idle, half_head, half_body):
            with pytest.raises((ConnectionResetError, AssertionError)):
                assert client.recv(10) != b""


def test_a_reader_that_reads_nothing_does_not_hold_up_the_end(serve: Serve):
    engine = ServedScript({"much": ["x" * 50_000] * 400})
    server = serve(engine)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(post(CHAT, server, question("much", stream=True)))
        assert eventually(lambda: engine.requests)
        server.stop()
        assert not server.is_running


def test_models_are_loaded_when_they_are_asked_for(serve: Serve):
    engines = {"one": ServedScript(name="one"), "two": ServedScript(name="two")}
    loads: list[str] = []

    def load(path: str) -> ServedScript:
        loads.append(path)
        return engines[path]

    threads = [threading.Thread(target=engine.run) for engine in engines.values()]
    for thread in threads:
        thread.start()
    try:
        models = LazyModels({"a": "one", "b": "two"}, load)
        with ApiServer(models, ServerOptions(key=KEY, port=0)) as server:
            assert exchange(server, head("/v1/models", server))[0] == 200
            assert loads == []
            assert ask(server, question(model="b"))[1]["model"] == "b"
            assert ask(server, question())[1]["model"] == "a"  # the first is for those that name none
            assert loads == ["two", "one"]
            assert ask(server, question(model="one"))[0] == 404  # a path is no name
            assert sorted(models.loaded()) == ["a", "b"]
    finally:
        for engine in engines.values():
            engine.stop()
        for thread in threads:
            thread.join()


def test_a_model_that_made_room_is_told_of_no_more():
    kept = [ServedScript(name="one"), ServedScript(name="two")]
    models = LazyModels({"a": "0", "b": "1"}, lambda path: kept[int(path)])
    assert [models.engine(name) for name in ("a", "b")] == kept
    assert set(models.loaded()) == {"a", "b"}
    kept[0] = ServedScript(name="one again")
    gc.collect()
    assert set(models.loaded()) == {"b"}
    assert models.engine("a") is kept[0]
    assert models.loaded() == {"a": kept[0], "b": kept[1]}


# --- the key


def test_the_key_is_made_once_for_its_owner_only(tmp_path: Path):
    file = tmp_path / "data" / "server-key"
    key, is_new = load_or_make_key(file)
    assert is_new
    assert len(key) > 40
    assert load_or_make_key(file) == (key, False)
    assert load_or_make_key(tmp_path / "other")[0] != key
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_key_that_others_can_read_is_refused(tmp_path: Path):
    file = tmp_path / "server-key"
    load_or_make_key(file)
    file.chmod(0o644)
    with pytest.raises(SettingsError, match=re.escape(str(file))):
        load_or_make_key(file)


@pytest.mark.parametrize("content", [b"", b"short\n", b"two words here\n", b"\xff\xfe\x00" * 10])
def test_a_file_without_a_key_is_named(tmp_path: Path, content: bytes):
    file = tmp_path / "server-key"
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=re.escape(str(file))):
        load_or_make_key(file)


def test_a_folder_that_cannot_be_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="server's key"):
        load_or_make_key(tmp_path / "file" / "server-key")
