"""A tiny model that reads images."""

from pathlib import Path

import pytest

from tests.fakes.tiny_pixtral import write_tiny_pixtral


@pytest.fixture(scope="session")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; leave it as it is."""
    return write_tiny_pixtral(tmp_path_factory.mktemp("seeing") / "model")
