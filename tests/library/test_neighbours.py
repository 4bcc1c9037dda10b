"""The models that other programs keep here are found, and nothing else of theirs."""

import json
from pathlib import Path

import pytest

from llama_gui.engine.gguf_config import ARCHITECTURES
from llama_gui.library import shelf
from llama_gui.library.neighbours import Neighbour, neighbours, with_chats
from tests.library.test_shelf import make_gguf, make_model


def found(home: Path, platform: str = "linux", **environment: str) -> list[tuple[str, str]]:
    return [(n.name, n.folder.relative_to(home).as_posix()) for n in neighbours(home, environment, platform)]


def test_nobody_lives_next_door(tmp_path: Path):
    assert found(tmp_path) == found(tmp_path, "darwin") == found(tmp_path, "win32") == []


@pytest.mark.parametrize(
    ("platform", "name", "folder"),
    [
        ("linux", "LM Studio", ".lmstudio/models"),
        ("linux", "LM Studio", ".cache/lm-studio/models"),
        ("win32", "LM Studio", ".lmstudio/models"),
        ("linux", "Jan", ".local/share/Jan/data/llamacpp/models"),
        ("darwin", "Jan", "Library/Application Support/Jan/data/llamacpp/models"),
        ("win32", "Jan", "AppData/Roaming/Jan/data/llamacpp/models"),
        ("linux", "Jan", ".config/Jan/data/models"),
        ("linux", "Jan", "jan/models"),
        ("linux", "GPT4All", ".local/share/nomic.ai/GPT4All"),
        ("darwin", "GPT4All", "Library/Application Support/nomic.ai/GPT4All"),
        ("win32", "GPT4All", "AppData/Local/nomic.ai/GPT4All"),
    ],
)
def test_each_has_its_place(tmp_path: Path, platform: str, name: str, folder: str):
    (tmp_path / folder).mkdir(parents=True)
    assert found(tmp_path, platform) == [(name, folder)]


def test_the_system_says_where_data_lies(tmp_path: Path):
    (tmp_path / "d" / "nomic.ai" / "GPT4All").mkdir(parents=True)
    assert found(tmp_path, XDG_DATA_HOME=str(tmp_path / "d")) == [("GPT4All", "d/nomic.ai/GPT4All")]
    (tmp_path / "r" / "Jan" / "data" / "llamacpp" / "models").mkdir(parents=True)
    assert found(tmp_path, "win32", APPDATA=str(tmp_path / "r")) == [("Jan", "r/Jan/data/llamacpp/models")]


def test_what_was_moved_is_found(tmp_path: Path):
    (tmp_path / "disk" / "llms").mkdir(parents=True)
    (tmp_path / "disk" / "jan" / "llamacpp" / "models").mkdir(parents=True)
    (tmp_path / "studio").mkdir()
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'studio'}\n", encoding="utf-8")
    settings = {"downloadsFolder": str(tmp_path / "disk" / "llms")}
    (tmp_path / "studio" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    jan = tmp_path / ".local" / "share" / "Jan"
    jan.mkdir(parents=True)
    (jan / "settings.json").write_text(json.dumps({"data_folder": str(tmp_path / "disk" / "jan")}), encoding="utf-8")
    assert found(tmp_path) == [("LM Studio", "disk/llms"), ("Jan", "disk/jan/llamacpp/models")]


@pytest.mark.parametrize(
    ("platform", "name", "folder"),
    [
        ("linux", "LM Studio", ".lmstudio/conversations"),
        ("linux", "LM Studio", ".cache/lm-studio/conversations"),
        ("darwin", "Jan", "Library/Application Support/Jan/data/threads"),
        ("win32", "Jan", "AppData/Roaming/Jan/data/threads"),
    ],
)
def test_whose_chats_are_here(tmp_path: Path, platform: str, name: str, folder: str):
    assert with_chats(tmp_path, {}, platform) == ()
    (tmp_path / folder).mkdir(parents=True)
    assert with_chats(tmp_path, {}, platform) == (Neighbour(name, tmp_path / folder),)


def test_chats_that_were_moved_are_found(tmp_path: Path):
    (tmp_path / "disk" / "threads").mkdir(parents=True)
    jan = tmp_path / ".local" / "share" / "Jan"
    jan.mkdir(parents=True)
    (jan / "settings.json").write_text(json.dumps({"data_folder": str(tmp_path / "disk")}), encoding="utf-8")
    assert with_chats(tmp_path, {}, "linux") == (Neighbour("Jan", tmp_path / "disk" / "threads"),)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"downloadsFolder": 1}', '{"downloadsFolder": "\\u0000"}', "[" * 9999]
)
def test_settings_that_cannot_be_understood_cost_nothing(tmp_path: Path, content: str):
    (tmp_path / ".lmstudio" / "models").mkdir(parents=True)
    (tmp_path / ".cache" / "lm-studio" / "models").mkdir(parents=True)
    (tmp_path / ".lmstudio" / "settings.json").write_text(content, encoding="utf-8")
    assert ("LM Studio", ".cache/lm-studio/models") in found(tmp_path)


def test_of_theirs_the_files_count_that_we_run(tmp_path: Path):
    theirs = tmp_path / ".lmstudio" / "models"
    make_gguf(theirs / "org" / "Llama-GGUF" / "Llama-Q4_K_M.gguf", architecture="llama")
    make_gguf(theirs / "org" / "Llama-GGUF" / "mmproj-f16.gguf", architecture="clip")
    make_gguf(theirs / "org" / "Deep-GGUF" / "Deep-Q4_K_M.gguf", architecture="deepseek2")
    make_gguf(theirs / "org" / "Qwen-GGUF" / "model.gguf", architecture="qwen3")
    make_model(theirs / "org" / "mlx")
    (theirs / "org" / "broken.gguf").write_bytes(b"nothing")
    before = sorted(theirs.rglob("*"))
    (neighbour,) = neighbours(tmp_path, {}, "linux")
    assert neighbour == Neighbour("LM Studio", theirs)
    entries = shelf.scan([], tmp_path / "none", others=[neighbour.folder])
    assert [entry.name for entry in entries] == ["Llama-Q4_K_M", "Qwen-GGUF"]
    twice = shelf.scan([theirs / "org" / "Qwen-GGUF" / "model.gguf"], tmp_path / "none", others=[neighbour.folder])
    assert [entry.path for entry in twice] == [entry.path for entry in entries]
    assert sorted(theirs.rglob("*")) == before  # they are left alone


def test_we_run_what_the_engine_runs():
    assert set(shelf.GGUF_ARCHITECTURES) == set(ARCHITECTURES)
