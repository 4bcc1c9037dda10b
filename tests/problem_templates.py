"""The sentences from below the window that it may show, read from the source.

Rooms below `ui` know nothing of translations: they write English. `python -m tests.problem_templates` follows what
stands in their errors back to where it is written, and keeps it as templates, like `{0} is not a file.`, in
resources/translations/problems.json. Their German stands in llama_gui_de.ts under "Problems"; `ui/problem_words.py`
puts it in the place of the English where an error is shown.
"""

import ast
import itertools
import json
import re
from collections.abc import Iterator, Sequence

from tests.problem_source import Module, Place, Source, name_of
from tests.translations import ROOT, TRANSLATIONS

PROBLEMS = TRANSLATIONS / "problems.json"
_HOLE = "\0"
"""Stands for a place while a template is put together."""
_MOST_FORMS = 24
_MOST_VALUES = 6
_WRITTEN = ast.Constant | ast.JoinedStr | ast.BinOp | ast.IfExp | ast.BoolOp

NOT_SHOWN = {
    "the window's own rooms are translated where they speak": ("ui",),
    "the terminal is in English": (
        "__main__",
        "ask",
        "bench_command",
        "download_command",
        "menu_command",
        "model_choice",
        "models_command",
        "serve_command",
        "terminal",
        "engine/bench",
        "engine/native/build",
    ),
    "the server answers its clients in English": (
        "server/answers",
        "server/asked",
        "server/body",
        "server/calling",
        "server/connection",
        "server/echo",
        "server/elsewhere",
        "server/embedding",
        "server/forms",
        "server/generating",
        "server/json_body",
        "server/limits",
        "server/loads",
        "server/messages",
        "server/metrics",
        "server/ollama",
        "server/places",
        "server/refusal",
        "server/replies",
        "server/request_fields",
        "server/responses",
        "server/routes",
        "server/sampling_fields",
        "server/schema",
        "server/security",
        "server/served",
        "server/stream",
        "server/tokens",
        "server/tools",
        "server/turns",
        "server/whole_reply",
    ),
    "only programs that use the library can ask so": (
        "answer_stream",
        "engine/answer_state",
        "engine/call_forms",
        "engine/callbacks",
        "engine/engine",
        "engine/request_reader",
        "engine/shared_thread",
        "engine/speculation",
        "engine/structured_output",
        "vocabulary/embeddings",
        "vocabulary/messages",
        "vocabulary/requests",
    ),
    "kernels that check themselves: the log has it, and others take their place": (
        "engine/decode_graph",
        "engine/kernel_notes",
        "engine/native_attention",
        "engine/native_kernels",
        "engine/packed_weights",
        "engine/native_library",
        "engine/packed_linear",
        "engine/wide_kernel",
    ),
    "what a model is asked, or told by us": (
        "bridge/tool_turn",
        "chats/title",
        "chats/tool_use",
        "engine/harmony",
        "engine/template_turns",
        "tools/replies",
    ),
    "numbers, which the window writes as its language does": ("library/fit", "library/sizes"),
}
"""Rooms whose words the window never shows, by the reason."""

_FOR_PROGRAMMERS = ("BugError", "RefusedError", "TimeoutError")
"""Errors that are no sentences for the user of the window: faults of ours, and answers to the server's clients."""
_OF_THE_LIBRARY = re.compile(
    r"logits_processor|allowed_token_ids|logit_bias|json_schema|as its schema|None$|a list of calls|draft model"
)
"""Words of arguments that the window has no field for."""
_NO_SENTENCES = ("compile", "tr", "translate", "debug", "info", "warning", "error", "exception", *_FOR_PROGRAMMERS)
"""Functions whose texts are patterns, translated already, or for the log."""
_ALONE = ("picture",)
"""Words that say something by themselves; others are names of fields."""
_SAYS = ("_on_wait", "_set_note")
"""Functions that are told why a download waits."""
_CODE = re.compile(r"\{[a-z_]*\}|\\[a-zA-Z]|(SELECT|INSERT|UPDATE|DELETE) |= \?|%s|<a |“\0”: [a-z]+$")
"""Marks of what is no sentence: SQL, patterns, HTML, what `logging` or `.format` fills, the name of a field."""

