"""A button of the composer that is lit while what it stands for is on."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from llama_gui.ui.theme import RADIUS, theme_of
from llama_gui.ui.widgets import Button


class LitButton(Button):
    """In the accent while it is checked."""

    def is_lit(self) -> bool:
        """Whether what it stands for is on."""
        return self.isChecked()

    def _ink(self) -> str:
        return "accent" if self.is_lit() else super()._ink()

    def _paint_ground(self, painter: QPainter) -> None:
        if self.is_lit():
            painter.setPen(theme_of(self).color("selected_row"))
            painter.setBrush(theme_of(self).color("selected_row"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS - 2, RADIUS - 2)
        super()._paint_ground(painter)
