"""Files that are written whole or not at all."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from llama_gui import files
from llama_gui.files import PRIVATE, SHARED, make_whole, open_whole, write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=[write_whole, make_whole])
def write(request: pytest.FixtureRequest):
    return request.param


def test_it_is_there_with_its_folder_and_nothing_else(write, tmp_path: Path):
    path = tmp_path / "folder" / "file"
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["file"]


@posix
@pytest.mark.parametrize("mode", [PRIVATE, SHARED])
def test_who_can_read_it(write, tmp_path: Path, mode: int):
    code = "import os, sys; from pathlib import Path; from llama_gui import files; os.umask(0o022);"
    code += f"files.{write.__name__}(Path(sys.argv[1]), b'', {mode})"
    subprocess.run([sys.executable, "-c", code, tmp_path / "file"], check=True, cwd=Path(__file__).parents[1])
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode & ~0o022


@posix
def test_what_others_could_read_they_cannot_read_any_more(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"secret")
    assert stat.S_IMODE(path.stat().st_mode) == PRIVATE


def test_the_content_is_on_the_disk_before_it_has_the_name(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []
    for name in ("fsync", "replace", "link"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, name=name, real=real: (done.append(name), real(*args))[1])
    write(tmp_path / "file", b"new")
    assert done == ["fsync", "replace" if write is write_whole else "link"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_content_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_writer_that_stops_in_the_middle_changes_nothing(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def stop_in_the_middle() -> None:
        with open_whole(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_in_the_middle()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


@posix
def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "dotfiles").mkdir()
    kept, path = tmp_path / "dotfiles" / "settings.json", tmp_path / "settings.json"
    kept.write_bytes(b"old")
    path.symlink_to(kept)
    write_whole(path, b"new")
    assert path.is_symlink()
    assert kept.read_bytes() == b"new"


def test_many_writers_at_once(tmp_path: Path):
    path = tmp_path / "file"
    contents = [bytes([letter]) * 100_000 for letter in b"abcdefgh"]
    errors: list[BaseException] = []

    def read() -> bytes:
        while True:
            try:
                return path.read_bytes()
            except PermissionError:  # Windows: while it is replaced
                assert sys.platform == "win32"

    def work(content: bytes) -> None:
        try:
            for _ in range(5):
                write_whole(path, content)
                assert read() in contents
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("refusals", [0, 3, 100])
def test_windows_is_asked_again_while_somebody_reads_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int
):
    path, replace, asked = tmp_path / "file", os.replace, []

    def refused(fresh: Path, target: Path) -> None:
        asked.append(target)
        if len(asked) <= refusals:
            raise PermissionError(13, "Access denied")
        replace(fresh, target)

    write_whole(path, b"old")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(files, "_WAITS", (0.0,) * 6)
    monkeypatch.setattr(os, "replace", refused)
    if refusals < 7:
        write_whole(path, b"new")
    else:
        with pytest.raises(PermissionError):
            write_whole(path, b"new")
    assert len(asked) == min(refusals + 1, 7)
    assert path.read_bytes() == (b"new" if refusals < 7 else b"old")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("has_links", [True, False])
def test_of_many_makers_one_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool):
    if not has_links:

        def refuse(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(files.os, "link", refuse)
    path = tmp_path / "key"
    make_whole(path, b"first")
    with pytest.raises(FileExistsError):
        make_whole(path, b"second")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["key"]


def test_a_file_where_the_folder_should_be_is_not_taken_for_what_is_written(write, tmp_path: Path):
    """Windows says of a file in it only that it is not there."""
    (tmp_path / "folder").write_bytes(b"a file")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "folder" / "key", b"new")
    assert names(tmp_path) == ["folder"]
