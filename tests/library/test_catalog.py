"""The catalogue is read as typed entries, and damage is told in a sentence."""

import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from llama_gui.library import catalog
from llama_gui.paths import find_resources

GOOD: dict[str, Any] = {
    "name": "A",
    "repo": "owner/a",
    "parameters": 10,
    "licence": "MIT",
    "size": 20,
    "context": 30,
    "description": "One line.",
}


def write(folder: Path, content: Any) -> Path:
    path = folder / "catalog.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_entries_come_in_order(tmp_path: Path):
    entries = catalog.load(write(tmp_path, [GOOD, GOOD | {"name": "B", "a surplus field": 1}]))
    assert [entry.name for entry in entries] == ["A", "B"]
    assert entries[0] == catalog.CatalogEntry("A", "owner/a", 10, "MIT", 20, 30, "One line.")


def test_entries_are_frozen(tmp_path: Path):
    entry = catalog.load(write(tmp_path, [GOOD]))[0]
    with pytest.raises(FrozenInstanceError):
        entry.name = "B"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ({}, "must hold a list"),
        ([1], "entry 1 is not an object"),
        ([GOOD, {"name": "B"}], "entry 2 needs a text as repo, not None"),
        ([GOOD | {"size": "2 GB"}], "a whole number above 0 as size, not '2 GB'"),
        ([GOOD | {"context": 0}], "a whole number above 0 as context, not 0"),
        ([GOOD | {"parameters": True}], "a whole number above 0 as parameters, not True"),
        ([GOOD | {"licence": "  "}], "a text as licence"),
        ([GOOD | {"repo": "name"}], "owner/name, not 'name'"),
    ],
)
def test_damage_is_told(tmp_path: Path, content: Any, words: str):
    with pytest.raises(catalog.CatalogError) as caught:
        catalog.load(write(tmp_path, content))
    assert words in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(catalog.CatalogError, match="cannot be read"):
        catalog.load(tmp_path / "none.json")


def test_the_shipped_catalogue_is_good():
    entries = catalog.load(find_resources() / "catalog.json")
    assert "meta-llama/Llama-3.2-1B-Instruct" in {entry.repo for entry in entries}
    assert len({entry.repo for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.size == 2 * entry.parameters, "bf16 has two bytes a parameter"
        assert "\n" not in entry.description
