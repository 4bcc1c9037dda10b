"""Which names of hosts are this machine."""

import pytest

from llama_gui.hosts import is_nearby, is_this_machine


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_it_is(host: str):
    assert is_this_machine(host)


@pytest.mark.parametrize("host", ["", "localhost.example", "10.0.0.1", "0.0.0.0", "[::]", "127.0.0.1.example", "::2"])
def test_it_is_not(host: str):
    assert not is_this_machine(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "[fe80::1]", "nas", "nas.local"])
def test_it_is_near(host: str):
    assert is_nearby(host)


@pytest.mark.parametrize("host", ["8.8.8.8", "api.example", "local.example", "[2606:4700::1]"])
def test_it_is_far(host: str):
    assert not is_nearby(host)
