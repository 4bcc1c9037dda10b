"""The HTTP server, switched on and off from the window: other programs use the models that are in memory."""

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.tasks import TaskLane
from llama_gui.errors import EngineClosedError
from llama_gui.vocabulary import STARTER, is_remote

if TYPE_CHECKING:
    from llama_gui.server.serve import ApiServer


HERE = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
"""Not IPv6, whose addresses can be reached from the whole internet, not only from the home network."""


class HostModels:
    """The models of an `EngineHost` for the server's own threads: a copy of the list of those in memory."""

    def __init__(self) -> None:
        self._engines: dict[str, Any] = {}

    def show(self, engines: Mapping[str, Any]) -> None:
        """Have these engines, by their names."""
        self._engines = dict(engines)  # one assignment, so that no thread sees half of it

    def names(self) -> Sequence[str]:
        """All of them, the one that was used last first."""
        return tuple(self._engines)

    def engine(self, name: str) -> Any:
        """The engine of a model.

        Raises:
            EngineClosedError: it was unloaded since somebody asked for the names.
        """
        engine = self._engines.get(name)
        if engine is None:
            raise EngineClosedError(f"The model {name} was unloaded.")
        return engine

    def loaded(self) -> Mapping[str, Any]:
        """All engines."""
        return dict(self._engines)


class ServerHost(QObject):
    """Starts and stops the server off the window's thread. It answers with the engines of the tabs, in their batches.

    Models of remote servers are not passed on: their keys are the user's.
    """

    started = Signal(str, bool)
    """Its address for clients, and whether other machines can reach it."""
    stopped = Signal()
    failed = Signal(str)
    """It could not be started, and why."""

    def __init__(self, host: EngineHost, key_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._key_file = key_file
        self._models = HostModels()
        self._server: ApiServer | None = None
        self._lane: TaskLane | None = None
        self._port = 0
        self.url = ""
        """Where programs on this machine find it; "" while it does not serve."""
        self.is_for_others = False
        """Whether other machines can reach it while it serves."""
        self.key = ""
        """What every request must bring; known from the first start on."""
        host.models.changed.connect(self._show_models)

    @Slot()
    def _show_models(self) -> None:
        """The one that was used last is first, for requests that name none; those that write nothing are last."""
        engines: dict[str, Any] = {}
        for key in sorted(self._host.models.loaded_keys(), key=self._embeds):
            engine = self._host.models.engine_of(key)
            if engine is not None and not is_remote(key):
                name = STARTER if key == STARTER else engine.info.name
                while name in engines:  # two folders of the same name
                    name += "-2"
                engines[name] = engine
        self._models.show(engines)

    def _embeds(self, key: str) -> bool:
        info = self._host.info_of(key)
        return info is not None and info.embeds

    def start(self, port: int, *, for_network: bool = False) -> None:
        """Serve on this machine's own address; `for_network`: on those in its networks, too. `started` or `failed`
        tells.
        """
        self._show_models()
        self._port = port
        self._run(lambda: self._start(port, EVERYWHERE if for_network else HERE), self._on_started)

    def urls_for_others(self) -> tuple[str, ...]:
        """Where other machines find it just now, the likeliest first; none while it is not for them."""
        server = self._server
        return server.urls_for_others if server is not None and self.url else ()

    def stop(self) -> None:
        """End all streams and close. `stopped` tells."""
        self._run(self._stop, self._on_stopped)

    def shutdown(self) -> bool:
        """Stop, and end the threads, before the engines go. May be called twice."""
        if self._lane is None:
            return True
        if not self._lane.closed:
            self._lane.run(self._stop)
        return self._lane.close(5.0)

    def _run(self, work: Any, done: Any) -> None:
        if self._lane is None:
            self._lane = TaskLane("server-switch", self)
        if not self._lane.closed:
            self._lane.run(work, done, self._on_failed)

    # --- on the lane's thread

    def _start(self, port: int, address: str) -> tuple[str, str, bool]:
        from llama_gui.server.api_key import load_or_make_key
        from llama_gui.server.serve import ApiServer, ServerOptions

        self._stop()
        key, _is_new = load_or_make_key(self._key_file)
        server = ApiServer(self._models, ServerOptions(key=key, host=address, port=port))
        server.start()
        self._server = server
        return server.url, key, server.is_for_others

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    # --- on the window's thread

    @Slot(object)
    def _on_started(self, answer: tuple[str, str, bool]) -> None:
        self.url, self.key, self.is_for_others = answer
        self._host.expect_guests(True)
        self.started.emit(self.url, self.is_for_others)

    @Slot(object)
    def _on_stopped(self, _answer: object) -> None:
        self.url = ""
        self._host.expect_guests(False)
        self.stopped.emit()

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.url = ""
        self._host.expect_guests(False)
        self.failed.emit(self._words(error))

    def _words(self, error: Exception) -> str:
        """Why it could not be started, in the window's words: the server's own name command-line options."""
        number = error.__cause__.errno if isinstance(error.__cause__, OSError) else None
        if number == errno.EADDRINUSE:
            return self.tr("Another program uses port {} already. Enter another number.").format(self._port)
        if number in (errno.EACCES, errno.EPERM):
            return self.tr("Port {} needs an administrator. Enter a number above 1023.").format(self._port)
        return str(error)
