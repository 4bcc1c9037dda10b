"""How models are fetched and where they are looked for: offline mode, a limit of speed, more folders."""

from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from llama_gui.bridge.model_desk import ModelDesk
from llama_gui.library.neighbours import neighbours
from llama_gui.settings import UserSettings
from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.icons import Icons
from llama_gui.ui.rows import NotedList
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import plain_label

_MB = 10**6
_LIMITS = (None, _MB // 2, _MB, 2 * _MB, 5 * _MB, 10 * _MB, 25 * _MB, 50 * _MB)


class OptionsDialog(QDialog):
    """Shows the settings about models and says which have changed; each counts at once."""

    changed = Signal(object)
    """The whole `UserSettings`."""

    def __init__(self, settings: UserSettings, desk: ModelDesk, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self._desk = desk
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Options for models"))
        self.offline = QCheckBox(self.tr("Offline mode"))
        self.offline.setChecked(desk.account.is_offline)
        self.offline.setEnabled(not desk.account.is_offline_by_environment)
        self.limit = ChoiceBox(icons)
        self.limit.setAccessibleName(self.tr("Speed of downloads"))
        for limit in sorted({*_LIMITS, settings.download_limit}, key=lambda limit: limit or 0):
            self.limit.addItem(self._limit_words(limit), limit)
        self.limit.setCurrentIndex(max(0, self.limit.findData(settings.download_limit)))
        self.folders = NotedList()
        self.folders.setAccessibleName(self.tr("Folders where models are looked for"))
        self.folders.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.add_button = DialogButton(self.tr("Add folder…"))
        self.remove_button = DialogButton(self.tr("Take off the list"))
        self._lay_out()
        self._show_folders()
        self.offline.toggled.connect(self._set_offline)
        self.limit.currentIndexChanged.connect(self._set_limit)
        self.add_button.clicked.connect(self._ask_for_folder)
        self.remove_button.clicked.connect(self._remove_folder)
        self.folders.currentRowChanged.connect(self._on_row)

    def _limit_words(self, limit: int | None) -> str:
        if limit is None:
            return self.tr("As fast as it goes")
        return self.tr("At most {} MB a second").format(f"{limit / _MB:g}")

    def _lay_out(self) -> None:
        offline = self.tr("Nothing is asked of the hub and nothing is downloaded until this is off again.")
        if self._desk.account.is_offline_by_environment:
            offline = self.tr("HF_HUB_OFFLINE is set on this computer. Unset it to be able to search and download.")
        places = self.tr(
            "Downloads go to the cache that all Hugging Face tools share. What LM Studio, Jan and GPT4All keep here is "
            "found as well. Add folders in which you keep models yourself; taking one off the list deletes nothing."
        )
        close = QPushButton(self.tr("Close"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        foot = QHBoxLayout()
        foot.addWidget(self.add_button)
        foot.addWidget(self.remove_button)
        foot.addStretch(1)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(6)
        layout.addWidget(self.offline)
        layout.addWidget(_note(offline))
        layout.addSpacing(10)
        layout.addWidget(plain_label(self.tr("Speed of downloads"), "text", FRAME_PX))
        layout.addWidget(self.limit, 0, Qt.AlignmentFlag.AlignLeading)
        layout.addSpacing(10)
        layout.addWidget(plain_label(self.tr("Where models are looked for"), "text", FRAME_PX))
        layout.addWidget(_note(places))
        layout.addWidget(self.folders, 1)
        layout.addSpacing(6)
        layout.addLayout(foot)
        self.resize(540, 470)

    def _show_folders(self) -> None:
        self.folders.clear()
        always = self.tr("always")
        fixed = {str(self._desk.own_folder): always, self._desk.account.cache: always}
        fixed |= {str(neighbour.folder): neighbour.name for neighbour in neighbours()}
        for path in (*fixed, *self._settings.model_folders):
            item = self.folders.add(path, fixed.get(path, ""))
            if path in fixed:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsSelectable)
        self._on_row()

    @Slot()
    def _on_row(self) -> None:
        item = self.folders.currentItem()
        self.remove_button.setEnabled(item is not None and item.text() in self._settings.model_folders)

    @Slot(bool)
    def _set_offline(self, is_offline: bool) -> None:
        self._change(replace(self._settings, offline=is_offline))

    @Slot()
    def _set_limit(self) -> None:
        self._change(replace(self._settings, download_limit=self.limit.currentData()))

    @Slot()
    def _ask_for_folder(self) -> QFileDialog:
        dialog = QFileDialog(self, self.tr("A folder with models"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.add_folder)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @Slot(str)
    def add_folder(self, path: str) -> None:
        """Look for models there too."""
        folders = tuple(dict.fromkeys((*self._settings.model_folders, path)))
        self._change(replace(self._settings, model_folders=folders))
        self._show_folders()

    @Slot()
    def _remove_folder(self) -> None:
        gone = self.folders.currentItem().text()
        kept = tuple(path for path in self._settings.model_folders if path != gone)
        self._change(replace(self._settings, model_folders=kept))
        self._show_folders()

    def _change(self, settings: UserSettings) -> None:
        self._settings = settings
        self.changed.emit(settings)


def _note(text: str) -> QWidget:
    label = plain_label(text, "muted", SMALL_PX)
    label.setWordWrap(True)
    return label
