"""The messages of a chat in one text document: written anew, added to, streamed at the end, and settled.

Not all of them are in it: a gap is a line that stands for messages which are drawn when somebody asks for them, and a
fold a line that stands for the rest of a long message.
"""

import bisect
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from time import perf_counter

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QTextCursor, QTextDocument

from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.document_writer import DocumentWriter, Fold, Mark, paint_line
from llama_gui.ui.markdown.formats import Formats, Property
from llama_gui.ui.markdown.stream import AT_ONCE, MAX_DRAWN, write_fold
from llama_gui.ui.transcript.answer import AnswerStream
from llama_gui.ui.transcript.finding import Hidden
from llama_gui.ui.transcript.message import write_answer, write_footer, write_name, write_user
from llama_gui.ui.transcript.reasoning import split_reasoning

TOP_MARGIN = 48
BOTTOM_MARGIN = 12
MESSAGES_AT_ONCE = 200
CHARACTERS_AT_FIRST = 32_000
CHARACTERS_MORE = 16_000
_AROUND = 8
_WAITING_GAP, _WAITING_GAP_UNDER_NAME = 28, 4


@dataclass(slots=True)
class _Item:
    """A message that is drawn, or a gap of several: from `first` up to `last` in the list, at `start` on the page."""

    start: int
    first: int
    last: int
    is_gap: bool = False


