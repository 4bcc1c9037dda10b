"""How it stands with a model of the hub: on the way, here, or neither."""

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from llama_gui.bridge.download_host import DownloadHost, model_path
from llama_gui.bridge.model_shelf import ModelShelf, ShelfItem
from llama_gui.ui.models.detail_pane import PaneAction
from llama_gui.ui.models.words import percent, size_words

if TYPE_CHECKING:
    from llama_gui.library.download_queue import QueuedDownload

_PREFIX = "models--"


class ModelStates(QObject):
    """Reads the downloads and the shelf. `gguf` is a file of the repository, "" for its safetensors."""

    def __init__(self, downloads: DownloadHost, shelf: ModelShelf, parent: QObject) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self._shelf = shelf

    def download_of(self, repo: str, gguf: str | None = None) -> "QueuedDownload | None":
        """The newest download of a model, if there is one that is still listed. `gguf` None: of whatever file."""
        for item in reversed(self._downloads.items):
            if item.plan.repo == repo and gguf in (None, _gguf_of(item)):
                return item
        return None

    def path_of(self, repo: str, gguf: str | None = None) -> str:
        """Where it lies on this machine; "" when it does not."""
        for item in self._shelf.items:
            if repo_of(item) == repo and (gguf is None or gguf == _file_of(item)):
                return item.entry.path
        item = self.download_of(repo, gguf)
        return model_path(item) if item is not None and item.state == "finished" and _is_there(item) else ""

    def word(self, repo: str) -> str:
        """One word for the row of a list, "" when there is nothing to say."""
        item = self.download_of(repo)
        if repo in self._downloads.asking:
            return self.tr("asking the hub…")
        if item is not None and item.state != "finished":
            done = percent(item.progress.bytes_done, item.plan.size) if item.progress else 0
            words = {
                "waiting": self.tr("waits"),
                "running": f"{done} %",
                "paused": self.tr("paused"),
                "failed": self.tr("stopped"),
            }
            return words[item.state]
        return self.tr("on this computer") if self.path_of(repo) else ""

    def actions(self, repo: str, size: int, gguf: str = "", *, can_download: bool = True) -> tuple[PaneAction, ...]:
        """What can be done with it now."""
        path, item = self.path_of(repo, gguf), self.download_of(repo, gguf)
        if path:
            return (PaneAction("open", self.tr("Open"), main=True),)
        if repo in self._downloads.asking:
            return (PaneAction("download", self.tr("Asking the hub…"), main=True, enabled=False),)
        if item is not None and item.state in ("waiting", "running"):
            return (PaneAction("pause", self.tr("Pause"), main=True), PaneAction("cancel", self.tr("Cancel")))
        if item is not None and item.state in ("paused", "failed"):
            text = self.tr("Resume") if item.state == "paused" else self.tr("Try again")
            return (PaneAction("resume", text, main=True), PaneAction("cancel", self.tr("Cancel")))
        text = self.tr("Download, {}").format(size_words(size)) if size else self.tr("Download")
        return (PaneAction("download", text, main=True, enabled=can_download),)


def repo_of(item: ShelfItem) -> str:
    """The repository that a model in the hub's cache comes from; "" for every other."""
    for part in PurePath(item.entry.path).parts:
        if part.startswith(_PREFIX):
            return part.removeprefix(_PREFIX).replace("--", "/")
    return ""


def _gguf_of(item: "QueuedDownload") -> str:
    only = item.plan.files[0].path if len(item.plan.files) == 1 else ""
    return only if only.endswith(".gguf") else ""


def _file_of(item: ShelfItem) -> str:
    """The path in its repository of a GGUF file in the hub's cache; "" for a folder."""
    path = PurePath(item.entry.path)
    if path.suffix.lower() != ".gguf" or "snapshots" not in path.parts:
        return ""
    return PurePath(*path.parts[path.parts.index("snapshots") + 2 :]).as_posix()


def _is_there(item: "QueuedDownload") -> bool:
    return bool(item.folder) and Path(model_path(item)).exists()
