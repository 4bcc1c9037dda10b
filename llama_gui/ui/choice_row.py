"""One parameter of the settings panel that has a few named values."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.icons import Icons
from llama_gui.ui.parameter_table import ChoiceSpec
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, frame_font
from llama_gui.ui.widgets import Button, plain_label, plain_tip


class ChoiceRow(QWidget):
    """The first value is the default; choosing it is the same as resetting."""

    changed = Signal(str, object)
    """The name and the value, or None for the default."""

    def __init__(self, spec: ChoiceSpec, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self._value: str | None = None
        self.label = plain_label(spec.name_text, "text", FRAME_PX)
        self.box = ChoiceBox(icons)
        self.box.setFont(frame_font(SMALL_PX))
        self.box.setAccessibleName(spec.name_text)
        self.box.setAccessibleDescription(spec.tip_text)
        for number, (value, text) in enumerate(spec.texts()):
            self.box.addItem(text if number else self.tr("{} · Default").format(text), value)
        self.label.setBuddy(self.box)
        self.reset_button = Button(icons, "reset", height=22)
        self.reset_button.setAccessibleName(self.tr("Reset {} to the default").format(spec.name_text))
        self.reset_button.setToolTip(plain_tip(self.tr("Back to the default")))
        head = QHBoxLayout()
        head.setSpacing(2)
        head.addStrut(self.reset_button.sizeHint().height())
        head.addWidget(self.label)
        head.addWidget(self.reset_button)
        head.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.box)
        self.box.activated.connect(self._take)
        self.reset_button.clicked.connect(self.reset)
        self._show()

    @property
    def field(self) -> QWidget:
        """Where the value is chosen."""
        return self.box

    def value(self) -> str | None:
        """The user's choice, or None."""
        return self._value

    def set_value(self, value: str | None) -> None:
        """Show a chat's choice; None is the default."""
        self._value = value if self.box.findData(value) > 0 else None
        self._show()

    @Slot()
    def reset(self) -> None:
        """Back to the default."""
        self._change(None)

    @Slot(int)
    def _take(self, index: int) -> None:
        self._change(self.box.itemData(index) if index > 0 else None)

    def _change(self, value: str | None) -> None:
        if value != self._value:
            self._value = value
            self.changed.emit(self.spec.name, value)
        self._show()

    def _show(self) -> None:
        self.box.setCurrentIndex(max(0, self.box.findData(self._value)))
        self.label.set_role("text" if self._value is None else "accent")
        self.reset_button.setVisible(self._value is not None)
