"""Counts tokens on a lane of its own, so that neither the window nor a question waits for it."""

from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

from PySide6.QtCore import QObject

from llama_gui.bridge.lanes import Lanes
from llama_gui.bridge.sight import as_seen
from llama_gui.vocabulary import ContextUse, GenerateRequest, ModelInfo

Key = TypeVar("Key")
Answer = TypeVar("Answer")


@runtime_checkable
class Counts(Protocol):
    """An engine that knows its tokens; one on somebody else's server does not."""

    @property
    def info(self) -> ModelInfo: ...

    def measure(self, request: GenerateRequest) -> ContextUse: ...

    def count(self, text: str) -> int: ...


class TokenCounter(QObject):
    """Answers with None where nothing can be counted: no engine, or a template that refuses the messages."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes = Lanes(self)

    def measure(
        self, engine: object, make: Callable[[], GenerateRequest], done: Callable[[ContextUse | None], None]
    ) -> None:
        """What a request would come to. `make` is called on the lane."""
        if isinstance(engine, Counts):
            self._run(lambda: engine.measure(as_seen(make(), engine.info, spares_last=False)), done)
        else:
            done(None)

    def ask(self, engine: object, work: Callable[[Counts], Answer], done: Callable[[Answer | None], None]) -> None:
        """Any other work that needs an engine for counting. `work` is called on the lane."""
        if isinstance(engine, Counts):
            self._run(lambda: work(engine), done)
        else:
            done(None)

    def run(self, work: Callable[[], Answer], done: Callable[[Answer | None], None]) -> None:
        """Related work that takes a while but needs no engine."""
        self._run(work, done)

    def count(self, engine: object, key: Key, text: str, done: Callable[[tuple[Key, int | None]], None]) -> None:
        """How many tokens a text has; `key` comes back with the number."""
        if isinstance(engine, Counts):
            self._run(lambda: (key, engine.count(text)), done, (key, None))
        else:
            done((key, None))

    def _run(self, work: Callable[[], object], done: Callable[..., None], otherwise: object = None) -> None:
        def attempt() -> object:
            try:
                return work()
            except BaseException:  # a panic of the tokenizer among them: the question itself will say it
                return otherwise

        self._lanes.run("token-counter", attempt, done, lambda _error: None)

    def close(self, timeout_s: float) -> bool:
        """End the lane. False: it is still busy."""
        return self._lanes.close(timeout_s)
