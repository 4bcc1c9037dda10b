"""The thread of one engine, and what the host knows of an engine."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal

from llama_gui.bridge.load_order import LoadOrder
from llama_gui.errors import BugError, LoadCancelledError, UserError
from llama_gui.vocabulary import (
    EngineStats,
    GenerateRequest,
    GenerateResult,
    JobProgress,
    JobState,
    LoadOptions,
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


@runtime_checkable
class GoesOn(Protocol):
    """A job that continues an answer by its tokens, and knows their text; jobs on remote servers cannot."""

    @property
    def former_text(self) -> str: ...


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


LoadEngine = Callable[[LoadOrder], EngineLike]
"""Called in the thread of the model that it loads."""


def error_text(error: BaseException) -> str:
    """One plain sentence for the user; an error that is not a `UserError` is called our own fault."""
    if isinstance(error, UserError):
        return str(error)
    told = QCoreApplication.translate("Faults", "Something went wrong inside llama-gui ({}). Please report this.")
    return told.format(f"{type(error).__name__}: {error}")


class EngineThread(QThread):
    """Loads one model, runs its loop until `stop`, and frees it."""

    progressed = Signal(object)
    """`LoadProgress`."""
    room_wanted = Signal(object)
    """`RoomWish`, which must be answered."""
    devices_found = Signal(object)
    """tuple[str, ...]."""
    loaded = Signal(object)
    """The `ModelInfo`; `engine` can be used from now on."""
    failed = Signal(str)
    """Loading failed, or the loop ended by an error."""

    def __init__(self, key: str, options: LoadOptions, load_engine: LoadEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.key = key
        self.options = options
        self.engine: EngineLike | None = None
        self._order = LoadOrder(key, options, self.progressed.emit, self.room_wanted.emit, self.devices_found.emit)
        self._load_engine = load_engine
        self.stopping = False

    def run(self) -> None:
        """The body of the thread."""
        try:
            engine = self._load_engine(self._order)
            try:
                self._serve(engine)
            finally:
                engine.close()
                self.engine = None  # else the rest of the model would live until this thread is dropped
        except LoadCancelledError:
            return
        except BaseException as error:  # the tokenizers library panics with a BaseException
            self.failed.emit(error_text(error))

    def _serve(self, engine: EngineLike) -> None:
        self.engine = engine
        # `stop` sets its flag before it looks for the engine, so either it or this line sees the other's value.
        if self.stopping:
            return
        self.loaded.emit(engine.info)
        engine.run()
        if not self.stopping:  # a loop that another thread steps ends by itself when it breaks
            raise BugError("the engine stopped by itself")

    def stop(self) -> None:
        """End the loop soon; from any thread, also while the model still loads."""
        self.stopping = True
        self._order.cancel()
        if self.engine is not None:
            self.engine.stop()
