"""What unfinished downloads have left is found and deleted, and nothing that anybody uses."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from llama_gui.errors import ShelfError
from llama_gui.library import shelf
from llama_gui.library.download_queue import repos_in
from llama_gui.library.leftovers import find_leftovers, free_leftover
from llama_gui.library.part_file import PartFile
from tests.library.test_shelf import make_model
from tests.library.test_shelf_care import everything, make_hub_model, needs_links


def leave(cache: Path, repo: str, *, whole: int = 0, begun: int = 0, of_others: int = 0) -> Path:
    """A download that ended: a file that came whole, one of which a part came, one that another tool began."""
    folder = cache / ("models--" + repo.replace("/", "--"))
    blobs = folder / "blobs"
    blobs.mkdir(parents=True, exist_ok=True)
    (folder / "snapshots").mkdir(exist_ok=True)
    if whole:
        (blobs / ("e" * 40)).write_bytes(bytes(whole))
    if begun:
        part = PartFile(blobs / ("f" * 64), 10 * begun, "f" * 64)
        list(part.open())
        part.write(bytes(begun))
        part.pause()
    if of_others:
        (blobs / f"{'a' * 64}.12345678.incomplete").write_bytes(bytes(of_others))
    return folder


def found(cache: Path) -> list[tuple[str, int]]:
    return [(leftover.repo, leftover.size) for leftover in find_leftovers([cache])]


def test_an_abandoned_download_is_found_with_all_of_its_bytes(tmp_path: Path):
    folder = leave(tmp_path, "org/gone", whole=100, begun=2000, of_others=30_000)
    mark = len((folder / "blobs" / f"{'f' * 64}.offset.incomplete").read_bytes())
    assert found(tmp_path) == [("org/gone", 32_100 + mark)]
    (leftover,) = find_leftovers([tmp_path, folder])  # told once, by whichever way it is reached
    assert free_leftover(leftover) == 32_100 + mark
    assert not folder.exists()
    assert found(tmp_path) == []


@needs_links
def test_finished_models_stay_as_they_are(tmp_path: Path):
    entry = make_hub_model(tmp_path, commits=("a" * 40, "b" * 40))
    before = everything(tmp_path)
    assert found(tmp_path) == []
    leave(tmp_path, "org/name", whole=7)
    assert found(tmp_path) == [("org/name", 7)]
    assert free_leftover(find_leftovers([tmp_path])[0]) == 7
    assert everything(tmp_path) == before
    assert shelf.describe(Path(entry.path)) == entry


def test_blobs_that_hard_links_show_are_in_use(tmp_path: Path):
    """As on Windows, where symbolic links need a right."""
    folder = leave(tmp_path, "org/name", whole=7)
    shown = folder / "snapshots" / ("c" * 40) / "sub" / "a.gguf"
    shown.parent.mkdir(parents=True)
    os.link(folder / "blobs" / ("e" * 40), shown)
    assert found(tmp_path) == []


@needs_links
def test_what_a_link_in_the_place_of_a_blob_leads_to_is_no_leftover(tmp_path: Path):
    folder = leave(tmp_path, "org/name")
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (folder / "blobs" / ("e" * 40)).symlink_to(tmp_path / "elsewhere")
    assert found(tmp_path) == []


def test_what_is_downloaded_just_now_stays(tmp_path: Path):
    folder = leave(tmp_path, "org/busy", begun=100)
    lock = tmp_path / ".locks" / folder.name / f"{'f' * 64}.lock"
    lock.parent.mkdir(parents=True)
    (leftover,) = find_leftovers([tmp_path])
    with FileLock(lock), pytest.raises(ShelfError, match=r"org/busy is being downloaded just now"):
        free_leftover(leftover)
    assert found(tmp_path) == [("org/busy", leftover.size)]


def test_where_a_snapshot_cannot_be_read_nothing_is_called_unused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    leave(tmp_path, "org/name", whole=7)
    (leftover,) = find_leftovers([tmp_path])

    def refuse(place: Path, onerror) -> list[object]:
        onerror(PermissionError(13, "Permission denied", str(place)))
        return []

    monkeypatch.setattr(os, "walk", refuse)
    assert found(tmp_path) == []
    with pytest.raises(ShelfError, match=r"What is left of org/name cannot be deleted: Permission denied"):
        free_leftover(leftover)
    assert len(everything(tmp_path)) == 1


def test_other_folders_hold_none(tmp_path: Path):
    make_model(tmp_path / "Mine")
    (tmp_path / "Mine" / "blobs").mkdir()
    (tmp_path / "Mine" / "blobs" / "x.incomplete").write_bytes(b"x")
    assert find_leftovers([tmp_path, tmp_path / "none", Path("a\0b")]) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"downloads": 7}', b'{"downloads": {}}', b"\xff", b"[" * 100_000]
    + [b'{"downloads": [{"repo": "a/b"}, %b]}' % entry for entry in (b"{}", b"7", b'{"repo": 7}')],
)
def test_a_list_of_downloads_that_cannot_be_read_is_told(tmp_path: Path, content: bytes):
    """Else what waits in the window would be taken for abandoned."""
    file = tmp_path / "downloads.json"
    file.write_bytes(content)
    with pytest.raises(ShelfError, match=r"downloads\.json is damaged, so nobody can tell .* Name the model"):
        repos_in(file)
    assert file.read_bytes() == content


def test_a_list_of_downloads_that_the_system_refuses_is_told(tmp_path: Path):
    with pytest.raises(ShelfError, match=r"cannot be read \("):
        repos_in(tmp_path)  # a folder


def test_an_entry_that_the_window_cannot_use_still_names_what_waits(tmp_path: Path):
    file = tmp_path / "downloads.json"
    assert repos_in(file) == frozenset()
    file.write_bytes(b'{"downloads": [{"repo": "a/b", "state": "odd"}, {"repo": "c/d"}]}')
    assert repos_in(file) == {"a/b", "c/d"}
