"""The whole window over a scripted engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.settings import UserSettings
from llama_gui.ui import MainWindow, apply_theme
from llama_gui.vocabulary import ModelEntry
from tests.fakes.scripted_engine import ScriptedEngine, loader

RESOURCES = Path(__file__).parents[2] / "resources"
ENTRIES = [ModelEntry("Scripted", "/models/Scripted", 14_000_000, is_starter=True)]

OpenWindow = Callable[..., MainWindow]


@pytest.fixture
def open_window(qapp, qtbot: QtBot, tmp_path: Path) -> Iterator[OpenWindow]:
    windows: list[tuple[MainWindow, ChatBook, EngineHost]] = []

    def open_window(*engines: ScriptedEngine | Exception, settings: UserSettings | None = None) -> MainWindow:
        apply_theme(qapp, "light")
        host = EngineHost(loader(*engines))
        store = StoreLane(tmp_path / "chats.db")
        book = ChatBook(store, host)
        store.setParent(book)
        kept: list[UserSettings] = []
        window = MainWindow(book, host, settings or UserSettings(), kept.append, lambda _opened: ENTRIES, RESOURCES)
        host.setParent(window)
        book.setParent(window)
        window.kept_settings = kept  # pyright: ignore[reportAttributeAccessIssue]
        qtbot.addWidget(window)
        windows.append((window, book, host))
        window.resize(1280, 820)
        window.show()
        with qtbot.waitSignal(book.restored):
            window.start()
        qtbot.waitUntil(lambda: host.state in ("ready", "failed"))
        return window

    yield open_window
    for window, book, host in windows:
        window.close()
        assert book.shutdown()
        assert host.shutdown()
