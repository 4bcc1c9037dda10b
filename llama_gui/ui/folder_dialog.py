"""What was read of a folder of documents, and which of its files could not be."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from llama_gui.bridge.folder_desk import FolderDesk, FolderState, MeaningState
from llama_gui.chats.folder_index import MOST_FILES
from llama_gui.ui.numbers import number_text
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import FRAME_PX
from llama_gui.ui.widgets import FittingDialog, plain_label

_MOST_ROWS = 500


class FolderDialog(FittingDialog):
    """Follows the reading while it is open."""

    def __init__(self, desk: FolderDesk, folder: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk = desk
        self._folder = folder
        self._shown: FolderState | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Folder of documents"))
        self.place = plain_label(folder, "text", FRAME_PX)
        self.facts = plain_label("", "muted", FRAME_PX)
        for label in (self.place, self.facts):
            label.setWordWrap(True)
        self.list = QPlainTextEdit()
        self.list.setReadOnly(True)
        self.list.setProperty("field", "true")
        self.list.setMinimumHeight(160)
        self.list.setAccessibleName(self.tr("Files that could not be read"))
        self._lay_out()
        desk.changed.connect(self._on_changed)
        self._show()
        self.resize(560, 420 if self.list.isVisibleTo(self) else self.sizeHint().height())

    def _lay_out(self) -> None:
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.accept)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(self.place)
        layout.addWidget(self.facts)
        layout.addWidget(self.list, 1)
        layout.addStretch()  # in its place, where there is nothing to list
        layout.addLayout(foot)

    @Slot(str)
    def _on_changed(self, folder: str) -> None:
        if folder == self._folder:
            self._show()

    def _show(self) -> None:
        state = self._desk.state(self._folder)
        self.facts.setText(self._words(state))
        if self._shown is None or state.problems != self._shown.problems:
            self._list(state)
        self._shown = state
        self.fit()

    def _list(self, state: FolderState) -> None:
        lines: list[str] = []
        for problem in state.problems[:_MOST_ROWS]:
            inside, _, name = problem.name.rpartition("/")
            why = problem_text(problem.why)
            lines.append(f"{inside}/ · {why}" if inside and name in why else why)
        if len(state.problems) > _MOST_ROWS:
            lines.append(self.tr("And {} more.").format(number_text(len(state.problems) - _MOST_ROWS)))
        self.list.setPlainText("\n\n".join(lines))
        self.list.setVisible(bool(lines))

    def _words(self, state: FolderState) -> str:
        if state.is_reading:
            says = self.tr("{} of {} file is read.") if state.total == 1 else self.tr("{} of {} files are read.")
            read = says.format(number_text(state.done), number_text(state.total))
            return read if state.total else self.tr("Looking for what has changed …")
        if state.is_missing:
            return self.tr(
                "The folder is not there now. What was read of it before is used until it is back; choose another "
                "one if it has moved."
            )
        if state.error:
            return problem_text(state.error)
        if state.is_stopped:
            return self.tr("Read: {}. It was stopped there; “Look for changes now” goes on.").format(
                number_text(state.files)
            )
        words = self.tr("Read: {}.").format(number_text(state.files))
        if state.problems:
            words += " " + self.tr("Not read: {}.").format(number_text(len(state.problems)))
        if state.others:
            more = self.tr("Left out: {}, as they are pictures, recordings, archives or programs.")
            words += " " + more.format(number_text(state.others))
        if state.is_cut:
            words += " " + self.tr("Only the first {} files of a folder are read.").format(number_text(MOST_FILES))
        return words + self._meaning(state.meaning)

    def _meaning(self, meaning: MeaningState) -> str:
        done, total = number_text(meaning.done), number_text(meaning.total)
        if meaning.error:
            why = problem_text(meaning.error)
            if not meaning.total:
                return "\n" + self.tr("No passages are found by meaning. {}").format(why)
            return "\n" + self.tr("Found by meaning: {} of {} passages; then it failed. {}").format(done, total, why)
        if meaning.is_whole:
            return "\n" + self.tr("All passages are found by their meaning, too.") if meaning.total else ""
        return "\n" + self.tr("Found by meaning so far: {} of {} passages.").format(done, total)
