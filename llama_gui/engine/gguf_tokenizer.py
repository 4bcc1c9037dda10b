"""The vocabulary of a GGUF file -> the tokenizer.json that it once was."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llama_gui.engine.fields import Fields, shown
from llama_gui.engine.gguf_pre import PRE_TOKENIZERS, PreTokenizer
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError, UnsupportedModelError

_PREFIX = "tokenizer.ggml."
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED = 1, 2, 3, 4
_NAMED = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
_CONTROLS = ("bos", "eos", "eot", "eom", "padding")
_END_OF_TEXT = "<|endoftext|>"
_GEMMA4_MARKS = frozenset(
    {"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>'}
)
"""Control tokens that the converter calls words, for llama.cpp to write them."""
_PHI3_LEAVES = ("<unk>", "<s>", "<|endoftext|>")
_VERSION_LINE = "#version"
_MOST_SPLITS = 2**28
"""Characters that are looked at to find the merges of a SentencePiece vocabulary; Llama 2 takes two million."""


def load_tokenizer(path: Path, metadata: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer of the file at `path`.

    Raises:
        BrokenModelError: its vocabulary is missing or damaged.
        UnsupportedModelError: it is of a kind that we do not know.
    """
    vocabulary = _Vocabulary(path, metadata)
    return Tokenizer.from_json(json.dumps(vocabulary.tokenizer()).encode(), path, vocabulary.settings())


