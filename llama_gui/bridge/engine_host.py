"""Owns the engine and its thread: requests in by plain calls, outputs out by one signal per frame."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QDeadlineTimer, QObject, Qt, QTimer, Signal, Slot

from llama_gui.bridge.engine_thread import (
    Drawn,
    Ended,
    EngineLike,
    EngineThread,
    JobLike,
    LoadEngine,
    Outbox,
    error_text,
)
from llama_gui.bridge.frames import FinishedItem, Frame, FrameItem, ProgressItem
from llama_gui.bridge.tasks import TaskLane
from llama_gui.errors import EngineClosedError
from llama_gui.vocabulary import (
    EngineStats,
    GenerateRequest,
    GenerateResult,
    ModelInfo,
    Timings,
    TokenOutput,
    Usage,
)

HostState = Literal["empty", "loading", "ready", "failed"]

FRAME_MS = 16
PROGRESS_MS = 100
STATS_MS = 500


@dataclass(slots=True)
class _Ticket:
    """A request on its way through the host."""

    number: int
    request: GenerateRequest
    cancelled: bool = False
    announced: bool = False
    job: JobLike | None = None
    thread: EngineThread | None = None


class EngineHost(QObject):
    """Loads models and answers requests. Every method is called on the GUI thread and returns at once.

    `load_engine` is called in the thread of the model that it loads.
    """

    loading = Signal(str)
    loaded = Signal(object)
    """`ModelInfo` of the model that answers from now on."""
    load_failed = Signal(str, str)
    """Path, and why. A model that was open before stays open."""
    submitted = Signal(int)
    submit_failed = Signal(int, str)
    withdrawn = Signal(int)
    """The ticket was cancelled before the engine had seen it."""
    frame = Signal(object)
    stats_changed = Signal(object)
    _refused = Signal(int, str)

    def __init__(self, load_engine: LoadEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._load_engine = load_engine
        self._current: EngineThread | None = None  # answers
        self._coming: EngineThread | None = None  # loads
        self._threads: list[EngineThread] = []  # every thread that has not ended: dropping one aborts the process
        self._next_path: str | None = None
        self._last_error = ""
        self._closing = False
        self._last_ticket = 0
        self._tickets: dict[int, _Ticket] = {}
        self._waiting: list[_Ticket] = []  # until a model is there
        self._lane = TaskLane("engine-submit", self)
        self._outbox = Outbox(self)
        self._outbox.wake.connect(self._on_wake, Qt.ConnectionType.QueuedConnection)
        # A request that cannot be taken is refused after `submit` has returned its ticket, never before.
        self._refused.connect(self.submit_failed, Qt.ConnectionType.QueuedConnection)
        self._frame_timer = self._timer(FRAME_MS, self._show_frame, single_shot=True)
        self._progress_timer = self._timer(PROGRESS_MS, self._on_progress_due)
        self._stats_timer = self._timer(STATS_MS, self._show_stats)
        self._progress_due = False

    def _timer(self, interval_ms: int, slot: Callable[[], None], *, single_shot: bool = False) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval_ms)
        timer.setSingleShot(single_shot)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(slot)
        return timer

    # --- what the window reads

    @property
    def info(self) -> ModelInfo | None:
        """The model that answers now."""
        engine = self._engine()
        return engine.info if engine else None

    @property
    def state(self) -> HostState:
        """Whether a model is on its way, there, or could not be loaded and none was there before."""
        if self._coming is not None:
            return "loading"
        if self._current is not None:
            return "ready"
        return "failed" if self._last_error else "empty"

    def _engine(self) -> EngineLike | None:
        return self._current.engine if self._current else None

    # --- loading

    def load(self, path: str) -> None:
        """Load the model at `path`. The one that is open answers on until the new one is there."""
        if self._closing:
            return
        self._last_error = ""
        self.loading.emit(path)
        if self._coming is None:
            self._start_loading(path)
        else:  # a load cannot be broken off; what it brings is thrown away
            self._next_path = path
            self._coming.stop()

    def _start_loading(self, path: str) -> None:
        thread = EngineThread(path, self._load_engine, self)
        thread.loaded.connect(self._on_loaded)
        thread.failed.connect(self._on_failed)
        thread.finished.connect(self._on_thread_finished)
        self._coming = thread
        self._threads.append(thread)
        thread.start()

    @Slot(object)
    def _on_loaded(self, info: ModelInfo) -> None:
        thread = self._coming
        if thread is None or thread is not self.sender() or self._next_path is not None or self._closing:
            return  # it was told to stop; its end brings the next
        former, self._current, self._coming = self._current, thread, None
        if former is not None:
            former.stop()
        self.loaded.emit(info)
        self._show_stats()
        self._submit_waiting()

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        thread = self.sender()
        if not isinstance(thread, EngineThread):
            return
        if thread is self._current:  # the loop broke: its answers will not come
            self._current = None
            self._end_tickets_of(thread, text)
        elif thread is not self._coming or self._next_path is not None or self._closing:
            return
        else:
            self._coming = None
        self._last_error = text
        self.load_failed.emit(thread.path, text)
        if self._coming is None:
            self._submit_waiting()  # to the model that stays; where there is none, they are refused

    @Slot()
    def _on_thread_finished(self) -> None:
        thread = self.sender()
        if not isinstance(thread, EngineThread):
            return
        self._end_tickets_of(thread, "The model was closed before the answer was finished.")
        self._threads = [other for other in self._threads if other is not thread]
        thread.deleteLater()
        if thread is self._coming:
            self._coming = None
            path, self._next_path = self._next_path, None
            if path is not None and not self._closing:
                self._start_loading(path)

    # --- requests

    def submit(self, request: GenerateRequest) -> int:
        """Ask for an answer; the ticket names it in all signals. While a model loads, the request waits for it."""
        self._last_ticket += 1
        ticket = _Ticket(self._last_ticket, request)
        if self._closing:
            self._refused.emit(ticket.number, "llama-gui is closing.")
        elif self.state in ("empty", "failed"):
            self._refused.emit(ticket.number, self._no_model_text())
        else:
            self._tickets[ticket.number] = ticket
            self._waiting.append(ticket)
            if self.state == "ready":
                self._submit_waiting()
        return ticket.number

    def cancel(self, number: int) -> None:
        """Stop an answer. What was written of it comes back as its result; an ended ticket is left alone."""
        ticket = self._tickets.get(number)
        if ticket is None:
            return
        ticket.cancelled = True
        if ticket in self._waiting:
            self._waiting.remove(ticket)
            self._forget(ticket)
            self.withdrawn.emit(number)
        elif ticket.job is not None:  # else the lane sees the mark when it gets there
            ticket.job.cancel()

    def _no_model_text(self) -> str:
        return f"No model is open. {self._last_error}".strip()

    def _submit_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        thread = self._current
        for ticket in waiting:
            if thread is None or thread.engine is None:
                self._forget(ticket)
                self.submit_failed.emit(ticket.number, self._no_model_text())
                continue
            ticket.thread = thread
            self._lane.run(
                partial(self._submit_on_lane, thread.engine, ticket),
                partial(self._on_submitted, ticket),
                partial(self._on_submit_failed, ticket),
            )

    def _submit_on_lane(self, engine: EngineLike, ticket: _Ticket) -> bool:
        """Render, tokenize and hand over. False: it was cancelled before."""
        if ticket.cancelled:
            return False
        number, outbox = ticket.number, self._outbox

        def on_output(_job: object, output: TokenOutput) -> None:
            outbox.put(Drawn(number, output))

        def on_finish(_job: object, result: GenerateResult) -> None:
            outbox.put(Ended(number, result))

        ticket.job = engine.submit(ticket.request, on_output, on_finish)
        if ticket.cancelled:  # the mark was set between the look and the hand-over
            ticket.job.cancel()
        return True

    def _on_submitted(self, ticket: _Ticket, handed_over: bool) -> None:
        if ticket.number not in self._tickets:
            return  # its thread ended meanwhile
        if handed_over:
            self._announce(ticket)
        else:
            self._forget(ticket)
            self.withdrawn.emit(ticket.number)

    def _on_submit_failed(self, ticket: _Ticket, error: Exception) -> None:
        if ticket.number not in self._tickets:
            return
        self._forget(ticket)
        self.submit_failed.emit(ticket.number, error_text(error))

    def _announce(self, ticket: _Ticket) -> None:
        """Say once that the engine has it; always before its first output."""
        if ticket.announced:
            return
        ticket.announced = True
        self.submitted.emit(ticket.number)
        for timer in (self._progress_timer, self._stats_timer):
            if not timer.isActive():  # starting it anew would put off its next turn
                timer.start()

    def _forget(self, ticket: _Ticket) -> None:
        self._tickets.pop(ticket.number, None)

    def _end_tickets_of(self, thread: EngineThread, text: str) -> None:
        """End what a thread has left without an end, so that nobody waits for ever."""
        self._show_frame()
        for ticket in [ticket for ticket in self._tickets.values() if ticket.thread is thread]:
            if not ticket.announced:
                self._forget(ticket)
                self.submit_failed.emit(ticket.number, text)
                continue
            error = EngineClosedError(text)
            result = GenerateResult("", (), "error", Usage(), Timings(), seed=0, error=error)
            self._outbox.put(Ended(ticket.number, result))
        self._show_frame()

    # --- frames

    @Slot()
    def _on_wake(self) -> None:
        if not self._frame_timer.isActive():
            self._frame_timer.start()

    @Slot()
    def _on_progress_due(self) -> None:
        self._progress_due = True
        self._on_wake()

    @Slot()
    def _show_frame(self) -> None:
        drawn: dict[int, list[TokenOutput]] = {}
        finished: list[FinishedItem] = []
        for item in self._outbox.take():
            ticket = self._tickets.get(item.ticket)
            if ticket is None:
                continue
            self._announce(ticket)
            if isinstance(item, Drawn):
                drawn.setdefault(item.ticket, []).append(item.output)
            else:
                finished.append(FinishedItem(item.ticket, item.result))
        items = tuple(self._frame_item(number, outputs) for number, outputs in drawn.items())
        for item in finished:
            self._tickets.pop(item.ticket, None)
        progress = self._take_progress()
        if items or finished or progress:
            self.frame.emit(Frame(items, tuple(finished), progress))
        if finished:
            self._rest_when_idle()

    def _frame_item(self, number: int, outputs: list[TokenOutput]) -> FrameItem:
        job = self._tickets[number].job
        speed = job.progress.tokens_per_second if job else 0.0
        text = "".join(output.text for output in outputs)
        return FrameItem(number, text, tuple(output.token_id for output in outputs), speed)

    def _take_progress(self) -> tuple[ProgressItem, ...]:
        if not self._progress_due:
            return ()
        self._progress_due = False
        running = [(ticket.number, ticket.job) for ticket in self._tickets.values() if ticket.job]
        return tuple(ProgressItem(number, job.progress, job.state) for number, job in running)

    def _rest_when_idle(self) -> None:
        if any(ticket.announced for ticket in self._tickets.values()):
            return
        self._progress_timer.stop()
        self._stats_timer.stop()
        self._show_stats()

    @Slot()
    def _show_stats(self) -> None:
        engine = self._engine()
        if engine is not None:
            stats: EngineStats = engine.stats()
            self.stats_changed.emit(stats)

    # --- the end

    def shutdown(self, timeout_ms: int = 3000) -> bool:
        """Stop all answers, the engine and the threads, and show the last frame. Twice is as good as once.

        False: a thread is still busy, most likely loading; it must not be destroyed, so keep this object.
        """
        self._closing = True
        deadline = QDeadlineTimer(timeout_ms)
        for number in list(self._tickets):
            self.cancel(number)
        for thread in self._threads:
            thread.stop()
        ended = self._lane.close(deadline.remainingTime() / 1000)
        for thread in self._threads:
            ended = thread.wait(deadline) and ended
        self._show_frame()
        for timer in (self._frame_timer, self._progress_timer, self._stats_timer):
            timer.stop()
        return ended
