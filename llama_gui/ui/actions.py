"""Everything the window can do, in one list: menus, keys, the palette and the help read it."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from llama_gui.ui.translatable import QT_TRANSLATE_NOOP


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One thing to do. Ctrl in `keys` is Cmd on macOS; the first key is the one that is shown."""

    name: str
    text: str
    keys: tuple[str, ...] = ()
    group: str = "Chat"
    in_palette: bool = True

    @property
    def shown(self) -> str:
        """What it is called, in the user's language."""
        return QCoreApplication.translate("Actions", self.text).format(self.name.removeprefix("tab_"))

    @property
    def group_shown(self) -> str:
        """What its group is called, in the user's language."""
        return QCoreApplication.translate("Actions", self.group)


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new_tab", QT_TRANSLATE_NOOP("Actions", "New chat"), ("Ctrl+T", "Ctrl+N"), "Tabs"),
    ActionSpec("close_tab", QT_TRANSLATE_NOOP("Actions", "Close tab"), ("Ctrl+W",), "Tabs"),
    ActionSpec("reopen_tab", QT_TRANSLATE_NOOP("Actions", "Reopen closed tab"), ("Ctrl+Shift+T",), "Tabs"),
    ActionSpec("next_tab", QT_TRANSLATE_NOOP("Actions", "Next tab"), ("Ctrl+Tab", "Ctrl+PgDown"), "Tabs"),
    ActionSpec("previous_tab", QT_TRANSLATE_NOOP("Actions", "Previous tab"), ("Ctrl+Shift+Tab", "Ctrl+PgUp"), "Tabs"),
    *(
        ActionSpec(f"tab_{n}", QT_TRANSLATE_NOOP("Actions", "Go to tab {}"), (f"Ctrl+{n}",), "Tabs", in_palette=False)
        for n in range(1, 9)
    ),
    ActionSpec("tab_9", QT_TRANSLATE_NOOP("Actions", "Go to the last tab"), ("Ctrl+9",), "Tabs"),
    ActionSpec(
        "split_view",
        QT_TRANSLATE_NOOP("Actions", "Two chats side by side, or one again"),
        ("Ctrl+Shift+B", "Ctrl+\\"),
        "Tabs",
    ),
    ActionSpec("chat_beside", QT_TRANSLATE_NOOP("Actions", "Go to the chat beside"), ("F6",), "Tabs"),
    ActionSpec("stop", QT_TRANSLATE_NOOP("Actions", "Stop this answer"), ("Esc",), "Chat"),
    ActionSpec("regenerate", QT_TRANSLATE_NOOP("Actions", "Answer again"), ("Ctrl+R",), "Chat"),
    ActionSpec("edit_last", QT_TRANSLATE_NOOP("Actions", "Edit last message"), ("Ctrl+Up",), "Chat"),
    ActionSpec("attach", QT_TRANSLATE_NOOP("Actions", "Attach files…"), ("Ctrl+Shift+A",), "Chat"),
    ActionSpec("thinking", QT_TRANSLATE_NOOP("Actions", "Think before the answers, or not"), ("Ctrl+Shift+K",), "Chat"),
    ActionSpec("tools", QT_TRANSLATE_NOOP("Actions", "Tools of this chat…"), ("Ctrl+Shift+O",), "Chat"),
    ActionSpec("folder", QT_TRANSLATE_NOOP("Actions", "Documents of a folder…"), (), "Chat"),
    ActionSpec("previous_version", QT_TRANSLATE_NOOP("Actions", "Previous version"), ("Alt+Left",), "Chat"),
    ActionSpec("next_version", QT_TRANSLATE_NOOP("Actions", "Next version"), ("Alt+Right",), "Chat"),
    ActionSpec("continue_answer", QT_TRANSLATE_NOOP("Actions", "Go on with the last answer"), (), "Chat"),
    ActionSpec("edit_answer", QT_TRANSLATE_NOOP("Actions", "Edit the last answer"), (), "Chat"),
    ActionSpec("regenerate_with", QT_TRANSLATE_NOOP("Actions", "Answer again with another model…"), (), "Chat"),
    ActionSpec(
        "words", QT_TRANSLATE_NOOP("Actions", "Look at the words of the last answer"), ("Ctrl+Shift+L",), "Chat"
    ),
    ActionSpec("run_again", QT_TRANSLATE_NOOP("Actions", "Run the last answer again"), (), "Chat"),
    ActionSpec("fork", QT_TRANSLATE_NOOP("Actions", "Fork this chat into a new tab"), (), "Chat"),
    ActionSpec("copy_answer", QT_TRANSLATE_NOOP("Actions", "Copy last answer"), ("Ctrl+Shift+C",), "Chat"),
    ActionSpec("branches", QT_TRANSLATE_NOOP("Actions", "Show branches"), ("Ctrl+Shift+M",), "Chat"),
    ActionSpec("reasoning", QT_TRANSLATE_NOOP("Actions", "Show or hide the reasoning"), ("Ctrl+Shift+R",), "Chat"),
    ActionSpec("sources", QT_TRANSLATE_NOOP("Actions", "Show or hide the sources of the last answer"), (), "Chat"),
    ActionSpec("find", QT_TRANSLATE_NOOP("Actions", "Find in this chat"), ("Ctrl+F",), "Chat"),
    ActionSpec("find_next", QT_TRANSLATE_NOOP("Actions", "Find next"), ("F3",), "Chat", in_palette=False),
    ActionSpec("find_previous", QT_TRANSLATE_NOOP("Actions", "Find previous"), ("Shift+F3",), "Chat", in_palette=False),
    ActionSpec("focus_composer", QT_TRANSLATE_NOOP("Actions", "Write a message"), ("Ctrl+L",), "Chat"),
    ActionSpec("models", QT_TRANSLATE_NOOP("Actions", "Choose a model"), ("Ctrl+M",), "Model"),
    ActionSpec("load_options", QT_TRANSLATE_NOOP("Actions", "Context length, precision and threads…"), (), "Model"),
    ActionSpec("presets", QT_TRANSLATE_NOOP("Actions", "Choose or save a preset"), (), "Model"),
    ActionSpec("find_models", QT_TRANSLATE_NOOP("Actions", "Find and download models"), ("Ctrl+Shift+D",), "Model"),
    ActionSpec("manage_models", QT_TRANSLATE_NOOP("Actions", "Manage models"), (), "Model"),
    ActionSpec("open_model", QT_TRANSLATE_NOOP("Actions", "Open model folder…"), (), "Model"),
    ActionSpec("open_model_file", QT_TRANSLATE_NOOP("Actions", "Open GGUF file…"), (), "Model"),
    ActionSpec("endpoints", QT_TRANSLATE_NOOP("Actions", "Remote servers…"), (), "Model"),
    ActionSpec("tool_servers", QT_TRANSLATE_NOOP("Actions", "Tool servers…"), (), "Model"),
    ActionSpec("server", QT_TRANSLATE_NOOP("Actions", "Let other programs use the models…"), (), "Model"),
    ActionSpec("rename_chat", QT_TRANSLATE_NOOP("Actions", "Rename this chat"), ("F2",), "Chats"),
    ActionSpec("pin_chat", QT_TRANSLATE_NOOP("Actions", "Pin or unpin this chat"), (), "Chats"),
    ActionSpec("move_chat", QT_TRANSLATE_NOOP("Actions", "Move this chat to a folder…"), (), "Chats"),
    ActionSpec("archive_chat", QT_TRANSLATE_NOOP("Actions", "Archive this chat"), (), "Chats"),
    ActionSpec("delete_chat", QT_TRANSLATE_NOOP("Actions", "Delete this chat"), (), "Chats"),
    ActionSpec("import_chats", QT_TRANSLATE_NOOP("Actions", "Import chats…"), (), "Chats"),
    ActionSpec("import_folder", QT_TRANSLATE_NOOP("Actions", "Import a folder of chats…"), (), "Chats"),
    ActionSpec("export_chat", QT_TRANSLATE_NOOP("Actions", "Export this chat…"), (), "Chats"),
    ActionSpec("export_pdf", QT_TRANSLATE_NOOP("Actions", "Save this chat as PDF…"), ("Ctrl+P",), "Chats"),
    ActionSpec("export_all", QT_TRANSLATE_NOOP("Actions", "Export all chats…"), (), "Chats"),
    ActionSpec("bin", QT_TRANSLATE_NOOP("Actions", "Open the bin"), (), "Chats"),
    ActionSpec("sidebar", QT_TRANSLATE_NOOP("Actions", "Show or hide the chat list"), ("Ctrl+B",), "View"),
    ActionSpec("settings_panel", QT_TRANSLATE_NOOP("Actions", "Show or hide the settings"), ("Ctrl+.",), "View"),
    ActionSpec("search", QT_TRANSLATE_NOOP("Actions", "Search in all chats"), ("Ctrl+Shift+F",), "View"),
    ActionSpec("full_screen", QT_TRANSLATE_NOOP("Actions", "Full screen on or off"), ("F11",), "View"),
    ActionSpec("zoom_in", QT_TRANSLATE_NOOP("Actions", "Larger text"), ("Ctrl++", "Ctrl+="), "View"),
    ActionSpec("zoom_out", QT_TRANSLATE_NOOP("Actions", "Smaller text"), ("Ctrl+-",), "View"),
    ActionSpec("zoom_reset", QT_TRANSLATE_NOOP("Actions", "Normal text size"), ("Ctrl+0",), "View"),
    ActionSpec("scheme_system", QT_TRANSLATE_NOOP("Actions", "Colours: as the system"), (), "View"),
    ActionSpec("scheme_light", QT_TRANSLATE_NOOP("Actions", "Colours: light"), (), "View"),
    ActionSpec("scheme_dark", QT_TRANSLATE_NOOP("Actions", "Colours: dark"), (), "View"),
    ActionSpec("preferences", QT_TRANSLATE_NOOP("Actions", "Preferences"), ("Ctrl+,",), "Help"),
    ActionSpec("palette", QT_TRANSLATE_NOOP("Actions", "All actions"), ("Ctrl+K",), "Help", in_palette=False),
    ActionSpec("add_to_menu", QT_TRANSLATE_NOOP("Actions", "Add to the applications menu"), (), "Help"),
    ActionSpec("remove_from_menu", QT_TRANSLATE_NOOP("Actions", "Remove from the applications menu"), (), "Help"),
    ActionSpec("help", QT_TRANSLATE_NOOP("Actions", "Keys and help"), ("F1",), "Help"),
    ActionSpec("quit", QT_TRANSLATE_NOOP("Actions", "Quit"), ("Ctrl+Q",), "Help"),
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
        action = QAction(spec.shown, window)
        action.setObjectName(spec.name)
        action.setShortcuts([QKeySequence(_native(keys)) for keys in spec.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        window.addAction(action)
        return action
