"""One step on the device: from the next tokens of some sequences to logits for each whose prompt is read."""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from llama_gui.engine.card_graph import CardGraphs
from llama_gui.engine.decode_graph import DecodeGraphs
from llama_gui.engine.huge_pages import HugePages
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.llama import Llama, PassCancelled, Segment
from llama_gui.engine.prompt_cache import bits_of, probe_tokens
from llama_gui.engine.ranking import RankedRow, Ranker, temperatures_on
from llama_gui.engine.sequence import MadeRows, Sequence
from llama_gui.engine.vision.looks import Looks
from llama_gui.engine.vision.placing import ImageSpan, PlacedImages, grid_positions, is_key
from llama_gui.engine.vision.tower import VisionTower
from llama_gui.errors import EngineClosedError, GenerationError, LlamaGuiError


@dataclass(frozen=True, slots=True)
class Work:
    """A sequence, how many of its pending tokens it runs, and guesses at the tokens behind them."""

    sequence: Sequence
    count: int
    guesses: Many[int] = ()

    @property
    def rows(self) -> int:
        """Of how many of its last tokens the logits are wanted."""
        is_last = self.count == self.sequence.pending and self.sequence.draws
        drawn = 1 + len(self.guesses) if is_last else 0
        return self.sequence.scored_rows(self.count) + drawn

    @property
    def may_be_ranked(self) -> bool:
        """Whether all that is done with its logits is to draw one token."""
        return not self.guesses and self.sequence.only_draws


Logits = Tensor | list[RankedRow]
"""Of each wanted place of a sequence: on the CPU, or on a card and ranked there."""

_KEPT = 64
"""So many rows of earlier steps a sequence keeps, if nobody guesses for it meanwhile."""
_LOGITS_CHUNK = 256
_WARM_PROMPTS = (31, 511)
"""Tokens of the prompts that a card runs first: other kernels multiply few rows than many."""


