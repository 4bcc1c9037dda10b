"""A model folder's tokenizer.json, run by the tokenizers library, without its surprises."""

import hashlib
import json
import math
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import tokenizers

from llama_gui.engine.detokenizer import ByteDetokenizer, Detokenizer, Spelling, WindowDetokenizer, spelling_of
from llama_gui.engine.fields import brief, read_json, shown, unambiguous
from llama_gui.errors import BrokenModelError, InvalidRequestError, ModelNotFoundError
from llama_gui.vocabulary.checks import token_id_tuple

CHAT_ENDERS = (
    "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "</s>", "<end_of_turn>",
    "<turn|>", "<|tool_response>",
)  # fmt: skip
"""Control tokens that end an answer in some family, even if the model's configuration does not list them."""

HARMONY_ENDERS, _HARMONY_END = ("<|return|>", "<|call|>"), "<|end|>"
"""Where a tokenizer has both of these, an answer is several messages (`harmony.py`), and the other ends each of them.
"""

THINKING_MARKS = (
    ("[THINK]", "[/THINK]"),  # Mistral: Magistral since 2507, Ministral 3 Reasoning
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("<|channel>", "<channel|>"),  # Gemma 4, with a head
)
"""Between which some models think, where others write <think> and </think>. Files call them control tokens or words.
Here they are control tokens, so that nobody can write them."""

THOUGHT_HEADS = {"<|channel>": "thought\n"}
"""What stands right behind the opening one, as words, and is no thought."""

_UNUSED = "\U0010fffd"
"""A letter that no token joins with others."""

_MOST_TOKENS = 2**24  # the library makes a list that goes up to the greatest id when it copies itself
# A prefix that is not empty, or letters that are escaped, as in no file that a program wrote: either could be one.
_MAY_HAVE_PREFIX = re.compile(rb'"continuing_subword_prefix"\s*:\s*"[^"]|\\u00[4-7]')


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """What the library throws becomes a `BrokenModelError` with the file's name.

    Its Rust panics arrive as `PanicException`, which is a `BaseException` that no ``except Exception`` sees.
    """
    try:
        yield
    except Exception as error:
        raise BrokenModelError(f"{file} cannot be used: {brief(str(error))}. Download the file again.") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise BrokenModelError(f"{file} is damaged: {brief(str(error))}. Download the file again.") from error


