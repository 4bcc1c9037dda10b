"""Messages on a sheet: drawn anew, added to, streamed, and drawn in parts where they are many or long."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.formats import Formats
from llama_gui.ui.markdown.shelf import Fold
from llama_gui.ui.transcript.finding import Hidden
from llama_gui.ui.transcript.page import Page
from llama_gui.ui.transcript.page_end import is_refused
from llama_gui.ui.transcript.place import Reading
from llama_gui.ui.transcript.sheet import Sheet
from llama_gui.ui.transcript.sources import sources_key

FRAME_MS = 33
PAINTING_S = 0.008
_REST_MS = 400


class DrawnChat(Sheet):
    """Keeps the messages and their page. Draws only while it is visible."""

    drawn = Signal()
    """The document has changed."""
    scrolled = Signal()
    """It stands somewhere else than before, and has come to rest there."""
    node_reached = Signal(str)
    """The message that was to be gone to is in sight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._secret = f"act-{secrets.token_hex(8)}"
        self._nodes: list[Node] = []
        self._versions: Mapping[str, tuple[int, int]] = {}
        self._unfolded: set[str] = set()  # the answers whose reasoning is shown, or by `sources_key` their sources
        self._arrived: list[str] = []
        self._waiting = ""
        self._has_draft = False
        self._zoom = 1.0
        self._is_stale = False
        self._wanted_node = ""  # to go to as soon as there is a page
        self._reading: Reading | None = None  # to go back to when the page is drawn anew
        self._page = self._new_page()
        self._timer = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._rest_timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self.flush)
        self._rest_timer.timeout.connect(self._draw_rest)
        self._rested_at = 1.0
        self._scroll_timer = QTimer(self, singleShot=True, interval=_REST_MS)
        self._scroll_timer.timeout.connect(self._tell_scrolled)
        self.verticalScrollBar().valueChanged.connect(self._note_scrolling)

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
        self.place.follows = True
        if self._is_stale or self._page.is_streaming or not self.isVisible():
            self._draw_anew()
        else:
            self._change(lambda: self._page.add(self._waiting))

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

    def set_has_draft(self, has_draft: bool) -> None:
        """Whether something is written that can be sent; in the place of a refused question, so that is not offered."""
        if has_draft == self._has_draft:
            return
        self._has_draft = self._page.has_draft = has_draft
        if self._nodes and is_refused(self._nodes[-1]) and not self._timer.isActive():
            self._timer.start()

    @property
    def zoom(self) -> float:
        """How much the text is scaled."""
        return self._zoom

    def set_zoom(self, zoom: float) -> None:
        """Scale the text."""
        if zoom != self._zoom:
            self._zoom = zoom
            self._draw_anew()

    def nodes(self) -> list[Node]:
        """The messages as they are shown, with all text that has arrived."""
        self._take_arrived()
        return list(self._nodes)

    @property
    def page(self) -> Page:
        """What is drawn, and where."""
        return self._page

    # Drawing

    def _new_page(self) -> Page:
        return Page(self.document(), Formats(self.theme, self._zoom), self._secret, self._unfolded)

    def _draw_anew(self) -> None:
        if not self._is_stale:
            self._reading = self._read_now()
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
            reading = self._reading if self.place.is_settled and not self._wanted_node else None
            self._change(self._write_all)
            if reading is not None:
                self._go_back(reading)
        elif not self._page.is_streaming:
            self._change(lambda: self._page.wait(self._waiting))
        elif arrived or not self._page.has_streamed:
            self._change(lambda: self._page.stream(arrived, self._waiting))
        if self._page.is_streaming:
            # Never more than a quarter of the time for drawing, whatever a model writes.
            self._timer.setInterval(max(FRAME_MS, round(4000 * (perf_counter() - started))))

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
        is_drawn = not self._is_stale and self.isVisible()
        if is_last and is_drawn and node.role == "tool":
            self._change(lambda: self._page.draw_again(node.id))
        elif is_last and is_drawn and self._page.is_streaming and node.status != "streaming":
            self._change(lambda: self._page.settle(node))
        else:
            self._draw_anew()

    def _change(self, write: Callable[[], None]) -> None:
        """Run a change of the end of the document; the selection and the place on the screen stay."""
        cursor = self.textCursor()
        anchor, position = cursor.anchor(), cursor.position()
        with self.place.kept():
            own = QTextCursor(self.document())
            own.beginEditBlock()
            write()
            own.endEditBlock()
            if anchor != position:
                self.select(anchor, position)
        self._has_drawn()

    def _insert(self, write: Callable[[], object], there: QTextCursor) -> None:
        """Run a change in the middle of the document; the line of the cursor `there` stays where it is seen."""
        own = QTextCursor(self.document())
        with self.place.moved_with(lambda: self.document().documentLayout().blockBoundingRect(there.block()).top()):
            own.beginEditBlock()
            write()
            own.endEditBlock()
        self._has_drawn()

    def _top(self) -> QTextCursor:
        return self.cursor_at(self.top_position())

    def _has_drawn(self) -> None:
        self.centre()
        self.has_caret = self._page.has_streamed
        self._go_to_wanted()
        if self._wanted_node and not self._is_stale:
            node_id, self._wanted_node = self._wanted_node, ""
            self.scroll_to_node(node_id)
        if self._page.next_fold() is not None or self._page.has_coats:
            self._rest_timer.start()
        self.drawn.emit()

    def theme_changed(self) -> None:
        self._draw_anew()

    def _write_all(self) -> None:
        self._is_stale = False
        self._page = self._new_page()
        self._page.has_draft = self._has_draft
        self._page.write(self._nodes, self._waiting, self._versions)

    @Slot()
    def _draw_rest(self) -> None:
        """One more part of a long message, or some lines of long code in colour."""
        if self._is_stale or not self.isVisible():
            return
        number = self._page.next_fold()
        if number is not None:
            self.unfold(number)
        elif self._page.has_coats:
            self._page.paint_code(PAINTING_S)
            self._rest_timer.start()

    def unfold(self, number: int, offset: int = 0) -> int:
        """Draw a part of what a fold stands for, see `Page.unfold`."""
        there = [-1]
        if number in self._page.folds():
            self._insert(lambda: there.insert(0, self._page.unfold(number, offset)), self._top())
        return there[0]

    # What is not drawn

    def folds(self) -> Mapping[int, Fold]:
        return {} if self._is_stale else self._page.folds()

    def hidden_texts(self) -> list[Hidden]:
        """All text that is not drawn."""
        return [] if self._is_stale else self._page.hidden()

    def reveal(self, hidden: Hidden, offset: int) -> int:
        """Draw a text that is not drawn, or where `offset` is in it. Where that begins in the document, or -1."""
        if hidden.kind == "fold":
            return self.unfold(int(hidden.key), offset)
        if hidden.kind == "reasoning":
            self.toggle_reasoning(hidden.key)
        else:
            self.draw_node(hidden.key)
        extent = self.extent_of(hidden.key)
        return extent[0] if extent is not None else -1

    def draw_gap(self, first: int) -> None:
        """Draw some messages of the gap that begins with the message `first`; see `Page.draw_gap`."""
        gap = next((gap for gap in self._page.gaps() if gap[1] == first), None)
        if gap is not None:
            self.place.leave_end()
            below = self.document().findBlock(gap[0]).next().position()
            stays = below if first == 0 else min(gap[0], self.top_position())
            self._insert(lambda: self._page.draw_gap(first), self.cursor_at(stays))

    def toggle_reasoning(self, node_id: str) -> None:
        """Show or hide what was thought before an answer."""
        self._toggle(node_id, node_id)

    def toggle_sources(self, node_id: str) -> None:
        """Show or hide the passages that an answer is made from."""
        self._toggle(node_id, sources_key(node_id))

    def _toggle(self, node_id: str, key: str) -> None:
        self._unfolded.symmetric_difference_update({key})
        place = self.extent_of(node_id)
        if place is not None:
            self.place.leave_end()
            above = self.cursor_at(max(place[0] - 1, 0))
            above.setKeepPositionOnInsert(True)  # what is written anew begins there
            self._insert(lambda: self._page.draw_again(node_id), above)

    # Where it stands

    def _read_now(self) -> Reading | None:
        """What stands at the upper edge of the view; None where the view moves by itself."""
        top = self.top_position()
        node_id = self._page.node_at(top)
        extent = self.extent_of(node_id) if node_id is not None and self.place.is_settled else None
        if node_id is None or extent is None:
            return None
        return Reading(node_id, top - extent[0], self.cursorRect(self.cursor_at(top)).top())

    def _go_back(self, reading: Reading) -> None:
        """Have what was read in its place again, though it may be folded now or behind a gap."""
        if all(node.id != reading.node_id for node in self._nodes):
            return
        self.place.leave_end()  # of a page that may be shorter for the moment
        self.draw_node(reading.node_id)
        extent = self._unfolded_to(reading)
        if extent is not None:
            there = self.cursor_at(min(extent[0] + reading.offset, extent[1]))
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.cursorRect(there).top() - reading.y)
        self.place.note()

    def _unfolded_to(self, reading: Reading) -> tuple[int, int] | None:
        """Where a message begins and ends, once it is drawn as far as it was read."""
        while (extent := self.extent_of(reading.node_id)) and extent[1] - extent[0] < reading.offset:
            start, end = extent
            folds = self.folds().items()
            number = next((number for number, fold in folds if start <= fold.cursor.position() <= end), None)
            if number is None:
                break
            self.unfold(number)
        return extent

    def go_to_end(self) -> None:
        """Show the end, and stay there while it moves."""
        self.place.go_to_end()

    def scroll_place(self) -> float:
        """Where the view stands, from 0 to 1: at which of the messages, and how far in it. How much of the chat is
        drawn makes no difference: at the next start it is less.
        """
        if self.place.wanted is not None:
            return self.place.wanted
        if self.place.follows or not self._nodes:
            return 1.0
        reading = self._reading if self._is_stale else self._read_now()
        ids = [node.id for node in self._nodes]
        if reading is None or reading.node_id not in ids:  # a gap is at the upper edge
            below = next((last for start, _, last in reversed(self._page.gaps()) if start <= self.top_position()), 0)
            return below / len(ids)
        start, end = self.extent_of(reading.node_id) or (0, 0)
        part = reading.offset / (end - start + 1) if end > start else 0.0
        return (ids.index(reading.node_id) + min(part, 0.9999)) / len(ids)

    def set_scroll_place(self, place: float) -> None:
        """Go to a place that `scroll_place` gave; where nothing is drawn yet, as soon as it is."""
        self.place.want(place)
        if not self._is_stale:
            self._go_to_wanted()

    def _go_to_wanted(self) -> None:
        """Go where `set_scroll_place` said; once more with the next change while the page is not whole yet."""
        wanted = self.place.wanted
        if wanted is None or not self._nodes or not self.verticalScrollBar().maximum():
            return
        self.place.leave_end()
        index = int(wanted * len(self._nodes))
        node_id = self._nodes[index].id
        self.draw_node(node_id)
        if extent := self.extent_of(node_id):
            part = wanted * len(self._nodes) - index
            self.scroll_to(extent[0] + round(part * (extent[1] - extent[0] + 1)), 0)
        if self._page.next_fold() is not None:
            self.place.want(wanted)

    @Slot()
    def _note_scrolling(self) -> None:
        self._scroll_timer.start()

    @Slot()
    def _tell_scrolled(self) -> None:
        if self.scroll_place() != self._rested_at:
            self._rested_at = self.scroll_place()
            self.scrolled.emit()

    def scroll_to_node(self, node_id: str) -> None:
        """Go to a message, draw it if need be, and light it up for a moment."""
        if self._is_stale or not self._nodes:
            self._wanted_node = node_id
            return
        self.draw_node(node_id)
        extent = self.extent_of(node_id)
        if extent is not None:
            self.scroll_to(extent[0], 0.08)
            self.node_reached.emit(node_id)  # who hears it may unfold what was thought there
            self.flash(*(self.extent_of(node_id) or extent))

    def draw_node(self, node_id: str) -> None:
        """Draw a message that is not drawn yet."""
        if self.extent_of(node_id) is None:
            self._insert(lambda: self._page.draw(node_id), self._top())

    def extent_of(self, node_id: str) -> tuple[int, int] | None:
        """Where a message begins and ends in the document, None where it is not drawn."""
        return None if self._is_stale else self._page.extent_of(node_id)

    def _drawn_nodes(self) -> list[Node]:
        return [] if self._is_stale else self._page.drawn()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.flush()
