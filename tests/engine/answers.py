"""Everything that an answer is, for tests that two are the same."""

from collections.abc import Iterable
from typing import Any

from llama_gui.engine import TokenOutput

Bits = list[tuple[Any, ...]]


def bit(output: TokenOutput) -> tuple[Any, ...]:
    """Of one token; floats are compared to the last bit."""
    return output.token_id, output.logprob, output.text, output.top_logprobs


def bits(job: Iterable[TokenOutput]) -> Bits:
    """Of all tokens."""
    return [bit(output) for output in job]
