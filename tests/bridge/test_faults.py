"""Exceptions that nobody caught reach the log and the user; the hooks are given back."""

import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QTimer, qWarning

from llama_gui.bridge.faults import Faults


@pytest.fixture
def faults(qapp) -> Iterator[Faults]:
    hooks = sys.excepthook, threading.excepthook
    faults = Faults()
    yield faults
    faults.close()
    assert (sys.excepthook, threading.excepthook) == hooks


def test_an_exception_in_a_slot(faults: Faults, qtbot, caplog):
    def fail() -> None:
        raise ValueError("no such thing")

    parent = QObject()
    with qtbot.captureExceptions(), qtbot.waitSignal(faults.happened) as told:
        # pytest-qt has its own hook in front of ours while it captures, so ours is called as Qt would.
        QTimer.singleShot(0, parent, lambda: _call_with_hook(fail, faults))
    assert "ValueError: no such thing" in told.args[0]
    assert "Your chats are safe" in told.args[0]
    assert "Uncaught exception" in caplog.text
    assert "in fail" in caplog.text


def _call_with_hook(fail, faults: Faults) -> None:
    try:
        fail()
    except ValueError as error:
        faults._on_exception(type(error), error, error.__traceback__)


def test_an_exception_in_a_thread(faults: Faults, qtbot):
    def fail() -> None:
        raise RuntimeError("in a thread")

    # pytest replaces the hook for threads during each test; the thread under test must meet ours.
    threading.excepthook = faults._on_thread_exception
    with qtbot.waitSignal(faults.happened) as told:
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    assert "RuntimeError: in a thread" in told.args[0]


def test_ctrl_c_is_no_fault(faults: Faults, qtbot):
    with qtbot.assertNotEmitted(faults.happened):
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)


@pytest.mark.qt_log_ignore("a warning of Qt")
def test_qt_speaks_into_the_log(faults: Faults, caplog):
    with caplog.at_level(logging.WARNING):
        qWarning("a warning of Qt")
    assert [(record.name, record.getMessage()) for record in caplog.records] == [("llama_gui.qt", "a warning of Qt")]
