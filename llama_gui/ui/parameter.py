"""One number of the settings panel: its name, its value, a slim slider, and the way back to the default."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from llama_gui.ui.icons import Icons
from llama_gui.ui.parameter_table import Number, ParameterSpec
from llama_gui.ui.theme import FRAME_PX, SMALL_PX, frame_font, theme_of
from llama_gui.ui.widgets import Button, RoleLabel, plain_label, plain_tip

_KNOB = 6.0
_RING = 8.2
_EDGE = 9
"""How far from the sides the knob stays, so that the ring around it is whole at the ends, too."""
_INSIDE = 8
"""Edges of a number's field, of both sides together."""
_BY_THE_USER = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class Slider(QAbstractSlider):
    """A hairline with a knob. Accent when the value is the user's, muted when it is the model's."""

    moved = Signal(float)
    reset_requested = Signal()

    def __init__(self, spec: ParameterSpec) -> None:
        super().__init__()
        assert spec.slider is not None
        self._low, self._high, self._step = spec.slider
        self._value = self._low
        self._is_changed = False
        self._is_known = True
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(0, round((self._high - self._low) / self._step))  # in steps, for assistive programs
        self.valueChanged.connect(self._on_steps)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(spec.name_text)
        self.setAccessibleDescription(spec.tip_text)

    def set_value(self, value: float, *, is_changed: bool, is_known: bool = True) -> None:
        """Put the knob; a value beyond the span stands at its end, and for one that is not known there is no knob."""
        self._value = min(max(value, self._low), self._high)
        self._is_changed = is_changed
        self._is_known = is_known
        self._tell_steps()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, 18)

    def _is_mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def _x_of(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return _EDGE + (1 - share if self._is_mirrored() else share) * (self.width() - 2 * _EDGE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        x, y = self._x_of(self._value), self.height() / 2
        color = theme.color("accent" if self._is_changed else "muted")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line"))
        painter.drawRoundedRect(QRectF(0, y - 1.5, self.width(), 3), 1.5, 1.5)
        if not self._is_known and not self.hasFocus():
            return
        painter.setBrush(color)
        zero = self.width() if self._is_mirrored() else 0.0
        if self._low < 0:  # a value of either sign grows from the middle
            zero = self._x_of(0.0)
        painter.drawRoundedRect(QRectF(min(zero, x), y - 1.5, abs(x - zero), 3), 1.5, 1.5)
        painter.setBrush(theme.color("raised"))
        painter.setPen(QPen(color, 1.5))
        painter.drawEllipse(QPointF(x, y), _KNOB, _KNOB)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 1.5))
            painter.drawEllipse(QPointF(x, y), _RING, _RING)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._move_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move_to(event.position().x())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset_requested.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Down: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: 1,
            Qt.Key.Key_PageUp: 10,
            Qt.Key.Key_PageDown: -10,
        }
        key = Qt.Key(event.key())
        turn = -1 if self._is_mirrored() and key in (Qt.Key.Key_Left, Qt.Key.Key_Right) else 1
        if key in steps:
            self._set(self._value + turn * steps[key] * self._step)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._set(self._low if key == Qt.Key.Key_Home else self._high)
        else:
            super().keyPressEvent(event)

    def _move_to(self, x: float) -> None:
        share = min(1.0, max(0.0, (x - _EDGE) / max(1, self.width() - 2 * _EDGE)))
        share = 1 - share if self._is_mirrored() else share
        self._set(self._low + share * (self._high - self._low))

    def _set(self, value: float) -> None:
        value = min(self._high, max(self._low, round(value / self._step) * self._step))
        self._value = value
        self._tell_steps()
        self.moved.emit(round(value, 6))
        self.update()

    def _tell_steps(self) -> None:
        self.blockSignals(True)
        self.setValue(round((self._value - self._low) / self._step))
        self.blockSignals(False)

    @Slot(int)
    def _on_steps(self, steps: int) -> None:
        """An assistive program has set the value."""
        self._set(self._low + steps * self._step)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the wheel scrolls the panel

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()


class ValueEdit(QLineEdit):
    """Shows "0.90 · Default" at rest, where there is room, and the bare number while it is typed."""

    typed = Signal(str)
    entered = Signal()
    """The user has come to it, by mouse or by keys."""

    def __init__(self, spec: ParameterSpec) -> None:
        super().__init__()
        self._is_clicked_into = False
        self._at_rest = self._short = ""
        self._bare = ""
        self.setProperty("flat", True)
        self.setProperty("state", "default")
        self.setFont(frame_font(SMALL_PX))
        self._align()
        self.setAccessibleName(spec.name_text)
        self.setAccessibleDescription(spec.tip_text)
        self.setMinimumWidth(60)
        self.editingFinished.connect(self._finish)

    def _align(self) -> None:
        """The number at the outer edge. Qt turns a field around with its text only, and numbers run from the left."""
        is_mirrored = self.isRightToLeft()
        self.setAlignment(Qt.AlignmentFlag.AlignLeft if is_mirrored else Qt.AlignmentFlag.AlignRight)
        self.setTextMargins(-2 if is_mirrored else 0, 0, 0 if is_mirrored else -2, 0)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._align()

    def show_value(self, at_rest: str, short: str, bare: str, *, is_changed: bool) -> None:
        """Set what is shown at rest, what of it where the field is narrow, and what stands there for typing."""
        self._at_rest, self._short, self._bare = at_rest, short, bare
        self.setText(bare if self.hasFocus() else self._fitting())
        state = "changed" if is_changed else "default"
        if self.property("state") != state:  # to be dressed anew takes longer than all else here
            self.setProperty("state", state)
            self.style().unpolish(self)
            self.style().polish(self)

    def _fitting(self) -> str:
        """Half a number would be another one."""
        fits = self.fontMetrics().horizontalAdvance(self._at_rest) <= self.width() - _INSIDE
        return self._at_rest if fits else self._short

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.hasFocus():
            self.setText(self._fitting())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.setText(self._bare)
        self.selectAll()
        self._is_clicked_into = event.reason() == Qt.FocusReason.MouseFocusReason
        if event.reason() in _BY_THE_USER:
            self.entered.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if self._is_clicked_into and not self.hasSelectedText():
            self.selectAll()  # the press has put the cursor into the number: what is typed would join it
        self._is_clicked_into = False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.setText(self._fitting())
        self.deselect()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text() != self._bare:
            self.setText(self._bare)
            self.selectAll()
            return
        super().keyPressEvent(event)

    @Slot()
    def _finish(self) -> None:
        text = self.text().strip()
        if text not in (self._bare.strip(), self._at_rest.strip(), self._short.strip()):
            self.typed.emit(text)


