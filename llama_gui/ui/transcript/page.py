"""The messages of a chat in one text document, and what stands for those that are not drawn.

A gap is a line that stands for messages which are drawn when somebody asks for them, a fold one that stands for the
rest of a long message, a coat the colours that long code will have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from PySide6.QtGui import QTextCursor

from llama_gui.chats.reasoning import parts_of
from llama_gui.ui.markdown.document_writer import DocumentWriter, paint_line
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.parts import MAX_DRAWN, write_fold
from llama_gui.ui.markdown.shelf import Fold
from llama_gui.ui.transcript.finding import Hidden
from llama_gui.ui.transcript.page_end import Item, PageEnd, begin_of_chunk, end_of_chunk

CHARACTERS_MORE = 12_000
_AROUND = 8


class Page(PageEnd):
    """A page whose middle can change while its end is written."""

    def gaps(self) -> list[tuple[int, int, int]]:
        """Of each gap: its place in the document, its first message and the one after its last, counted from 0."""
        return [(item.start, item.first, item.last) for item in self._items if item.is_gap]

    def hidden(self) -> list[Hidden]:
        """All text that is not drawn, first to last."""
        found = [
            Hidden(item.start, "message", node.id, node.content)
            for item in self._items
            if item.is_gap
            for node in self._nodes[item.first : item.last]
        ]
        for node_id, item in ((self._nodes[item.first].id, item) for item in self._items if not item.is_gap):
            node = self._nodes[item.first]
            folded = node.content if node.role == "tool" else parts_of(node).reasoning
            if folded and node_id not in self._unfolded:
                found.append(Hidden(item.start, "reasoning", node_id, folded))
        found += [
            Hidden(fold.cursor.block().position(), "fold", str(number), fold.text)
            for number, fold in self.folds().items()
        ]
        return found

    def folds(self) -> Mapping[int, Fold]:
        """What is not drawn of long messages, by the numbers of the folds."""
        folds = self._writer.shelf.folds
        for number, fold in list(folds.items()):
            if fold.cursor.blockFormat().property(Property.FOLD) != number:
                del folds[number]  # its line was taken back with its message
        return folds

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
        """Draw some messages of the gap that begins with the message `first`.

        Of the gap at the beginning the last ones, since it is met from below; of one in between the first ones.
        """
        for place, item in enumerate(self._items):
            if item.is_gap and item.first == first:
                if first == 0:
                    self._open(place, begin_of_chunk(self._nodes, item.last, CHARACTERS_MORE), item.last)
                else:
                    self._open(place, first, end_of_chunk(self._nodes, first, item.last, CHARACTERS_MORE))
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
        fold = self.folds().get(number)
        if fold is None:
            return -1
        del self._writer.shelf.folds[number]
        block = fold.cursor.block()
        start, end, length = block.position(), block.position() + block.length() - 1, self._document.characterCount()
        ending = self._marks_at(end)
        writer = self._writer.beside(start, end)
        there = write_fold(writer, fold, offset)
        self._move_marks(ending, writer)
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
        return next((number for number, fold in self.folds().items() if fold.quota > 0), None)

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

    def _is(self, item: Item, node_id: str) -> bool:
        return not item.is_gap and self._nodes[item.first].id == node_id

    def _open(self, place: int, first: int, last: int) -> None:
        gap = self._items[place]
        pieces = [Item(0, index, index + 1) for index in range(first, last)]
        if first > gap.first:
            pieces.insert(0, Item(0, gap.first, first, is_gap=True))
        if last < gap.last:
            pieces.append(Item(0, last, gap.last, is_gap=True))
        self._replace(place, pieces)

    def _replace(self, place: int, pieces: Sequence[Item]) -> None:
        """Write these in the place of an item that is not the last."""
        start, length = self._items[place].start, self._document.characterCount()
        ending = self._marks_at(self._end_of(place))
        writer = self._writer.beside(start, self._end_of(place))
        written: list[Item] = []
        for piece in pieces:
            piece.start = writer.next_start()
            if piece.is_gap:
                self._write_gap(writer, piece, written)
            else:
                written.append(piece)
                self._write_node(writer, self._nodes[piece.first], is_last=False)
        self._move_marks(ending, writer)
        self._items[place : place + 1] = written
        grown = self._document.characterCount() - length
        for item in self._items[place + len(written) :]:
            item.start += grown

    def _marks_at(self, position: int) -> list[str]:
        """The names of the marks that stand right behind what ends at a position."""
        names = ("_last_mark", "_answer_mark", "_footer_mark", "_waiting_mark")
        marks = {name: getattr(self, name) for name in names}
        return [name for name, mark in marks.items() if mark is not None and mark.position == position]

    def _move_marks(self, names: Sequence[str], writer: DocumentWriter) -> None:
        """Put marks behind what a writer has written in the middle."""
        for name in names:
            setattr(self, name, replace(writer.mark(), issued=getattr(self, name).issued))
