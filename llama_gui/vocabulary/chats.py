"""What one chat asks of its model."""

from dataclasses import dataclass, field, replace

from llama_gui.vocabulary.requests import Effort, Overflow
from llama_gui.vocabulary.sampling import SamplingParams
from llama_gui.vocabulary.tools import with_server_renamed

CHAT_FIELDS = ("preset", "model", "documents", "tools", "allowed_tools")
"""What of the settings is of one chat, and of no preset."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What one chat asks of the model. Every None is "the model's default".

    `preset`: the name of the preset that these settings began as, "" where there was none.
    """

    system_prompt: str = ""
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    min_tokens: int | None = None
    overflow: Overflow | None = None
    preset: str = ""
    model: str = ""
    """The key of its model (see `ModelEntry`); "": the one that the application uses for new chats."""
    documents: str = ""
    """The folder of documents whose passages go along with its questions; "": none."""
    thinking: bool | Effort | None = None
    """Whether the model reasons before it answers, or with which effort, where that can be chosen."""
    tools: tuple[str, ...] = ()
    """The names of the tool servers whose tools its model may ask for."""
    allowed_tools: tuple[str, ...] = ()
    """The keys of the tools that are called without asking the user (`ToolInfo.key`)."""

    def without_reach(self) -> "ChatSettings":
        """Without what reaches beyond the chat: a stranger's file may not choose what is read or run here."""
        return replace(self, documents="", tools=(), allowed_tools=())

    def with_tool_server_renamed(self, former: str, name: str) -> "ChatSettings":
        """The same for a server of tools that has another name now."""
        if former not in self.tools and not self.allowed_tools:
            return self
        tools = dict.fromkeys(name if server == former else server for server in self.tools)
        allowed = dict.fromkeys(with_server_renamed(key, former, name) for key in self.allowed_tools)
        return replace(self, tools=tuple(tools), allowed_tools=tuple(allowed))

    def as_preset(self) -> "ChatSettings":
        """Without what is of one chat alone."""
        return replace(self.without_reach(), preset="", model="")

    def with_preset(self, preset: "ChatSettings") -> "ChatSettings":
        """Those of a preset, with what is of this chat alone; the name of the preset is the preset's."""
        own = {name: getattr(self, name) for name in CHAT_FIELDS if name != "preset"}
        return replace(preset, **own)
