"""The engine's own thread, and what the host knows of an engine."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QObject, QThread, Signal

from llama_gui.errors import UserError
from llama_gui.vocabulary import (
    EngineStats,
    GenerateRequest,
    GenerateResult,
    JobProgress,
    JobState,
    ModelInfo,
    TokenOutput,
)


class JobLike(Protocol):
    """What the host asks of a job; each of these is safe from any thread."""

    @property
    def state(self) -> JobState: ...

    @property
    def progress(self) -> JobProgress: ...

    def cancel(self) -> None: ...


class EngineLike(Protocol):
    """What the host asks of an engine. All but `run` and `close` are safe from any thread."""

    @property
    def info(self) -> ModelInfo: ...

    def submit(
        self,
        request: GenerateRequest,
        on_output: Callable[[Any, TokenOutput], None] | None = None,
        on_finish: Callable[[Any, GenerateResult], None] | None = None,
    ) -> JobLike: ...

    def stats(self) -> EngineStats: ...

    def run(self) -> None: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


LoadEngine = Callable[[str], EngineLike]


def error_text(error: BaseException) -> str:
    """One plain sentence for the user; what is not the user's world is called our fault."""
    if isinstance(error, UserError):
        return str(error)
    return f"Something went wrong inside llama-gui ({type(error).__name__}: {error}). Please report this."


class EngineThread(QThread):
    """Loads one model, runs its loop until `stop`, and frees it."""

    loaded = Signal(object)
    """The `ModelInfo`; `engine` can be used from now on."""
    failed = Signal(str)
    """Loading failed, or the loop ended by an error."""

    def __init__(self, path: str, load_engine: LoadEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self.engine: EngineLike | None = None
        self._load_engine = load_engine
        self._stopping = False

    def run(self) -> None:
        """The body of the thread."""
        try:
            engine = self._load_engine(self.path)
            try:
                self._serve(engine)
            finally:
                engine.close()
        except BaseException as error:  # the tokenizers library panics with a BaseException
            self.failed.emit(error_text(error))

    def _serve(self, engine: EngineLike) -> None:
        self.engine = engine
        # `stop` sets its flag before it looks for the engine, so one of the two sees the other.
        if not self._stopping:
            self.loaded.emit(engine.info)
            engine.run()

    def stop(self) -> None:
        """End the loop soon; from any thread, also while the model still loads."""
        self._stopping = True
        if self.engine is not None:
            self.engine.stop()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A token of a ticket, on its way from the engine's thread."""

    ticket: int
    output: TokenOutput


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a ticket, on its way from the engine's thread."""

    ticket: int
    result: GenerateResult


class Outbox(QObject):
    """Carries outputs out of the engine's thread: they pile up here, and one `wake` is on its way at a time."""

    wake = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pile: deque[Drawn | Ended] = deque()
        self._woken = False

    def put(self, item: Drawn | Ended) -> None:
        """Add an item; from any thread."""
        self._pile.append(item)
        if not self._woken:
            self._woken = True
            self.wake.emit()

    def take(self) -> list[Drawn | Ended]:
        """All that has piled up, oldest first."""
        # Lowered before the pile is read: an item that comes in between is read now, or wakes again.
        self._woken = False
        return [self._pile.popleft() for _ in range(len(self._pile))]
