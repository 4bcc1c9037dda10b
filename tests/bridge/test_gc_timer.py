"""The garbage collector stays in the GUI thread."""

import gc
import threading
import weakref

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from llama_gui.bridge.gc_timer import GarbageCollector


def test_collects_here_only_and_gives_back_at_the_end(qtbot: QtBot):
    threads: set[int] = set()

    def note(phase: str, _info: dict[str, int]) -> None:
        threads.add(threading.get_ident())

    was_enabled = gc.isenabled()
    gc.callbacks.append(note)
    collector = GarbageCollector(interval_ms=1)
    try:
        assert not gc.isenabled()
        # What dies at once is no work for a collector; far more at a time is what an import brings, and is frozen.
        kept: list[list[int]] = []
        churn = threading.Thread(target=lambda: kept.extend([] for _ in range(20_000)))
        churn.start()
        qtbot.waitUntil(lambda: bool(threads))
        churn.join()
        assert threads == {threading.get_ident()}
    finally:
        collector.stop()
        gc.callbacks.remove(note)
        enabled_after = gc.isenabled()
        if not was_enabled:
            gc.disable()
    assert enabled_after


def test_a_window_at_rest_collects_nothing(qtbot: QtBot):
    phases: list[str] = []
    was_enabled = gc.isenabled()
    gc.collect()
    collector = GarbageCollector(interval_ms=1)
    gc.callbacks.append(lambda phase, _info: phases.append(phase))
    try:
        qtbot.wait(50)
        assert phases == []
    finally:
        gc.callbacks.pop()
        collector.stop()
        if not was_enabled:
            gc.disable()


def test_what_an_import_brings_is_not_looked_at_again(qtbot: QtBot):
    generations: list[int] = []
    was_enabled = gc.isenabled()
    gc.collect()
    frozen = gc.get_freeze_count()
    gc.callbacks.append(lambda phase, info: generations.append(info["generation"]))
    collector = GarbageCollector(interval_ms=1)
    try:
        brought = [[] for _ in range(200_000)]
        qtbot.waitUntil(lambda: gc.get_freeze_count() >= frozen + len(brought))
        assert 2 not in generations
    finally:
        gc.callbacks.pop()
        collector.stop()
        if not was_enabled:
            gc.disable()


class Cycle:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


def test_frozen_garbage_goes_when_a_model_was_unloaded_and_when_the_user_is_elsewhere_after_chats_were_closed(
    qtbot: QtBot, qapp: QGuiApplication
):
    was_enabled = gc.isenabled()
    gc.collect()
    collector = GarbageCollector(interval_ms=20)
    elsewhere = qapp.applicationStateChanged.emit
    try:
        for tell in (collector.collect_all_soon, lambda: elsewhere(Qt.ApplicationState.ApplicationInactive)):
            left = weakref.ref(Cycle())
            gc.freeze()
            assert left() is not None
            elsewhere(Qt.ApplicationState.ApplicationInactive)  # nobody has closed anything
            qtbot.wait(50)
            assert left() is not None
            collector.collect_soon()
            qtbot.wait(50)
            assert left() is not None, "it would stop the window while the user types"
            elsewhere(Qt.ApplicationState.ApplicationActive)
            tell()
            qtbot.waitUntil(lambda found=left: found() is None)
    finally:
        collector.stop()
        if not was_enabled:
            gc.disable()


def test_all_is_collected_soon_after_a_chat_was_closed(qtbot: QtBot):
    generations: list[int] = []
    was_enabled = gc.isenabled()
    collector = GarbageCollector(interval_ms=20)
    gc.callbacks.append(lambda phase, info: generations.append(info["generation"]))
    try:
        collector.collect_soon()
        qtbot.waitUntil(lambda: 2 in generations)
    finally:
        gc.callbacks.pop()
        collector.stop()
        if not was_enabled:
            gc.disable()
