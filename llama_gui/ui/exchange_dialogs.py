"""Asks where chats are written to or read from, and tells what became of it."""

import re
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from llama_gui.bridge.exchange import Exchange, ExportKind
from llama_gui.bridge.item_models import ChatListItemModel
from llama_gui.chats.intake import ImportReport
from llama_gui.chats.record import ChatRecord
from llama_gui.ui.problem_words import problem_text

_ENDINGS: dict[str, ExportKind] = {".md": "markdown", ".html": "html", ".json": "json"}
_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_MOST_TOLD = 200


class ExchangeDialogs(QObject):
    """The dialogs in front of `Exchange`."""

    said = Signal(str)
    """One line about what was done."""
    failed = Signal(str)

    def __init__(self, exchange: Exchange, chats: ChatListItemModel, window: QWidget) -> None:
        super().__init__(window)
        self._exchange = exchange
        self._chats = chats
        self._window = window
        self._wanted: list[str] = []
        exchange.exported.connect(self._on_exported)
        exchange.fetched.connect(self._print)
        exchange.imported.connect(self._on_imported)
        exchange.failed.connect(self._on_failed)

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self.said.emit("")  # it is read, or written, no longer
        self.failed.emit(text)

    # Out

    @Slot(object)
    def ask_where_to(self, chat_ids: list[str], ending: str = "md") -> QFileDialog:
        """Export these chats; none means all. `ending`: of the kind that is offered first."""
        self._wanted = chat_ids
        title = str(self._chats.index_of(chat_ids[0]).data() or "") if len(chat_ids) == 1 else ""
        name = " ".join(_UNSAFE.sub(" ", title).split())[:80].strip(". ") or self.tr("Chats")
        dialog = QFileDialog(self._window, self.tr("Export"), str(Path.home() / f"{name}.{ending}"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        kinds = {"md": self.tr("Markdown, the shown messages"), "html": self.tr("Web page, the shown messages")}
        if len(chat_ids) == 1:
            kinds["pdf"] = self.tr("PDF, the shown messages")
        kinds["json"] = self.tr("JSON with all branches, to import again")
        suffixes = {f"{text} (*.{suffix})": suffix for suffix, text in kinds.items()}
        dialog.setNameFilters(list(suffixes))
        dialog.selectNameFilter(f"{kinds[ending]} (*.{ending})")
        dialog.setDefaultSuffix(ending)
        dialog.selectFile(f"{name}.{ending}")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(suffixes[chosen]))
        dialog.fileSelected.connect(self.export_to)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @Slot(str)
    def export_to(self, name: str) -> None:
        """Write the chats into this file; its ending says how."""
        path = Path(name)
        kind = _ENDINGS.get(path.suffix.lower())
        if path.suffix.lower() == ".pdf" and len(self._wanted) == 1:
            self._exchange.fetch(path, self._wanted[0])
        elif kind is not None:
            self._exchange.export(path, kind, self._wanted)
        else:
            says = self.tr("{} was not written: an export ends in .md, .html or .json, of one chat also in .pdf.")
            self.failed.emit(says.format(name))
            return
        self.said.emit(self.tr("Writing {}…").format(path.name))

    @Slot(object, object)
    def _print(self, path: Path, chat: ChatRecord) -> None:
        from llama_gui.ui.transcript.paper import chat_as_pdf  # here: the window shows sooner

        self._exchange.keep(path, chat_as_pdf(chat))

    @Slot(object, int)
    def _on_exported(self, path: Path, count: int) -> None:
        self.said.emit(self.tr("Chats written to {}: {}").format(path, count))

    # In

    @Slot()
    def ask_where_from(self) -> QFileDialog:
        """Import a file of another application, or of ours."""
        title = self.tr("Import chats of ChatGPT, Open WebUI, LM Studio, Jan or llama-gui")
        dialog = QFileDialog(self._window, title, str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Exports of chats") + " (*.json *.zip)", self.tr("All files") + " (*)"])
        dialog.fileSelected.connect(self.import_from)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @Slot()
    def ask_for_folder(self) -> QFileDialog:
        """Import a folder with one file for each conversation, as LM Studio and Jan keep them."""
        title = self.tr("Import a folder of conversations")
        dialog = QFileDialog(self._window, title, str(self._exchange.likely_folder()))  # perhaps a hidden one
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.import_from)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @Slot(str)
    def import_from(self, name: str) -> None:
        """Read this file or folder."""
        self._exchange.import_from(Path(name))
        self.said.emit(self.tr("Reading {}…").format(Path(name).name))

    @Slot(object)
    def _on_imported(self, report: ImportReport) -> None:
        self.said.emit("")
        box = QMessageBox(QMessageBox.Icon.NoIcon, self.tr("Import"), problem_text(report.summary), parent=self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        told = [problem_text(words) for words in (*report.left_out, *report.skipped)[:_MOST_TOLD]]
        if told:
            box.setInformativeText("\n".join(told[:3]) + ("\n…" if len(told) > 3 else ""))
        if len(told) > 3:
            box.setDetailedText("\n".join(told))
        box.setStandardButtons(QMessageBox.StandardButton.Close)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
