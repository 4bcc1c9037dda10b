"""Deleting frees what is the model's and touches nothing else; verifying finds one wrong bit."""

import hashlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from llama_gui.errors import InvalidRequestError, LoadCancelledError, ShelfError
from llama_gui.library import shelf, shelf_care
from llama_gui.library.neighbours import Neighbour
from llama_gui.library.shelf_notes import ShelfNote, load_notes, names_in, note_of, note_use, rename
from llama_gui.vocabulary import ModelEntry
from tests.fakes.fake_hub import FakeRepo, weights_file
from tests.library.test_shelf import make_gguf, make_model

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right on Windows")


def make_hub_model(cache: Path, repo: str = "org/name", commits: tuple[str, ...] = ("c" * 40,)) -> ModelEntry:
    """As the hub's tools lay it out, blobs called by their checksums."""
    folder = cache / ("models--" + repo.replace("/", "--"))
    for commit in commits:
        files = {"config.json": b"{}", "model.safetensors": weights_file(commit.encode() * 100)}
        source = FakeRepo(repo, files, commit)
        for path, content in files.items():
            blob = folder / "blobs" / source.etag(path)
            blob.parent.mkdir(parents=True, exist_ok=True)
            blob.write_bytes(content)
            pointer = folder / "snapshots" / commit / path
            pointer.parent.mkdir(parents=True, exist_ok=True)
            pointer.symlink_to(os.path.relpath(blob, pointer.parent))
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(commits[0], encoding="utf-8")
    return shelf.describe(folder)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@needs_links
def test_a_model_of_the_hub_goes_in_all_revisions(tmp_path: Path):
    entry = make_hub_model(tmp_path / "hub", commits=("a" * 40, "b" * 40))
    other = make_hub_model(tmp_path / "hub", "org/other")
    before = sum(path.stat().st_size for path in (tmp_path / "hub" / "models--org--name" / "blobs").iterdir())
    deleted = shelf_care.delete(entry, [tmp_path / "hub"])
    assert deleted == shelf_care.Deleted(before + 40)  # and refs/main
    assert not (tmp_path / "hub" / "models--org--name").exists()
    assert shelf.describe(Path(other.path)) == other


@needs_links
def test_one_of_several_gguf_files_goes_alone(tmp_path: Path):
    repository = tmp_path / "hub" / "models--org--name-GGUF"
    for name, size in (("name-Q4_0.gguf", 150), ("name-Q8_0.gguf", 200)):
        content = make_gguf(tmp_path / name, size).read_bytes()
        blob = repository / "blobs" / hashlib.sha256(content).hexdigest()
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        for commit in ("a" * 40, "b" * 40):
            pointer = repository / "snapshots" / commit / name
            pointer.parent.mkdir(parents=True, exist_ok=True)
            pointer.symlink_to(os.path.relpath(blob, pointer.parent))
    four, eight = shelf.scan([tmp_path / "hub"], tmp_path / "none")
    assert shelf_care.verify(eight) == shelf_care.Verified(1, 0, ())
    assert shelf_care.delete(four, [tmp_path / "hub"]).freed == 150
    assert shelf.scan([tmp_path / "hub"], tmp_path / "none") == [eight]
    assert [path.stat().st_size for path in (repository / "blobs").iterdir()] == [200]
    shelf_care.delete(eight, [tmp_path / "hub"])
    assert not repository.exists()


def test_what_reads_images_goes_with_the_last_model(tmp_path: Path):
    snapshot = tmp_path / "hub" / "models--org--name-GGUF" / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    for name in ("name-Q4_0.gguf", "name-Q8_0.gguf"):
        make_gguf(snapshot / name, 150)
    size = make_gguf(snapshot / "mmproj-F16.gguf", architecture="clip").stat().st_size
    four, eight = shelf.scan([tmp_path / "hub"], tmp_path / "none")
    assert shelf_care.delete(four, [tmp_path / "hub"]).freed == 150
    assert shelf_care.delete(eight, [tmp_path / "hub"]).freed == 150 + size
    assert not snapshot.exists()


