"""A thin line that fills."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from llama_gui.ui.theme import theme_of


class ThinBar(QWidget):
    """How far something is. `set_quiet` takes the accent away: nothing moves."""

    def __init__(self, height: int = 4) -> None:
        super().__init__()
        self._height = height
        self._part = 0.0
        self._is_quiet = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_part(self, part: float) -> None:
        """From 0 to 1."""
        part = min(1.0, max(0.0, part))
        if part != self._part:
            self._part = part
            self.update()

    def set_quiet(self, is_quiet: bool) -> None:
        """Whether it stands still."""
        if is_quiet != self._is_quiet:
            self._is_quiet = is_quiet
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(60, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        radius = self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line"))
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        width = self.width() * self._part
        if width > 0:
            painter.setBrush(theme.color("muted" if self._is_quiet else "accent"))
            x = self.width() - width if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else 0.0
            painter.drawRoundedRect(QRectF(x, 0, max(width, self.height()), self.height()), radius, radius)
