"""What is written in front of texts that become vectors."""

import json
from pathlib import Path

import pytest

from llama_gui.library.embed_prompts import EmbedPrompts, embed_prompts


def written(folder: Path, content: str) -> Path:
    (folder / "config_sentence_transformers.json").write_text(content)
    return folder


def test_a_folder_says_what_its_authors_want(tmp_path: Path):
    folder = written(tmp_path, json.dumps({"prompts": {"query": "search: ", "document": "passage: "}}))
    assert embed_prompts(folder) == EmbedPrompts("search: ", "passage: ")
    assert embed_prompts(written(tmp_path, '{"prompts": {"query": ""}}')) == EmbedPrompts("", "")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"prompts": 3}', '{"prompts": null}', '{"prompts": {"query": 3}}', "[" * 100_000]
)
def test_without_a_word_it_is_as_with_qwen3_embedding(tmp_path: Path, content: str):
    prompts = embed_prompts(written(tmp_path, content))
    assert prompts.query.startswith("Instruct: ")
    assert prompts.query.endswith("\nQuery:")
    assert prompts.document == ""
    assert embed_prompts(tmp_path / "model.gguf") == prompts
