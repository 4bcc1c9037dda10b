"""The button beside that for thinking: which tools the model of a chat may ask for."""

from PySide6.QtWidgets import QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.lit_button import LitButton
from llama_gui.ui.widgets import plain_tip


class ToolsButton(LitButton):
    """Lit while tools are on; a warning where one of their servers has failed; hidden until there is one at all."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(icons, "tools", height=28)
        self.setParent(parent)
        self._has_room = False
        self._words = ""
        self._is_on = False
        self._has_failed = False
        self.hide()

    def show_word(self, has_room: bool) -> None:
        """Stand as the icon alone where it is narrow."""
        self._has_room = has_room
        self.setText(self._words if has_room else "")
        self.updateGeometry()

    def say(self, words: str, tip: str, *, is_on: bool, has_failed: bool) -> None:
        """`words`: beside the icon; `tip`: all of it, to the mouse and to screen readers."""
        self._words, self._is_on, self._has_failed = words, is_on, has_failed and is_on
        self.set_icon_name("alert" if self._has_failed else "tools")
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(tip)
        self.show_word(self._has_room)
        self.update()

    def is_lit(self) -> bool:
        return self._is_on

    def _ink(self) -> str:
        return "error" if self._has_failed else super()._ink()