class Page:
    """Writes into a document of which it holds the end. `waiting` is what to say while an answer has no text."""

    def __init__(self, document: QTextDocument, formats: Formats, commands: str, unfolded: Set[str]) -> None:
        document.clear()
        document.setIndentWidth(formats.indent)
        root = document.rootFrame()
        frame = root.frameFormat()
        frame.setTopMargin(TOP_MARGIN)
        frame.setBottomMargin(BOTTOM_MARGIN)
        root.setFrameFormat(frame)
        self._document = document
        self._writer = DocumentWriter(document, formats, commands)
        self._unfolded = unfolded
        self._stream: AnswerStream | None = None
        self._answer_mark = self._last_mark = self._writer.mark()
        self._footer_mark: Mark | None = None
        self._waiting_mark: Mark | None = None
        self._nodes: Sequence[Node] = ()
        self._items: list[_Item] = []  # as they stand in the document
        self._waiting = ""
        self.versions: Mapping[str, tuple[int, int]] = {}

    # Where things are

    def node_at(self, position: int) -> str | None:
        """The message that a place in the document belongs to."""
        place = bisect.bisect_right(self._items, position, key=lambda item: item.start)
        item = self._items[place - 1] if place else None
        return None if item is None or item.is_gap else self._nodes[item.first].id

    def extent_of(self, node_id: str) -> tuple[int, int] | None:
        """Where a message begins and where it ends in the document."""
        for place, item in enumerate(self._items):
            if not item.is_gap and self._nodes[item.first].id == node_id:
                return item.start, self._end_of(place)
        return None

    def drawn(self) -> list[Node]:
        """The messages that no gap stands for."""
        return [self._nodes[item.first] for item in self._items if not item.is_gap]

    def gaps(self) -> list[tuple[int, int, int]]:
        """Of each gap: its place in the document, its first message and the one after its last, counted from 0."""
        return [(item.start, item.first, item.last) for item in self._items if item.is_gap]

    def _end_of(self, place: int) -> int:
        if place == len(self._items) - 1:
            return self._document.characterCount() - 1
        return self._items[place + 1].start - 1

    @property
    def is_streaming(self) -> bool:
        """Whether the last message is an answer that is being written."""
        return self._stream is not None

    @property
    def has_streamed(self) -> bool:
        """Whether that answer has any text yet."""
        return self._stream is not None and bool(self._stream.source)

    def code(self, number: int) -> str:
        """The source of a box of code."""
        return self._writer.shelf.codes.get(number, "")

    def hidden(self) -> list[Hidden]:
        """All text that is not drawn, first to last."""
        found = [
            Hidden(item.start, "message", node.id, node.content)
            for item in self._items
            if item.is_gap
            for node in self._nodes[item.first : item.last]
        ]
        for node_id, item in ((self._nodes[item.first].id, item) for item in self._items if not item.is_gap):
            parts = split_reasoning(self._nodes[item.first].content)
            if parts.reasoning and node_id not in self._unfolded:
                found.append(Hidden(item.start, "reasoning", node_id, parts.reasoning))
        found += [
            Hidden(fold.cursor.block().position(), "fold", str(number), fold.text)
            for number, fold in self._writer.shelf.folds.items()
        ]
        return found

    def folds(self) -> Mapping[int, Fold]:
        """What is not drawn of long messages, by the numbers of the folds."""
        return self._writer.shelf.folds

    # The end

    def write(self, nodes: Sequence[Node], waiting: str, versions: Mapping[str, tuple[int, int]]) -> None:
        """Write the last messages, and a gap for those before them. `nodes` may grow; `add` tells."""
        self._nodes, self._waiting, self.versions = nodes, waiting, versions
        first = begin_of_chunk(nodes, len(nodes), CHARACTERS_AT_FIRST)
        if first:
            self._write_gap(self._writer, _Item(self._writer.next_start(), 0, first, is_gap=True), self._items)
        for index in range(first, len(nodes)):
            self._write_last(index, is_last=index == len(nodes) - 1)

    def add(self, waiting: str) -> None:
        """Write the message that the list has grown by; the answer before it can no longer be asked for again."""
        self._waiting = waiting
        self._take_back_waiting()
        if self._footer_mark is not None and len(self._nodes) > 1:
            self._writer.rewind(self._footer_mark)
            self._write_footer(self._writer, self._nodes[-2], is_last=False)
        self._write_last(len(self._nodes) - 1, is_last=True)

    def stream(self, text: str, waiting: str) -> None:
        """Write more of the last answer."""
        if self._stream is None:
            return
        self._stream.append(text)
        if self._stream.source:
            self._stream.flush()
        elif waiting:
            self._writer.rewind(self._answer_mark)
            self._muted(waiting, _WAITING_GAP_UNDER_NAME)

    def settle(self, node: Node) -> None:
        """Give the last answer its final form and its footer."""
        if self._stream is None or self._stream.source != node.content or not node.content:
            self._writer.rewind(self._answer_mark)
            self._stream = AnswerStream(self._writer, node.id, is_unfolded=node.id in self._unfolded)
            self._stream.append(node.content)
        self._stream.finish()
        self._stream = None
        self._footer_mark = self._writer.mark()
        self._write_footer(self._writer, node, is_last=True)

    def wait(self, waiting: str) -> None:
        """A question that has no answer yet says what it waits for."""
        self._take_back_waiting()
        if waiting and self._nodes and self._nodes[-1].role == "user":
            self._waiting_mark = self._writer.mark()
            self._muted(waiting, _WAITING_GAP)

    def _write_last(self, index: int, *, is_last: bool) -> None:
        node = self._nodes[index]
        self._footer_mark = None
        self._last_mark = self._writer.mark()
        self._items.append(_Item(self._writer.next_start(), index, index + 1))
        if node.status == "streaming" and is_last and node.role == "assistant":
            write_name(self._writer, node.model)
            self._answer_mark = self._writer.mark()
            self._stream = AnswerStream(self._writer, node.id, is_unfolded=node.id in self._unfolded)
            self.stream(node.content, self._waiting)
            return
        self._write_node(self._writer, node, is_last=is_last)
        if is_last and node.role == "user":
            self.wait(self._waiting)

    def _write_node(self, writer: DocumentWriter, node: Node, *, is_last: bool) -> None:
        if node.role == "user":
            write_user(writer, node, self.versions.get(node.id))
        elif node.role == "assistant":
            write_answer(writer, node, is_unfolded=node.id in self._unfolded)
            if is_last:
                self._footer_mark = writer.mark()
            self._write_footer(writer, node, is_last=is_last)

    def _write_footer(self, writer: DocumentWriter, node: Node, *, is_last: bool) -> None:
        write_footer(writer, node, self.versions.get(node.id), is_last=is_last)

    def _take_back_waiting(self) -> None:
        if self._waiting_mark is not None:
            self._writer.rewind(self._waiting_mark)
            self._waiting_mark = None

    def _muted(self, text: str, top: float) -> None:
        formats = self._writer.formats
        block = formats.paragraph(top)
        block.setProperty(Property.CHROME, True)
        self._writer.line(text, block, formats.text("muted"))

    # The middle

    def draw(self, node_id: str) -> bool:
        """Draw a message that a gap stands for, with some around it. False where it is drawn already or unknown."""
        index = next((i for i, node in enumerate(self._nodes) if node.id == node_id), -1)
        for place, item in enumerate(self._items):
            if item.is_gap and item.first <= index < item.last:
                first = begin_of_chunk(self._nodes, index + 1, CHARACTERS_MORE, _AROUND)
                self._open(place, max(item.first, first), min(item.last, index + _AROUND))
                return True
        return False

    def draw_gap(self, first: int) -> None:
        """Draw the last messages of the gap that begins with the message `first`."""
        for place, item in enumerate(self._items):
            if item.is_gap and item.first == first:
                self._open(place, max(first, begin_of_chunk(self._nodes, item.last, CHARACTERS_MORE)), item.last)
                return

    def draw_again(self, node_id: str) -> None:
        """Write a message anew where it stands."""
        place = next((i for i, it in enumerate(self._items) if self._is(it, node_id)), -1)
        if place < 0:
            return
        item = self._items[place]
        if place == len(self._items) - 1:
            self._items.pop()
            self._stream = self._waiting_mark = None
            self._writer.rewind(self._last_mark)
            self._write_last(item.first, is_last=True)
        else:
            self._replace(place, [item])

    def unfold(self, number: int, offset: int = 0) -> int:
        """Draw a part of what a fold stands for: its beginning, or where `offset` is. Where that part starts, or -1."""
        fold = self._writer.shelf.folds.pop(number, None)
        if fold is None:
            return -1
        block = fold.cursor.block()
        start, end, length = block.position(), block.position() + block.length() - 1, self._document.characterCount()
        ends_here = self._footer_mark is not None and self._footer_mark.position == end
        writer = self._writer.beside(start, end)
        there = write_fold(writer, fold, offset)
        if ends_here:
            self._footer_mark = writer.mark()
        grown = self._document.characterCount() - length
        for item in self._items:
            item.start += grown if item.start > start else 0
        return there

    def ask_for(self, number: int) -> None:
        """Let more of a fold be drawn."""
        folds = self._writer.shelf.folds
        if number in folds:
            folds[number] = replace(folds[number], quota=MAX_DRAWN)

    def next_fold(self) -> int | None:
        """A fold that has leave to be drawn."""
        return next((number for number, fold in self._writer.shelf.folds.items() if fold.quota > 0), None)

    @property
    def has_coats(self) -> bool:
        """Whether some long code still has no colours."""
        return bool(self._writer.shelf.coats)

    def paint_code(self, seconds: float) -> None:
        """Colour more lines of long code, for so long."""
        number, coat = next(iter(self._writer.shelf.coats.items()))
        deadline = perf_counter() + seconds
        block, cursor = coat.cursor.block(), QTextCursor(self._document)
        cursor.beginEditBlock()
        for line in coat.lines:
            block = block.next()
            if block.blockFormat().property(Property.BOX_ID) != number:
                break  # it is no longer there
            paint_line(cursor, block, line, self._writer.formats)
            if perf_counter() > deadline:
                coat.cursor.setPosition(block.position())
                cursor.endEditBlock()
                return
        del self._writer.shelf.coats[number]
        cursor.endEditBlock()

    def _is(self, item: _Item, node_id: str) -> bool:
        return not item.is_gap and self._nodes[item.first].id == node_id

    def _open(self, place: int, first: int, last: int) -> None:
        gap = self._items[place]
        pieces = [_Item(0, index, index + 1) for index in range(first, last)]
        if first > gap.first:
            pieces.insert(0, _Item(0, gap.first, first, is_gap=True))
        if last < gap.last:
            pieces.append(_Item(0, last, gap.last, is_gap=True))
        self._replace(place, pieces)

    def _replace(self, place: int, pieces: Sequence[_Item]) -> None:
        """Write these in the place of an item that is not the last."""
        start, length = self._items[place].start, self._document.characterCount()
        writer = self._writer.beside(start, self._end_of(place))
        written: list[_Item] = []
        for piece in pieces:
            piece.start = writer.next_start()
            if piece.is_gap:
                self._write_gap(writer, piece, written)
            else:
                written.append(piece)
                self._write_node(writer, self._nodes[piece.first], is_last=False)
        self._items[place : place + 1] = written
        grown = self._document.characterCount() - length
        for item in self._items[place + len(written) :]:
            item.start += grown

    def _write_gap(self, writer: DocumentWriter, item: _Item, items: list[_Item]) -> None:
        items.append(item)
        block = writer.formats.paragraph(16)
        block.setProperty(Property.CHROME, True)
        writer.begin_block(block, writer.formats.small())
        label = QCoreApplication.translate("Transcript", "Show {} earlier messages")
        writer.command(label.format(f"{item.last - item.first:,}"), "earlier", item.first)


def begin_of_chunk(nodes: Sequence[Node], end: int, characters: int, most: int | None = None) -> int:
    """The first of the messages before `end` that are drawn in one go: about so many characters, one message at least.

    A long message counts for what is drawn of it at once.
    """
    first, least = end, max(0, end - (most or MESSAGES_AT_ONCE))
    while first > least and characters > 0:
        first -= 1
        characters -= min(len(nodes[first].content), AT_ONCE)
    return first
