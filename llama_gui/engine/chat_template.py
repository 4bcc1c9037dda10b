"""Messages -> prompt, by the model's own Jinja template, in a sandbox."""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.utils import pass_context

from llama_gui.engine.fields import check_regular, read_json, shown
from llama_gui.engine.literal_texts import ControlTexts, LiteralTexts
from llama_gui.engine.tag_guard import unguarded
from llama_gui.engine.template_manners import SOME_CALL, are_lists, manners_of
from llama_gui.engine.template_meter import TooMuchError
from llama_gui.engine.template_sandbox import BoundedEnvironment
from llama_gui.engine.template_thinking import (
    NO_THINK,
    instructions_with,
    is_effort_switch,
    is_told,
    thinking_tag,
    told_not_to_think,
    with_effort,
    with_instructions,
    without_instructions,
)
from llama_gui.engine.template_turns import (
    Turn,
    calls_as_text,
    has_calls,
    in_parts,
    others,
    split_calls,
    told_to_user,
    with_descriptions,
    with_thoughts_apart,
    with_told_tools,
    with_written_calls,
)
from llama_gui.engine.thinking_marks import ThinkingMarks
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.stand_in import STAND_IN
from llama_gui.errors import ChatTemplateError
from llama_gui.tool_calls import PYTHONIC_MARKS, Manner
from llama_gui.vocabulary import EFFORT, EFFORTS, Effort, Message, chosen_thinking, thinking_variables
from llama_gui.vocabulary.checks import check_depth

_WORD = "Wort"
_SOME_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}},
}


class _Refusal(jinja2.TemplateError):
    """The template called `raise_exception`: its own words about the messages."""


