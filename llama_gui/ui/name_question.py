"""A small dialog that asks what something shall be called."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QLayout, QLineEdit, QWidget


def ask_name(
    parent: QWidget,
    title: str,
    question: str,
    name: str,
    verb: str,
    then: Callable[[str], object],
    *,
    most: int | None = None,
) -> QInputDialog:
    """Ask, with `name` to begin with; `then` gets what was typed, of at most `most` characters.

    `verb` stands on the button that does it. The dialog does not block the window, and goes when it is answered.
    """
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setLabelText(question)
    dialog.setTextValue(name)
    dialog.setOkButtonText(verb)
    field = dialog.findChild(QLineEdit)
    if field is not None and most is not None:
        field.setMaxLength(most)
    layout = dialog.layout()
    if isinstance(layout, QLayout):  # the room of our other forms
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
    dialog.textValueSelected.connect(then)
    dialog.open()
    return dialog
