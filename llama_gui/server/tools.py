"""The functions that a request lets the model call, and how much it must."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from llama_gui.server.forms import Form, other_form
from llama_gui.server.refusal import RefusedError, wrong
from llama_gui.server.request_fields import Fields
from llama_gui.tool_calls import answer_or_calls, as_object

MOST_TOOLS = 1024
"""OpenAI has 128; programs bring those of every tool server that they know, and leave it to the model's context."""

Choice = Literal["auto", "required", "named"]


@dataclass(frozen=True, slots=True)
class Tools:
    """What may be called. `named`: the one function that must be, when `choice` is "named".

    Where the choice is the model's, the engine sees to it that a call which it has begun is one of these functions,
    with arguments that follow their schema, if llguidance is installed. So it does also without `strict`: OpenAI's
    models do as well as they can then, and nothing is better than to follow it. A schema is followed as far as it can
    be there, `strict` or not; for a call that must be made one that is `strict` is followed in all, or refused.
    """

    schemas: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Mapping[str, Any]]
    choice: Choice = "auto"
    named: str = ""
    parallel: bool = True
    strict: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names of all functions."""
        return frozenset(self.parameters)

    @property
    def grammar(self) -> Mapping[str, Any] | None:
        """The JSON schema that the whole answer must follow, where a call is a must."""
        if self.choice == "named":
            return self.parameters[self.named]
        if self.choice == "required":
            return answer_or_calls(self.parameters)
        return None

    def several(self, form: Form) -> Mapping[str, Any] | None:
        """The schema for models that write several calls as a list, where that is more than `form_with` allows."""
        is_bound = self.choice == "required" or (self.choice == "auto" and form.schema is not None)
        if not self.parallel or not is_bound:
            return None
        answer = form.schema if self.choice == "auto" else None
        return replace(self.form_with(form), schema=answer_or_calls(self.parameters, answer, several=True)).json_schema

    def form_with(self, form: Form) -> Form:
        """That of an answer in which what is said, instead of a call, must have `form`: agents ask for both.

        Raises:
            RefusedError: a call is a must, and cannot have that form.
        """
        if self.grammar is not None:
            if form.regex is not None:
                raise other_form(form.field, "the call for which tool_choice asks")
            given = [dict(values) for values in self.parameters.values()]
            return Form(self.grammar, None, "tools", given, is_strict=self.strict)
        if form.schema is None:
            return form
        is_strict = form.is_strict or self.strict
        return replace(form, schema=answer_or_calls(self.parameters, form.schema), is_strict=is_strict)


def read_tools(fields: Fields) -> Tools | None:
    """The tools of a chat request; None when it has none, or lets the model call none.

    Raises:
        RefusedError: they are not as they must be.
    """
    entries = fields.objects("tools", MOST_TOOLS) or []
    functions = [_function(entry) for entry in entries]
    parameters = dict(functions)
    if len(parameters) < len(functions):
        raise wrong("tools", "a list with one name twice", "a list of functions with different names")
    choice, names = _choice(fields, parameters)
    parallel = fields.get("parallel_tool_calls") is None or fields.flag("parallel_tool_calls")
    if choice == "none" or not entries:
        return None
    # What may not be called is not shown, either: then neither the model nor the engine's grammar comes to it.
    shown = {name: parameters[name] for name in (parameters if choice == "named" else names)}
    schemas = [
        {"type": "function", "function": dict(entry.mapping("function") or {})}
        for entry, (name, _) in zip(entries, functions, strict=True)
        if name in shown
    ]
    strict = any(s["function"].get("strict") is True for s in schemas if s["function"]["name"] in names)
    return Tools(schemas, shown, choice, names[0] if choice == "named" else "", parallel, strict)


def _function(entry: Fields) -> tuple[str, Mapping[str, Any]]:
    if entry.get("type") != "function":
        raise entry.wrong("type", "function")
    function = entry.inner("function")
    if function is None:
        raise entry.wrong("function", "an object with name, description and parameters")
    name = function.text("name")
    if not name or len(name) > 128:
        raise function.wrong("name", "a text of 1 to 128 letters")
    function.text("description")
    parameters = function.mapping("parameters") or {"properties": {}}
    kind = parameters.get("type", "object")
    if isinstance(kind, str) and kind != "object":  # as OpenAI does
        raise function.wrong("parameters", 'a schema of "type": "object"')
    return name, as_object(parameters)


def _choice(fields: Fields, parameters: Mapping[str, Any]) -> tuple[Any, Sequence[str]]:
    """What must be called, and the functions that may be."""
    value, names = fields.get("tool_choice"), tuple(parameters)
    if value is None:
        return "auto", names
    choice = fields.one_of("tool_choice", ("none", "auto", "required")) if isinstance(value, str) else "named"
    if choice in ("required", "named") and not names:
        raise RefusedError(400, "tool_choice asks for a call, but tools is empty.", param="tool_choice")
    if choice != "named":
        return choice, names
    chosen = fields.inner("tool_choice") or Fields({})
    if chosen.get("type") != "allowed_tools":
        return choice, [_known(fields, chosen, names)]
    allowed = chosen.inner("allowed_tools") or Fields({})
    mode, entries = allowed.one_of("mode", ("auto", "required")), allowed.objects("tools", MOST_TOOLS)
    if mode is None or not entries:
        raise fields.wrong("tool_choice", "allowed_tools with a mode, auto or required, and a list of tools")
    return mode, [_known(fields, entry, names) for entry in entries]


def _known(fields: Fields, entry: Fields, names: Sequence[str]) -> str:
    """The function that is named there, which must be one of `names`."""
    function = entry.inner("function")
    name = function.text("name") if function is not None else None
    if name not in names:
        raise fields.wrong("tool_choice", f"none, auto, required, or the function {' or '.join(names)}")
    return str(name)
