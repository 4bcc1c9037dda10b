"""A chat store in a fresh folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from llama_gui.chats.store import ChatStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.db"


@pytest.fixture
def store(path: Path) -> Iterator[ChatStore]:
    store = ChatStore.open(path)
    yield store
    store.close()
