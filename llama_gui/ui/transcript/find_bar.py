"""Find in a chat: a field that floats over the upper right of the transcript, and the hits lit up in the text."""

import bisect

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QTextEdit

from llama_gui.ui.former_focus import FormerFocus
from llama_gui.ui.icons import Icons
from llama_gui.ui.markdown.formula import JOINER, OBJECT
from llama_gui.ui.numbers import number_text
from llama_gui.ui.theme import SMALL_PX, theme_of
from llama_gui.ui.transcript.finding import MAX_HITS, Finder, Hit, pattern_of
from llama_gui.ui.transcript.view import TranscriptView
from llama_gui.ui.widgets import Button, paint_card, plain_label, plain_tip

_WAIT_MS = 120
_MARGIN = 8
_FIELD_WIDTH, _LEAST_FIELD_WIDTH = 190, 80
_MOST_STEPS = 20


class FindBar(QFrame):
    """Finds in one view, also in what is not drawn yet, and while an answer streams."""

    closed = Signal()

    def __init__(self, icons: Icons, view: TranscriptView) -> None:
        super().__init__(view)
        self._view = view
        self._finder: Finder | None = None
        self._hits: list[Hit] = []
        self._current = -1
        self._before = FormerFocus(None)
        self._wanted = ("", "", 0)  # words, the message to find them in, and which of the finds
        self._timer = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self.field = QLineEdit()
        self.count = plain_label("", "muted", SMALL_PX)
        self._previous = Button(icons, "chevron-up", height=26)
        self._next = Button(icons, "chevron-down", height=26)
        self._close = Button(icons, "close", height=26)
        self._lay_out()
        self._connect()
        self.hide()

    def _lay_out(self) -> None:
        self.field.setPlaceholderText(self.tr("Find in this chat"))
        self.field.setAccessibleName(self.tr("Find in this chat"))
        widest = max((self.tr("Nothing found"), "0,000 / 0,000+"), key=self.count.fontMetrics().horizontalAdvance)
        self.count.setMinimumWidth(self.count.fontMetrics().horizontalAdvance(widest) + 12)
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        names = (
            (self._previous, self.tr("Previous"), "Shift+F3"),
            (self._next, self.tr("Next"), "F3"),
            (self._close, self.tr("Close"), "Esc"),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.setSpacing(2)
        layout.addWidget(self.field)
        layout.addWidget(self.count)
        layout.addSpacing(6)
        for button, name, keys in names:
            button.setAccessibleName(name)
            button.setToolTip(plain_tip(f"{name}  {keys}"))
            layout.addWidget(button)
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def _connect(self) -> None:
        self.field.textChanged.connect(self._on_words)
        self.field.installEventFilter(self)
        self._previous.clicked.connect(lambda: self.step(-1))
        self._next.clicked.connect(lambda: self.step(1))
        self._close.clicked.connect(self.leave)
        self._timer.timeout.connect(self._look_again)
        self._view.installEventFilter(self)
        self._view.drawn.connect(self._on_drawn)
        self._view.node_reached.connect(self._on_reached)
        self._view.verticalScrollBar().valueChanged.connect(self._light)

    # What the user does

    def open(self) -> None:
        """Show the field, with the words that are selected in the view or those of the last time."""
        selected = self._view.textCursor().selectedText().replace(OBJECT, "").replace(JOINER, "")
        self._come_up()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if selected and len(selected) < 100 and "\u2029" not in selected:
            self.field.setText(selected)
        self.field.selectAll()
        self._on_words()

    def _come_up(self) -> None:
        if self.isHidden():
            self._before = FormerFocus(QApplication.focusWidget())
        self.show()
        self.place()
        self.raise_()

    def want(self, words: str, node_id: str, nth: int) -> None:
        """When the view comes to a message, show the nth of these words in it; the keyboard stays where it is."""
        self._wanted = (words, node_id, nth)

    @Slot(str)
    def _on_reached(self, reached: str) -> None:
        words, node_id, nth = self._wanted
        if not words or reached != node_id:
            return
        self._wanted = ("", "", 0)
        self._come_up()
        with QSignalBlocker(self.field):
            self.field.setText(" ".join(words.split()))
        self._current = -1
        self._read_words()
        self._look()
        self._go_in(node_id, nth)

    def _go_in(self, node_id: str, nth: int) -> None:
        """Go to the nth hit in a message, or to its last one: what has no letter of the markup may have fewer."""
        for _ in range(_MOST_STEPS):
            start, end = self._view.extent_of(node_id) or (0, -1)
            inside = [number for number, hit in enumerate(self._hits) if start <= hit.position <= end]
            if not inside:
                return
            index = inside[min(nth, len(inside) - 1)]
            hit = self._hits[index]
            if hit.hidden is None or self._view.reveal(hit.hidden, hit.offset) < 0:
                self._show(index)
                return
            self._look()

    @Slot()
    def leave(self) -> None:
        """Hide, take the light away, and give the keyboard back."""
        if self.isAncestorOf(QApplication.focusWidget() or self._view):
            # Before it hides: else Qt looks for the next link in the text, and goes there.
            self._before.give_back(otherwise=self._view)
        self._timer.stop()
        self._hits, self._current, self._finder = [], -1, None
        self._light()
        self.hide()
        self.closed.emit()

    def step(self, by: int) -> None:
        """Go to the next or the previous hit; behind the last one comes the first."""
        if self._timer.isActive() or self._finder is None:
            self._timer.stop()
            self._read_words()
            self._look()
        if self._hits:
            self._go(self._current + by if self._current >= 0 else self._first_here(), by)

    @Slot()
    def _on_words(self) -> None:
        self._current = -1
        self._read_words()
        self._look()
        if self._hits:
            self._go(self._first_here(), 1)
        elif self._view.textCursor().hasSelection():  # of the words before a letter was added
            self._view.select(self._view.textCursor().selectionStart(), self._view.textCursor().selectionStart())

    @Slot()
    def _on_drawn(self) -> None:
        if self.isVisible() and self._finder is not None and not self._timer.isActive():
            self._timer.start()

    # Hits

    def _read_words(self) -> None:
        pattern = pattern_of(self.field.text())
        self._finder = Finder(pattern) if pattern is not None else None

    @Slot()
    def _look_again(self) -> None:
        """The document has changed: the hit that was gone to is still the current one, wherever it is now."""
        had_current = self._current >= 0
        self._look()
        at = self._view.textCursor().selectionStart()  # which Qt has moved with the text
        self._current = bisect.bisect_left(self._hits, at, key=lambda hit: hit.position) if had_current else -1
        self._current = min(self._current, len(self._hits) - 1)
        self._tell()

    def _look(self) -> None:
        finder = self._finder
        self._hits = finder.hits(self._view.document(), self._view.hidden_texts()) if finder is not None else []
        self._tell()

    def _first_here(self) -> int:
        """The first hit from the upper edge of the view on, or the last one above it, of those that are drawn."""
        top = self._view.top_position()
        here = bisect.bisect_left(self._hits, top, key=lambda hit: hit.position)
        drawn = [index for index, hit in enumerate(self._hits) if hit.hidden is None]
        return next((index for index in drawn if index >= here), drawn[-1] if drawn else here)

    def _go(self, index: int, by: int) -> None:
        """Go to a hit; what is not drawn is drawn first. There it may turn out that only its markup matched."""
        for _ in range(_MOST_STEPS):
            if not self._hits:
                break
            index %= len(self._hits)
            hit = self._hits[index]
            if hit.hidden is None:
                break
            together = sum(other.hidden is hit.hidden for other in self._hits)
            start = self._view.reveal(hit.hidden, hit.offset)
            if start < 0:
                index += by
                continue
            self._look()
            index = bisect.bisect_left(self._hits, start, key=lambda hit: hit.position)
            if by < 0 and hit.hidden.kind != "fold":
                index += together - 1
        self._show(index)

    def _show(self, index: int) -> None:
        if not self._hits or self._hits[index].hidden is not None:
            self._tell()
            return
        self._current = index
        hit = self._hits[index]
        start = self._view.cursor_at(hit.position)
        rect = self._view.cursorRect(start)
        if rect.top() < self.geometry().bottom() + _MARGIN or rect.bottom() > self._view.viewport().height() - 24:
            self._view.scroll_to(hit.position, 0.35)
        start.setPosition(hit.position + hit.length, QTextCursor.MoveMode.KeepAnchor)
        self._view.setTextCursor(start)
        self._tell()

    # What is seen

    def _tell(self) -> None:
        total = len(self._hits)
        many = number_text(total) + ("+" if total == MAX_HITS else "")
        if self._finder is None:
            text = ""
        elif not total:
            text = self.tr("Nothing found")
        elif self._current < 0:
            text = self.tr("{} found").format(many)
        else:
            text = self.tr("{} of {}").format(number_text(self._current + 1), many)
        if text and text != self.count.text() and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.count, text))
        self.count.setText(text)
        self.count.setAccessibleName(text)
        self.count.set_role("error" if self._finder is not None and not total else "muted")
        self._previous.setEnabled(bool(total))
        self._next.setEnabled(bool(total))
        self._light()

    @Slot()
    def _light(self) -> None:
        """Light up the hits that are in sight: of thousands, Qt would look at each one at each painting."""
        finder, document = self._finder, self._view.document()
        if finder is None or not self._hits:
            self._view.setExtraSelections([])
            return
        top = self._view.top_position()
        bottom = self._view.cursorForPosition(self._view.viewport().rect().bottomRight()).position()
        first = bisect.bisect_left(self._hits, top - 200, key=lambda hit: hit.position)
        last = bisect.bisect_right(self._hits, bottom + 200, key=lambda hit: hit.position)
        theme = theme_of(self)
        selections: list[QTextEdit.ExtraSelection] = []
        for index in range(first, last):
            hit = self._hits[index]
            if hit.hidden is not None or not finder.is_at(document, hit):
                continue
            selection = QTextEdit.ExtraSelection()
            selection.cursor = self._view.cursor_at(hit.position)  # pyright: ignore[reportAttributeAccessIssue]
            selection.cursor.setPosition(hit.position + hit.length, QTextCursor.MoveMode.KeepAnchor)
            chars = QTextCharFormat()
            chars.setBackground(theme.color("accent" if index == self._current else "found"))
            chars.setForeground(theme.color("on_accent" if index == self._current else "text"))
            selection.format = chars  # pyright: ignore[reportAttributeAccessIssue]
            selections.append(selection)
        self._view.setExtraSelections(selections)

    def place(self) -> None:
        """Stand at the upper right of the view; in a narrow one with a shorter field."""
        bar = self._view.verticalScrollBar()
        beside = bar.width() if bar.isVisible() else 0
        self.field.setFixedWidth(_FIELD_WIDTH)
        self.adjustSize()
        too_wide = self.width() - (self._view.width() - beside - 2 * _MARGIN)
        if too_wide > 0:
            self.field.setFixedWidth(max(_LEAST_FIELD_WIDTH, _FIELD_WIDTH - too_wide))
            self.adjustSize()
        left = beside + _MARGIN if self.isRightToLeft() else self._view.width() - self.width() - beside - _MARGIN
        self.move(max(0, left), _MARGIN)

    # Events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Esc also stops an answer; here it only closes the field.
        if watched is self._view:
            if event.type() == QEvent.Type.Resize:
                self.place()
        elif (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.step(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(QPainter(self), self)
