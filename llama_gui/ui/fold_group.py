"""A headline that folds what is below it away."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import paint_focus

_HEIGHT = 28
FOLD_EDGE = 6
"""Between the words and the ring around them, which is as far outside of what is above and below."""


class _Headline(QAbstractButton):
    """An arrow and a name; how many values below it were changed, while they cannot be seen."""

    def __init__(self, name: str, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self.changed = 0
        self._icons = icons
        self.setText(name)
        self.setCheckable(True)
        self.setFont(frame_font(TINY_PX, QFont.Weight.DemiBold))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        color = theme.color("text" if self.underMouse() else "muted")
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        text = QFontMetrics(self.font()).horizontalAdvance(self.text())
        x = self.width() - text - 2 - FOLD_EDGE if mirrored else FOLD_EDGE
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(color)
        draw_words(painter, QRectF(x, 0, text + 2, self.height()), middle, self.text())
        arrow = self._icons.pixmap("chevron-down", color, 12, self.devicePixelRatioF())
        at = x - 18 if mirrored else x + text + 12
        painter.translate(at, self.height() / 2)
        if not self.isChecked():
            painter.rotate(90 if mirrored else -90)
        painter.drawPixmap(-6, -6, arrow)
        painter.resetTransform()
        if self.changed and not self.isChecked():
            painter.setPen(theme.color("accent"))
            room = self.rect().adjusted(FOLD_EDGE, 0, -FOLD_EDGE, 0)
            draw_words(painter, room, middle | Qt.AlignmentFlag.AlignTrailing, str(self.changed))
        if self.hasFocus():
            paint_focus(painter, QRectF(self.rect()).adjusted(-1, 2, 1, -2), theme.color("accent"))


class FoldGroup(QWidget):
    """Widgets under a headline. It reaches `FOLD_EDGE` beyond them on both sides."""

    folded = Signal(bool)

    def __init__(self, name: str, icons: Icons, parent: QWidget | None = None, *, is_open: bool) -> None:
        super().__init__(parent)
        self.headline = _Headline(name, icons, self)
        self._name = name
        self.body = QWidget(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.headline)
        layout.addWidget(self.body)
        self._inner = QVBoxLayout(self.body)
        self._inner.setContentsMargins(FOLD_EDGE, 2, FOLD_EDGE, 8)
        self._inner.setSpacing(8)
        self.headline.toggled.connect(self._fold)
        self.headline.setChecked(is_open)
        self._fold(is_open)

    def add(self, widget: QWidget) -> None:
        """Below all that is there. One with much in it has `body` as its parent from the start."""
        self._inner.addWidget(widget)

    def is_open(self) -> bool:
        """Whether what is below can be seen."""
        return self.headline.isChecked()

    def open(self, is_open: bool = True) -> None:
        """Show what is below, or fold it away."""
        self.headline.setChecked(is_open)

    def set_changed(self, count: int) -> None:
        """How many values below are not the defaults."""
        self.headline.changed = count
        self._describe()

    @Slot(bool)
    def _fold(self, is_open: bool) -> None:
        self.body.setVisible(is_open)
        self._describe()
        self.folded.emit(not is_open)

    def _describe(self) -> None:
        state = self.tr("shown") if self.is_open() else self.tr("folded away")
        count = self.headline.changed
        changed = self.tr("{} changed").format(count) if count else ""
        self.headline.setAccessibleName(", ".join(word for word in (self._name, state, changed) if word))
        self.headline.update()