class _Vocabulary:
    def __init__(self, path: Path, metadata: Mapping[str, Any]) -> None:
        self._path = path
        self._fields = Fields(metadata, path)
        self._tokens: list[str] = self._texts("tokens")
        self._kinds = self._numbers("token_type", "iu", _NORMAL)
        self._vocab: dict[str, int] = {}
        for token_id, token in enumerate(self._tokens):
            if token:  # files have been seen in which a text stands twice; only the first is ever written
                self._vocab.setdefault(token, token_id)

    def settings(self) -> dict[str, Any]:
        """As in a tokenizer_config.json."""
        ids = {name: self._id(key) for name, key in _NAMED.items()}
        return {name: self._tokens[token_id] for name, token_id in ids.items() if token_id is not None}

    def tokenizer(self) -> dict[str, Any]:
        """As in a tokenizer.json."""
        kind = self._get("model")
        makers = {"gpt2": self._byte_level, "llama": self._sentencepiece, "gemma4": self._sentencepiece}
        if isinstance(kind, str) and kind in makers:
            return makers[kind]()
        raise UnsupportedModelError(
            f"{self._path}: the tokenizer {shown(kind)} is not supported. Supported: {', '.join(makers)}. "
            "Choose another model."
        )

    # --- the two kinds

    def _byte_level(self) -> dict[str, Any]:
        pre = self._pre()
        return {
            "added_tokens": self._added(),
            "normalizer": {"type": "NFC"} if pre.composes else None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": list(pre.steps)},
            "post_processor": self._frame(pre.adds_bos),
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {
                "type": "BPE",
                "ignore_merges": pre.ignores_merges,
                "vocab": self._vocab,
                "merges": self._merges(),
            },
        }

    def _sentencepiece(self) -> dict[str, Any]:
        prefix = self._flag("add_space_prefix", not self._is_gemma4)
        spaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
        written = [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ]
        unknown = self._id("unknown")
        unknowns = [token_id for token_id, kind in enumerate(self._kinds) if kind == _UNKNOWN]
        unknown = unknowns[0] if unknown is None and unknowns else unknown
        strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        return {
            "added_tokens": self._added(),
            "normalizer": {
                "type": "Sequence",
                "normalizers": [{"type": "Prepend", "prepend": "▁"}, spaces] if prefix else [spaces],
            },
            "pre_tokenizer": None,
            "post_processor": self._frame(True),
            "decoder": {"type": "Sequence", "decoders": [*written, strip] if prefix else written},
            "model": {
                "type": "BPE",
                "unk_token": None if unknown is None else self._tokens[unknown],
                "fuse_unk": True,
                "byte_fallback": True,
                "vocab": self._vocab,
                "merges": self._merges() if self._get("merges") is not None else self._merges_of_scores(),
            },
        }

    def _pre(self) -> PreTokenizer:
        name = self._get("pre")
        pre = PRE_TOKENIZERS.get("default" if name is None else name) if isinstance(name, str | None) else None
        if pre is None:
            raise UnsupportedModelError(
                f"{self._path}: the pre-tokenizer {shown(name)} is not supported. "
                f"Supported: {', '.join(PRE_TOKENIZERS)}. Choose another model."
            )
        return pre

    # --- parts

    def _added(self) -> list[dict[str, Any]]:
        """The tokens that are found in a text before anything else is."""
        controls = {self._id(name) for name in _CONTROLS}
        added: list[dict[str, Any]] = []
        for token, token_id in self._vocab.items():
            kind = int(self._kinds[token_id])
            special = kind in (_CONTROL, _UNKNOWN) or token_id in controls
            special |= self._is_gemma4 and token in _GEMMA4_MARKS
            if special or kind == _USER_DEFINED or (self._is_gemma4 and not token.strip("\n")):
                flags = dict.fromkeys(("single_word", "lstrip", "normalized"), False)
                strips = special and self._strips_behind and token not in _PHI3_LEAVES
                added.append({"id": token_id, "content": token, **flags, "rstrip": strips, "special": special})
        return added

    @property
    def _is_gemma4(self) -> bool:
        """Whose lines are cut where they end: several empty ones are one token, for which there are no merges."""
        return self._get("model") == "gemma4"

    @property
    def _strips_behind(self) -> bool:
        """Whether control tokens take the blanks behind them away: no file says so, but Phi-3's tokenizer.json does."""
        return self._fields.values.get("general.architecture") == "phi3" and self._get("model") == "llama"

    def _frame(self, adds_bos: bool) -> dict[str, Any] | None:
        """What is put before and behind a text."""
        before = [self._id("bos")] if self._flag("add_bos_token", adds_bos) else []
        behind = [self._end] if self._flag("add_eos_token", self._embeds) else []
        tokens = {self._tokens[i]: i for i in (*before, *behind) if i is not None}

        def part(token_id: int) -> dict[str, Any]:
            return {"SpecialToken": {"id": self._tokens[token_id], "type_id": 0}}

        if not tokens:
            return None
        text = {"Sequence": {"id": "A", "type_id": 0}}
        frame = [*(part(i) for i in before if i is not None), text, *(part(i) for i in behind if i is not None)]
        return {
            "type": "TemplateProcessing",
            "single": frame,
            "pair": [*frame, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {token: {"id": token, "ids": [i], "tokens": [token]} for token, i in tokens.items()},
        }

    @property
    def _embeds(self) -> bool:
        """Whether the file is of a model that makes vectors of a text's last token, which is its end then."""
        return bool(self._fields.values.get(f"{self._fields.values.get('general.architecture')}.pooling_type"))

    @property
    def _end(self) -> int | None:
        """What is put behind a text. Files of Qwen3 Embedding from before August 2025 say neither that nor which."""
        told = self._get("add_eos_token") is not None
        return self._id("eos") if told else self._vocab.get(_END_OF_TEXT, self._id("eos"))

    def _merges(self) -> list[str] | list[list[str]]:
        """Each as a text, which is read faster, unless the library would take one for the head of a file."""
        merges = self._texts("merges")
        for merge in merges:
            if merge.count(" ") != 1:
                raise BrokenModelError(
                    f"{self._path}: {shown(merge)} is no merge of two tokens. Download the file again."
                )
        is_plain = not any(merge.startswith(_VERSION_LINE) for merge in merges)
        return merges if is_plain else [merge.split(" ") for merge in merges]

    def _merges_of_scores(self) -> list[str] | list[list[str]]:
        """Every way to make a token of two, the best token first: so SentencePiece's own BPE merges.

        Between tokens of the same score the first one wins, as it was found first when they were trained.
        """
        scores = self._numbers("scores", "f", 0.0)
        pieces = [(t, i) for t, i in self._vocab.items() if self._kinds[i] in (_NORMAL, _USER_DEFINED)]
        if sum(len(token) ** 2 for token, _ in pieces) > _MOST_SPLITS:
            raise BrokenModelError(
                f"{self._path}: the tokens are far too long for their kind. Download the file again."
            )
        known = {token for token, _ in pieces}
        merges: list[tuple[str, str]] = []
        for token, _ in sorted(pieces, key=lambda piece: (-scores[piece[1]], piece[1])):
            for cut in range(len(token) - 1, 0, -1):  # the longest left part first, as `transformers` has it
                left = token[:cut]
                if left in known and token[cut:] in known:
                    merges.append((left, token[cut:]))
        if any(" " in token or token.startswith(_VERSION_LINE) for token in known):
            return [[left, right] for left, right in merges]
        return [f"{left} {right}" for left, right in merges]  # read faster

    # --- fields

    def _get(self, name: str) -> Any:
        return self._fields.values.get(_PREFIX + name)

    def _flag(self, name: str, default: bool) -> bool:
        return self._fields.flag(_PREFIX + name, default)

    def _id(self, name: str) -> int | None:
        """The id of a token with a role; None where the vocabulary has none."""
        value = self._get(f"{name}_token_id")
        if value is not None and not isinstance(value, int):
            raise self._fields.wrong(f"{_PREFIX}{name}_token_id", "a token id")
        # A role that nobody has is also written as an id behind the vocabulary.
        return value if value is not None and 0 <= value < len(self._tokens) else None

    def _texts(self, name: str) -> list[str]:
        texts = self._get(name)
        if not isinstance(texts, list) or not texts:
            raise BrokenModelError(f"{self._path}: {_PREFIX}{name} is missing or no list of texts. Download it again.")
        return texts

    def _numbers(self, name: str, kinds: str, default: float) -> Sequence[Any]:
        """One number for each token."""
        numbers = self._get(name)
        if numbers is None:
            return [default] * len(self._tokens)
        if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in kinds or len(numbers) != len(self._tokens):
            raise BrokenModelError(
                f"{self._path}: {_PREFIX}{name} is no list of {len(self._tokens)} numbers. Download the file again."
            )
        return numbers.tolist()
