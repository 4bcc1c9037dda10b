"""The form that an answer must have: OpenAI's `response_format`, and vLLM's `structured_outputs` and `guided_…`.

`json_schema` is llama.cpp's, `regex` SGLang's.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.server.json_body import read_object
from llama_gui.server.refusal import RefusedError, wrong
from llama_gui.server.request_fields import Fields
from llama_gui.tool_calls import closed, lenient

MOST_TEXTS = 1024
_ANY_OBJECT = {"type": "object"}
_SPECIAL = re.compile(r"[\\.^$|?*+()\[\]{}]")


@dataclass(frozen=True, slots=True)
class Form:
    """A JSON schema, or an expression; None: the answer is free. `field` asks for it, with what is `given` there.

    `is_strict`: the schema is followed in all it says, or refused; else as far as it can be followed.
    """

    schema: Mapping[str, Any] | None = None
    regex: str | None = None
    field: str = ""
    given: Any = None
    is_strict: bool = True

    @property
    def json_schema(self) -> Mapping[str, Any] | None:
        """The schema as the engine gets it."""
        return self.schema if self.schema is None or self.is_strict else lenient(self.schema)

    def refusal(self, error: InvalidRequestError) -> RefusedError | None:
        """What to say of an error of the engine's that is about the form; None: it is about something else."""
        return wrong(self.field, self.given, error.allowed) if error.field in ("json_schema", "regex") else None


def read_form(fields: Fields) -> Form:
    """The form that a request asks for.

    Raises:
        RefusedError: it is none, there are two, or nobody here can follow it.
    """
    outputs = fields.inner("structured_outputs") or Fields({})
    for name in ("grammar", "structural_tag"):
        if outputs.has(name):
            raise outputs.wrong(name, "left out: json, regex and choice are known here")
    for name in ("whitespace_pattern", "disable_any_whitespace"):
        if outputs.get(name):
            raise outputs.wrong(name, "left out: JSON is written as its schema and few spaces allow")
    schemas = {
        "guided_json": _schema(fields, "guided_json"),
        "json_schema": _schema(fields, "json_schema"),
        "structured_outputs": _schema(outputs, "json"),
        "structured_outputs.json_object": _ANY_OBJECT if outputs.flag("json_object") else None,
        "response_format": _response_schema(fields),
    }
    expressions = {
        "guided_regex": fields.text("guided_regex"),
        "regex": fields.text("regex"),
        "guided_choice": _choice(fields, "guided_choice"),
        "structured_outputs.regex": outputs.text("regex"),
        "structured_outputs.choice": _choice(outputs, "choice"),
    }
    forms = [
        Form(closed(schema), None, name, schema, is_strict=_is_strict(fields, name))
        for name, schema in schemas.items()
        if schema is not None
    ]
    forms += [Form(None, regex, name, regex) for name, regex in expressions.items() if regex is not None]
    if len(forms) > 1:
        raise other_form(forms[1].field, forms[0].field)
    return forms[0] if forms else Form()


def _is_strict(fields: Fields, name: str) -> bool:
    """vLLM follows its own fields or refuses them, llama.cpp passes over what it does not know, OpenAI lets one say."""
    if name != "response_format":
        return name != "json_schema"
    form = fields.inner("response_format") or Fields({})
    return (form.inner("json_schema") or form).get("strict") is True


def other_form(field: str, former: str) -> RefusedError:
    """What to raise where two fields ask for two forms."""
    return RefusedError(400, f"{field} asks for another form of the answer than {former}: leave one out.", param=field)


def _schema(fields: Fields, name: str) -> Mapping[str, Any] | None:
    """A schema, or the text of one."""
    value = fields.get(name)
    if not isinstance(value, str):
        return fields.mapping(name)
    try:
        return read_object(value.encode("utf-8", "replace"))
    except RefusedError as error:
        raise fields.wrong(name, "a JSON schema, as an object or as its text") from error


def _choice(fields: Fields, name: str) -> str | None:
    """One of some texts, as an expression."""
    texts = fields.get(name)
    if texts is None:
        return None
    is_list = isinstance(texts, list) and 0 < len(texts) <= MOST_TEXTS
    if not is_list or not all(isinstance(text, str) and text for text in texts):
        raise fields.wrong(name, f"a list of 1 to {MOST_TEXTS} texts that are not empty")
    return "|".join(f"({_SPECIAL.sub(_escaped, text)})" for text in texts)


def _escaped(letter: re.Match[str]) -> str:
    return f"\\{letter[0]}"


def _response_schema(fields: Fields) -> Mapping[str, Any] | None:
    form = fields.inner("response_format")
    if form is None:
        return None
    kind = form.one_of("type", ("text", "json_object", "json_schema"))
    if kind is None:
        raise form.wrong("type", "one of text, json_object, json_schema")
    if kind == "text":
        return None
    if kind == "json_object":
        return form.mapping("schema") if form.has("schema") else _ANY_OBJECT  # llama.cpp has a schema there, too
    named = form.inner("json_schema") or form
    schema = named.mapping("schema")
    if schema is None:
        raise form.wrong("json_schema", "an object with name and schema")
    return schema
