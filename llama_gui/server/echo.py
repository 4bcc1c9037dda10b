"""A prompt that is returned before its answer (`echo`), with the probabilities of its tokens where they are wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.replies import logprob_lists
from llama_gui.server.served import ServedTokenizer
from llama_gui.vocabulary import GenerateRequest, TokenOutput


@dataclass(frozen=True, slots=True)
class Echo:
    """The text of a prompt. `first_id`: its first token, which nobody draws, so that the engine says nothing of it."""

    text: str
    first_id: int


def read_echoes(asked: Asked, tokenizer: ServedTokenizer) -> list[Echo]:
    """The prompt of each answer; none where it is not wanted. It may take a while."""
    return [_echo(request, tokenizer) for request in asked.requests] if asked.echo else []


def _echo(request: GenerateRequest, tokenizer: ServedTokenizer) -> Echo:
    if request.token_ids is not None:
        ids = list(request.token_ids)
        return Echo(tokenizer.decode(ids, skip_special_tokens=False), ids[0])
    text = request.prompt or ""
    ids = tokenizer.encode(text, add_special_tokens=request.add_special_tokens is not False)
    return Echo(text, ids[0] if ids else 0)  # a prompt without tokens is refused by the engine


def echo_logprobs(
    echo: Echo, outputs: Sequence[TokenOutput | None], tokenizer: ServedTokenizer, *, as_ids: bool = False
) -> dict[str, Any]:
    """The tokens of a prompt as a completion tells them: of the first no probability is known."""
    ids = [echo.first_id if output is None else output.token_id for output in outputs]
    place, offsets = 0, list[int]()
    for token_id, output in zip(ids, outputs, strict=True):
        offsets.append(place)
        own = tokenizer.token_text(token_id)
        freed = "" if output is None else output.text
        # What a token set free is right also where it ends a letter that another began; control tokens set nothing
        # free, and may stand in the text; the first word of some models loses its space.
        found = (piece for piece in (freed, own, own.lstrip(" ")) if piece and echo.text.startswith(piece, place))
        place += len(next(found, ""))
    return logprob_lists(ids, outputs, offsets, tokenizer, as_ids=as_ids)