_OF_OTHERS = (
    "Address already in use",
    "All connection attempts failed",
    "Cannot allocate memory",
    "Connection refused",
    "Connection reset by peer",
    "Directory not empty",
    "Disk quota exceeded",
    "Error while deserializing header: {0}",
    "Exec format error",
    "Expecting ',' delimiter: line {0} column {1} (char {2})",
    "Expecting property name enclosed in double quotes: line {0} column {1} (char {2})",
    "Expecting value: line {0} column {1} (char {2})",
    "Extra data: line {0} column {1} (char {2})",
    "File exists",
    "File name too long",
    "Input/output error",
    "Is a directory",
    "Name or service not known",
    "Network is unreachable",
    "No address associated with hostname",
    "No route to host",
    "No space left on device",
    "No such device or address",
    "No such file or directory",
    "Not a directory",
    "Operation not permitted",
    "Permission denied",
    "Read-only file system",
    "Temporary failure in name resolution",
    "The read operation timed out",
    "Too many levels of symbolic links",
    "Too many open files",
    "Unterminated string starting at: line {0} column {1} (char {2})",
    "[Errno {0}] {1}",
    "file is not a database",
    "database disk image is malformed",
    "incomplete metadata, file not fully covered",
    "timed out",
    "“{0}”",
    "“{0}”: {1}",
    "{0} of {1}/{2}",
)
"""What the system and libraries say most often, as our sentences quote it; and how we name things."""


def is_shown(room: str) -> bool:
    """Whether the window may show what a room says."""
    places = [f"llama_gui/{place}" for places in NOT_SHOWN.values() for place in places]
    return not any(room == place or room.startswith(f"{place}/") for place in places)


