"""Addresses and keys of other people's servers, and what those say about their models."""

import pytest

from llama_gui.errors import InvalidRequestError
from llama_gui.server.endpoint import Endpoint, RemoteModel, read_models


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "https://server.example:8443/v1/",
        "http://127.0.0.1:8000/v1",
        "http://localhost:1234/v1",
        "http://[::1]:8000/v1",
        "http://127.8.8.8/v1",
    ],
)
def test_addresses_that_are_taken(url: str):
    assert Endpoint("x", url).url("models") == f"{url.rstrip('/')}/models"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "server.example/v1",
        "ftp://server.example",
        "file:///etc/passwd",
        "https://",
        "https://name:word@server.example/v1",
        "https://server.example/v1?key=1",
        "https://server.example/v1#x",
        "http://server.example/v1",
        "http://192.168.1.5:8000/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://localhost.evil.example/v1",
        "http://0.0.0.0:8000/v1",
        "http://[::ffff:192.168.1.5]/v1",
        "https://exa mple/v1",
        "https://example:99999999/v1",
    ],
)
def test_addresses_that_are_refused(url: str):
    with pytest.raises(InvalidRequestError) as caught:
        Endpoint("x", url)
    assert caught.value.field == "base_url"
    assert "word" not in str(caught.value)  # a password in an address is not repeated


@pytest.mark.parametrize(
    ("url", "is_there"),
    [
        ("https://api.openai.com/v1", True),
        ("https://8.8.8.8/v1", True),
        ("http://localhost:1234/v1", False),
        ("http://127.0.0.1:8000/v1", False),
        ("https://192.168.1.5/v1", False),
        ("https://[fe80::1]/v1", False),
        ("https://nas/v1", False),
        ("https://nas.local/v1", False),
        ("https://box.fritz.box/v1", False),
    ],
)
def test_whether_a_server_is_on_the_internet(url: str, is_there: bool):
    assert Endpoint("x", url).is_on_internet is is_there


def test_plain_http_to_another_machine_needs_a_yes():
    assert Endpoint("x", "http://192.168.1.5:8000/v1", allow_plain_http=True)


def test_the_key_is_not_shown_and_goes_into_one_header():
    endpoint = Endpoint("x", "https://server.example/v1", key="sk-secret")
    assert "sk-secret" not in repr(endpoint)
    assert endpoint.headers["Authorization"] == "Bearer sk-secret"
    assert "Authorization" not in Endpoint("x", "https://server.example/v1").headers
    for key in ("two words", "line\nbreak", "ключ", "\x00"):
        with pytest.raises(InvalidRequestError, match="key"):
            Endpoint("x", "https://server.example/v1", key=key)


def test_proxies_are_for_encrypted_connections_to_elsewhere():
    assert Endpoint("x", "https://server.example/v1").client_options["trust_env"]
    for url in ("http://127.0.0.1:1/v1", "https://localhost/v1"):
        assert not Endpoint("x", url).client_options["trust_env"]
    plain = Endpoint("x", "http://192.168.1.5/v1", allow_plain_http=True)
    assert not plain.client_options["trust_env"]
    assert plain.client_options["follow_redirects"] is False


LOCAL = Endpoint("x", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("entry", "dialect", "context"),
    [
        ({"id": "m", "object": "model", "owned_by": "vllm", "root": "/m", "max_model_len": 4096}, "vllm", 4096),
        ({"id": "m", "object": "model", "owned_by": "sglang", "max_model_len": 131072}, "sglang", 131072),
        ({"id": "m", "owned_by": "llamacpp", "meta": {"vocab_type": 2, "n_ctx_train": 8192}}, "llama.cpp", 8192),
        ({"id": "m", "object": "model", "created": 1, "owned_by": "library"}, "ollama", 0),
        ({"id": "m", "object": "model", "owned_by": "organization_owner"}, "lmstudio", 0),
        ({"id": "m", "object": "model", "owned_by": "llama-gui", "max_model_len": 2048}, "llama-gui", 2048),
        ({"id": "m", "object": "model", "owned_by": "openai"}, "openai", 0),
        ({"id": "m", "context_length": 163_840}, "other", 163_840),
        ({"id": "m", "owned_by": "Meta", "context_window": 131_072}, "other", 131_072),
        ({"id": "m", "context_length": 8192, "meta": {"n_ctx": 4096}}, "other", 4096),
        ({"id": "m"}, "other", 0),
        ({"id": "m", "owned_by": ["x"], "meta": 5, "max_model_len": "long"}, "other", 0),
        ({"id": "m", "max_model_len": -5}, "other", 0),
    ],
)
def test_what_kind_of_server_it_is(entry, dialect, context):
    assert read_models({"object": "list", "data": [entry]}, LOCAL) == [RemoteModel("m", dialect, context)]


@pytest.mark.parametrize("reply", [None, 5, "x", [], {}, {"data": None}, {"data": {}}, {"data": [1, {}, {"id": 5}]}])
def test_replies_without_models(reply):
    assert read_models(reply, LOCAL) == []
