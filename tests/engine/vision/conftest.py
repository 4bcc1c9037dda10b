"""Tiny models that read images."""

from pathlib import Path

import pytest

from tests.fakes.tiny_gemma3 import write_tiny_seeing_gemma
from tests.fakes.tiny_gemma4 import write_tiny_seeing_gemma4
from tests.fakes.tiny_pixtral import write_tiny_pixtral
from tests.fakes.tiny_qwen_vl import write_tiny_qwen_vl
from tests.fakes.tiny_smolvlm import write_tiny_smolvlm


@pytest.fixture(scope="session")
def seeing_pixtral(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one; leave it as it is."""
    return write_tiny_pixtral(tmp_path_factory.mktemp("seeing") / "model")


@pytest.fixture(scope="session")
def seeing_gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of another, in which the parts of an image see each other."""
    return write_tiny_seeing_gemma(tmp_path_factory.mktemp("seeing") / "gemma")


@pytest.fixture(scope="session")
def seeing_smolvlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a third, which reads an image in squares."""
    return write_tiny_smolvlm(tmp_path_factory.mktemp("seeing") / "smolvlm")


@pytest.fixture(scope="session")
def seeing_qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a fourth, which rotates parts of an image by their places in it."""
    return write_tiny_qwen_vl(tmp_path_factory.mktemp("seeing") / "qwen")


@pytest.fixture(scope="session")
def seeing_gemma4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a fifth, in some of whose layers the parts of an image see each other."""
    return write_tiny_seeing_gemma4(tmp_path_factory.mktemp("seeing") / "gemma4", most=20, position_embedding_size=60)


@pytest.fixture
def seeing(seeing_pixtral: Path) -> Path:
    """The same."""
    return seeing_pixtral