def read_templates() -> dict[str, list[str]]:
    """The templates of the source, by the room that has them first."""
    package = ROOT / "llama_gui"
    files = [path for path in sorted(package.rglob("*.py")) if not path.is_relative_to(package / "ui")]
    source = Source([Module(path) for path in files])
    rooms: dict[str, list[str]] = {}
    for template, room in sorted(_Reader(source).read().items()):
        rooms.setdefault(room, []).append(template)
    return {**dict(sorted(rooms.items())), "others": sorted(_OF_OTHERS)}


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting: list[Place] = []
        self._seen: set[ast.expr] = set()
        self._inside: list[ast.expr] = []

    def read(self) -> dict[str, str]:
        """All templates, and the room of each."""
        found: dict[str, str] = {}
        for module in self._source.modules.values():
            if is_shown(module.name):
                self._waiting += self._roots(module)
                while self._waiting:
                    place, node = self._waiting.pop()
                    if node not in self._seen and is_shown(place.name) and not _is_translated(node):
                        self._seen.add(node)
                        for form in self._forms(place, node):
                            if template := _template(form):
                                found.setdefault(template, place.name)
        return found

    def _roots(self, module: Module) -> Iterator[Place]:
        """What errors are made of, and what reads like a sentence: those that are kept as values are no errors."""
        for node in module.nodes:
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "left_out":  # what an import counts
                yield module, node.slice
            elif isinstance(node, ast.Call) and (_makes_error(module, node) or name_of(node.func) in _SAYS):
                yield from ((module, arg) for arg in (*node.args, *(keyword.value for keyword in node.keywords)))
            elif isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and _is_whole(module, node):
                former = len(self._waiting)
                if any(map(_is_sentence, self._forms(module, node))):
                    yield module, node
                else:
                    del self._waiting[former:]

    def _forms(self, module: Module, node: ast.expr) -> list[str]:
        """What a text may be, with a hole for each part that is not written there; those are followed later."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=values):
                return _products([self._forms(module, value) for value in values])
            case ast.FormattedValue(value=value) if node.format_spec is None and node.conversion == -1:
                return self._put_in(module, value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _products([self._put_in(module, left), self._put_in(module, right)])
            case ast.IfExp(body=body, orelse=orelse):
                forms = [*self._put_in(module, body), *self._put_in(module, orelse)]
                return [form for form in forms if form or _HOLE not in forms]  # a place may be empty
            case ast.BoolOp(values=values):
                forms = [form for value in values for form in self._put_in(module, value)]
                return [form for form in forms if form]
            case ast.Call(func=ast.Attribute(value=text, attr="format")):
                self._waiting += [(module, arg) for arg in (*node.args, *(keyword.value for keyword in node.keywords))]
                return [re.sub(r"\{[a-z_]*\}", _HOLE, form) for form in self._filled(module, text)]
            case _ if table := self._source.table(module, node):
                values = [(table[0], value) for value in table[1].values]
                values += [(module, arg) for arg in (node.args[1:] if isinstance(node, ast.Call) else ())]
                return [form for place in values for form in self._put_in(*place)]
            case _:
                self._waiting += self._source.origins(module, node)
                return [_HOLE]

    def _put_in(self, module: Module, node: ast.expr) -> list[str]:
        """The forms of a part: its letters where they are written there, else a hole."""
        if self._is_written((module, node)):
            return self._forms(module, node)
        if isinstance(node, ast.Name) and node not in self._inside:
            values = [self._resolved(place) for place in self._source.values(module, node)]
            if 0 < len(values) <= _MOST_VALUES and all(map(self._is_written, values)):
                self._inside.append(node)  # a function may call itself
                forms = [form for place in values for form in self._forms(*place)]
                self._inside.pop()
                return forms
        self._waiting.append((module, node))
        return [_HOLE]

    def _is_written(self, place: Place) -> bool:
        return isinstance(place[1], _WRITTEN) or self._source.table(*place) is not None

    def _resolved(self, place: Place) -> Place:
        """What a name stands for, if it is one thing."""
        for _ in range(_MOST_VALUES):
            module, node = place
            if not isinstance(node, ast.Name) or len(values := self._source.values(module, node)) != 1:
                break
            place = values[0]
        return place

    def _filled(self, module: Module, node: ast.expr) -> list[str]:
        """The texts that `.format` is called on."""
        if isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name) and (place := self._source.constant(module, node.id)):
            module, node = place
        values = node.values if isinstance(node, ast.Dict) else [node]
        return [form for value in values for form in self._forms(module, value)]


def _makes_error(module: Module, call: ast.Call) -> bool:
    name = name_of(call.func)
    if name == "__init__":  # of the error above it
        above = module.above.get(module.function_of(call) or call)
        name = above.name if isinstance(above, ast.ClassDef) else ""
    return name.endswith("Error") and name not in _FOR_PROGRAMMERS


def _is_whole(module: Module, node: ast.AST) -> bool:
    """Whether a text is no part of another, no docstring and no text for SQL or the log."""
    above = module.above.get(node)
    if isinstance(above, ast.Call) and name_of(above.func) in _NO_SENTENCES:
        return False
    return not isinstance(above, ast.JoinedStr | ast.FormattedValue | ast.BinOp | ast.Expr | ast.Attribute)


def _is_translated(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=func), attr="format")) | ast.Call(func=func):
            return name_of(func) in ("tr", "translate")
    return False


def _products(parts: Sequence[list[str]]) -> list[str]:
    return ["".join(row) for row in itertools.islice(itertools.product(*parts), _MOST_FORMS)]


def _is_sentence(form: str) -> bool:
    return form.count(" ") > 1 and bool(re.fullmatch(rf" *[A-Za-z“{_HOLE}].*[.?]{_HOLE}?", form, re.DOTALL))


def _template(form: str) -> str:
    """`form` with numbered places; "" where it is no message: a single word, nothing but marks, code."""
    form = re.sub(f"{_HOLE}+", _HOLE, form.strip(" "))
    is_one_word = len(form.split()) < 2 and form not in _ALONE
    if not re.search("[A-Za-z]{2}", form) or is_one_word or _CODE.search(form) or _OF_THE_LIBRARY.search(form):
        return ""
    count = itertools.count()
    return re.sub(_HOLE, lambda _: f"{{{next(count)}}}", form)


def as_kept(rooms: dict[str, list[str]]) -> str:
    """The file that the window reads."""
    return json.dumps(rooms, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PROBLEMS.write_text(as_kept(read_templates()), encoding="utf-8")
