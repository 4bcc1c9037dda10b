"""For every test: no display, no network, no home folder; and what a test leaves behind fails it."""

import glob
import os
import sys

# Before anything imports Qt, tokenizers or the hub's client, which read these once.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
if sys.platform == "win32" and glob.glob(r"Fonts\*.ttf", root_dir=os.environ["SYSTEMROOT"]):
    # Without a screen Qt looks for fonts beside itself.
    os.environ.setdefault("QT_QPA_FONTDIR", os.path.join(os.environ["SYSTEMROOT"], "Fonts"))
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
# The application lets torch's threads spin a little while they wait for each other, see llama_gui/__main__.py. Here
# several processes share the cores, and one that spins only keeps the one it waits for off them.
os.environ["GOMP_SPINCOUNT"] = "0"
# Bytecode is kept as on anybody's machine: each of a hundred child processes would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import gc
import random
import signal
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThread, QTimer
from PySide6.QtGui import QGuiApplication
from shiboken6 import isValid

from llama_gui.paths import Paths
from llama_gui.plain_imports import import_plainly

import_plainly()  # as in the application: here, too, 0.8 s and 40 MB with torch, and more with transformers

_GRACE_S = 10.0
_FOREIGN_THREADS = {"tqdm_monitor"}  # transformers shows bars while it loads; their thread stays for good
_FDS = "/proc/self/fd"
_IN_MEMORY = "/dev/shm"
_ENOUGH_MEMORY = 8 * 2**30


def pytest_configure() -> None:
    """What the tests write need not outlast a power cut: it lies in memory, where there is plenty.

    On a disk each chat store waits when it opens and when it closes, a tenth of a second where others write, too.
    pyproject.toml sees to it that nothing is kept but what failed.
    """
    if os.access(_IN_MEMORY, os.W_OK):
        room = min(psutil.disk_usage(_IN_MEMORY).free, psutil.virtual_memory().available)
        if room > _ENOUGH_MEMORY:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _IN_MEMORY)
    # So is that of the tests, whose assertions pytest writes anew: that takes each of its processes 20 seconds.
    sys.dont_write_bytecode = False


@pytest.hookimpl(tryfirst=True)  # before `-m` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is `sampled`, all but so many of its variants are for the campaign: always the same ones.

    They are drawn, as every so-many-th might have the same value of one parameter.
    """
    variants: defaultdict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and item.get_closest_marker("campaign") is None:
            variants[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    for (name, count), found in variants.items():
        left = random.Random(name).sample(found, max(len(found) - count, 0))
        for item in left:
            item.add_marker(pytest.mark.campaign)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What all tests stand on is there for good: nobody looks through it for garbage, now or later.

    A full collection would take a tenth of a second and more with it, and some tests need hundreds.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="module")
def _what_a_file_leaves_stays() -> Iterator[None]:
    """So it is with what tests have imported and kept: nobody looks through it in the files that follow."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _homeless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The folders of whoever runs the tests are neither read nor written."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        yield


@pytest.fixture(scope="session")
def kernel_notes(_homeless: None) -> Path:
    """What the tests found out about this machine's kernels, where the command line keeps it, too.

    To try them for each engine anew takes five times as long as to load a tiny model.
    """
    return Paths.default().kernel_notes


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """Programs that the test starts end with SIGINT, as those that somebody starts from a terminal.

    A shell without job control lets what it starts with "&" ignore that signal, and whatever is started from there
    inherits it: Python sees that and leaves it so.
    """
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.fixture(autouse=True, scope="session")
def _qt_objects() -> Iterator["weakref.WeakSet[QObject]"]:
    """Every QThread and QTimer made from Python, while it lives."""
    made: weakref.WeakSet[QObject] = weakref.WeakSet()

    def noting(init: Callable[..., None]) -> Callable[..., None]:
        def init_and_note(self: QObject, *args: object, **kwargs: object) -> None:
            init(self, *args, **kwargs)
            made.add(self)

        return init_and_note

    with pytest.MonkeyPatch.context() as patch:
        for kind in (QThread, QTimer):
            patch.setattr(kind, "__init__", noting(kind.__init__))
        yield made


@pytest.fixture(autouse=True)
def _collects_here_only(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test with Qt collects garbage in this thread, as `gc_timer.py` sees to in the application.

    Else the collector runs in whichever thread happens to allocate: the store's lane took the hosts and books of
    earlier tests apart, with their timers and lanes, which crashes or hangs once in many runs.
    """
    if not {"qapp", "qtbot"} & set(request.fixturenames):
        yield
        return
    gc.disable()
    yield
    # pytest-qt deletes its widgets later, which no loop does here: thousands of them made each test after it slow.
    _let_qt_end()
    gc.collect(1)  # not all: what this test has made is young, because nothing was collected meanwhile
    gc.enable()


@pytest.fixture(autouse=True)
def _leaves_nothing_behind(_collects_here_only: None, _qt_objects: "weakref.WeakSet[QObject]") -> Iterator[None]:
    """No thread, no running timer, no open socket, no pressed button of the mouse is left when a test ends."""
    threads, sockets, pressed = set(threading.enumerate()), _open_sockets(), QGuiApplication.mouseButtons()
    yield
    if held := QGuiApplication.mouseButtons() & ~pressed:
        pytest.fail(f"The test left behind: {held}; later, no move of the mouse would be one without a button")
    deadline = time.monotonic() + _GRACE_S
    while left := _left_behind(_qt_objects, threads, sockets):
        if time.monotonic() > deadline:
            pytest.fail(f"The test left behind: {', '.join(left)}")
        _let_qt_end()
        gc.collect()
        time.sleep(0.01)


def _left_behind(made: "weakref.WeakSet[QObject]", threads: set[threading.Thread], sockets: set[str]) -> list[str]:
    left = [
        thread.name
        for thread in threading.enumerate()
        # A _DummyThread is Python's note about a thread of Qt's, which is looked at below.
        if thread not in threads and thread.is_alive() and not isinstance(thread, threading._DummyThread)
        if thread.name not in _FOREIGN_THREADS
    ]
    for item in list(made):
        if not isValid(item):
            continue
        if (isinstance(item, QThread) and item.isRunning()) or (isinstance(item, QTimer) and item.isActive()):
            left.append(f"{item!r} of {item.parent()!r}")
    return left + sorted(_open_sockets() - sockets)


def _let_qt_end() -> None:
    if QCoreApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()


def _open_sockets() -> set[str]:
    """The sockets of this process; nothing where the system does not tell."""
    if not os.path.isdir(_FDS):
        return set()
    return {target for target in map(_target, os.listdir(_FDS)) if target.startswith("socket:")}


def _target(fd: str) -> str:
    try:
        return os.readlink(f"{_FDS}/{fd}")
    except OSError:  # closed since, like the one that lists the folder
        return ""


@pytest.fixture
def in_german(qapp) -> Iterator[None]:
    """The window's words in German, for one test."""
    from PySide6.QtCore import QLocale, QTranslator

    from llama_gui.ui.language import install_language
    from llama_gui.ui.problem_words import use_problems

    former = QLocale()
    assert install_language(qapp, Path(__file__).parents[1] / "resources", "de", "language") == "de"
    yield
    use_problems(None)
    QLocale.setDefault(former)
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
