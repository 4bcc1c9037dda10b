"""What has the keyboard, and what had it before something took it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid


def has_keyboard(widget: QWidget) -> bool:
    """Whether something in this widget has the keyboard."""
    focused = QApplication.focusWidget()
    return focused is not None and widget.isAncestorOf(focused)


class FormerFocus:
    """Gives the keyboard back; its tab, or the menu that it was, may be gone meanwhile."""

    def __init__(self, widget: QWidget | None) -> None:
        self._widget = widget

    def give_back(self, otherwise: QWidget | None = None) -> None:
        """To who had it, or else to this."""
        widget = self._widget if self._widget is not None and isValid(self._widget) else otherwise
        if widget is not None:
            widget.setFocus(Qt.FocusReason.OtherFocusReason)
