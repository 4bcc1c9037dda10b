"""Fill in the middle: a prompt of the text before a gap and the text after it, for models that were trained on that.

They read "<|fim_prefix|>before<|fim_suffix|>behind<|fim_middle|>", in this order (PSM, Bavarian et al. 2022), and write
what is missing. Qwen2.5-Coder and Granite have the tokens; those of CodeLlama and Codestral have other rules.
"""

from dataclasses import dataclass
from typing import Self

from llama_gui.engine.tokenizer import Tokenizer

_NAMES = ("<|fim_{}|>", "<fim_{}>", "<fim-{}>")
_ENDS = ("fim_pad", "file_sep", "file_separator", "repo_name", "endoftext")


@dataclass(frozen=True, slots=True)
class MiddleTokens:
    """The control tokens around the gap. `ends`: those that end an answer, because behind them another file begins."""

    prefix: int
    suffix: int
    middle: int
    ends: tuple[int, ...]

    @classmethod
    def find(cls, tokenizer: Tokenizer) -> Self | None:
        """Those of a tokenizer; None: it has none."""
        for name in _NAMES:
            prefix, suffix, middle = (tokenizer.id_of(name.format(part)) for part in ("prefix", "suffix", "middle"))
            if prefix is not None and suffix is not None and middle is not None:
                left, right = name[: name.index("fim")], name[name.index("}") + 1 :]
                others = (tokenizer.id_of(f"{left}{end}{right}") for end in _ENDS)
                ends = (prefix, suffix, middle, *(token_id for token_id in others if token_id is not None))
                return cls(prefix, suffix, middle, ends)
        return None

    def encode(self, tokenizer: Tokenizer, before: str, behind: str, *, add_special_tokens: bool) -> list[int]:
        """The prompt. Nothing in the two texts becomes a control token."""
        beginning = tokenizer.encode("", add_special_tokens=add_special_tokens)
        first, second = tokenizer.encode_literally(before), tokenizer.encode_literally(behind)
        return [*beginning, self.prefix, *first, self.suffix, *second, self.middle]
