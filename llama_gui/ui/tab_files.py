"""The files of one tab: chosen, dropped or pasted, read beside the window, and kept with the draft."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from llama_gui.bridge.attachments import AttachmentReader
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment
from llama_gui.ui.attachment_bar import MOST_FILES
from llama_gui.ui.composer import Composer, model_among
from llama_gui.ui.tab_drafts import TabDrafts
from llama_gui.ui.widgets import Notice


class TabFiles(QObject):
    """Brings files to the composer, and says which cannot go along."""

    model_dropped = Signal(str)
    """A file or folder that could be a model."""

    def __init__(
        self,
        session: ChatSession,
        reader: AttachmentReader,
        composer: Composer,
        drafts: TabDrafts,
        notice: Notice,
        tab: QWidget,
    ) -> None:
        super().__init__(tab)
        self._session = session
        self._reader = reader
        self._composer = composer
        self._drafts = drafts
        self._notice = notice
        self._tab = tab
        drafts.changed.connect(self._keep)
        session.draft_files.brought.connect(self._bring)
        session.context.counted.connect(composer.files.set_tokens)
        composer.files_wanted.connect(self.ask)
        composer.edit.files_dropped.connect(self.attach)

    @Slot()
    def ask(self) -> None:
        """Let the user choose text files to send along."""
        dialog = QFileDialog(self._tab, self.tr("Attach text files"), self._reader.folder or documents_folder())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self._choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(list)
    def _choose(self, paths: Sequence[str]) -> None:
        self._reader.folder = str(Path(paths[0]).parent)
        self.attach(paths)

    @Slot(object)
    def attach(self, paths: Sequence[str]) -> None:
        """Read files and put them beside the message; a sentence says which cannot go along, and why."""
        if model := model_among(paths):
            self.model_dropped.emit(model)
            paths = [path for path in paths if path != model]
        self._notice.say("")
        if paths and not self._composer.takes_files:
            self._notice.say(self.tr("No file can go along with an answer."))
            return
        room = MOST_FILES - len(self._composer.files.files())
        if len(paths) > room:
            self._notice.add(self.tr("At most {} files can go along with one message.").format(MOST_FILES))
        for path in paths[: max(room, 0)]:
            self._reader.read(path, self._on_read, self._on_not_read)
        self._composer.setFocus()

    @Slot()
    def _keep(self) -> None:
        self._session.draft_files.keep(self._drafts.draft().files)

    @Slot(object)
    def _bring(self, files: Sequence[Attachment]) -> None:
        for file in files:
            self._composer.files.add(file)

    @Slot(object)
    def _on_read(self, file: Attachment) -> None:
        self._composer.files.add(file)

    @Slot(object)
    def _on_not_read(self, error: Exception) -> None:
        self._notice.add(str(error))


def documents_folder() -> str:
    """Where the user's own files are, as far as the system says so."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return folder if folder and Path(folder).is_dir() else str(Path.home())
