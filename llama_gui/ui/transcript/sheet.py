"""The sheet that a transcript is written on: its column, its ground, and that nothing on it is ever fetched."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRectF, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QTextTable,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from llama_gui.ui.markdown.copying import selected_text
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.formula import extent_around, formula_at, formulas_of
from llama_gui.ui.markdown.shelf import Fold
from llama_gui.ui.theme import COLUMN_WIDTH, theme_of
from llama_gui.ui.transcript.painter import BackgroundPainter, paint_caret, paint_flash
from llama_gui.ui.transcript.place import ScrollPlace

FLASH_MS = 1600
_MOVING_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)
SIDE_MARGIN = 32
_AIRY = 1.5  # of what a wide table needs beside the column, where there is room for it
_EDGE = 12  # between a wide table and the edge of the window


class Sheet(QTextBrowser):
    """A text browser in one centred column. Colours and places are its own; the text is written by `TranscriptView`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme_of(self)
        self.place = ScrollPlace(self.verticalScrollBar(), self)
        self.has_caret = False
        self._is_resized = False
        self._held: tuple[QTextCursor, int] | None = None  # a line, and where the bar stood when it was held
        self._flash: tuple[QTextCursor, QTextCursor] | None = None
        self._flash_timer = QTimer(self, singleShot=True, interval=FLASH_MS)
        self._flash_timer.timeout.connect(self._end_flash)
        self.verticalScrollBar().rangeChanged.connect(self.centre)
        self._set_up()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setSearchPaths([])
        self.setAccessibleName(self.tr("Conversation"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setCursorWidth(0)  # until somebody selects by keys
        self.viewport().setAutoFillBackground(False)
        document = self.document()
        document.setDocumentMargin(0)
        document.setBaseUrl(QUrl())

    def folds(self) -> Mapping[int, Fold]:
        """The texts that lines on the sheet stand for."""
        return {}

    def theme_changed(self) -> None:
        """The colours are other ones from now on."""

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy plain text only."""
        data = QMimeData()
        data.setText(selected_text(self.textCursor(), self.folds()))
        return data

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing is ever read from disk or network. Only an image, even an empty one, keeps Qt from trying itself."""
        return QImage()

    def scroll_to(self, position: int, share: float) -> None:
        """Bring a place in the document to this share of the height of the view."""
        cursor = self.cursor_at(position)
        self.place.leave_end()
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(cursor).top() - round(share * self.viewport().height()))

    def top_position(self) -> int:
        """The place in the document that is at the upper edge of the view."""
        return self.cursorForPosition(QPoint(0, 0)).position()

    def cursor_at(self, position: int) -> QTextCursor:
        """A cursor at a place in the document, or at its end."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(position, self.document().characterCount() - 1))
        return cursor

    def select(self, anchor: int, position: int) -> None:
        """Select from one place to another, as far as there are such places."""
        end = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def flash(self, start: int, end: int) -> None:
        """Light up what stands between two places for a moment."""
        self._flash = (self.cursor_at(start), self.cursor_at(end))
        self._flash_timer.start()
        self.viewport().update()

    @Slot()
    def _end_flash(self) -> None:
        self._flash = None
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.theme.color("page"))
        offset = self.verticalScrollBar().value()
        painter.translate(0, -offset)
        visible = QRectF(event.rect()).translated(0, offset)
        first = self.cursorForPosition(QPoint(0, max(0, event.rect().top() - 40))).block()
        BackgroundPainter(painter, self.document(), self.theme, visible).paint(first)
        if self._flash is not None:
            paint_flash(painter, *self._flash, self.theme)
        painter.end()
        super().paintEvent(event)
        if (formulas := formulas_of(self.document())) is not None:
            painter = QPainter(self.viewport())
            painter.setClipRegion(event.region())
            formulas.draw_selected(painter)
            painter.end()
        if self.has_caret:
            paint_caret(self, self.theme)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVING_KEYS:
            self.setCursorWidth(1)
        before = self.textCursor().position()
        super().keyPressEvent(event)
        self._pass_formula(before)

    def _pass_formula(self, before: int) -> None:
        """A key never stops within a formula: it is passed like one letter."""
        cursor = self.textCursor()
        place = cursor.position()
        inside = extent_around(self.document(), place) if place != before else None
        if inside is not None:
            keep = QTextCursor.MoveMode.KeepAnchor if cursor.hasSelection() else QTextCursor.MoveMode.MoveAnchor
            cursor.setPosition(inside[1] if place > before else inside[0], keep)
            self.setTextCursor(cursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        cursor = self.cursorForPosition(event.position().toPoint())
        inside = formula_at(cursor)
        if inside is not None:  # as a word is
            self.select(*inside)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setCursorWidth(0)
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._is_resized or not self.place.is_settled:
            self._resize(event)
            return
        self._is_resized = True  # the margins change the size once more
        held = self._held_line()
        bar = self.verticalScrollBar()
        try:
            # In a narrower column the text above is longer: Qt would keep the pixels, and lose what is read.
            with self.place.moved_with(lambda: self.cursorRect(held).top() + bar.value()):
                self._resize(event)
        finally:
            self._is_resized = False
        self._held = held, bar.value()

    def _resize(self, event: QResizeEvent) -> None:
        self.centre()
        super().resizeEvent(event)

    def _held_line(self) -> QTextCursor:
        """What stands at the upper edge. While a window is dragged larger or smaller it is one and the same, and not
        each time the beginning of the line that it has come to stand in.
        """
        if self._held is not None and self._held[1] == self.verticalScrollBar().value():
            return self._held[0]
        return self.cursor_at(self.top_position())

    @Slot()
    def centre(self) -> None:
        """Keep the column in the middle, scroll bar or not, and let wide tables reach beyond it."""
        side = max(SIDE_MARGIN, (self.width() - COLUMN_WIDTH) // 2)
        bar = self.verticalScrollBar()
        beside = side - (bar.sizeHint().width() if bar.maximum() > 0 else 0)
        left, right = (beside, side) if self.isRightToLeft() else (side, beside)
        # Only where a table needs it: the page is laid out anew with each step that its width changes.
        wide = self._wide_tables()
        room = max(0, right - _EDGE) if wide else 0
        if self.viewportMargins().right() != right - room or self.viewportMargins().left() != left:
            self.setViewportMargins(left, 0, right - room, 0)
        root = self.document().rootFrame()
        page = root.frameFormat()
        if page.rightMargin() != room:
            page.setRightMargin(room)
            root.setFrameFormat(page)
        for table in wide:
            form = table.format()
            needed = float(form.property(Property.WIDE)) + form.leftMargin() - COLUMN_WIDTH
            beyond = max(0.0, min(room, _AIRY * needed))
            if form.rightMargin() != -beyond:
                form.setRightMargin(-beyond)
                table.setFormat(form)

    def _wide_tables(self) -> list[QTextTable]:
        """Those whose words need more room than the column has."""
        frames = self.document().rootFrame().childFrames()
        tables = (frame for frame in frames if isinstance(frame, QTextTable))
        return [table for table in tables if table.format().property(Property.WIDE)]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and theme_of(self) is not self.theme:
            self.theme = theme_of(self)
            self.theme_changed()