def test_what_guesses_goes_alone_or_with_its_model(tmp_path: Path):
    snapshot = tmp_path / "hub" / "models--org--name-GGUF" / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    model = make_gguf(snapshot / "name-Q4_0.gguf", 150)

    def guesser() -> int:
        return make_gguf(snapshot / "mtp-name.gguf", 150, architecture="gemma4-assistant").stat().st_size

    size = guesser()
    entries = {entry.guesses: entry for entry in shelf.scan([tmp_path / "hub"], tmp_path / "none")}
    assert shelf_care.delete(entries[True], [tmp_path / "hub"]).freed == size
    assert model.exists()
    guesser()
    assert shelf_care.delete(entries[False], [tmp_path / "hub"]).freed == 150 + size
    assert not snapshot.exists()


@needs_links
def test_of_a_file_with_two_names_one_goes_and_the_other_stays(tmp_path: Path):
    """Equal files are one blob; and some repositories have a folder for each kind."""
    repository = tmp_path / "hub" / "models--org--name-GGUF"
    content = make_gguf(tmp_path / "x.gguf", 150).read_bytes()
    blob = repository / "blobs" / hashlib.sha256(content).hexdigest()
    blob.parent.mkdir(parents=True)
    blob.write_bytes(content)
    for name in ("name-Q4_0.gguf", "four/name-Q4_0.gguf"):
        pointer = repository / "snapshots" / ("a" * 40) / name
        pointer.parent.mkdir(parents=True, exist_ok=True)
        pointer.symlink_to(os.path.relpath(blob, pointer.parent))
    deeper = shelf.describe(repository / "snapshots" / ("a" * 40) / "four" / "name-Q4_0.gguf")
    assert shelf_care.delete(deeper, [tmp_path / "hub"]).freed == 0
    (left,) = shelf.scan([tmp_path / "hub"], tmp_path / "none")
    assert Path(left.path).read_bytes() == content
    assert shelf_care.delete(left, [tmp_path / "hub"]).freed == 150
    assert not repository.exists()


@needs_links
def test_what_links_lead_to_outside_stays(tmp_path: Path):
    entry = make_hub_model(tmp_path / "hub")
    blobs = tmp_path / "hub" / "models--org--name" / "blobs"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for blob in list(blobs.iterdir()):
        blob.rename(elsewhere / blob.name)
        blob.symlink_to(elsewhere / blob.name)
    (blobs / "folder").symlink_to(elsewhere, target_is_directory=True)
    before = everything(elsewhere)
    shelf_care.delete(entry, [tmp_path / "hub"])
    assert everything(elsewhere) == before != {}
    assert not blobs.parent.exists()


@needs_links
def test_a_link_on_the_shelf_is_removed_and_its_model_stays(tmp_path: Path):
    real = make_model(tmp_path / "elsewhere" / "model")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "link").symlink_to(real, target_is_directory=True)
    before = everything(real)
    (entry,) = shelf.scan([tmp_path / "models"], tmp_path / "none")
    assert shelf_care.delete(entry, [tmp_path / "models"]).freed == 0
    assert everything(real) == before
    assert list((tmp_path / "models").iterdir()) == []


def test_a_folder_loses_what_is_the_models_and_keeps_the_rest(tmp_path: Path):
    folder = make_model(tmp_path / "models" / "mine", weights=300)
    (folder / "original").mkdir()
    (folder / "original" / "params.json").write_text("{}", encoding="utf-8")
    (folder / "thesis.docx").write_text("years of work", encoding="utf-8")
    (folder / "photos").mkdir()
    (entry,) = shelf.scan([tmp_path / "models"], tmp_path / "none")
    assert shelf_care.delete(entry, [tmp_path / "models"]) == shelf_care.Deleted(304, ("photos", "thesis.docx"))
    assert sorted(path.name for path in folder.iterdir()) == ["photos", "thesis.docx"]


