"""The way back to the end of a chat, over the text that was scrolled up."""

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.widgets import Button, plain_tip

_ABOVE_THE_END = 8


class JumpButton(Button):
    """Floats in the middle of the lower edge of `over`, a child of `parent`, as it is; hidden until it is needed."""

    def __init__(self, icons: Icons, over: QWidget, parent: QWidget) -> None:
        super().__init__(icons, "arrow-down", look="floating", height=32)
        self._over = over
        self.setParent(parent)
        self.setAccessibleName(self.tr("Jump to the end"))
        self.setToolTip(plain_tip(self.tr("Jump to the end")))
        self.hide()
        over.installEventFilter(self)

    @Slot(bool)
    def follow(self, is_at_end: bool) -> None:
        """Show it where the end is out of sight."""
        self.setVisible(not is_at_end)
        if not is_at_end:
            self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the place when what is below it moves."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return False

    def _place(self) -> None:
        size, below = self.sizeHint(), self._over.geometry()
        x = below.left() + (below.width() - size.width()) // 2
        self.setGeometry(x, below.bottom() - size.height() - _ABOVE_THE_END, size.width(), size.height())
        self.raise_()
