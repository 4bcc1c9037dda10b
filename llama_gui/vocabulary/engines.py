"""How an engine runs, and what it does."""

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["sequential", "interleaved", "batched"]
STRATEGIES: tuple[Strategy, ...] = ("sequential", "interleaved", "batched")


@dataclass(frozen=True, slots=True)
class EngineStats:
    """What the engine does just now. Byte counts are bytes; `batch_size` is rows in the last decode step.

    `batch_invariant`: answers do not change each other's bits. `exact`: nor does it matter how a prompt was cut,
    cached, evicted or read again.
    """

    tokens_per_second: float
    batch_size: int
    running: int
    waiting: int
    kv_bytes: int
    weight_bytes: int
    dtype: str
    device: str
    threads: int
    batch_invariant: bool
    exact: bool = False
