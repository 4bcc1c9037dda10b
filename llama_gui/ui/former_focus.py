"""What had the keyboard before something took it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class FormerFocus:
    """Gives the keyboard back; its tab, or the menu that it was, may be gone meanwhile."""

    def __init__(self, widget: QWidget | None) -> None:
        self._widget = widget

    def give_back(self, otherwise: QWidget | None = None) -> None:
        """To who had it, or else to this."""
        widget = self._widget if self._widget is not None and isValid(self._widget) else otherwise
        if widget is not None:
            widget.setFocus(Qt.FocusReason.OtherFocusReason)
