"""The garbage collector stays in the GUI thread."""

import gc
import threading

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
        kept: list[list[int]] = []  # what dies at once is no work for a collector
        churn = threading.Thread(target=lambda: kept.extend([] for _ in range(100_000)))
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