class _GenerationTag(jinja2.ext.Extension):
    """``{% generation %}`` marks the assistant's text for training; here it is only passed through."""

    tags = {"generation"}  # noqa: RUF012 - jinja's own declaration

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """Replace the tag by its body."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _refuse(message: str) -> NoReturn:
    raise _Refusal(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # jinja's own filter escapes HTML, which has no place in a prompt.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@pass_context
def _strftime_now(context: Mapping[str, Any], pattern: str) -> str:
    return context["_now"].strftime(pattern)


_CALLED = {"tool_calls": [SOME_CALL]}


class ChatTemplate:
    """The chat template of a model folder, and the one it has for tools if that is another. Made by `load`.

    Time, memory and output are bounded: see `template_sandbox`.
    """

    def __init__(
        self, source: str, file: Path, tokenizer: Tokenizer, tool_use: str | None = None, image_text: str = ""
    ) -> None:
        """`image_text`: what a prompt has in the place of an image, see `STAND_IN`."""
        self.source = source
        self._image_text = image_text
        self._file = file
        self._tokenizer = tokenizer
        environment = BoundedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, jinja2.ext.loopcontrols]
        )
        environment.add_filter("tojson", _to_json)
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _strftime_now}
        self._environment = environment
        self._source = source + (tool_use or "")
        self._template = self._compile(source)
        self._tool_use = self._compile(tool_use) if tool_use is not None else self._template

    def _compile(self, source: str) -> jinja2.Template:
        try:
            return self._environment.from_string(source)
        except Exception as error:  # also RecursionError, and what Python's own compiler says
            line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
            raise ChatTemplateError(f"{self._file}{line}: the chat template is broken: {error}.") from error

    @classmethod
    def load(cls, folder: Path, tokenizer: Tokenizer, image_text: str = "") -> "ChatTemplate | None":
        """chat_template.jinja, or what tokenizer_config.json holds, or chat_template.json; None when there is none.

        The last is where models that read images had theirs for a while, some of them nowhere else.

        Raises:
            ChatTemplateError: it cannot be read or parsed.
            BrokenModelError: one of the other two is damaged.
        """
        file = folder / "chat_template.jinja"
        if file.exists():
            try:
                check_regular(file)
                source = file.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                raise ChatTemplateError(f"{file} cannot be read: {error}. Download the file again.") from error
            if not source.strip():
                raise ChatTemplateError(
                    f"{file} is empty. Download the file again, or delete it if the model has no chat template."
                )
            return cls(source, file, tokenizer, image_text=image_text)
        for name in ("tokenizer_config.json", "chat_template.json"):
            file = folder / name
            named = _named_templates(read_json(file).get("chat_template"), file) if file.exists() else {}
            source = named.get("default", next(iter(named.values()), ""))
            if source.strip():
                return cls(source, file, tokenizer, named.get("tool_use"), image_text)
        return None

    def render(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, Any]] | None = None,
        now: datetime | None = None,
        **variables: Any,
    ) -> str:
        """The prompt's text.

        Args:
            tools: JSON schemas of functions that the model may call.
            now: the moment that the template takes for the present; None: the present.
            variables: what else the template may read: `documents`, `enable_thinking` and so on.

        Raises:
            ChatTemplateError: the template fails, runs too long, or refuses the messages.
            InvalidRequestError: `tools` are nested too deep.
        """
        variables = {"add_generation_prompt": add_generation_prompt, "_now": now or datetime.now(), **variables}
        parts = self._parts(messages, tools, variables)
        return parts if isinstance(parts, str) else "".join(text + literal for text, literal in parts)

    def encode(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, Any]] | None = None,
        now: datetime | None = None,
        **variables: Any,
    ) -> list[int]:
        """The prompt's ids. What a message, a tool or a document says never becomes a control token.

        Raises:
            ChatTemplateError: see `render`.
        """
        variables = {"add_generation_prompt": add_generation_prompt, "_now": now or datetime.now(), **variables}
        parts = self._parts(messages, tools, variables)
        if isinstance(parts, str):
            return self._tokenizer.encode(parts, add_special_tokens=False)
        return self._tokenizer.encode_apart(parts)

    def _parts(self, messages: Sequence[Message], tools: Any, variables: dict[str, Any]) -> str | list[tuple[str, str]]:
        """The prompt, its (text, literal text) apart where the texts of control tokens are in what people wrote.

        Both the text and the ids are made of this, so a template that looks for such texts refuses neither.
        """
        turns = [_turn(message) for message in messages]
        variables = with_effort(variables) if self._has_effort_switch else variables
        if self._instructions and chosen_thinking(variables) is not False:
            turns = without_instructions(turns, self._instructions)
        if self._is_told and chosen_thinking(variables) is False:
            turns = told_not_to_think(turns)
        tools = _plain_json("tools", tools)
        documents = _plain_json("documents", variables.get("documents"))
        unbroken = [unguarded(turn["content"]) for turn in turns]
        if not self._control_texts.threaten([turns, unbroken, tools, documents]):
            text = self._render([self._changed(turn, _as_it_is) for turn in turns], tools, variables)
            return text.replace(STAND_IN, self._image_text)
        literal = LiteralTexts(self._control_texts, turns, tools, documents, variables)
        guarded = [self._changed(turn, literal.hide) for turn in turns]
        text = self._render(guarded, literal.hide(tools), {**variables, "documents": literal.hide(documents)})
        return [(said.replace(STAND_IN, self._image_text), hidden) for said, hidden in literal.parts(text)]

    def _changed(self, turn: Turn, change: Callable[[Any], Any]) -> Turn:
        """A turn with what people wrote in it changed: names, the role, and the marks around thoughts are ours."""
        changed = {key: value if key == "role" else change(value) for key, value in turn.items()}
        if turn["role"] == "assistant" and self._marks is not None:
            changed["content"] = self._marks.turn(self._tokenizer, turn["content"], change)
        return changed

    def thinking(self) -> tuple[bool | None, str]:
        """`ModelInfo.thinking` and `ModelInfo.thinking_tag`, found out by rendering."""
        try:
            on, off, unsaid = (
                self.render([Message("user", "?")], now=datetime.min, **thinking_variables(thinking))
                for thinking in (True, False, None)
            )
        except ChatTemplateError:  # whoever asks for an answer is told
            return None, ""
        if self._has_channels:  # the channel of the answer can be opened at once
            return True, ""
        return None if on == off else unsaid == on, thinking_tag(on)

    def efforts(self) -> tuple[Effort, ...]:
        """`ModelInfo.efforts`, found out by rendering."""
        try:
            made = {
                self.render([Message("user", "?")], now=datetime.min, **thinking_variables(effort))
                for effort in EFFORTS
            }
        except ChatTemplateError:  # whoever asks for an answer is told
            return ()
        return EFFORTS if len(made) == len(EFFORTS) else ()

    @cached_property
    def knows_tools(self) -> bool:
        """Whether it has a place for tools: found out by rendering."""
        return self._tells_tools or self._wants_told_tools

    @cached_property
    def _tells_tools(self) -> bool:
        turns = [_turn(Message("user", "?"))]
        return self._differs((turns, [_SOME_TOOL]), (turns, None))

    @cached_property
    def _wants_told_tools(self) -> bool:
        """Whether its place for tools is in the system turn, as Phi-4-mini has it."""
        turns = [_turn(Message("system", "?")), _turn(Message("user", "?"))]
        return not self._tells_tools and self._differs((with_told_tools(turns, [_SOME_TOOL]), None), (turns, None))

    def _differs(self, one: tuple[list[Turn], Any], other: tuple[list[Turn], Any]) -> bool:
        variables = {"add_generation_prompt": True, "_now": datetime.min}
        try:
            return self._run(*one, variables) != self._run(*other, variables)
        except Exception:  # whoever asks for an answer is told
            return False

    @cached_property
    def call_manners(self) -> tuple[Manner, ...]:
        """How the model writes calls; () where it knows no tools."""
        if not self.knows_tools or self._has_channels:  # their calls have a form of their own
            return ()
        return manners_of(self._has, self._called, are_told=self._wants_told_tools)

    @cached_property
    def lists_calls(self) -> bool:
        """Whether the model writes several calls as one list."""
        return self.knows_tools and are_lists(self.call_manners, self._called)

    @cached_property
    def _leaves_out_calls(self) -> bool:
        """Whether it tells of tools and replies, but not of calls, as LFM2's do, but for the newest."""
        variables = {"add_generation_prompt": False, "_now": datetime.min}
        asked, without = _turn(Message("user", "?")), _turn(Message("assistant", ""))
        try:
            texts = {self._run([asked, turn], [_SOME_TOOL], variables) for turn in (without, {**without, **_CALLED})}
        except Exception:  # whoever asks for an answer is told
            return False
        return len(texts) == 1

    @cached_property
    def wraps_answers(self) -> bool:
        """Whether the model knows tags for what it says behind its thoughts, as Granite does."""
        return self._has("<response>")

    def _has(self, text: str) -> bool:
        """Whether the model knows `text` from its template, or as a token."""
        return text in self._source or self._tokenizer.id_of(text) is not None

    def _called(self, answer: Message | None) -> str:
        messages = [Message("user", "?"), *([answer] if answer is not None else [])]
        return self.render(messages, now=datetime.min, tools=[_SOME_TOOL], add_generation_prompt=answer is None)

    @cached_property
    def _control_texts(self) -> ControlTexts:
        return ControlTexts(self._tokenizer.special_texts)

    @cached_property
    def _marks(self) -> ThinkingMarks | None:
        """Between which its model thinks, where these are no tags."""
        return None if self._has_channels else ThinkingMarks.find(self._tokenizer, self.source)

    @property
    def marks_thoughts(self) -> bool:
        """Whether its model was taught to think between such marks."""
        return self._marks is not None and self._marks.are_taught

    @cached_property
    def _has_channels(self) -> bool:
        """Whether its answers are several messages; see `harmony.py`."""
        return "<|channel|>" in self._source

    @cached_property
    def _has_effort_switch(self) -> bool:
        return EFFORT in self._source and is_effort_switch(self._run_plainly)

    @cached_property
    def _is_told(self) -> bool:
        return NO_THINK in self._source and is_told(self._run_plainly)

    @cached_property
    def _instructions(self) -> str:
        if self._marks is None or "strftime_now" in self._source:  # those of another day would be wrong
            return ""
        return instructions_with(self._tokenizer.token_text(self._marks.opening), self._run_plainly)

    def _run_plainly(self, turns: Sequence[Turn], **variables: Any) -> str:
        return self._run([*turns], None, {"add_generation_prompt": True, "_now": datetime.min, **variables})

    def _render(self, turns: list[Turn], tools: Any, variables: dict[str, Any]) -> str:
        if self._instructions:
            turns = with_instructions(turns, self._instructions, are_wanted=chosen_thinking(variables) is not False)
        if self._has_channels:
            # They refuse no system turn in the midst: they leave it out without a word.
            turns, tools = with_thoughts_apart(split_calls(told_to_user(turns))), with_descriptions(tools)
        if has_calls(turns) and (not self.knows_tools or self._wants_told_tools):  # it would silently leave them out
            turns = calls_as_text(turns)
        elif has_calls(turns) and self._leaves_out_calls:
            turns = with_written_calls(turns) if all(map(self._has, PYTHONIC_MARKS)) else calls_as_text(turns)
        if tools and self._wants_told_tools:
            turns, tools = with_told_tools(turns, tools), None
        try:
            return self._run(turns, tools, variables)
        except _Refusal as refusal:
            for other in others(turns):
                with contextlib.suppress(Exception):  # the first refusal says more than a second one
                    return self._run(other, tools, variables)
            raise ChatTemplateError(f"The model's chat template refuses this conversation: {refusal}") from refusal
        except TooMuchError as error:
            raise ChatTemplateError(
                f"{self._file}: the chat template was stopped: {error}. Pick another model or mend the template; "
                "if the conversation is extremely long, start a new one."
            ) from error
        except Exception as error:
            raise ChatTemplateError(
                f"{self._file}: the chat template fails: {type(error).__name__}: {error}. "
                "Pick another model, or mend the template."
            ) from error

    def _run(self, turns: list[Turn], tools: Any, variables: dict[str, Any]) -> str:
        return self._run_as_given([*map(in_parts, turns)] if self._wants_parts else turns, tools, variables)

    @cached_property
    def _wants_parts(self) -> bool:
        """Whether it shows contents that are lists of parts, and no texts: that of SmolVLM does. Found by rendering."""

        def is_shown(content: str | list[dict[str, str]]) -> bool:
            with contextlib.suppress(Exception):  # whoever asks for an answer is told
                turns = [{"role": "user", "content": content}]
                return _WORD in self._run_as_given(turns, None, {"add_generation_prompt": True, "_now": datetime.min})
            return False

        return not is_shown(_WORD) and is_shown([{"type": "text", "text": _WORD}])

    def _run_as_given(self, turns: list[Turn], tools: Any, variables: dict[str, Any]) -> str:
        template = self._template if tools is None else self._tool_use
        named = self._tokenizer.special_tokens_map
        return self._environment.render(
            template, {"messages": turns, "tools": tools, "documents": None, **named, **variables}
        )


