"""Other people's servers that the user has added, and the models they have."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.lanes import Lanes
from llama_gui.bridge.typed_address import name_of_address, whole_address, with_path
from llama_gui.errors import EndpointError, InvalidRequestError
from llama_gui.vocabulary import ModelEntry

if TYPE_CHECKING:
    from llama_gui.server.endpoint import Endpoint, RemoteModel
    from llama_gui.server.endpoint_book import EndpointBook

FormField = Literal["taken", "address", "key", "plain"]
"""What is wrong in a form. taken: another server has its name. plain: its address needs unencrypted connections to be
allowed.
"""


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A server as the window shows it. Its key stays where it is kept."""

    name: str
    base_url: str
    has_key: bool
    allow_plain_http: bool = False


@dataclass(frozen=True, slots=True)
class ServerForm:
    """What the user has typed. `key` None: the stored one. `is_new`: the server is not among the stored ones."""

    name: str
    base_url: str
    key: str | None
    allow_plain_http: bool = False
    is_new: bool = False


class EndpointDesk(QObject):
    """Reads, changes and asks remote servers off the window's thread. Nothing is asked of a server without a click."""

    listed = Signal(object)
    """tuple[RemoteServer]."""
    kept = Signal(str, str)
    """A server's name, and where its key is, in words."""
    models_found = Signal(str, object)
    """A server's name, and the keys of its models: tuple[str]."""
    refused = Signal(str)
    """A form is not kept: `FormField`."""
    not_kept = Signal(str)
    """A form could not be stored, for a reason that is not in the form."""
    failed = Signal(str)

    def __init__(self, file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        self._book: EndpointBook | None = None
        self._lanes = Lanes(self)

    def endpoint(self, name: str) -> "Endpoint":
        """One of the servers, for the thread that connects to it. Raises what `EndpointBook.endpoint` raises."""
        return self._open_book().endpoint(name)

    def read(self) -> None:
        """List the servers."""
        self._run(self._list, self.listed.emit)

    def keep(self, form: ServerForm) -> None:
        """Add a server, or change the one of this name; then list them. Without a name it is called as its host is."""
        form = replace(form, name=form.name.strip() or name_of_address(form.base_url))

        def work() -> FormField | tuple[str, str, tuple[RemoteServer, ...]]:
            book = self._open_book()
            is_known = form.name in book.names()
            if form.is_new and is_known:
                return "taken"
            kept = book.endpoint(form.name) if is_known or form.key is None else None
            address = whole_address(form.base_url, kept.base_url if kept else "")
            key = form.key
            if key is None:
                key = kept.key if kept and kept.base_url == address else ""
            endpoint = _endpoint(replace(form, base_url=address), key)
            if isinstance(endpoint, str):
                return endpoint
            return form.name, book.keep(endpoint), self._list()

        self._run(work, self._on_kept, self._on_not_kept)

    def remove(self, name: str) -> None:
        """Forget a server and its key; then list the others."""

        def work() -> tuple[RemoteServer, ...]:
            self._open_book().remove(name)
            return self._list()

        self._run(work, self.listed.emit)

    def ask_for_models(self, name: str) -> None:
        """Connect to a server and ask what it has. An address to which only a path was missing is completed."""

        def work() -> tuple[tuple[str, ...], tuple[RemoteServer, ...] | None]:
            book = self._open_book()
            endpoint = book.endpoint(name)
            found, models = _models_of(endpoint)
            if found != endpoint:
                book.keep(found)
            return tuple(f"{name}#{model.name}" for model in models), self._list() if found != endpoint else None

        def tell(answer: tuple[tuple[str, ...], tuple[RemoteServer, ...] | None]) -> None:
            keys, servers = answer
            if servers is not None:
                self.listed.emit(servers)
            self.models_found.emit(name, keys)

        self._run(work, tell)

    def shutdown(self) -> bool:
        """End the thread. May be called twice."""
        return self._lanes.close(1.0)

    def _run(
        self, work: Callable[[], object], done: Callable[..., None], failed: Callable[[Exception], None] | None = None
    ) -> None:
        self._lanes.run("endpoints", work, done, failed or self._on_failed)

    # --- on any thread

    def _open_book(self) -> "EndpointBook":
        if self._book is None:
            from llama_gui.library.sign_in import system_safe
            from llama_gui.server.endpoint_book import EndpointBook

            self._book = EndpointBook(self._file, system_safe())
        return self._book

    def _list(self) -> tuple[RemoteServer, ...]:
        endpoints = self._open_book().endpoints()
        return tuple(RemoteServer(e.name, e.base_url, bool(e.key), e.allow_plain_http) for e in endpoints)

    # --- on the window's thread

    @Slot(object)
    def _on_kept(self, answer: FormField | tuple[str, str, tuple[RemoteServer, ...]]) -> None:
        if isinstance(answer, str):
            self.refused.emit(answer)
            return
        name, words, servers = answer
        self.listed.emit(servers)
        self.kept.emit(name, words)

    @Slot(object)
    def _on_not_kept(self, error: Exception) -> None:
        self.not_kept.emit(str(error))

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))


def _endpoint(form: ServerForm, key: str) -> "Endpoint | FormField":
    """The server that a form describes, or what is wrong in it."""
    from llama_gui.server.endpoint import Endpoint

    if not form.name:
        return "address"
    try:
        endpoint = Endpoint(form.name, form.base_url, key, allow_plain_http=True)
    except InvalidRequestError as error:
        return "key" if error.field == "key" else "address"
    try:
        return replace(endpoint, allow_plain_http=form.allow_plain_http)
    except InvalidRequestError:
        return "plain"


def _models_of(endpoint: "Endpoint") -> "tuple[Endpoint, list[RemoteModel]]":
    """The models of a server, and its address as it answers. Raises what `list_models` raises."""
    from llama_gui.server.remote import list_models

    try:
        return endpoint, list_models(endpoint)
    except EndpointError:
        longer = with_path(endpoint.base_url)
        if longer:
            with suppress(EndpointError):
                return (found := replace(endpoint, base_url=longer)), list_models(found)
        raise


def remote_entries(keys: Sequence[str]) -> list[ModelEntry]:
    """The models of remote servers as the picker shows them."""
    parts = [(key, *key.partition("#")[::2]) for key in keys]
    return [ModelEntry(model, key, 0, endpoint=server) for key, server, model in parts]
