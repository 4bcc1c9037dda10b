"""A request as a person writes it -> the parts that a sequence is made of, each checked against the model."""

import secrets
from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from torch import Tensor

from llama_gui.engine import native_library
from llama_gui.engine.answer_state import AnswerState
from llama_gui.engine.call_forms import CallForms
from llama_gui.engine.call_grammar import CallGrammar
from llama_gui.engine.callbacks import blamed
from llama_gui.engine.chat_template import plain, plain_prompt
from llama_gui.engine.context_policy import Fitted, fit, sent
from llama_gui.engine.harmony import Marks
from llama_gui.engine.loading import LoadedModel
from llama_gui.engine.middle import MiddleTokens
from llama_gui.engine.pooling import no_embedder, no_writer, vector_of
from llama_gui.engine.prompt_logprobs import PromptLogprobs
from llama_gui.engine.sampling import Sampler
from llama_gui.engine.stop_strings import StopStrings
from llama_gui.engine.structured_output import Constraint, GrammarCompiler
from llama_gui.engine.template_thinking import thinking_tag
from llama_gui.engine.thinking_budget import ThinkingBudget
from llama_gui.engine.thinking_marks import ThinkingMarks
from llama_gui.engine.thinking_watch import ChannelWatch, MarkWatch, TagWatch
from llama_gui.engine.vision.placing import PlacedImages
from llama_gui.engine.vision.stand_in import images_of, marked, reads_none
from llama_gui.errors import GenerationError, InvalidRequestError, PromptTooLongError
from llama_gui.vocabulary import (
    ContextUse,
    EmbedRequest,
    FinishReason,
    GenerateRequest,
    Image,
    Message,
    SamplingParams,
    check_messages,
    thinking_variables,
)
from llama_gui.vocabulary.checks import check_number

_TAG_TOKENS = 16
"""So many at the end of a prompt hold the tag of thoughts that it begins."""
_PLAIN_STOP = "\nUser:"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an answer ends: the ids that end it, its greatest length, and why it is cut there.

    `stop_token_ids`: those of the ids, `stop_texts`: those of the stop texts, that the caller named. `includes_stop`:
    whether what ends it is a part of its text.
    """

    eos_token_ids: frozenset[int]
    max_tokens: int
    reason: FinishReason
    stop_token_ids: frozenset[int] = frozenset()
    stop_texts: frozenset[str] = frozenset()
    includes_stop: bool = False


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What a request comes to with one model.

    `origin` is its state before the first token. `goes_on`: the answer's text goes on with that of the prompt. `marks`:
    those in an answer that are told as tags: of its messages, where it is several, or of its thoughts. `budget`: what
    ends its thoughts. `may_call`: whether it was offered tools. `pool`: makes the vector that is wanted instead of an
    answer, see `vector_of`. `images`: those in the prompt; None: there are none.
    """

    prompt: list[int]
    origin: AnswerState
    sampler: Sampler
    limits: Limits
    stops: StopStrings
    grammar: Constraint | None
    dropped_messages: int
    scores: PromptLogprobs | None = None
    shown_ids: frozenset[int] = frozenset()
    goes_on: bool = False
    marks: Marks | ThinkingMarks | None = None
    budget: ThinkingBudget | None = None
    may_call: bool = False
    asker: str = ""
    pool: Callable[[Tensor], tuple[float, ...]] | None = None
    images: PlacedImages | None = None


