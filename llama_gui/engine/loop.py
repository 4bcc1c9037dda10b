"""The engine's loop: take commands, admit, schedule, step, hand out. One thread runs it; all others only call."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Many
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from llama_gui.engine.block_files import THREADS
from llama_gui.engine.device import torch_threads
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.prompt_cache import PromptCache
from llama_gui.engine.recall import Recall
from llama_gui.engine.runner import Logits, Runner, Work, error_for_user
from llama_gui.engine.scheduler import Chunk, Scheduler
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.shared_thread import SharedThread
from llama_gui.engine.speculation import Speculator
from llama_gui.engine.speed import Speed
from llama_gui.errors import BugError, EngineClosedError, GenerationError
from llama_gui.vocabulary import EngineStats, FinishReason

T = TypeVar("T")

RECALL_SECONDS = (0.25, 0.01)
"""How long a step may take what has come from the disk: alone, and while others wait for their next token."""
LOOK_SECONDS = (0.25, 0.05)
"""The same of reading an image."""
_WRITING_S = 0.002

_CLOSED = "The engine is closed. Load the model again."

_log = logging.getLogger(__name__)


class Loop:
    """Owns every sequence in flight. `submit`, `cancel`, `call` and `stop` may be called from any thread.

    `shared`: the thread that steps this loop and others; None: one of its own.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        runner: Runner,
        cache: KVCache,
        threads: int,
        stats: EngineStats,
        speculator: Speculator | None = None,
        shared: SharedThread | None = None,
        prompt_cache: PromptCache | None = None,
    ) -> None:
        self._prompt_cache = prompt_cache
        self._recalls: dict[int, Recall] = {}  # by number of sequence: what of its prompt comes from the disk
        self._looks: dict[int, Iterator[None]] = {}  # by number of sequence: the image that it is reading
        self._owns_thread = shared is None
        self._thread = shared or SharedThread("llama-gui-engine")
        if prompt_cache is not None:
            prompt_cache.tell(self._thread.wake)
        self._scheduler = scheduler
        self._speculator = speculator
        self._runner = runner
        self._cache = cache
        self._threads = threads
        self._stats = stats
        self._sequences: dict[int, Sequence] = {}
        self._speed = Speed()
        self._commands: deque[Callable[[], None]] = deque()
        self._cancelled: deque[int] = deque()
        # Of the two that follow, and of asking; held for moments. A forgotten engine may be closed within any of them.
        self._lock = threading.RLock()
        self._adopted = False
        self._stopping = False
        self._end = threading.Event()

    # --- from any thread

    @property
    def stats(self) -> EngineStats:
        """Who runs and waits just now, and the rest as of the last step; never waits."""
        stats, known = self._stats, len(self._sequences)
        running = min(stats.running, known)
        return replace(stats, running=running, waiting=known - running)

    @property
    def is_idle(self) -> bool:
        """Whether no sequence is in flight and no command is pending other than cancellations."""
        return not self._sequences and not self._commands

    def submit(self, sequence: Sequence) -> None:
        """Queue a sequence.

        Raises:
            EngineClosedError: the loop was stopped.
            GenerationError: this is a forked process.
        """
        self._command(lambda: self._add(sequence), sequence)

    def cancel(self, number: int) -> None:
        """End a sequence after the current step; unknown numbers are ignored."""
        self._cancelled.append(number)
        self._thread.wake()

    def call(self, function: Callable[[], T]) -> T:
        """Run `function` between two steps, in the loop's thread, and wait for what it returns.

        Raises:
            EngineClosedError: the loop was stopped before.
            GenerationError: this is a forked process.
        """
        if self._thread.is_current:  # perhaps within a step of another loop, with other threads
            with torch_threads(self._threads), torch.inference_mode():
                return function()
        future: Future[T] = Future()

        def run() -> None:
            if self._stopping:
                future.set_exception(EngineClosedError(_CLOSED))
                return
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        self._command(run)
        return future.result()

    def keep_prompts(self) -> None:
        """Wait until the conversations that are idle now are on the disk, where the engine keeps them.

        Raises:
            EngineClosedError, GenerationError: see `call`.
        """
        seconds = self._scheduler.budget.prompt_seconds
        while self.call(lambda: self._with_disk(lambda kept: kept.is_behind(seconds), False)):
            time.sleep(_WRITING_S)  # others have their turn

    def check_wait(self) -> None:
        """Raise GenerationError where waiting for an answer would never end."""
        self._thread.check_wait()

    def run(self) -> None:
        """Serve until `stop`: the loop's thread works, and the caller waits for its end."""
        self.check_wait()
        with self._lock:
            if not self._stopping:
                self._start()
        if self._adopted:
            self._end.wait()

    def stop(self) -> None:
        """End every sequence as cancelled and let `run` return. For good: a later `run` returns at once."""
        with self._lock:
            self._stopping = True
        self._thread.wake()

    def stop_if_idle(self) -> bool:
        """Stop unless something is in flight; whether it does. Nothing can be submitted in between."""
        with self._lock:
            self._stopping = self._stopping or self.is_idle
        self._thread.wake()
        return self._stopping

    def close(self) -> None:
        """Stop, wait for the loop's end (unless the loop itself calls), and free the cache and the weights."""
        if self._thread.is_forked:  # all that could be ended is the parent's
            return
        if threading.current_thread().name.startswith(THREADS):
            # The collector found a forgotten engine there. What is waited for here may wait for that very thread.
            threading.Thread(target=self.close, name="llama-gui-close").start()
            return
        self.stop()
        if not self._adopted:
            self._finish_all()
        elif not self._thread.is_current:
            self._end.wait()
        if self._owns_thread:
            self._thread.close()
        if self._prompt_cache is not None:
            self._prompt_cache.close()
        self._cache.clear()
        self._speculator = None  # a draft network goes with its cache
        self._publish(0)
        self._runner.close()

    def _command(self, command: Callable[[], None], sequence: Sequence | None = None) -> None:
        self._thread.check_process()
        with self._lock:
            if self._stopping:
                raise EngineClosedError(_CLOSED)
            self._start()
            if sequence is not None:
                self._sequences[sequence.number] = sequence  # at once: from now on the loop is not idle
            self._commands.append(command)
        self._thread.wake()

    def _start(self) -> None:
        if not self._adopted:
            self._thread.adopt(self)
            self._adopted = True

    # --- the loop's thread (`shared_thread.Stepped`)

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stopping

    def turn(self) -> bool:
        """A step; False when there was nothing to do. A fault ends this loop, and no other."""
        try:
            with torch_threads(self._threads), torch.inference_mode():
                return self._try_step()
        except BaseException as error:
            self._finish_all(_broken(error))
            return True

    def end(self) -> None:
        """End every sequence, and tell those who wait for it."""
        try:
            self._finish_all()
        finally:
            self._end.set()

    def _try_step(self) -> bool:
        """Run pending commands and a step; False when there was no step to run."""
        self._run_commands()
        self._admit()
        self._stats = replace(self._stats, running=len(self._scheduler.running))  # a first step may take seconds
        chunks = self._scheduler.schedule(lambda number: self._sequences[number].pending)
        if chunks:
            return self._step(chunks)
        self._publish(0)
        return self._keep_next()

    def _run_commands(self) -> None:
        while self._commands:
            self._commands.popleft()()
        while self._cancelled:
            self._cancel(self._cancelled.popleft())

    def _add(self, sequence: Sequence) -> None:
        if sequence.number in self._sequences:  # else it was cancelled before
            self._scheduler.add(sequence.number)

    def _cancel(self, number: int) -> None:
        sequence = self._sequences.get(number)
        if sequence is not None:
            self._finish(sequence, "cancelled")

    def _admit(self) -> None:
        """Give waiting sequences their slots, in order, while there is a place and memory."""
        while (number := self._scheduler.next_admission()) is not None:
            sequence = self._sequences[number]
            # What the answer will need is set aside too, within reason: running answers are never evicted.
            room = min(sequence.final_length, len(sequence.tokens) + 1024)
            if not self._cache.has_room(room) and self._scheduler.running:
                return
            self._scheduler.admit(number)
            try:
                sequence.start(self._cache.acquire(sequence.cache_key, sequence.reusable, room, sequence.asker))
                self._look_for(sequence)
            except GenerationError as error:
                self._finish(sequence, "error", error)

    def _with_disk(self, work: Callable[[PromptCache], T], otherwise: T) -> T:
        """What `work` makes of the prompts on the disk. They only save time: no answer may fail for them."""
        kept = self._prompt_cache
        if kept is None:
            return otherwise
        try:
            return work(kept)
        except GenerationError:  # no memory: the next step will say so
            return otherwise
        except Exception:
            _log.exception("What was read cannot be kept")
            self._prompt_cache = None
            kept.close()
            return otherwise

    def _look_for(self, sequence: Sequence) -> None:
        """Find out what of a prompt lies on the disk. Its last token is always run, because its logits are needed."""
        known, slot = sequence.reusable[:-1], sequence.slot
        recall = self._with_disk(lambda kept: kept.find(known, slot) if slot else None, None)
        if recall is not None:
            self._recalls[sequence.number] = recall

    def _keep_next(self) -> bool:
        """Keep a block of an idle conversation on the disk; False: there was none, or the disk is busy."""
        return self._with_disk(lambda kept: kept.keep_next(self._scheduler.budget.prompt_seconds), False)

    def _others_wait(self, number: int = 0) -> bool:
        """Whether anybody but this sequence waits for the next token of an answer."""
        return any(not self._sequences[other].is_prefilling for other in self._scheduler.running if other != number)

    def _recall(self, number: int) -> bool:
        """Take what has come from the disk of a prompt, instead of running it; False: no more is to come."""
        recall, sequence = self._recalls.get(number), self._sequences[number]
        slot = sequence.slot
        if recall is None or slot is None:
            return False
        end, count = time.perf_counter() + RECALL_SECONDS[self._others_wait(number)], 0
        while recall.is_ready and not sequence.job.is_cancelled and time.perf_counter() < end:
            new = self._with_disk(lambda kept: kept.recall(recall, slot), None)
            if new is None:
                self._forget_disk(number)
                return count > 0
            if new:
                sequence.recall(new)
                count += new
        return True

    def _look(self, chunk: Chunk) -> bool:
        """Read a part of an image that stands among the next tokens, instead of running them; False: there is none."""
        number, sequence = chunk.number, self._sequences[chunk.number]
        span = sequence.unread_image(chunk.tokens)
        if span is None:
            return False
        end = time.perf_counter() + LOOK_SECONDS[self._others_wait(number)]
        try:
            look = self._looks.get(number)
            if look is None:
                look = self._looks[number] = self._runner.look(sequence, span)
            for _ in look:
                if sequence.job.is_cancelled or time.perf_counter() > end:
                    return True
            del self._looks[number]
        except Exception as error:
            self._finish(sequence, "error", error_for_user(error))
        return True

    def _forget_disk(self, number: int) -> None:
        recall = self._recalls.pop(number, None)
        if recall is not None:
            recall.cancel()

    def _can_go_on(self, number: int) -> bool:
        """Whether a sequence need not wait for the disk, which wakes the loop."""
        recall = self._recalls.get(number)
        return recall is None or recall.is_ready

    def _step(self, chunks: list[Chunk]) -> bool:
        """Run `chunks`, but for what comes from the disk; False: everybody waits for it."""
        decodes = sum(chunk.tokens == 1 for chunk in chunks)
        run = [chunk for chunk in chunks if not self._recall(chunk.number) and not self._look(chunk)]
        if not run:
            self._publish(0)
            return any(map(self._can_go_on, self._scheduler.running))
        works = [self._work(chunk, decodes) for chunk in run]
        began = time.perf_counter()
        results = self._runner.step(works)
        drawn = sum(self._take(work, results[work.sequence.number]) for work in works)
        seconds = time.perf_counter() - began
        if not all(work.sequence.job.is_cancelled for work in works):  # such a step may have been cut short
            self._learn(works, decodes, seconds)
        self._publish(drawn, rows=decodes)
        if not decodes and not self._others_wait():  # a prompt that takes minutes is kept piece by piece
            slots = [work.sequence.slot for work in works if work.sequence.slot is not None]
            self._with_disk(lambda kept: kept.keep_read(slots, self._scheduler.budget.prompt_seconds), None)
        return True

    def _learn(self, works: Many[Work], decodes: int, seconds: float) -> None:
        prompt_tokens = sum(work.count for work in works) - decodes
        self._scheduler.budget.record(decodes, prompt_tokens, seconds)
        if self._speculator is not None and not prompt_tokens:
            self._speculator.record_step(decodes, sum(len(work.guesses) for work in works), seconds)

    def _work(self, chunk: Chunk, decodes: int) -> Work:
        sequence = self._sequences[chunk.number]
        guesses: list[int] = []
        if self._speculator is not None and sequence.pending == 1 and sequence.answer:
            guesses = self._speculator.propose(sequence, decodes)
        return Work(sequence, sequence.most(chunk.tokens), guesses)

    def _take(self, work: Work, result: Logits | Exception | None) -> int:
        """Draw a token from each row of logits while the guess before it is right; how many were drawn."""
        sequence = work.sequence
        if sequence.job.is_cancelled:
            self._finish(sequence, "cancelled")
            return 0
        if isinstance(result, Exception):
            self._finish(sequence, "error", result)
            return 0
        if result is None:
            return 0
        try:
            is_drawn = not sequence.pending and sequence.draws
            given = len(result) - 1 - len(work.guesses) if is_drawn else len(result)
            if isinstance(result, Tensor):  # those that a card has ranked are only drawn from
                sequence.score(result[:given])
            has_more = not sequence.pending and sequence.finish_reason is None
            drawn = self._draw(sequence, result[given:], work.guesses) if has_more else 0
        except BaseException as error:  # the tokenizers library panics with a BaseException
            self._finish(sequence, "error", error_for_user(error))
            return 0
        if self._speculator is not None and work.guesses:
            self._speculator.record(sequence, len(work.guesses), drawn - 1)
        if sequence.finish_reason is not None:
            error = sequence.cut_error()
            self._finish(sequence, "error" if error else sequence.finish_reason, error)
        return drawn

    @staticmethod
    def _draw(sequence: Sequence, logits: Logits, guesses: Many[int]) -> int:
        drawn = 0
        for row, guess in zip(logits, [*guesses, None], strict=True):
            sequence.draw(row)
            drawn += 1
            if sequence.finish_reason is not None or sequence.job.is_cancelled or sequence.answer[-1] != guess:
                break
            sequence.accept([sequence.answer[-1]])  # it was guessed, so it has been run
        return drawn

    def _finish(self, sequence: Sequence, reason: FinishReason, error: Exception | None = None) -> None:
        self._scheduler.remove(sequence.number)
        self._forget_disk(sequence.number)
        self._looks.pop(sequence.number, None)
        self._sequences.pop(sequence.number, None)
        if self._speculator is not None:
            self._speculator.forget(sequence)
        if sequence.slot is not None and error is not None:
            self._cache.drop(sequence.slot)  # its rows may hold NaN, which would spoil others even when masked
        elif sequence.slot is not None and not sequence.draws:
            self._cache.drop(sequence.slot)  # nobody goes on with it
        elif sequence.slot is not None:
            self._cache.release(sequence.slot)
        try:
            sequence.finish(reason, error)
        except BaseException:  # also what asyncio, pytest and sys.exit raise: it must not end other answers
            _log.exception("A caller's on_finish failed")

    def _finish_all(self, error: Exception | None = None) -> None:
        with self._lock:
            self._stopping = True
        self._run_commands()  # what was queued last gets its end too
        for sequence in list(self._sequences.values()):
            self._finish(sequence, "error" if error else "cancelled", error)
        self._publish(0)

    def _publish(self, drawn: int, rows: int = 0) -> None:
        self._speed.add(drawn)
        running = len(self._scheduler.running)
        if not running:
            self._speed.clear()
        self._stats = replace(
            self._stats,
            tokens_per_second=self._speed.tokens_per_second,
            batch_size=rows,
            running=running,
            kv_bytes=self._cache.byte_count + (self._speculator.proposer.kv_bytes if self._speculator else 0),
        )


def _broken(error: BaseException) -> BugError:
    _log.error("The engine's loop broke", exc_info=error)
    return BugError(f"The engine broke: {type(error).__name__}: {error}. Please report this.")
