"""Whole turns, the oldest first, in steps; the system message and the last turn always stay."""

import itertools
from collections.abc import Sequence

import pytest

from llama_gui.engine import GenerateRequest, Message, SamplingParams
from llama_gui.engine.context_policy import Fitted, fit
from llama_gui.errors import InvalidRequestError, PromptTooLongError

SYSTEM = Message("system", "s " * 10)


def chat(turns: int, words: int = 10) -> list[Message]:
    """So many questions with their answers, and one more question."""
    pairs = [(Message("user", f"{n} " * words), Message("assistant", f"{-n} " * words)) for n in range(turns)]
    return [message for pair in pairs for message in pair] + [Message("user", "last")]


def encode(messages: Sequence[Message]) -> list[int]:
    """A token a word, and eight around each message."""
    return [i for m in messages for i in [*map(ord, m.role[:4]), *map(hash, m.content.split()), 1, 2, 3, 4]]


def count(message: Message) -> int:
    return len(message.content.split())


def fitted(messages: Sequence[Message], max_context: int = 300, max_tokens: int | None = None) -> Fitted:
    return fit(messages, encode, count, max_context, max_tokens)


def test_what_fits_stays_whole():
    messages = [SYSTEM, *chat(5)]  # 206 tokens
    assert fitted(messages) == Fitted(encode(messages))


@pytest.mark.parametrize("turns", range(6, 40))
@pytest.mark.parametrize("system", [[], [SYSTEM], [SYSTEM, SYSTEM]])
def test_the_newest_whole_turns_behind_the_system_message(system: list[Message], turns: int):
    messages = [*system, *chat(turns)]
    result = fitted(messages)
    start = len(system) + result.dropped_messages
    assert result.token_ids == encode([*system, *messages[start:]])
    assert messages[start].role == "user"
    assert len(result.token_ids) <= 225
    assert result.dropped_messages == 0 or len(result.token_ids) > 75, "more was left out than needed"


def test_a_growing_conversation_keeps_its_beginning_for_several_turns():
    """Otherwise every turn would read the whole prompt again."""
    starts = [fitted([SYSTEM, *chat(turns)]).dropped_messages for turns in range(60)]
    assert starts == sorted(starts)
    changes = sum(a != b for a, b in itertools.pairwise(starts))
    assert changes <= 60 * 36 / 75 + 1  # a step is 75 tokens, a turn 36


def test_room_for_a_short_answer_only():
    messages = chat(7)  # 261 tokens
    assert fitted(messages, max_tokens=20).dropped_messages == 0
    assert fitted(messages, max_tokens=100).dropped_messages > 0


def test_one_turn_alone_is_never_left_out():
    messages = [SYSTEM, *chat(3), Message("assistant", "x"), Message("user", "y " * 500)]
    result = fitted(messages)
    assert result.token_ids == encode([SYSTEM, messages[-1]])
    assert result.dropped_messages == len(messages) - 2
    alone = [Message("user", "y " * 500)]
    assert fitted(alone) == Fitted(encode(alone))


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM],
        [SYSTEM, Message("assistant", "a " * 300)],
        [Message("assistant", "a " * 300), Message("user", "b")],
        [Message("user", "a " * 300), Message("assistant", "b"), Message("tool", "c"), Message("assistant", "d")],
    ],
)
def test_odd_conversations(messages: list[Message]):
    result = fitted(messages)
    assert result.token_ids
    assert result.dropped_messages == (1 if messages[-1].content == "b" else 0)


# --- through the engine


def test_the_result_says_how_many(load):
    engine = load(max_context=256)
    sampling = SamplingParams(temperature=0)
    messages = [SYSTEM, *chat(20)]
    result = engine.generate(GenerateRequest(messages=messages, max_tokens=10, sampling=sampling))
    kept = [SYSTEM, *messages[1 + result.dropped_messages :]]
    assert 0 < result.dropped_messages < 40
    assert result.usage.prompt_tokens == len(engine.apply_chat_template(kept, tokenize=True))
    assert result.text == engine.generate(GenerateRequest(messages=kept, max_tokens=10, sampling=sampling)).text


def test_measuring_says_what_generating_will(load):
    engine = load(max_context=256)
    for turns in (1, 20):
        request = GenerateRequest(messages=[SYSTEM, *chat(turns)], max_tokens=2)
        use = engine.measure(request)
        result = engine.generate(request)
        assert (use.tokens, use.dropped_messages) == (result.usage.prompt_tokens, result.dropped_messages)
        assert (use.max_context, use.is_too_long) == (256, False)
    too_long = engine.measure(GenerateRequest(messages=chat(20), overflow="error"))
    assert too_long.is_too_long
    assert too_long.dropped_messages == 0
    assert engine.count("two words") == len(engine.tokenizer.encode_literally("two words"))


def test_one_message_that_is_too_long_is_an_error_with_numbers(load):
    engine = load(max_context=128)
    with pytest.raises(PromptTooLongError, match=r"\d+ tokens long.*at most 128"):
        engine.submit(GenerateRequest(messages=[*chat(20), Message("user", "word " * 500)]))


def test_nothing_is_left_out_when_that_is_an_error(load):
    engine = load(max_context=128)
    with pytest.raises(PromptTooLongError):
        engine.submit(GenerateRequest(messages=chat(20), overflow="error"))
    with pytest.raises(InvalidRequestError, match="overflow"):
        GenerateRequest(prompt="x", overflow="cut")  # type: ignore[arg-type]
