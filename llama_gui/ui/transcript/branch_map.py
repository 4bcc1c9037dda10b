"""A small map of a chat's branches: a dot for each message, lines down to what follows, the shown path in colour."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QFrame, QScrollArea, QToolTip, QVBoxLayout, QWidget

from llama_gui.chats.shown_path import MapDot
from llama_gui.ui.former_focus import FormerFocus
from llama_gui.ui.numbers import counted, number_text
from llama_gui.ui.theme import SMALL_PX, theme_of
from llama_gui.ui.widgets import paint_card, plain_label, plain_tip

_LANE, _ROW, _EDGE = 26, 22, 18
_DOT = 4.5
_NEAR = 11
_TOP = 16
_OWN_KEYS = (Qt.Key.Key_Escape, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


class MapCanvas(QAbstractButton):
    """Dots and lines. The mouse and the arrow keys pick a dot; for a screen reader it is the button of that dot."""

    chosen = Signal(str)
    picked = Signal(str)
    """What the dot under the mouse or the keys stands for."""
    left = Signal()

    def __init__(self, dots: Sequence[MapDot]) -> None:
        super().__init__()
        self._dots = dots
        self._rows: dict[int, list[int]] = {}
        self._children: dict[int, list[int]] = {}
        for index, dot in enumerate(dots):
            self._rows.setdefault(dot.row, []).append(index)
            if dot.parent is not None:
                self._children.setdefault(dot.parent, []).append(index)
        self.current = max((i for i, dot in enumerate(dots) if dot.is_shown), key=lambda i: dots[i].row, default=0)
        self._hovered = -1
        lanes = max((dot.lane for dot in dots), default=0)
        self.setFixedSize(2 * _EDGE + lanes * _LANE, 2 * _EDGE + max(self._rows, default=0) * _ROW)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(self.words(self.current) if dots else self.tr("Branches of this chat"))
        self.clicked.connect(self._choose_current)

    def words(self, index: int) -> str:
        """What a dot stands for."""
        dot = self._dots[index]
        others = self.tr("Tool") if dot.role == "tool" else self.tr("Answer")
        who = self.tr("You") if dot.role == "user" else others
        return f"{who}: {dot.text}" if dot.text else who

    def centre(self, index: int) -> QPointF:
        """Where a dot is."""
        dot = self._dots[index]
        x = _EDGE + dot.lane * _LANE
        return QPointF(self.width() - x if self.isRightToLeft() else x, _EDGE + dot.row * _ROW)

    def pick(self, index: int) -> None:
        """Put the keyboard on a dot."""
        self.current = index
        self.picked.emit(self.words(index))
        self.setAccessibleName(self.words(index))
        self.update()

    @Slot()
    def _choose_current(self) -> None:
        self.chosen.emit(self._dots[self.current].node_id)

    def _dot_at(self, place: QPointF) -> int:
        row = round((place.y() - _EDGE) / _ROW)
        near = [(abs(self.centre(i).x() - place.x()), i) for i in self._rows.get(row, ())]
        distance, index = min(near, default=(_NEAR, -1))
        return index if distance < _NEAR and abs(_EDGE + row * _ROW - place.y()) < _NEAR else -1

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, dot = event.key(), self._dots[self.current]
        if self.isRightToLeft():
            key = {Qt.Key.Key_Left: Qt.Key.Key_Right, Qt.Key.Key_Right: Qt.Key.Key_Left}.get(Qt.Key(key), key)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(dot.node_id)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key == Qt.Key.Key_Up:  # nor at the first message is it the button's, which would leave the map
            self.pick(self.current if dot.parent is None else dot.parent)
        elif key == Qt.Key.Key_Down:
            below = self._children.get(self.current, [])
            if below:
                self.pick(next((i for i in below if self._dots[i].is_shown), below[0]))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            row = self._rows[dot.row]
            place = row.index(self.current) + (1 if key == Qt.Key.Key_Right else -1)
            if 0 <= place < len(row):
                self.pick(row[place])
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.pick(0 if key == Qt.Key.Key_Home else max(self._rows[max(self._rows)]))
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hovered = self._dot_at(event.position())
        if hovered != self._hovered:
            self._hovered = hovered
            self.setCursor(Qt.CursorShape.PointingHandCursor if hovered >= 0 else Qt.CursorShape.ArrowCursor)
            self.picked.emit(self.words(hovered if hovered >= 0 else self.current))
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = -1
        self.picked.emit(self.words(self.current))
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # no button is pressed down here: a dot is chosen when the mouse goes up

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._dot_at(event.position())
        if index >= 0:
            self.chosen.emit(self._dots[index].node_id)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and event.key() in _OWN_KEYS:
            event.accept()  # else Esc would stop the answer
            return True
        if isinstance(event, QHelpEvent):
            index = self._dot_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(self.words(index)) if index >= 0 else "", self)
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.left.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, bottom = ((y - _EDGE) // _ROW for y in (event.rect().top() - _ROW, event.rect().bottom() + 2 * _ROW))
        seen = [i for row in range(top, bottom + 1) for i in self._rows.get(row, ())]
        for is_shown in (False, True):  # the shown path lies over the others
            for index in seen:
                if self._dots[index].is_shown == is_shown:
                    self._line(painter, index)
        for index in seen:
            self._dot(painter, index)

    def _line(self, painter: QPainter, index: int) -> None:
        dot, theme = self._dots[index], theme_of(self)
        if dot.parent is None:
            return
        start, end = self.centre(dot.parent), self.centre(index)
        path = QPainterPath(start)
        if start.x() == end.x():
            path.lineTo(end)
        else:
            path.cubicTo(QPointF(start.x(), end.y()), QPointF(end.x(), start.y()), end)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent" if dot.is_shown else "field_focus"), 1.6 if dot.is_shown else 1.2))
        painter.drawPath(path)

    def _dot(self, painter: QPainter, index: int) -> None:
        dot, theme, centre = self._dots[index], theme_of(self), self.centre(index)
        color = theme.color("accent" if dot.is_shown else "muted")
        painter.setPen(QPen(color, 1.6))
        painter.setBrush(color if dot.role == "user" else theme.color("raised"))
        painter.drawEllipse(centre, _DOT, _DOT)
        if index in (self.current, self._hovered):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent" if index == self.current else "muted"), 1.4))
            painter.drawEllipse(centre, _DOT + 4, _DOT + 4)


class BranchMap(QFrame):
    """The map over the transcript: pick a message with a click or Enter, leave with Esc. It goes with the focus."""

    chosen = Signal(str)

    def __init__(self, dots: Sequence[MapDot], parent: QWidget, top: int = _TOP) -> None:
        """`top`: how far below the upper edge of `parent` it begins, whatever else stands there."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(self.tr("Branches of this chat"))
        window = parent.window()
        self._before = FormerFocus(window.focusWidget())
        self._over = parent
        self._top = max(top, _TOP)
        self._is_leaving = False
        self.canvas = MapCanvas(dots)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidget(self.canvas)
        self._area.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.viewport().setAutoFillBackground(False)
        self.canvas.setAutoFillBackground(False)
        self.words = plain_label("", "muted", SMALL_PX)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        title = plain_label(self._title(dots), "text", SMALL_PX, bold=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 12)
        layout.setSpacing(6)
        layout.addWidget(title)
        layout.addWidget(self._area, 1)
        layout.addWidget(self.words)
        self.words.setFixedHeight(self.words.fontMetrics().lineSpacing() * 2 + 2)
        self.canvas.chosen.connect(self._choose)
        self.canvas.left.connect(self.leave)
        self.canvas.picked.connect(self._say)
        self._place()

    def _title(self, dots: Sequence[MapDot]) -> str:
        branches = max((dot.lane for dot in dots), default=0) + 1
        if branches == 1:
            one, many = self.tr("{} message, no branches yet"), self.tr("{} messages, no branches yet")
            return counted(len(dots), one, many)
        return self.tr("{} messages in {} branches").format(number_text(len(dots)), number_text(branches))

    def _place(self) -> None:
        parent = self._over
        wanted = self.canvas.size() + QSize(28 + 12, 12 + 90)
        width = min(max(wanted.width(), 280), max(200, parent.width() - 32))
        room = min(round(parent.height() * 0.7), parent.height() - self._top - _TOP)
        height = min(max(wanted.height(), 140), max(160, room))
        self.resize(width, height)
        left = 16 if self.isRightToLeft() else parent.width() - width - 16
        self.move(left, self._top)

    def open(self) -> None:
        """Appear, take the keyboard, and show where the chat stands."""
        self.show()
        self.raise_()
        self.canvas.setFocus(Qt.FocusReason.PopupFocusReason)
        self.canvas.pick(self.canvas.current)

    @Slot()
    def leave(self) -> None:
        """Close, and give the keyboard back."""
        if self._is_leaving:
            return
        self._is_leaving = True
        if self.canvas.hasFocus():
            self._before.give_back()  # before it closes: else Qt gives the keyboard to whatever comes next
        self.close()

    @Slot(str)
    def _choose(self, node_id: str) -> None:
        self.leave()
        self.chosen.emit(node_id)

    @Slot(str)
    def _say(self, words: str) -> None:
        self.words.setText(words)
        centre = self.canvas.centre(self.canvas.current).toPoint()
        if self.canvas.hasFocus() and words == self.canvas.words(self.canvas.current):
            self._area.ensureVisible(centre.x(), centre.y(), 40, 60)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(QPainter(self), self)
