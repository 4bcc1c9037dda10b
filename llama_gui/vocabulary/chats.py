"""What one chat asks of its model."""

from dataclasses import dataclass, field

from llama_gui.vocabulary.requests import Overflow
from llama_gui.vocabulary.sampling import SamplingParams


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
