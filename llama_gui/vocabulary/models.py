"""Models: which there are, how they are loaded, and what they are then."""

from dataclasses import dataclass
from pathlib import PurePath

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import check_kind, check_number
from llama_gui.vocabulary.requests import Effort
from llama_gui.vocabulary.sampling import SamplingParams

DTYPES: tuple[str, ...] = ("auto", "float32", "bfloat16", "float16", "int8", "int4")
DEVICES: tuple[str, ...] = ("auto", "cpu", "cuda", "mps")
CACHE_DTYPES: tuple[str, ...] = ("auto", "int8")
"""Of keys and values."""

STARTER = "starter"
"""The key of the model that comes with us: where it lies changes with every version."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that the user can pick: its short name, its absolute path, its size on disk in bytes.

    On somebody else's server: `path` is ``endpoint#model``, `endpoint` the server's name, and the size 0. `embeds`: it
    turns texts into vectors, so nobody can chat with it. `runs`: False where small files tell that it does not here.
    `reads_images`: as far as small files tell. `guesses`: it only guesses for another model, and goes with that.
    """

    name: str
    path: str
    size: int
    is_starter: bool = False
    endpoint: str = ""
    embeds: bool = False
    runs: bool = True
    reads_images: bool = False
    guesses: bool = False

    @property
    def chats(self) -> bool:
        """Whether one can chat with it."""
        return not self.embeds and not self.guesses

    @property
    def key(self) -> str:
        """What chats and the host call it."""
        return STARTER if self.is_starter else self.path


def is_remote(key: str) -> bool:
    """Whether the key of a model is of somebody else's server."""
    return "#" in key and not PurePath(key).is_absolute()


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a model is brought into memory: of `DTYPES`, `DEVICES` and `CACHE_DTYPES` one, as `Engine.load` has them.

    `guesses`: at the next tokens, from the text itself, on CPUs; they change the speed and not the text.

    Raises:
        InvalidRequestError: a value is none of these. Whether it is too much for the model is checked at loading.
    """

    dtype: str = "auto"
    device: str = "auto"
    max_context: int | None = None
    threads: int | None = None
    guesses: bool = True
    cache_dtype: str = "auto"

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise InvalidRequestError("dtype", self.dtype, f"one of {', '.join(DTYPES)}")
        if self.device not in DEVICES:
            raise InvalidRequestError("device", self.device, f"one of {', '.join(DEVICES)}")
        if self.cache_dtype not in CACHE_DTYPES:
            raise InvalidRequestError("cache_dtype", self.cache_dtype, f"one of {', '.join(CACHE_DTYPES)}")
        if self.max_context is not None:
            check_number("max_context", self.max_context, 2, integer=True)
        if self.threads is not None:
            check_number("threads", self.threads, 1, integer=True)
        check_kind("guesses", self.guesses, bool, "true or false")


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a model would take if it were loaded in one way. Byte counts are bytes.

    `dtype`, `device` and `threads` are what "auto" and None stand for, `reason` says why, in a sentence.
    `trained_context`: tokens that it reads at most. `token_bytes`: what is kept for each token of a chat; `chat_bytes`:
    what all chats together may take beside the weights. `state_bytes`: what each chat takes besides, however short.
    """

    dtype: str
    device: str
    reason: str
    threads: int
    trained_context: int
    weight_bytes: int
    token_bytes: int
    chat_bytes: int
    state_bytes: int = 0

    @property
    def tokens_that_fit(self) -> int:
        """How long one chat can become with the memory that is free now, as far as the model reads."""
        return min(max(self.chat_bytes - self.state_bytes, 0) // self.token_bytes, self.trained_context)


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
    `thinking`: whether it reasons before it answers when nobody says (`GenerateRequest.thinking`); None: that cannot be
    chosen. `efforts`: those that it reasons with, where they can be chosen, see `GenerateRequest.thinking`; the one in
    the middle is its own. `thinking_tag`: what the prompt of an answer ends with that reasons, as in "<think>\\n"; ""
    where the model writes that itself. `tools`: whether its chat template has a place for tools; `lists_calls`: whether
    it was taught to write several calls of them as one list, `marks_calls`: whether all its calls are told from text by
    marks, so that JSON alone is none. `marks_thoughts`: whether it was taught to think between control tokens, which it
    may do unasked. `cache_dtype`: of keys and values, "": not known. `embeds`: it turns texts into vectors of
    `dimensions` numbers (`EmbedRequest`) and writes none. `reads_images`: messages may bring some (`Message.images`).
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
    thinking: bool | None = None
    thinking_tag: str = ""
    tools: bool = False
    lists_calls: bool = False
    efforts: tuple[Effort, ...] = ()
    cache_dtype: str = ""
    wraps_answers: bool = False
    marks_calls: bool = False
    embeds: bool = False
    dimensions: int = 0
    marks_thoughts: bool = False
    reads_images: bool = False

    def opening(self, thinking: bool | Effort | None) -> str:
        """The tag that an answer begins behind, for `GenerateRequest.thinking`; "": none."""
        wanted = self.thinking if thinking is None else thinking
        return self.thinking_tag if self.thinking is None or wanted else ""
