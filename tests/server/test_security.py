"""Who gets in: raw sockets, every route, every disguise."""

import json
import logging
import socket
from pathlib import Path

import pytest

from llama_gui.errors import InvalidRequestError
from llama_gui.server.endpoint import Endpoint
from llama_gui.server.network import addresses_here
from llama_gui.server.remote import RemoteEngine
from llama_gui.server.security import host_names
from llama_gui.server.serve import ApiServer, ServerOptions
from llama_gui.vocabulary import GenerateRequest, Message
from tests.server.conftest import CHAT, KEY, Serve, connect, exchange, head, post, question, read_reply

ROUTES = [
    ("GET", "/health"),
    ("GET", "/ping"),
    ("GET", "/version"),
    ("GET", "/load"),
    ("GET", "/tokenizer_info"),
    ("GET", "/metrics"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/x"),
    ("POST", CHAT),
    ("POST", "/v1/completions"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/api/chat"),
    ("POST", "/api/generate"),
    ("POST", "/api/show"),
    ("GET", "/api/tags"),
    ("GET", "/api/version"),
    ("POST", "/tokenize"),
    ("POST", "/detokenize"),
    ("GET", "/"),
    ("GET", "/v1/models/"),
    ("GET", "//v1/models"),
    ("GET", "/v1/%2e%2e/v1/models"),
    ("GET", "/nobody/knows"),
    ("DELETE", "/v1/models"),
    ("PUT", CHAT),
    ("OPTIONS", CHAT),
    ("HEAD", "/v1/models"),
]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:PORT",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.com:PORT",
        "localhost.:PORT",
        "localhost",
        "0.0.0.0:PORT",
        "2130706433:PORT",
        "user@127.0.0.1:PORT",
        "127.0.0.1:PORT@evil.example",
        "[::1]",
        ":PORT",
        "",
        "[::ffff:127.0.0.1]:PORT",
    ],
)
@pytest.mark.parametrize("origin", [{}, {"Origin": "http://127.0.0.1"}])
def test_other_host_names_are_refused(plain_server: ApiServer, host: str, origin: dict[str, str]):
    status, _, body = exchange(
        plain_server, head("/v1/models", plain_server, Host=host.replace("PORT", str(plain_server.port)), **origin)
    )
    assert status == 403
    assert json.loads(body)["error"]["code"] == "host_not_allowed"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_our_own_names_are_taken(plain_server: ApiServer, host: str):
    assert exchange(plain_server, head("/v1/models", plain_server, Host=f"{host}:{plain_server.port}"))[0] == 200


