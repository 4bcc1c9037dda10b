"""Looking for models on the hub while the user types, and at one of them in detail."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.lanes import Lanes
from llama_gui.library.access import HubAccess

if TYPE_CHECKING:
    from llama_gui.library.hub import FoundModel, Hub, ModelDetails, SearchPage, Sort

WAIT_MS = 400
_MOST_KEPT = 60
_PATIENCE_S = 1.0


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for. `gguf`: only GGUF files; `sort`: see `library.hub.Sort`."""

    words: str = ""
    sort: "Sort" = "downloads"
    gguf: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """All that was found so far. `file`: the GGUF file whose web address was looked for, "" when it was none."""

    query: SearchQuery
    models: "tuple[FoundModel, ...]"
    file: str = ""


class HubSearch(QObject):
    """Asks the hub when the user pauses. Results of outdated searches are dropped.

    Nothing is sent before `search` is called.
    """

    found = Signal(object)
    """`SearchResult`"""
    failed = Signal(str)
    more_failed = Signal(str)
    """The next page did not come; what was found before stays, and `more` may be asked again."""
    busy_changed = Signal(bool)
    details_found = Signal(str, object)
    """A repository, and its `ModelDetails`."""
    details_failed = Signal(str, str)

    def __init__(self, access: Callable[[], HubAccess], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._access = access
        self._lanes = Lanes(self)
        self._query = SearchQuery()
        self._asked = 0  # number of the newest question
        self._wanted = ""  # the repository whose details are on the way
        self._models: tuple[FoundModel, ...] = ()
        self._page: SearchPage | None = None
        self._details: dict[str, ModelDetails] = {}
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._timer.timeout.connect(self._ask)

    # --- the search

    def search(self, query: SearchQuery, *, at_once: bool = False) -> None:
        """Look for this, soon or at once. The answer before it is of no interest any more."""
        self._asked += 1
        self._query = query
        if at_once:
            self._timer.stop()
            self._ask()
        else:
            self._timer.start()

    def stop(self) -> None:
        """Look for nothing."""
        self._asked += 1
        self._timer.stop()
        self.busy_changed.emit(False)

    def more(self) -> None:
        """The next page of the same, unless it is on its way."""
        page = self._page
        if page is not None and page.next_page and not self._timer.isActive():
            self._page = None
            self._send(lambda hub: hub.more(page), self._models, page)

    @Slot()
    def _ask(self) -> None:
        query = self._query
        self._page = None
        self._send(lambda hub: hub.search(query.words, sort=query.sort, gguf=query.gguf), ())

    def _send(
        self,
        ask: "Callable[[Hub], SearchPage]",
        before: "tuple[FoundModel, ...]",
        after: "SearchPage | None" = None,
    ) -> None:
        number, query = self._asked, self._query

        def work() -> tuple[int, SearchQuery, Any, Any]:
            if number != self._asked:  # asked for something else while this waited
                return number, query, before, None
            return number, query, before, ask(self._hub())

        self.busy_changed.emit(True)
        self._lanes.run("hub-search", work, self._on_page, lambda error: self._on_failed(number, error, after))

    @Slot(object)
    def _on_page(self, answer: "tuple[int, SearchQuery, tuple[FoundModel, ...], SearchPage]") -> None:
        number, query, before, page = answer
        if number != self._asked:
            return
        self._page = page
        known = {model.repo for model in before}
        self._models = (*before, *(model for model in page.models if model.repo not in known))
        self.busy_changed.emit(False)
        self.found.emit(SearchResult(query, self._models, page.file))

    def _on_failed(self, number: int, error: Exception, after: "SearchPage | None") -> None:
        if number != self._asked:
            return
        self.busy_changed.emit(False)
        if after is None:
            self.failed.emit(str(error))
        else:
            self._page = after
            self.more_failed.emit(str(error))

    # --- one model

    def ask_details(self, repo: str) -> None:
        """Fetch the details of one model; of several quick requests only the last is answered."""
        self._wanted = repo
        if repo in self._details:
            self.details_found.emit(repo, self._details[repo])
            return

        def work() -> "ModelDetails | None":
            return self._hub().details(repo) if repo == self._wanted else None

        self._lanes.run(
            "hub-details",
            work,
            lambda details: self._on_details(repo, details),
            lambda error: self._on_details_failed(repo, error),
        )

    def forget_details(self) -> None:
        """Another token may see more."""
        self._details.clear()

    def _on_details(self, repo: str, details: "ModelDetails | None") -> None:
        if details is None:
            return
        if len(self._details) >= _MOST_KEPT:
            self._details.pop(next(iter(self._details)))
        self._details[repo] = details
        if repo == self._wanted:
            self.details_found.emit(repo, details)

    def _on_details_failed(self, repo: str, error: Exception) -> None:
        if repo == self._wanted:
            self.details_failed.emit(repo, str(error))

    # --- the threads

    def close(self) -> bool:
        """End the threads; False: one of them still waits for the hub. Its answer is of no use, so not for long."""
        self._asked += 1
        self._wanted = ""
        self._timer.stop()
        return self._lanes.close(_PATIENCE_S)

    def _hub(self) -> "Hub":
        from llama_gui.library.hub import Hub  # here, on the lane: the hub's client takes a second to import

        return Hub(self._access())
