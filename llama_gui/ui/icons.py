"""Our own SVG icons, drawn in whatever colour the palette asks for."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer


class Icons:
    """The icons of one folder. Each is an SVG drawn with ``currentColor``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources: dict[str, str] = {}
        self._pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}

    def pixmap(self, name: str, color: QColor, size: int = 16, ratio: float = 1.0) -> QPixmap:
        """An icon of `size` logical pixels."""
        key = (name, color.name(), size, ratio)
        if key not in self._pixmaps:
            self._pixmaps[key] = self._render(*key)
        return self._pixmaps[key]

    def icon(self, name: str, color: QColor, size: int = 16) -> QIcon:
        """The same as a QIcon, sharp on a screen of double density too."""
        icon = QIcon()
        for ratio in (1.0, 2.0):
            icon.addPixmap(self.pixmap(name, color, size, ratio))
        return icon

    def _render(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        if name not in self._sources:
            self._sources[name] = (self._folder / f"{name}.svg").read_text("utf-8")
        source = self._sources[name].replace("currentColor", color)
        pixmap = QPixmap(round(size * ratio), round(size * ratio))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        return pixmap
