"""What of a conversation is sent when all of it does not fit: whole turns, the newest, behind the system message."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_gui.engine.vision.placing import PlacedImages
from llama_gui.vocabulary import Message

ANSWER_SHARE = 4
"""A quarter of the context is kept for the answer, or as much as the request asks for, whichever is less."""
STEPS = 4
"""Turns are left out until a further quarter of the context is free: so the rest of the prompt stays the same for the
next turns too, and is found in the cache."""
_SAMPLE = 8  # messages that tell how many tokens the template writes around one


@dataclass(frozen=True, slots=True)
class Fitted:
    """The prompt that is sent, as ids, how many of the messages are not in it, and where images stand in it."""

    token_ids: list[int]
    dropped_messages: int = 0
    images: PlacedImages | None = None

    @property
    def has_whole_images(self) -> bool:
        """Whether there are images that are run as a whole."""
        return self.images is not None and any(span.is_whole for span in self.images.spans)


def fit(
    messages: Sequence[Message],
    encode: Callable[[Sequence[Message]], list[int]],
    count: Callable[[Message], int],
    max_context: int,
    max_tokens: int | None,
) -> Fitted:
    """All `messages` if they fit; else the system message and the newest turns that do.

    A turn begins with a message of the user. The last one always stays, even if it alone is too long: it is for the
    caller to refuse that.

    Args:
        encode: messages -> ids of the prompt.
        count: a message -> how many tokens its text and its images have, about.
        max_context: tokens of prompt and answer together.
        max_tokens: how long the answer may get; None: as long as there is room.
    """
    share = max_context // ANSWER_SHARE
    limit = max_context - min(share, max_tokens if max_tokens is not None else share)
    starts = _turn_starts(messages)
    sent = _newest(starts, len(messages), max_context)
    head, starts = list(messages[: starts[0]]) if starts else [], starts[sent:]
    ids = encode([*head, *messages[starts[0] :]] if sent else messages)
    if len(ids) <= limit or len(starts) < 2:
        return Fitted(ids, starts[0] - len(head) if starts else 0)
    offsets = _offsets(messages, starts, encode, count)
    step = max(max_context // STEPS, 1)
    left_out = 0
    last = math.ceil(offsets[-1] / step)
    for steps in range(min(math.ceil((len(ids) - limit) / step), last), last + 1):
        # The first turn that begins after this many quarters; the last turn is never left out.
        first = next((i for i, offset in enumerate(offsets) if offset >= steps * step), len(starts) - 1)
        if first == left_out:
            continue
        left_out = first
        ids = encode([*head, *messages[starts[first] :]])
        if len(ids) <= limit:
            break
    return Fitted(ids, starts[left_out] - len(head))


def sent(messages: Sequence[Message], dropped: int) -> list[Message]:
    """Those of `messages` that are sent where `fit` leaves out so many."""
    head = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return [*messages[:head], *messages[head + dropped :]]


def _turn_starts(messages: Sequence[Message]) -> list[int]:
    """Where each turn begins. Messages before the first one of the user, except system messages, belong to its turn."""
    first = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    users = [i for i, message in enumerate(messages) if message.role == "user" and i > first]
    return [first, *users] if first < len(messages) else []


def _newest(starts: Sequence[int], messages: int, max_context: int) -> int:
    """The first turn that can fit at all: not more messages than the context has tokens. In steps, as in `fit`."""
    step = max(max_context // STEPS, 1)
    too_many = (messages - max_context) // step * step
    return next((i for i, start in enumerate(starts) if start >= too_many), len(starts) - 1) if too_many > 0 else 0


def _offsets(
    messages: Sequence[Message],
    starts: Sequence[int],
    encode: Callable[[Sequence[Message]], list[int]],
    count: Callable[[Message], int],
) -> list[int]:
    """Tokens before each turn, about, from the first turn on; they do not change when the conversation goes on."""
    first = messages[starts[0] : starts[0] + _SAMPLE]
    around = max(0, len(encode(first)) - sum(map(count, first))) / len(first)
    offsets = [0]
    for start, end in itertools.pairwise(starts):
        offsets.append(offsets[-1] + round(sum(count(m) + around for m in messages[start:end])))
    return offsets
