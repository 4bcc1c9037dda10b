"""How a byte-level vocabulary cuts text into words, by the name that GGUF files have for it (`tokenizer.ggml.pre`).

The expressions are those of the models' own tokenizer.json. What is not in the table is refused by name: with another
way to cut, the tokens would be others, and the answers worse without anybody knowing why.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """`steps`: the pre-tokenizers of a tokenizer.json, one after the other.

    `composes`: the text is brought into Unicode's form NFC first. `ignores_merges`: a word that is a token stays whole.
    `adds_bos`: where a file does not say whether the beginning token is put in front.
    """

    steps: tuple[dict[str, Any], ...]
    composes: bool = False
    ignores_merges: bool = False
    adds_bos: bool = False


def _split(expression: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}


def _bytes(*, cuts_words: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": cuts_words}


_DIGITS = {"type": "Digits", "individual_digits": True}
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

_GPT2 = PreTokenizer((_bytes(cuts_words=True),))
_LLAMA3 = PreTokenizer(
    (_split(rf"{_ENDINGS}|{_WORDS}|\p{{N}}{{1,3}}|{_REST}"), _bytes(cuts_words=False)),
    ignores_merges=True,
    adds_bos=True,
)
_QWEN2_STEPS = (_split(rf"{_ENDINGS}|{_WORDS}|\p{{N}}|{_REST}"), _bytes(cuts_words=False))
_QWEN35 = PreTokenizer(
    (
        _split(
            rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        _bytes(cuts_words=False),
    ),
    composes=True,
)
_SEED = PreTokenizer(
    (
        _split(rf"{_ENDINGS}|{_WORDS}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"),
        _bytes(cuts_words=False),
    )
)
_PUNCTUATION = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"
_HUNYUAN = PreTokenizer(
    (
        _split(r"\p{N}{1,3}"),
        _split("[一-龥\u3040-ゟ゠-ヿ]+"),
        _split(
            rf"{_PUNCTUATION}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        _bytes(cuts_words=False),
    )
)
_SMOLLM = PreTokenizer((_DIGITS, _bytes(cuts_words=True)))
_GPT4O = PreTokenizer(
    (
        _split(
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        _bytes(cuts_words=False),
    )
)
_TEKKEN = PreTokenizer(
    (
        _split(
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*|\p{{N}}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        _bytes(cuts_words=False),
    ),
    ignores_merges=True,
    adds_bos=True,
)
# Of files from before the field was there; llama.cpp reads them so.
_DEFAULT = PreTokenizer(
    (
        _split(r"[\p{P}\$\+<=>\^~\|]+"),
        _split(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"),
        _split(r"\p{N}+"),
        _split(r"[0-9][0-9][0-9]"),
        _bytes(cuts_words=False),
    )
)

PRE_TOKENIZERS: dict[str, PreTokenizer] = {
    "llama-bpe": _LLAMA3,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "falcon3": _LLAMA3,
    "lfm2": _LLAMA3,
    "pixtral": _LLAMA3,
    "smaug-bpe": PreTokenizer(_LLAMA3.steps),
    "dbrx": PreTokenizer(_LLAMA3.steps),
    "glm4": PreTokenizer(_LLAMA3.steps),
    "chatglm-bpe": PreTokenizer(_LLAMA3.steps),
    "hunyuan": PreTokenizer(_QWEN2_STEPS),
    "hunyuan-dense": _HUNYUAN,
    "gpt-4o": _GPT4O,
    "qwen2": PreTokenizer(_QWEN2_STEPS, composes=True),
    "qwen35": _QWEN35,
    "deepseek-r1-qwen": PreTokenizer(_QWEN2_STEPS),
    "seed-coder": _SEED,
    "smollm": _SMOLLM,
    "starcoder": _SMOLLM,
    "refact": _SMOLLM,
    "command-r": _SMOLLM,
    "gpt-2": _GPT2,
    "exaone4": _GPT2,
    "tekken": _TEKKEN,
    "default": _DEFAULT,
}
"""Name -> how; None of llama.cpp's other names is used by the architectures that we run."""
