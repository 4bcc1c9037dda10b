"""The window and everything behind it: built, wired, run, and taken down in order."""

import ctypes
import faulthandler
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from llama_gui.library import shelf
from llama_gui.library.access import HubAccess
from llama_gui.library.gguf_check import check_gguf
from llama_gui.library.neighbours import neighbours
from llama_gui.library.shelf_notes import load_notes, names_in
from llama_gui.menu_entry import WINDOW_NAME
from llama_gui.paths import Paths
from llama_gui.plain_imports import import_plainly

if TYPE_CHECKING:
    from PySide6.QtCore import QLockFile
    from PySide6.QtWidgets import QApplication

    from llama_gui.bridge.chat_book import ChatBook
    from llama_gui.bridge.engine_host import EngineHost
    from llama_gui.bridge.engine_thread import LoadEngine
    from llama_gui.server.endpoint import Endpoint
    from llama_gui.settings import UserSettings
    from llama_gui.ui import MainWindow
    from llama_gui.ui.first_window import FirstWindow
    from llama_gui.vocabulary import ModelEntry

_OTHER_PLATFORMS = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
_WITHOUT = 'to chat in the terminal: llama-gui ask "What can you do?"; to serve other programs: llama-gui serve'


def reason_for_no_window() -> str:
    """Why no window can be opened here, in one sentence; "" when it can. Asked first, because Qt would abort."""
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if not sys.platform.startswith("linux") or platform.startswith(_OTHER_PLATFORMS):
        return ""
    if not any(map(_can_open, platform.split(";") if platform else ("wayland", "xcb"))):
        return f"there is no display to open the window on; {_WITHOUT}"
    on_x11 = platform.startswith("xcb") or not os.environ.get("WAYLAND_DISPLAY")
    if on_x11 and not _loads("libxcb-cursor.so.0"):
        return f"the window needs a system library; install it with: sudo apt install libxcb-cursor0; {_WITHOUT}"
    return ""


def _loads(library: str) -> bool:
    """Whether Qt will find a library of the system, or of the bundle that we are in."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _can_open(platform: str) -> bool:
    """Whether Qt's platform of this name has its display. Of one that we do not know, Qt knows more."""
    if platform.startswith("wayland"):
        return _reaches_wayland()
    return _reaches_x11() if platform.startswith("xcb") else True


def _reaches_wayland() -> bool:
    name, folder = os.environ.get("WAYLAND_DISPLAY", ""), os.environ.get("XDG_RUNTIME_DIR", "")
    if os.environ.get("WAYLAND_SOCKET"):  # it is open already
        return True
    if not name:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(Path(folder, name)))
        except OSError:
            return False
    return True


def _reaches_x11() -> bool:
    """Connects as Qt will: a variable that names a display may have outlived it, or come without its key."""
    if not os.environ.get("DISPLAY"):
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    has_error = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not has_error


def open_window(paths: Paths) -> int:
    """Open the window, and return its exit status when it is closed."""
    why_not = _make_folder(paths)
    if why_not and sys.stderr is not None:
        print(f"llama-gui: {why_not}", file=sys.stderr)
        return 1
    # Here, so that `ask` runs without Qt.
    import_plainly()
    from PySide6.QtCore import QLockFile
    from PySide6.QtWidgets import QApplication

    application = QApplication(sys.argv[:1])
    application.setApplicationName("llama-gui")
    application.setDesktopFileName(WINDOW_NAME)
    if why_not:
        return _fail(application, paths, why_not)
    lock = QLockFile(str(paths.data / "llama-gui.lock"))
    if not lock.tryLock(200):
        text = _reason_for_no_lock(lock, paths)
        return _fail(application, paths, text) if text else 0
    _keep_log(paths)
    try:
        return _run(application, paths)
    finally:
        lock.unlock()


def _make_folder(paths: Paths) -> str:
    """Make the folder of the data; why that cannot be, "" when it is there."""
    try:
        paths.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"the folder {paths.data} cannot be made: {error.strerror}."
    return ""


def _fail(application: "QApplication", paths: Paths, text: str) -> int:
    """Say why there is no window, in the terminal and in a box: who clicked twice has no terminal."""
    from PySide6.QtWidgets import QMessageBox

    from llama_gui.ui.language import install_language
    from llama_gui.ui.markdown.breaks import breakable
    from llama_gui.ui.problem_words import problem_text

    print(f"llama-gui: {text}", file=sys.stderr)
    settings, _ = _settings(paths)
    install_language(application, paths.resources, settings.language, settings.layout_direction)
    # Names of folders are no longer than a line of the box, or wrap in it.
    QMessageBox.information(None, "llama-gui", breakable(problem_text(text), 64))  # type: ignore[arg-type]
    return 1


def _reason_for_no_lock(lock: "QLockFile", paths: Paths) -> str:
    """Why the data cannot be had; "": the window that has it comes to the front."""
    from PySide6.QtCore import QLockFile

    from llama_gui.ui.first_window import call_first_window

    is_taken = lock.error() == QLockFile.LockError.LockFailedError
    if is_taken and call_first_window(paths.data):
        return ""
    # A lock that a killed one has left cannot be taken away where nothing can be written.
    if not is_taken or not _can_write(paths.data):
        return (
            f"The folder {paths.data} cannot be written, and your chats are kept there. Allow it to be written, free "
            "some space, or keep them elsewhere: llama-gui --profile FOLDER."
        )
    return f"llama-gui is already open with the data in {paths.data}. Use that window, or close it first."


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(4096))
    except OSError:
        return False
    return True


