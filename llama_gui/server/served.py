"""What the server knows of engines: the part of `llama_gui.engine` that it asks for, and where models come from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, overload
from weakref import WeakValueDictionary

from llama_gui.errors import ChatTemplateError, GenerationError
from llama_gui.server.refusal import RefusedError, refusal_of
from llama_gui.vocabulary import (
    ContextUse,
    EmbedRequest,
    EngineStats,
    GenerateRequest,
    GenerateResult,
    Message,
    ModelInfo,
    TokenOutput,
)


class ServedJob(Protocol):
    """An answer on its way; safe from any thread."""

    @property
    def prompt_token_ids(self) -> tuple[int, ...]:
        """The tokens that it is given."""
        ...

    @property
    def prompt_logprobs(self) -> tuple[TokenOutput | None, ...]:
        """How likely the tokens of the prompt are, where that was asked for; known from the first output on."""
        ...

    def cancel(self) -> None:
        """End it within one step of the engine."""
        ...


class ServedTokenizer(Protocol):
    """Text to ids and back; safe from any thread."""

    @property
    def special_tokens_map(self) -> Mapping[str, str]:
        """The tokens of the beginning, the end and so on, by the names that chat templates have for them."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Ids of `text`."""
        ...

    def encode_literally(self, text: str) -> list[int]:
        """Ids of `text` in which nothing becomes a control token, and none is added."""
        ...

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """The text of `ids`."""
        ...

    def token_text(self, token_id: int) -> str:
        """A token's own text."""
        ...

    def piece(self, token_id: int) -> str:
        """A token as the vocabulary spells it."""
        ...

    def token_bytes(self, token_id: int) -> bytes | None:
        """A token's own bytes; None where they depend on its neighbours."""
        ...


class ServedEngine(Protocol):
    """A loaded model; every method may be called from any thread."""

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        ...

    @property
    def tokenizer(self) -> ServedTokenizer:
        """Text to ids and back, exactly as generation does it."""
        ...

    @property
    def chat_template(self) -> str | None:
        """The source of its chat template; None: it has none."""
        ...

    @property
    def eos_token_ids(self) -> frozenset[int]:
        """The ids that end an answer."""
        ...

    def submit(
        self,
        request: GenerateRequest | EmbedRequest,
        on_output: Callable[[Any, TokenOutput], None] | None = None,
        on_finish: Callable[[Any, GenerateResult], None] | None = None,
    ) -> ServedJob:
        """Queue a request; the callbacks run in the engine's thread."""
        ...

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = True,
        tokenize: Literal[True],
        **variables: Any,
    ) -> list[int]: ...

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = True,
        tokenize: Literal[False] = False,
        **variables: Any,
    ) -> str:
        """The prompt for `messages`, or its ids."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text as the content of a message."""
        ...

    def measure(self, request: GenerateRequest) -> ContextUse:
        """How many tokens the prompt of a request has, without running it."""
        ...

    def stats(self) -> EngineStats:
        """What it does just now."""
        ...


class Models(Protocol):
    """The models that can be asked, each under its name; safe from any thread."""

    def names(self) -> Sequence[str]:
        """All of them, the one for requests that name none first."""
        ...

    def engine(self, name: str) -> ServedEngine:
        """The engine of a model; this may load it, which takes as long as it takes.

        Raises EngineClosedError when it is gone since `names` told of it, and whatever a load raises.
        """
        ...

    def loaded(self) -> Mapping[str, ServedEngine]:
        """The engines in memory by their names, for what is told about them."""
        ...


class FixedModels:
    """Models that are in memory already, and stay there."""

    def __init__(self, engines: Mapping[str, ServedEngine]) -> None:
        self._engines = dict(engines)

    @classmethod
    def of(cls, engine: ServedEngine) -> "FixedModels":
        """One engine, under its own name."""
        return cls({engine.info.name: engine})

    def names(self) -> Sequence[str]:
        """All of them."""
        return tuple(self._engines)

    def engine(self, name: str) -> ServedEngine:
        """The engine of a model."""
        return self._engines[name]

    def loaded(self) -> Mapping[str, ServedEngine]:
        """All engines."""
        return dict(self._engines)


class LazyModels:
    """Models that are loaded when they are first asked for: `load` gives the engine of a path, as `ModelPool` does."""

    def __init__(self, paths: Mapping[str, str], load: Callable[[str], ServedEngine]) -> None:
        self._paths = dict(paths)
        self._load = load
        # Weak: an engine that made room for another is gone when its pool lets go of it.
        self._engines: WeakValueDictionary[str, ServedEngine] = WeakValueDictionary()

    def names(self) -> Sequence[str]:
        """All of them."""
        return tuple(self._paths)

    def engine(self, name: str) -> ServedEngine:
        """The engine of a model, loaded if need be. Raises what `load` raises."""
        engine = self._load(self._paths[name])
        self._engines[name] = engine
        return engine

    def loaded(self) -> Mapping[str, ServedEngine]:
        """The engines that were asked for and are still there."""
        return dict(self._engines)


def refusal_by(
    engine: ServedEngine, error: BaseException, request: GenerateRequest | None = None, *, is_chat: bool = True
) -> RefusedError:
    """What the caller is told about an error of this engine, where `request` was asked. It may take a while."""
    if isinstance(error, ChatTemplateError) and not _can_render(engine):
        return RefusedError(500, f"The chat template of {engine.info.name} is broken.", code="model_unusable")
    if isinstance(error, GenerationError) and request is not None and _is_bound(request):
        # Asked again, it fails again; what clients see as the server's fault, they send three times.
        return RefusedError(400, str(error), code="generation_failed")
    return refusal_of(error, engine.info.path, is_chat=is_chat)


def _can_render(engine: ServedEngine) -> bool:
    """Whether the template takes the plainest conversation: then what it does not take is the caller's."""
    try:
        engine.apply_chat_template([Message("user", "Hi")])
    except ChatTemplateError:
        return False
    return True


def _is_bound(request: GenerateRequest) -> bool:
    """Whether the request leaves only some answers, so that there may be none."""
    sampling = request.sampling
    tokens = (sampling.allowed_token_ids, sampling.banned_token_ids, sampling.bad_words)
    return any(bond is not None for bond in (request.json_schema, request.regex, *tokens))


_ANY_TAG = ":latest"
"""Ollama's clients put it behind a name without a tag."""
_STANDS_IN = "claude"


def name_for(models: Models, asked: str | None, *, stands_in: bool = False) -> str:
    """The name of the model that a request means; without one, or with "", the first, as vLLM and llama.cpp have it.

    What is not a known name is never looked for anywhere. `stands_in`: one of ours stands in for Anthropic's, which
    their clients name by themselves for small tasks, whatever model they were given: one that is in memory, so that
    none is loaded, and another unloaded, for that.

    Raises:
        RefusedError: there is no such model.
    """
    names = models.names()
    if not asked and names:
        return names[0]
    for name in (asked, str(asked).removesuffix(_ANY_TAG)):
        if name in names:
            return str(name)
    if stands_in and names and str(asked).lower().startswith(_STANDS_IN):
        loaded = models.loaded()
        return next((name for name in names if name in loaded and not loaded[name].info.embeds), names[0])
    raise RefusedError(
        404,
        f"There is no model {str(asked)[:100]!r}. There is: {', '.join(names) or 'none'}.",
        param="model",
        code="model_not_found",
    )