def test_two_hosts_no_host_and_a_whole_address_are_refused(plain_server: ApiServer):
    good = f"127.0.0.1:{plain_server.port}"
    key = f"Authorization: Bearer {KEY}\r\n"
    for request in (
        f"GET /v1/models HTTP/1.1\r\nHost: {good}\r\nHost: evil.example\r\n{key}\r\n",
        f"GET /v1/models HTTP/1.1\r\n{key}\r\n",
        f"GET /v1/models HTTP/1.0\r\n{key}\r\n",
        f"GET http://evil.example/v1/models HTTP/1.1\r\nHost: {good}\r\n{key}\r\n",
        f"GET http://{good}/v1/models HTTP/1.1\r\nHost: {good}\r\n{key}\r\n",
        f"GET /v1/models HTTP/1.1\r\nHost: {good}\x00.evil\r\n{key}\r\n",
    ):
        assert exchange(plain_server, request.encode())[0] in (400, 403), request


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "wrong",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "file://"},
        {"Origin": "chrome-extension://abcdef"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
def test_every_route_refuses_strangers(plain_server: ApiServer, method: str, path: str, wrong: dict[str, str]):
    status, headers, _ = exchange(plain_server, head(path, plain_server, method=method, Content_Length="0", **wrong))
    assert status == 403
    assert [name for name in headers if name.startswith("access-control")] == []


WRONG_KEYS = [
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer "},
    {"Authorization": "Bearer sk-another-key"},
    {"Authorization": f"Bearer {KEY[:-1]}"},
    {"Authorization": f"Bearer {KEY}x"},
    {"Authorization": f"Bearer {KEY} x"},
    {"Authorization": f"Basic {KEY}"},
    {"Authorization": KEY},
    {"Authorization": "Bearer \xfc\xe4"},
    {"Authorization": "", "X_Api_Key": ""},
    {"Authorization": "", "X_Api_Key": f"{KEY}x"},
    {"Authorization": "", "X_Api_Key": f"Bearer {KEY}"},
    {"Authorization": "", "X_Api_Key": "\xfc\xe4"},
    {"Authorization": "", "Cookie": f"key={KEY}"},
]


@pytest.mark.parametrize(("method", "path"), [r for r in ROUTES if r[1] not in ("/health", "/ping")])
def test_every_other_route_wants_the_key(plain_server: ApiServer, method: str, path: str):
    for wrong in WRONG_KEYS:
        status, headers, _ = exchange(
            plain_server, head(path, plain_server, method=method, Content_Length="0", **wrong)
        )
        assert (status, headers.get("www-authenticate")) == (401, "Bearer"), wrong
    status, _, _ = exchange(plain_server, head(f"{path}?api_key={KEY}", plain_server, method=method, Authorization=""))
    assert status == 401


@pytest.mark.parametrize("key", ["", "Bearer sk-another-key"])
def test_whether_it_runs_is_told_to_those_without_a_key(plain_server: ApiServer, key: str):
    """As load balancers and containers ask; nobody hears from it which models there are."""
    for path in ("/health", "/health/", "/health?x=1", "/ping", "/ping/"):
        status, _, body = exchange(plain_server, head(path, plain_server, Authorization=key))
        assert (status, json.loads(body)) == (200, {"status": "ok"})
    assert exchange(plain_server, head("/health", plain_server, method="HEAD", Authorization=key))[0] == 200
    for path in ("/health", "/ping"):
        assert exchange(plain_server, head(path, plain_server, method="POST", Authorization=key))[0] == 401, path
    for path in ("/health/x", "/v1/health", "/healthy", "/pings"):
        assert exchange(plain_server, head(path, plain_server, Authorization=key))[0] == 401, path


def test_two_keys_are_no_key(plain_server: ApiServer):
    request = head("/v1/models", plain_server)
    doubled = request.replace(b"\r\n\r\n", f"\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode())
    assert exchange(plain_server, doubled)[0] == 401


def test_a_stranger_is_answered_before_the_body_is_read(plain_server: ApiServer):
    request = head(CHAT, plain_server, method="POST", Content_Length="1000", Authorization="Bearer wrong-wrong")
    assert exchange(plain_server, request)[0] == 401


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonp"],
)
def test_only_json_is_read(plain_server: ApiServer, kind: str):
    assert exchange(plain_server, post(CHAT, plain_server, question(), Content_Type=kind))[0] == 415
    assert plain_server._routes.metrics.completion_tokens == 0


def test_compressed_bodies_are_refused(plain_server: ApiServer):
    assert exchange(plain_server, post(CHAT, plain_server, question(), Content_Encoding="gzip"))[0] == 415


def test_an_upgrade_is_just_a_request(plain_server: ApiServer):
    request = head("/v1/models", plain_server, Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13")
    assert exchange(plain_server, request)[0] == 200
    for scheme in (b"bearer", b"BEARER", b"Bearer "):
        assert exchange(plain_server, request.replace(b"Bearer", scheme))[0] == 200


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://a.example", "https://a.example"),
        ("https://A.example/", "https://a.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://a.example:443/", "https://a.example"),
        ("http://[::1]:80", "http://[::1]"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ("null", "null"),
        ("file://", "file://"),
    ],
)
def test_origins_are_taken_as_browsers_write_them(text: str, origin: str):
    assert ServerOptions(KEY, allowed_origins=[text]).allowed_origins == (origin,)


@pytest.mark.parametrize(
    "text", ["", "example", "*", "https://", "https://a.example/page", "https://*.example", "a:80"]
)
def test_what_no_browser_writes_is_no_origin(text: str):
    with pytest.raises(InvalidRequestError, match="scheme and host"):
        ServerOptions(KEY, allowed_origins=[text])


def test_a_page_that_was_allowed_may_ask_and_read(serve: Serve):
    server = serve(allowed_origins=("https://notes.example",))
    page = {"Origin": "https://notes.example"}
    asks = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization, content-type"}
    status, headers, _ = exchange(server, head(CHAT, server, method="OPTIONS", Authorization="", **page, **asks))
    assert status == 204
    assert headers["access-control-allow-origin"] == "https://notes.example"
    assert headers["access-control-allow-headers"] == "authorization, content-type"
    status, headers, _ = exchange(server, post(CHAT, server, question(), Sec_Fetch_Site="cross-site", **page))
    assert (status, headers["access-control-allow-origin"]) == (200, "https://notes.example")
    assert "x-request-id" in headers["access-control-expose-headers"]
    # Its key is still asked for, and others are still strangers, in each of these ways.
    assert exchange(server, head("/v1/models", server, Authorization="", **page))[0] == 401
    for other in ("https://evil.example", "https://notes.example.evil", "http://notes.example", "null"):
        status, headers, _ = exchange(server, head(CHAT, server, method="OPTIONS", Origin=other, **asks))
        assert status == 403
        assert "access-control-allow-origin" not in headers


def test_a_name_that_was_allowed_is_taken_and_no_other(serve: Serve):
    server = serve(allowed_hosts=("desk.home", "proxy.example:443"))
    for host, status in (
        (f"desk.home:{server.port}", 200),
        ("proxy.example:443", 200),
        ("proxy.example", 200),  # as clients of https://proxy.example say it, and the proxy hands it on
        ("proxy.example:80", 403),
        ("desk.home", 403),
    ):
        assert exchange(server, head("/v1/models", server, Host=host))[0] == status, host


@pytest.mark.parametrize("host", ["box.home:9999", "box.home", "[fe80::2]", "[fe80::2]:8080"])
def test_what_a_refused_name_is_told_helps(serve: Serve, host: str):
    refusing = serve()
    _, _, body = exchange(refusing, head("/v1/models", refusing, Host=host))
    allow = json.loads(body)["error"]["message"].rpartition(" --allow-host ")[2]
    server = serve(allowed_hosts=(allow,))
    assert exchange(server, head("/v1/models", server, Host=host))[0] == 200


def test_an_address_may_be_allowed_as_it_is_written(serve: Serve):
    server = serve(allowed_hosts=("FE80:0::2", "Box.home "))
    for host in ("[fe80::2]", "box.home"):
        assert exchange(server, head("/v1/models", server, Host=f"{host}:{server.port}"))[0] == 200


def test_listening_everywhere_keeps_the_host_check(serve: Serve):
    server = serve(host="0.0.0.0")
    for host, status in (
        (f"127.0.0.1:{server.port}", 200),
        (f"evil.example:{server.port}", 403),
        (f"0.0.0.0:{server.port}", 403),
        (f"192.0.2.7:{server.port}", 403),  # not the address that was connected to
    ):
        assert exchange(server, head("/v1/models", server, Host=host))[0] == status, host
    assert exchange(server, head("/v1/models", server, Origin="https://evil.example"))[0] == 403
    assert exchange(server, head("/v1/models", server, Authorization=""))[0] == 401


def test_others_may_call_us_by_our_name_where_they_can_reach_us(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Desk.Example.org")
    here, everywhere = serve(), serve(host="0.0.0.0")
    for name in ("desk.example.org", "DESK", "desk.local"):
        assert exchange(everywhere, head("/v1/models", everywhere, Host=f"{name}:{everywhere.port}"))[0] == 200
        assert exchange(here, head("/v1/models", here, Host=f"{name}:{here.port}"))[0] == 403
    for name in ("desk.evil.example", "desk.local.evil.example", "other.local", "example.org"):
        assert exchange(everywhere, head("/v1/models", everywhere, Host=f"{name}:{everywhere.port}"))[0] == 403


@pytest.mark.skipif(not addresses_here(), reason="needs a network")
def test_another_device_reaches_us_at_the_address_that_we_name(serve: Serve):
    server = serve(host="0.0.0.0")
    address = addresses_here()[0]
    assert server.urls_for_others[0] == f"http://{address}:{server.port}/v1"
    for host, key, status in ((address, KEY, 200), (address, "wrong-wrong", 401), ("evil.example", KEY, 403)):
        with socket.create_connection((address, server.port), timeout=10) as client:
            authorization = f"Bearer {key}"
            client.sendall(head("/v1/models", server, Host=f"{host}:{server.port}", Authorization=authorization))
            assert read_reply(client)[0] == status


def test_the_port_may_be_missing_only_where_everybody_knows_it():
    assert "localhost" in host_names("127.0.0.1", 80)
    assert "localhost" not in host_names("127.0.0.1", 8080)
    assert "192.168.1.5:8080" in host_names("192.168.1.5", 8080)
    assert "[fe80::1]:8080" in host_names("fe80::1", 8080)


def test_a_connection_goes_on_after_a_refusal(plain_server: ApiServer):
    with connect(plain_server) as client:
        client.sendall(post(CHAT, plain_server, question(), Authorization="Bearer wrong-wrong"))
        assert read_reply(client)[0] == 401
        client.sendall(head("/v1/models", plain_server))
        assert read_reply(client)[0] == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "0x0"])