def _run(application: "QApplication", paths: Paths) -> int:
    from llama_gui.bridge.gc_timer import GarbageCollector

    collector = GarbageCollector()  # first: what is imported now is no garbage either
    from llama_gui.bridge.faults import Faults
    from llama_gui.bridge.terminal_signals import TerminalSignals
    from llama_gui.ui import apply_theme
    from llama_gui.ui.language import install_language

    settings, notice = _settings(paths)
    install_language(application, paths.resources, settings.language, settings.layout_direction)
    apply_theme(application, settings.color_scheme)
    faults = Faults()
    window, book, host = _built(paths, settings)
    faults.happened.connect(window.tell)
    book.chat_closed.connect(collector.collect_soon)
    host.models.ended.connect(collector.collect_all_soon)
    signals = TerminalSignals(window.close)
    window.show()
    window.start()
    if notice:
        window.tell(notice)
    first = _first_window(paths, window)
    status = application.exec()
    # All of them, whatever the first says; the chats last, because they end the engines that the server asks.
    ended = all([window.connections.shutdown(), window.library.shutdown(), book.shutdown()])
    first.close()
    signals.close()
    collector.stop()
    faults.close()
    if not ended:
        # A model is still being read from disk. Everything is saved; only the process is left to end.
        logging.shutdown()
        os._exit(status)
    return status


def _first_window(paths: Paths, window: "MainWindow") -> "FirstWindow":
    from llama_gui.ui.first_window import FirstWindow  # here: the window shows sooner

    first = FirstWindow(paths.data, window)
    first.called.connect(window.come_to_front)
    return first


def _built(paths: Paths, settings: "UserSettings") -> "tuple[MainWindow, ChatBook, EngineHost]":
    """The window, and of what is behind it the parts that are taken down with it or listened to."""
    from llama_gui.bridge.chat_book import ChatBook
    from llama_gui.bridge.endpoint_desk import EndpointDesk
    from llama_gui.bridge.engine_host import EngineHost
    from llama_gui.bridge.model_desk import ModelDesk
    from llama_gui.bridge.server_host import ServerHost
    from llama_gui.bridge.store_lane import StoreLane
    from llama_gui.settings import save_settings
    from llama_gui.ui import MainWindow

    endpoints = EndpointDesk(paths.endpoints_file)
    loader = engine_loader(
        paths.starter_model,
        settings,
        lambda: names_in(load_notes(paths.shelf_file)),
        endpoints.endpoint,
        paths.kernel_notes,
        paths.prompt_cache,
    )
    host = EngineHost(loader)
    book = ChatBook(StoreLane(paths.chats_file), host, tools_file=paths.tools_file, prompt_cache=paths.prompt_cache)
    desk = ModelDesk(paths, settings)
    window = MainWindow(
        book,
        host,
        settings,
        lambda changed: save_settings(paths.settings_file, changed),
        lambda opened: models_on_disk(paths, (*opened, *desk.added_folders), desk.shelf.checks.check_quickly),
        paths.resources,
        paths.data,
        ServerHost(host, paths.server_key_file),
        endpoints,
        desk,
    )
    return window, book, host


def _settings(paths: Paths) -> "tuple[UserSettings, str]":
    from llama_gui.errors import SettingsError
    from llama_gui.settings import UserSettings, load_settings

    try:
        return load_settings(paths.settings_file)
    except SettingsError as error:
        return UserSettings(), str(error)


def models_on_disk(paths: Paths, opened: Sequence[str], check: shelf.CheckGguf = check_gguf) -> "list[ModelEntry]":
    """Every model that the window offers.

    Those of our own folder, of the cache that hub tools share, what the user opened, and what other programs keep here.
    `check`: see `shelf.scan`.
    """
    places = [paths.models, HubAccess.from_environment().cache, *map(Path, opened)]
    others = [neighbour.folder for neighbour in neighbours()]
    return shelf.scan(places, paths.starter_model, names_in(load_notes(paths.shelf_file)), others, check)


def engine_loader(
    starter: Path,
    settings: "UserSettings",
    names: Callable[[], Mapping[str, str]] = dict,
    endpoint_of: "Callable[[str], Endpoint] | None" = None,
    kernel_notes: Path | None = None,
    prompt_cache: Path | None = None,
) -> "LoadEngine":
    """How the window loads a model: as the user has set it, and under the name that the user sees.

    `names`: what the user calls models, by their real paths. `endpoint_of`: a remote server by its name.
    `kernel_notes`, `prompt_cache`: see `Engine.load`.
    """
    from llama_gui.bridge.model_loader import ModelLoader

    return ModelLoader(
        starter,
        lambda path: shelf.name_of(path, starter, names()),
        strategy=settings.strategy,
        threads=settings.threads,
        kernel_notes=kernel_notes,
        prompt_cache=prompt_cache,
        prompt_cache_bytes=settings.prompt_cache_gb * 10**9,
        endpoint_of=endpoint_of,
    )


def _keep_log(paths: Paths) -> None:
    """A log of what goes wrong, for reports: at most two files of 500 kB. It holds no word of any chat."""
    file = paths.data / "llama-gui.log"
    try:
        handler = RotatingFileHandler(file, maxBytes=500_000, backupCount=1, encoding="utf-8")
    except OSError as error:
        if sys.stderr is not None:
            print("llama-gui: no log is kept", file, error.strerror, sep=": ", file=sys.stderr)
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
        logging.getLogger().addHandler(handler)
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is where there is no console
        faulthandler.enable()
