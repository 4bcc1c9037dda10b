"""The whole window, over a scripted engine or over the real one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge import model_desk
from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.endpoint_desk import EndpointDesk
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import LoadEngine
from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.bridge.server_host import ServerHost
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.desktop import engine_loader
from llama_gui.library import shelf
from llama_gui.paths import Paths
from llama_gui.server.endpoint_book import EndpointBook
from llama_gui.settings import UserSettings
from llama_gui.ui import MainWindow, apply_theme
from llama_gui.vocabulary import ModelEntry
from tests.fakes.scripted_engine import ScriptedEngine, loader

RESOURCES = Path(__file__).parents[2] / "resources"
ENTRIES = [ModelEntry("Scripted", "/models/Scripted", 14_000_000, is_starter=True)]

OpenWindow = Callable[..., MainWindow]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the hub's tools read of the environment: no hub is there, and its cache is ours."""
    return {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hf")}


@pytest.fixture
def known_bandwidth(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of models does not wait for a measurement, which takes all cores, nor change with what it finds."""
    monkeypatch.setattr(model_desk, "steady_bandwidth", lambda _file: 3e10)


@pytest.fixture
def show_window(
    qapp, qtbot: QtBot, tmp_path: Path, environment: dict[str, str], known_bandwidth: None
) -> Iterator[OpenWindow]:
    """Opens the window as the application does; all windows of a test have the same chats."""
    windows: list[tuple[MainWindow, ChatBook, EngineHost]] = []

    def show_window(
        load_engine: LoadEngine, entries: list[ModelEntry], settings: UserSettings | None = None
    ) -> MainWindow:
        apply_theme(qapp, "light")
        host = EngineHost(load_engine)
        store = StoreLane(tmp_path / "chats.db")
        book = ChatBook(store, host)
        store.setParent(book)
        kept: list[UserSettings] = []
        server = ServerHost(host, tmp_path / "server-key")
        endpoints = EndpointDesk(tmp_path / "endpoints.json")
        desk = ModelDesk(
            Paths(tmp_path, tmp_path, tmp_path / "cache", RESOURCES),
            settings or UserSettings(),
            environment=environment,
            find_safe=lambda: None,
        )
        window = MainWindow(
            book,
            host,
            settings or UserSettings(),
            kept.append,
            lambda _opened: entries,
            RESOURCES,
            tmp_path,
            server,
            endpoints,
            desk,
        )
        desk.setParent(window)
        server.setParent(window)
        endpoints.setParent(window)
        host.setParent(window)
        book.setParent(window)
        window.kept_settings = kept  # pyright: ignore[reportAttributeAccessIssue]
        qtbot.addWidget(window)
        windows.append((window, book, host))
        window.resize(1280, 820)
        window.show()
        with qtbot.waitSignal(book.restored):
            window.start()
        qtbot.waitUntil(lambda: host.state in ("ready", "failed") or bool(host.models.loaded_keys()), timeout=60_000)
        return window

    yield show_window
    for window, book, host in windows:
        window.close()
        assert book.shutdown()
        assert host.shutdown()


@pytest.fixture
def open_window(show_window: OpenWindow) -> OpenWindow:
    """The window over scripted engines, one for each load."""

    def open_window(*engines: ScriptedEngine | Exception, settings: UserSettings | None = None) -> MainWindow:
        return show_window(loader(*engines), ENTRIES, settings)

    return open_window


@pytest.fixture
def open_starter(show_window: OpenWindow, tmp_path: Path, kernel_notes: Path) -> OpenWindow:
    """The window over the real engine and the model that comes with us."""

    def open_starter(settings: UserSettings | None = None) -> MainWindow:
        starter = RESOURCES / "starter_model"
        settings = settings or UserSettings()
        endpoints = EndpointBook(tmp_path / "endpoints.json")  # of the same file as the window's
        return show_window(
            engine_loader(starter, settings, endpoint_of=endpoints.endpoint, kernel_notes=kernel_notes),
            shelf.scan([], starter),
            settings,
        )

    return open_starter
