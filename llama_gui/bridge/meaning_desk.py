"""Passages of folders found by their meaning: a model for embeddings reads them while nobody asks for anything.

It is slow work, some passages a second on a processor, and nobody waits for it: it gives way to all else.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from llama_gui.bridge.embedding import Embedder, Embedding, embedder_of
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import error_text
from llama_gui.bridge.folder_desk import FindNear, FolderDesk, MeaningState
from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.folder_vectors import DIMENSIONS, FolderVectors
from llama_gui.chats.fusion import MOST, near_enough
from llama_gui.chats.passages import Found
from llama_gui.errors import EngineClosedError, LlamaGuiError
from llama_gui.library.embed_prompts import embed_prompts
from llama_gui.vocabulary import ModelEntry, ModelInfo

BATCH = 16
"""Passages that are read together, and then saved."""
PAUSE_MS = 1000
"""After it gave way, until it looks whether nobody asks for anything."""
WRITING_MS = 5000
"""After a key; a step of the engine with passages would hold up the question that is being written."""
LOAD_AGAIN_S = 60.0
"""So long after somebody's writing had the model loaded it may do so again: room does not come sooner."""
WATCH_MS = 500
"""So often it looks whether other programs ask something of a model."""
LIMIT_S = 1.0
"""A question is not held up for longer; it then gets what its words find."""
_MOST_QUESTION = 2000
"""Characters of a question; behind them comes what was pasted into it."""


@dataclass(frozen=True, slots=True)
class _Read:
    """`is_done`: there was nothing left to be read."""

    folder: str
    stamp: str
    done: int
    total: int
    is_done: bool


