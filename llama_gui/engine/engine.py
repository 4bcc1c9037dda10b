"""The engine: a loaded model, and everything that can be asked of it."""

import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Many
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, overload

import torch
from torch import Tensor

from llama_gui.engine.answer_state import AnswerState
from llama_gui.engine.callbacks import OnFinish, OnOutput
from llama_gui.engine.card_graph import graphs_of
from llama_gui.engine.device import MOST_THREADS, kv_byte_budget
from llama_gui.engine.job import Job
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.linear import StackedLinear
from llama_gui.engine.llama import Llama
from llama_gui.engine.loading import LoadedModel, load_model
from llama_gui.engine.loop import Loop
from llama_gui.engine.model_files import ModelFiles
from llama_gui.engine.native_linear import NativeFloatLinear, NativeQuantisedLinear
from llama_gui.engine.pooling import no_writer
from llama_gui.engine.prompt_cache import check_place, open_prompt_cache, stamp_of
from llama_gui.engine.ranking import Ranker
from llama_gui.engine.request_reader import RequestReader
from llama_gui.engine.row_tiles import PROMPT_TILE
from llama_gui.engine.runner import Runner
from llama_gui.engine.scheduler import FINE_TILE, TILE, Scheduler, TokenBudget
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.shared_thread import SharedThread
from llama_gui.engine.speculation import Speculator, Told, check_draft, load_draft, open_draft, speculator_for
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import GenerationError, InvalidRequestError, PromptTooLongError
from llama_gui.vocabulary import (
    STRATEGIES,
    ContextUse,
    EmbedRequest,
    EngineStats,
    GenerateRequest,
    GenerateResult,
    Image,
    LoadProgress,
    Message,
    ModelInfo,
    Strategy,
    vector_in,
)
from llama_gui.vocabulary.checks import check_function, check_kind, check_number, token_id_tuple

_TEXTS = "a list of texts or EmbedRequest"
_PORTION = 512
"""Texts that are asked for at once."""