class Runner:
    """Runs the network for sequences that hold a slot. One thread, alone, uses it.

    `graphs`: recordings of steps, where the device has such. `ranker`: how logits are ranked on it; None: they come to
    the CPU. `embeds`: what is made are no logits, but the rows that those would be of, see `Llama.hidden`. `tower`:
    reads images. `keeps_rows`: sequences get what is made of the tokens behind which they draw, `Sequence.made`.
    `reads_rows`: gets each sequence behind a piece of its prompt, with what was made of all of that, and now and then
    behind drawn tokens, if nobody else has taken what was made of them.
    """

    def __init__(
        self,
        network: Llama,
        cache: KVCache,
        graphs: DecodeGraphs | CardGraphs | None = None,
        *,
        ranker: Ranker | None = None,
        embeds: bool = False,
        tower: VisionTower | None = None,
        keeps_rows: bool = False,
        reads_rows: Callable[[Sequence], None] | None = None,
    ) -> None:
        self._looks = None if tower is None else Looks(tower)
        self._embeds = embeds
        self._keeps_rows = keeps_rows
        self._reads_rows = reads_rows
        self._ranker = ranker
        self._loaded: Llama | None = network
        self._pages = HugePages([weight for linear in network.linears for weight in linear.packed])
        self._cache = cache
        self._graphs = graphs

    @property
    def _network(self) -> Llama:
        if self._loaded is None:
            raise EngineClosedError("The engine was closed.")
        return self._loaded

    def settle(self) -> None:
        """Wait until the weights lie as they will stay. In any thread."""
        self._pages.wait()

    def close(self) -> None:
        """Release the weights, even if somebody still holds the engine."""
        self._pages.close()
        self._loaded = self._graphs = self._looks = self._reads_rows = None

    def look(self, sequence: Sequence, span: ImageSpan) -> Iterator[None]:
        """Read an image of `sequence` piece by piece, or where it was read, run it as a whole.

        Raises:
            EngineClosedError: the engine was closed.
        """
        if self._looks is None or sequence.slot is None:
            raise EngineClosedError("The engine was closed.")
        if not sequence.has_seen(span):
            for rows in self._looks.read(span.image):
                if rows is not None:
                    sequence.take_image(span, rows)
                yield None
            return
        tokens = sequence.next_tokens(span.end - sequence.held)
        self._cache.ensure_capacity(sequence.slot, len(sequence.slot.tokens) + len(tokens))
        images = sequence.image_rows(len(tokens))
        yield from self._network.read_whole(Segment(sequence.slot, tokens, 0, True, images, is_whole=True))
        sequence.accept(tokens)

    def step(self, works: Many[Work]) -> dict[int, Logits | Exception | None]:
        """Run all `works` in one forward pass.

        Returns:
            By sequence number: float32 logits ``[1 + guesses, vocab]`` behind the last known token and behind each
            guess; None while tokens are still pending, and when all were cancelled on the way; or the error of this
            sequence alone. A pass that fails is tried again one sequence at a time, so that only the culprit fails.
        """
        try:
            return self._run(works)
        except PassCancelled:
            return {work.sequence.number: None for work in works}
        except Exception as error:
            if len(works) == 1:
                return {works[0].sequence.number: error_for_user(error)}
        results: dict[int, Logits | Exception | None] = {}
        for work in works:
            results |= self.step([work])
        return results

    @torch.inference_mode()
    def _run(self, works: Many[Work]) -> dict[int, Logits | Exception | None]:
        works = sorted(works, key=lambda work: work.sequence.is_prefilling)  # drawn tokens first
        segments = [self._segment(work) for work in works]
        jobs = [work.sequence.job for work in works]
        try:
            logits = self._recorded(works, segments)
            if logits is None:
                made = self._made(works, segments, lambda: all(job.is_cancelled for job in jobs))
                logits = self._ranked(works, segments, made)
        except PassCancelled:
            for segment in segments:  # what was written so far counts for no token, and may be NaN
                segment.slot.zero(len(segment.slot.tokens), segment.slot.finite)
            raise
        results: dict[int, Logits | Exception | None] = {}
        row = 0
        for work, segment in zip(works, segments, strict=True):
            rows = segment.logits
            results[work.sequence.number] = logits[row : row + rows] if rows else None
            row += rows
            work.sequence.accept(segment.token_ids[: work.count])
            if self._reads_rows is not None and (segment.is_prompt or work.sequence.has_made(_KEPT)):
                self._reads_rows(work.sequence)
        return results

    def _made(self, works: Many[Work], segments: Many[Segment], is_unwanted: Callable[[], bool]) -> Tensor:
        """Logits, or the rows that those would be of; sequences get theirs."""
        if not self._keeps_rows:
            run = self._network.hidden if self._embeds else self._network.forward
            return run(segments, is_unwanted)
        if self._reads_rows is None:
            x = self._network.hidden(segments, is_unwanted)
            _keep_rows(works, segments, x)
            return self._network.logits(x)
        whole = [replace(segment, logits=len(segment.token_ids)) for segment in segments]
        x = self._network.hidden(whole, is_unwanted)
        _keep_rows(works, whole, x, _KEPT)
        return self._network.logits(self._network.last_rows(x, segments))

    def _recorded(self, works: Many[Work], segments: Many[Segment]) -> Logits | None:
        """What a recording makes of the step; None: there is none for it."""
        if self._keeps_rows or any(segment.images is not None for segment in segments):
            return None
        if isinstance(self._graphs, DecodeGraphs):
            made = self._graphs.run(segments)
            return None if made is None else self._ranked(works, segments, made)
        if self._graphs is None or not all(work.may_be_ranked for work in works):
            return None
        return self._graphs.run(segments, [work.sequence.temperature for work in works])

    def _ranked(self, works: Many[Work], segments: Many[Segment], logits: Tensor) -> Logits:
        if self._ranker is None or not len(logits) or not all(work.may_be_ranked for work in works):
            return logits.cpu()
        drawn = [work.sequence.temperature for work, one in zip(works, segments, strict=True) if one.logits]
        return self._ranker.rows(logits, self._ranker.rank(logits, temperatures_on(logits.device, drawn)))

    def _segment(self, work: Work) -> Segment:
        slot = work.sequence.slot
        assert slot is not None
        tokens = [*work.sequence.next_tokens(work.count), *work.guesses]
        self._cache.ensure_capacity(slot, len(slot.tokens) + len(tokens))
        images = work.sequence.image_rows(work.count)
        positions = work.sequence.positions(len(tokens))
        wanted = [] if slot.states is None else work.sequence.cuts(work.count)
        cuts = wanted if wanted and self._cache.has_room_for_mark() else ()
        return Segment(
            slot,
            tokens,
            work.rows,
            work.sequence.is_prefilling,
            images,
            positions=positions,
            cuts=cuts,
            guesses=len(work.guesses),
        )

    @torch.inference_mode()
    def warm_up(self) -> None:
        """Run a token, so that the weights are in memory; on a card all kinds of steps, so that kernels are compiled.

        Raises:
            GenerationError: there is no memory for it.
        """
        prompts = _WARM_PROMPTS if self._network.device.type == "cuda" else ()
        prompts = [min(count, self._network.config.max_position_embeddings - 1) for count in prompts]
        slot = self._cache.blank(max(prompts, default=0) + 1)
        try:
            run = self._network.hidden if self._embeds else self._network.forward
            for count in prompts:
                slot.truncate(0)
                run([Segment(slot, [0] * count, 1, is_prompt=True)])
                slot.extend([0] * count)
            run([Segment(slot, [0])])
            if isinstance(self._graphs, CardGraphs):
                self._graphs.run([Segment(slot, [0])], [1.0])
        finally:
            self._cache.drop(slot)

    @torch.inference_mode()
    def logits(self, token_ids: Many[int], placed: PlacedImages | None = None) -> Tensor:
        """Float32 logits ``[len(token_ids), vocab]`` on CPU, of a conversation that is forgotten afterwards.

        `placed`: the images among `token_ids`; None: there are none.
        """
        keys, seen = (token_ids, None) if placed is None else (placed.keys, self._seen(placed))
        slot = self._cache.blank(len(token_ids))  # the logits of every row are wanted, so nothing cached can be reused
        try:
            rows: list[Tensor] = []
            for piece, is_whole in _pieces(keys, placed):
                images, count = None, sum(map(is_key, piece))
                if seen is not None and count:
                    images, seen = seen.split((count, len(seen) - count))
                spans = () if placed is None else placed.spans
                positions = grid_positions(spans, len(slot.tokens), len(piece))
                segment = Segment(slot, piece, len(piece), True, images, is_whole, positions)
                rows.append(self._network.forward([segment]).cpu())
                slot.extend(piece)
            return torch.cat(rows)
        finally:
            self._cache.drop(slot)

    def _seen(self, placed: PlacedImages) -> Tensor:
        """The rows of all its images."""
        if self._looks is None:
            raise EngineClosedError("The engine was closed.")
        return torch.cat([self._looks.rows(span.image) for span in placed.spans])

    @torch.inference_mode()
    def identity(self, stamp: bytes) -> bytes:
        """Bits that differ wherever those of keys and values would: between models, dtypes, kernels and CPUs.

        `stamp`: what is known of the model besides.

        Raises:
            GenerationError: there is no memory for it, or the network fails.
        """
        tokens = probe_tokens(self._network.config.vocab_size)
        slot = self._cache.blank(len(tokens))
        try:
            self._network.forward([Segment(slot, tokens, 1, is_prompt=True)])
            return bits_of(slot, stamp)
        except Exception as error:
            raise error_for_user(error) from error
        finally:
            self._cache.drop(slot)


