"""The button beside the folder's: whether the model thinks before it answers, or how much."""

from llama_gui.ui.icons import Icons
from llama_gui.ui.lit_button import LitButton
from llama_gui.ui.widgets import plain_tip


class ThinkButton(LitButton):
    """It stays pressed while the model thinks; where that cannot be chosen it is not there."""

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons, "think", height=28)
        self._effort = ""
        self._has_room = False
        self.setCheckable(True)
        self.setToolTip(
            plain_tip(self.tr("The model thinks before it answers: later, but better where a question is hard."))
        )
        self.setAccessibleName(self.tr("Think before the answer"))
        self.hide()

    def set_effort(self, name: str) -> None:
        """How much it thinks, where that was chosen; "": as it does by itself."""
        if name == self._effort:
            return
        self._effort = name
        self.setAccessibleDescription(name)
        self.show_word(self._has_room)

    def show_word(self, has_room: bool) -> None:
        """Stand as the icon alone where it is narrow."""
        self._has_room = has_room
        self.setText((self._effort or self.tr("Think")) if has_room else "")
        self.updateGeometry()
