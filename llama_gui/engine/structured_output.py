"""Answers that follow a JSON schema or a regular expression: before each token, which ones the grammar allows.

The grammar is llguidance's (Microsoft), an optional extra: ``pip install llama-gui[structured]``. A token that the
grammar allows is drawn as usual from the model's logits, so the answer is always valid, or ends with an error.
"""

import functools
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import GenerationError, InvalidRequestError, UserError

# Whitespace as people write it in JSON; if any were allowed, a weak model could write empty lines for ever.
WHITESPACE: Any = {"whitespace_pattern": r"(\n {0,16}| )?"}


class Constraint(Protocol):
    """What one answer may still say; used by one thread."""

    @property
    def is_complete(self) -> bool:
        """Whether the answer could end here."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether nothing can come any more."""
        ...

    def allowed(self) -> Tensor | None:
        """Bool ``[vocab]``: the tokens that may come next, one that ends the answer among them when it may end; None:
        all.

        Raises:
            GenerationError: the grammar has become too complex.
        """
        ...

    def accept(self, token_id: int) -> bool:
        """The answer goes on with this token; False: it must be another, of those that are `allowed` now.

        Raises:
            GenerationError: the grammar does not allow it.
        """
        ...

    def give_up(self) -> bool:
        """Drop the grammar, because the request leaves none of its tokens; False where that is not allowed."""
        ...


class Grammar:
    """A `Constraint` for the whole answer. Made by `GrammarCompiler`."""

    def __init__(self, matcher: Any, size: int) -> None:
        self._matcher = matcher
        self._size = size

    @property
    def is_complete(self) -> bool:
        """Whether the answer could end here."""
        return self._matcher.is_accepting()

    @property
    def is_finished(self) -> bool:
        """Whether nothing can come any more."""
        return self._matcher.is_stopped()

    def allowed(self) -> Tensor:
        """See `Constraint.allowed`."""
        mask = mask_of(self._matcher, self._size)
        self._check()
        return mask

    def accept(self, token_id: int) -> bool:
        """See `Constraint.accept`."""
        self._matcher.consume_token(token_id)
        self._check()
        return True

    def give_up(self) -> bool:
        """See `Constraint.give_up`."""
        return False

    def _check(self) -> None:
        if self._matcher.is_error():
            raise GenerationError(f"The answer cannot follow its grammar: {_reason(self._matcher.get_error())}")


def mask_of(matcher: Any, size: int) -> Tensor:
    """Bool ``[size]``: the tokens that a matcher of llguidance's allows next."""
    bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
    return torch.from_numpy(np.unpackbits(bits, count=size, bitorder="little").astype(bool))


class GrammarCompiler:
    """Makes grammars for the tokens of one model. Safe in any thread."""

    def __init__(self, tokenizer: Tokenizer, size: int, eos_token_ids: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._size = size
        self._eos_token_ids = sorted(eos_token_ids)
        self._lock = threading.Lock()

    def compile(self, json_schema: Mapping[str, Any] | None, regex: str | None) -> Grammar | None:
        """The grammar of a request; None when it asks for nothing.

        Raises:
            InvalidRequestError: the schema or the expression is wrong, or llguidance cannot read it.
            UserError: llguidance is not installed, or cannot use this model's tokenizer.
        """
        if json_schema is None and regex is None:
            return None
        llguidance = _import()
        name, value = ("json_schema", json_schema) if regex is None else ("regex", regex)
        try:
            if regex is None:
                text = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(json_schema), WHITESPACE)
            else:
                text = llguidance.LLMatcher.grammar_from_regex(regex)
        except (ValueError, TypeError) as error:
            raise InvalidRequestError(name, _short(value), f"one that can be read: {_reason(error)}") from error
        with self._lock:
            tokenizer = self._library_tokenizer
        matcher = llguidance.LLMatcher(tokenizer, text, log_level=0)
        if matcher.is_error():
            raise InvalidRequestError(name, _short(value), f"one that can be used: {_reason(matcher.get_error())}")
        return Grammar(matcher, self._size)

    def matcher(self, text: str) -> Any:
        """llguidance's matcher for a grammar, without forced tokens; whether the grammar is valid, it says itself.

        Raises:
            UserError: see `compile`.
        """
        llguidance = _import()
        with self._lock:
            vocabulary = self._vocabulary
        return llguidance.LLMatcher(vocabulary, text, log_level=0)

    @functools.cached_property
    def _library_tokenizer(self) -> Any:
        # About a second for 128k tokens, once for each model; all other threads wait.
        return self._made(self._tokenizer.to_json())

    @functools.cached_property
    def _vocabulary(self) -> Any:
        """The tokenizer for llguidance, of which such grammars need only the tokens' bytes.

        Without the slices that speed up masks for free text it takes a quarter of the time to build; a mask then takes
        0.17 ms instead of 0.03 (128k tokens).
        """
        return self._made(_Vocabulary(self._tokenizer, self._size, self._eos_token_ids), slices=[])

    def _made(self, source: Any, **more: Any) -> Any:
        try:
            return _import().LLTokenizer(source, n_vocab=self._size, eos_token=self._eos_token_ids or None, **more)
        except BaseException as error:
            # Rust panics arrive as a BaseException.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise UserError(f"This model's tokenizer cannot be used with a grammar: {_reason(error)}.") from error


class _Vocabulary:
    """The interface by which llguidance reads a tokenizer that it does not know."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer, size: int, eos_token_ids: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self.eos_token_id = eos_token_ids[0] if eos_token_ids else 0
        self.special_token_ids = sorted(i for i in tokenizer.special_ids if i < size)
        if tokenizer.token_bytes(0) is None or not size:
            raise UserError("The bytes of this model's tokens are not known.")
        self.tokens = [tokenizer.token_bytes(token_id) or b"" for token_id in range(size)]

    def __call__(self, text: str) -> list[int]:
        return self._tokenizer.encode_literally(text)


def _import() -> Any:
    try:
        import llguidance
    except ImportError as error:
        raise UserError(
            "json_schema and regex need the package llguidance, which is not installed. "
            'Install it with: pip install "llama-gui[structured]"'
        ) from error
    return llguidance


def _reason(error: object) -> str:
    """What is wrong, in a line: the first, and of an expression the one that says what cannot be in it."""
    first, *more = str(error).strip().splitlines() or ["unknown"]
    cause = next((line.removeprefix("error: ") for line in more if line.startswith("error: ")), "")
    return f"{first} {cause}".strip()[:300] if first.endswith(":") else first[:300]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:80] + "…"