def test_a_folder_of_nothing_else_goes_whole(tmp_path: Path):
    make_model(tmp_path / "models" / "mine")
    (entry,) = shelf.scan([tmp_path / "models"], tmp_path / "none")
    shelf_care.delete(entry, [tmp_path / "models"])
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize("place", ["loose.gguf", "folder/inside.gguf"])
def test_a_gguf_file_goes_alone(tmp_path: Path, place: str):
    file = make_gguf(tmp_path / "models" / place, 123)
    make_gguf(file.with_name("other.gguf"))
    assert shelf_care.delete(shelf.describe(file), [tmp_path / "models"]).freed == 123
    assert [path.name for path in file.parent.iterdir()] == ["other.gguf"]


@pytest.mark.parametrize("root", ["other", "models/by/mine/deeper", ""])
def test_what_is_not_on_the_shelf_stays(tmp_path: Path, root: str):
    entry = shelf.describe(make_model(tmp_path / "models" / "by" / "mine"))
    before = everything(tmp_path)
    with pytest.raises(ShelfError, match="is not on the shelf"):
        shelf_care.delete(entry, [tmp_path / root])
    assert everything(tmp_path) == before


def test_the_way_out_of_the_shelf_is_not_taken(tmp_path: Path):
    make_model(tmp_path / "outside")
    (tmp_path / "models").mkdir()
    sneaky = ModelEntry("x", f"{tmp_path}/models/../outside", 1)
    with pytest.raises(ShelfError, match="is not on the shelf"):
        shelf_care.delete(sneaky, [tmp_path / "models"])
    assert (tmp_path / "outside" / "config.json").exists()


def test_the_starter_model_stays(tmp_path: Path):
    folder = make_model(tmp_path / "starter")
    with pytest.raises(ShelfError, match="cannot be deleted"):
        shelf_care.delete(shelf.scan([], folder)[0], [tmp_path])
    assert folder.is_dir()


@needs_links
def test_what_another_program_keeps_stays_by_whatever_way_it_is_reached(tmp_path: Path):
    """Also a file of it that the user has opened here, which is a place of the shelf then."""
    disk = tmp_path / "disk"
    file = make_gguf(disk / "models" / "org" / "a" / "Theirs-Q8_0.gguf")
    (tmp_path / ".lmstudio").symlink_to(disk, target_is_directory=True)
    theirs = [Neighbour("LM Studio", tmp_path / ".lmstudio" / "models")]
    for path in (file, tmp_path / ".lmstudio" / "models" / "org" / "a" / file.name):
        with pytest.raises(ShelfError, match="Theirs-Q8_0 is kept by LM Studio"):
            shelf_care.delete(shelf.describe(path), [path, file], theirs)
    assert file.exists()
    own = tmp_path / "models" / "ours-Q8_0.gguf"
    own.parent.mkdir()
    own.symlink_to(file)
    shelf_care.delete(shelf.describe(own), [own.parent], theirs)
    assert not own.is_symlink()
    assert file.exists()


@needs_links
def test_what_is_being_downloaded_stays(tmp_path: Path):
    entry = make_hub_model(tmp_path / "hub")
    lock = tmp_path / "hub" / ".locks" / "models--org--name" / "x.lock"
    lock.parent.mkdir(parents=True)
    with FileLock(lock), pytest.raises(ShelfError, match="being downloaded"):
        shelf_care.delete(entry, [tmp_path / "hub"])
    assert shelf.describe(Path(entry.path)) == entry
    shelf_care.delete(entry, [tmp_path / "hub"])


@needs_links
def test_one_wrong_bit_is_found(tmp_path: Path):
    entry = make_hub_model(tmp_path / "hub")
    read: list[int] = []
    assert shelf_care.verify(entry, read.append) == shelf_care.Verified(2, 0, ())
    assert sum(read) == entry.size
    weights = Path(entry.path, "model.safetensors").resolve()
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert "is damaged: its bytes are not those of the hub" in shelf_care.verify(entry).problems[0]


