"""The cache that every Hugging Face tool shares: ``models--owner--name/{blobs,snapshots,refs}``. Only its layout."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from llama_gui.errors import ModelError
from llama_gui.files import SHARED, sync_folder, write_whole
from llama_gui.library.part_file import noted_bytes
from llama_gui.library.plan import DownloadPlan, RemoteFile

HUB_PREFIX = "models--"
SNAPSHOTS = "snapshots"
BLOBS = "blobs"
CONFIG = "config.json"


def snapshot_of(path: Path) -> Path | None:
    """The snapshot of a repository that `path` is, or in which the GGUF file `path` lies; None elsewhere."""
    for folder in path.parents if path.suffix.lower() == ".gguf" else (path,):
        if folder.parent.name == SNAPSHOTS and folder.parent.parent.name.startswith(HUB_PREFIX):
            return folder
    return None


def repository_name(path: Path) -> str:
    """``owner/name`` of the repository of which `path` is a snapshot, or a GGUF file in one; "" elsewhere."""
    snapshot = snapshot_of(path)
    return snapshot.parent.parent.name.removeprefix(HUB_PREFIX).replace("--", "/") if snapshot else ""


@dataclass(frozen=True, slots=True)
class RepoCache:
    """One repository in the cache."""

    cache: Path
    repo: str

    @property
    def folder(self) -> Path:
        """Where all of it lies."""
        return self.cache / (HUB_PREFIX + self.repo.replace("/", "--"))

    def snapshot(self, commit: str) -> Path:
        """Where the files of a commit are seen."""
        return self.folder / SNAPSHOTS / commit

    def blob(self, file: RemoteFile) -> Path:
        """Where the bytes of a file lie, once they are all there and checked."""
        return self.folder / BLOBS / file.checksum

    def lock(self, file: RemoteFile) -> Path:
        """The lock that every tool takes before it fetches this file."""
        return self.cache / ".locks" / self.folder.name / f"{file.checksum}.lock"

    @property
    def whole_lock(self) -> Path:
        """The lock that we hold beside those, from before the first file until all are shown."""
        return self.cache / ".locks" / self.folder.name / "llama-gui.lock"

    def has(self, commit: str, file: RemoteFile) -> bool:
        """Whether somebody, we or another tool, fetched this file before."""
        return any(_has_size(path, file.size) for path in (self.blob(file), self.snapshot(commit) / file.path))

    def bytes_there(self, plan: DownloadPlan) -> int:
        """How many of the plan's bytes need not be fetched."""
        return sum(
            file.size if self.has(plan.commit, file) else noted_bytes(self.blob(file)) for file in unique_files(plan)
        )

    def publish(self, plan: DownloadPlan, check: Callable[[Path], object] = lambda _: None) -> Path:
        """Show the whole commit: its files, then what `revision` means. All blobs must be there.

        The configuration comes last: without it nobody takes the folder for a model. `check` looks at the folder; when
        it raises `ModelError`, what was shown is hidden again, and `revision` means what it meant.
        """
        snapshot = self.snapshot(plan.commit)
        shown: list[Path] = []
        for file in sorted(plan.files, key=lambda file: (file.path == CONFIG, file.path)):
            pointer = snapshot / file.path
            pointer.parent.mkdir(parents=True, exist_ok=True)
            if not _has_size(pointer, file.size):
                _link(self.blob(file), pointer)
                shown.append(pointer)
            sync_folder(pointer.parent)
        try:
            check(snapshot)
        except ModelError:
            for pointer in shown:
                pointer.unlink()
            raise
        self._write_ref(plan)
        return snapshot

    def discard(self, plan: DownloadPlan) -> None:
        """Remove what a download that is given up has left: all that no finished model shows."""
        shown = {os.path.realpath(path) for path in self.folder.glob(f"{SNAPSHOTS}/**/*")}
        for file in plan.files:
            blob = self.blob(file)
            for suffix in (".incomplete", ".offset.incomplete"):
                blob.with_name(file.checksum + suffix).unlink(missing_ok=True)
            if os.path.realpath(blob) not in shown:
                blob.unlink(missing_ok=True)
        for folder in (self.folder / BLOBS, self.folder / SNAPSHOTS, self.folder):
            with contextlib.suppress(OSError):  # not empty, or never made
                folder.rmdir()

    def _write_ref(self, plan: DownloadPlan) -> None:
        if plan.revision == plan.commit:
            return
        reference = self.folder / "refs" / plan.revision
        reference.parent.mkdir(parents=True, exist_ok=True)
        write_whole(reference, plan.commit.encode(), SHARED)


def shown_files(repository: Path) -> Iterator[tuple[int, int]]:
    """Device and number of all files that the snapshots of a repository show, by whatever kind of link.

    Raises:
        OSError: a snapshot cannot be read, so nobody can tell.
    """

    def refuse(error: OSError) -> None:
        raise error

    snapshots = repository / SNAPSHOTS
    for place, _, names in os.walk(snapshots, onerror=refuse) if snapshots.is_dir() else ():
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # its blob is gone
                status = os.stat(Path(place, name))
                yield status.st_dev, status.st_ino


def unique_files(plan: DownloadPlan) -> list[RemoteFile]:
    """The plan's files, each content once: two equal files are one blob."""
    return list({file.checksum: file for file in reversed(plan.files)}.values())[::-1]


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.is_file() and path.stat().st_size == size
    except OSError:
        return False


def _link(blob: Path, pointer: Path) -> None:
    """Let `pointer` show `blob`: by a relative link, so that the cache can be moved, or by whatever the system has."""
    with contextlib.suppress(FileNotFoundError):
        pointer.unlink()
    target = os.path.relpath(blob, pointer.parent)
    try:
        os.symlink(target, pointer)
    except OSError:  # Windows, without the right to make links
        try:
            os.link(blob, pointer)
        except OSError:
            os.replace(blob, pointer)  # as the hub's own client does there
