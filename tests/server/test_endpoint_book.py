"""Remote servers that were added: addresses in a file, keys in a safe, and where there is none, for the owner only."""

import json
import os
import re
from pathlib import Path

import pytest

from llama_gui.errors import InvalidRequestError, SettingsError
from llama_gui.server.endpoint import Endpoint
from llama_gui.server.endpoint_book import EndpointBook


class MemorySafe:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get_password(self, service_name: str, username: str, /) -> str | None:
        return self.kept.get(username)

    def set_password(self, service_name: str, username: str, password: str, /) -> None:
        self.kept[username] = password

    def delete_password(self, service_name: str, username: str, /) -> None:
        del self.kept[username]


class LockedSafe(MemorySafe):
    def get_password(self, *_: str) -> str | None:
        raise RuntimeError("locked")

    set_password = delete_password = get_password  # type: ignore[assignment]


CLUSTER = Endpoint("Cluster", "https://cluster.example/v1", "sk-cluster")
BOX = Endpoint("Box", "http://10.0.0.5:8000/v1", allow_plain_http=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "endpoints.json"


def test_what_is_kept_comes_back(file: Path):
    safe = MemorySafe()
    book = EndpointBook(file, safe)
    assert book.endpoints() == ()
    assert "safe" in book.keep(CLUSTER)
    assert "no key" in book.keep(BOX)
    again = EndpointBook(file, safe)
    assert again.endpoints() == (CLUSTER, BOX)
    assert [endpoint.key for endpoint in again.endpoints()] == ["sk-cluster", ""]
    assert again.names() == ("Cluster", "Box")
    assert again.endpoint("Cluster").key == "sk-cluster"
    assert "sk-cluster" not in file.read_text(encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="Cluster, Box"):
        again.endpoint("Nobody")


@pytest.mark.parametrize("safe", [None, LockedSafe()])
def test_without_a_safe_the_file_is_for_its_owner_only(file: Path, safe: LockedSafe | None):
    book = EndpointBook(file, safe)
    assert str(file) in book.keep(CLUSTER)
    assert EndpointBook(file, safe).endpoint("Cluster").key == "sk-cluster"
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    book.remove("Cluster")
    assert book.names() == ()


def test_a_key_does_not_follow_to_another_address(file: Path):
    safe = MemorySafe()
    book = EndpointBook(file, safe)
    book.keep(CLUSTER)
    book.keep(Endpoint("Cluster", "https://elsewhere.example/v1"))
    assert book.endpoint("Cluster").key == ""
    assert safe.kept == {}
    book.keep(CLUSTER)
    book.keep(Endpoint("Cluster", CLUSTER.base_url, "sk-new"))
    assert (book.endpoint("Cluster").key, len(book.names())) == ("sk-new", 1)


def test_removing_forgets_the_key_unless_another_has_the_address(file: Path):
    safe = MemorySafe()
    book = EndpointBook(file, safe)
    book.keep(CLUSTER)
    book.keep(Endpoint("Same", CLUSTER.base_url, "sk-cluster"))
    book.remove("Cluster")
    assert book.endpoint("Same").key == "sk-cluster"
    book.remove("Same")
    book.remove("Nobody")
    assert safe.kept == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"endpoints": 5}', b'{"endpoints": [5]}', b'{"endpoints": [{"name": "x"}]}',
     b'{"endpoints": [{"name": "x", "base_url": "ftp://x"}]}',
     b'{"endpoints": [{"name": "x", "base_url": "https://x/v1", "key": 5}]}',
     b'{"endpoints": [{"name": "x", "base_url": "http://10.0.0.5/v1"}]}', b"[" * 100_000],
)  # fmt: skip
def test_a_file_that_holds_something_else_is_left_as_it_is(file: Path, content: bytes):
    file.parent.mkdir()
    file.write_bytes(content)
    book = EndpointBook(file)
    for action in (book.endpoints, book.names, lambda: book.keep(CLUSTER), lambda: book.remove("x")):
        with pytest.raises(SettingsError, match=re.escape(str(file))):
            action()
    assert file.read_bytes() == content


def test_what_cannot_be_written_is_said(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="remote servers"):
        EndpointBook(tmp_path / "file" / "endpoints.json").keep(BOX)
    with pytest.raises(InvalidRequestError, match="name"):
        EndpointBook(tmp_path / "endpoints.json").keep(Endpoint(" ", "https://x.example"))


def test_other_fields_of_the_file_are_no_fault(file: Path):
    file.parent.mkdir()
    entry = {"name": "x", "base_url": "https://x.example/v1", "colour": "red"}
    file.write_text(json.dumps({"endpoints": [entry], "version": 2}), encoding="utf-8")
    assert EndpointBook(file).endpoint("x") == Endpoint("x", "https://x.example/v1")