class RequestReader:
    """Reads requests to one model; in any thread."""

    def __init__(self, model: LoadedModel) -> None:
        self._tokenizer = model.tokenizer
        self._template = model.template
        self._placer = model.placer
        self._info = model.info
        self._vocab_size = model.network.config.vocab_size
        self._eos_token_ids = model.eos_token_ids
        self._kernels = native_library.load()  # logits are on the CPU, wherever the network is
        # The head may have more rows than the tokenizer has tokens, and the other way round.
        self._drawable = min(self._tokenizer.vocab_size, self._vocab_size)
        self._ending = [token_id for token_id in self._eos_token_ids if token_id < self._drawable]
        self._middle = MiddleTokens.find(self._tokenizer)
        self._grammars = GrammarCompiler(self._tokenizer, self._drawable, self._ending)
        self._channels = Marks.find(self._tokenizer)
        self._thoughts = ThinkingMarks.find(self._tokenizer, self.chat_template) if self._channels is None else None
        manners = self._template.call_manners if self._template is not None else ()
        has_calls = self._template is not None and self._template.knows_tools
        self._call_forms = CallForms(
            self._grammars, self._tokenizer, manners, self._channels if has_calls and not manners else None
        )

    def read(self, request: GenerateRequest | EmbedRequest, *, is_chat: bool | None = None) -> ReadRequest:
        """The parts of `request`. `is_chat`: whether its prompt is that of a chat; None: where it has `messages`.

        Raises:
            InvalidRequestError, PromptTooLongError, ChatTemplateError, UserError: it cannot be run. So it is where the
                model makes vectors and an answer is asked for, or the other way round.
        """
        if isinstance(request, EmbedRequest):
            return self._read_embed(request)
        _check_request(request)
        if self._info.embeds:
            raise no_writer(self._info.name)
        return self._read(request, is_chat)

    def _read_embed(self, request: EmbedRequest) -> ReadRequest:
        dimensions = request.dimensions
        if not self._info.embeds:
            raise no_embedder(self._info.name)
        if dimensions is not None:
            check_number("dimensions", dimensions, 1, self._info.dimensions, integer=True)
        ids = self._tokenizer.encode(request.prompt, add_special_tokens=True) if request.prompt is not None else ()
        ids = list(request.token_ids or ids)
        most = self._info.max_context - 1
        if request.truncate and len(ids) > most:
            end = ids[-1:] if ids[-1] in self._tokenizer.special_ids else []
            ids = ids[: most - len(end)] + end
        if len(ids) > most:
            raise PromptTooLongError(len(ids), most, is_answered=False)
        # As an answer that has no tokens.
        read = self._read(GenerateRequest(token_ids=ids, asker=request.asker, max_tokens=1), is_chat=False)
        limits = replace(read.limits, max_tokens=0, reason="stop")
        return replace(read, limits=limits, pool=partial(vector_of, dimensions=dimensions))

    def _read(self, request: GenerateRequest, is_chat: bool | None) -> ReadRequest:
        asked, request = request, self._with_ends(request)
        known = self._with_known_tokens(request)
        fitted = self._fitted(known)
        prompt = fitted.token_ids
        if not prompt:  # of a text that a tokenizer makes nothing of
            raise InvalidRequestError("prompt", "empty", "at least one token")
        is_chat = request.messages is not None if is_chat is None else is_chat
        goes_on = self._goes_on(prompt, is_chat)
        request = self._with_known_tokens(request, goes_on=True) if goes_on else known
        former = list(request.answer_token_ids)
        self.check_ids("token_ids", prompt)
        self.check_ids("answer_token_ids", former)
        if request.prompt_logprobs is not None and not former and fitted.has_whole_images:
            allowed = "left out: the parts of an image see each other in this model, so none of them foretells the next"
            raise InvalidRequestError("prompt_logprobs", request.prompt_logprobs, allowed)
        is_read_only = bool(former) and request.prompt_logprobs is not None  # then it may fill the context
        if len(prompt) + len(former) >= self._info.max_context + is_read_only:
            raise PromptTooLongError(len(prompt) + len(former), self._info.max_context)
        sampler = self._sampler(request)
        grammar = self._grammar(request, asked) or self._call_grammar(request, prompt)
        marks = self._marks(request, is_chat=is_chat)
        return ReadRequest(
            prompt,
            self._origin(request, prompt, sampler, is_chat, fitted.images),
            sampler,
            self._limits(request, len(prompt)),
            StopStrings(self._stops(request), request.stop if request.include_stop_str_in_output else ()),
            grammar,
            fitted.dropped_messages,
            self._scores(request, prompt, former, goes_on, marks),
            self._call_forms.shown if request.tools else frozenset(),
            goes_on,
            marks,
            self._budget(request, prompt),
            bool(request.tools),
            request.asker,
            images=fitted.images,
        )

    def ended(self, request: GenerateRequest) -> InvalidRequestError:
        """The error for a request behind whose answer nothing can come."""
        return _wrong_answer(request, "of an answer that has not ended yet")

    def chat_prompt(self, messages: Many[Message], *, add_generation_prompt: bool = True, **variables: Any) -> str:
        """The text of the prompt for `messages`: the model's template, or a plain transcript.

        Raises:
            ChatTemplateError: the template is broken, runs too long or refuses the messages.
            InvalidRequestError: `messages` are something else.
        """
        check_messages(messages)
        messages = self._marked(messages)
        if self._template is None:
            return plain_prompt(messages, add_generation_prompt=add_generation_prompt)
        return self._template.render(messages, add_generation_prompt=add_generation_prompt, **variables)

    @property
    def chat_template(self) -> str | None:
        """The source of the model's template."""
        return None if self._template is None else self._template.source

    def chat_ids(self, messages: Many[Message], *, add_generation_prompt: bool = True, **variables: Any) -> list[int]:
        """The ids of the same; images have their tokens."""
        check_messages(messages)
        ids = self._chat_ids(self._marked(messages), add_generation_prompt=add_generation_prompt, **variables)
        images = images_of(messages)
        return ids if self._placer is None or not images else self._placer.place(ids, images).token_ids

    def _chat_ids(self, messages: Many[Message], *, add_generation_prompt: bool, **variables: Any) -> list[int]:
        if self._template is None:
            text = plain_prompt(messages, add_generation_prompt=add_generation_prompt)
            return self._tokenizer.encode(text, add_special_tokens=True)
        return self._template.encode(messages, add_generation_prompt=add_generation_prompt, **variables)

    def measure(self, request: GenerateRequest) -> ContextUse:
        """How much of the context the prompt of `request` takes, and how many messages are left out for it."""
        _check_request(request)
        fitted = self._fitted(request)
        return ContextUse(len(fitted.token_ids), self._info.max_context, fitted.dropped_messages)

    def check_ids(self, name: str, ids: Many[int]) -> None:
        """Raise InvalidRequestError for the field `name` when it holds an id that the model does not know."""
        for token_id in ids:
            if not 0 <= token_id < self._vocab_size:
                allowed = f"a list of token ids from 0 to {self._vocab_size - 1}"
                raise InvalidRequestError(name, token_id, allowed)

    def _with_ends(self, request: GenerateRequest) -> GenerateRequest:
        """The same with the tokens that end an answer in the middle of a text.

        Raises:
            InvalidRequestError: the model knows nothing of middles.
        """
        if request.suffix is None:
            return request
        if self._middle is None:
            allowed = "left out: the tokenizer of this model has no tokens for filling in the middle"
            raise InvalidRequestError("suffix", request.suffix[:80], allowed)
        ends = (token_id for token_id in self._middle.ends if token_id < self._drawable)
        return replace(request, stop_token_ids=(*request.stop_token_ids, *ends))

    def _goes_on(self, prompt: Many[int], is_chat: bool) -> bool:
        """Whether the answer's text goes on with that of `prompt`: the tokenizer puts no space before it then.

        Some templates end with ordinary text ("[/INST]") behind which a new one begins, with its space.
        """
        if not self._tokenizer.adds_space or prompt[-1] in self._tokenizer.special_ids:
            return False
        return not is_chat or self._tokenizer.token_text(prompt[-1])[-1:].isspace()

    def _with_known_tokens(self, request: GenerateRequest, *, goes_on: bool = False) -> GenerateRequest:
        """The same with the tokens of `answer_text`, which count for the limits from here on."""
        text = request.answer_text
        if request.messages is not None:  # where the prompt ends with that already
            text = text.removeprefix(self._info.opening(request.chosen_thinking))
        if not text:
            return replace(request, answer_text="")
        if self._channels is not None and request.messages is not None:
            known = self._channels.answer(self._tokenizer, text, is_open=self._opens_final(request))
        elif self._thoughts is not None and request.messages is not None:
            is_open = bool(self._info.opening(request.chosen_thinking))
            known = self._thoughts.answer(self._tokenizer, text, is_open=is_open)
        else:
            known = (self._tokenizer.encode_behind if goes_on else self._tokenizer.encode_literally)(text)
        more = {name: limit + len(known) for name in ("max_tokens", "min_tokens") if (limit := getattr(request, name))}
        return replace(request, answer_token_ids=known, answer_text="", **more)

    def _grammar(self, request: GenerateRequest, asked: GenerateRequest) -> Constraint | None:
        """The grammar of the answer, behind what is known of it. `asked`: the request as the caller made it."""
        grammar = self._grammars.compile(request.json_schema, request.regex)
        if grammar is None:
            return None
        try:
            for token_id in request.answer_token_ids:
                if token_id not in self._eos_token_ids:
                    grammar.accept(token_id)
        except GenerationError as error:
            raise _wrong_answer(asked, "the beginning of one that its schema or expression allows") from error
        return grammar

    def _call_grammar(self, request: GenerateRequest, prompt: list[int]) -> CallGrammar | None:
        """What makes the calls of an answer well-formed, where it is not bound otherwise."""
        forms = self._call_forms.of(request.tools) if request.tools else ()
        if not forms:
            return None
        grammar = CallGrammar(forms, self._tokenizer.token_bytes, self._drawable, self._watch(prompt))
        for token_id in (*self._header(prompt), *request.answer_token_ids):
            if token_id not in self._eos_token_ids:
                grammar.follow(token_id)
        return grammar

    def _header(self, prompt: list[int]) -> list[int]:
        """The beginning of a message in which `prompt` ends, where an answer is several: a call may go on with it."""
        tail = prompt[-_TAG_TOKENS:]
        marks = self._channels
        if marks is None or marks.start not in tail or marks.message in tail[tail.index(marks.start) :]:
            return []
        return tail[tail.index(marks.start) :]

    def _watch(self, prompt: list[int]) -> MarkWatch | TagWatch:
        """What tells the thoughts of an answer behind `prompt`, where they have no channel."""
        if self._thoughts is not None and self._thoughts.are_taught:
            return MarkWatch(self._tokenizer, self._thoughts, self._drawable, prompt)
        opening = thinking_tag(self._tokenizer.decode(prompt[-_TAG_TOKENS:], skip_special_tokens=False))
        return TagWatch(self._tokenizer, self._drawable, opening)

    def _marks(self, request: GenerateRequest, *, is_chat: bool) -> Marks | ThinkingMarks | None:
        """Those that are told as tags. Where nobody looks for tags, in texts that are no chat, words may look so."""
        if not request.skip_special_tokens:
            return None
        if self._thoughts is not None and not is_chat:
            return replace(self._thoughts, are_taught=False)
        return self._channels or self._thoughts

    def _budget(self, request: GenerateRequest, prompt: list[int]) -> ThinkingBudget | None:
        """What ends the thoughts of an answer, behind what is known of it. One that a grammar binds has none."""
        if request.thinking_budget is None or request.json_schema is not None or request.regex is not None:
            return None
        if self._channels is not None:
            may_call = bool(request.tools)
            watch = ChannelWatch(self._tokenizer, self._channels, self._drawable, prompt, may_call=may_call)
        else:
            watch = self._watch(prompt)
        budget = ThinkingBudget(request.thinking_budget, watch, self._tokenizer.token_bytes, request.sampling)
        return budget.begin(request.answer_token_ids)

    def _marked(self, messages: Many[Message]) -> Many[Message]:
        """The same with a mark for each image, see `STAND_IN`.

        Raises:
            UserError: the model reads no images.
        """
        images = images_of(messages)
        self._check_images(images)
        return marked(messages) if images else messages

    def _check_images(self, images: Many[Image]) -> None:
        if images and (self._placer is None or self._template is None):
            raise reads_none(self._info.name)

    def place_images(self, token_ids: Many[int], images: Many[Image]) -> PlacedImages | None:
        """`images` in the places of the image tokens among `token_ids`; None: there are no images.

        Raises:
            UserError: the model reads no images.
            InvalidRequestError: one is damaged, or there are more or fewer places.
        """
        self._check_images(images)
        return self._placer.place(token_ids, images) if images and self._placer is not None else None

    def _fitted(self, request: GenerateRequest) -> Fitted:
        fitted = self._whole(request)
        images = request.images
        if request.messages is not None:
            images = images_of(sent(request.messages, fitted.dropped_messages))
        placed = self.place_images(fitted.token_ids, images)
        if placed is not None:
            fitted = replace(fitted, token_ids=placed.token_ids, images=placed)
        if request.truncate_prompt_tokens is None:
            return fitted
        if placed is not None:
            allowed = "left out where there are images"
            raise InvalidRequestError("truncate_prompt_tokens", request.truncate_prompt_tokens, allowed)
        return replace(fitted, token_ids=self._truncated(fitted.token_ids, request))

    def _whole(self, request: GenerateRequest) -> Fitted:
        if request.messages is not None:
            return self._fitted_messages(request, request.messages)
        if request.prompt is not None:
            special = request.add_special_tokens is not False
            if request.suffix is not None and self._middle is not None:
                prompt, behind = request.prompt, request.suffix
                return Fitted(self._middle.encode(self._tokenizer, prompt, behind, add_special_tokens=special))
            return Fitted(self._tokenizer.encode(request.prompt, add_special_tokens=special))
        return Fitted(list(request.token_ids or ()))

    def _truncated(self, ids: list[int], request: GenerateRequest) -> list[int]:
        """The last tokens of a prompt, and the tokenizer's beginning where it has it, as vLLM cuts texts."""
        most = request.truncate_prompt_tokens or 0
        if most < 0:
            most = max(1, self._info.max_context - len(request.answer_token_ids) - (request.max_tokens or 1))
        if len(ids) <= most:
            return ids
        special = self._beginning if request.token_ids is None else []
        head = special if ids[: len(special)] == special and len(special) < most else []
        return [*head, *ids[len(ids) - most + len(head) :]]

    @property
    def _beginning(self) -> list[int]:
        return self._tokenizer.encode("", add_special_tokens=True)

    def _fitted_messages(self, request: GenerateRequest, messages: Many[Message]) -> Fitted:
        variables = {
            "tools": request.tools,
            "now": request.now or datetime.now(),
            **thinking_variables(request.thinking),
            **(request.chat_template_kwargs or {}),
        }

        channels = self._channels
        opens = channels is not None and self._opens_final(request)
        opening = channels.opening(self._tokenizer, "final") if opens and channels is not None else []

        def encode(part: Many[Message]) -> list[int]:
            ids = [*self.chat_ids(part, **variables), *opening]
            special = self._beginning if request.add_special_tokens else []
            return ids if ids[: len(special)] == special else [*special, *ids]

        if request.overflow == "error":
            return Fitted(encode(messages))
        return fit(messages, encode, self._count, self._info.max_context, request.max_tokens)

    def _count(self, message: Message) -> int:
        """How many tokens the text and the images of a message have."""
        images = 0 if self._placer is None else sum(map(self._placer.count, message.images))
        return self._tokenizer.count(message.content) + images

    @staticmethod
    def _opens_final(request: GenerateRequest) -> bool:
        """Whether the prompt opens the channel of the answer: where nothing is to be thought, or what a grammar binds.

        Calls would have another channel.
        """
        is_bound = request.json_schema is not None or request.regex is not None
        return is_bound or (request.chosen_thinking is False and not request.tools)

    def _scores(
        self,
        request: GenerateRequest,
        prompt: list[int],
        former: list[int],
        goes_on: bool,
        marks: Marks | ThinkingMarks | None,
    ) -> PromptLogprobs | None:
        if request.prompt_logprobs is None:
            return None
        first = len(prompt) if former else 0
        return PromptLogprobs(
            [*prompt, *former],
            first,
            request.prompt_logprobs,
            self._tokenizer,
            self._vocab_size,
            self._kernels,
            goes_on=goes_on,
            marks=marks,
            may_call=bool(request.tools),
        )

    def _sampler(self, request: GenerateRequest) -> Sampler:
        params = request.sampling.or_else(self._info.sampling)
        for name, token_id in params.named_token_ids:
            if token_id >= self._drawable:
                raise InvalidRequestError(
                    f"{name} token id", token_id, f"a whole number from 0 to {self._drawable - 1}"
                )
        for token_id in request.stop_token_ids:
            if token_id >= self._drawable:
                raise InvalidRequestError("stop_token_ids", token_id, f"token ids from 0 to {self._drawable - 1}")
        ending, words = {*self._ending, *request.stop_token_ids}, self._bad_words(params)
        banned = {*(params.banned_token_ids or ()), *(word[0] for word in words if len(word) == 1)}
        self._check_some_token_is_left(
            params, banned | ending if request.min_tokens > len(request.answer_token_ids) else banned
        )
        processor = request.logits_processor
        return Sampler(
            params,
            params.seed if params.seed is not None else secrets.randbelow(2**32),
            request.logprobs,
            blamed("logits_processor", processor) if processor is not None else None,
            min_tokens=request.min_tokens,
            ending=ending,
            bad_words=words,
            token_text=self._tokenizer.token_text,
            rows=self._vocab_size,
            kernels=self._kernels,
        )

    def _bad_words(self, params: SamplingParams) -> list[list[int]]:
        """How the tokenizer spells the bad words: at the beginning, behind a space and behind a line break."""
        encode, breaks = self._tokenizer.encode_literally, self._tokenizer.encode_literally("\n")
        spellings: set[tuple[int, ...]] = set()
        for word in params.bad_words or ():
            behind = encode(f"\n{word}")
            alone = behind[len(breaks) :] if behind[: len(breaks)] == breaks else ()
            control = self._tokenizer.encode(word, add_special_tokens=False)
            spellings |= {tuple(ids) for ids in (encode(word), encode(f" {word.lstrip()}"), alone, control)}
        return [list(ids) for ids in sorted(spellings) if ids and max(ids) < self._drawable]

    def _check_some_token_is_left(self, params: SamplingParams, banned: set[int]) -> None:
        allowed = params.allowed_token_ids
        if allowed is None and len(banned) >= self._drawable:
            raise InvalidRequestError("banned_token_ids", "all of them", "such that they and min_tokens leave one")
        if allowed is not None and banned.issuperset(allowed):
            rest = "such that banned_token_ids and min_tokens leave one"
            raise InvalidRequestError("allowed_token_ids", list(allowed[:4]), rest)

    def _origin(
        self,
        request: GenerateRequest,
        prompt: list[int],
        sampler: Sampler,
        is_chat: bool,
        placed: PlacedImages | None,
    ) -> AnswerState:
        return AnswerState(
            prompt_token_ids=tuple(prompt),
            token_ids=tuple(request.answer_token_ids),
            sampling=replace(sampler.params, seed=sampler.seed),
            max_tokens=request.max_tokens,
            min_tokens=request.min_tokens,
            stop=tuple(self._stops(request)),
            logprobs=request.logprobs,
            cache_key=request.cache_key,
            json_schema=request.json_schema,
            regex=request.regex,
            stop_token_ids=tuple(request.stop_token_ids),
            ignore_eos=request.ignore_eos,
            include_stop_str_in_output=request.include_stop_str_in_output,
            skip_special_tokens=request.skip_special_tokens,
            tokenizer=self._tokenizer.fingerprint,
            tools=plain(request.tools) if request.tools else None,
            is_chat=is_chat,
            thinking_budget=request.thinking_budget,
            asker=request.asker,
            images=() if placed is None else tuple(replace(image, place=0) for image in placed.images),
        )

    def _limits(self, request: GenerateRequest, prompt_tokens: int) -> Limits:
        room = self._info.max_context - prompt_tokens
        is_limit = request.max_tokens is not None and request.max_tokens <= room
        stops = frozenset(request.stop_token_ids)
        eos = frozenset[int]() if request.ignore_eos else self._eos_token_ids
        return Limits(
            eos | stops,
            request.max_tokens if is_limit and request.max_tokens is not None else room,
            "length" if is_limit else "context",
            stops - eos,
            frozenset(request.stop),
            request.include_stop_str_in_output,
        )

    def _stops(self, request: GenerateRequest) -> list[str]:
        plain = self._template is None and request.messages is not None
        return [*request.stop, _PLAIN_STOP] if plain else list(request.stop)


def _check_request(request: object) -> None:
    if not isinstance(request, GenerateRequest):
        raise InvalidRequestError("request", request, "a GenerateRequest")


def _wrong_answer(request: GenerateRequest, allowed: str) -> InvalidRequestError:
    if request.answer_text:
        return InvalidRequestError("answer_text", request.answer_text[-80:], allowed)
    return InvalidRequestError("answer_token_ids", list(request.answer_token_ids[-4:]), allowed)
