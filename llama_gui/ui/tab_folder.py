"""The folder of documents of one chat: chosen, dropped, shown beside the composer, and left again."""

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from llama_gui.bridge.attachments import AttachmentReader
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.folder_desk import FolderState, MeaningState
from llama_gui.ui.composer import Composer
from llama_gui.ui.folder_dialog import FolderDialog
from llama_gui.ui.numbers import counted, number_text
from llama_gui.ui.tab_files import documents_folder
from llama_gui.ui.widgets import plain_tip
from llama_gui.vocabulary import is_remote

_MOST_NAME = 140


class TabFolder(QObject):
    """Says in the button beside the clip which folder it is, how far it is read, and where its passages go."""

    def __init__(self, session: ChatSession, reader: AttachmentReader, composer: Composer, tab: QWidget) -> None:
        super().__init__(tab)
        self._session = session
        self._reader = reader
        self._button = composer.folder_button
        self._tab = tab
        self._button.clicked.connect(self.open)
        session.settings_changed.connect(self.show)
        session.folders.changed.connect(self._on_changed)
        self.show()

    @Slot()
    def open(self) -> None:
        """Choose a folder; where there is one, what can be done with it."""
        if not self._session.settings.documents:
            self.ask()
            return
        menu = self.make_menu()
        menu.popup(self._button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def make_menu(self) -> QMenu:
        """What can be done with the folder."""
        menu = QMenu(self._button)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("What was read…")).triggered.connect(self.show_contents)
        if self._session.folders.state(self._session.settings.documents).is_reading:
            menu.addAction(self.tr("Stop reading")).triggered.connect(self._stop)
        else:
            menu.addAction(self.tr("Look for changes now")).triggered.connect(self._read_again)
        menu.addAction(self.tr("Another folder…")).triggered.connect(self.ask)
        menu.addSeparator()
        menu.addAction(self.tr("Use this folder no longer")).triggered.connect(self.leave)
        return menu

    @Slot()
    def ask(self) -> None:
        """Let the user choose a folder."""
        former = self._session.settings.documents or self._reader.folder or documents_folder()
        dialog = QFileDialog(self._tab, self.tr("Choose a folder of documents"), former)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.use)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(str)
    def use(self, folder: str) -> None:
        """Let the questions of this chat get passages of the documents in a folder."""
        self._session.set_folder(str(Path(folder).absolute()))

    @Slot()
    def leave(self) -> None:
        """Use none any more. What was read stays for other chats, and for a while."""
        self._session.set_folder("")

    @Slot()
    def show_contents(self) -> None:
        """List what was read and what could not be."""
        if folder := self._session.settings.documents:
            FolderDialog(self._session.folders, folder, self._tab).open()

    @Slot()
    def _read_again(self) -> None:
        if folder := self._session.settings.documents:
            self._session.folders.read(folder, again=True)

    @Slot()
    def _stop(self) -> None:
        self._session.folders.stop(self._session.settings.documents)

    @Slot(str)
    def _on_changed(self, folder: str) -> None:
        if folder == self._session.settings.documents:
            self.show()

    @Slot()
    def show(self) -> None:
        """Say how it stands with the folder, and with the model that its passages go to."""
        folder = self._session.settings.documents
        if not folder:
            self._button.set_words("")
            says = tip = self.tr("Documents of a folder: what fits a question goes along with it")
        else:
            name = Path(folder).name or folder
            short = QFontMetrics(self._button.font()).elidedText(name, Qt.TextElideMode.ElideMiddle, _MOST_NAME)
            facts = [self._facts(self._session.folders.state(folder))]
            if server := self._server():
                facts.insert(0, self.tr("passages go to {}").format(server))  # where it is narrow the rest is cut off
            self._button.set_words(" · ".join([short, *facts]))
            says = " · ".join([self.tr("Folder of documents: {}").format(name), *facts])
            tip = f"{folder}\n{self._promise(server, self._session.folders.state(folder).meaning)}"
        self._button.setAccessibleName(says)
        self._button.setToolTip(plain_tip(tip))

    def _server(self) -> str:
        key = self._session.model
        return key.partition("#")[0] if is_remote(key) else ""

    def _facts(self, state: FolderState) -> str:
        if state.is_reading and state.total:
            return self.tr("{} of {} read").format(number_text(state.done), number_text(state.total))
        if state.is_reading and not state.files:
            return self.tr("reading …")
        if state.is_missing:
            return self.tr("not found")
        if state.error:
            return self.tr("cannot be read")
        files = counted(state.files, self.tr("{} file"), self.tr("{} files"))
        if state.is_stopped:
            files += self.tr(", stopped")
        if state.problems:
            files += self.tr(", {} not read").format(number_text(len(state.problems)))
        return files + self._meaning(state.meaning)

    def _meaning(self, meaning: MeaningState) -> str:
        """How far it is, while it goes on, or that it does not."""
        if meaning.error:
            return " · " + self.tr("not by meaning")
        if meaning.is_whole:
            return ""
        done, total = number_text(meaning.done), number_text(meaning.total)
        return " · " + self.tr("meaning: {} of {}").format(done, total)

    def _promise(self, server: str, meaning: MeaningState) -> str:
        if meaning.done:
            says = self.tr("Of its documents the passages that fit a question, by words and meaning, go along with it.")
        else:
            says = self.tr("Of its documents the passages that fit a question, by its words, go along with it.")
        if server:
            where = self.tr("They are sent to {}, as the rest of this chat is.").format(server)
        else:
            where = self.tr("They stay on this machine.")
        return f"{says}\n{where}"
