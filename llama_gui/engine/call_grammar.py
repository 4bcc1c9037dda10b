"""Calls that are well-formed: a lazy grammar, which lets an answer be what it likes until it begins a call.

From the mark that opens a call to the call's end only what keeps it well-formed may come: the name of a given function,
and arguments that follow its schema. Until then only the text of the last tokens is searched for the mark, and no logit
is changed; so an answer without calls is bit for bit the one without this. Marks within reasoning are ignored.

A token may hold the end of a mark and more. If the part behind the mark cannot begin a call, the token is drawn again
from those that the grammar allows there. Where a grammar cannot go on (it has become too complex, or the request leaves
none of its tokens), the answer is free again: that is no error, but the call may be malformed.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from llama_gui.engine.structured_output import mask_of
from llama_gui.engine.thinking_watch import SaidWatch
from llama_gui.tool_calls import Manner

_WINDOW = 128
"""Letters of an answer that are looked at for the beginning of a call: longer than any mark."""
_BARE = re.compile(r"\A\s*(\{\s*(?:\"type\"\s*:\s*\"function\"\s*,\s*)?\"name\"\s*:)")


@dataclass(frozen=True, slots=True)
class CallForm:
    """The grammar of calls in one manner. `matcher`: llguidance's, before the first token, and copied for each call."""

    manner: Manner
    matcher: Any

    def begins_in(self, text: str, *, is_begun: bool) -> int:
        """Where in `text` a call begins, or -1. `is_begun`: the answer's beginning is no longer part of it."""
        if self.manner.mark:
            return text.find(self.manner.opening)
        found = None if is_begun else _BARE.match(text)
        return found.start(1) if found is not None else -1


class CallGrammar:
    """What one answer may still say, calls included; used by one thread.

    `bytes_of` tells the bytes of a token, `watch` what of them is no thought.
    """

    is_complete = True
    """An answer that ends within a call is no error: the part of the call is shown as text."""

    def __init__(
        self, forms: Sequence[CallForm], bytes_of: Callable[[int], bytes | None], size: int, watch: SaidWatch
    ) -> None:
        self._forms = forms
        self._bytes_of = bytes_of
        self._size = size
        self._watch = watch
        self._text = ""  # the end of the answer behind what was thought, one letter for each byte
        self._is_begun = False
        self._tokens: list[tuple[int, int]] = []  # the last ones, each with its length
        self._form: CallForm | None = None
        self._matcher: Any = None  # while a call is written
        self._refusing: Any = None  # before a token that may not come
        self._is_let_go = False  # whatever the next token is

    @property
    def is_finished(self) -> bool:
        """Whether nothing can come any more."""
        return self._matcher is not None and self._matcher.is_stopped()

    def allowed(self) -> Tensor | None:
        """Bool ``[vocab]``: the tokens that may come next; None: all."""
        matcher = self._refusing or self._matcher
        if matcher is None:
            return None
        mask = mask_of(matcher, self._size)
        if matcher.is_error():
            self.give_up()
            return None
        return mask

    def give_up(self) -> bool:
        """Let the answer go on as it likes; False where it does anyway."""
        was_bound = self._matcher is not None or self._refusing is not None
        self._let_go()
        self._is_let_go = True
        return was_bound

    def _let_go(self) -> None:
        """Forget a call, and what of the text may be one."""
        self._matcher = self._refusing = self._form = None
        self._text, self._tokens = "", []
        self._is_begun = True

    def accept(self, token_id: int) -> bool:
        """The answer goes on with this token; False: with another one, of those that are `allowed` now."""
        piece = (self._bytes_of(token_id) or b"").decode("latin-1")
        if self._matcher is not None:
            self._go_on(token_id, piece)
            return True
        if self._is_let_go:
            self._is_let_go = False
            self._watch.push(token_id)
            return True
        return self._look(token_id, piece)

    def follow(self, token_id: int) -> None:
        """The answer went on with this token, whether it had to or not."""
        if not self.accept(token_id):
            self.give_up()
            self.accept(token_id)

    # --- free text

    def _look(self, token_id: int, piece: str) -> bool:
        watch = self._watch.copy()
        text = self._text + watch.push(token_id)
        for form in self._forms:
            at = form.begins_in(text, is_begun=self._is_begun)
            if at >= 0:
                if not self._begin(form, (token_id, len(piece)), len(text) - at):
                    return False
                self._watch = watch
                return True
        self._refusing = None
        self._watch = watch
        self._is_begun = self._is_begun or len(text) > _WINDOW
        self._text = text[-_WINDOW:]
        self._tokens.append((token_id, len(piece)))
        if len(self._tokens) > 2 * _WINDOW:
            del self._tokens[:_WINDOW]
        return True

    def _begin(self, form: CallForm, last: tuple[int, int], length: int) -> bool:
        """Begin a call with the last `length` letters; False: the last token cannot be there."""
        ids = [token_id for token_id, _ in _covering([*self._tokens, last], length)]
        matcher = form.matcher.deep_copy()
        taken = matcher.try_consume_tokens(ids)
        if taken == len(ids) - 1 and self._refusing is None:
            self._refusing = matcher
            return False
        self._let_go()
        if taken == len(ids):
            self._form, self._matcher = form, matcher
        return True

    # --- a call

    def _go_on(self, token_id: int, piece: str) -> None:
        assert self._form is not None
        self._matcher.consume_token(token_id)
        if self._matcher.is_error():
            self._let_go()
            return
        close = self._form.manner.close
        text = (self._text + piece)[-_WINDOW - len(piece) :]
        ended = text.rfind(close) if close and self._matcher.is_accepting() else -1
        self._text = text
        if ended >= 0:
            self._let_go()
            self._text, self._tokens = text[ended + len(close) :], [(token_id, len(piece))]


def _covering(tokens: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The last of these tokens that hold so many letters."""
    found: list[tuple[int, int]] = []
    for token in reversed(tokens):
        if length <= 0:
            break
        found.append(token)
        length -= token[1]
    return found[::-1]
