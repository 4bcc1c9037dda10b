"""One chat whole, as it travels between the store and files. Pure."""

from dataclasses import dataclass, field

from llama_gui.chats.chat_list import TitleSource
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import ChatSettings


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A chat with all its branches, but for those in the bin. `leaf_id` None: the newest path is shown."""

    id: str
    title: str
    created: float
    nodes: tuple[Node, ...]
    settings: ChatSettings = field(default_factory=ChatSettings)
    leaf_id: str | None = None
    title_source: TitleSource = "user"
    folder: str = ""
    pinned: bool = False
    archived: bool = False
