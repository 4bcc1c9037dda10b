"""An answer: its reasoning, folded into one line, and what it says."""

from functools import cache, partial

from PySide6.QtCore import QCoreApplication

from llama_gui.chats.reasoning import Parts, parts_of, split_reasoning, wraps_answers
from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.parts import write_markdown
from llama_gui.ui.markdown.stream import MarkdownStream
from llama_gui.ui.numbers import counted

translate = QCoreApplication.translate
_REASONING_DEPTH = 1
"""Reasoning stands beside one bar, as a quotation does."""


class AnswerStream:
    """An answer in the making, at the end of a document."""

    def __init__(self, writer: DocumentWriter, node: Node, *, is_unfolded: bool) -> None:
        self.source = ""
        self._writer = writer
        self._node_id = node.id
        self._wraps = cache(partial(wraps_answers, node))
        self._is_unfolded = is_unfolded
        self._start = writer.mark()
        self._phase = "answer"
        self._words = 0
        self._thought: str | None = None  # that was closed
        self._begin_text(0)

    def append(self, text: str) -> None:
        """Take more text; nothing is drawn before `flush`."""
        self.source += text

    def flush(self) -> None:
        """Draw what arrived."""
        parts = split_reasoning(self.source, self._wraps, is_growing=True)
        self._enter("answer" if parts.reasoning is None else "thinking" if parts.is_open else "thought", parts)
        if self._phase != "thinking":
            self._add(parts.answer)
        elif self._is_unfolded:
            self._add((parts.reasoning or "").lstrip("\r\n"))
        self._text.flush()

    def finish(self) -> None:
        """Draw the end in its final form."""
        parts = split_reasoning(self.source, self._wraps)
        self._enter("answer" if parts.reasoning is None else "thought", parts)
        self._add(parts.answer)
        self._text.finish()

    def _enter(self, phase: str, parts: Parts) -> None:
        counts = phase == "thinking" and not self._is_unfolded and parts.words != self._words
        thought = parts.reasoning if phase == "thought" else None
        # A closed thought can turn out to be longer: its end was within code that is closed only now.
        if phase == self._phase and thought == self._thought and not counts:
            return
        self._phase, self._words, self._thought = phase, parts.words, thought
        self._writer.rewind(self._start)
        if phase == "thinking":
            _write_thinking(self._writer, self._node_id, parts, is_unfolded=self._is_unfolded)
        elif phase == "thought":
            _write_thought(self._writer, self._node_id, parts, is_unfolded=self._is_unfolded)
        self._begin_text(_REASONING_DEPTH if phase == "thinking" else 0)

    def _begin_text(self, quotes: int) -> None:
        self._text = MarkdownStream(self._writer, quotes)
        self._given = 0

    def _add(self, text: str) -> None:
        self._text.append(text[self._given :])
        self._given = max(self._given, len(text))


def write_answer_text(writer: DocumentWriter, node: Node, *, is_unfolded: bool) -> None:
    """An answer that has come to its end."""
    parts = parts_of(node)
    if parts.reasoning is not None:
        _write_thought(writer, node.id, parts, is_unfolded=is_unfolded)
    write_markdown(writer, parts.answer.replace("\r\n", "\n").replace("\r", "\n"))


def _write_thinking(writer: DocumentWriter, node_id: str, parts: Parts, *, is_unfolded: bool) -> None:
    if parts.words and not is_unfolded:
        one, many = translate("Transcript", "Thinking… {} word"), translate("Transcript", "Thinking… {} words")
        label = counted(parts.words, one, many)
    else:
        label = translate("Transcript", "Thinking…")
    _write_header(writer, node_id, label, is_unfolded=is_unfolded)


def _write_thought(writer: DocumentWriter, node_id: str, parts: Parts, *, is_unfolded: bool) -> None:
    one, many = translate("Transcript", "Thought for {} word"), translate("Transcript", "Thought for {} words")
    _write_header(writer, node_id, counted(parts.words, one, many), is_unfolded=is_unfolded)
    if is_unfolded:
        write_markdown(writer, (parts.reasoning or "").strip(), _REASONING_DEPTH)


def _write_header(writer: DocumentWriter, node_id: str, label: str, *, is_unfolded: bool) -> None:
    block = writer.formats.paragraph(12)
    block.setProperty(Property.CHROME, True)
    writer.begin_block(block, writer.formats.small())
    writer.command(f"{label} {'▾' if is_unfolded else '▸'}", "reasoning", node_id)
