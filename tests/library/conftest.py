"""A hub of our own for the tests of the library."""

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from llama_gui.library.access import HubAccess
from tests.fakes.fake_hub import FakeHub


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """The two servers; the real client may go online, and there is nowhere else for it to go."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with FakeHub() as hub:
        yield hub
        huggingface_hub.close_session()


@pytest.fixture
def access(fake_hub: FakeHub, tmp_path: Path) -> HubAccess:
    return HubAccess(fake_hub.endpoint, tmp_path / "hub")
