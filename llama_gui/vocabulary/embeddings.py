"""What a model for embeddings is asked: one text, one vector."""

from collections.abc import Sequence
from dataclasses import dataclass

from llama_gui.errors import EngineClosedError, InvalidRequestError
from llama_gui.vocabulary.checks import check_kind, check_number, keep, token_id_tuple
from llama_gui.vocabulary.results import GenerateResult


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """A text that is to become a vector: `prompt`, with the tokenizer's own beginning and end, or its `token_ids`.

    Raises:
        InvalidRequestError: there are both or none, or a value is out of range.
    """

    prompt: str | None = None
    token_ids: Sequence[int] | None = None
    dimensions: int | None = None
    """How many numbers of the vector are wanted, at least 1: its first ones, brought to length one again. None: all."""
    truncate: bool = False
    """Whether a text that is longer than the context is read as far as it fits, with the tokenizer's end behind it."""
    asker: str = ""
    """See `GenerateRequest.asker`."""

    def __post_init__(self) -> None:
        if (self.prompt is None) == (self.token_ids is None):
            raise InvalidRequestError("request", "both or none", "exactly one of prompt and token_ids")
        check_kind("prompt", self.prompt, str, "a text")
        if self.token_ids is not None:
            keep(self, "token_ids", token_id_tuple("token_ids", self.token_ids))
            if not self.token_ids:
                raise InvalidRequestError("token_ids", self.token_ids, "something that is not empty")
        if self.dimensions is not None:
            keep(self, "dimensions", check_number("dimensions", self.dimensions, 1, integer=True))
        if not isinstance(self.truncate, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("truncate", self.truncate, "true or false")
        if not isinstance(self.asker, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("asker", self.asker, "a text")


def vector_in(result: GenerateResult) -> tuple[float, ...]:
    """The vector that an `EmbedRequest` was answered with.

    Raises:
        EngineClosedError: the engine was stopped before.
        LlamaGuiError: what went wrong.
    """
    if result.error is not None:
        raise result.error
    if not result.embedding:
        raise EngineClosedError("The engine is closed. Load the model again.")
    return result.embedding
