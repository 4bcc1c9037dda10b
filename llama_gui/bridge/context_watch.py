"""How much of the model's context a chat and its draft would use; asked a moment after something has changed."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge import asking
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.sight import as_seen
from llama_gui.bridge.token_counter import Counts
from llama_gui.chats.attachments import Attachment, Draft, fitted
from llama_gui.chats.shown_path import ShownPath
from llama_gui.vocabulary import ChatSettings, ContextUse, ToolInfo

SHARE = 0.5
"""The share of the context that a message with excerpts may take; the rest is for the answer and earlier messages."""
QUIET_MS = 300
"""How long no key may be pressed before anything is counted."""
GROWING_MS = 250
"""How often it is told that an answer grows: whoever shows it need not do so with each token."""


class ContextWatch(QObject):
    """Measures while it is watched, one measurement at a time; what changes meanwhile is measured next."""

    measured = Signal(object)
    """`ContextUse`, or None where nothing is known."""
    counted = Signal(object, int)
    """`Attachment`, and how many tokens its text has."""

    def __init__(
        self,
        path: ShownPath,
        settings: Callable[[], ChatSettings],
        model: Callable[[], str],
        host: EngineHost,
        parent: QObject | None = None,
        offered: Callable[[], Sequence[ToolInfo]] = tuple,
    ) -> None:
        super().__init__(parent)
        self._offered = offered
        self._path = path
        self._settings = settings
        self._model = model
        self._host = host
        self._draft = Draft()
        self._replaces: str | None = None
        self._is_watched = False
        self._is_busy = False
        self._is_stale = True
        self._use: ContextUse | None = None
        self._written = 0  # tokens of the answer that have come since it was measured
        self._counts: dict[tuple[str, Attachment], int | None] = {}
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._measure)
        self._growing_timer = QTimer(self, singleShot=True, interval=GROWING_MS)
        self._growing_timer.timeout.connect(self._tell)
        for signal in (host.loaded, host.current_changed, host.load_failed):
            signal.connect(self._on_model)

    def known(self) -> ContextUse | None:
        """What sending the draft now would come to; None where that is not known, or not yet."""
        return None if self._is_stale or self._is_busy else self._use

    def needs_fitting(self, draft: Draft) -> bool:
        """Whether this may be more than the model reads, so that cutting its files down is worth trying."""
        if not draft.files or self._settings().overflow == "error":
            return False
        if (use := self.known()) is not None:
            return use.has_long_files
        info = self._host.info_of(self._model())
        return info is not None and sum(len(file.text) for file in draft.files) > info.max_context > 0

    def fit(self, draft: Draft, done: Callable[[Draft | None], None]) -> None:
        """Give `done` the draft with excerpts of its files, so that it takes half of the context at most.

        As it is where the model can read all of it; None where it cannot be cut, or where nothing can be counted.
        """
        info = self._host.info_of(self._model())
        engine = self._host.models.engine_of(self._model())
        if info is None or engine is None or not info.max_context:
            done(None)
            return
        settings = self._settings()

        def fit(engine: Counts) -> Draft | None:
            def tokens_of(tried: Draft) -> int:
                make = asking.would_send(ShownPath(), tried, None, settings)
                if make is None:
                    return 0
                return engine.measure(as_seen(make(), engine.info, spares_last=False)).tokens

            if tokens_of(draft) < info.max_context:
                return draft
            return fitted(draft, tokens_of, int(SHARE * info.max_context))

        self._host.counter.ask(engine, fit, done)

    @property
    def is_watched(self) -> bool:
        """Whether anybody looks."""
        return self._is_watched

    def set_watched(self, watched: bool) -> None:
        """Whether anybody looks; nothing is counted for a tab in the background."""
        self._is_watched = watched
        if watched and self._is_stale:
            self._timer.start(0)
        elif not watched:
            self._timer.stop()
            self._growing_timer.stop()

    def set_draft(self, draft: Draft, replaces: str | None = None) -> None:
        """What is being written, in the place of a message or behind the last one."""
        if (draft, replaces) != (self._draft, self._replaces):
            has_new_files = draft.files != self._draft.files
            self._draft, self._replaces = draft, replaces
            self.note_change()
            if has_new_files:
                self._counts = {key: known for key, known in self._counts.items() if key[1] in draft.files}
                self._count_files()

    @Slot()
    def note_change(self) -> None:
        """The conversation or its settings have changed."""
        self._is_stale = True
        if self._is_watched:
            self._timer.start()

    @Slot(int)
    def note_written(self, tokens: int) -> None:
        """The answer has grown: its tokens are added for now, and measured when it has ended."""
        self._written += tokens
        if self._is_watched and self._use is not None and not self._growing_timer.isActive():
            self._growing_timer.start()

    @Slot()
    def _on_model(self) -> None:
        self.note_change()
        self._count_files()

    @Slot()
    def _measure(self) -> None:
        if self._is_busy or not self._is_watched:
            return
        self._is_stale = False
        self._written = 0
        engine = self._host.models.engine_of(self._model())
        info = self._host.info_of(self._model())
        if engine is None or info is None or not info.max_context:  # 0: the server does not say
            self._use = None
            self._tell()
            return
        make = asking.would_send(self._path, self._draft, self._replaces, self._settings(), self._offered())
        if make is None:
            self._use = ContextUse(0, info.max_context)
            self._tell()
            return
        self._is_busy = True
        self._host.counter.measure(engine, make, self._on_measured)

    @Slot(object)
    def _on_measured(self, use: ContextUse | None) -> None:
        self._is_busy = False
        if self._is_stale and self._is_watched:
            self._timer.start()
        self._use = use if use is None else replace(use, has_long_files=self._has_long_files(use))
        self._tell()

    def _has_long_files(self, use: ContextUse) -> bool:
        drops = self._settings().overflow != "error"
        texts = any(file.text for file in self._draft.files)  # of images there are no passages
        return use.is_too_long and drops and texts and len(self._draft.text) < use.max_context

    @Slot()
    def _tell(self) -> None:
        use = self._use
        if use is not None and self._written:
            # An answer stops where the context ends, so it never makes the message too long.
            use = replace(use, tokens=max(use.tokens, min(use.tokens + self._written, use.max_context - 1)))
        self.measured.emit(use)

    def _count_files(self) -> None:
        for file in self._draft.files:
            self._count(file)

    def _count(self, file: Attachment) -> None:
        if file.image:  # how many tokens one takes, the meter says with the rest
            return
        key = (self._model(), file)
        engine = self._host.models.engine_of(self._model())
        if engine is None:
            return
        if key not in self._counts:
            self._counts[key] = None
            self._host.counter.count(engine, key, file.text, self._on_counted)
        elif (known := self._counts[key]) is not None:
            self.counted.emit(file, known)

    @Slot(object)
    def _on_counted(self, answer: tuple[tuple[str, Attachment], int | None]) -> None:
        key, tokens = answer
        if tokens is not None and key in self._counts:
            self._counts[key] = tokens
            self.counted.emit(key[1], tokens)