class ParameterRow(QWidget):
    """One parameter in its three states: the model's default, the user's value, and a wrong input."""

    changed = Signal(str, object)
    """The name and the number, or None for the default."""
    refused = Signal()
    """What was typed cannot be; `problem` says why."""

    def __init__(self, spec: ParameterSpec, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self._value: Number | None = None
        self._default: Number | None = None
        self._default_words = ""
        self.label = plain_label(spec.name_text, "text", FRAME_PX)
        self.edit = ValueEdit(spec)
        self.edit.setToolTip(plain_tip(self.tr("{}; empty is the default").format(spec.allowed.capitalize())))
        self.label.setBuddy(self.edit)
        self.reset_button = Button(icons, "reset", height=22)
        self.reset_button.setAccessibleName(self.tr("Reset {} to the default").format(spec.name_text))
        self.reset_button.setToolTip(plain_tip(self.tr("Back to the default")))
        self.error: RoleLabel | None = None
        """Below the number; made when there is something to say, which most rows never have."""
        self.slider = Slider(spec) if spec.slider else None
        self._lay_out()
        self.edit.typed.connect(self._take_text)
        self.edit.entered.connect(self._forget_problem)
        self.reset_button.clicked.connect(self.reset)
        if self.slider is not None:
            self.slider.moved.connect(self._take_slider)
            self.slider.reset_requested.connect(self.reset)
        self._show()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(2)
        head.addStrut(self.reset_button.sizeHint().height())  # the row keeps its height when the button comes and goes
        head.addWidget(self.label)
        head.addWidget(self.reset_button)
        head.addWidget(self.edit, 1)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(head)
        if self.slider is not None:
            layout.addWidget(self.slider)

    def set_value(self, value: Number | None) -> None:
        """Show a chat's value; None is the default."""
        self._value = value
        self._say("")
        self._show()

    def set_default(self, default: Number | None, words: str = "") -> None:
        """Show what the model recommends; in words where the number is not known."""
        if (default, words) != (self._default, self._default_words):
            self._default, self._default_words = default, words
            self._show()

    @property
    def field(self) -> QWidget:
        """Where the number is written."""
        return self.edit

    def value(self) -> Number | None:
        """The user's number, or None."""
        return self._value

    @property
    def problem(self) -> str:
        """What is wrong with what was typed last; the value is the one before."""
        return self.error.text() if self.error is not None else ""

    @Slot()
    def reset(self) -> None:
        """Back to the default."""
        self._change(None)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.label.geometry().contains(event.position().toPoint()):
            self.reset()

    @Slot(str)
    def _take_text(self, text: str) -> None:
        if not text:
            self.reset()
            return
        try:
            value = self.spec.parse(text)
        except ValueError as problem:
            self._say(str(problem))
            self._show()
            self.edit.selectAll()  # what is typed next takes its place
            self.refused.emit()
            return
        self._change(value)

    @Slot(float)
    def _take_slider(self, value: float) -> None:
        smallest = self.spec.slider[2] if self.spec.slider and self.spec.excludes_low else None
        number = max(value, smallest) if smallest is not None else value
        self._change(int(number) if self.spec.is_integer else number)

    def _change(self, value: Number | None) -> None:
        self._say("")
        if value != self._value:
            self._value = value
            self.changed.emit(self.spec.name, value)
        self._show()

    @Slot()
    def _forget_problem(self) -> None:
        """It was read: the user has come back, and the number before is there again."""
        self._say("")

    def _say(self, problem: str) -> None:
        if self.error is None:
            if not problem:
                return
            self.error = plain_label("", "error", 11)
            self.error.setWordWrap(True)
            self._column.addWidget(self.error)
        self.error.setText(problem)
        self.error.setVisible(bool(problem))

    def _show(self) -> None:
        is_changed = self._value is not None
        shown = self._value if self._value is not None else self._default
        number = self.spec.show(shown) if shown is not None else self.spec.no_default_text
        bare = self.spec.show(shown) if shown is not None else ""
        default = self._default_words or (self.tr("{} · Default").format(number) if number else self.tr("Default"))
        at_rest = number if is_changed else default
        short = number if is_changed or not self._default_words else self._default_words
        self.edit.show_value(at_rest, short or default, bare, is_changed=is_changed)
        self.reset_button.setVisible(is_changed)
        if self.slider is not None:
            low = self.spec.slider[0] if self.spec.slider else 0.0
            value = float(shown if shown is not None else low)
            self.slider.set_value(value, is_changed=is_changed, is_known=is_changed or not self._default_words)
