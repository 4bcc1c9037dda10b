"""What of a conversation is sent when all of it does not fit: whole turns, the newest, behind the system message."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_gui.vocabulary import Message

ANSWER_SHARE = 4
"""A quarter of the context is kept for the answer, or as much as the request asks for, whichever is less."""
STEPS = 4
"""Turns are left out until a further quarter of the context is free: so the rest of the prompt stays the same for the
next turns too, and is found in the cache."""
_AROUND = 8  # tokens that a template writes around a message, about


@dataclass(frozen=True, slots=True)
class Fitted:
    """The prompt that is sent, as ids, and how many of the messages are not in it."""

    token_ids: list[int]
    dropped_messages: int = 0


def fit(
    messages: Sequence[Message],
    encode: Callable[[Sequence[Message]], list[int]],
    count: Callable[[str], int],
    max_context: int,
    max_tokens: int | None,
) -> Fitted:
    """All `messages` if they fit; else the system message and the newest turns that do.

    A turn begins with a message of the user. The last one always stays, even if it alone is too long: it is for the
    caller to refuse that.

    Args:
        encode: messages -> ids of the prompt.
        count: a text -> how many tokens it has, about.
        max_context: tokens of prompt and answer together.
        max_tokens: how long the answer may get; None: as long as there is room.
    """
    ids = encode(messages)
    share = max_context // ANSWER_SHARE
    limit = max_context - min(share, max_tokens if max_tokens is not None else share)
    starts = _turn_starts(messages)
    if len(ids) <= limit or len(starts) < 2:
        return Fitted(ids)
    head = list(messages[: starts[0]])
    offsets = _offsets(messages, starts, count)
    step = max(max_context // STEPS, 1)
    left_out = 0
    last = math.ceil(offsets[-1] / step)
    for steps in range(min(math.ceil((len(ids) - limit) / step), last), last + 1):
        # The first turn that begins behind so many quarters; the last one is never left out.
        first = next((i for i, offset in enumerate(offsets) if offset >= steps * step), len(starts) - 1)
        if first == left_out:
            continue
        left_out = first
        ids = encode([*head, *messages[starts[first] :]])
        if len(ids) <= limit:
            break
    return Fitted(ids, starts[left_out] - starts[0])


def _turn_starts(messages: Sequence[Message]) -> list[int]:
    """Where each turn begins. What stands before the first message of the user, but system messages, belongs to it."""
    first = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    users = [i for i, message in enumerate(messages) if message.role == "user" and i > first]
    return [first, *users] if first < len(messages) else []


def _offsets(messages: Sequence[Message], starts: Sequence[int], count: Callable[[str], int]) -> list[int]:
    """Tokens before each turn, about, from the first turn on; they do not change when the conversation goes on."""
    offsets = [0]
    for start, end in itertools.pairwise(starts):
        offsets.append(offsets[-1] + sum(count(m.content) + _AROUND for m in messages[start:end]))
    return offsets
