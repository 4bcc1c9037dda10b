"""Functions of the caller's that the engine's thread calls."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from llama_gui.engine.job import Job
from llama_gui.errors import GenerationError, LlamaGuiError
from llama_gui.vocabulary import GenerateResult, TokenOutput

OnOutput = Callable[[Job, TokenOutput], None]
OnFinish = Callable[[Job, GenerateResult], None]

P = ParamSpec("P")
R = TypeVar("R")


def blamed(name: str, function: Callable[P, R]) -> Callable[P, R]:
    """`function` of the caller's; whatever it raises becomes a GenerationError that names it."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # also what asyncio, pytest and sys.exit raise: it must not end other answers
            told = str(error) if isinstance(error, LlamaGuiError) else f"{type(error).__name__}: {error}"
            raise GenerationError(f"The caller's function {name} failed: {told}") from error

    return call
