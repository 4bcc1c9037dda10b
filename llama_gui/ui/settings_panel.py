"""How one chat asks its model: the model, the system prompt, the sampling, the length, the stops."""

import re
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget

from llama_gui.ui.choice_row import ChoiceRow
from llama_gui.ui.fold_group import FOLD_EDGE, FoldGroup
from llama_gui.ui.growing_text import GrowingText
from llama_gui.ui.icons import Icons
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.model_picker import ModelPicker
from llama_gui.ui.parameter import ParameterRow
from llama_gui.ui.parameter_table import BASICS, GROUPS, Number, ParameterGroup, ParameterSpec
from llama_gui.ui.presets_menu import PresetPicker
from llama_gui.ui.theme import FRAME_PX, TINY_PX
from llama_gui.ui.widgets import Surface, plain_label
from llama_gui.vocabulary import ChatSettings, SamplingParams

LEAST_WIDTH, MOST_WIDTH = 240, 480
_TYPING_MS = 400
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}


def escape_stop(text: str) -> str:
    """A stop string on one line, with its invisible characters made visible."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def parse_stops(text: str) -> tuple[str, ...]:
    """Stop strings, one to a line; ``\\n``, ``\\t``, ``\\r`` and ``\\\\`` stand for what they usually do."""
    lines = (re.sub(r"\\[ntr\\]", lambda match: _ESCAPES[match.group()], line) for line in text.split("\n"))
    return tuple(dict.fromkeys(line for line in lines if line))


_EDGE, _BAR = 17, 10
"""Beside what is shown; and so much of it is the place of the bar where it scrolls."""


class SettingsPanel(Surface):
    """Shows and changes the `ChatSettings` of the current chat."""

    settings_edited = Signal(object)
    folded_changed = Signal(object)
    """tuple[str, ...]: the groups that are open."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__("side", "left", parent)
        self._settings = ChatSettings()
        self.setMinimumWidth(LEAST_WIDTH)
        self.setMaximumWidth(MOST_WIDTH)
        self.picker = ModelPicker(icons)
        self.presets = PresetPicker(icons)
        self.preset_bar = InfoBar(icons, is_narrow=True)
        self.system_prompt = self._field(self.tr("System prompt"), self.tr("None"), 66)
        self.stops = self._field(self.tr("Stop strings"), self.tr("One on each line; \\n is a line break"), 52)
        self._help_texts: dict[QObject, str] = {}
        self._is_mouse_asking = False
        self._look_again = QTimer(self, singleShot=True, interval=0)
        self._look_again.timeout.connect(self._explain_under_mouse)
        self.help = plain_label("", "muted", TINY_PX)
        self.rows: dict[str, ParameterRow | ChoiceRow] = {}
        self.groups: dict[str, FoldGroup] = {}
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self.take_texts)
        self._lay_out(icons)
        for row in self.rows.values():
            row.changed.connect(self._take)
        for field in (self.system_prompt, self.stops):
            field.textChanged.connect(self._take_texts_soon)
        for group in self.groups.values():
            group.folded.connect(self._tell_folded)
        self.presets.chosen.connect(self._edit_and_show)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus)

    def _field(self, name: str, placeholder: str, height: int) -> GrowingText:
        field = GrowingText(height)
        field.setProperty("field", True)
        field.setAccessibleName(name)
        field.setPlaceholderText(placeholder)
        field.setTabChangesFocus(True)
        return field

    def _add_group(self, group: ParameterGroup, icons: Icons, inner: QWidget) -> None:
        fold = self.groups[group.name] = FoldGroup(group.name_text, icons, inner, is_open=group.is_open)
        self._column.addWidget(fold)
        body = fold.body
        for spec in group.parameters:
            row = ParameterRow(spec, icons, body) if isinstance(spec, ParameterSpec) else ChoiceRow(spec, icons, body)
            self.rows[spec.name] = row
            self._explain(row, spec.tip_text)
            fold.add(row)
        if group is BASICS:
            fold.add(self._stop_strings(body))

    def _stop_strings(self, parent: QWidget) -> QWidget:
        box = QWidget(parent)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(6)
        label = plain_label(self.tr("Stop strings"), "text", FRAME_PX)
        label.setBuddy(self.stops)
        column.addWidget(label)
        column.addWidget(self.stops)
        self.stops.setAccessibleDescription(self.tr("The answer ends before one of these texts."))
        self._explain(box, self.tr("The answer ends before one of these texts; one on each line."))
        return box

    def _lay_out(self, icons: Icons) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 1, 0)
        layout.setSpacing(0)
        inner = QWidget()
        layout.addWidget(self._scrolling(inner), 1)  # still empty: what moves is dressed anew with all that is in it
        self._column = column = QVBoxLayout(inner)
        column.setContentsMargins(_EDGE - FOLD_EDGE, 14, _EDGE - FOLD_EDGE, 16)
        column.setSpacing(8)
        first = QVBoxLayout()
        first.setContentsMargins(FOLD_EDGE, 0, FOLD_EDGE, 0)
        first.setSpacing(8)
        self._section(first, self.tr("Model"), self.picker)
        first.addSpacing(6)
        self._section(first, self.tr("System prompt"), self.system_prompt)
        column.addLayout(first)
        self._explain(
            self.system_prompt, self.tr("What the model is told before the conversation; for this chat only.")
        )
        column.addSpacing(2)
        for group in GROUPS:
            self._add_group(group, icons, inner)
        column.addStretch(1)
        layout.addWidget(self._foot())

    def _scrolling(self, inner: QWidget) -> QScrollArea:
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        area.viewport().setAutoFillBackground(False)
        bar = area.verticalScrollBar()
        bar.rangeChanged.connect(self._keep_width)
        for moved in (bar.rangeChanged, bar.valueChanged):
            moved.connect(lambda *_place: self._look_again.start())  # `start` would take a place for a time
        inner.setAutoFillBackground(False)
        self._area = area
        return area

    @Slot(int, int)
    def _keep_width(self, _low: int, high: int) -> None:
        """What scrolls is as wide as what does not: the bar takes its place from the margin."""
        margins = self._column.contentsMargins()
        margins.setRight(_EDGE - FOLD_EDGE - (_BAR if high else 0))
        self._column.setContentsMargins(margins)

    def _foot(self) -> QWidget:
        """Below what scrolls: the explanation of what the mouse or the keyboard is at, and the preset."""
        foot = Surface("side", "top")
        column = QVBoxLayout(foot)
        column.setContentsMargins(_EDGE, 9, _EDGE, 14)
        column.setSpacing(8)
        self.help.setWordWrap(True)
        self.help.setFixedHeight(2 * self.help.fontMetrics().lineSpacing() + 2)
        self.help.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._say_help("")
        column.addWidget(self.help)
        column.addWidget(self.preset_bar)
        self._section(column, self.tr("Preset"), self.presets)
        self._explain(self.presets, self.tr("All of these settings under a name, for other chats too."))
        return foot

    def _section(self, column: QVBoxLayout, name: str, widget: QWidget) -> None:
        label = plain_label(name, "muted", TINY_PX, bold=True)
        label.setBuddy(widget)
        column.addWidget(label)
        column.addWidget(widget)

    # The explanations

    def _explain(self, widget: QWidget, text: str) -> None:
        """Say this while the mouse is over `widget` or the keyboard in it."""
        self._help_texts[widget] = text
        widget.installEventFilter(self)  # the mouse is over a widget also when it is over a part of it

    def _help_of(self, part: QWidget | None) -> str:
        while part is not None and part is not self:
            if part in self._help_texts:
                return self._help_texts[part]
            part = part.parentWidget()
        return ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Enter:
            self._is_mouse_asking = True
            self._say_help(self._help_texts.get(watched, ""))
        elif event.type() == QEvent.Type.Leave:
            self._is_mouse_asking = False
            self._say_help(self._help_of(QApplication.focusWidget()))
        return super().eventFilter(watched, event)

    @Slot(QWidget, QWidget)
    def _on_focus(self, former: QWidget | None, now: QWidget | None) -> None:
        text = self._help_of(now)
        if text or self._help_of(former):
            self._is_mouse_asking = False
            self._say_help(text)

    @Slot()
    def _explain_under_mouse(self) -> None:
        """Rows that are scrolled or unfolded move below a mouse that stands still, of which Qt tells nobody."""
        if self._is_mouse_asking:
            self._say_help(self._help_of(self.childAt(self.mapFromGlobal(QCursor.pos()))))

    def _say_help(self, text: str) -> None:
        self.help.setText(text or self.tr("Changes apply from the next answer."))

    # The fields, by name

    def field_names(self) -> dict[str, str]:
        """What each field is called, in the user's language, by its name in `ChatSettings` or `SamplingParams`."""
        texts = {"system_prompt": self.system_prompt, "stop": self.stops}
        return {name: field.accessibleName() for name, field in texts.items()} | {
            name: row.spec.name_text for name, row in self.rows.items()
        }

    def go_to(self, name: str) -> None:
        """Put the keyboard into a field, which is unfolded and scrolled to."""
        texts: dict[str, QWidget] = {"system_prompt": self.system_prompt, "stop": self.stops}
        field = texts.get(name) or self.rows[name].field
        for group in self.groups.values():
            if group.isAncestorOf(field):
                group.open()
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        # Later: what was just shown or unfolded has no place yet.
        QTimer.singleShot(0, self, partial(self._area.ensureWidgetVisible, field, 0, 40))

    # What is shown

    def show_settings(self, settings: ChatSettings) -> None:
        """Show another chat's settings. A text that is being typed into the same chat is left alone."""
        if settings == self._settings:
            return
        self._settings = settings
        for name, row in self.rows.items():
            row.set_value(getattr(settings.sampling if row.spec.of_sampling else settings, name))
        stops = "\n".join(escape_stop(stop) for stop in settings.stop)
        for field, text in ((self.system_prompt, settings.system_prompt), (self.stops, stops)):
            if field.toPlainText() != text:
                field.blockSignals(True)
                field.setPlainText(text)
                field.blockSignals(False)
        self._show_changes()

    def open_groups(self, names: Collection[str]) -> None:
        """Open these groups, and fold the others away."""
        for name, group in self.groups.items():
            group.open(name in names)

    @Slot()
    def _tell_folded(self) -> None:
        self.folded_changed.emit(tuple(name for name, group in self.groups.items() if group.is_open()))

    def show_defaults(self, sampling: SamplingParams) -> None:
        """Show what the model recommends."""
        for name, row in self.rows.items():
            if isinstance(row, ParameterRow) and row.spec.of_sampling:
                row.set_default(getattr(sampling, name))

    def show_server_defaults(self) -> None:
        """Show that a server decides what is not sent to it. A seed is drawn here or there, at random in any case."""
        self._name_defaults(self.tr("the server’s default"))

    def show_unknown_defaults(self) -> None:
        """Show that the model decides, which recommends something once it is loaded."""
        self._name_defaults(self.tr("the model’s default"))

    def _name_defaults(self, words: str) -> None:
        for name, row in self.rows.items():
            if isinstance(row, ParameterRow) and row.spec.of_sampling:
                row.set_default(None, "" if name == "seed" else words)

    def _show_changes(self) -> None:
        self.presets.show_settings(self._settings)
        for group in GROUPS:
            changed = sum(self.rows[spec.name].value() is not None for spec in group.parameters)
            self.groups[group.name].set_changed(changed + (group is BASICS and bool(self._settings.stop)))

    # What the user changes

    @Slot(str, object)
    def _take(self, name: str, value: Number | str | None) -> None:
        changes: dict[str, Any] = {name: value}
        if self.rows[name].spec.of_sampling:
            changes = {"sampling": replace(self._settings.sampling, **changes)}
        self._edit(replace(self._settings, **changes))

    @Slot()
    def _take_texts_soon(self) -> None:
        if not self._typing.isActive():  # starting it again would put it off until the user pauses
            self._typing.start()

    @Slot()
    def take_texts(self) -> None:
        """Take what was typed into the two fields; at once before the tab changes or a message is sent."""
        self._typing.stop()
        prompt, stops = self.system_prompt.toPlainText(), parse_stops(self.stops.toPlainText())
        self._edit(replace(self._settings, system_prompt=prompt, stop=stops))

    @Slot(object)
    def _edit_and_show(self, settings: ChatSettings) -> None:
        """Take all settings of a preset."""
        self._typing.stop()
        self.show_settings(settings)
        self.settings_edited.emit(settings)

    def _edit(self, settings: ChatSettings) -> None:
        if settings != self._settings:
            self._settings = settings
            self._show_changes()
            self.settings_edited.emit(settings)
