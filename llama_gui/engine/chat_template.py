"""Messages -> prompt, by the model's own Jinja template, in a sandbox."""

import contextlib
import json
import re
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from llama_gui.engine.config import read_json
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import ChatTemplateError
from llama_gui.vocabulary import Message

MAX_CHARACTERS = 20_000_000
MAX_SECONDS = 2.0


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


def _to_json(value: Any, **options: Any) -> str:
    # jinja's own filter escapes HTML, which has no place in a prompt.
    return json.dumps(value, ensure_ascii=options.pop("ensure_ascii", False), **options)


class ChatTemplate:
    """One template of a model folder. Made by `load`.

    Bounded: the sandbox denies Python's internals and ranges above 100,000, output ends at `MAX_CHARACTERS`, and time
    at `MAX_SECONDS` as soon as the template writes something; a loop that writes nothing is not bounded yet.
    """

    def __init__(
        self, source: str, file: Path, tokenizer: Tokenizer, now: Callable[[], datetime] = datetime.now
    ) -> None:
        self._file = file
        self._tokenizer = tokenizer
        self._now = now
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, jinja2.ext.loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals.update(raise_exception=_refuse, strftime_now=self._strftime_now)
        try:
            self._template = environment.from_string(source)
        except (jinja2.TemplateError, RecursionError, ValueError) as error:
            line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
            raise ChatTemplateError(f"{file}{line}: the chat template is broken: {error}.") from error

    @classmethod
    def load(cls, folder: Path, tokenizer: Tokenizer) -> "ChatTemplate | None":
        """chat_template.jinja, or what tokenizer_config.json holds; None when the model has none.

        Raises:
            ChatTemplateError: it cannot be read or parsed.
            BrokenModelError: tokenizer_config.json is damaged.
        """
        file = folder / "chat_template.jinja"
        if file.exists():
            try:
                return cls(file.read_text(encoding="utf-8"), file, tokenizer)
            except (OSError, ValueError) as error:
                raise ChatTemplateError(f"{file} cannot be read: {error}.") from error
        file = folder / "tokenizer_config.json"
        source = _choose(read_json(file).get("chat_template")) if file.exists() else None
        return cls(source, file, tokenizer) if source else None

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool = True, **variables: Any) -> str:
        """The prompt's text.

        Raises:
            ChatTemplateError: the template fails, or refuses the messages.
        """
        turns = [{"role": m.role, "content": m.content} for m in messages]
        return self._render(turns, {"add_generation_prompt": add_generation_prompt, **variables})

    def encode(self, messages: Sequence[Message], *, add_generation_prompt: bool = True, **variables: Any) -> list[int]:
        """The prompt's ids. What a message says never becomes a control token.

        Raises:
            ChatTemplateError: see `render`.
        """
        if not any(self._tokenizer.contains_special(m.content) for m in messages):
            text = self.render(messages, add_generation_prompt=add_generation_prompt, **variables)
            return self._tokenizer.encode(text, add_special_tokens=False)
        literal = _LiteralTexts(self._tokenizer.special_texts)
        guarded = [Message(m.role, literal.hide(m.content)) for m in messages]
        text = self.render(guarded, add_generation_prompt=add_generation_prompt, **variables)
        ids: list[int] = []
        for part, hidden in literal.parts(text):
            ids += self._tokenizer.encode(part, add_special_tokens=False) if part else []
            ids += self._tokenizer.encode_literally(hidden) if hidden else []
        return ids

    def _render(self, turns: list[dict[str, Any]], variables: dict[str, Any]) -> str:
        try:
            return self._run(turns, variables)
        except _Refusal as refusal:
            folded = _fold_system(turns)
            if folded is not None:  # some templates know no system role
                with contextlib.suppress(Exception):  # the first refusal says more than a second one
                    return self._run(folded, variables)
            raise ChatTemplateError(f"The model's chat template refuses this conversation: {refusal}") from refusal
        except ChatTemplateError:
            raise
        except Exception as error:
            raise ChatTemplateError(
                f"{self._file}: the chat template fails: {type(error).__name__}: {error}. "
                "Pick another model, or mend the template."
            ) from error

    def _run(self, turns: list[dict[str, Any]], variables: dict[str, Any]) -> str:
        tokens = {"bos_token": self._tokenizer.bos_token, "eos_token": self._tokenizer.eos_token}
        values = {"messages": turns, "tools": None, "documents": None, **tokens, **variables}
        pieces: list[str] = []
        size, deadline = 0, time.monotonic() + MAX_SECONDS
        for piece in self._template.generate(values):
            size += len(piece)
            if size > MAX_CHARACTERS or time.monotonic() > deadline:
                raise ChatTemplateError(f"{self._file}: the chat template writes without end. Pick another model.")
            pieces.append(piece)
        return "".join(pieces)

    def _strftime_now(self, pattern: str) -> str:
        return self._now().strftime(pattern)


class _LiteralTexts:
    """Hides control tokens' texts in messages behind marks that nobody can guess, and finds them in the prompt."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._pattern = re.compile("|".join(re.escape(text) for text in texts))
        # Private-use characters and digits: no template trims, lowers or escapes them.
        self._mark = f"\ue000{secrets.randbits(96)}\ue001"
        self._hidden: list[str] = []

    def hide(self, content: str) -> str:
        return self._pattern.sub(self._put, content)

    def _put(self, match: re.Match[str]) -> str:
        self._hidden.append(match[0])
        return f"{self._mark}{len(self._hidden) - 1}\ue001"

    def parts(self, text: str) -> list[tuple[str, str]]:
        """(ordinary text, the literal text behind it), in order; the last has no literal text."""
        pieces = re.split(f"{self._mark}(\\d+)\ue001", text)
        hidden = [self._hidden[int(number)] for number in pieces[1::2]]
        return list(zip(pieces[0::2], [*hidden, ""], strict=True))


def _choose(value: Any) -> str | None:
    """A template, or the one named "default" (else the first) of a list of named ones."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    named = {t.get("name"): t.get("template") for t in value if isinstance(t, dict)}
    chosen = named.get("default", next(iter(named.values()), None))
    return chosen if isinstance(chosen, str) else None


def _fold_system(turns: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The same conversation with the system text at the head of the first user turn; None without both."""
    if len(turns) < 2 or turns[0]["role"] != "system" or turns[1]["role"] != "user":
        return None
    content = f"{turns[0]['content']}\n\n{turns[1]['content']}"
    return [{"role": "user", "content": content}, *turns[2:]]


def plain_prompt(messages: Sequence[Message]) -> str:
    """A transcript for models without a template; the answer ends where the next "User:" would begin."""
    names = {"user": "User: ", "assistant": "Assistant: "}
    return "".join(f"{names.get(m.role, '')}{m.content}\n" for m in messages) + "Assistant:"