class Engine:
    """A loaded model that answers many requests at once. Made by `Engine.load`; a context manager.

    `submit` and the rest may be called from any thread. All work on the device happens in one thread of the engine's
    own, or of its pool's, which starts with the first request.
    """

    def __init__(self, model: LoadedModel, loop: Loop, runner: Runner, cache: KVCache) -> None:
        # Not the model itself: its weights must go when the engine is closed, whoever still holds that.
        self._info = model.info
        self._tokenizer = model.tokenizer
        self._vocab_size = model.network.config.vocab_size
        self._eos_token_ids = model.eos_token_ids
        self._reader = RequestReader(model)
        self._loop = loop
        self._runner = runner
        self._cache = cache
        self._numbers = itertools.count(1)
        self._finalizer = weakref.finalize(self, loop.close)  # also at exit: a thread inside a kernel ends badly there

    @classmethod
    def load(
        cls,
        path: str | Path | ModelFiles,
        *,
        dtype: str = "auto",
        device: str = "auto",
        max_context: int | None = None,
        strategy: Strategy = "batched",
        max_batch: int = 16,
        draft: str | Path | None = None,
        threads: int | None = None,
        name: str | None = None,
        exact: bool = True,
        cache_dtype: str = "auto",
        kernel_notes: str | Path | None = None,
        prompt_cache: str | Path | None = None,
        prompt_cache_bytes: int = 8 * 2**30,
        on_progress: Callable[[LoadProgress], None] | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        shared: SharedThread | None = None,
    ) -> Self:
        """Load the model at `path`: a folder (Hugging Face layout: config.json, tokenizer.json, *.safetensors), or a
        GGUF file. Or one that is open already, for example with weights that are on no disk.

        Args:
            dtype: auto, float32, bfloat16, float16, int8 or int4. auto: what the device multiplies fastest without
                loss, and of a quantised GGUF file about what it holds, where our own kernels run; bfloat16: where they
                do, packed into three quarters of its memory with nothing lost; int8 (CPU and CUDA): eight bits, and
                faster, at a small loss; int4 (CPU, and with Triton NVIDIA cards): about five bits per weight, counting
                the steps of its groups, at a larger loss.
            device: auto, cpu, cuda or mps.
            max_context: tokens of prompt and answer together; None: what the model was trained for.
            strategy: batched (all answers in each step), interleaved (one answer a step, in turn), sequential.
            max_batch: answers that run at once; others wait.
            draft: guesses at the next tokens, which change the speed and not the text: "ngram" (from the text itself),
                "auto" (the same, where not a bit of an answer depends on what is computed beside it: on CPUs; and there
                by a layer of Qwen3.5's own for that, see `mtp_of`, or by an assistant of Gemma 4 that lies beside the
                model, see `assistant_beside`), or the folder of such a one, or of a smaller model with the same tokens.
                None: no guesses.
            threads: CPU threads; None: one for each physical core, and only one for a small model.
            name: what `info` calls the model; None: the folder's or file's name.
            exact: the same bits however a prompt was cut, cached, evicted and read again. False: prompts may be read in
                larger products, which is faster on some CPUs (no difference in int8, nor in bfloat16 with AMX). Answers
                still never influence each other, but an answer that is read again as part of a prompt may give other
                bits.
            cache_dtype: of the keys and values of what was said, auto or int8. auto: bfloat16 as a rule. int8 (on CPUs,
                by our own kernels): half the memory for each chat, and faster steps in long ones, at a small loss.
                Those of a `draft` folder are so, too, where its heads can be.
            kernel_notes: a file that keeps what is found out about this machine's kernels, so that later loads are
                seconds shorter; None: it is found out each time.
            prompt_cache: a folder that keeps what was read of long conversations (their keys and values), so that after
                a restart it need not be read again; several models and processes may share it. What took less than a
                second to read is not kept, nor what 30 days nobody needed. The text and its bits stay the same: it is
                for CPUs, where they are exact, and otherwise nothing is kept. None: nothing is.
            prompt_cache_bytes: how large that folder may become (8 GiB), but never more than a tenth of what the disk
                has free. The longest unused goes first.
            on_progress: hears how far the loading is, in the calling thread.
            is_cancelled: asked before each weight; once it is true, the loading ends.
            shared: the thread that steps this engine and others (`ModelPool`); None: one of its own.

        Raises:
            ModelNotFoundError, BrokenModelError, UnsupportedModelError, ChatTemplateError: the model cannot be used, or
                the one at `draft` cannot.
            UnsupportedModelError: the tokens of `draft` are not the model's, or `cache_dtype` cannot be had here.
            InvalidRequestError: an argument is out of range.
            LoadCancelledError: `is_cancelled` said so.
        """
        _check_options(strategy, max_batch, threads, name, exact)
        check_function("on_progress", on_progress)
        check_function("is_cancelled", is_cancelled)
        check_place(prompt_cache, prompt_cache_bytes)
        smaller = open_draft(draft)
        model = load_model(
            path,
            dtype=dtype,
            device=device,
            max_context=max_context,
            threads=threads,
            name=name,
            exact=exact,
            cache_dtype=cache_dtype,
            kernel_notes=kernel_notes,
            on_progress=on_progress,
            is_cancelled=is_cancelled,
            check=partial(check_draft, smaller) if smaller is not None else None,
            guesses=draft == "auto",
        )
        told: Told = {"exact": exact, "kernel_notes": kernel_notes, "is_cancelled": is_cancelled}
        if smaller is not None:
            speculator = load_draft(smaller, model, **told)
        else:
            speculator = speculator_for(path, model, draft, **told)
        network = model.network
        cache = network.new_cache(kv_byte_budget(network.device), model.info.max_context)
        runner = _runner_of(model, cache, speculator)
        keeps = network.is_exact and not model.info.embeds
        folder, stamp = (prompt_cache, stamp_of(path, network.config)) if keeps else (None, b"")
        kept = open_prompt_cache(folder, prompt_cache_bytes, cache, lambda: runner.identity(stamp))
        scheduler = Scheduler(strategy, max_batch, _token_budget(network))
        stats = _first_stats(model, speculator)
        loop = Loop(scheduler, runner, cache, model.threads, stats, speculator, shared, kept)
        engine = cls(model, loop, runner, cache)
        if network.card is not None:  # nobody's first question should wait for a compiler
            with contextlib.suppress(GenerationError):  # of too little memory a question tells more
                engine.warmup()
        return engine

    # --- what it is

    @property
    def info(self) -> ModelInfo:
        """The model's name, size, context and recommended sampling."""
        return self._info

    @property
    def tokenizer(self) -> Tokenizer:
        """Text to ids and back, exactly as generation does it."""
        return self._tokenizer

    @property
    def chat_template(self) -> str | None:
        """The Jinja source of the model's chat template; None: it has none."""
        return self._reader.chat_template

    @property
    def eos_token_ids(self) -> frozenset[int]:
        """The ids that end an answer, from config.json, generation_config.json and the tokenizer."""
        return self._eos_token_ids

    @property
    def vocab_size(self) -> int:
        """Rows of logits, as `logits` and a `logits_processor` have them, and so the ids that a prompt may hold.

        There may be more than the tokenizer has tokens: those are nobody's, so sampling may not name or draw them.
        """
        return self._vocab_size

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return self._loop.is_idle

    def stats(self) -> EngineStats:
        """What the engine does just now; never waits for a step."""
        return self._loop.stats

    # --- asking

    def submit(
        self,
        request: GenerateRequest | EmbedRequest,
        on_output: OnOutput | None = None,
        on_finish: OnFinish | None = None,
    ) -> Job:
        """Queue `request` and return at once, except for tokenising the prompt (milliseconds).

        `on_output` and `on_finish` run in the engine's thread and hold it up: hand over and return.

        Raises:
            InvalidRequestError, PromptTooLongError, ChatTemplateError: the request cannot be run. So it is where the
                model makes vectors (`ModelInfo.embeds`) and an answer is asked for, or the other way round.
            EngineClosedError: the engine was stopped.
            GenerationError: this is a forked copy of the process that made the engine.
        """
        return self._submit(request, on_output, on_finish)

    def _submit(
        self,
        request: GenerateRequest | EmbedRequest,
        on_output: OnOutput | None,
        on_finish: OnFinish | None,
        is_chat: bool | None = None,
    ) -> Job:
        check_function("on_output", on_output)
        check_function("on_finish", on_finish)
        read = self._reader.read(request, is_chat=is_chat)
        number = next(self._numbers)
        job = Job(read.origin, lambda: self._loop.cancel(number), self._loop.check_wait)
        sequence = Sequence(number, read, self._tokenizer, job, on_output, on_finish)
        if isinstance(request, GenerateRequest) and sequence.has_ended and read.scores is None:
            raise self._reader.ended(request)
        self._loop.submit(sequence)
        return job

    def resume(
        self,
        state: AnswerState,
        on_output: OnOutput | None = None,
        on_finish: OnFinish | None = None,
        *,
        logits_processor: Callable[[list[int], Any], Any] | None = None,
    ) -> Job:
        """Go on with an answer: `Job.answer_state` of an interrupted one, from this engine or another with its model.

        With the same model, dtype and device the rest is bit for bit what it would have been. The job's outputs are
        the new ones; its result is the whole answer.

        Raises:
            InvalidRequestError: its ids are those of another tokenizer, or it has ended already.
            PromptTooLongError, EngineClosedError: see `submit`.
        """
        if not isinstance(state, AnswerState):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("state", state, "an AnswerState, as Job.answer_state or AnswerState.from_json")
        if state.tokenizer != self._tokenizer.fingerprint:
            raise InvalidRequestError("state", f"of the tokenizer {state.tokenizer!r}", "of the model that goes on")
        return self._submit(state.request(logits_processor), on_output, on_finish, state.is_chat)

    def fork(self, cache_key: str, new_key: str) -> int:
        """Copy what the cache holds of a conversation to another name; the number of tokens copied.

        A conversation that begins like another finds that beginning anyway. A fork keeps it while the first goes on.

        Raises:
            InvalidRequestError: one of them is no text.
            GenerationError: there is no memory for it, or this is a forked copy of the process.
            EngineClosedError: the engine was stopped.
        """
        for field, key in (("cache_key", cache_key), ("new_key", new_key)):
            if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidRequestError(field, key, "a text")
        return self._loop.call(lambda: self._cache.fork(cache_key, new_key))

    def keep_prompts(self) -> None:
        """Wait until the conversations that nobody writes to are in `prompt_cache`; without it, return at once.

        They get there by themselves while the engine has nothing else to do. This is for programs that end soon.

        Raises:
            EngineClosedError: the engine was stopped.
            GenerationError: this is a forked copy of the process.
        """
        self._loop.keep_prompts()

    def generate(self, request: GenerateRequest) -> GenerateResult:
        """Submit and wait. Raises what `submit` raises; a failure in flight is in the result."""
        return self.generate_batch([request])[0]

    def embed(self, requests: Many[EmbedRequest | str]) -> Tensor:
        """The vectors of texts: float32 ``[len(requests), dimensions]`` on CPU, each of length one.

        Texts are read together. What is asked for of them, the beginning of a question for instance ("Instruct: …"),
        is written in front by the caller, as the model's authors say.

        Raises:
            InvalidRequestError, PromptTooLongError, EngineClosedError: see `submit`; or they do not all ask for the
                same number of dimensions.
            GenerationError: there is no memory for it, or the engine fails.
        """
        if isinstance(requests, str) or not isinstance(requests, Iterable):
            raise InvalidRequestError("requests", type(requests).__name__, _TEXTS)
        asked = [EmbedRequest(request) if isinstance(request, str) else request for request in requests]
        for request in asked:
            if not isinstance(request, EmbedRequest):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidRequestError("requests", request, _TEXTS)
        if len({request.dimensions for request in asked}) > 1:
            raise InvalidRequestError("dimensions", "different", "the same for all texts")
        # A portion at a time: as Python's numbers, vectors take ten times as much memory.
        portions = [asked[start : start + _PORTION] for start in range(0, len(asked), _PORTION)]
        made = [torch.tensor([vector_in(result) for result in self._run_all(some)]) for some in portions]
        return torch.cat(made) if made else torch.empty(0, self._info.dimensions)

    def generate_batch(self, requests: Many[GenerateRequest]) -> list[GenerateResult]:
        """Submit all, wait for all; the results are in the order of `requests`.

        Raises what `submit` and `Job.result` raise; then none of them runs on.
        """
        if not isinstance(requests, Iterable):
            raise InvalidRequestError("requests", type(requests).__name__, "a list of GenerateRequest")
        return self._run_all(requests)

    def _run_all(self, requests: Iterable[GenerateRequest | EmbedRequest]) -> list[GenerateResult]:
        jobs: list[Job] = []
        try:
            for request in requests:
                jobs.append(self.submit(request))
            return [job.result() for job in jobs]
        except BaseException:
            for job in jobs:
                job.cancel()
            raise

    def logits(self, token_ids: Many[int], images: Many[Image] = ()) -> Tensor:
        """One full forward: float32 ``[len(token_ids), vocab]`` on CPU. For tests, scoring and perplexity.

        `images`: see `GenerateRequest.images`; there are more logits than `token_ids` then, of all their tokens.

        Raises:
            InvalidRequestError: there are no ids, or some that the model does not know; or it makes vectors instead; or
                `images` do not go with the ids or the model.
            PromptTooLongError: there are more than the context holds.
            GenerationError: there is no memory for it, or this is a forked copy of the process.
            EngineClosedError: the engine was stopped.
        """
        if self._info.embeds:
            raise no_writer(self._info.name)
        ids = list(token_id_tuple("token_ids", token_ids))
        if not ids:
            raise InvalidRequestError("token_ids", ids, "at least one token id")
        self._reader.check_ids("token_ids", ids)
        placed = self._reader.place_images(ids, images)
        ids = ids if placed is None else placed.token_ids
        if len(ids) > self._info.max_context:
            raise PromptTooLongError(len(ids), self._info.max_context, is_answered=False)
        # A copy, because tensors made in inference mode cannot take part in a caller's autograd.
        return self._loop.call(lambda: self._runner.logits(ids, placed)).clone()

    def warmup(self) -> None:
        """Run one token, so that the first request finds the weights in memory, and a card its kernels compiled.

        Raises:
            GenerationError: there is no memory for it, or this is a forked copy of the process.
            EngineClosedError: the engine was stopped.
        """
        self._loop.call(self._runner.warm_up)

    def settle(self) -> None:
        """Wait until the weights lie in memory as they will stay (some seconds after loading): for measurements."""
        self._runner.settle()

    @overload
    def apply_chat_template(
        self, messages: Many[Message], *, add_generation_prompt: bool = True, tokenize: Literal[True], **variables: Any
    ) -> list[int]: ...

    @overload
    def apply_chat_template(
        self,
        messages: Many[Message],
        *,
        add_generation_prompt: bool = True,
        tokenize: Literal[False] = False,
        **variables: Any,
    ) -> str: ...

    def apply_chat_template(
        self,
        messages: Many[Message],
        *,
        add_generation_prompt: bool = True,
        tokenize: bool = False,
        **variables: Any,
    ) -> str | list[int]:
        """The prompt for `messages`, or its ids, exactly as generation uses it.

        A model without a template gets a plain transcript ("User: …", "Assistant:"). `variables`: `tools`, `now`,
        and whatever else the template reads (`enable_thinking`, `documents`).

        Raises:
            ChatTemplateError: the template is broken, runs too long or refuses the messages.
            InvalidRequestError: `messages` is not a list of `Message`, or `tools` or `documents` are nested too deep.
        """
        prompt = self._reader.chat_ids if tokenize else self._reader.chat_prompt
        return prompt(messages, add_generation_prompt=add_generation_prompt, **variables)

    def count(self, text: str) -> int:
        """Tokens of a text as the content of a message: what looks like a control token is text."""
        return self._tokenizer.count(text)

    def measure(self, request: GenerateRequest) -> ContextUse:
        """What `request` would come to, without running it: its tokens, and the messages that would be left out.

        Raises:
            ChatTemplateError: the template is broken, runs too long or refuses the messages.
            InvalidRequestError: `tools` or the variables are nested too deep, or it is no GenerateRequest.
        """
        return self._reader.measure(request)

    # --- running and ending

    def run(self) -> None:
        """Serve until `stop` is called, and wait for that."""
        self._loop.run()

    def stop(self) -> None:
        """End every answer as cancelled and let `run` return; from any thread. There is no restart."""
        self._loop.stop()

    def stop_if_idle(self) -> bool:
        """Stop unless somebody waits for an answer; whether it does. Nothing can be submitted in between."""
        return self._loop.stop_if_idle()

    def close(self) -> None:
        """Stop, wait, and free the memory of weights and conversations."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_options(strategy: Strategy, max_batch: int, threads: int | None, name: str | None, exact: bool) -> None:
    if strategy not in STRATEGIES:
        raise InvalidRequestError("strategy", strategy, f"one of {', '.join(STRATEGIES)}")
    check_number("max_batch", max_batch, 1, integer=True)
    if threads is not None:
        check_number("threads", threads, 1, MOST_THREADS, integer=True)
    check_kind("name", name, str, "a text, or None")
    if not isinstance(exact, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequestError("exact", exact, "true or false")


def _runner_of(model: LoadedModel, cache: KVCache, speculator: Speculator | None) -> Runner:
    network, embeds = model.network, model.info.embeds
    ranker = Ranker(model.tokenizer.vocab_size)
    ranks = network.device.type == "cuda" and not embeds
    return Runner(
        network,
        cache,
        None if embeds else graphs_of(network, ranker),
        ranker=ranker if ranks else None,
        embeds=embeds,
        tower=model.tower,
        keeps_rows=speculator is not None and speculator.proposer.reads_rows,
        reads_rows=None if speculator is None else speculator.proposer.read,
    )


_LAUNCHES = 512
"""A card reads about so many tokens of a prompt while the kernels of a step are launched that is no recording."""


def _token_budget(network: Llama) -> TokenBudget:
    if not network.is_exact:
        launches = 0 if network.card is None else _LAUNCHES
        return TokenBudget(PROMPT_TILE, shares_tiles=False, overhead=launches)
    kinds = NativeFloatLinear | NativeQuantisedLinear
    stacks = [linear.parts if isinstance(linear, StackedLinear) else [linear] for linear in network.linears]
    tile = FINE_TILE if all(isinstance(part, kinds) for parts in stacks for part in parts) else TILE
    return TokenBudget(tile, overhead=max(linear.overhead for linear in network.linears))


def _first_stats(model: LoadedModel, speculator: Speculator | None) -> EngineStats:
    others = (model.tower, speculator.proposer if speculator else None)
    return EngineStats(
        tokens_per_second=0.0,
        batch_size=0,
        running=0,
        waiting=0,
        kv_bytes=0,
        weight_bytes=model.network.weight_bytes + sum(other.weight_bytes for other in others if other is not None),
        dtype=model.info.dtype,
        device=model.info.device,
        threads=model.threads,
        batch_invariant=model.network.is_batch_invariant,
        exact=model.network.is_exact,
    )
