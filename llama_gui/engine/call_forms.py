"""The tools of a request, and the formats in which a model writes calls, as grammars for llguidance.

No caller asks for these grammars explicitly, so they never cause an error: of a schema the library follows what it
knows; one that it cannot read is replaced by "any JSON object", and if that does not help there is no grammar.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from llama_gui.engine.call_grammar import CallForm
from llama_gui.engine.harmony import Marks
from llama_gui.engine.structured_output import WHITESPACE, GrammarCompiler
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import UserError
from llama_gui.tool_calls import (
    ANY_OBJECT,
    BRACED_MARKS,
    PYTHONIC_MARKS,
    Manner,
    Parameters,
    call_schema,
    calls_schema,
    parameters_of,
)
from llama_gui.tool_calls.manners import HARMONY, HARMONY_ROLE

_MOST_KEPT = 8
_LARK = """%llguidance {{"no_forcing": true}}
start: {start}
ws: /[ \\t\\r\\n]{{1,8}}/
text: /(.|\\n)*/
{rules}"""


class CallForms:
    """Makes the grammars of the calls of one model, and keeps those that were used last. Safe in any thread."""

    def __init__(
        self, compiler: GrammarCompiler, tokenizer: Tokenizer, manners: Sequence[Manner], marks: Marks | None = None
    ) -> None:
        """`marks`: of a model whose calls stand in a channel of their own, whatever `manners` there are."""
        self._marks = marks
        self._compiler = compiler
        self._tokenizer = tokenizer
        self._manners = manners
        self._kept: dict[str, tuple[CallForm, ...]] = {}
        self._lock = threading.Lock()

    def of(self, tools: Sequence[Mapping[str, Any]]) -> tuple[CallForm, ...]:
        """The grammars of calls of these tools; () where there are none."""
        try:
            parameters = dict(filter(None, map(parameters_of, tools)))
            key = json.dumps(list(parameters.items()))
        except (TypeError, ValueError, RecursionError):  # no JSON
            return ()
        if not parameters or not (self._manners or self._marks):
            return ()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._made(parameters)
                for former in [*self._kept][:-_MOST_KEPT]:
                    del self._kept[former]
            return self._kept[key]

    @property
    def shown(self) -> frozenset[int]:
        """The control tokens among the marks of calls. They belong to the text, so that calls are found there."""
        marks = (*BRACED_MARKS, *PYTHONIC_MARKS, *(mark for manner in self._manners for mark in manner.marks))
        ids = map(self._tokenizer.id_of, marks)
        return frozenset(i for i in ids if i is not None and i in self._tokenizer.special_ids)

    def _made(self, parameters: Parameters) -> tuple[CallForm, ...]:
        try:
            return self._compiled_all(parameters)
        except (UserError, RecursionError):  # not installed, or not for this model's tokens
            return ()

    def _compiled_all(self, parameters: Parameters) -> tuple[CallForm, ...]:
        manners = (HARMONY, HARMONY_ROLE) if self._marks is not None else self._manners
        if self._compiled(parameters, manners[0]) is None:
            parameters = {
                name: schema if self._compiled({name: schema}, manners[0]) else ANY_OBJECT
                for name, schema in parameters.items()
            }
        found = (self._compiled(parameters, manner) for manner in manners)
        return tuple(form for form in found if form is not None)

    def _compiled(self, parameters: Parameters, manner: Manner) -> CallForm | None:
        marks = self._marks
        lark = self._lark(parameters, manner) if marks is None else _harmony_lark(parameters, marks, manner)
        matcher = self._compiler.matcher(lark)
        return None if matcher.is_error() else CallForm(manner, matcher)

    def _lark(self, parameters: Parameters, manner: Manner) -> str:
        """Free text to the mark, calls, and free text again behind what closes them."""
        rules: dict[str, str] = {}
        if manner.before_arguments:
            return _LARK.format(start=self._named(parameters, manner, rules), rules=_written(rules))
        if manner.has_one:
            rules["one"] = _json(call_schema(parameters, manner.key))
        if manner.has_list:
            rules["many"] = _json(calls_schema(parameters, manner.key))
        if manner.close:
            rules["close"] = f"({self._token(manner.close)}) text"
            optional = "ws? close" if manner.must_close else "(ws? close)?"
            bodies = {"one": f"one {optional}", "many": "many (ws? close)?"}
        else:
            bodies = {"one": 'one (ws? ";" ws? one)* ws?', "many": "many ws?"}
        body = " | ".join(bodies[rule] for rule in ("one", "many") if rule in rules)
        opening = self._opening(manner, rules) if manner.mark else "/[^{]*/"
        return _LARK.format(start=f"{opening} ({body})", rules=_written(rules))

    def _opening(self, manner: Manner, rules: dict[str, str]) -> str:
        rules["head[lazy]"] = f"/(.|\\n)*/ {json.dumps(manner.mark)}"
        return f"({self._token(manner.mark, 'head')}) ws?"

    def _named(self, parameters: Parameters, manner: Manner, rules: dict[str, str]) -> str:
        """Names as they are, with the arguments of each function behind its name."""
        opening = self._opening(manner, rules)
        with_id = f"(({self._token(manner.before_id)}) /[A-Za-z0-9_-]{{1,40}}/)?"
        rules["behind"] = f"{with_id} ({self._token(manner.before_arguments)}) ws?"
        rules["again"] = f"ws? ({self._token(manner.mark)}) ws?"
        for number, (name, schema) in enumerate(parameters.items()):
            rules[f"one_{number}"] = f"{json.dumps(name)} behind arguments_{number}"
            rules[f"arguments_{number}"] = _json(schema)
        rules["one"] = " | ".join(f"one_{number}" for number in range(len(parameters)))
        return f"{opening} one (again one)* ws?"

    def _token(self, text: str, rule: str = "") -> str:
        """A mark as its text, or as the one token that stands for it."""
        token_id = self._tokenizer.id_of(text)
        written = rule or json.dumps(text)
        return written if token_id is None else f"{written} | <[{token_id}]>"


def _written(rules: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {rule}" for name, rule in rules.items())


def _harmony_lark(parameters: Parameters, marks: Marks, manner: Manner) -> str:
    """From the manner's mark on; the arguments of each function follow its schema, and a mark ends the call."""
    first, channel = (marks.channel, "") if manner is HARMONY else (marks.start, f'<[{marks.channel}]> "commentary" ')
    apart = "ws" if marks.constrain is None else f"(ws? <[{marks.constrain}]> | ws)"
    rules = {"between": f'({apart} "json")? ws? <[{marks.message}]>'}
    for number, (name, schema) in enumerate(parameters.items()):
        rules[f"one_{number}"] = f"{json.dumps(name)} {channel}between arguments_{number}"
        rules[f"arguments_{number}"] = _json(schema)
    ways = " | ".join(f"one_{number}" for number in range(len(parameters)))
    opening = json.dumps(manner.mark.partition("|>")[2])
    return _LARK.format(start=f"<[{first}]> {opening} ({ways}) <[{marks.call}]>", rules=_written(rules))


def _json(schema: Mapping[str, Any]) -> str:
    return f"%json {json.dumps({**schema, 'x-guidance': {**WHITESPACE, 'lenient': True}})}"
