"""One request in flight: its tokens, its random stream, its text so far. Only the engine's thread changes it."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.callbacks import OnFinish, OnOutput, blamed
from llama_gui.engine.job import Job
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.layer_states import cuts_of
from llama_gui.engine.ranking import RankedRow
from llama_gui.engine.request_reader import ReadRequest
from llama_gui.engine.sampling import Draw
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.placing import ImageSpan, grid_positions, is_key
from llama_gui.errors import GenerationError
from llama_gui.vocabulary import FinishReason, GenerateResult, Timings, TokenOutput, TopLogprob, Usage


@dataclass(frozen=True, slots=True)
class MadeRows:
    """What the network has made of the tokens from `start` on, behind the last norm: ``[tokens, hidden]``."""

    start: int
    rows: Tensor

    def row_of(self, place: int) -> Tensor | None:
        """``[1, hidden]`` of the token there; None: it is none of these."""
        first = place - self.start
        return self.rows[first : first + 1] if 0 <= first < len(self.rows) else None

    def since(self, place: int) -> "MadeRows | None":
        """A copy of those from `place` on; None: there are none."""
        first = max(place - self.start, 0)
        return MadeRows(self.start + first, self.rows[first:].clone()) if first < len(self.rows) else None

    def followed_by(self, start: int, rows: Tensor, most: int) -> "MadeRows":
        """With `rows` from `start` on, in the place of those that may be there; the last `most` at least of all."""
        own = start - self.start
        if not 0 < own <= len(self.rows):
            return MadeRows(start, rows)
        first = max(own - most, 0)
        return MadeRows(self.start + first, torch.cat((self.rows[first:own], rows)))


class Sequence:
    """The prompt, what was drawn behind it, and everything that decides what comes next."""

    def __init__(
        self,
        number: int,
        read: ReadRequest,
        tokenizer: Tokenizer,
        job: Job,
        on_output: OnOutput | None = None,
        on_finish: OnFinish | None = None,
    ) -> None:
        self.number = number
        self.prompt = read.prompt
        self._keys = read.prompt if read.images is None else read.images.keys
        """The prompt as the network and its cache know it: images have numbers of their own."""
        self._spans = () if read.images is None else read.images.spans
        self._image_rows: dict[int, Tensor] = {}  # by the place where an image begins
        self.answer = list(read.origin.token_ids)  # the given beginning of an answer
        self.cache_key = read.origin.cache_key
        self.asker = read.asker
        self.job = job
        self.slot: Slot | None = None
        self.made: MadeRows | None = None
        """Of the tokens of the last step, where guesses need it, and of some before it."""
        self.finish_reason: FinishReason | None = None
        self._sampler = read.sampler
        self._guesser = read.sampler.guesser()
        self._limits = read.limits
        self._stops = read.stops
        self._grammar = read.grammar
        self._budget = read.budget
        self._tokenizer = tokenizer
        self._detokenizer = tokenizer.detokenizer(
            read.shown_ids,
            skip_special_tokens=read.origin.skip_special_tokens,
            behind=read.prompt if read.goes_on else (),
        )
        self._is_told = read.marks is not None
        if read.marks is not None:
            self._detokenizer = read.marks.detokenizer(
                self._detokenizer, read.prompt, self._stops, may_call=read.may_call
            )
        self._texts: list[str] = []
        self._on_output = blamed("on_output", on_output) if on_output is not None else None
        self._on_finish = on_finish
        self._dropped_messages = read.dropped_messages
        self._former = len(self.answer)
        for token_id in self.answer:  # their text is known by now, and is not sent again
            self._texts.append(self._piece(token_id))
        self._only_reads = self.has_ended
        if self._only_reads:
            self._texts.append(self._rest(""))
        job.begin("".join(self._texts))
        self._scores = read.scores
        self._pool = read.pool
        self._embedding: tuple[float, ...] = ()
        self._cached_tokens = 0
        self._submitted = time.monotonic()
        self._started: float | None = None
        self._first_token: float | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the given beginning of its answer is already complete."""
        return len(self.answer) >= self._limits.max_tokens or self._is_complete

    @property
    def _is_complete(self) -> bool:
        """Whether it has ended of itself."""
        is_finished = self._grammar is not None and self._grammar.is_finished
        return self._stops.found or is_finished or any(i in self._limits.eos_token_ids for i in self.answer)

    @property
    def is_prefilling(self) -> bool:
        """Whether its prompt and the given beginning of its answer are not read to the end yet."""
        return len(self.answer) == self._former

    @property
    def pending(self) -> int:
        """Tokens that are known but not yet run: what is left of the prompt, or the one just drawn."""
        return len(self.prompt) + len(self.answer) - (len(self.slot.tokens) if self.slot else 0)

    @property
    def held(self) -> int:
        """Tokens whose keys and values the slot has."""
        return len(self.slot.tokens) if self.slot else 0

    @property
    def final_length(self) -> int:
        """Tokens of prompt and answer if nothing ends the answer early."""
        return len(self.prompt) + self._limits.max_tokens

    @property
    def tokens(self) -> list[int]:
        """Everything that is known: prompt and answer."""
        return self.prompt + self.answer

    @property
    def draws(self) -> bool:
        """Whether it draws tokens; if not, its prompt is to become a vector."""
        return self._pool is None

    @property
    def reusable(self) -> list[int]:
        """What may come from the cache, as that knows it, except the last of them."""
        known = self._keys + self.answer
        return known if self._scores is None else known[: len(self._scores.reusable)]

    @property
    def tokens_left(self) -> int:
        """How many tokens the answer may still get."""
        return 0 if self._only_reads else self._limits.max_tokens - len(self.answer)

    def next_tokens(self, count: int) -> list[int]:
        """The first `count` tokens that are not yet run, as the network knows them."""
        assert self.slot is not None
        start = len(self.slot.tokens)
        if start >= len(self.prompt):
            return self.answer[start - len(self.prompt) :][:count]
        read = self._keys[start : start + count]
        return read + self.answer[: count - len(read)]

    def has_made(self, rows: int) -> bool:
        """Whether more than so many rows of it are kept in `made`."""
        return self.made is not None and len(self.made.rows) > rows

    @property
    def sees_images(self) -> bool:
        """Whether there are images in its prompt."""
        return bool(self._spans)

    def unread_image(self, count: int) -> ImageSpan | None:
        """The first image among the next `count` tokens that is not read yet, or has to be run now, as a whole."""
        near = (span for span in self._spans if span.start < self.held + count and span.end > self.held)
        return next((span for span in near if not self.has_seen(span) or self.is_at(span)), None)

    def has_seen(self, span: ImageSpan) -> bool:
        """Whether the network for images has read this one."""
        return span.start in self._image_rows

    def is_at(self, span: ImageSpan) -> bool:
        """Whether the next tokens are an image that is run as a whole."""
        return span.is_whole and span.start <= self.held < span.end

    def take_image(self, span: ImageSpan, rows: Tensor) -> None:
        """What the network for images has made of one, ``[rows, hidden]``."""
        self._image_rows[span.start] = rows

    def image_rows(self, count: int) -> Tensor | None:
        """Those of the next `count` tokens, ``[rows, hidden]``; None: there are no images among them."""
        start = self.held
        found: list[Tensor] = []
        for span in self._spans:
            first, last = max(span.start, start), min(span.end, start + count)
            if first < last:
                before, here = (sum(map(is_key, self._keys[a:b])) for a, b in ((span.start, first), (first, last)))
                found.append(self._image_rows[span.start][before : before + here])
        rows = torch.cat(found) if found else None
        return rows if rows is not None and len(rows) else None

    def positions(self, count: int) -> Tensor | None:
        """By which the next `count` tokens are rotated, see `grid_positions`."""
        return grid_positions(self._spans, self.held, count)

    def most(self, count: int) -> int:
        """How many of `count` tokens to run in one step: up to an image that is run as a whole.

        And limited by memory where all their logits are wanted.
        """
        assert self.slot is not None
        whole = (span.start - self.held for span in self._spans if span.is_whole and span.start > self.held)
        count = min([count, *whole])
        return count if self._scores is None else self._scores.most(len(self.slot.tokens), count)

    def cuts(self, count: int) -> list[int]:
        """Behind which of the next `count` tokens the conversation may be gone back to, see `cuts_of`."""
        return cuts_of(self.held, count, len(self.prompt)) if self.is_prefilling else []

    def scored_rows(self, count: int) -> int:
        """For how many of the next `count` tokens logits are wanted to score the known tokens behind them."""
        assert self.slot is not None
        if self._pool is not None:
            return int(count == self.pending)
        return 0 if self._scores is None else self._scores.rows(len(self.slot.tokens), count)

    @property
    def only_draws(self) -> bool:
        """Whether nothing is done with logits but to draw tokens from them."""
        return self._scores is None and self._pool is None

    @property
    def temperature(self) -> float:
        """By which its logits are divided; 1 where that makes no difference."""
        return self._sampler.temperature or 1.0

    def score(self, logits: Tensor) -> None:
        """Take the logits ``[rows, vocab]`` that `scored_rows` asked for; behind the last the answer may have ended.

        Where no tokens are drawn that is one row, ``[1, hidden]``, of the last token.

        Raises:
            GenerationError: they are not finite.
        """
        if self._pool is not None:
            self._embedding = self._pool(logits[0])
        if self._scores is not None:
            self._scores.take(logits)
        if self._only_reads and not self.pending:
            self.finish_reason = "stop" if self._is_complete else self._limits.reason

    def start(self, slot: Slot) -> None:
        """The sequence has got its slot, which may hold a beginning of the prompt already."""
        self.slot = slot
        self._started = time.monotonic()
        self._cached_tokens = len(slot.tokens)
        self.job.start_prefill(self._cached_tokens)

    def accept(self, tokens: Iterable[int]) -> None:
        """`tokens` were run: the slot holds their keys and values now."""
        assert self.slot is not None
        self.slot.extend(tokens)
        for span in self._spans:
            if span.end <= self.held:
                self._image_rows.pop(span.start, None)
        if self.is_prefilling:
            self.job.read_prompt(len(self.slot.tokens))

    def recall(self, count: int) -> None:
        """The slot holds the next `count` tokens, which were not run now but kept since they were."""
        self._cached_tokens += count
        self.accept((self._keys + self.answer)[self.held : self.held + count])

    def draw(self, logits: Tensor | RankedRow) -> None:
        """Draw the next token from raw float32 `logits` ``[vocab]``, or from what a card tells of them, and hand it on.

        Raises:
            GenerationError: see `Sampler.draw`; or the caller's processor or callback failed.
        """
        # The head may have more rows than the tokenizer has tokens: those are nobody's.
        draw = self._choose(logits[: self._tokenizer.vocab_size] if isinstance(logits, Tensor) else logits)
        if self._first_token is None:
            self._first_token = time.monotonic()
            if self._scores is not None:
                self.job.tell_prompt(self._scores.outputs)
        self.answer.append(draw.token_id)
        text = self._text_of(draw.token_id)
        self._texts.append(text)
        self._hand_on(draw, text)

    def _choose(self, logits: Tensor | RankedRow) -> Draw:
        budget = self._budget
        if budget is None:
            return self._choose_within(logits)
        try:
            draw = self._choose_within(logits, budget.allowed())
        except GenerationError:  # perhaps the request forbids the tokens that end the thoughts
            if not budget.give_up():
                raise
            draw = self._choose_within(logits)
        budget.accept(draw.token_id)
        return draw

    def _choose_within(self, logits: Tensor | RankedRow, forced: Tensor | None = None) -> Draw:
        """What the grammar allows. `forced`: bool ``[vocab]``, what may come instead of all, or None."""
        grammar = self._grammar
        if grammar is None:
            return self._sampler.draw(logits, self.prompt, self.answer, forced)
        while True:
            allowed = grammar.allowed()
            if forced is not None:
                allowed = forced if allowed is None else forced & allowed
            try:
                draw = self._sampler.draw(logits, self.prompt, self.answer, allowed)
            except GenerationError:  # perhaps the request forbids all tokens that the grammar allows
                if forced is None and grammar.give_up():
                    continue
                raise
            if draw.token_id in self._limits.eos_token_ids or grammar.accept(draw.token_id):
                return draw

    def guess(self, logits: Tensor, guesses: list[int]) -> int:
        """The token that `logits` of another network give behind the answer and `guesses`.

        ``[vocab]``, or of its first tokens only: the others are impossible then.

        Raises:
            GenerationError: see `Sampler.draw`.
        """
        size = self._tokenizer.vocab_size
        if len(logits) < size and not self._guesser.is_plain:
            logits = F.pad(logits, (0, size - len(logits)), value=-math.inf)
        return self._guesser.guess(logits[:size], self.prompt, self.answer + guesses)

    def _text_of(self, token_id: int) -> str:
        """The text that is complete with a token; the last token also brings whatever was held back."""
        if token_id in self._limits.eos_token_ids:
            self.finish_reason = "stop"
            return self._rest(self._piece(token_id))
        text = self._piece(token_id)
        if self._stops.found:
            self.finish_reason = "stop"
        elif self._grammar is not None and self._grammar.is_finished:
            self.finish_reason = "stop"
            text = self._rest(text)
        elif len(self.answer) >= self._limits.max_tokens:
            self.finish_reason = self._limits.reason
            text = self._rest(text)
        return text

    def _piece(self, token_id: int) -> str:
        """The text that is certain with a token. What ends the answer is no part of it, unless that is asked for."""
        is_hidden = token_id in self._limits.eos_token_ids and not self._limits.includes_stop
        return self._watched(self._detokenizer.end(token_id) if is_hidden else self._detokenizer.push(token_id))

    def _watched(self, text: str) -> str:
        """The part of the detokenizer's text that belongs to no stop; what writes our tags has looked itself."""
        return text if self._is_told else self._stops.push(text)

    @property
    def _stop_reason(self) -> str | int | None:
        if self._stops.matched in self._limits.stop_texts:
            return self._stops.matched
        last = self.answer[-1] if self.answer and self.finish_reason == "stop" else None
        return last if last in self._limits.stop_token_ids else None

    def cut_error(self) -> GenerationError | None:
        """Why this end is an error: the answer had to follow a grammar, and does not."""
        if self._grammar is None or self._grammar.is_complete or self.finish_reason in (None, "cancelled", "error"):
            return None
        return GenerationError(
            f"The answer was cut after {len(self.answer)} tokens, before it was complete as its schema or expression "
            "asks. Allow more tokens, and leave out stop texts that can occur inside the answer."
        )

    def _rest(self, text: str) -> str:
        text += self._watched(self._detokenizer.flush())
        return text + self._stops.flush()

    def _hand_on(self, draw: Draw, text: str) -> None:
        top = tuple(TopLogprob(i, self._tokenizer.token_text(i), p) for i, p in draw.top)
        output = TokenOutput(text, draw.token_id, len(self.answer) - 1, draw.logprob, top)
        self.job.put(output)
        if self._on_output is not None:
            self._on_output(self.job, output)

    def finish(self, reason: FinishReason, error: Exception | None = None) -> None:
        """Tell the caller that this is the end."""
        self.finish_reason = reason
        result = GenerateResult(
            text="".join(self._texts),
            token_ids=tuple(self.answer),
            finish_reason=reason,
            usage=Usage(len(self.prompt), min(self._cached_tokens, len(self.prompt)), len(self.answer)),
            timings=self._timings(),
            seed=self._sampler.seed,
            error=error,
            dropped_messages=self._dropped_messages,
            prompt_logprobs=self._scores.outputs if self._scores is not None else (),
            stop_reason=self._stop_reason,
            embedding=self._embedding,
        )
        self.job.finish(result)
        if self._on_finish is not None:
            self._on_finish(self.job, result)

    def _timings(self) -> Timings:
        now = time.monotonic()
        started = self._started if self._started is not None else now
        first = self._first_token if self._first_token is not None else now
        return Timings(started - self._submitted, first - started, now - first)
