"""The files of one tab: chosen, dropped or pasted, read beside the window, and kept with the draft."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from llama_gui.bridge.attachments import AttachmentReader, FileReading
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment, ReadFiles, pasted_image
from llama_gui.chats.documents.kinds import ENDINGS
from llama_gui.ui.attachment_bar import MOST_FILES
from llama_gui.ui.composer import Composer, model_among
from llama_gui.ui.notice import Notice
from llama_gui.ui.pictures import pasted
from llama_gui.ui.tab_drafts import TabDrafts
from llama_gui.vocabulary import IMAGE_ENDINGS

_TEXTS = (
    "txt", "md", "markdown", "rst", "log", "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "toml", "ini", "cfg",
    "conf", "tex", "srt", "vtt", "py", "ipynb", "js", "ts", "jsx", "tsx", "css", "scss", "java", "kt", "c", "h", "cpp",
    "hpp", "cc", "cs", "go", "rs", "rb", "php", "swift", "scala", "r", "lua", "pl", "sh", "bat", "ps1", "sql", "diff",
    "patch",
)  # fmt: skip
"""How the names of texts end, as far as a dialog can say it; all others can be chosen as well."""

_OF_MODELS = ("config.json", "*.gguf", "*/config.json", "*/*.gguf", "snapshots/*/config.json")


class TabFiles(QObject):
    """Brings files to the composer, and says which cannot go along."""

    model_dropped = Signal(str)
    """A file or folder that could be a model."""
    folder_dropped = Signal(str)
    """A folder of documents."""

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
        composer.send_held.connect(self._tell_to_wait)
        composer.files.changed.connect(self._show_wait)
        composer.edit.files_dropped.connect(self.attach)
        composer.edit.picture_pasted.connect(self._paste_picture)

    @Slot()
    def ask(self) -> None:
        """Let the user choose files to send along."""
        dialog = QFileDialog(self._tab, self.tr("Attach files"), self._reader.folder or documents_folder())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        patterns = " ".join(f"*.{ending}" for ending in (*ENDINGS, *IMAGE_ENDINGS, *_TEXTS))
        named = self.tr("Documents, images and texts")
        dialog.setNameFilters([f"{named} ({patterns})", self.tr("All files") + " (*)"])
        dialog.setOption(QFileDialog.Option.HideNameFilterDetails)
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
        if folder := next((path for path in paths if is_documents(path)), ""):
            self.folder_dropped.emit(folder)
            paths = [path for path in paths if path != folder]
        if model := model_among(paths):
            self.model_dropped.emit(model)
            paths = [path for path in paths if path != model]
        self._notice.say("")
        if paths and not self._composer.takes_files:
            self._notice.say(self.tr("No file can go along with an answer."))
            return
        room = MOST_FILES - self._composer.files.count()
        if len(paths) > room:
            self._notice.add(self.tr("At most {} files can go along with one message.").format(MOST_FILES))
        for path in paths[: max(room, 0)]:
            self._read(path)
        self._composer.setFocus()

    def _read(self, path: str) -> None:
        reading = self._reader.read(path, takes_scans=self._session.may_read_images)
        reading.done.connect(self._on_read)
        reading.failed.connect(self._on_not_read)
        self.destroyed.connect(reading.cancel)
        if reading.is_document:  # a text is there at once
            self._composer.files.wait_for(reading)

    @Slot(object)
    def _paste_picture(self, picture: QImage) -> None:
        files = self._composer.files
        if not self._composer.takes_files:
            self._notice.add(self.tr("No file can go along with an answer."))
        elif files.count() >= MOST_FILES:
            self._notice.add(self.tr("At most {} files can go along with one message.").format(MOST_FILES))
        elif data := pasted(picture):
            files.add(pasted_image(data, [known.name for known in files.files()], self.tr("Pasted image {}.{}")))

    @Slot()
    def _tell_to_wait(self) -> None:
        self._notice.say(self._wait_text())

    @Slot()
    def _show_wait(self) -> None:
        if not self._composer.files.is_reading:
            self._notice.drop(self._wait_text())

    def _wait_text(self) -> str:
        return self.tr("A file is still being read. Send when it is there, or remove it.")

    @Slot()
    def _keep(self) -> None:
        self._session.draft_files.keep(self._drafts.draft().files)

    @Slot(object)
    def _bring(self, files: Sequence[Attachment]) -> None:
        for file in files:
            self._composer.files.add(file)

    @Slot(object, object)
    def _on_read(self, reading: FileReading, read: ReadFiles) -> None:
        files = self._composer.files
        if not self._composer.takes_files:  # an answer is edited by now
            files.finish(reading, None)
            self._notice.add(self.tr("No file can go along with an answer."))
            return
        first, *others = read.files
        files.finish(reading, first)
        others = others[: MOST_FILES - files.count()]
        for file in others:
            files.add(file)
        if read.pages > 1 + len(others):
            words = self.tr("{} has no text, but {} pages with pictures. The first {} go along as images.")
            self._notice.add(words.format(reading.name, read.pages, 1 + len(others)))

    @Slot(object, str)
    def _on_not_read(self, reading: FileReading, why: str) -> None:
        self._composer.files.finish(reading, None)
        self._notice.add(why)


def is_documents(path: str) -> bool:
    """Whether a folder that was dropped holds no model, as far as it is seen at once."""
    folder = Path(path)
    try:
        return folder.is_dir() and not any(next(folder.glob(pattern), None) for pattern in _OF_MODELS)
    except OSError:
        return False


def documents_folder() -> str:
    """Where the user's own files are, as far as the system says so."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return folder if folder and Path(folder).is_dir() else str(Path.home())
