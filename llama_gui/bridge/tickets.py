"""Requests on their way, and the frames that are made of what comes back for them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from llama_gui.bridge.engine_thread import EngineLike, EngineThread, JobLike
from llama_gui.bridge.frames import FinishedItem, Frame, FrameItem, ProgressItem
from llama_gui.bridge.outbox import Drawn, Ended, Outbox
from llama_gui.bridge.sight import as_seen
from llama_gui.errors import EngineClosedError
from llama_gui.vocabulary import GenerateRequest, GenerateResult, Timings, TokenOutput, Usage

FRAME_MS = 16
PROGRESS_MS = 100


@dataclass(slots=True)
class Ticket:
    """A request on its way through the host, to the model of this key.

    `gives_way`: nobody waits for it, so it is stopped as soon as anything else is to be done.
    """

    number: int
    request: GenerateRequest
    key: str
    cancelled: bool = False
    announced: bool = False
    job: JobLike | None = None
    thread: EngineThread | None = None
    gives_way: bool = False


class Tickets(QObject):
    """The tickets that have not ended, by number. It lives in the GUI thread; `hand_over` is called in another."""

    announced = Signal(int)
    """The engine has it; always before its first output."""
    frame = Signal(object)
    ended = Signal(object)
    """list[Ticket]: they were finished in the frame before."""
    rested = Signal()
    """The last one has ended."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tickets: dict[int, Ticket] = {}
        self._outbox = Outbox(self)
        self._outbox.wake.connect(self._on_wake, Qt.ConnectionType.QueuedConnection)
        self._frame_timer = self._timer(FRAME_MS, self.show_frame, single_shot=True)
        self._progress_timer = self._timer(PROGRESS_MS, self._on_progress_due)
        self._progress_due = False
        self._is_closed = False

    def _timer(self, interval_ms: int, slot: Callable[[], None], *, single_shot: bool = False) -> QTimer:
        timer = QTimer(self, singleShot=single_shot, interval=interval_ms)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(slot)
        return timer

    # --- the list

    def __iter__(self) -> Iterator[Ticket]:
        return iter(list(self._tickets.values()))

    def __contains__(self, ticket: Ticket) -> bool:
        return ticket.number in self._tickets

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on its way."""
        return not self._tickets

    def get(self, number: int) -> Ticket | None:
        """The ticket of this number, if it has not ended."""
        return self._tickets.get(number)

    def has_any_of(self, thread: EngineThread) -> bool:
        """Whether a thread has, or gets, something to answer."""
        return any(ticket.thread is thread for ticket in self._tickets.values())

    def add(self, ticket: Ticket) -> None:
        """Begin to follow a ticket."""
        self._tickets[ticket.number] = ticket

    def forget(self, ticket: Ticket) -> None:
        """It has ended without a result."""
        if self._tickets.pop(ticket.number, None) is not None:
            self._tell_rest()

    def _tell_rest(self) -> None:
        if self.is_empty:
            self.rested.emit()

    # --- to the engine and back

    def hand_over(self, engine: EngineLike, ticket: Ticket) -> bool:
        """Render, tokenize and submit, which can take a while. False: it was cancelled before."""
        if ticket.cancelled:
            return False
        number, outbox = ticket.number, self._outbox

        def on_output(job: JobLike, output: TokenOutput) -> None:
            ticket.job = job  # `submit` may not have returned yet
            outbox.put(Drawn(number, output))

        def on_finish(job: JobLike, result: GenerateResult) -> None:
            ticket.job = job
            outbox.put(Ended(number, result))

        ticket.job = engine.submit(as_seen(ticket.request, engine.info), on_output, on_finish)
        if ticket.cancelled:  # the flag was set between the check and the submission
            ticket.job.cancel()
        return True

    def announce(self, ticket: Ticket) -> None:
        """Say once that the engine has it."""
        if ticket.announced:
            return
        ticket.announced = True
        self.announced.emit(ticket.number)
        if not self._progress_timer.isActive():  # restarting it would delay its next turn
            self._progress_timer.start()

    def end(self, ticket: Ticket, text: str) -> None:
        """Nothing more will come for a ticket that was announced."""
        error = EngineClosedError(text)
        self._outbox.put(Ended(ticket.number, GenerateResult("", (), "error", Usage(), Timings(), seed=0, error=error)))

    # --- frames

    @Slot()
    def _on_wake(self) -> None:
        if not self._frame_timer.isActive() and not self._is_closed:
            self._frame_timer.start()

    @Slot()
    def _on_progress_due(self) -> None:
        self._progress_due = True
        self._on_wake()

    @Slot()
    def show_frame(self) -> None:
        """Tell what has come since the last frame."""
        drawn: dict[int, list[TokenOutput]] = {}
        finished: list[FinishedItem] = []
        for item in self._outbox.take():
            ticket = self._tickets.get(item.ticket)
            if ticket is None:
                continue
            self.announce(ticket)
            if isinstance(item, Drawn):
                drawn.setdefault(item.ticket, []).append(item.output)
            else:
                finished.append(FinishedItem(item.ticket, item.result))
        items = tuple(_joined(number, outputs) for number, outputs in drawn.items())
        ended = [ticket for item in finished if (ticket := self._tickets.pop(item.ticket, None)) is not None]
        progress = self._take_progress()
        if items or finished or progress:
            self.frame.emit(Frame(items, tuple(finished), progress))
        if not any(ticket.announced for ticket in self._tickets.values()):
            self._progress_timer.stop()
        if ended:
            self.ended.emit(ended)
            self._tell_rest()

    def _take_progress(self) -> tuple[ProgressItem, ...]:
        if not self._progress_due:
            return ()
        self._progress_due = False
        running = [(ticket.number, ticket.job) for ticket in self._tickets.values() if ticket.job]
        return tuple(ProgressItem(number, job.progress, job.state) for number, job in running)

    def stop(self) -> None:
        """Show the last frame."""
        self.show_frame()
        self._is_closed = True
        self._frame_timer.stop()
        self._progress_timer.stop()


def _joined(number: int, outputs: list[TokenOutput]) -> FrameItem:
    return FrameItem(number, "".join(output.text for output in outputs), tuple(output.token_id for output in outputs))
