"""A hub of our own for the tests of the library."""

import functools
from collections.abc import Iterator
from pathlib import Path

import httpcore2
import huggingface_hub.constants
import pytest

from llama_gui.library.access import HubAccess
from tests.fakes.fake_hub import FakeHub

_read_certificates = functools.cache(httpcore2.default_ssl_context)


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """The two servers; the real client may go online, and there is nowhere else for it to go."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    # Its client lives as long as the program. Here it is a new one for each test, which would read them all again.
    monkeypatch.setattr(httpcore2, "default_ssl_context", _read_certificates)
    with FakeHub() as hub:
        yield hub
        huggingface_hub.close_session()


@pytest.fixture
def access(fake_hub: FakeHub, tmp_path: Path) -> HubAccess:
    return HubAccess(fake_hub.endpoint, tmp_path / "hub")