class MeaningDesk(QObject):
    """Reads the folders that chats use with one model. All methods are called on the GUI thread.

    The model is loaded for it when a folder was read, if no other has to make room.
    """

    def __init__(self, host: EngineHost, folders: FolderDesk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._folders = folders
        self._model: ModelEntry | None = None
        self._known: set[str] = set()  # folders that were read since the start
        self._due: dict[str, object] = {}  # folders that may have passages without a vector, in order, with a ticket
        self._may_load = False  # once for each reading of a folder: where there is no room, that does not change soon
        self._running: Embedding | None = None
        self._prepared_at = -LOAD_AGAIN_S
        self._lane: TaskLane | None = None
        self._closed = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._begin)
        self._watch = QTimer(self, interval=WATCH_MS)
        self._watch.timeout.connect(self._look_at_others)
        folders.finder = self.finder
        folders.was_read.connect(self._on_folder)
        folders.question_expected.connect(self._on_expected)
        host.making_way.connect(self._give_way)
        host.rested.connect(self._wake)
        host.loaded.connect(self._on_loaded)
        host.load_failed.connect(self._on_load_failed)

    # --- what the window reads and says

    @property
    def model(self) -> ModelEntry | None:
        """What reads; None: passages are found by words only."""
        return self._model

    def set_model(self, model: ModelEntry | None) -> None:
        """Let a model for embeddings read from now on; None: none. Vectors of another are made anew, in time."""
        if (self._model and _stamp(self._model)) == (model and _stamp(model)):
            return
        self._cancel()
        self._model, self._may_load = model, True
        for folder in self._known:
            self._due[folder] = object()
            self._folders.set_meaning(folder, MeaningState())
        self._wake()

    def finder(self, folder: str) -> FindNear | None:
        """Finds passages of a folder for one question, in another thread; None: the model is not in memory.

        What is being read gives way to that question.
        """
        engine = self._engine()
        if self._model is None or engine is None:
            return None
        self._give_way()
        self._host.models.touch(self._model.key)
        return partial(_find, engine, self._vectors(folder, self._model), self._model)

    # --- when

    @Slot(str)
    def _on_folder(self, folder: str) -> None:
        state = self._folders.state(folder)
        if state.files:
            self._known.add(folder)
            self._due[folder] = object()
            self._may_load = True
            self._wake()

    @Slot(str)
    def _on_expected(self, folder: str) -> None:
        """Somebody writes: the next question is to find the model in memory, and idle."""
        self._pause(WRITING_MS)
        is_due = time.monotonic() - self._prepared_at >= LOAD_AGAIN_S
        if folder and is_due and self._model is not None and not (self._host.is_asked or self._host.models.is_loading):
            self._prepared_at = time.monotonic()
            self._host.models.prepare(self._model.key)

    @Slot(str, object)
    def _on_loaded(self, _key: str, _info: ModelInfo) -> None:
        self._wake()

    @Slot(str, str)
    def _on_load_failed(self, key: str, text: str) -> None:
        if self._model is not None and key == self._model.key:
            for folder in self._due:
                self._tell_error(folder, text)

    @Slot()
    def _wake(self) -> None:
        """Begin once the event loop turns, so that what has just ended may be followed by what it was for."""
        if not self._closed and not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _give_way(self) -> None:
        self._pause(PAUSE_MS)

    def _pause(self, duration_ms: int) -> None:
        """Begin again after so long, if there is anything to be done."""
        if self._running is not None or self._timer.isActive():
            self._cancel()
            self._timer.start(max(duration_ms, self._timer.remainingTime()))

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()

    @Slot()
    def _look_at_others(self) -> None:
        """Clients of our server ask the engines themselves."""
        if self._is_used(but_for_us=True):
            self._give_way()

    def _is_used(self, *, but_for_us: bool = False) -> bool:
        ours = self._model.key if but_for_us and self._model else ""
        engines = ((key, self._host.models.engine_of(key)) for key in self._host.models.loaded_keys())
        all_stats = [(key, engine.stats()) for key, engine in engines if engine is not None]
        return any(stats.running + stats.waiting > (BATCH if key == ours else 0) for key, stats in all_stats)

    @Slot()
    def _begin(self) -> None:
        folder = next((folder for folder in self._due if self._folders.is_held(folder)), "")
        if self._closed or self._running is not None or self._model is None or not folder:
            return
        models, key = self._host.models, self._model.key
        if self._host.is_asked or models.is_loading or self._is_used():
            self._timer.start(PAUSE_MS)
        elif engine := self._engine():
            self._read(folder, engine, self._model)
        elif self._may_load:
            self._may_load = False
            models.prepare(key)

    def _engine(self) -> Embedder | None:
        return embedder_of(self._host.models.engine_of(self._model.key)) if self._model is not None else None

    # --- what

    def _vectors(self, folder: str, model: ModelEntry) -> FolderVectors:
        return FolderVectors(self._folders.index(folder), _stamp(model))

    def _read(self, folder: str, engine: Embedder, model: ModelEntry) -> None:
        self._lane = self._lane or TaskLane("meaning", self)
        self._running = embedding = Embedding(engine, DIMENSIONS)
        self._watch.start()
        self._lane.run(
            partial(_read, folder, self._vectors(folder, model), embedding, model),
            partial(self._on_read, self._due[folder]),
            partial(self._on_failed, folder, _stamp(model), self._due[folder]),
        )

    def _on_read(self, ticket: object, read: _Read) -> None:
        self._end()
        if self._model is None or _stamp(self._model) != read.stamp:  # another was chosen meanwhile
            self._wake()
            return
        if read.is_done:
            self._put_off(read.folder, ticket)
        self._folders.set_meaning(read.folder, MeaningState(read.done, read.total))
        self._wake()

    def _put_off(self, folder: str, ticket: object) -> None:
        """Until the folder is read again; not if that happened while passages of it were looked for."""
        if self._due.get(folder) is ticket:
            del self._due[folder]

    def _on_failed(self, folder: str, stamp: str, ticket: object, error: Exception) -> None:
        """The folder waits until it is read again, or the model that was unloaded is there again."""
        self._end()
        is_ours = self._model is not None and _stamp(self._model) == stamp
        if is_ours and not isinstance(error, EngineClosedError):
            self._put_off(folder, ticket)
            self._tell_error(folder, error_text(error))
        self._wake()

    def _tell_error(self, folder: str, text: str) -> None:
        self._folders.set_meaning(folder, replace(self._folders.state(folder).meaning, error=text))

    def _end(self) -> None:
        self._running = None
        self._watch.stop()
        if self._model is not None and not self._closed:
            self._host.models.touch(self._model.key)
            self._host.models.settle()  # another model may wait for its memory

    # --- the end

    def stop(self) -> None:
        """Read no more; before the engines are stopped."""
        self._closed = True
        self._timer.stop()
        self._watch.stop()
        self._cancel()

    def close(self, timeout_s: float = 1.0) -> bool:
        """End the thread; False: the disk or the engine hangs."""
        self.stop()
        return self._lane is None or self._lane.close(timeout_s)


def _stamp(model: ModelEntry) -> str:
    return f"{model.key} · {model.size}"


def _read(folder: str, vectors: FolderVectors, embedding: Embedding, model: ModelEntry) -> _Read:
    """In the lane's thread: some passages that have no vector."""
    unread = vectors.missing(BATCH)
    if unread:
        document = embed_prompts(Path(model.path)).document
        made = embedding.run([document + passage.said for passage in unread])
        vectors.put([(passage, vector) for passage, vector in zip(unread, made, strict=True) if vector is not None])
    return _Read(folder, _stamp(model), *vectors.progress(), is_done=not unread)


def _find(engine: Embedder, vectors: FolderVectors, model: ModelEntry, question: str) -> Sequence[Found]:
    """In the thread of who asks. Whatever goes wrong, words still find what they find."""
    try:
        asked = embed_prompts(Path(model.path)).query + question[:_MOST_QUESTION]
        (vector,) = Embedding(engine, DIMENSIONS).run([asked], LIMIT_S)
        return near_enough(vectors.nearest(vector, MOST)) if vector is not None else ()
    except LlamaGuiError:
        return ()
