"""The shelf finds what can be used, names it, and leaves out what cannot."""

import json
import os
import struct
import sys
from pathlib import Path

import pytest

from llama_gui.errors import BrokenModelError, ModelNotFoundError
from llama_gui.library import shelf
from tests.fakes.fake_hub import weights_file


def tensors(size: int) -> bytes:
    """A safetensors file of so many bytes."""
    return weights_file(bytes(size - len(weights_file(bytes(100))) + 100))


def make_model(folder: Path, *, weights: int = 200, config: str = "{}") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config, encoding="utf-8")
    (folder / "model.safetensors").write_bytes(tensors(weights))
    return folder


def make_cached(cache: Path, repo: str, revision: str, *, weights: int = 200, main: bool = False) -> Path:
    """A repository as huggingface_hub lays it out: snapshots of links into blobs."""
    repository = cache / ("models--" + repo.replace("/", "--"))
    snapshot = repository / "snapshots" / revision
    blobs = repository / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir(exist_ok=True)
    (blobs / f"config-{revision}").write_text("{}", encoding="utf-8")
    (blobs / f"weights-{revision}").write_bytes(tensors(weights))
    (snapshot / "config.json").symlink_to(Path("..", "..", "blobs", f"config-{revision}"))
    (snapshot / "model.safetensors").symlink_to(Path("..", "..", "blobs", f"weights-{revision}"))
    if main:
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / "main").write_text(revision, encoding="utf-8")
    return snapshot


needs_links = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right on Windows")


def test_describe_tells_name_place_and_size(tmp_path: Path):
    folder = make_model(tmp_path / "Some Model", weights=1000)
    (folder / "original").mkdir()
    (folder / "original" / "more.bin").write_bytes(bytes(50))

    entry = shelf.describe(folder)

    assert (entry.name, entry.path, entry.size) == ("Some Model", str(folder), 1052)
    assert not entry.is_starter


def test_a_model_for_embeddings_is_told_from_one_that_writes(tmp_path: Path):
    writes, embeds = make_model(tmp_path / "writes"), make_model(tmp_path / "embeds")
    types = "sentence_transformers.models."
    (writes / "modules.json").write_text(json.dumps([{"type": types + "Transformer", "path": ""}]))
    (embeds / "modules.json").write_text(json.dumps([{"type": types + "Pooling", "path": "1_Pooling"}]))
    assert [(entry.name, entry.embeds) for entry in shelf.scan([tmp_path], tmp_path / "none")] == [
        ("embeds", True),
        ("writes", False),
    ]


