"""How full the model's context is: a bar, two numbers, and what would be left out."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from llama_gui.ui.numbers import counted, in_marks, number_text
from llama_gui.ui.text_painting import draw_words
from llama_gui.ui.theme import TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import plain_tip
from llama_gui.vocabulary import ContextUse

NEARLY_FULL = 0.75
"""From this share on the oldest messages may be left out: a quarter is kept for the answer."""
_BAR, _GAP = 56, 8


class ContextMeter(QWidget):
    """Hidden while nothing is known. A click asks for another length of the context."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._use: ContextUse | None = None
        self.setFont(frame_font(TINY_PX))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    @Slot(object)
    def show_use(self, use: ContextUse | None) -> None:
        """Show what would be sent now; None hides it."""
        if use == self._use:
            return
        self._use = use
        self.setVisible(use is not None)
        tip = self._explanation(use) if use is not None else ""
        way = self.tr("A click changes how much the model reads.")
        self.setToolTip(plain_tip(f"{tip}\n{way}" if tip else ""))
        self.setAccessibleName(tip)
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """The words beside the bar."""
        use = self._use
        if use is None:
            return ""
        text = self._share(use)
        if use.has_long_files:
            return text + self.tr(" · passages of the files")
        if use.is_too_long:
            return text + self.tr(" · too long")
        if use.dropped_messages == 1:
            return text + self.tr(" · the oldest left out")
        if use.dropped_messages:
            return text + self.tr(" · oldest {} left out").format(use.dropped_messages)
        return text

    def _share(self, use: ContextUse) -> str:
        return self.tr("{} / {} context").format(short_count(use.tokens), short_count(use.max_context))

    def role(self) -> str:
        """The colour it speaks in."""
        use = self._use
        if use is None or (use.tokens < NEARLY_FULL * use.max_context and not use.dropped_messages):
            return "muted"
        return "error" if use.is_too_long and not use.has_long_files else "accent"

    def _explanation(self, use: ContextUse) -> str:
        share = round(100 * use.tokens / max(use.max_context, 1))
        lines = [
            self.tr("{} of {} tokens are used by the conversation, this draft and its files ({} %).").format(
                number_text(use.tokens), number_text(use.max_context), share
            )
        ]
        if use.has_long_files:
            lines.append(
                self.tr(
                    "The files are longer than the model reads: those of their passages go along that fit the question."
                )
            )
        elif use.is_too_long:
            lines.append(self.tr("The model cannot read this. Make the message shorter, or remove a file."))
        elif use.dropped_messages:
            one = self.tr("All of it would not fit: the oldest message is not sent. It stays in the chat.")
            many = self.tr("All of it would not fit: the oldest {} messages are not sent. They stay in the chat.")
            lines.append(counted(use.dropped_messages, one, many))
        else:
            lines.append(self.tr("When it is full, the oldest messages are left out; they stay in the chat."))
        return "\n".join(lines)

    def sizeHint(self) -> QSize:
        return QSize(_BAR + _GAP + QFontMetrics(self.font()).horizontalAdvance(self.text()) + 2, 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 20)  # where the buttons need all the room, it is not there

    def text_within(self, room: int) -> str:
        """The words as far as there is room; fewer rather than half of what is always said."""
        metrics, text, use = QFontMetrics(self.font()), self.text(), self._use
        if use is None:
            return ""
        used = short_count(use.tokens)
        numbers = f"{used} / {short_count(use.max_context)}"
        if use.has_long_files or use.is_too_long or use.dropped_messages:
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            if elided.startswith(self._share(use)):
                return elided
        return next((shown for shown in (text, numbers, used) if metrics.horizontalAdvance(shown) <= room), "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # else its end would go to what is around it

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        use = self._use
        if use is None or self.width() < _BAR:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, color = theme_of(self), theme_of(self).color(self.role())
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left, y = (self.width() - _BAR if mirrored else 0), self.height() / 2
        filled = _BAR * min(1.0, use.tokens / max(use.max_context, 1))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line"))
        painter.drawRoundedRect(QRectF(left, y - 2, _BAR, 4), 2, 2)
        painter.setBrush(color)
        if use.tokens:
            filled = max(filled, 4)
            painter.drawRoundedRect(QRectF(left + (_BAR - filled if mirrored else 0), y - 2, filled, 4), 2, 2)
        painter.setPen(color)
        room = QRectF(0 if mirrored else _BAR + _GAP, 0, max(0, self.width() - _BAR - _GAP), self.height())
        text = self.text_within(int(room.width()))
        draw_words(painter, room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, text)


def short_count(count: int) -> str:
    """A number of tokens as it is said of models, whose contexts are powers of two: 812, 1.2k, 8k, 128k."""
    if count < 1000:
        return str(count)
    if count >= 10 * 1024:
        return f"{count // 1024}k"
    return in_marks(f"{count / 1024:.1f}".removesuffix(".0")) + "k"
