"""How one chat asks its model: the model, the system prompt, the sampling, the length, the stops."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from llama_gui.ui.icons import Icons
from llama_gui.ui.parameter import Number, ParameterRow, ParameterSpec
from llama_gui.ui.theme import FRAME_PX, RADIUS, TINY_PX, frame_font, theme_of
from llama_gui.ui.widgets import Surface, paint_focus, plain_label, plain_tip
from llama_gui.vocabulary import SAMPLING_RANGES, ChatSettings, ModelEntry, SamplingParams

PANEL_WIDTH = 272
_TYPING_MS = 400
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}


def _sampling(name: str, label: str, tip: str, slider: tuple[float, float, float] | None, **more: Any) -> ParameterSpec:
    low, high, is_integer = SAMPLING_RANGES[name]
    return ParameterSpec(name, label, low, high, is_integer, tip, slider, **more)


PARAMETERS: tuple[ParameterSpec, ...] = (
    _sampling(
        "temperature", "Temperature", "How daring the choice of words is; 0 always takes the likeliest.", (0, 2, 0.05)
    ),
    _sampling(
        "top_p",
        "Top-p",
        "Only the likeliest words that together reach this probability; 1 is off.",
        (0, 1, 0.01),
        excludes_low=True,
    ),
    _sampling("top_k", "Top-k", "Only this many of the likeliest words; 0 is off.", (0, 200, 1)),
    _sampling("min_p", "Min-p", "Only words at least this probable beside the likeliest; 0 is off.", (0, 1, 0.01)),
    _sampling(
        "repetition_penalty",
        "Repetition penalty",
        "Above 1 makes words that were used less likely; 1 is off.",
        (0.8, 2, 0.01),
        excludes_low=True,
    ),
    ParameterSpec(
        "max_tokens", "Max tokens", 1, float("inf"), True, "How long an answer may become.", no_default="no limit"
    ),
    _sampling("seed", "Seed", "The same seed and settings give the same answer.", None, no_default="random"),
)


def escape_stop(text: str) -> str:
    """A stop string on one line, with its invisible characters made visible."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def parse_stops(text: str) -> tuple[str, ...]:
    """Stop strings, one to a line; ``\\n``, ``\\t``, ``\\r`` and ``\\\\`` stand for what they usually do."""
    lines = (re.sub(r"\\[ntr\\]", lambda match: _ESCAPES[match.group()], line) for line in text.split("\n"))
    return tuple(dict.fromkeys(line for line in lines if line))


