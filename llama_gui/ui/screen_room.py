"""How large a window may be on its screen."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

_TITLE_BAR = 40  # about; its height is known only once the window is shown


def fitted(size: QSize, window: QWidget) -> QSize:
    """The size, or as much of it as the screen of this window has room for."""
    return size.boundedTo(window.screen().availableSize() - QSize(0, _TITLE_BAR))