class Tokenizer:
    """Text to ids and back, exactly as generation does it. Safe in any thread. Made by `load`."""

    def __init__(self, library: tokenizers.Tokenizer, file: Path, settings: dict[str, Any]) -> None:
        _mark_thoughts(library)
        self._library = library
        self._file = file
        self.bos_token = _token_text(settings.get("bos_token"))
        self.eos_token = _token_text(settings.get("eos_token"))
        self._bos_id = library.token_to_id(self.bos_token) if self.bos_token else None
        self.special_tokens_map = _special_tokens_map(settings)
        added = library.get_added_tokens_decoder()
        self._added = {token_id: token.content for token_id, token in added.items()}
        self.special_ids = frozenset(token_id for token_id, token in added.items() if token.special)
        self.vocab_size = _vocab_size(library)
        is_harmony = all(library.token_to_id(text) is not None for text in HARMONY_ENDERS)
        of_families = (*(set(CHAT_ENDERS) - {_HARMONY_END}), *HARMONY_ENDERS) if is_harmony else CHAT_ENDERS
        self.going_on_ids = frozenset(
            token_id for token_id, text in self._added.items() if is_harmony and text == _HARMONY_END
        )
        """Tokens that end no answer, whatever a model's configuration says."""
        enders = [i for i in self.special_ids if self._added[i] in (*of_families, self.eos_token)]
        stated = library.token_to_id(self.eos_token) if self.eos_token else None
        self.eos_ids = frozenset(enders if stated is None else [*enders, stated])
        self._spelling: Spelling | None = spelling_of(_decoder_state(library))

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Read tokenizer.json, and tokenizer_config.json and special_tokens_map.json where they are.

        Raises:
            ModelNotFoundError: there is no tokenizer.json.
            BrokenModelError: a file is damaged.
        """
        file = folder / "tokenizer.json"
        if not file.is_file():
            raise ModelNotFoundError(f"{file} does not exist. A model needs its tokenizer; download the file again.")
        with _named(file):
            content = file.read_bytes()
        return cls.from_json(content, file, _settings(folder))

    @classmethod
    def from_json(cls, content: bytes, file: Path, settings: dict[str, Any]) -> "Tokenizer":
        """The tokenizer of a tokenizer.json's bytes and a tokenizer_config.json's values; `file`: where they are from.

        Raises:
            BrokenModelError: they are damaged.
        """
        with _named(file):
            _check_merges(content)
            library = tokenizers.Tokenizer.from_buffer(content)
            library.no_truncation()
            library.no_padding()
            return cls(library, file, settings)

    # --- text -> ids

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Ids of `text`, as the engine reads a `prompt`; the texts of control tokens in it become control tokens.

        A text that begins with the beginning token, as most chat templates write it, gets no second one.

        Raises:
            InvalidRequestError: `text` is no text.
            BrokenModelError: the tokenizer fails on it.
        """
        ids = self._encode(self._library, text, add_special_tokens)
        is_doubled = add_special_tokens and ids[:2] == [self._bos_id] * 2
        return ids[1:] if is_doubled else ids

    def encode_literally(self, text: str) -> list[int]:
        """Ids of `text` in which nothing becomes a control token, and none is added."""
        return self._encode(self._literal_library, text, add_special_tokens=False)

    def encode_behind(self, text: str) -> list[int]:
        """The same where `text` goes on with ordinary text: nothing is put in front of it, as some do with a space."""
        if not self.adds_space:
            return self.encode_literally(text)
        before, ids = self.encode_literally(_UNUSED), self.encode_literally(_UNUSED + text)
        return ids[len(before) :] if ids[: len(before)] == before else self.encode_literally(text)

    @cached_property
    def adds_space(self) -> bool:
        """Whether a space is put in front of a text, and taken away when it is read back."""
        if self._spelling is not None:
            return self._spelling.leading_spaces > 0
        ids = self.encode_literally("a")
        return self._library_decode(ids) == "a" and self._library_decode(ids * 2) == "a a"

    def encode_apart(self, parts: Sequence[tuple[str, str]]) -> list[int]:
        """Ids of a text that comes as (ordinary text, the literal text behind it), in order.

        The texts of control tokens become these in ordinary text, and in nothing that literal text has a share in. All
        else is read as in one piece: some tokenizers put a space in front of each, and no token reaches over its end.
        """
        texts = [part for text, literal in parts for part in (self._with_stand_ins(text), literal)]
        encoding = self._encoding(self._literal_library, "".join(texts), add_special_tokens=False)
        # By their texts: in a vocabulary with gaps the library gives out ids that others have.
        return [
            self._stand_ins.get(token, token_id) for token, token_id in zip(encoding.tokens, encoding.ids, strict=True)
        ]

    def count(self, text: str) -> int:
        """How many tokens `text` has."""
        return len(self.encode_literally(text))

    @property
    def special_texts(self) -> list[str]:
        """The texts of all control tokens, the longest first."""
        return sorted((self._added[token_id] for token_id in self.special_ids), key=len, reverse=True)

    def _encode(self, library: tokenizers.Tokenizer, text: str, add_special_tokens: bool) -> list[int]:
        return self._encoding(library, text, add_special_tokens).ids

    def _encoding(self, library: tokenizers.Tokenizer, text: str, add_special_tokens: bool) -> tokenizers.Encoding:
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("text", text, "a text")
        text = _without_surrogates(text)
        with _named(self._file):
            # encode_batch lets other threads run meanwhile; encode holds the interpreter for the whole text.
            return library.encode_batch([text], add_special_tokens=add_special_tokens)[0]

    @cached_property
    def _literal_library(self) -> tokenizers.Tokenizer:
        """Here the texts of control tokens are text, and their stand-ins are what they are elsewhere."""
        with _named(self._file):
            library = tokenizers.Tokenizer.from_str(self._library.to_str())
            library.encode_special_tokens = True
            known = library.get_added_tokens_decoder()
            library.add_tokens([_alike(known[token_id], text) for text, token_id in self._stand_ins.items()])
        return library

    @cached_property
    def _stand_ins(self) -> dict[str, int]:
        """A text that nobody can guess for each control token."""
        return {_secret_text(): token_id for token_id in sorted(self.special_ids)}

    def _with_stand_ins(self, text: str) -> str:
        pattern, stand_ins = self._control_texts
        return pattern.sub(lambda match: stand_ins[match[0]], text) if stand_ins else text

    @cached_property
    def _control_texts(self) -> tuple[re.Pattern[str], dict[str, str]]:
        """What matches the text of any control token, the longest first, and the stand-in for each."""
        stand_ins = {self._added[token_id]: text for text, token_id in self._stand_ins.items() if self._added[token_id]}
        return re.compile("|".join(re.escape(text) for text in self.special_texts if text)), stand_ins

    def to_json(self) -> str:
        """The whole tokenizer as the text of a tokenizer.json."""
        return self._library.to_str()

    @cached_property
    def fingerprint(self) -> str:
        """The same for tokenizers in which every token has the same id."""
        tokens = sorted(self._library.get_vocab(with_added_tokens=True).items())
        return hashlib.blake2b(json.dumps(tokens).encode(), digest_size=8).hexdigest()

    def has_same_tokens_as(self, other: "Tokenizer") -> bool:
        """Whether every token has the same id in both."""
        return self.fingerprint == other.fingerprint

    # --- ids -> text

    def detokenizer(
        self, shown_ids: Collection[int] = (), *, skip_special_tokens: bool = True, behind: Sequence[int] = ()
    ) -> Detokenizer:
        """A fresh one, for one answer.

        Control tokens have no text but those of `shown_ids`, or all where they are not skipped. `behind`: the ids of
        ordinary text that stands before, so that a space at the beginning is one.
        """
        if self._spelling is None:
            decode = partial(self._library_decode, skip_special_tokens=skip_special_tokens)
            return WindowDetokenizer(decode, behind)

        def bytes_of(token_id: int) -> bytes:
            return (self.token_bytes(token_id) if token_id in shown_ids else None) or self._bytes_of(token_id)

        plain = bytes_of if shown_ids else self._bytes_of
        spaces = 0 if behind else self._spelling.leading_spaces
        return ByteDetokenizer(plain if skip_special_tokens else self._all_bytes_of, spaces)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """The text of `ids`, which is what an answer's pieces join to; invalid UTF-8 becomes U+FFFD.

        Raises:
            InvalidRequestError: `ids` are no token ids.
        """
        detokenizer = self.detokenizer()
        pieces: list[str] = []
        for token_id in token_id_tuple("ids", ids, -math.inf):  # an id without a token has no text
            if token_id in self.special_ids and not skip_special_tokens:
                pieces += [detokenizer.flush(), self._added[token_id]]
            else:
                pieces.append(detokenizer.push(token_id))
        return "".join([*pieces, detokenizer.flush()])

    def token_text(self, token_id: int) -> str:
        """A token's own text, for display: control tokens by name, U+FFFD for part of a character."""
        if token_id in self.special_ids:
            return self._added[token_id]
        if self._spelling is None:
            return self._library_decode([token_id])
        return self._bytes_of(token_id).decode("utf-8", "replace")

    def piece(self, token_id: int) -> str:
        """A token as the vocabulary spells it, where spaces may be "Ġ" or "▁"; "" for an unknown id."""
        return self._library.id_to_token(token_id) or ""

    def token_bytes(self, token_id: int) -> bytes | None:
        """A token's own bytes, also those of half a character; None where they depend on its neighbours."""
        if token_id in self.special_ids:
            return self._added[token_id].encode("utf-8", "replace")
        return None if self._spelling is None else self._bytes_of(token_id)

    def id_of(self, token: str) -> int | None:
        """The id of a token of the vocabulary."""
        return self._library.token_to_id(token)

    def _library_decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        with _named(self._file):
            return self._library.decode(list(ids), skip_special_tokens=skip_special_tokens)

    def _all_bytes_of(self, token_id: int) -> bytes:
        return self.token_bytes(token_id) or b""

    def _bytes_of(self, token_id: int) -> bytes:
        spelling = self._spelling
        if spelling is None or token_id in self.special_ids or not 0 <= token_id < self.vocab_size:
            return b""
        if token_id in self._added:
            return spelling.added_to_bytes(self._added[token_id])
        token = self._library.id_to_token(token_id)
        return spelling.to_bytes(token) if token is not None else b""