class ModelPicker(QAbstractButton):
    """Shows the model in use; its menu holds the others."""

    model_chosen = Signal(str)
    folder_wanted = Signal()

    def __init__(self, entries: Callable[[], list[ModelEntry]], icons: Icons) -> None:
        super().__init__()
        self._entries = entries
        self._icons = icons
        self._path = ""
        self.setFont(frame_font(FRAME_PX))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self.open_menu)
        self.set_model("", "")

    def set_model(self, name: str, path: str) -> None:
        """Show a model as the one in use."""
        self._path = path
        self.setText(name or self.tr("No model"))
        self.setAccessibleName(self.tr("Model: {}").format(self.text()))
        self.setToolTip(plain_tip(path))
        self.update()

    @Slot()
    def open_menu(self) -> None:
        """Offer the models on this machine."""
        self.make_menu().popup(self.mapToGlobal(QPoint(0, self.height() + 4)))

    def make_menu(self) -> QMenu:
        """The models on this machine, and the way to others."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for entry in self._entries():
            action = menu.addAction(f"{entry.name}  ·  {size_text(entry.size)}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(entry.path == self._path)
            action.triggered.connect(lambda _=False, path=entry.path: self.model_chosen.emit(path))
        menu.addSeparator()
        menu.addAction(self.tr("Open model folder…")).triggered.connect(self.folder_wanted)
        menu.setMinimumWidth(self.width())
        return menu

    def sizeHint(self) -> QSize:
        return QSize(200, 34)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self)
        rect = QRectF(self.rect())
        painter.setPen(QPen(theme.color("muted" if self.underMouse() else "line"), 1))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        if self.hasFocus():
            paint_focus(painter, rect, theme.color("accent"), RADIUS)
        painter.setPen(theme.color("text"))
        text = QFontMetrics(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width() - 44)
        painter.drawText(rect.adjusted(11, 0, -32, 0), Qt.AlignmentFlag.AlignVCenter, text)
        pixmap = self._icons.pixmap("chevron-down", theme.color("muted"), 14, self.devicePixelRatioF())
        painter.drawPixmap(self.width() - 24, (self.height() - 14) // 2, pixmap)


class SettingsPanel(Surface):
    """Shows and changes the `ChatSettings` of the current chat."""

    settings_edited = Signal(object)

    def __init__(self, entries: Callable[[], list[ModelEntry]], icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__("side", "left", parent)
        self._settings = ChatSettings()
        self.setFixedWidth(PANEL_WIDTH)
        self.picker = ModelPicker(entries, icons)
        self.system_prompt = self._field(self.tr("System prompt"), self.tr("None"), 66)
        self.stops = self._field(self.tr("Stop strings"), self.tr("One on each line; \\n is a line break"), 52)
        self.rows = {spec.name: ParameterRow(spec, icons) for spec in PARAMETERS}
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self.take_texts)
        self._lay_out()
        for row in self.rows.values():
            row.changed.connect(self._take)
        for field in (self.system_prompt, self.stops):
            field.textChanged.connect(self._typing.start)

    def _field(self, name: str, placeholder: str, height: int) -> QPlainTextEdit:
        field = QPlainTextEdit()
        field.setProperty("field", True)
        field.setAccessibleName(name)
        field.setPlaceholderText(placeholder)
        field.setTabChangesFocus(True)
        field.setFixedHeight(height)
        return field

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(17, 14, 17, 16)
        column.setSpacing(8)
        self._section(column, self.tr("Model"), self.picker)
        column.addSpacing(6)
        self._section(column, self.tr("System prompt"), self.system_prompt)
        column.addSpacing(4)
        for row in self.rows.values():
            column.addWidget(row)
        column.addSpacing(4)
        self._section(column, self.tr("Stop strings"), self.stops)
        column.addStretch(1)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        area.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.addWidget(area)

    def _section(self, column: QVBoxLayout, name: str, widget: QWidget) -> None:
        label = plain_label(name, "muted", TINY_PX, bold=True)
        label.setBuddy(widget)
        column.addWidget(label)
        column.addWidget(widget)

    # What is shown

    @Slot(object)
    def show_settings(self, settings: ChatSettings) -> None:
        """Show another chat's settings. A text that is being typed into the same chat is left alone."""
        if settings == self._settings:
            return
        self._settings = settings
        for name, row in self.rows.items():
            row.set_value(settings.max_tokens if name == "max_tokens" else getattr(settings.sampling, name))
        stops = "\n".join(escape_stop(stop) for stop in settings.stop)
        for field, text in ((self.system_prompt, settings.system_prompt), (self.stops, stops)):
            field.blockSignals(True)
            field.setPlainText(text)
            field.blockSignals(False)

    def show_defaults(self, sampling: SamplingParams) -> None:
        """Show what the model recommends."""
        for name, row in self.rows.items():
            if name != "max_tokens":
                row.set_default(getattr(sampling, name))

    # What the user changes

    @Slot(str, object)
    def _take(self, name: str, value: Number | None) -> None:
        if name == "max_tokens":
            self._edit(replace(self._settings, max_tokens=value))
        else:
            self._edit(replace(self._settings, sampling=replace(self._settings.sampling, **{name: value})))

    @Slot()
    def take_texts(self) -> None:
        """Take what was typed into the two fields; at once before the tab changes or a message is sent."""
        self._typing.stop()
        prompt, stops = self.system_prompt.toPlainText(), parse_stops(self.stops.toPlainText())
        self._edit(replace(self._settings, system_prompt=prompt, stop=stops))

    def _edit(self, settings: ChatSettings) -> None:
        if settings != self._settings:
            self._settings = settings
            self.settings_edited.emit(settings)


def size_text(size: float) -> str:
    """Bytes in words: 14 MB, 2.5 GB."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
