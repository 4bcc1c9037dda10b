"""What QTest's mouse leaves out."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

_NO_KEY = Qt.KeyboardModifier.NoModifier


class _Elsewhere(QWidget):
    """Takes a release; most widgets leave it to others, and QTest warns of that."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()


def double_click(
    widget: QWidget,
    button: Qt.MouseButton = Qt.MouseButton.LeftButton,
    keys: Qt.KeyboardModifier = _NO_KEY,
    place: QPoint | None = None,
) -> None:
    """A double click after which Qt knows that no button is pressed: `QTest.mouseDClick` does not let go.

    Later moves of the mouse would be drags, for all the tests in this process.
    """
    QTest.mouseDClick(widget, button, keys, place or widget.rect().center())
    QTest.mouseRelease(_Elsewhere(), button)  # the double click may have deleted `widget`