def test_without_checksums_the_form_is_looked_at(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    entry = shelf.describe(folder)
    assert shelf_care.verify(entry) == shelf_care.Verified(0, 2, ())
    os.truncate(folder / "model.safetensors", 150)
    (folder / "tokenizer.json").write_text("[", encoding="utf-8")
    problems = shelf_care.verify(entry).problems
    assert len(problems) == 2
    assert "not complete" in problems[0]
    assert "not valid JSON" in problems[1]


def test_the_notes_of_a_hub_tool_are_used(tmp_path: Path):
    folder = make_model(tmp_path / "model")
    notes = folder / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    (notes / "config.json.metadata").write_text(f"{'c' * 40}\n{'d' * 40}\n1.0\n", encoding="utf-8")
    report = shelf_care.verify(shelf.describe(folder))
    assert (report.by_checksum, report.by_shape, len(report.problems)) == (1, 1, 1)


@needs_links
def test_a_check_can_be_cancelled(tmp_path: Path):
    with pytest.raises(LoadCancelledError):
        shelf_care.verify(make_hub_model(tmp_path / "hub"), is_cancelled=lambda: True)


def test_notes_are_kept_beside_the_files(tmp_path: Path):
    folder = make_model(tmp_path / "models" / "one")
    file = tmp_path / "data" / "shelf.json"
    now = datetime(2026, 11, 21, tzinfo=UTC)
    rename(file, str(folder), "  Mine ")
    notes = note_use(file, str(folder), now)
    assert load_notes(file) == notes == {os.path.realpath(folder): ShelfNote("Mine", now)}
    assert names_in(notes) == {os.path.realpath(folder): "Mine"}
    assert note_of(rename(file, str(folder), ""), str(folder)) == ShelfNote("", now)
    assert note_of(notes, "/another") == ShelfNote()
    assert folder.is_dir()


@pytest.mark.parametrize(
    "content",
    [
        b'{"/a": {"name": "Mine", "used": "2026-11-21T00:00:00+00:00"}, "/b": {"name": "Other", "used": "yesterday"}}',
        b'{"/a": {"name": "Mine", "used": "2026-11-21T00:00:00+00:00"}, "/b": 7}',
        b'{"/a": {"name": "Mine"}, "/b": {"name": "Oth',
        b"\x00\x00",
    ],
)
def test_notes_that_are_damaged_are_set_aside_before_they_are_replaced(tmp_path: Path, content: bytes):
    file = tmp_path / "shelf.json"
    file.write_bytes(content)
    has_whole_note = content.endswith(b"}")
    assert names_in(load_notes(file)) == ({"/a": "Mine"} if has_whole_note else {})
    note_use(file, "/c")
    assert (tmp_path / "shelf.json.broken").read_bytes() == content
    assert names_in(load_notes(file)) == ({"/a": "Mine"} if has_whole_note else {})


def test_notes_that_cannot_be_read_are_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "shelf.json"
    rename(file, "/a", "Mine")
    before = file.read_bytes()

    def refuse(*_of: object) -> None:
        raise PermissionError(13, "Permission denied", str(file))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        assert load_notes(file) == {}
        with pytest.raises(ShelfError, match=r"cannot be read: Permission denied\. Nothing was noted\."):
            note_use(file, "/b")
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["a\nb", "x" * 81, "\u202eevil"])
def test_not_everything_is_a_name(tmp_path: Path, name: str):
    with pytest.raises(InvalidRequestError, match="one line"):
        rename(tmp_path / "names.json", "x", name)


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on POSIX only")
def test_a_path_that_is_no_unicode_has_notes_too(tmp_path: Path):
    file, folder = tmp_path / "shelf.json", os.fsdecode(os.fsencode(tmp_path) + b"/model-\xff")
    notes = rename(file, folder, "Mine")
    assert load_notes(file) == notes
    assert note_of(notes, folder).name == "Mine"


@pytest.mark.parametrize(
    "content", ["", "[", "[]", '{"a": 1}', '{"a": {"name": "x", "used": "yesterday"}}', "[" * 100_000]
)
def test_damaged_notes_are_no_notes(tmp_path: Path, content: str):
    (tmp_path / "shelf.json").write_text(content, encoding="utf-8")
    assert load_notes(tmp_path / "shelf.json") == {}
