"""What the user chooses once for the whole application. Each choice counts at once, or says when it will."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from llama_gui.settings import FIRST, UserSettings
from llama_gui.ui.choice_box import ChoiceBox
from llama_gui.ui.icons import Icons
from llama_gui.ui.numbers import counted
from llama_gui.ui.screen_room import fitted
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import plain_label
from llama_gui.vocabulary import ModelEntry

PREFERENCES = (
    "color_scheme",
    "zoom",
    "language",
    "layout_direction",
    "notify",
    "auto_titles",
    "strategy",
    "unload_after_minutes",
    "prompt_cache_gb",
    "meaning_model",
)
"""What of the settings is chosen here; the rest is kept by other parts of the window."""
_MINUTES = (0, 10, 30, 120)
_GIGABYTES = (0, 2, 8, 32, 128)
_ZOOMS = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)


@dataclass(frozen=True, slots=True)
class _Choice:
    """One setting with its possible values, and one line that explains it."""

    name: str
    label: str
    values: Sequence[tuple[Any, str]]
    explanation: str = ""


class PreferencesDialog(QDialog):
    """Shows the settings and says which have changed. `data` is the folder with all that the user has.

    `embedders`: the models for embeddings on the shelf.
    """

    changed = Signal(object)
    """The whole `UserSettings`, with what was changed."""

    def __init__(
        self,
        settings: UserSettings,
        data: Path,
        icons: Icons,
        parent: QWidget,
        embedders: Sequence[ModelEntry] = (),
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._data = data
        self._icons = icons
        self._embedders = embedders
        self._boxes: dict[str, ChoiceBox] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Preferences"))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnMinimumWidth(0, 150)
        self._grid.setColumnStretch(1, 1)
        self._add_looks()
        self._add_answers()
        self._add_meaning()
        self._add_data()
        self._lay_out()

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(32, 20, 32, 16)
        column.addLayout(self._grid)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close = QPushButton(self.tr("Close"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        foot = QHBoxLayout()
        foot.setContentsMargins(32, 0, 32, 20)
        foot.addStretch(1)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area, 1)
        layout.addLayout(foot)
        wanted = inner.sizeHint()
        width = wanted.width() + area.verticalScrollBar().sizeHint().width()  # some fonts and languages are wide
        self.resize(fitted(QSize(max(580, width), wanted.height() + 96), self))

    # The groups

    def _add_looks(self) -> None:
        later = self.tr("Takes effect at the next start.")
        colours = (("system", self.tr("As the system")), ("light", self.tr("Light")), ("dark", self.tr("Dark")))
        languages = (("system", self.tr("As the system")), ("en", "English"), ("de", "Deutsch"))
        directions = (
            ("language", self.tr("As the language")),
            ("left_to_right", self.tr("From left to right")),
            ("right_to_left", self.tr("From right to left")),
        )
        self._add_heading(self.tr("Looks"))
        self._add_choice(_Choice("color_scheme", self.tr("Colours"), colours))
        self._add_choice(_Choice("zoom", self.tr("Text size"), [(zoom, f"{zoom:.0%}") for zoom in _zooms(self._zoom)]))
        self._add_choice(_Choice("language", self.tr("Language"), languages, later))
        self._add_choice(_Choice("layout_direction", self.tr("Direction"), directions, later))

    @property
    def _zoom(self) -> float:
        return self._settings.zoom

    def _add_answers(self) -> None:
        self._add_heading(self.tr("Answers"))
        self._add_flag(
            "notify",
            self.tr("Tell me when a long answer is finished"),
            self.tr("With a message of the desktop, when this window is behind others."),
        )
        self._add_flag(
            "auto_titles",
            self.tr("Name chats by what they are about"),
            self.tr("The model does it when it has nothing else to do. A name that you gave stays."),
        )
        strategies = (
            ("batched", self.tr("Together")),
            ("interleaved", self.tr("In turns")),
            ("sequential", self.tr("One after the other")),
        )
        self._add_choice(
            _Choice(
                "strategy",
                self.tr("Several chats answer"),
                strategies,
                self.tr("Together is fastest. Takes effect for models that are loaded after the next start."),
            )
        )
        one, many = self.tr("After {} minute"), self.tr("After {} minutes")
        offered = sorted({*_MINUTES, self._settings.unload_after_minutes})
        times = [(count, counted(count, one, many)) for count in offered]
        self._add_choice(
            _Choice(
                "unload_after_minutes",
                self.tr("Unload idle models"),
                [(count, text if count else self.tr("Never")) for count, text in times],
                self.tr("Frees the memory of large models. The next message loads them again."),
            )
        )

    def _add_meaning(self) -> None:
        first = next((entry.name for entry in self._embedders), "")
        names = {
            FIRST: self.tr("With {}").format(first) if first else self.tr("With the first model for embeddings"),
            **{entry.key: entry.name for entry in self._embedders if len(self._embedders) > 1},
            "": self.tr("No, by words only"),
        }
        chosen = self._settings.meaning_model
        names.setdefault(chosen, next((e.name for e in self._embedders if e.key == chosen), Path(chosen).name))
        says = self.tr(
            "Of folders of documents, a model for embeddings reads the passages while nothing else is asked."
        )
        if not first:
            says += " " + self.tr("There is none yet; Qwen3 Embedding is one.")
        label = self.tr("Find by meaning, too")
        self._add_choice(_Choice("meaning_model", label, list(names.items()), says))

    def _add_data(self) -> None:
        self._add_heading(self.tr("Your data"))
        where = plain_label(str(self._data), "text", FRAME_PX)
        where.setWordWrap(True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        show = QPushButton(self.tr("Open folder"))
        show.clicked.connect(self._open_folder)
        row = QHBoxLayout()
        row.addWidget(where, 1)
        row.addWidget(show)
        self._add_row(plain_label(self.tr("Folder"), "text", FRAME_PX), row)
        self._explain(self.tr("Chats, backups, settings and the log. Nothing of it leaves this computer."))
        sizes = sorted({*_GIGABYTES, self._settings.prompt_cache_gb})
        self._add_choice(
            _Choice(
                "prompt_cache_gb",
                self.tr("Keep what was read"),
                [(size, self.tr("Up to {} GB").format(size) if size else self.tr("Nothing")) for size in sizes],
                self.tr(
                    "What a model has read of a long chat stays on the disk for 30 days, so that it goes on at once "
                    "after a restart. Emptying the bin deletes it. Takes effect at the next start."
                ),
            )
        )

    # One row

    def _add_heading(self, text: str) -> None:
        label = plain_label(text, "muted", SMALL_PX, bold=True)
        label.setContentsMargins(0, 16 if self._grid.count() else 0, 0, 4)
        self._grid.addWidget(label, self._grid.rowCount(), 0, 1, 2)

    def _add_row(self, label: QLabel, content: QWidget | QHBoxLayout) -> None:
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0)
        if isinstance(content, QWidget):
            self._grid.addWidget(content, row, 1)
        else:
            self._grid.addLayout(content, row, 1)

    def _explain(self, text: str) -> None:
        label = plain_label(text, "muted", SMALL_PX)
        label.setWordWrap(True)
        label.setContentsMargins(0, 0, 0, 6)
        self._grid.addWidget(label, self._grid.rowCount(), 1)

    def _add_choice(self, choice: _Choice) -> None:
        box = ChoiceBox(self._icons)
        for value, text in choice.values:
            box.addItem(text, value)
        box.setCurrentIndex(max(0, box.findData(getattr(self._settings, choice.name))))
        box.setObjectName(choice.name)
        box.setAccessibleName(choice.label)
        box.setAccessibleDescription(choice.explanation)
        box.currentIndexChanged.connect(self._take_choices)
        self._boxes[choice.name] = box
        label = plain_label(choice.label, "text", FRAME_PX)
        label.setBuddy(box)
        self._add_row(label, box)
        if choice.explanation:
            self._explain(choice.explanation)

    def _add_flag(self, name: str, label: str, explanation: str) -> None:
        box = QCheckBox(label)
        box.setObjectName(name)
        box.setChecked(getattr(self._settings, name))
        box.setAccessibleDescription(explanation)
        box.toggled.connect(self._take_flag)
        self._grid.addWidget(box, self._grid.rowCount(), 0, 1, 2)
        note = plain_label(explanation, "muted", SMALL_PX)
        note.setContentsMargins(24, 0, 0, 6)
        note.setWordWrap(True)
        self._grid.addWidget(note, self._grid.rowCount(), 0, 1, 2)

    # What the user does

    @Slot()
    def _take_choices(self) -> None:
        self._change(**{name: box.currentData() for name, box in self._boxes.items()})

    @Slot(bool)
    def _take_flag(self, is_on: bool) -> None:
        self._change(**{self.sender().objectName(): is_on})

    def _change(self, **values: Any) -> None:
        self._settings = replace(self._settings, **values)
        self.changed.emit(self._settings)

    @Slot()
    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._data)))


def _zooms(current: float) -> list[float]:
    """The sizes to choose from; the one that is shown is among them."""
    return sorted({*_ZOOMS, current})
