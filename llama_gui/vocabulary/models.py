"""Models: which there are, how they are loaded, and what they are then."""

from dataclasses import dataclass
from pathlib import PurePath

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.sampling import SamplingParams

DTYPES: tuple[str, ...] = ("auto", "float32", "bfloat16", "float16", "int8", "int4")
DEVICES: tuple[str, ...] = ("auto", "cpu", "cuda", "mps")

STARTER = "starter"
"""The key of the model that comes with us: where it lies changes with every version."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that the user can pick: its short name, its absolute path, its size on disk in bytes.

    On somebody else's server: `path` is ``endpoint#model``, `endpoint` the server's name, and the size 0.
    """

    name: str
    path: str
    size: int
    is_starter: bool = False
    endpoint: str = ""

    @property
    def key(self) -> str:
        """What chats and the host call it."""
        return STARTER if self.is_starter else self.path


def is_remote(key: str) -> bool:
    """Whether the key of a model is of somebody else's server."""
    return "#" in key and not PurePath(key).is_absolute()


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a model is brought into memory: one of `DTYPES`, one of `DEVICES`.

    Raises:
        InvalidRequestError: it is another.
    """

    dtype: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise InvalidRequestError("dtype", self.dtype, f"one of {', '.join(DTYPES)}")
        if self.device not in DEVICES:
            raise InvalidRequestError("device", self.device, f"one of {', '.join(DEVICES)}")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How many of a model's parameters are in memory, and how many it has."""

    parameters_read: int
    parameters: int


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a loaded model is and recommends. `path` is the folder or file; `sampling` is complete but for the seed.

    `source`: what the file is and what was done to it, as in "Q4_K_M GGUF, Q4_K as it is"; "" for a folder.
    `reason`: why it has this dtype, in a sentence.
    """

    name: str
    path: str
    architecture: str
    parameters: int
    max_context: int
    dtype: str
    device: str
    sampling: SamplingParams
    has_chat_template: bool
    source: str = ""
    reason: str = ""
