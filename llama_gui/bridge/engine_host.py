"""Passes requests to the models that answer them: plain calls in, one signal per frame out."""

import os
from functools import partial
from typing import Literal

from PySide6.QtCore import QDeadlineTimer, QObject, Qt, QTimer, Signal, Slot

from llama_gui.bridge.engine_thread import EngineThread, GoesOn, LoadEngine
from llama_gui.bridge.loaded_models import LoadedModels
from llama_gui.bridge.tasks import TaskLane
from llama_gui.bridge.tickets import Ticket, Tickets
from llama_gui.bridge.token_counter import TokenCounter
from llama_gui.errors import UserError
from llama_gui.vocabulary import GenerateRequest, LoadOptions, ModelInfo

HostState = Literal["empty", "loading", "ready", "failed"]

STATS_MS = 500


class EngineHost(QObject):
    """Answers requests with the models that they name. Every method is called on the GUI thread and returns at once.

    A model that a request names is loaded for it. One model is current: it answers requests that name none.
    """

    loaded = Signal(str, object)
    """Key and `ModelInfo`."""
    load_failed = Signal(str, str)
    """Key, and why. Models that were open before stay open."""
    load_cancelled = Signal(str)
    current_changed = Signal(str)
    """Key of the model that from now on answers requests that name none."""
    submitted = Signal(int)
    submit_failed = Signal(int, object)
    """A ticket, and the error: `engine_thread.error_text` says it."""
    withdrawn = Signal(int)
    """The ticket was cancelled before the engine had seen it."""
    frame = Signal(object)
    rested = Signal()
    """Nothing is on its way any more."""
    making_way = Signal()
    """Something is asked for, or a model is loaded: what nobody waits for should end."""
    stats_changed = Signal(str, object)
    """Key of a loaded model, and its `EngineStats`."""
    _refused = Signal(int, object)

    def __init__(self, load_engine: LoadEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current = ""
        self._next = ""  # becomes current when it is loaded
        self._former = ""  # becomes current again if its successor cannot be loaded
        self._closing = False
        self._last_ticket = 0
        self._tickets = Tickets(self)
        self._tickets.announced.connect(self._on_announced)
        self._tickets.frame.connect(self.frame)
        self._tickets.ended.connect(self._on_tickets_ended)
        self._tickets.rested.connect(self.rested)
        self._waiting: list[Ticket] = []  # until their models are there
        self._lane = TaskLane("engine-submit", self)
        self.counter = TokenCounter(self)
        self.models = LoadedModels(load_engine, self._tickets, self)
        self.models.loaded.connect(self._on_loaded)
        self.models.failed.connect(self._on_failed)
        self.models.cancelled.connect(self._on_cancelled)
        self.models.ended.connect(self._end_tickets_of)
        self.models.loading.connect(self._make_way)
        # A request that cannot be accepted is refused after `submit` has returned its ticket, never before.
        self._refused.connect(self.submit_failed, Qt.ConnectionType.QueuedConnection)
        self._stats_timer = QTimer(self, interval=STATS_MS)
        self._stats_timer.timeout.connect(self._show_stats)
        self._has_guests = False  # the engines have other users than the tabs: the server's clients

    # --- what the window reads

    @property
    def current(self) -> str:
        """The key of the model that answers requests that name none; "": there is none yet."""
        return self._current

    @property
    def info(self) -> ModelInfo | None:
        """The current model, when it is there."""
        return self.info_of("")

    def info_of(self, key: str) -> ModelInfo | None:
        """A loaded model; "": the current one."""
        engine = self.models.engine_of(key or self._current)
        return engine.info if engine else None

    def info_for(self, number: int) -> ModelInfo | None:
        """The model that has accepted a ticket."""
        ticket = self._tickets.get(number)
        thread = ticket.thread if ticket else None
        return thread.engine.info if thread and thread.engine else None

    def former_text(self, number: int) -> str:
        """The text of the answer that a ticket which was taken goes on with."""
        ticket = self._tickets.get(number)
        job = ticket.job if ticket is not None else None
        return job.former_text if isinstance(job, GoesOn) else ""

    def awaited(self, number: int) -> str:
        """The key of the model whose loading a ticket waits for; "": it does not."""
        ticket = self._tickets.get(number)
        return ticket.key if ticket is not None and ticket in self._waiting else ""

    def key_of(self, path: str) -> str:
        """The key of the model in an answer's recipe; "": it is neither loaded nor on this machine."""
        infos = ((key, self.info_of(key)) for key in self.models.loaded_keys())
        loaded = next((key for key, info in infos if info is not None and info.path == path), "")
        return loaded or (path if path and os.path.exists(path) else "")

    def answers_of(self, key: str) -> int:
        """How many answers a model writes, or will."""
        return sum(ticket.key == key and not ticket.gives_way for ticket in self._tickets)

    def is_reading_ahead(self, key: str) -> bool:
        """Whether a model reads what nobody has asked yet."""
        return any(ticket.key == key and ticket.gives_way and not ticket.cancelled for ticket in self._tickets)

    @property
    def is_asked(self) -> bool:
        """Whether anything is on its way, to any model."""
        return not self._tickets.is_empty

    @property
    def state(self) -> HostState:
        """Whether a model is on its way; else how it stands with the current one."""
        if self.models.is_loading:
            return "loading"
        state = self.models.state_of(self._current)
        return state if state in ("ready", "failed") else "empty"

    # --- loading

    def load(self, key: str, options: LoadOptions | None = None) -> None:
        """Load a model and make it the current one. Until it is loaded the present one goes on answering."""
        if self._closing:
            return
        if options is not None:
            self.models.set_options(key, options)
        if self.models.state_of(self._current) != "ready" or self.models.thread_of(key) is not None:
            self._former = self._current if self._current != key else self._former
            self.set_current(key)
        else:
            self._next = key
        self.models.load(key)

    def reload(self, key: str, options: LoadOptions) -> None:
        """Reload a model with other options, once its running answers are finished. One that is not loaded stays so."""
        self.models.set_options(key, options)
        if not self._closing and self.models.state_of(key) in ("ready", "loading", "short"):
            self.models.load(key)

    def set_current(self, key: str) -> None:
        """Let a model answer requests that name none; it is loaded when it is first asked."""
        self._next = ""
        if key != self._current:
            self._current = key
            self.current_changed.emit(key)

    @Slot(str, object)
    def _on_loaded(self, key: str, info: ModelInfo) -> None:
        if key == self._next:
            self.set_current(key)
        if key == self._current:
            self._former = ""
        self.loaded.emit(key, info)
        self._show_stats()
        self._submit_waiting(key)

    @Slot(str, str)
    def _on_failed(self, key: str, text: str) -> None:
        self._give_up(key, text)
        self.load_failed.emit(key, text)

    @Slot(str)
    def _on_cancelled(self, key: str) -> None:
        self._give_up(key, self.tr("The loading of its model was cancelled."))
        self.load_cancelled.emit(key)

    def _give_up(self, key: str, text: str) -> None:
        """A model cannot be loaded: its requests go to the one that stays loaded with other options, or are refused."""
        if self._next == key:
            self._next = ""
        if self.models.thread_of(key) is not None:
            self._submit_waiting(key)
        elif key == self._current and self._former:
            self.set_current(self._former)
        for ticket in [ticket for ticket in self._waiting if ticket.key == key]:
            self._waiting.remove(ticket)
            self._tickets.forget(ticket)
            self.submit_failed.emit(ticket.number, UserError(text))

    # --- requests

    def submit(self, request: GenerateRequest, key: str = "", *, gives_way: bool = False) -> int:
        """Ask a model for an answer ("": the current one); the ticket names it in all signals.

        A model that is not loaded is loaded first; one that is being reloaded with other options is waited for.
        `gives_way`: nobody waits for this answer. It is stopped when another is asked for, or any model is loaded.
        """
        self._make_way()
        self._last_ticket += 1
        ticket = Ticket(self._last_ticket, request, key or self._current, gives_way=gives_way)
        if self._closing:
            self._refused.emit(ticket.number, UserError(self.tr("llama-gui is closing.")))
        elif not ticket.key:
            self._refused.emit(ticket.number, UserError(self.tr("No model is open.")))
        else:
            self._tickets.add(ticket)
            self._waiting.append(ticket)
            if self.models.state_of(ticket.key) == "ready":
                self._submit_waiting(ticket.key)
            else:
                self.models.load(ticket.key)
        return ticket.number

    def cancel(self, number: int) -> None:
        """Stop an answer. What was written of it is its result; a ticket that has ended is ignored."""
        ticket = self._tickets.get(number)
        if ticket is None:
            return
        ticket.cancelled = True
        if ticket in self._waiting:
            self._waiting.remove(ticket)
            self._tickets.forget(ticket)
            self.withdrawn.emit(number)
        elif ticket.job is not None:  # else the lane sees the flag when its turn comes
            ticket.job.cancel()

    @Slot()
    def _make_way(self) -> None:
        self.making_way.emit()
        for ticket in self._tickets:
            if ticket.gives_way:
                self.cancel(ticket.number)

    def _submit_waiting(self, key: str) -> None:
        thread = self.models.thread_of(key)
        if thread is None or thread.engine is None:
            return
        self.models.touch(key)
        for ticket in [ticket for ticket in self._waiting if ticket.key == key]:
            self._waiting.remove(ticket)
            ticket.thread = thread
            self._lane.run(
                partial(self._tickets.hand_over, thread.engine, ticket),
                partial(self._on_submitted, ticket),
                partial(self._on_submit_failed, ticket),
            )

    def _on_submitted(self, ticket: Ticket, handed_over: bool) -> None:
        if ticket not in self._tickets:
            return  # its thread ended meanwhile
        if handed_over:
            self._tickets.announce(ticket)
        else:
            self._tickets.forget(ticket)
            self.withdrawn.emit(ticket.number)
            self.models.settle()

    def _on_submit_failed(self, ticket: Ticket, error: Exception) -> None:
        if ticket in self._tickets:
            self._tickets.forget(ticket)
            self.submit_failed.emit(ticket.number, error)
            self.models.settle()

    @Slot(int)
    def _on_announced(self, number: int) -> None:
        self.submitted.emit(number)
        self._follow_stats()

    @Slot(object, str)
    def _end_tickets_of(self, thread: EngineThread, text: str) -> None:
        """End the tickets that a thread has left open, so that nobody waits for ever."""
        self._tickets.show_frame()
        for ticket in [ticket for ticket in self._tickets if ticket.thread is thread]:
            if ticket.announced:
                self._tickets.end(ticket, text)
            else:
                self._tickets.forget(ticket)
                self.submit_failed.emit(ticket.number, UserError(text))
        self._tickets.show_frame()

    @Slot(object)
    def _on_tickets_ended(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            self.models.touch(ticket.key)
        self.models.settle()
        self._follow_stats()
        self._show_stats()

    def expect_guests(self, expects: bool) -> None:
        """Tell what the engines do also while no tab is answered: others may be asking them, or no longer."""
        self._has_guests = expects
        self._follow_stats()

    def _follow_stats(self) -> None:
        if not self._has_guests and not any(ticket.announced for ticket in self._tickets):
            self._stats_timer.stop()
        elif not self._stats_timer.isActive():  # restarting it would delay its next turn
            self._stats_timer.start()

    @Slot()
    def _show_stats(self) -> None:
        for key in self.models.loaded_keys():
            engine = self.models.engine_of(key)
            if engine is not None:
                self.stats_changed.emit(key, engine.stats())

    # --- the end

    def shutdown(self, timeout_ms: int = 3000) -> bool:
        """Stop all answers, the engine and the threads, and show the last frame. May be called twice.

        False: a thread is still busy, most likely loading; it must not be destroyed, so keep this object.
        """
        self._closing = True
        deadline = QDeadlineTimer(timeout_ms)
        for ticket in self._tickets:
            self.cancel(ticket.number)
        self.models.stop()
        ended = self._lane.close(deadline.remainingTime() / 1000)
        ended = self.counter.close(deadline.remainingTime() / 1000) and ended
        ended = self.models.wait(deadline) and ended
        self._tickets.stop()
        self._stats_timer.stop()
        return ended
