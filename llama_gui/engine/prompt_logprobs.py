"""How likely the tokens are that a sequence is given rather than draws: teacher forcing, piece by piece.

The name and the meaning are those of vLLM's `prompt_logprobs`. The logits of each piece of the prompt are evaluated and
freed at once, so those of a whole prompt never exist together.
"""

from torch import Tensor

from llama_gui.engine.detokenizer import Detokenizer
from llama_gui.engine.harmony import Marks
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.sampling import likeliest, log_mass
from llama_gui.engine.thinking_marks import ThinkingMarks
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.vocabulary import TokenOutput, TopLogprob

_MOST_LOGITS = 2**24
"""The most logits of a piece, 64 MiB: the smaller the vocabulary, the longer a piece may be."""


class PromptLogprobs:
    """Collects the log-probabilities of `tokens` from the place `first` on: of each, and of the `top` likeliest there.

    The logits of a place are those of the token before it, so place 0 has none. `rows`: how many the network's head
    has; the tokenizer may have fewer tokens. `kernels`: our own, where they are. `goes_on`: whether the
    text from `first` on goes on with that before it. `marks`: those that are told as tags in an answer, which `first`
    begins. `may_call`: whether it was offered tools.
    """

    def __init__(
        self,
        tokens: list[int],
        first: int,
        top: int,
        tokenizer: Tokenizer,
        rows: int,
        kernels: NativeKernels | None = None,
        *,
        goes_on: bool = False,
        marks: Marks | ThinkingMarks | None = None,
        may_call: bool = False,
    ) -> None:
        self._tokens = tokens
        self._first = first
        self._top = top
        self._kernels = kernels
        self._tokenizer = tokenizer
        self._detokenizer: Detokenizer = tokenizer.detokenizer(behind=tokens[:first] if goes_on else ())
        if marks is not None and first:
            self._detokenizer = marks.detokenizer(self._detokenizer, tokens[:first], may_call=may_call)
        self._most_rows = max(32, _MOST_LOGITS // rows)
        self._outputs: list[TokenOutput | None] = []
        if first == 0:
            self._outputs.append(None)
            self._detokenizer.push(self._tokens[0])

    @property
    def reusable(self) -> list[int]:
        """The tokens that may come from the cache, except the last of them: from there on logits are wanted."""
        return self._tokens[: max(self._first, 1)]

    @property
    def outputs(self) -> tuple[TokenOutput | None, ...]:
        """What is known by now, from `first` on; None at place 0."""
        return tuple(self._outputs)

    def most(self, start: int, count: int) -> int:
        """How many of the `count` tokens behind the first `start` may be run at once."""
        return min(count, max(self._first - 1 - start, 0) + self._most_rows)

    def rows(self, start: int, count: int) -> int:
        """Of how many of the `count` tokens behind the first `start` the logits are wanted."""
        end = min(start + count, len(self._tokens) - 1)  # nothing known follows the last
        return max(0, end - max(start, self._first - 1))

    def take(self, logits: Tensor) -> None:
        """Raw float32 `logits` ``[rows, vocab]`` of the next places.

        Raises:
            GenerationError: they are not finite.
        """
        for row in logits:
            place = self._first + len(self._outputs)
            self._outputs.append(self._output(row, place))

    def _output(self, logits: Tensor, place: int) -> TokenOutput:
        token_id = self._tokens[place]
        drawable = logits[: self._tokenizer.vocab_size]  # a given id may belong to no token
        mass = log_mass(drawable, self._kernels)
        text = self._detokenizer.push(token_id)
        if place == len(self._tokens) - 1:
            text += self._detokenizer.flush()
        top = tuple(TopLogprob(i, self._tokenizer.token_text(i), p) for i, p in likeliest(drawable, mass, self._top))
        return TokenOutput(text, token_id, place - self._first, float(logits[token_id]) - mass, top)
