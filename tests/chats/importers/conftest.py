"""Files to import."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llama_gui.chats.importers.reading import FoundChats, read_import

ReadJson = Callable[[Any], FoundChats]


@pytest.fixture
def read_json(tmp_path: Path) -> ReadJson:
    """Write a value as a file, and read it as an import."""

    def read(value: Any) -> FoundChats:
        path = tmp_path / "export.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return read_import(path)

    return read
