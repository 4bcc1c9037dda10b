"""What of the window meets other programs: our server for them, the servers of others for us, and tools."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.endpoint_desk import EndpointDesk, RemoteServer, remote_entries
from llama_gui.bridge.server_host import ServerHost
from llama_gui.settings import UserSettings
from llama_gui.ui.icons import Icons
from llama_gui.vocabulary import ModelEntry

if TYPE_CHECKING:
    from llama_gui.ui.server_dialog import ServerDialog
    from llama_gui.ui.tools.dialog import Removed, ToolsDialog


class WindowConnections(QObject):
    """Opens the dialogs, and remembers what was switched and found. `settings` and `keep`: the user's."""

    said = Signal(str)
    told = Signal(str)
    """What went wrong while no dialog was open."""
    model_wanted = Signal(str)
    """The key of a model that was added for the chat in front."""
    shared = Signal(str)
    """Where other devices find our server; "": they cannot reach it."""

    def __init__(
        self,
        server: ServerHost,
        desk: EndpointDesk,
        book: ChatBook,
        icons: Icons,
        settings: Callable[[], UserSettings],
        keep: Callable[..., None],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._server = server
        self._desk = desk
        self._book = book
        self._icons = icons
        self._settings = settings
        self._keep = keep
        self._window = window
        self._switch: ServerDialog | None = None  # while it is open
        self._tools: ToolsDialog | None = None
        self._removed: Removed | None = None  # from among the tool servers
        server.started.connect(self._on_started)
        server.stopped.connect(self._on_stopped)
        server.failed.connect(self._on_failed)
        desk.models_found.connect(self._on_models)
        desk.listed.connect(self._on_listed)
        book.tools.failed.connect(self._on_tools_failed)

    def start(self) -> None:
        """Serve, if that was on at the last end."""
        settings = self._settings()
        if settings.server_on:
            self._server.start(settings.server_port, for_network=settings.server_for_network)

    def shutdown(self) -> bool:
        """Stop serving, before the engines go."""
        ended = self._server.shutdown()
        return self._desk.shutdown() and ended

    def entries(self) -> list[ModelEntry]:
        """The models of remote servers, as they were found last."""
        return remote_entries(self._settings().remote_models)

    @Slot()
    def show_server(self) -> None:
        """Open the switch for other programs."""
        from llama_gui.ui.server_dialog import ServerDialog  # here: the window shows sooner

        settings = self._settings()
        self._switch = dialog = ServerDialog(
            self._server, settings.server_port, self._window, for_network=settings.server_for_network
        )
        dialog.finished.connect(self._on_switch_closed)
        dialog.wanted.connect(self._on_wanted)
        dialog.open()

    @Slot()
    def show_endpoints(self) -> None:
        """Open the list of remote servers."""
        from llama_gui.ui.endpoints_dialog import EndpointsDialog

        EndpointsDialog(self._desk, self._window).open()

    @Slot()
    def show_endpoints_for_chat(self) -> None:
        """Open it from the models of the chat in front: a server that is added with one model is meant for that."""
        from llama_gui.ui.endpoints_dialog import EndpointsDialog

        dialog = EndpointsDialog(self._desk, self._window, for_chat=True)
        dialog.model_wanted.connect(self.model_wanted)
        dialog.open()

    @Slot()
    def show_tools(self) -> None:
        """Open the list of tool servers."""
        from llama_gui.ui.tools.dialog import ToolsDialog

        if self._tools is None:
            self._tools = ToolsDialog(self._book.tools, self._icons, self._window, self._removed)
            self._tools.finished.connect(self._on_tools_closed)
            self._tools.open()

    @Slot()
    def _on_tools_closed(self) -> None:
        """What was only tried goes on running for nobody."""
        dialog, self._tools = self._tools, None
        used = {name for session in self._book.sessions() for name in session.settings.tools}
        if dialog is None:
            return
        self._removed = dialog.removed
        for name in dialog.tried:
            if name not in used:
                self._book.tools.stop(name)

    @Slot(str)
    def _on_tools_failed(self, text: str) -> None:
        if self._tools is None:  # else the dialog says it
            self.told.emit(text)

    @Slot()
    def _on_switch_closed(self) -> None:
        self._switch = None

    @Slot(bool, int, bool)
    def _on_wanted(self, is_on: bool, port: int, for_network: bool) -> None:
        self._keep(server_on=is_on, server_port=port, server_for_network=for_network)

    @Slot(str, bool)
    def _on_started(self, url: str, is_for_others: bool) -> None:
        if is_for_others:
            url = next(iter(self._server.urls_for_others()), url)
            self.said.emit(self.tr("Other devices in this network can use the models at {}.").format(url))
        else:
            self.said.emit(self.tr("Other programs can use the models at {}.").format(url))
        self.shared.emit(url if is_for_others else "")

    @Slot()
    def _on_stopped(self) -> None:
        self.shared.emit("")

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self.shared.emit("")
        if self._switch is None:  # else the dialog says it
            self.told.emit(text)

    @Slot(str, object)
    def _on_models(self, name: str, keys: tuple[str, ...]) -> None:
        others = [key for key in self._settings().remote_models if key.partition("#")[0] != name]
        self._keep(remote_models=(*others, *keys))

    @Slot(object)
    def _on_listed(self, servers: tuple[RemoteServer, ...]) -> None:
        """Forget the models of servers that are gone."""
        names = {server.name for server in servers}
        self._keep(remote_models=tuple(key for key in self._settings().remote_models if key.partition("#")[0] in names))
