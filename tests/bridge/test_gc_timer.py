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
        churn = threading.Thread(target=lambda: [[] for _ in range(100_000)])
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
