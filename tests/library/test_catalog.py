"""The catalogue is read as typed entries, and damage is told in a sentence."""

import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from llama_gui.library import catalog
from llama_gui.library.gguf_kind import gguf_kind
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.plan import check_repo, is_safe_path
from llama_gui.paths import find_resources

GOOD: dict[str, Any] = {
    "name": "A",
    "repo": "owner/a",
    "parameters": 10,
    "licence": "MIT",
    "is_gated": False,
    "thinks": False,
    "size": 20,
    "context": 30,
    "description": "One line.",
    "shape": {
        "vocabulary": 1, "hidden": 2, "inner": 3, "layers": 4, "heads": 5, "kv_heads": 6, "head_dim": 7,
        "is_tied": True, "has_qkv_bias": False, "has_head_norms": False,
    },
}  # fmt: skip


def write(folder: Path, content: Any) -> Path:
    path = folder / "catalog.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_entries_come_in_order(tmp_path: Path):
    entries = catalog.load(write(tmp_path, [GOOD, GOOD | {"name": "B", "a surplus field": 1}]))
    assert [entry.name for entry in entries] == ["A", "B"]
    assert entries[0] == catalog.CatalogEntry(
        "A", "owner/a", 10, "MIT", False, False, 20, 30, "One line.", ModelShape(1, 2, 3, 4, 5, 6, 7, is_tied=True)
    )


def test_an_entry_may_have_a_file_in_fewer_bits(tmp_path: Path):
    file = {"repo": "owner/a-GGUF", "path": "a-Q4_K_M.gguf", "size": 5}
    (entry,) = catalog.load(write(tmp_path, [GOOD | {"gguf": file}]))
    assert entry.gguf == catalog.CatalogFile("owner/a-GGUF", "a-Q4_K_M.gguf", 5)


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
        ([GOOD | {"is_gated": 1}], "true or false as is_gated, not 1"),
        ([GOOD | {"shape": 1}], "an object as shape, not 1"),
        ([GOOD | {"shape": GOOD["shape"] | {"layers": 0}}], "a whole number above 0 as layers, not 0"),
        ([GOOD | {"repo": "name"}], "owner/name, not 'name'"),
        ([GOOD | {"gguf": "x.gguf"}], "an object as gguf, not 'x.gguf'"),
        ([GOOD | {"gguf": {"repo": "o/a", "path": "a.gguf"}}], "a whole number above 0 as size, not None"),
        ([GOOD | {"gguf": {"repo": "a", "path": "a.gguf", "size": 1}}], "owner/name, not 'a'"),
    ],
)
def test_damage_is_told(tmp_path: Path, content: Any, words: str):
    with pytest.raises(catalog.CatalogError) as caught:
        catalog.load(write(tmp_path, content))
    assert words in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(catalog.CatalogError, match="cannot be read"):
        catalog.load(tmp_path / "none.json")


WANTED = {
    "meta-llama/Llama-3.2-1B-Instruct", "meta-llama/Llama-3.2-3B-Instruct", "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Meta-Llama-3-8B-Instruct", "meta-llama/Meta-Llama-3-8B", "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    "HuggingFaceTB/SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-360M-Instruct", "HuggingFaceTB/SmolLM2-1.7B-Instruct",
    "Qwen/Qwen2.5-0.5B-Instruct", "Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen3-0.6B",
    "Qwen/Qwen3-1.7B", "Qwen/Qwen3-4B", "HuggingFaceTB/SmolLM3-3B", "ibm-granite/granite-3.3-2b-instruct",
    "Qwen/Qwen3-Embedding-0.6B", "microsoft/Phi-4-mini-instruct", "google/gemma-3-1b-it", "google/gemma-3-4b-it",
    "HuggingFaceTB/SmolVLM-500M-Instruct",
    "Qwen/Qwen3-VL-2B-Instruct",
    "Qwen/Qwen3-VL-4B-Instruct", "Qwen/Qwen3.5-0.8B", "Qwen/Qwen3.5-4B", "LiquidAI/LFM2.5-1.2B-Instruct",
    "LiquidAI/LFM2-8B-A1B", "ibm-granite/granite-4.0-h-tiny", "google/gemma-4-12B-it",
}  # fmt: skip


WITH_PICTURES = {
    "google/gemma-3-4b-it", "HuggingFaceTB/SmolVLM-500M-Instruct", "Qwen/Qwen3-VL-2B-Instruct",
    "Qwen/Qwen3-VL-4B-Instruct", "Qwen/Qwen3.5-0.8B", "Qwen/Qwen3.5-4B", "google/gemma-4-12B-it",
}  # fmt: skip
"""Whose folders hold more than the network that we run."""


def test_the_shipped_catalogue_is_good():
    entries = catalog.load(find_resources() / "catalog.json")
    assert {entry.repo for entry in entries} == WANTED
    assert len(entries) == len(WANTED)
    assert entries == sorted(entries, key=lambda entry: entry.parameters), "small ones first"
    for entry in entries:
        assert entry.parameters == entry.shape.parameters, f"{entry.name}: its shape makes another number"
        # Some of the tied ones are stored with the projection all the same.
        with_head = 2 * (entry.parameters + entry.shape.head.numbers)
        plain = (2 * entry.parameters, with_head)
        assert entry.size in plain or entry.repo in WITH_PICTURES, "bf16 has two bytes a parameter"
        assert "\n" not in entry.description
        assert len(entry.description) <= 120
        assert entry.is_gated == entry.repo.startswith(("meta-llama/", "google/gemma-3"))
        assert ("licence must be accepted" in entry.description) == (entry.is_gated and entry.gguf is None)
        assert entry.embeds == ("Embedding" in entry.name)
        assert entry.thinks == ("think" in entry.description.lower())
        assert check_repo(entry.repo)


def test_what_is_large_is_offered_in_fewer_bits_too():
    entries = catalog.load(find_resources() / "catalog.json")
    files = {entry.repo: entry.gguf for entry in entries if entry.gguf}
    large = {entry.repo for entry in entries if entry.parameters > 10**9}
    assert files.keys() == large - {"meta-llama/Meta-Llama-3-8B"} | {
        "google/gemma-3-1b-it",
        "Qwen/Qwen3-Embedding-0.6B",
        "Qwen/Qwen3.5-0.8B",
    }
    for entry in entries:
        if file := entry.gguf:
            assert check_repo(file.repo)
            assert file.repo.endswith("-GGUF")
            assert is_safe_path(file.path)
            least, most = {"Q4_K_M": (4.7, 6.5), "Q8_0": (8.4, 9.0)}[gguf_kind(file.path)]
            assert (file.beside > 0) == (entry.repo in WITH_PICTURES)
            assert file.download == file.size + file.beside
            assert least < 8 * file.size / entry.parameters < most, f"{entry.name}: so many bits a number?"
