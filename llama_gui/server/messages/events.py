"""Pieces of an answer -> the typed events of a message."""

from llama_gui.server.answers import Arrived
from llama_gui.server.asked import Asked
from llama_gui.server.messages.errors import error_body, in_these_words
from llama_gui.server.messages.reply import (
    SIGNATURE,
    Ending,
    MessageForm,
    begins_block,
    ending_of,
    new_block,
    usage_fields,
)
from llama_gui.server.pieces import AnswerPieces, Piece
from llama_gui.server.refusal import RefusedError
from llama_gui.server.served import ServedEngine
from llama_gui.server.stream import EventStream, typed_event
from llama_gui.server.whole_reply import told_usage
from llama_gui.vocabulary import GenerateResult, Usage


class MessageEvents(EventStream):
    """Makes the events of one streaming message, as `stream.ChunkMaker` does those of a chat answer.

    `prompt_tokens`: how long the prompt is; what of it the cache held is known at the end.
    """

    def __init__(self, asked: Asked, form: MessageForm, engine: ServedEngine, prompt_tokens: int) -> None:
        self._asked = asked
        self._form = form
        self._engine = engine
        self._pieces = AnswerPieces(asked, engine)
        self._last: Piece | None = None  # of the block that is open
        self._index = 0
        self._called = False
        self._usage = Usage(prompt_tokens)
        self._ending = Ending("end_turn")

    @property
    def ping(self) -> bytes:
        """What tells a client that waits that it is not forgotten."""
        return typed_event("ping")

    def begin(self) -> bytes:
        """The event before the first token."""
        return typed_event("message_start", message=self._form.fields([], self._usage))

    def events(self, arrived: Arrived) -> bytes:
        """The events of a token, or of the end of the answer; there may be none.

        Raises:
            RefusedError: the answer failed.
        """
        if isinstance(arrived.item, GenerateResult):
            return self._finish(arrived.item)
        if self._asked.only_prompt:
            return b""
        return b"".join(map(self._piece, self._pieces.push(arrived.item.text)))

    def end(self) -> bytes:
        """The last events: why it ended, what it cost."""
        delta = {"stop_reason": self._ending.reason, "stop_sequence": self._ending.sequence}
        return typed_event("message_delta", delta=delta, usage=usage_fields(self._usage)) + typed_event("message_stop")

    def failure(self, refused: RefusedError) -> bytes:
        """The last event of a message that failed."""
        return typed_event("error", error=error_body(in_these_words(refused))["error"])

    def _finish(self, result: GenerateResult) -> bytes:
        self._usage = told_usage(self._asked, result)
        out = b"".join(map(self._piece, self._pieces.finish()))
        self._ending = ending_of(self._asked, result, self._engine, called=self._called)
        if self._last is None and not self._asked.only_prompt:  # clients take the first block without looking
            out += self._piece(Piece("text", ""))
        return out + self._close()

    def _piece(self, piece: Piece) -> bytes:
        out = b""
        if begins_block(piece, self._last):
            out = self._close() + typed_event("content_block_start", index=self._index, content_block=new_block(piece))
        self._last = piece
        self._called |= piece.kind == "tool_use"
        return out + (self._delta(piece) if piece.text else b"")

    def _delta(self, piece: Piece) -> bytes:
        if piece.kind == "text":
            return self._block_delta("text_delta", text=piece.text)
        if piece.kind == "thinking":
            return self._block_delta("thinking_delta", thinking=piece.text)
        return self._block_delta("input_json_delta", partial_json=piece.text)

    def _close(self) -> bytes:
        if self._last is None:
            return b""
        signed = self._block_delta("signature_delta", signature=SIGNATURE) if self._last.kind == "thinking" else b""
        out = signed + typed_event("content_block_stop", index=self._index)
        self._last = None
        self._index += 1
        return out

    def _block_delta(self, kind: str, **fields: str) -> bytes:
        return typed_event("content_block_delta", index=self._index, delta={"type": kind, **fields})