@pytest.mark.parametrize(
    ("kind", "mode", "runs"),
    [("qwen3", "lasttoken", True), ("qwen3", "mean_tokens", False), ("bert", "lasttoken", False)],
)
def test_which_models_for_embeddings_run_here_is_told(tmp_path: Path, kind: str, mode: str, runs: bool):
    folder = make_model(tmp_path / "embeds")
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    (folder / "modules.json").write_text(json.dumps([{"type": "Pooling", "path": "1_Pooling"}]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{mode}": True}))
    (entry,) = shelf.scan([tmp_path], tmp_path / "none")
    assert (entry.embeds, entry.runs) == (True, runs)


def test_describe_makes_the_path_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = make_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    assert shelf.describe(Path("model")).path == str(folder)


@pytest.mark.parametrize("name", ["nothing", "~nobody-of-this-name/model"])
def test_a_missing_folder_is_not_found(tmp_path: Path, name: str):
    path = Path(name) if name.startswith("~") else tmp_path / name
    with pytest.raises(ModelNotFoundError, match="There is no folder"):
        shelf.describe(path)


def test_a_file_is_no_folder(tmp_path: Path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ModelNotFoundError, match="There is no folder"):
        shelf.describe(tmp_path / "file")


def test_a_folder_without_config_is_not_found(tmp_path: Path):
    with pytest.raises(ModelNotFoundError, match=r"no config\.json"):
        shelf.describe(tmp_path)


def test_a_folder_without_weights_is_not_found(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelNotFoundError, match="no safetensors file"):
        shelf.describe(folder)


@pytest.mark.parametrize("config", ["{", "[]", "\xff", "[" * 100_000])
def test_a_damaged_config_is_told(tmp_path: Path, config: str):
    folder = make_model(tmp_path / "model")
    (folder / "config.json").write_bytes(config.encode("latin-1"))
    with pytest.raises(BrokenModelError, match=r"config\.json is damaged"):
        shelf.describe(folder)


def test_a_missing_shard_is_named(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "model-1-of-2.safetensors")
    index = {"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")

    with pytest.raises(ModelNotFoundError, match=r"missing: model-2-of-2\.safetensors"):
        shelf.describe(folder)

    (folder / "model-2-of-2.safetensors").write_bytes(weights_file(b"12"))
    assert shelf.describe(folder).name == "model"


def test_one_file_needs_no_shards_that_an_older_index_names(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    index = {"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert shelf.describe(folder).name == "model"


def test_a_damaged_index_is_told(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "model-1-of-1.safetensors")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": []}', encoding="utf-8")
    with pytest.raises(BrokenModelError, match="does not say where the weights are"):
        shelf.describe(folder)


@needs_links
def test_a_dangling_link_is_a_missing_file(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(tmp_path / "gone")
    with pytest.raises(ModelNotFoundError, match=r"missing: model\.safetensors"):
        shelf.describe(folder)


@needs_links
def test_the_hub_cache_is_read_by_main(tmp_path: Path):
    wanted = make_cached(tmp_path, "org/name-1B", "aaa", weights=500, main=True)
    other = make_cached(tmp_path, "org/name-1B", "bbb")
    os.utime(other, (2**32, 2**32))

    entry = shelf.describe(tmp_path / "models--org--name-1B")

    assert (entry.name, entry.path, entry.size) == ("org/name-1B", str(wanted), 502)
    assert shelf.describe(other).name == "org/name-1B"


@needs_links
def test_without_main_the_newest_snapshot_counts(tmp_path: Path):
    old = make_cached(tmp_path, "org/name", "aaa")
    new = make_cached(tmp_path, "org/name", "bbb")
    os.utime(old, (1, 1))
    assert shelf.describe(tmp_path / "models--org--name").path == str(new)


def test_an_unfinished_download_is_not_found(tmp_path: Path):
    (tmp_path / "models--org--name" / "blobs").mkdir(parents=True)
    with pytest.raises(ModelNotFoundError, match="no finished download"):
        shelf.describe(tmp_path / "models--org--name")


def test_scan_puts_the_starter_first_and_sorts_the_others(tmp_path: Path):
    starter = make_model(tmp_path / "starter_model")
    shelf_folder = tmp_path / "models"
    for name in ("zebra", "Ape", "bear"):
        make_model(shelf_folder / name)
    alone = make_model(tmp_path / "elsewhere" / "Cat")

    entries = shelf.scan([shelf_folder, alone], starter)

    assert [entry.name for entry in entries] == [shelf.STARTER_NAME, "Ape", "bear", "Cat", "zebra"]
    assert [entry.is_starter for entry in entries] == [True, False, False, False, False]


def test_scan_lists_a_model_once(tmp_path: Path):
    starter = make_model(tmp_path / "models" / "starter_model")
    make_model(tmp_path / "models" / "one")
    entries = shelf.scan([tmp_path / "models", tmp_path / "models" / "one", tmp_path / "models"], starter)
    assert [entry.name for entry in entries] == [shelf.STARTER_NAME, "one"]


def test_scan_tells_equal_names_apart(tmp_path: Path):
    for place in ("a", "b"):
        make_model(tmp_path / place / "model")
    names = [entry.name for entry in shelf.scan([tmp_path / "a", tmp_path / "b"], tmp_path / "none")]
    assert names == [f"model ({tmp_path / 'a'})", f"model ({tmp_path / 'b'})"]


def test_scan_does_not_look_for_models_inside_a_model(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    make_model(folder / "original")
    assert [entry.name for entry in shelf.scan([folder], tmp_path / "none")] == ["model"]


@needs_links
def test_scan_finds_the_models_of_a_hub_cache(tmp_path: Path):
    make_cached(tmp_path, "org/one", "aaa", main=True)
    make_cached(tmp_path, "org/two", "bbb")
    (tmp_path / "models--org--unfinished").mkdir()
    (tmp_path / "version.txt").write_text("1", encoding="utf-8")
    assert [entry.name for entry in shelf.scan([tmp_path], tmp_path / "none")] == ["org/one", "org/two"]


def test_scan_outlives_bad_folders(tmp_path: Path):
    make_model(tmp_path / "models" / "good")
    make_model(tmp_path / "models" / "bad", config="{")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    folders = [tmp_path / "missing", tmp_path / "file", Path("~nobody-of-this-name"), Path("a\0b"), tmp_path / "models"]
    assert [entry.name for entry in shelf.scan(folders, tmp_path / "none")] == ["good"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser reads everything")
def test_scan_outlives_a_locked_folder(tmp_path: Path):
    make_model(tmp_path / "good")
    locked = make_model(tmp_path / "locked")
    locked.chmod(0)
    try:
        assert [entry.name for entry in shelf.scan([tmp_path], tmp_path / "none")] == ["good"]
    finally:
        locked.chmod(0o755)


def test_a_model_has_the_same_name_everywhere(tmp_path):
    starter = make_model(tmp_path / "starter_model")
    other = tmp_path / "gone" / "Llama-3.2-1B"
    assert shelf.name_of(starter, starter) == shelf.scan([], starter)[0].name == "Starter model"
    assert shelf.name_of(str(other), starter) == "Llama-3.2-1B"
    snapshot = tmp_path / "models--org--name" / "snapshots" / "abc"
    assert shelf.name_of(snapshot, starter) == "org/name"


def make_gguf(path: Path, size: int = 100, architecture: str = "") -> Path:
    """A file of one weight, of so many bytes; with a field of its architecture 64 more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = architecture.encode()
    field = struct.pack("<Q20sIQ", 20, b"general.architecture", 8, len(name)) + name if name else b""
    weight = struct.pack("<Q1sIQIQ", 1, b"w", 1, size - 64, 24, 0)
    header = b"GGUF" + struct.pack("<IQQ", 3, 1, bool(field)) + field + weight
    path.write_bytes(header.ljust(128 if name else 64, b"\0") + bytes(size - 64))
    return path


def test_gguf_files_are_models(tmp_path: Path):
    alone = make_gguf(tmp_path / "elsewhere" / "Alone-Q8_0.gguf", 150)
    make_gguf(tmp_path / "models" / "Loose.GGUF")
    make_gguf(tmp_path / "models" / "folder" / "Inside-Q4_0.gguf")
    make_gguf(tmp_path / "models" / "folder" / "Part-00001-of-00002.gguf")
    (tmp_path / "models" / "fake.gguf").write_bytes(b"nothing")
    os.truncate(make_gguf(tmp_path / "models" / "half.gguf"), 80)
    make_gguf(make_model(tmp_path / "models" / "both") / "Extra.gguf")
    entries = shelf.scan([tmp_path / "models", alone], tmp_path / "none")
    assert [entry.name for entry in entries] == ["Alone-Q8_0", "both", "Extra", "Inside-Q4_0", "Loose"]
    assert (entries[0].path, entries[0].size) == (str(alone), 150)


def test_models_are_found_below_their_owners(tmp_path: Path):
    make_gguf(tmp_path / "owner" / "name" / "name-Q8_0.gguf")
    make_model(tmp_path / "owner" / "plain")
    make_gguf(tmp_path / "owner" / "name" / "deeper" / "lost.gguf")
    make_gguf(tmp_path / "mine" / "Mine-7B" / "model.gguf")
    assert [entry.name for entry in shelf.scan([tmp_path], tmp_path / "none")] == ["Mine-7B", "name-Q8_0", "plain"]


def test_what_reads_pictures_is_no_model_of_its_own(tmp_path: Path):
    file = make_gguf(tmp_path / "mmproj.gguf", architecture="clip")
    make_gguf(tmp_path / "deepseek.gguf", architecture="deepseek2")  # it can be chosen, and is refused by name
    assert [entry.name for entry in shelf.scan([tmp_path], tmp_path / "none")] == ["deepseek"]
    with pytest.raises(BrokenModelError, match="reads pictures"):
        shelf.describe(file)


def test_what_guesses_is_listed_as_such(tmp_path: Path):
    make_gguf(tmp_path / "gemma-Q8_0.gguf", architecture="gemma4")
    make_gguf(tmp_path / "mtp-gemma-Q8_0.gguf", architecture="gemma4-assistant")
    folder = make_model(tmp_path / "it-assistant")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "gemma4_assistant"}), encoding="utf-8")
    found = {entry.name: (entry.guesses, entry.chats) for entry in shelf.scan([tmp_path], tmp_path / "none")}
    assert found == {
        "gemma-Q8_0": (False, True),
        "it-assistant": (True, False),
        "mtp-gemma-Q8_0": (True, False),
    }


def test_a_gguf_that_does_not_stand_the_check_is_left_out(tmp_path: Path):
    def check(file: Path) -> None:
        if file.stem == "cut":
            raise BrokenModelError("cut off")

    make_gguf(tmp_path / "cut.gguf")
    make_gguf(tmp_path / "sound.gguf")
    assert [entry.name for entry in shelf.scan([tmp_path], tmp_path / "none", check=check)] == ["sound"]


@needs_links
def test_gguf_files_in_the_hub_cache(tmp_path: Path):
    blob = make_gguf(tmp_path / "models--org--name-GGUF" / "blobs" / "abc")
    snapshot = tmp_path / "models--org--name-GGUF" / "snapshots" / "c"
    snapshot.mkdir(parents=True)
    (snapshot / "name-Q4_K_M.gguf").symlink_to(blob)
    (snapshot / "gone-Q8_0.gguf").symlink_to(blob.with_name("gone"))
    assert [entry.name for entry in shelf.scan([tmp_path], tmp_path / "none")] == ["name-Q4_K_M"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"nothing", "it is none"),
        (b"", "it is none"),
    ],
)
def test_what_is_only_called_gguf_is_told(tmp_path: Path, content: bytes, words: str):
    (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(BrokenModelError, match=words):
        shelf.describe(tmp_path / "a.gguf")


def test_a_part_of_a_gguf_is_told(tmp_path: Path):
    with pytest.raises(BrokenModelError, match="one part of a model"):
        shelf.describe(make_gguf(tmp_path / "a-00001-of-00002.gguf"))


@pytest.mark.parametrize("part", range(1, 32))
def test_weights_that_are_cut_off_are_not_usable(tmp_path: Path, part: int):
    folder = make_model(tmp_path / "model", weights=640)
    weights = folder / "model.safetensors"
    os.truncate(weights, weights.stat().st_size * part // 32)
    with pytest.raises(BrokenModelError, match=r"not complete: it has .* MB of|has no header|header cannot be read"):
        shelf.describe(folder)
    assert shelf.scan([folder], tmp_path / "none") == []


def test_a_shard_that_is_still_to_come_is_missed_without_the_index(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    with pytest.raises(ModelNotFoundError, match=r"missing: model-00002-of-00002\.safetensors"):
        shelf.describe(folder)


def test_a_configuration_of_any_size_is_not_read(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(shelf, "_MOST_JSON_BYTES", 1 << 20)
    folder = make_model(tmp_path / "model", config="{" + " " * (1 << 20) + "}")
    with pytest.raises(BrokenModelError, match="larger than 1 MiB"):
        shelf.describe(folder)


def test_the_user_names_models(tmp_path: Path):
    folder = make_model(tmp_path / "models" / "one")
    names = {os.path.realpath(folder): "Mine"}
    assert [entry.name for entry in shelf.scan([tmp_path / "models"], tmp_path / "none", names)] == ["Mine"]
    assert shelf.name_of(folder, tmp_path / "none", names) == "Mine"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_utf8_can_be_shown_and_sent(tmp_path: Path):
    folder = make_model(tmp_path / os.fsdecode(b"caf\xe9"))
    file = make_gguf(tmp_path / os.fsdecode(b"th\xe9.gguf"))
    entries = shelf.scan([tmp_path], tmp_path / "none")
    assert [(entry.name, entry.path) for entry in entries] == [("caf\ufffd", str(folder)), ("th\ufffd", str(file))]
