"""The transcript of one tab: a view of nodes that can be drawn anew from them at any time."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRectF, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from llama_gui.chats.tree import Node
from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import COLUMN_WIDTH, theme_of
from llama_gui.ui.transcript.copying import selected_text
from llama_gui.ui.transcript.formats import LIST_INDENT, Formats
from llama_gui.ui.transcript.hover_bar import HoverBar
from llama_gui.ui.transcript.page import Page
from llama_gui.ui.transcript.painter import BackgroundPainter

FRAME_MS = 33
SHOWN_AT_FIRST = 200
SIDE_MARGIN = 32
OPENED_SCHEMES = ("http", "https", "mailto")


class TranscriptView(QTextBrowser):
    """Shows messages; streams the last one. Draws only while it is visible."""

    again_requested = Signal()
    action_requested = Signal(str, str)
    """A verb (see `hover_bar`; also previous and next), and the message that it is for."""
    link_requested = Signal(str)
    at_end_changed = Signal(bool)
    copied = Signal()

    def __init__(self, icons: Icons | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._versions: Mapping[str, tuple[int, int]] = {}
        self._bar = HoverBar(icons, self.viewport()) if icons is not None else None
        self._secret = f"act-{secrets.token_hex(8)}"
        self._nodes: list[Node] = []
        self._shown = SHOWN_AT_FIRST
        self._arrived: list[str] = []
        self._waiting = ""
        self._zoom = 1.0
        self._is_stale = False
        self._is_drawing = False
        self._follows = True
        self._wanted_place: float | None = None
        self._theme = theme_of(self)
        self._page = Page(self.document(), Formats(self._theme), self._secret)
        self._timer = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._timer.timeout.connect(self.flush)
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
        self.viewport().setAutoFillBackground(False)
        document = self.document()
        document.setDocumentMargin(0)
        document.setIndentWidth(LIST_INDENT)
        document.setBaseUrl(QUrl())
        self.anchorClicked.connect(self._follow_anchor)
        if self._bar is not None:
            self._bar.chosen.connect(self._on_chosen)
            self._bar.left.connect(self._leave_bar)
            self.viewport().setMouseTracking(True)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._note_place)
        bar.valueChanged.connect(self._hide_bar)
        bar.rangeChanged.connect(self._keep_end)

    # What is shown

    def show_path(self, nodes: Sequence[Node], versions: Mapping[str, tuple[int, int]] | None = None) -> None:
        """Show these messages and nothing else. `versions`: message -> which of how many it is, from 1."""
        self._nodes = list(nodes)
        self._versions = versions or {}
        self._arrived.clear()
        self._draw_anew()

    def set_versions(self, versions: Mapping[str, tuple[int, int]]) -> None:
        """Which of how many each message is; drawn with the next footer."""
        self._versions = versions
        self._page.versions = versions

    def add_node(self, node: Node) -> None:
        """A message below the last one; the view goes to it."""
        self._take_arrived()
        self._nodes.append(node)
        self._follows = True
        if self._is_stale or self._page.is_streaming or not self.isVisible():
            self._draw_anew()
        else:
            self._change(lambda: self._page.add(self._nodes, self._waiting))

    def add_text(self, node_id: str, text: str) -> None:
        """More of the last message."""
        if self._nodes and self._nodes[-1].id == node_id:
            self._arrived.append(text)
            if not self._timer.isActive():
                self._timer.start()

    def replace_node(self, node: Node) -> None:
        """A message has its final text or status."""
        for index, known in enumerate(self._nodes):
            if known.id == node.id:
                self._nodes[index] = node
                self._settle(node, is_last=index == len(self._nodes) - 1)

    def set_waiting(self, text: str) -> None:
        """What to say while the last answer has no text yet."""
        if text != self._waiting:
            self._waiting = text
            if not self._page.has_streamed and not self._timer.isActive():
                self._timer.start()

    def set_zoom(self, zoom: float) -> None:
        """Scale the text."""
        if zoom != self._zoom:
            self._zoom = zoom
            self._draw_anew()

    def last_answer(self) -> str:
        """The Markdown of the last answer."""
        answers = [node.content for node in self._nodes if node.role == "assistant" and node.content]
        return answers[-1] if answers else ""

    def nodes(self) -> list[Node]:
        """The messages as they are shown, with all text that has arrived."""
        self._take_arrived()
        return list(self._nodes)

    # Drawing

    def _draw_anew(self) -> None:
        self._is_stale = True
        if self.isVisible():
            self.flush()

    @Slot()
    def flush(self) -> None:
        """Draw what has arrived. A hidden view waits until it is shown."""
        if not self.isVisible():
            return
        started = perf_counter()
        arrived = self._take_arrived()
        if self._is_stale:
            self._change(self._write_all)
        elif not self._page.is_streaming:
            self._change(lambda: self._page.wait(self._nodes, self._waiting))
        elif arrived or not self._page.has_streamed:
            self._change(lambda: self._page.stream(arrived, self._waiting))
        if self._page.is_streaming:
            # Never more than a quarter of the time for drawing, whatever a model writes.
            self._timer.setInterval(max(FRAME_MS, round(4000 * (perf_counter() - started))))
            self.viewport().update()

    def _take_arrived(self) -> str:
        arrived = "".join(self._arrived)
        self._arrived.clear()
        if arrived and self._nodes:
            last = self._nodes[-1]
            self._nodes[-1] = replace(last, content=last.content + arrived)
        return arrived

    def _settle(self, node: Node, *, is_last: bool) -> None:
        if is_last:  # the final text holds what has arrived and was not drawn
            self._arrived.clear()
        is_drawn = self._page.is_streaming and not self._is_stale and self.isVisible()
        if is_last and is_drawn and node.status != "streaming":
            self._change(lambda: self._page.settle(node))
        else:
            self._draw_anew()

    def _change(self, write: Callable[[], None]) -> None:
        """Run a change of the document; the selection and the place on the screen stay."""
        cursor = self.textCursor()
        anchor, position, place = cursor.anchor(), cursor.position(), self.verticalScrollBar().value()
        self._is_drawing = True
        own = QTextCursor(self.document())
        own.beginEditBlock()
        write()
        own.endEditBlock()
        if anchor != position:
            self._select(anchor, position)
        self._is_drawing = False
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum() if self._follows else min(place, bar.maximum()))
        self._note_place()
        self._go_to_wanted_place()

    def _select(self, anchor: int, position: int) -> None:
        end = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _write_all(self) -> None:
        self._is_stale = False
        self._page = Page(self.document(), Formats(self._theme, self._zoom), self._secret)
        hidden = max(0, len(self._nodes) - self._shown)
        self._page.write(
            self._nodes, hidden, self.tr("Show {} earlier messages").format(hidden), self._waiting, self._versions
        )

    # The place on the screen

    @Slot()
    def _note_place(self) -> None:
        if self._is_drawing:
            return
        bar = self.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 8
        if follows != self._follows:
            self._follows = follows
        self.at_end_changed.emit(follows)

    @Slot(int, int)
    def _keep_end(self, _low: int, high: int) -> None:
        self._centre()
        if self._follows and not self._is_drawing:
            self.verticalScrollBar().setValue(high)

    def go_to_end(self) -> None:
        """Show the end, and stay there while it moves."""
        self._follows = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def scroll_place(self) -> float:
        """Where the view stands, from 0 to 1."""
        bar = self.verticalScrollBar()
        if self._wanted_place is not None:
            return self._wanted_place
        return 1.0 if self._follows or not bar.maximum() else bar.value() / bar.maximum()

    def set_scroll_place(self, place: float) -> None:
        """Go to a place that `scroll_place` gave; where nothing is drawn yet, as soon as it is."""
        self._wanted_place = place if place < 1.0 else None
        self._go_to_wanted_place()

    def _go_to_wanted_place(self) -> None:
        bar = self.verticalScrollBar()
        if self._wanted_place is not None and not self._is_stale and self._nodes and bar.maximum():
            self._follows = False
            bar.setValue(round(self._wanted_place * bar.maximum()))
            self._wanted_place = None

    # Clicks and copying

    @Slot(QUrl)
    def _follow_anchor(self, url: QUrl) -> None:
        secret, _, rest = url.toString().partition(":")
        if secret == self._secret:
            verb, _, argument = rest.partition(":")
            self._run_command(verb, argument)
        elif url.scheme().lower() in OPENED_SCHEMES:
            self.link_requested.emit(url.toString())

    def _run_command(self, verb: str, argument: str) -> None:
        if verb == "again":
            self.again_requested.emit()
        elif verb == "earlier":
            self._shown += SHOWN_AT_FIRST
            self._draw_anew()
        elif verb == "copy-code":
            self._copy(self._page.code(int(argument)))
        elif verb in ("previous", "next"):
            self.action_requested.emit(verb, argument)
        elif verb == "copy":
            self._copy(next((node.content for node in self._nodes if node.id == argument), ""))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.emit()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy plain text only."""
        data = QMimeData()
        data.setText(selected_text(self.textCursor()))
        return data

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing is ever read from disk or network. Only an image, even an empty one, keeps Qt from trying itself."""
        return QImage()

    # The buttons of a message

    def _show_bar(self, node_id: str | None) -> None:
        """Float the buttons over a message, at its upper right, or at the upper edge when that is out of sight."""
        if self._bar is None:
            return
        node = next((node for node in self._nodes if node.id == node_id), None)
        extent = self._page.extent_of(node_id) if node_id is not None and not self._is_stale else None
        if node is None or extent is None or not self._bar.show_for(node):
            self._bar.hide()
            return
        start = QTextCursor(self.document())
        start.setPosition(min(extent[0], self.document().characterCount() - 1))
        end = QTextCursor(self.document())
        end.setPosition(min(extent[1], self.document().characterCount() - 1))
        top, bottom = self.cursorRect(start).top(), self.cursorRect(end).bottom()
        y = max(4, min(top - 22, self.viewport().height() - self._bar.height() - 4))
        if bottom < y or top > self.viewport().height():
            self._bar.hide()
            return
        self._bar.move(self.viewport().width() - self._bar.width(), y)

    def step_message(self, by: int) -> None:
        """Put the keyboard on the buttons of the next or previous message."""
        shown = [node.id for node in self._nodes[-self._shown :]]
        if self._bar is None or not shown or self._is_stale:
            return
        at = self._bar.node_id if self._bar.isVisible() else ""
        place = shown.index(at) + by if at in shown else len(shown) - 1
        node_id = shown[min(max(place, 0), len(shown) - 1)]
        extent = self._page.extent_of(node_id)
        if extent is not None:
            cursor = QTextCursor(self.document())
            cursor.setPosition(extent[0])
            rect = self.cursorRect(cursor)
            if not 0 <= rect.top() <= self.viewport().height() - 40:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + rect.top() - 60)
            self._show_bar(node_id)
            self._bar.focus_first()

    @Slot(str, str)
    def _on_chosen(self, verb: str, node_id: str) -> None:
        self.action_requested.emit(verb, node_id)

    @Slot()
    def _hide_bar(self) -> None:
        if self._bar is not None and not self._bar.has_focus:
            self._bar.hide()

    @Slot()
    def _leave_bar(self) -> None:
        if self._bar is not None:
            self._bar.hide()
        self.setFocus()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if not event.buttons():  # else something is being selected
            at = self.cursorForPosition(event.position().toPoint())
            self._show_bar(self._page.node_at(at.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._bar is not None and not self._bar.has_focus:
            self._bar.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step_message(-1 if event.key() == Qt.Key.Key_Up else 1)
            return
        super().keyPressEvent(event)

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.color("page"))
        offset = self.verticalScrollBar().value()
        painter.translate(0, -offset)
        visible = QRectF(event.rect()).translated(0, offset)
        first = self.cursorForPosition(QPoint(0, max(0, event.rect().top() - 40))).block()
        BackgroundPainter(painter, self.document(), self._theme, visible).paint(first)
        painter.end()
        super().paintEvent(event)
        if self._page.has_streamed:
            self._paint_caret()

    def _paint_caret(self) -> None:
        end = QTextCursor(self.document())
        end.movePosition(QTextCursor.MoveOperation.End)
        rect = self.cursorRect(end)
        painter = QPainter(self.viewport())
        painter.fillRect(rect.right() + 2, rect.bottom() - 3, 8, 2, self._theme.color("accent"))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._centre()
        super().resizeEvent(event)

    def _centre(self) -> None:
        """Keep the column in the middle, whether or not there is a scroll bar beside it."""
        side = max(SIDE_MARGIN, (self.width() - COLUMN_WIDTH) // 2)
        bar = self.verticalScrollBar()
        right = side - (bar.sizeHint().width() if bar.maximum() > 0 else 0)
        if self.viewportMargins().right() != right or self.viewportMargins().left() != side:
            self.setViewportMargins(side, 0, right, 0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.flush()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and theme_of(self) is not self._theme:
            self._theme = theme_of(self)
            self._draw_anew()
