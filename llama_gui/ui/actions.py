"""Everything the window can do, in one list: menus, keys, the palette and the help read it."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One thing to do. Ctrl in `keys` is Cmd on macOS; the first key is the one that is shown."""

    name: str
    text: str
    keys: tuple[str, ...] = ()
    group: str = "Chat"
    in_palette: bool = True


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new_tab", "New chat", ("Ctrl+T",), "Tabs"),
    ActionSpec("close_tab", "Close tab", ("Ctrl+W",), "Tabs"),
    ActionSpec("reopen_tab", "Reopen closed tab", ("Ctrl+Shift+T",), "Tabs"),
    ActionSpec("next_tab", "Next tab", ("Ctrl+Tab", "Ctrl+PgDown"), "Tabs"),
    ActionSpec("previous_tab", "Previous tab", ("Ctrl+Shift+Tab", "Ctrl+PgUp"), "Tabs"),
    *(ActionSpec(f"tab_{n}", f"Go to tab {n}", (f"Ctrl+{n}",), "Tabs", in_palette=False) for n in range(1, 9)),
    ActionSpec("tab_9", "Go to the last tab", ("Ctrl+9",), "Tabs"),
    ActionSpec("stop", "Stop this answer", ("Esc",), "Chat"),
    ActionSpec("regenerate", "Answer again", ("Ctrl+R",), "Chat"),
    ActionSpec("edit_last", "Edit last message", ("Ctrl+Up",), "Chat"),
    ActionSpec("previous_version", "Previous version", ("Alt+Left",), "Chat"),
    ActionSpec("next_version", "Next version", ("Alt+Right",), "Chat"),
    ActionSpec("continue_answer", "Go on with the last answer", (), "Chat"),
    ActionSpec("edit_answer", "Edit the last answer", (), "Chat"),
    ActionSpec("regenerate_with", "Answer again with another model…", (), "Chat"),
    ActionSpec("run_again", "Run the last answer again", (), "Chat"),
    ActionSpec("fork", "Fork this chat into a new tab", (), "Chat"),
    ActionSpec("copy_answer", "Copy last answer", ("Ctrl+Shift+C",), "Chat"),
    ActionSpec("branches", "Show branches", ("Ctrl+Shift+M",), "Chat"),
    ActionSpec("reasoning", "Show or hide the reasoning", ("Ctrl+Shift+R",), "Chat"),
    ActionSpec("find", "Find in this chat", ("Ctrl+F",), "Chat"),
    ActionSpec("find_next", "Find next", ("F3",), "Chat", in_palette=False),
    ActionSpec("find_previous", "Find previous", ("Shift+F3",), "Chat", in_palette=False),
    ActionSpec("focus_composer", "Write a message", ("Ctrl+L",), "Chat"),
    ActionSpec("models", "Choose a model", ("Ctrl+M",), "Model"),
    ActionSpec("open_model", "Open model folder…", (), "Model"),
    ActionSpec("open_model_file", "Open GGUF file…", (), "Model"),
    ActionSpec("endpoints", "Remote servers…", (), "Model"),
    ActionSpec("server", "Let other programs use the models…", (), "Model"),
    ActionSpec("rename_chat", "Rename this chat", (), "Chats"),
    ActionSpec("archive_chat", "Archive this chat", (), "Chats"),
    ActionSpec("delete_chat", "Delete this chat", (), "Chats"),
    ActionSpec("import_chats", "Import chats…", (), "Chats"),
    ActionSpec("import_folder", "Import a folder of chats…", (), "Chats"),
    ActionSpec("export_chat", "Export this chat…", (), "Chats"),
    ActionSpec("export_all", "Export all chats…", (), "Chats"),
    ActionSpec("bin", "Open the bin", (), "Chats"),
    ActionSpec("sidebar", "Show or hide the chat list", ("Ctrl+B",), "View"),
    ActionSpec("settings_panel", "Show or hide the settings", ("Ctrl+.",), "View"),
    ActionSpec("search", "Search in all chats", ("Ctrl+Shift+F",), "View"),
    ActionSpec("zoom_in", "Larger text", ("Ctrl++", "Ctrl+="), "View"),
    ActionSpec("zoom_out", "Smaller text", ("Ctrl+-",), "View"),
    ActionSpec("zoom_reset", "Normal text size", ("Ctrl+0",), "View"),
    ActionSpec("scheme_system", "Colours: as the system", (), "View"),
    ActionSpec("scheme_light", "Colours: light", (), "View"),
    ActionSpec("scheme_dark", "Colours: dark", (), "View"),
    ActionSpec("preferences", "Preferences", ("Ctrl+,",), "Help"),
    ActionSpec("palette", "All actions", ("Ctrl+K",), "Help", in_palette=False),
    ActionSpec("help", "Keys and help", ("F1",), "Help"),
    ActionSpec("quit", "Quit", ("Ctrl+Q",), "Help"),
)


def _native(keys: str) -> str:
    """Cmd+Tab belongs to macOS; there, as in its browsers, tabs are changed with the real Ctrl key."""
    return keys.replace("Ctrl+", "Meta+") if sys.platform == "darwin" and keys.endswith("Tab") else keys


class Actions:
    """The actions of one window, by name."""

    def __init__(self, window: QWidget) -> None:
        self._specs = {spec.name: spec for spec in ACTIONS}
        self._actions = {spec.name: self._make(spec, window) for spec in ACTIONS}

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def __iter__(self) -> Iterator[tuple[ActionSpec, QAction]]:
        for name, spec in self._specs.items():
            yield spec, self._actions[name]

    def keys(self, name: str) -> str:
        """The keys of an action, as this platform writes them."""
        return self._actions[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText)

    def _make(self, spec: ActionSpec, window: QWidget) -> QAction:
        action = QAction(QCoreApplication.translate("Actions", spec.text), window)
        action.setObjectName(spec.name)
        action.setShortcuts([QKeySequence(_native(keys)) for keys in spec.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        window.addAction(action)
        return action
