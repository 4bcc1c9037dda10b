"""One line at the foot of the side bar while something downloads; a click opens the window of models."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.bridge.download_host import DownloadHost
from llama_gui.ui.models.thin_bar import ThinBar
from llama_gui.ui.models.words import percent, speed_words
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import RADIUS, TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import paint_focus, plain_tip

if TYPE_CHECKING:
    from llama_gui.library.download_queue import QueuedDownload, QueueTotals

_HEIGHT = 40


class DownloadLine(QAbstractButton):
    """Hidden when there is nothing to fetch."""

    def __init__(self, downloads: DownloadHost, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self._words = ""
        self.bar = ThinBar(3)
        self.bar.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 0, 10, 7)
        layout.addStretch(1)
        layout.addWidget(self.bar)
        self.setFont(frame_font(TINY_PX))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()
        downloads.totals_changed.connect(self._show)

    def text(self) -> str:
        """What it says."""
        return self._words

    @Slot(object)
    def _show(self, totals: "QueueTotals") -> None:
        stopped = [item for item in self._downloads.items if item.state == "failed"]
        self.setVisible(totals.count > 0 or bool(stopped))
        self._words = self._stopped_words(stopped) if totals.count == 0 else self._moving_words(totals)
        self.bar.set_part(totals.bytes_done / max(totals.bytes_total, 1))
        self.bar.setVisible(totals.count > 0)
        self.setAccessibleName(self._words)
        self.setToolTip(plain_tip(self.tr("Show the downloads")))
        self.update()

    def _stopped_words(self, stopped: "list[QueuedDownload]") -> str:
        return self.tr("A download has stopped") if stopped else ""

    def _moving_words(self, totals: "QueueTotals") -> str:
        far = percent(totals.bytes_done, totals.bytes_total)
        words = self.tr("Downloading, {} %").format(far)
        if totals.count > 1:
            words = self.tr("Downloading {} models, {} %").format(totals.count, far)
        return f"{words} · {speed_words(totals.bytes_per_second)}" if totals.bytes_per_second else words

    def sizeHint(self) -> QSize:
        return QSize(160, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(self.rect(), RADIUS - 2, RADIUS - 2)
        if self.hasFocus():
            paint_focus(painter, self.rect().toRectF(), theme.color("accent"))
        painter.setPen(theme.color("muted"))
        room = self.rect().adjusted(10, 6, -10, -14 if not self.bar.isHidden() else -6)
        words = QFontMetrics(self.font()).elidedText(self._words, Qt.TextElideMode.ElideRight, room.width())
        draw_words(painter, room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, words)
