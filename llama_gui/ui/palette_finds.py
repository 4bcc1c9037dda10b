"""What the palette finds beside actions, once something is typed: models to change to, and chats to open."""

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QCoreApplication

from llama_gui.chats.tree import ChatSummary
from llama_gui.ui.dialogs import Command
from llama_gui.vocabulary import ModelEntry


def model_finds(entries: Iterable[ModelEntry], choose: Callable[[str], object]) -> list[Command]:
    """A way to each model. `choose` gives the chat in front the one with that key."""
    note = QCoreApplication.translate("CommandPalette", "Model")
    return [
        Command(entry.name, f"{note} · {entry.endpoint}" if entry.endpoint else note, "", partial(choose, entry.key))
        for entry in entries
    ]


def chat_finds(chats: Iterable[ChatSummary], open_chat: Callable[[str], object]) -> list[Command]:
    """A way to each chat, by its title."""
    note = QCoreApplication.translate("CommandPalette", "Chat")
    return [Command(chat.title, note, "", partial(open_chat, chat.id)) for chat in chats]
