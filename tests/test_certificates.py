"""The certificates of the web are read once, and still asked for."""

import asyncio
import ssl
from typing import Any

import httpcore2
import httpx2
import pytest

from llama_gui.certificates import certificates
from llama_gui.library.transfer import Patience, new_client
from llama_gui.server.endpoint import Endpoint


@pytest.mark.parametrize("trust_env", [True, False])
def test_who_is_not_who_they_say_is_refused(trust_env: bool):
    context = certificates(trust_env=trust_env)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_they_are_read_for_the_first_client_only(monkeypatch: pytest.MonkeyPatch):
    for trust_env in (True, False):
        certificates(trust_env=trust_env)

    def read(**_: Any) -> ssl.SSLContext:
        pytest.fail("They were read again")

    monkeypatch.setattr(httpcore2, "default_ssl_context", read)
    asyncio.run(new_client(Patience()).aclose())
    for url in ("https://example.org/v1", "http://127.0.0.1:9/v1"):
        httpx2.Client(**Endpoint("Other", url).client_options).close()
