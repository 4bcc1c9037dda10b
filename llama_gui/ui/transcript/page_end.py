"""The end of a page: messages written one below the other, and the last answer as it streams and settles."""

import bisect
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QTextDocument

from llama_gui.chats.message_files import sources_of, was_in_vain
from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Formats, Property
from llama_gui.ui.markdown.parts import AT_ONCE
from llama_gui.ui.markdown.shelf import Mark
from llama_gui.ui.numbers import counted
from llama_gui.ui.transcript.answer import AnswerStream
from llama_gui.ui.transcript.message import write_again, write_answer, write_footer, write_name, write_user
from llama_gui.ui.transcript.sources import sources_key, write_in_vain, write_sources
from llama_gui.ui.transcript.tool_line import write_tool

TOP_MARGIN = 48
BOTTOM_MARGIN = 12
MESSAGES_AT_ONCE = 200
CHARACTERS_AT_FIRST = 20_000
translate = QCoreApplication.translate
_WAITING_GAP, _WAITING_GAP_UNDER_NAME = 28, 4


@dataclass(slots=True)
class Item:
    """A message that is drawn, or a gap of several: from `first` up to `last` in the list, at `start` on the page."""

    start: int
    first: int
    last: int
    is_gap: bool = False


class PageEnd:
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
        self._items: list[Item] = []  # as they stand in the document
        self._waiting = ""
        self.has_draft = False  # which takes the place of a question that was refused
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

    # The end

    def write(self, nodes: Sequence[Node], waiting: str, versions: Mapping[str, tuple[int, int]]) -> None:
        """Write the last messages, and a gap for those before them. `nodes` may grow; `add` tells."""
        self._nodes, self._waiting, self.versions = nodes, waiting, versions
        first = begin_of_chunk(nodes, len(nodes), CHARACTERS_AT_FIRST)
        if first:
            self._write_gap(self._writer, Item(self._writer.next_start(), 0, first, is_gap=True), self._items)
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
            self._stream = AnswerStream(self._writer, node, is_unfolded=node.id in self._unfolded)
            self._stream.append(node.content)
        self._stream.finish()
        self._stream = None
        self._footer_mark = self._writer.mark()
        self._write_footer(self._writer, node, is_last=True)

    def wait(self, waiting: str) -> None:
        """A question that has no answer yet says what it waits for; one that waits for nothing can be asked again."""
        self._waiting = waiting
        self._take_back_waiting()
        if not self._nodes or not is_asked(self._nodes[-1]):
            return
        self._waiting_mark = self._writer.mark()
        if waiting:
            self._muted(waiting, _WAITING_GAP)
        elif not (self.has_draft and is_refused(self._nodes[-1])):
            write_again(self._writer)

    def _write_last(self, index: int, *, is_last: bool) -> None:
        node = self._nodes[index]
        self._footer_mark = None
        self._last_mark = self._writer.mark()
        self._items.append(Item(self._writer.next_start(), index, index + 1))
        if node.status == "streaming" and is_last and node.role == "assistant":
            self._write_head(self._writer, node)
            self._answer_mark = self._writer.mark()
            self._stream = AnswerStream(self._writer, node, is_unfolded=node.id in self._unfolded)
            self.stream(node.content, self._waiting)
            return
        self._write_node(self._writer, node, is_last=is_last)
        if is_last and is_asked(node):
            self.wait(self._waiting)

    def _write_node(self, writer: DocumentWriter, node: Node, *, is_last: bool) -> None:
        if node.role == "user":
            write_user(writer, node, self.versions.get(node.id))
        elif node.role == "tool":
            write_tool(writer, node, is_unfolded=node.id in self._unfolded)
        elif node.role == "assistant":
            self._write_head(writer, node)
            write_answer(writer, node, is_unfolded=node.id in self._unfolded)
            if is_last:
                self._footer_mark = writer.mark()
            self._write_footer(writer, node, is_last=is_last)

    def _write_head(self, writer: DocumentWriter, node: Node) -> None:
        """Who answers, and from what; behind the reply of a tool it is known who."""
        asked = next((known for known in reversed(self._nodes) if known.id == node.parent_id), None)
        if asked is None or asked.role != "tool":
            write_name(writer, node.model)
        if asked is None:
            return
        if was_in_vain(asked.attachments):
            write_in_vain(writer)
        elif sources := sources_of(asked.attachments):
            write_sources(writer, node.id, sources, is_unfolded=sources_key(node.id) in self._unfolded)

    def _write_footer(self, writer: DocumentWriter, node: Node, *, is_last: bool) -> None:
        version = self.versions.get(node.id)
        if version is None and not is_last and self._has_called(node):
            return  # the answer goes on below
        write_footer(writer, node, version, is_last=is_last)

    def _has_called(self, node: Node) -> bool:
        """Whether the message below is the reply of a tool that this answer has called."""
        return any(known.parent_id == node.id and known.role == "tool" for known in reversed(self._nodes))

    def _take_back_waiting(self) -> None:
        if self._waiting_mark is not None:
            self._writer.rewind(self._waiting_mark)
            self._waiting_mark = None

    def _muted(self, text: str, top: float) -> None:
        formats = self._writer.formats
        block = formats.paragraph(top)
        block.setProperty(Property.CHROME, True)
        self._writer.line(text, block, formats.text("muted"))

    def _write_gap(self, writer: DocumentWriter, item: Item, items: list[Item]) -> None:
        items.append(item)
        block = writer.formats.paragraph(16)
        block.setProperty(Property.CHROME, True)
        writer.begin_block(block, writer.formats.small())
        one = translate("Transcript", "Show {} earlier message")
        many = translate("Transcript", "Show {} earlier messages")
        if item.first > 0:
            one = translate("Transcript", "Show {} message in between")
            many = translate("Transcript", "Show {} messages in between")
        writer.command(counted(item.last - item.first, one, many), "earlier", item.first)


def is_asked(node: Node) -> bool:
    """Whether an answer comes behind a message: one of the user, or what a tool has replied."""
    return node.role == "user" or (node.role == "tool" and node.status != "streaming")


def is_refused(node: Node) -> bool:
    """Whether a message of the user was not answered; what is sent next takes its place."""
    return node.role == "user" and node.status == "failed"


def begin_of_chunk(nodes: Sequence[Node], end: int, characters: int, most: int | None = None) -> int:
    """The first of the messages before `end` that are drawn in one go: about so many characters, one message at least.

    A long message counts for what is drawn of it at once.
    """
    first, least = end, max(0, end - (most or MESSAGES_AT_ONCE))
    while first > least and characters > 0:
        first -= 1
        characters -= min(len(nodes[first].content), AT_ONCE)
    return first


def end_of_chunk(nodes: Sequence[Node], first: int, last: int, characters: int) -> int:
    """The same forwards: the message after those from `first` on, `last` at most."""
    end = first
    while end < min(last, first + MESSAGES_AT_ONCE) and characters > 0:
        characters -= min(len(nodes[end].content), AT_ONCE)
        end += 1
    return end
