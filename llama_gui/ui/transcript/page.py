"""The messages of a chat in one text document: written anew, added to, streamed at the end, and settled."""

import bisect
from collections.abc import Mapping, Sequence

from PySide6.QtGui import QTextDocument

from llama_gui.chats.tree import Node
from llama_gui.ui.transcript.formats import Formats, Property
from llama_gui.ui.transcript.markdown import DocumentWriter, Mark
from llama_gui.ui.transcript.message import write_answer, write_footer, write_name, write_user
from llama_gui.ui.transcript.stream import MarkdownStream

TOP_MARGIN = 48
BOTTOM_MARGIN = 12
_WAITING_GAP, _WAITING_GAP_UNDER_NAME = 28, 4


class Page:
    """Writes into a document of which it holds the end. `waiting` is what to say while an answer has no text."""

    def __init__(self, document: QTextDocument, formats: Formats, commands: str) -> None:
        document.clear()
        root = document.rootFrame()
        frame = root.frameFormat()
        frame.setTopMargin(TOP_MARGIN)
        frame.setBottomMargin(BOTTOM_MARGIN)
        root.setFrameFormat(frame)
        self._writer = DocumentWriter(document, formats, commands)
        self._stream: MarkdownStream | None = None
        self._answer_mark = self._writer.mark()
        self._footer_mark: Mark | None = None
        self._waiting_mark: Mark | None = None
        self._starts: list[tuple[int, str]] = []  # where each message begins
        self.versions: Mapping[str, tuple[int, int]] = {}

    def node_at(self, position: int) -> str | None:
        """The message that a place in the document belongs to."""
        place = bisect.bisect_right(self._starts, position, key=lambda item: item[0])
        return self._starts[place - 1][1] if place else None

    def extent_of(self, node_id: str) -> tuple[int, int] | None:
        """Where a message begins and where it ends in the document."""
        for index, (start, known) in enumerate(self._starts):
            if known == node_id:
                is_last = index == len(self._starts) - 1
                end = self._writer.mark().position if is_last else self._starts[index + 1][0] - 1
                return start, end
        return None

    @property
    def is_streaming(self) -> bool:
        """Whether the last message is an answer that is being written."""
        return self._stream is not None

    @property
    def has_streamed(self) -> bool:
        """Whether that answer has any text yet."""
        return self._stream is not None and bool(self._stream.source)

    def code(self, box_id: int) -> str:
        """The source of a box of code."""
        return self._writer.codes.get(box_id, "")

    def write(
        self,
        nodes: Sequence[Node],
        hidden: int,
        earlier: str,
        waiting: str,
        versions: Mapping[str, tuple[int, int]],
    ) -> None:
        """Write all messages but the first `hidden`, for which `earlier` is the command."""
        self.versions = versions
        if hidden:
            block = self._writer.formats.paragraph(16)
            block.setProperty(Property.CHROME, True)
            self._writer.begin_block(block, self._writer.formats.small())
            self._writer.command(earlier, "earlier", hidden)
        for index in range(hidden, len(nodes)):
            self._write_node(nodes[index], waiting, is_last=index == len(nodes) - 1)

    def add(self, nodes: Sequence[Node], waiting: str) -> None:
        """Write the last of `nodes`; the answer before it is no longer the one to be asked for again."""
        self._take_back_waiting()
        if self._footer_mark is not None and len(nodes) > 1:
            self._writer.rewind(self._footer_mark)
            self._write_footer(nodes[-2], is_last=False)
        self._write_node(nodes[-1], waiting, is_last=True)

    def stream(self, text: str, waiting: str) -> None:
        """Write more of the last answer."""
        if self._stream is None:
            return
        self._stream.append(text)
        self._stream.flush()
        if not self._stream.source and waiting:
            self._muted(waiting, _WAITING_GAP_UNDER_NAME)

    def settle(self, node: Node) -> None:
        """Give the last answer its final form and its footer."""
        self._writer.rewind(self._answer_mark)
        stream = MarkdownStream(self._writer)
        stream.append(node.content)
        stream.finish()
        self._stream = None
        self._footer_mark = self._writer.mark()
        self._write_footer(node, is_last=True)

    def wait(self, nodes: Sequence[Node], waiting: str) -> None:
        """A question that has no answer yet says what it waits for."""
        self._take_back_waiting()
        if waiting and nodes and nodes[-1].role == "user":
            self._waiting_mark = self._writer.mark()
            self._muted(waiting, _WAITING_GAP)

    def _write_node(self, node: Node, waiting: str, *, is_last: bool) -> None:
        self._footer_mark = None
        mark = self._writer.mark()
        self._starts.append((mark.position if mark.is_fresh else mark.position + 1, node.id))
        if node.role == "user":
            write_user(self._writer, node, self.versions.get(node.id))
            if is_last:
                self.wait([node], waiting)
        elif node.status == "streaming" and is_last:
            write_name(self._writer, node.model)
            self._answer_mark = self._writer.mark()
            self._stream = MarkdownStream(self._writer)
            self.stream(node.content, waiting)
        elif node.role == "assistant":
            write_answer(self._writer, node)
            self._footer_mark = self._writer.mark()
            self._write_footer(node, is_last=is_last)

    def _write_footer(self, node: Node, *, is_last: bool) -> None:
        write_footer(self._writer, node, self.versions.get(node.id), is_last=is_last)

    def _take_back_waiting(self) -> None:
        if self._waiting_mark is not None:
            self._writer.rewind(self._waiting_mark)
            self._waiting_mark = None

    def _muted(self, text: str, top: float) -> None:
        formats = self._writer.formats
        block = formats.paragraph(top)
        block.setProperty(Property.CHROME, True)
        self._writer.line(text, block, formats.text("muted"))