def _secret_text() -> str:
    """Characters for private use, which nothing joins with others or writes otherwise."""
    return "".join(chr(0xE000 + secrets.randbelow(0x1900)) for _ in range(8))


def _alike(token: tokenizers.AddedToken, text: str) -> tokenizers.AddedToken:
    """An ordinary token of this text, which takes blanks around it as `token` does."""
    return tokenizers.AddedToken(
        text,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
        special=False,
    )


def _mark_thoughts(library: tokenizers.Tokenizer) -> None:
    """See `THINKING_MARKS`; those of a vocabulary get no other ids by this."""
    known = library.get_added_tokens_decoder()
    for pair in THINKING_MARKS:
        ids = [token_id for text in pair if (token_id := library.token_to_id(text)) is not None]
        if len(ids) == len(pair) and not all(token_id in known and known[token_id].special for token_id in ids):
            library.add_special_tokens([tokenizers.AddedToken(text, normalized=False, special=True) for text in pair])


def _decoder_state(library: tokenizers.Tokenizer) -> Any:
    """The decoder part of tokenizer.json, without writing out the whole vocabulary."""
    return json.loads(library.decoder.__getstate__()) if library.decoder else None


def _settings(folder: Path) -> dict[str, Any]:
    """What the files beside tokenizer.json say, read as transformers does.

    tokenizer_config.json says all where it knows the added tokens; where it is older, or missing,
    special_tokens_map.json names the tokens of the beginning and the end.
    """
    file, older = folder / "tokenizer_config.json", folder / "special_tokens_map.json"
    settings = read_json(file) if file.exists() else {}
    if "added_tokens_decoder" in settings or not older.exists():
        return settings
    return {**settings, **read_json(older)}


