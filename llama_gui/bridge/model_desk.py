"""Everything about models that are not loaded: the hub, the downloads, the shelf, and whether one would run."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from llama_gui.bridge.download_host import DownloadHost, model_path
from llama_gui.bridge.fit_adviser import FitAdviser
from llama_gui.bridge.hub_account import HubAccount
from llama_gui.bridge.hub_search import HubSearch
from llama_gui.bridge.load_planner import LoadPlanner
from llama_gui.bridge.model_shelf import ModelShelf
from llama_gui.errors import UserError
from llama_gui.library.bandwidth import steady_bandwidth
from llama_gui.library.catalog import CatalogEntry, load
from llama_gui.library.sign_in import Safe, SignedIn, system_safe
from llama_gui.paths import Paths
from llama_gui.settings import UserSettings


class ModelDesk(QObject):
    """Owns the parts and connects them. Nothing is asked of the hub before the user asks for it."""

    def __init__(
        self,
        paths: Paths,
        settings: UserSettings,
        parent: QObject | None = None,
        *,
        environment: Mapping[str, str] = os.environ,
        find_safe: Callable[[], Safe | None] = system_safe,
    ) -> None:
        super().__init__(parent)
        self._catalog_file = paths.resources / "catalog.json"
        self._downloads_file = paths.downloads_file
        self.own_folder = paths.models
        self.account = HubAccount(
            is_offline=settings.offline, environment=environment, find_safe=find_safe, parent=self
        )
        self.search = HubSearch(self.account.access, self)
        self.downloads = DownloadHost(paths.downloads_file, self.account.access, self)
        places = [paths.models, Path(self.account.cache)]
        self.shelf = ModelShelf(places, paths.starter_model, paths.shelf_file, self)
        self.adviser = FitAdviser(self, bandwidth=lambda: steady_bandwidth(paths.bandwidth_file))
        self.planner = LoadPlanner(paths.starter_model, self)
        self.added_folders: tuple[str, ...] = ()
        self.apply(settings)
        self.account.changed.connect(self._on_account)
        self.downloads.finished.connect(self._on_finished)
        self.shelf.deleted.connect(self._on_deleted)

    def apply(self, settings: UserSettings) -> None:
        """Go by these settings from now on."""
        self.account.set_offline(settings.offline)
        self.downloads.set_limit(settings.download_limit)
        self.added_folders = settings.model_folders
        self.shelf.set_opened((*settings.recent_models, *settings.model_folders))

    def catalog(self) -> tuple[list[CatalogEntry], str]:
        """The models that we recommend, and what is wrong with their list, "" when all is well."""
        try:
            return load(self._catalog_file), ""
        except UserError as error:
            return [], str(error)

    def start(self) -> None:
        """Go on with the downloads of the last time, if there are any, and see which models are all there."""
        self.shelf.scan()
        if _has_downloads(self._downloads_file):
            self.downloads.open()

    def shutdown(self) -> bool:
        """Pause the downloads, keep everything, end the threads; False: one of them did not end in time."""
        parts = (self.downloads, self.search, self.shelf, self.account, self.adviser, self.planner)
        ended = [part.close() for part in parts]
        return all(ended)

    @Slot(object)
    def _on_account(self, signed_in: SignedIn) -> None:
        self.search.forget_details()
        if signed_in.token:
            self.downloads.resume_refused()

    @Slot(object)
    def _on_finished(self, _item: object) -> None:
        self.shelf.scan()

    @Slot(object, object)
    def _on_deleted(self, _entry: object, _done: object) -> None:
        """A finished download whose model is gone has nothing left to open."""
        for item in self.downloads.items:
            if item.state == "finished" and not os.path.exists(model_path(item)):
                self.downloads.remove(item.id)


def _has_downloads(file: Path) -> bool:
    """Whether something is listed. Most starts have nothing to go on with, and need not read the HTTP library."""
    try:
        return json.loads(file.read_bytes())["downloads"] != []
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return True  # the queue says what is wrong with it