def test_every_spelling_of_everywhere_is_everywhere(serve: Serve, host: str):
    server = serve(host=host)
    assert server.is_for_others
    assert exchange(server, head("/v1/models", server))[0] == 200
    assert exchange(server, head("/v1/models", server, Host=f"{host}:{server.port}"))[0] == 403


@pytest.mark.skipif(not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists(), reason="needs IPv6")
@pytest.mark.parametrize("host", ["::", "::1"])
def test_ipv6(serve: Serve, host: str):
    server = serve(host=host)
    assert server.is_for_others == (host == "::")
    assert server.url == f"http://[::1]:{server.port}/v1"
    for address in ("::1", "127.0.0.1") if host == "::" else ("::1",):
        with socket.create_connection((address, server.port)) as client:
            name = f"[{address}]" if ":" in address else address
            client.sendall(head("/v1/models", server, Host=f"{name}:{server.port}"))
            assert read_reply(client)[0] == 200
        with socket.create_connection((address, server.port)) as client:
            client.sendall(head("/v1/models", server, Host=f"evil.example:{server.port}"))
            assert read_reply(client)[0] == 403


def test_the_key_is_in_no_log(serve: Serve, caplog):
    with caplog.at_level(logging.DEBUG):
        server = serve()
        exchange(server, post(CHAT, server, question()))
        exchange(server, head("/v1/models", server, Authorization=f"Bearer {KEY}x"))
        with RemoteEngine.connect(Endpoint("Ours", server.url, KEY)) as engine:
            engine.generate(GenerateRequest(messages=[Message("user", "one")]))
    assert caplog.records
    assert KEY not in caplog.text
