"""The preset that a chat began with, what differs from it, and all that can be done with presets."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from llama_gui.bridge.presets import differing
from llama_gui.ui.icons import Icons
from llama_gui.ui.name_question import ask_name
from llama_gui.ui.parameter_table import GROUPS
from llama_gui.ui.picker import Picker
from llama_gui.ui.theme import theme_of
from llama_gui.ui.widgets import plain_action, plain_tip
from llama_gui.vocabulary import ChatSettings


class PresetPicker(Picker):
    """Shows the preset of the current chat; its menu applies, saves, renames and deletes."""

    chosen = Signal(object)
    """`ChatSettings` that the chat shall have."""
    save_wanted = Signal(str, object)
    rename_wanted = Signal(str, str)
    delete_wanted = Signal(str)
    default_wanted = Signal(str)
    """The preset for new chats; "" is none."""

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons)
        self._settings = ChatSettings()
        self._presets: dict[str, ChatSettings] = {}
        self._default = ""
        self.clicked.connect(self.open_menu)
        self._show()

    def show_settings(self, settings: ChatSettings) -> None:
        """What the current chat has."""
        self._settings = settings
        self._show()

    @Slot(object)
    def show_presets(self, presets: dict[str, ChatSettings]) -> None:
        """The presets that there are."""
        self._presets = presets
        self._show()

    def show_default(self, name: str) -> None:
        """Which of them new chats begin with."""
        self._default = name
        self._show()

    def differences(self) -> list[str]:
        """What is not as in the chat's preset, in words; nothing where the chat has none."""
        preset = self._presets.get(self._settings.preset)
        return [self._words(name) for name in differing(self._settings, preset)] if preset is not None else []

    def _words(self, name: str) -> str:
        names = {spec.name: spec.name_text for group in GROUPS for spec in group.parameters}
        names |= {"system_prompt": self.tr("System prompt"), "stop": self.tr("Stop strings")}
        return names.get(name, name)

    def _show(self) -> None:
        name = self._settings.preset if self._settings.preset in self._presets else ""
        differences = self.differences()
        if not name:
            is_plain = self._is_plain()
            self.setText(self.tr("The model's defaults") if is_plain else self.tr("None"))
        else:
            self.setText(name)
        self.set_note(self.tr("{} changed").format(len(differences)) if differences else "")
        tip = self.tr("Not as in “{}”: {}").format(name, ", ".join(differences)) if differences else ""
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(self.tr("Preset: {}").format(self.text()))
        self.setAccessibleDescription(tip)
        self.update()

    def _is_plain(self) -> bool:
        return self._settings.as_preset() == ChatSettings()

    # The menu

    @Slot()
    def open_menu(self) -> None:
        """Show all presets."""
        self.pop_up(self.make_menu())

    def make_menu(self) -> QMenu:
        """All presets, and what can be done with the one of this chat."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setProperty("ticks", "icons")
        current = self._settings.preset if self._settings.preset in self._presets else ""
        plain = menu.addAction(self.tr("The model's defaults"))
        self._tick(plain, not current and self._is_plain())
        plain.triggered.connect(partial(self._apply, ChatSettings()))
        for name, settings in self._presets.items():
            star = self.tr("  ·  for new chats") if name == self._default else ""
            action = menu.addAction(plain_action(name + star))
            self._tick(action, name == current)
            action.triggered.connect(partial(self._apply, settings))
        menu.addSeparator()
        menu.addAction(self.tr("Save as a preset…")).triggered.connect(self.ask_for_name)
        if current:
            self._add_verbs(menu, current)
        return menu

    def _add_verbs(self, menu: QMenu, name: str) -> None:
        shown = plain_action(name)
        if self.differences():
            keep = menu.addAction(self.tr("Keep the changes in “{}”").format(shown))
            keep.triggered.connect(lambda _=False: self.save_wanted.emit(name, self._settings))
        menu.addAction(self.tr("Rename “{}”…").format(shown)).triggered.connect(self.ask_for_new_name)
        delete = menu.addAction(self.tr("Delete “{}”").format(shown))
        delete.triggered.connect(lambda _=False: self.delete_wanted.emit(name))
        menu.addSeparator()
        default = menu.addAction(self.tr("New chats begin with “{}”").format(shown))
        self._tick(default, name == self._default)
        default.triggered.connect(lambda checked: self.default_wanted.emit(name if checked else ""))

    def _tick(self, action: QAction, is_on: bool) -> None:
        action.setCheckable(True)
        action.setChecked(is_on)
        if is_on:  # in the place of Qt's own, as in the menu of models
            action.setIcon(self._icons.icon("check", theme_of(self).color("accent")))

    def _apply(self, settings: ChatSettings, _checked: bool = False) -> None:
        self.chosen.emit(self._settings.with_preset(settings))

    @Slot()
    def ask_for_name(self) -> None:
        """Let the user name this chat's settings."""
        self._ask(self.tr("Save as a preset"), self.tr("Save"), self._save_as)

    @Slot()
    def ask_for_new_name(self) -> None:
        """Let the user name the chat's preset anew."""
        self._ask(self.tr("Rename the preset"), self.tr("Rename"), self._rename)

    def _ask(self, title: str, verb: str, then: Callable[[str], object]) -> None:
        question = self.tr("Name of the preset. One of the same name is replaced, which can be undone.")
        ask_name(self, title, question, self._settings.preset, verb, then, most=80)

    @Slot(str)
    def _save_as(self, name: str) -> None:
        name = " ".join(name.split())
        if name:
            self.save_wanted.emit(name, self._settings)
            self.chosen.emit(replace(self._settings, preset=name))

    @Slot(str)
    def _rename(self, name: str) -> None:
        self.rename_wanted.emit(self._settings.preset, name)
