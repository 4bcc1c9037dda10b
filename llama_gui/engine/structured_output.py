"""Answers that follow a JSON schema or a regular expression: before each token, which ones the grammar allows.

The grammar is llguidance's (Microsoft), an optional extra: ``pip install llama-gui[structured]``. A token that the
grammar allows is drawn as usual from the model's logits, so the answer is always valid, or ends with an error.
"""

import functools
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import GenerationError, InvalidRequestError, UserError

# As people write JSON; with any whitespace a weak model writes empty lines for ever.
_WHITESPACE: Any = {"whitespace_pattern": r"(\n {0,16}| )?"}


class Grammar:
    """What one answer may still say. Made by `GrammarCompiler`; used by one thread."""

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
        """Bool ``[vocab]``: the tokens that may come next, one that ends the answer among them when it may end.

        Raises:
            GenerationError: the grammar has become too complex.
        """
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        self._check()
        return torch.from_numpy(np.unpackbits(bits, count=self._size, bitorder="little").astype(bool))

    def accept(self, token_id: int) -> None:
        """The answer goes on with this token.

        Raises:
            GenerationError: the grammar does not allow it.
        """
        self._matcher.consume_token(token_id)
        self._check()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise GenerationError(f"The answer cannot follow its grammar: {_first_line(self._matcher.get_error())}")


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
                text = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(json_schema), _WHITESPACE)
            else:
                text = llguidance.LLMatcher.grammar_from_regex(regex)
        except (ValueError, TypeError) as error:
            raise InvalidRequestError(name, _short(value), f"one that can be read: {_first_line(error)}") from error
        with self._lock:
            tokenizer = self._library_tokenizer
        matcher = llguidance.LLMatcher(tokenizer, text, log_level=0)
        if matcher.is_error():
            raise InvalidRequestError(name, _short(value), f"one that can be used: {_first_line(matcher.get_error())}")
        return Grammar(matcher, self._size)

    @functools.cached_property
    def _library_tokenizer(self) -> Any:
        # About a second for 128k tokens, once for each model.
        try:
            return _import().LLTokenizer(
                self._tokenizer.to_json(), n_vocab=self._size, eos_token=self._eos_token_ids or None
            )
        except Exception as error:
            raise UserError(f"This model's tokenizer cannot be used with a grammar: {_first_line(error)}.") from error


def _import() -> Any:
    try:
        import llguidance
    except ImportError as error:
        raise UserError(
            "json_schema and regex need the package llguidance, which is not installed. "
            'Install it with: pip install "llama-gui[structured]"'
        ) from error
    return llguidance


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or ["unknown"])[0][:300]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:80] + "…"
