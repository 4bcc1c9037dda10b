"""What a caller holds of a request: its outputs as they come, its end, and the means to stop it. Safe in any thread."""

import time
from collections.abc import Callable
from dataclasses import replace

from llama_gui.answer_stream import AnswerStream
from llama_gui.engine.answer_state import AnswerState
from llama_gui.vocabulary import JobProgress, TokenOutput


class Job(AnswerStream):
    """One submitted request.

    Iterate it (``for`` or ``async for``) for each `TokenOutput` from the first on; any number of readers may. A loop
    that is left early does not stop the job: call `cancel`. An answer that fails raises its error from the loop,
    behind the tokens that were drawn; `result` returns it with ``finish_reason`` "error" and `error` set.
    """

    def __init__(
        self, origin: AnswerState, on_cancel: Callable[[], None], check_wait: Callable[[], None] | None = None
    ) -> None:
        super().__init__()
        self._origin = origin
        self._on_cancel = on_cancel
        self._check_wait = check_wait
        self._former_text = ""
        self._prompt_logprobs: tuple[TokenOutput | None, ...] = ()
        self._prompt_tokens = len(origin.prompt_token_ids) + len(origin.token_ids)
        self._prompt_tokens_read = 0
        self._cached_tokens = 0
        self._prefill_started = 0.0
        self._decode_started = 0.0
        self._tokens_per_second = 0.0

    # --- for the caller

    @property
    def progress(self) -> JobProgress:
        """Prompt tokens read, answer tokens per second, seconds until the first token (None: unknown or past)."""
        return JobProgress(self._prompt_tokens_read, self._prompt_tokens, self._tokens_per_second, self._eta())

    @property
    def answer_state(self) -> AnswerState:
        """The answer up to now, whether it goes on or has ended; `Engine.resume` goes on with it."""
        with self._changed:
            drawn = tuple(output.token_id for output in self._outputs)
        return replace(self._origin, token_ids=self._origin.token_ids + drawn)

    @property
    def former_text(self) -> str:
        """The text of the answer that the job continues, as far as it is final; the texts of the outputs follow it."""
        return self._former_text

    @property
    def prompt_token_ids(self) -> tuple[int, ...]:
        """The given tokens: the prompt and, where the job continues an answer, that answer's tokens so far."""
        return self._origin.prompt_token_ids + self._origin.token_ids

    @property
    def prompt_logprobs(self) -> tuple[TokenOutput | None, ...]:
        """Those of the result, known from the first output on; empty before."""
        return self._prompt_logprobs

    def _before_waiting(self) -> None:
        if self._check_wait is not None:
            self._check_wait()

    def _tell_cancelled(self) -> None:
        self._on_cancel()

    # --- for the engine's thread

    def begin(self, former_text: str) -> None:
        """It goes on with an answer of this text."""
        self._former_text = former_text

    def start_prefill(self, cached_tokens: int) -> None:
        """The prompt begins to be read; `cached_tokens` of it were in the cache."""
        self._prefill_started = time.monotonic()
        self._cached_tokens = self._prompt_tokens_read = cached_tokens
        self._state = "prefilling"

    def read_prompt(self, tokens: int) -> None:
        """`tokens` of the prompt are read now, in all."""
        self._prompt_tokens_read = tokens

    def tell_prompt(self, outputs: tuple[TokenOutput | None, ...]) -> None:
        """The tokens of the prompt are this likely; told before the first output."""
        self._prompt_logprobs = outputs

    def put(self, output: TokenOutput) -> None:
        """A token was drawn."""
        now = time.monotonic()
        if self._state != "generating":
            self._state, self._decode_started = "generating", now
        elif now > self._decode_started:
            self._tokens_per_second = len(self._outputs) / (now - self._decode_started)
        self._add(output)

    def _eta(self) -> float | None:
        done = self._prompt_tokens_read - self._cached_tokens
        if self._state != "prefilling" or done <= 0:
            return None
        seconds_per_token = (time.monotonic() - self._prefill_started) / done
        return seconds_per_token * (self._prompt_tokens - self._prompt_tokens_read)
