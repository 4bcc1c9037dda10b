"""Has the model loaded, and read what a message will stand behind, while the message is still being written.

On a processor a long conversation that is not in the cache, or a long file, takes longer to read than a question to
write. The engine keeps what it has read, and the request that follows begins alike.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Slot

from llama_gui.bridge.asking import AskedChat
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.frames import Frame
from llama_gui.bridge.sight import as_seen
from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.shown_path import ShownPath
from llama_gui.vocabulary import ChatSettings, EngineStats, GenerateRequest, ModelInfo, ToolInfo, is_remote

PAUSE_MS = 150
"""From the first key of a message on; a key or a paste that is taken back at once costs nothing."""
LEAST_LETTERS = 600
"""A shorter prompt is read in a moment anyway, unless it has images."""


class ReadAhead(QObject):
    """For one chat. It begins only while no answer is written, and gives way to the next request of anybody."""

    def __init__(
        self,
        path: ShownPath,
        settings: Callable[[], ChatSettings],
        model: Callable[[], str],
        chat_id: str,
        host: EngineHost,
        parent: QObject | None = None,
        offered: Callable[[], Sequence[ToolInfo]] = tuple,
        is_watched: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_watched`: whether the chat is in front. For the others see `AskedChat`."""
        super().__init__(parent)
        self._is_watched = is_watched
        self._is_wanted = False  # a message is being written
        self._path = path
        self._settings = settings
        self._model = model
        self._chat_id = chat_id
        self._host = host
        self._offered = offered
        self._files: tuple[Attachment, ...] = ()
        self._ticket: int | None = None
        self._key = ""  # of the model that reads, or has read
        self._is_read = False  # what the ticket is for
        self._is_stale = True
        self._prepared = ""  # the model that was to be loaded for this message
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._begin)
        host.frame.connect(self._on_frame)
        host.submit_failed.connect(self._on_refused)
        host.withdrawn.connect(self._on_withdrawn)
        host.loaded.connect(self._on_loaded)
        host.stats_changed.connect(self._on_stats)
        host.rested.connect(self._wait)

    def note_draft(self, draft: Draft, replaces: str | None) -> None:
        """The user is writing this. In the place of an earlier message nothing is read: the cache holds what is before.

        Files that will be cut down to the context have to be left out of `draft`.
        """
        if draft.files != self._files:
            self._files = draft.files
            self.note_change()
        self._is_wanted = not draft.is_empty and replaces is None
        if not self._is_wanted:
            self._timer.stop()
            self._prepared = ""
        self._wait()

    @Slot()
    def _wait(self) -> None:
        key = self._model()
        is_absent = self._host.models.engine_of(key) is None and key != self._prepared
        is_due = self._is_wanted and (self._is_stale or self._key != key or is_absent)
        if is_due and not self._timer.isActive():
            self._timer.start()

    @Slot()
    def note_change(self) -> None:
        """What will be asked has changed, or the model's cache is another."""
        self._stop()
        self._is_stale = True

    def close(self) -> None:
        """Read no more."""
        self._is_wanted = False
        self._stop()

    def _stop(self) -> None:
        self._timer.stop()
        if self._ticket is not None:
            self._host.cancel(self._ticket)

    @Slot()
    def _begin(self) -> None:
        key = self._model()
        if not key or is_remote(key) or not (self._is_wanted and self._is_watched()):
            return
        engine = self._host.models.engine_of(key)
        if self._host.is_asked or (engine is not None and engine.stats().running):
            return  # until it rests
        if engine is None:
            self._prepare(key)
            return
        chat = AskedChat(self._path, self._settings(), self._chat_id, self._offered())
        request = chat.read_ahead(self._files)
        self._key, self._is_stale = key, False
        if _is_worth_it(as_seen(request, engine.info), engine.info):
            self._is_read = False
            self._ticket = self._host.submit(request, key, gives_way=True)

    def _prepare(self, key: str) -> None:
        """Once for a message: where there is no room beside other models, that does not change with each key."""
        if self._prepared != key:
            self._prepared = key
            self._host.models.prepare(key)

    @Slot(str, object)
    def _on_loaded(self, key: str, _info: ModelInfo) -> None:
        self.note_change()
        if key == self._model():
            self._prepared = ""
            self._wait()

    @Slot(object)
    def _on_frame(self, frame: Frame) -> None:
        if self._ticket is None:
            return
        if any(item.ticket == self._ticket for item in frame.items):  # a token was drawn: the prompt is read
            self._is_read = True
            self._host.cancel(self._ticket)
        finished = next((item for item in frame.finished if item.ticket == self._ticket), None)
        if finished is not None:
            self._ticket = None
            self._is_stale |= finished.result.finish_reason == "cancelled" and not self._is_read

    @Slot(int)
    def _on_refused(self, number: int) -> None:
        """It cannot be read; the user is told when the message is sent."""
        if number == self._ticket:
            self._ticket = None

    @Slot(int)
    def _on_withdrawn(self, number: int) -> None:
        if number == self._ticket:
            self._ticket, self._is_stale = None, True
            self._wait()

    @Slot(str, object)
    def _on_stats(self, key: str, stats: EngineStats) -> None:
        """Clients of our server ask the engine itself."""
        if self._ticket is not None and key == self._key and stats.running + stats.waiting > 1:
            self._host.cancel(self._ticket)


def _is_worth_it(request: GenerateRequest, info: ModelInfo) -> bool:
    said = request.messages or ()
    if any(message.images for message in said):
        return info.reads_images
    return sum(len(message.content) for message in said) >= LEAST_LETTERS
