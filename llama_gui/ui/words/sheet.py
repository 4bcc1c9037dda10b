"""The text of an answer, tinted and underlined where the model was unsure; mouse and keys go from token to token.

The text has one format, so that letters join and emoji stay whole across tokens; tints and lines are painted below it.
"""

from bisect import bisect_left
from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QTextEdit

from llama_gui.ui.theme import TRANSCRIPT_PX, Theme, frame_font, theme_of
from llama_gui.ui.words.lines import Lines
from llama_gui.ui.words.spans import LINE_MARK, UNSURE, Span, SpannedText

_AIR = 150
"""Height of a line in percent."""
_MARGIN = 16
_LINE_STYLES = (Qt.PenStyle.NoPen, Qt.PenStyle.DotLine, Qt.PenStyle.DashLine, Qt.PenStyle.SolidLine)
_OWN_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)
Rects = list[tuple[int, QRectF]]
"""Spans, each with a place where it stands: one that is wrapped, or written in two directions, stands at several."""


class WordSheet(QTextEdit):
    """Shows the tokens; one of them is current."""

    picked = Signal(int)
    """The token under the mouse, or else the current one."""
    chosen = Signal(int)
    """Enter, or a click on a token: it is current."""
    focus_changed = Signal()

    def __init__(self, zoom: float = 1.0) -> None:
        super().__init__()
        self._text = SpannedText("", ())
        self._levels: list[int] = []
        self._current = 0
        self._hovered = -1
        self._goal: float | None = None  # where steps up and down want to go, in pixels from the left
        self._rects: dict[int, Rects] = {}  # by block
        self.setReadOnly(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("The words of the answer"))
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(_MARGIN)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self._font: QFont = frame_font(TRANSCRIPT_PX * zoom)
        self.setFont(self._font)
        self.setTabStopDistance(4 * QFontMetricsF(self._font).averageCharWidth())

    # --- what it shows

    def show_plain(self, text: str) -> None:
        """Show a text of which nothing is known yet."""
        self._show(SpannedText(text, ()), [])

    def show_words(self, text: SpannedText, levels: list[int]) -> None:
        """Show tokens, each tinted by its level; the first unsure one is current."""
        self._show(text, levels)
        first = next((i for i, level in enumerate(levels) if level >= UNSURE), 0)
        if text.spans:
            self.go_to(text.spans[first].last)

    def _show(self, text: SpannedText, levels: list[int]) -> None:
        self._text, self._levels, self._current, self._hovered = text, levels, 0, -1
        self._rects.clear()
        self.setPlainText(text.text)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        block = QTextBlockFormat()
        block.setLineHeight(_AIR, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.mergeBlockFormat(block)
        self._dress()

    @property
    def current(self) -> int:
        """The token that the keyboard is on."""
        return self._current

    @property
    def token_count(self) -> int:
        """How many tokens there are."""
        return self._text.spans[-1].last + 1 if self._text.spans else 0

    def go_to(self, token: int) -> None:
        """Make a token the current one, and show it."""
        if not 0 <= token < self.token_count:
            return
        self._current = token
        self._goal = None
        self._show_current()
        self.viewport().update()
        self.picked.emit(token)

    def step(self, by: int) -> None:
        """Go to the token so many places on."""
        self.go_to(min(max(self._current + by, 0), self.token_count - 1))

    def step_unsure(self, by: int) -> None:
        """Go to the next unsure token, or the one before with -1; stay where there is none."""
        index = self._text.span_of(self._current) + by
        while 0 <= index < len(self._levels) and self._levels[index] < UNSURE:
            index += by
        if 0 <= index < len(self._levels):
            self.go_to(self._text.spans[index].last)

    def _step_line(self, by: int) -> None:
        rects = [rect for index, rect in self._rects_of_current() if index == self._text.span_of(self._current)]
        if not rects:
            return
        rect = rects[0] if by < 0 else rects[-1]
        goal = rect.center().x() if self._goal is None else self._goal
        height = QFontMetricsF(self._font).height() * _AIR / 100
        span = self._span_near(QPointF(goal, rect.center().y() + by * height))
        if span >= 0:
            self.go_to(self._text.spans[span].last)
            self._goal = goal

    def _span_near(self, place: QPointF) -> int:
        position = self.document().documentLayout().hitTest(place, Qt.HitTestAccuracy.FuzzyHit)
        block = self.document().findBlock(position)
        found = [
            (abs(rect.center().y() - place.y()), max(rect.left() - place.x(), place.x() - rect.right(), 0), index)
            for index, rect in self._rects_in(block)
        ]
        return min(found, default=(0, 0, -1))[2]

    # --- where it stands

    def _rects_of_current(self) -> Rects:
        span = self._text.spans[self._text.span_of(self._current)]
        first, last = self.document().findBlock(span.start), self.document().findBlock(span.end - 1)
        return self._rects_in(first) + (self._rects_in(last) if last != first else [])

    def _rects_in(self, block: QTextBlock) -> Rects:
        """The places of the tokens in a block, in the document's pixels."""
        number = block.blockNumber()
        if number not in self._rects:
            corner = self.document().documentLayout().blockBoundingRect(block).topLeft()
            lines = Lines(block)
            self._rects[number] = [
                (index, rect.translated(corner))
                for index, start, end in self._pieces_in(block)
                for rect in lines.places(start, end)
            ]
        return self._rects[number]

    def _pieces_in(self, block: QTextBlock) -> Iterator[tuple[int, int, int]]:
        """The spans that begin or end in a block: which, from where to where in it."""
        start, length = block.position(), block.length() - 1
        spans = self._text.spans
        index = max(0, bisect_left(spans, start + 1, key=lambda span: span.end))
        while index < len(spans) and spans[index].start < start + length:
            span = spans[index]
            yield index, max(span.start - start, 0), min(span.end - start, length)
            index += 1

    def _show_current(self) -> None:
        index = self._text.span_of(self._current)
        rects = [rect for at, rect in self._rects_of_current() if at == index]
        if not rects:
            return
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top, bottom = rects[0].top() - 24, rects[-1].bottom() + 24
        if top < bar.value():
            bar.setValue(int(top))
        elif bottom > bar.value() + height:
            bar.setValue(int(bottom - height))

    def _span_under(self, place: QPointF) -> int:
        place = place + QPointF(0, self.verticalScrollBar().value())
        position = self.document().documentLayout().hitTest(place, Qt.HitTestAccuracy.FuzzyHit)
        rects = self._rects_in(self.document().findBlock(position))
        return next((index for index, rect in rects if rect.adjusted(-1, -3, 1, 3).contains(place)), -1)

    # --- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if not self._text.spans:
            event.ignore()
            return
        if self._is_right_to_left():
            key = {Qt.Key.Key_Left: Qt.Key.Key_Right, Qt.Key.Key_Right: Qt.Key.Key_Left}.get(key, key)
        by = -1 if key in (Qt.Key.Key_Left, Qt.Key.Key_Up) else 1
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            is_far = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.step_unsure if is_far else self.step)(by)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_line(by)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.go_to(0 if key == Qt.Key.Key_Home else self.token_count - 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._current)
        else:
            super().keyPressEvent(event)

    def _is_right_to_left(self) -> bool:
        span = self._text.spans[self._text.span_of(self._current)]
        return self.document().findBlock(span.start).textDirection() == Qt.LayoutDirection.RightToLeft

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and event.key() in _OWN_KEYS:
            event.accept()  # else Ctrl+Left, Alt+Left and their kin would do what they do in the window
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._span_under(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, span: int) -> None:
        if span == self._hovered:
            return
        self._hovered = span
        has_span = span >= 0
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if has_span else Qt.CursorShape.ArrowCursor)
        self.viewport().update()
        if self._text.spans:
            self.picked.emit(self._text.spans[span].last if has_span else self._current)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        span = self._span_under(event.position())
        if span >= 0:
            self.go_to(self._text.spans[span].last)
            self.chosen.emit(self._current)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._rects.clear()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self._rects.clear()
            self._dress()

    def _dress(self) -> None:
        """Muted while nothing is known; line marks and the end are muted always."""
        theme = theme_of(self)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        whole = cursor.charFormat()
        whole.setForeground(theme.color("text" if self._text.spans else "muted"))
        cursor.setCharFormat(whole)
        muted = QTextCursor(self.document()).charFormat()
        muted.setForeground(theme.color("muted"))
        cursor.beginEditBlock()  # laid out once, and not for each mark
        for start, end in self._marks():
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(muted)
        cursor.endEditBlock()

    def _marks(self) -> Iterator[tuple[int, int]]:
        if not self._text.spans:
            return
        block = self.document().begin()
        while block.isValid():
            if block.text().endswith(LINE_MARK) and block.next().isValid():
                yield block.position() + block.length() - 2, block.position() + block.length() - 1
            block = block.next()
        last: Span = self._text.spans[-1]
        if last.is_end:
            yield last.start, last.end

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, top = theme_of(self), self.verticalScrollBar().value()
        painter.fillRect(event.rect(), theme.color("page"))
        painter.translate(0, -top)
        rects = (item for block in self._seen_blocks() for item in self._rects_in(block))
        seen = [(i, rect) for i, rect in rects if top - 40 < rect.bottom() and rect.top() < top + self.height() + 40]
        for index, rect in seen:
            paint_level(painter, theme, self._levels[index], rect)
        current = self._text.span_of(self._current) if self._text.spans else -1
        for index, rect in seen:
            if index in (current, self._hovered):
                self._ring(painter, rect, is_current=index == current)
        painter.end()
        super().paintEvent(event)

    def _seen_blocks(self) -> Iterator[QTextBlock]:
        if not self._text.spans:
            return
        layout, bar = self.document().documentLayout(), self.verticalScrollBar()
        block = self.cursorForPosition(QPoint(0, 0)).block()
        while block.isValid() and layout.blockBoundingRect(block).top() < bar.value() + self.viewport().height():
            yield block
            block = block.next()

    def _ring(self, painter: QPainter, rect: QRectF, *, is_current: bool) -> None:
        theme = theme_of(self)
        is_strong = is_current and self.hasFocus()
        painter.setPen(QPen(theme.color("accent" if is_current else "muted"), 2 if is_strong else 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect.adjusted(-2, -2, 2, 2), 4, 4)


def paint_level(painter: QPainter, theme: Theme, level: int, rect: QRectF) -> None:
    """How unsure a model was: a tint for those who see colours, and a line for all."""
    if not level:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(f"unsure_{level}"))
    painter.drawRoundedRect(rect, 3, 3)
    painter.setPen(QPen(theme.color("accent"), 1.5 if level < 3 else 2, _LINE_STYLES[level]))
    y = rect.bottom() - 1
    painter.drawLine(QPointF(rect.left() + 2, y), QPointF(rect.right() - 2, y))