def _special_tokens_map(settings: dict[str, Any]) -> dict[str, str]:
    """bos_token, unk_token and so on -> text, as chat templates read them; what is not set is missing."""
    texts = {name: _token_text(value) for name, value in settings.items() if name.endswith("_token")}
    return {name: text for name, text in texts.items() if text}


def _token_text(value: Any) -> str:
    """tokenizer_config.json writes a token as its text, or as an object that holds it."""
    text = value.get("content") if isinstance(value, dict) else value
    return _without_surrogates(text) if isinstance(text, str) else ""


def _without_surrogates(text: str) -> str:
    """Lone surrogates are not text: the library takes none."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _check_merges(content: bytes) -> None:
    """ValueError where the second part of a merge lacks the prefix that a tokenizer.json names.

    The library (0.23.3, see its pull request 2398) cuts the prefix off without looking. What is left may be no text,
    and then it does not raise: it aborts the process.
    """
    if not _MAY_HAVE_PREFIX.search(content):
        return  # to read the whole file takes a third of a second for Llama 3
    model = json.loads(content, object_pairs_hook=unambiguous)["model"]
    prefix = model.get("continuing_subword_prefix") or ""
    for merge in model.get("merges") or ():
        second = (merge.split(" ") if isinstance(merge, str) else merge)[-1]
        if not second.startswith(prefix):
            raise ValueError(f"the merge {shown(merge)} lacks the prefix {shown(prefix)}")


def _vocab_size(library: tokenizers.Tokenizer) -> int:
    """One more than the greatest id; there may be gaps below it. ValueError where no network can have as many rows."""
    ids = library.get_vocab(with_added_tokens=True)
    last = max(ids, key=ids.__getitem__, default=None)
    if last is None:
        raise ValueError("it holds no tokens")
    if ids[last] >= _MOST_TOKENS:
        raise ValueError(f"it gives the token {shown(last)} the id {ids[last]}")
    return 1 + ids[last]