def _as_it_is(value: Any) -> Any:
    return value


def _turn(message: Message) -> Turn:
    """A message as templates read it; a key that says nothing is missing."""
    optional = {
        "tool_calls": [plain(call) for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
        "name": message.name,
    }
    said = {key: value for key, value in optional.items() if value}
    return {"role": message.role, "content": message.content, **said}


def _plain_json(name: str, value: Any) -> Any:
    check_depth(name, value)
    return plain(value)


def plain(value: Any) -> Any:
    """`value` converted to JSON's types only: other objects have methods that the sandbox does not know."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Sequence):
        return [plain(part) for part in value]
    return str(value)


def _named_templates(value: Any, file: Path) -> dict[str, str]:
    """A template as "default", or a list of named ones as they are named; nothing for null."""
    if value is None or isinstance(value, str):
        return {"default": value or ""}
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    named = {str(e.get("name")): e["template"] for e in entries if isinstance(e.get("template"), str)}
    if not named:
        raise ChatTemplateError(
            f"{file}: chat_template is {shown(value)}, but it must be a template or a list of named ones. "
            "Download the file again."
        )
    return named


def plain_prompt(messages: Sequence[Message], *, add_generation_prompt: bool = True) -> str:
    """A transcript for models without a template; the answer ends where the next "User:" would begin."""
    names = {"user": "User: ", "assistant": "Assistant: "}
    turns = [_turn(message) for message in messages]
    turns = calls_as_text(turns) if has_calls(turns) else turns
    text = "".join(f"{names.get(turn['role'], '')}{turn['content']}\n" for turn in turns)
    return f"{text}Assistant:" if add_generation_prompt else text
