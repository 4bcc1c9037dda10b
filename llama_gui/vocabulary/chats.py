"""What one chat asks of its model."""

from dataclasses import dataclass, field, replace

from llama_gui.vocabulary.requests import Overflow
from llama_gui.vocabulary.sampling import SamplingParams

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
    thinking: bool | None = None
    """Whether the model reasons before it answers, where that can be chosen."""
    tools: tuple[str, ...] = ()
    """The names of the tool servers whose tools its model may ask for."""
    allowed_tools: tuple[str, ...] = ()
    """The keys of the tools that are called without asking the user (`ToolInfo.key`)."""

    def without_reach(self) -> "ChatSettings":
        """Without what reaches beyond the chat: a stranger's file may not choose what is read or run here."""
        return replace(self, documents="", tools=(), allowed_tools=())

    def as_preset(self) -> "ChatSettings":
        """Without what is of one chat alone."""
        return replace(self.without_reach(), preset="", model="")

    def with_preset(self, preset: "ChatSettings") -> "ChatSettings":
        """Those of a preset, with what is of this chat alone; the name of the preset is the preset's."""
        own = {name: getattr(self, name) for name in CHAT_FIELDS if name != "preset"}
        return replace(preset, **own)
