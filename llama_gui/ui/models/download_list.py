"""The downloads at the foot of the window of models: how far each is, and what can be done with it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from llama_gui.bridge.download_host import DownloadHost, model_path
from llama_gui.ui.icons import Icons
from llama_gui.ui.models.thin_bar import ThinBar
from llama_gui.ui.models.words import download_words, percent, plain
from llama_gui.ui.theme import SMALL_PX
from llama_gui.ui.widgets import Button, Surface, plain_label, plain_tip

if TYPE_CHECKING:
    from llama_gui.library.download_queue import QueuedDownload

_MOST_HEIGHT = 210


class DownloadRow(QWidget):
    """One download. `did` tells what was pressed: pause, resume, remove, open, page, sign_in."""

    did = Signal(int, str)

    def __init__(self, item: "QueuedDownload", icons: Icons) -> None:
        super().__init__()
        self.item = item
        self._name = plain_label("", "text", SMALL_PX, bold=True)
        self._end = plain_label("", "muted", SMALL_PX)
        self._words = plain_label("", "muted", SMALL_PX)
        self._words.setWordWrap(True)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = ThinBar()
        self.buttons = {
            "open": Button(icons, text=self.tr("Open"), look="outlined", height=26),
            "sign_in": Button(icons, text=self.tr("Sign in…"), look="outlined", height=26),
            "page": Button(icons, text=self.tr("Open its page…"), look="outlined", height=26),
            "retry": Button(icons, text=self.tr("Try again"), look="outlined", height=26),
            "pause": Button(icons, "pause", height=26),
            "resume": Button(icons, "go-on", height=26),
            "remove": Button(icons, "close", height=26),
        }
        name = plain(item.plan.repo)
        tips = {
            "pause": self.tr("Pause the download of {}"),
            "resume": self.tr("Go on with the download of {}"),
            "remove": self.tr("Cancel the download of {}"),
            "open": self.tr("Open {}"),
            "retry": self.tr("Try to download {} again"),
            "page": self.tr("Open the page of {} in the browser"),
            "sign_in": self.tr("Sign in for {}"),
        }
        for verb, button in self.buttons.items():
            button.setObjectName(verb)
            button.setAccessibleName(tips[verb].format(name))
            button.setToolTip(plain_tip(tips[verb].format(name)))
            button.clicked.connect(self._press)
        self._lay_out()
        self.show_item(item)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(self._name)
        top.addSpacing(4)
        top.addWidget(self._end)
        top.addStretch(1)
        for button in self.buttons.values():
            top.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 7, 0, 7)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.bar)
        layout.addWidget(self._words)

    def show_item(self, item: "QueuedDownload") -> None:
        """How far it is now."""
        self.item = item
        progress = item.progress
        done = progress.bytes_done if progress else 0
        far = percent(done, item.plan.size)
        moving = item.state == "running"
        self._name.setText(_title(item))
        self.bar.set_part(1.0 if item.state == "finished" else done / max(item.plan.size, 1))
        self.bar.set_quiet(not moving)
        self.bar.setVisible(item.state not in ("finished", "failed"))
        words, is_over = plain(download_words(item), 600), item.state == "finished"
        self._end.setText(words if is_over else f"{far} %" if moving else "")
        self._words.setText("" if is_over else words)
        self._words.setVisible(not is_over)
        self._words.set_role("error" if item.state == "failed" else "muted")
        self.setAccessibleName(f"{_title(item)}: {download_words(item)}")
        is_refused = item.state == "failed" and bool(item.page)
        shown = {
            "open": item.state == "finished",
            "sign_in": is_refused,
            "page": is_refused,
            "retry": item.state == "failed",
            "pause": item.state in ("waiting", "running"),
            "resume": item.state == "paused",
            "remove": True,
        }
        for verb, is_shown in shown.items():
            self.buttons[verb].setVisible(is_shown)
        if item.state == "finished":
            tip = self.tr("Take it off this list; the model stays")
            self.buttons["remove"].setAccessibleName(tip)
            self.buttons["remove"].setToolTip(plain_tip(tip))

    @Slot()
    def _press(self) -> None:
        verb = self.sender().objectName()
        self.did.emit(self.item.id, "resume" if verb == "retry" else verb)


class DownloadList(Surface):
    """All downloads that are listed; hidden when there are none."""

    open_wanted = Signal(str)
    """The path of a model."""
    link_wanted = Signal(str)
    sign_in_wanted = Signal()
    cancel_wanted = Signal(int)
    """An unfinished download is to be given up: its bytes would be deleted."""

    def __init__(self, downloads: DownloadHost, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__("side", "top", parent)
        self._downloads = downloads
        self._icons = icons
        self.rows: dict[int, DownloadRow] = {}
        self._inner = QWidget()
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(24, 4, 24, 4)
        self._column.setSpacing(0)
        area = self._area = QScrollArea()
        area.setAccessibleName(self.tr("Downloads"))
        area.setWidget(self._inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.viewport().setAutoFillBackground(False)
        self._inner.setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 1, 0, 0)
        layout.addWidget(area)
        downloads.changed.connect(self._show)
        self._show(downloads.items)

    @Slot(object)
    def _show(self, items: "tuple[QueuedDownload, ...]") -> None:
        listed = {item.id for item in items}
        for item_id in [item_id for item_id in self.rows if item_id not in listed]:
            row = self.rows.pop(item_id)
            row.hide()
            row.deleteLater()
        # What runs comes first, what ended last.
        order = {"running": 0, "failed": 1, "waiting": 2, "paused": 3, "finished": 4}
        for place, item in enumerate(sorted(items, key=lambda item: order[item.state])):
            row = self.rows.get(item.id)
            if row is None:
                row = self.rows[item.id] = DownloadRow(item, self._icons)
                row.did.connect(self._do)
            else:
                row.show_item(item)
            if self._column.indexOf(row) != place:
                self._column.insertWidget(place, row)
        self.setVisible(bool(items))
        self._area.setFixedHeight(min(_MOST_HEIGHT, self._height()))

    def _height(self) -> int:
        width = max(self.width() - 48, 200)
        # A row without a wrapped sentence has no height for a width.
        heights = [row.heightForWidth(width) if row.hasHeightForWidth() else -1 for row in self.rows.values()]
        hints = [row.sizeHint().height() for row in self.rows.values()]
        return 8 + sum(height if height > 0 else hint for height, hint in zip(heights, hints, strict=True))

    @Slot(int, str)
    def _do(self, item_id: int, verb: str) -> None:
        item = self.rows[item_id].item
        if verb == "open":
            self.open_wanted.emit(model_path(item))
        elif verb == "page":
            self.link_wanted.emit(item.page)
        elif verb == "sign_in":
            self.sign_in_wanted.emit()
        elif verb == "remove" and item.state != "finished":
            self.cancel_wanted.emit(item_id)
        else:
            {"pause": self._downloads.pause, "resume": self._downloads.resume, "remove": self._downloads.remove}[verb](
                item_id
            )

    def sizeHint(self) -> QSize:
        return QSize(400, self._area.height())


def _title(item: "QueuedDownload") -> str:
    only = item.plan.files[0].path if len(item.plan.files) == 1 else ""
    name = plain(item.plan.repo.partition("/")[2], 80)
    return f"{name} · {plain(only, 80)}" if only.endswith(".gguf") else name
