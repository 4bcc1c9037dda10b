"""One tool of a server: its name and how its description begins; unfolded, all of it."""

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import RADIUS, SMALL_PX, frame_font, theme_of
from llama_gui.ui.tools.arguments import visible
from llama_gui.ui.tools.words import title_of
from llama_gui.ui.widgets import paint_focus, plain_label
from llama_gui.vocabulary import ToolInfo

_HEIGHT, _ARROW, _GAP = 28, 20, 10


class _Headline(QAbstractButton):
    def __init__(self, tool: ToolInfo, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._begins = " ".join(tool.description[:400].split())
        self.setText(title_of(tool))
        self.setAccessibleName(f"{title_of(tool)}: {self._begins}")
        self.setCheckable(True)
        self.setFont(frame_font(SMALL_PX, QFont.Weight.Medium))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, mirrored = theme_of(self), self.isRightToLeft()
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(QRectF(self.rect()), RADIUS - 2, RADIUS - 2)
        if self.hasFocus():
            paint_focus(painter, QRectF(self.rect()), theme.color("accent"))
        self._paint_arrow(painter, mirrored=mirrored)
        left, right = (_GAP, _ARROW + 4) if mirrored else (_ARROW + 4, _GAP)
        room = self.rect().adjusted(left, 0, -right, 0)
        align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        name = QFontMetrics(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.setPen(theme.color("text"))
        draw_words(painter, room, align, name)
        taken = QFontMetrics(self.font()).horizontalAdvance(name) + _GAP
        if self.isChecked() or taken >= room.width():
            return
        room = room.adjusted(0, 0, -taken, 0) if mirrored else room.adjusted(taken, 0, 0, 0)
        painter.setFont(frame_font(SMALL_PX))
        painter.setPen(theme.color("muted"))
        begins = painter.fontMetrics().elidedText(self._begins, Qt.TextElideMode.ElideRight, room.width())
        draw_words(painter, room, align, begins)

    def _paint_arrow(self, painter: QPainter, *, mirrored: bool) -> None:
        color = theme_of(self).color("text" if self.underMouse() else "muted")
        arrow = self._icons.pixmap("chevron-down", color, 12, self.devicePixelRatioF())
        painter.save()
        painter.translate(self.width() - _ARROW / 2 - 2 if mirrored else _ARROW / 2 + 2, self.height() / 2)
        if not self.isChecked():
            painter.rotate(90 if mirrored else -90)
        painter.drawPixmap(-6, -6, arrow)
        painter.restore()


class ToolRow(QWidget):
    """A line that unfolds."""

    def __init__(self, tool: ToolInfo, icons: Icons) -> None:
        super().__init__()
        self.headline = _Headline(tool, icons)
        reads = self.tr("It only reads.") if tool.only_reads else self.tr("It may change things.")
        last = f"{visible(tool.name)} · {reads}" if tool.title else reads
        self.words = plain_label(f"{tool.description.strip()}\n{last}".strip(), "muted", SMALL_PX)
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setContentsMargins(_ARROW + 4, 0, _GAP, 8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.headline)
        layout.addWidget(self.words)
        self.headline.toggled.connect(self._fold)
        self._fold(False)

    @Slot(bool)
    def _fold(self, is_open: bool) -> None:
        self.words.setVisible(is_open)
        self.headline.setAccessibleDescription(self.words.text() if is_open else "")
