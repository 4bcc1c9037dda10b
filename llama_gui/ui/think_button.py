"""The button beside the folder's: whether the model thinks before it answers."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import RADIUS, theme_of
from llama_gui.ui.widgets import Button, plain_tip


class ThinkButton(Button):
    """It stays pressed while the model thinks; where that cannot be chosen it is not there."""

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons, "think", height=28)
        self.setCheckable(True)
        self.setToolTip(
            plain_tip(self.tr("The model thinks before it answers: later, but better where a question is hard."))
        )
        self.setAccessibleName(self.tr("Think before the answer"))
        self.hide()

    def show_word(self, has_room: bool) -> None:
        """Stand as the icon alone where it is narrow."""
        self.setText(self.tr("Think") if has_room else "")
        self.updateGeometry()

    def _ink(self) -> str:
        return "accent" if self.isChecked() else super()._ink()

    def _paint_ground(self, painter: QPainter) -> None:
        if self.isChecked():
            painter.setPen(theme_of(self).color("selected_row"))
            painter.setBrush(theme_of(self).color("selected_row"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS - 2, RADIUS - 2)
        super()._paint_ground(painter)
