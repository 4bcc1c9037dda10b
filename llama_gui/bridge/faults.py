"""Exceptions that nobody caught, and Qt's own messages: into the log, and one sentence to the window."""

import logging
import sys
import threading
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}

_log = logging.getLogger("llama_gui.faults")
_qt_log = logging.getLogger("llama_gui.qt")


class Faults(QObject):
    """Takes over Python's hooks for uncaught exceptions, in slots and in threads, until `close`."""

    happened = Signal(str)
    """A sentence for the user; may be emitted in any thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._former = (sys.excepthook, threading.excepthook)
        self._former_handler = qInstallMessageHandler(_on_qt_message)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception

    def close(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook = self._former
        qInstallMessageHandler(self._former_handler)  # type: ignore[arg-type]

    def _on_exception(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        _log.error("Uncaught exception", exc_info=(kind, value, trace))
        told = self.tr("Something went wrong inside llama-gui ({}). Your chats are safe. Please report this.")
        self.happened.emit(told.format(f"{kind.__name__}: {value}"))

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._on_exception(args.exc_type, args.exc_value, args.exc_traceback)


def _on_qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    _qt_log.log(_LEVELS.get(kind, logging.WARNING), text)