def _keep_rows(works: Many[Work], segments: Many[Segment], x: Tensor, former: int = 0) -> None:
    """Of `x`, those rows of each sequence that are of its last tokens, and of guesses behind them.

    `former`: all of them, and at least so many of those that it had before.
    """
    end = 0
    for work, segment in zip(works, segments, strict=True):
        end += segment.logits
        count = segment.logits if former else min(1 + len(work.guesses), segment.logits)
        if count:
            start, rows = len(segment.slot.tokens) + len(segment.token_ids) - count, x[end - count : end]
            old = work.sequence.made if former else None
            work.sequence.made = MadeRows(start, rows) if old is None else old.followed_by(start, rows, former)


def _pieces(keys: Many[int], placed: PlacedImages | None) -> Iterator[tuple[list[int], bool]]:
    """`keys`, some at a time, and whether these are an image that is run as a whole."""
    whole = [span for span in placed.spans if span.is_whole] if placed is not None else []
    start = 0
    for end, next_start in zip(
        [*(s.start for s in whole), len(keys)], [*(s.end for s in whole), len(keys)], strict=True
    ):
        for place in range(start, end, _LOGITS_CHUNK):
            yield list(keys[place : min(place + _LOGITS_CHUNK, end)]), False
        if next_start > end:
            yield list(keys[end:next_start]), True
        start = next_start


def error_for_user(error: BaseException) -> Exception:
    """`error`, or a sentence around it when it is not one of ours."""
    if isinstance(error, LlamaGuiError):
        return error
    if isinstance(error, MemoryError) or "not enough memory" in str(error) or "out of memory" in str(error).lower():
        failure = GenerationError("The machine ran out of memory during this answer. Close other programs or chats.")
    else:
        failure = GenerationError(f"This answer failed inside the engine: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
