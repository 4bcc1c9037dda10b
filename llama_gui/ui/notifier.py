"""Tells through the desktop that a long answer has ended while the window was behind others."""

import sys

from PySide6.QtCore import QObject, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

LONG_S = 8.0
"""Seconds from the question to the end of the answer, from which on somebody has turned to other things."""
_PORTAL = "org.freedesktop.portal.Desktop"


class Notifier(QObject):
    """Says a sentence where the desktop shows such things, and marks the window in its list of tasks.

    On Linux the sentence goes to the desktop's portal (https://flatpak.github.io/xdg-desktop-portal: Notification,
    plain text), which needs no tray icon; elsewhere, and where there is no portal, to the tray.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        self._said = ("", "")

    @Slot(str, str)
    def tell(self, title: str, text: str) -> None:
        """Say it, unless the window is in front."""
        if self._window.isActiveWindow():
            return
        self._said = title, text
        QApplication.alert(self._window)
        if sys.platform.startswith("linux") and QDBusConnection.sessionBus().isConnected():
            self._ask_portal(title, text)
        else:
            self._tell_tray()

    def _ask_portal(self, title: str, text: str) -> None:
        message = QDBusMessage.createMethodCall(
            _PORTAL, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification", "AddNotification"
        )
        message.setArguments(["answer", {"title": title, "body": text, "priority": "normal"}])
        watcher = QDBusPendingCallWatcher(QDBusConnection.sessionBus().asyncCall(message), self)
        watcher.finished.connect(self._on_portal_answered)

    @Slot(QDBusPendingCallWatcher)
    def _on_portal_answered(self, watcher: QDBusPendingCallWatcher) -> None:
        if watcher.isError():  # there is no portal
            self._tell_tray()
        watcher.deleteLater()

    def _tell_tray(self) -> None:
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            self._tray.messageClicked.connect(self._show_window)
        self._tray.show()
        self._tray.showMessage(*self._said)

    @Slot()
    def _show_window(self) -> None:
        self._window.raise_()
        self._window.activateWindow()
        if self._tray is not None:
            self._tray.hide()
