"""Pieces of an answer -> the typed events of a response, numbered one after the other."""

from collections.abc import Sequence
from typing import Any

from llama_gui.server.answers import Arrived
from llama_gui.server.asked import Asked
from llama_gui.server.calling import CallSplit, limited, opening
from llama_gui.server.refusal import RefusedError
from llama_gui.server.replies import finish_reason
from llama_gui.server.responses.reply import (
    Item,
    Likelihoods,
    ResponseForm,
    call_item,
    message_item,
    new_id,
    status_of,
    text_part,
)
from llama_gui.server.served import ServedEngine
from llama_gui.server.stream import EventStream, typed_event
from llama_gui.tool_calls import CallPiece, ToolCall
from llama_gui.vocabulary import GenerateResult, Usage


class ResponseEvents(EventStream):
    """Makes the events of one streaming response, as `stream.ChunkMaker` does those of a chat answer."""

    def __init__(self, asked: Asked, form: ResponseForm, engine: ServedEngine) -> None:
        self._asked = asked
        self._form = form
        self._engine = engine
        self._number = 0
        self._items: list[Item] = []
        self._message_id = ""  # of the message that is being written
        self._text = ""
        self._call: Item | None = None  # that is being written
        self._usage = Usage()
        self._reason = "stop"
        self._split = CallSplit(asked, engine, opening(asked, engine, 0))
        self._likelihoods = Likelihoods(asked, engine)
        self._logprobs: list[Item] = []  # of the message

    def begin(self) -> bytes:
        """The events before the first token."""
        response = self._form.under_way()
        kinds = ("response.created", "response.in_progress")
        out = b"".join(self._event(kind, response=response) for kind in kinds)
        return out + self._say(opening(self._asked, self._engine, 0))

    def events(self, arrived: Arrived) -> bytes:
        """The events of a token, or of the end of the answer; there may be none.

        Raises:
            RefusedError: the answer failed.
        """
        if isinstance(arrived.item, GenerateResult):
            return self._finish(arrived.item)
        if self._split.forced is not None:
            return self._forced(self._split.forced.push(arrived.item.text))
        self._likelihoods.push(arrived.item)
        return self._said(self._split.push(arrived.item.text))

    def end(self) -> bytes:
        """The last event, with the whole response."""
        response = self._form.ended(self._items, self._usage, self._reason)
        return self._event(f"response.{response['status']}", response=response)

    def failure(self, refused: RefusedError) -> bytes:
        """The last event of a response that failed."""
        return self._event("response.failed", response=self._form.failed(refused, self._items))

    def _finish(self, result: GenerateResult) -> bytes:
        self._usage = result.usage
        self._reason = finish_reason(self._asked.requests[0], result, self._engine)
        if self._call is not None:
            return self._close_call(status_of(self._reason))
        left = self._split.finish()
        out = self._said(left.text)
        if not self._text and not left.calls:
            out += self._open_message()
        out += self._close_message()
        return out + b"".join(map(self._whole_call, limited(self._asked, left.calls)))

    # --- the message

    def _said(self, text: str) -> bytes:
        return self._say(text, self._likelihoods.take(text))

    def _say(self, text: str, logprobs: Sequence[Item] = ()) -> bytes:
        """More of the message; `logprobs`: of the tokens that the model wrote it with."""
        self._logprobs += logprobs
        if not text:
            return b""
        out = b"" if self._message_id else self._open_message()
        self._text += text
        return out + self._part_event("response.output_text.delta", delta=text, logprobs=list(logprobs))

    def _open_message(self) -> bytes:
        self._message_id = new_id("msg")
        item = message_item(self._message_id, "in_progress", [])
        out = self._event("response.output_item.added", output_index=len(self._items), item=item)
        return out + self._part_event("response.content_part.added", part=text_part(""))

    def _close_message(self) -> bytes:
        if not self._message_id:
            return b""
        part = text_part(self._text, self._logprobs)
        out = self._part_event("response.output_text.done", text=self._text, logprobs=self._logprobs)
        out += self._part_event("response.content_part.done", part=part)
        return out + self._item_done(message_item(self._message_id, status_of(self._reason), [part]))

    def _part_event(self, kind: str, **fields: Any) -> bytes:
        place = {"item_id": self._message_id, "output_index": len(self._items), "content_index": 0}
        return self._event(kind, **place, **fields)

    # --- calls

    def _forced(self, pieces: Sequence[CallPiece]) -> bytes:
        """More of the calls that the answer must be; each is whole when the next begins."""
        out = b""
        for piece in pieces:
            if piece.begins:
                out += b"" if self._call is None else self._close_call("completed")
                out += self._open_call(piece.name)
            out += self._more_of_call(piece.arguments)
        return out

    def _whole_call(self, call: ToolCall) -> bytes:
        return self._open_call(call.name) + self._more_of_call(call.arguments) + self._close_call("completed")

    def _open_call(self, name: str) -> bytes:
        self._call = call_item(ToolCall(name, ""), "in_progress")
        return self._event("response.output_item.added", output_index=len(self._items), item=self._call)

    def _more_of_call(self, arguments: str) -> bytes:
        assert self._call is not None
        self._call = {**self._call, "arguments": self._call["arguments"] + arguments}
        return self._event("response.function_call_arguments.delta", **self._place_of_call(), delta=arguments)

    def _close_call(self, status: str) -> bytes:
        assert self._call is not None
        name, arguments, place = self._call["name"], self._call["arguments"], self._place_of_call()
        item, self._call = {**self._call, "status": status}, None
        done = self._event("response.function_call_arguments.done", **place, name=name, arguments=arguments)
        return done + self._item_done(item)

    def _place_of_call(self) -> dict[str, Any]:
        assert self._call is not None
        return {"item_id": self._call["id"], "output_index": len(self._items)}

    def _item_done(self, item: Item) -> bytes:
        self._items.append(item)
        return self._event("response.output_item.done", output_index=len(self._items) - 1, item=item)

    def _event(self, kind: str, **fields: Any) -> bytes:
        number, self._number = self._number, self._number + 1
        return typed_event(kind, sequence_number=number, **fields)
