"""A GGUF file, or the parts of one, as a model: its configuration, tokenizer, template and weights."""

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from gguf import LlamaFileType

from llama_gui.engine import native_library
from llama_gui.engine.card_int4 import CODE_BYTES, LEVEL_BYTES, SAME_LEVELS
from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.device import NetworkPart, Precision, Quantised
from llama_gui.engine.fields import AGAIN, shown
from llama_gui.engine.gguf_blocks import FEWER_BITS, FOUR_BITS, is_quantised
from llama_gui.engine.gguf_config import GgufConfig
from llama_gui.engine.gguf_file import GgufFile, StoredTensor, read_header
from llama_gui.engine.gguf_tokenizer import load_tokenizer
from llama_gui.engine.gguf_weights import GgufWeights, check_kind, mtp_tensors_of, tensors_of
from llama_gui.engine.model_files import guessing_files
from llama_gui.engine.packed_weights import block_bytes, stays_as_it_is
from llama_gui.engine.rounded_bytes import RoundedBytes
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.files import VisionFiles
from llama_gui.engine.vision.gguf import vision_beside
from llama_gui.engine.weight_shapes import BEFORE
from llama_gui.errors import BrokenModelError, ModelError, ModelNotFoundError

_PART = re.compile(r"(?P<name>.*)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})\.gguf", re.ASCII | re.DOTALL)
_MOST_PARTS = 1000

_log = logging.getLogger(__name__)

_PARTS: dict[NetworkPart, str] = {"layers": "model.layers.", "table": "model.embed_tokens.", "head": "lm_head."}


class GgufModel:
    """The model at `path`: one file, or any one of several parts that lie side by side.

    Raises:
        ModelNotFoundError: there is no such file, or a part of it is missing.
        BrokenModelError: a file is damaged, cut off, or no part of this model.
        UnsupportedModelError: it asks for something that we do not run.
    """

    def __init__(self, path: Path) -> None:
        paths = part_paths(path)
        self._files = [read_header(part) for part in paths]
        if len(paths) > 1:
            _check_parts(self._files)
        self._first = self._files[0]
        tensors = tensors_of(self._files)
        self._kinds = {tensor.kind for tensor in tensors.values()}
        self._numbers_of_kinds: dict[NetworkPart, Counter[tuple[str, bool]]] = {part: Counter() for part in _PARTS}
        """How many numbers of a part's matrices are in which type, and whether they are multiplied so."""
        for name, tensor in tensors.items():
            for part, prefix in _PARTS.items():
                if name.startswith(prefix) and len(tensor.shape) > 1:
                    kind = tensor.kind, stays_as_it_is(tensor.kind, tensor.shape[-1])
                    self._numbers_of_kinds[part][kind] += math.prod(tensor.shape)
        reader = GgufConfig(self._first.path, self._first.metadata, tensors)
        for tensor in tensors.values():
            check_kind(tensor)  # before anything else is said about the model
        self.config = reader.network()
        self.defaults = reader.defaults()
        self._row_orders = reader.row_orders(self.config)
        self.embeds = reader.embeds()
        tokens = self._first.metadata.get("tokenizer.ggml.tokens")
        names = tokens if isinstance(tokens, list) and not self.embeds else []
        self._vision = vision_beside(path, names, self.config)
        match = _PART.fullmatch(path.name)
        self.name = match["name"] if match else path.stem

    @property
    def vision(self) -> VisionFiles | None:
        """See `vision_beside`."""
        return self._vision

    def tokenizer(self) -> Tokenizer:
        """The vocabulary.

        Raises:
            BrokenModelError: it is damaged, or larger than the network's.
            UnsupportedModelError: it is of a kind that we do not know.
        """
        tokenizer = load_tokenizer(self._first.path, self._first.metadata)
        if tokenizer.vocab_size > self.config.vocab_size:
            raise BrokenModelError(
                f"{self._first.path} has {tokenizer.vocab_size} tokens, but token_embd.weight only "
                f"{self.config.vocab_size} rows. {AGAIN}"
            )
        return tokenizer

    def template(self, tokenizer: Tokenizer) -> ChatTemplate | None:
        """The chat template; None where the file has none.

        Raises:
            ChatTemplateError: it cannot be parsed.
        """
        metadata, path = self._first.metadata, self._first.path
        key = "tokenizer.chat_template"
        source, tool_use = metadata.get(key), metadata.get(f"{key}.tool_use")
        if not all(isinstance(text, str | None) for text in (source, tool_use)):
            raise BrokenModelError(f"{path}: {key} is {shown(source)} instead of a text. {AGAIN}")
        image = "" if self.vision is None else self.vision.config.placeholder(tokenizer)
        return ChatTemplate(source, path, tokenizer, tool_use, image) if source else None

    def weights(self, on_read: Callable[[int], None] | None = None) -> GgufWeights:
        """The weights; for `on_read` see `Checkpoint`."""
        return GgufWeights(self._files, self._row_orders, on_read, native_library.load())

    def mtp_weights(self, on_read: Callable[[int], None] | None = None) -> GgufWeights | None:
        """See `ModelFiles.mtp_weights`: Qwen3.5's and Qwen3-Next's, which may have their own file."""
        found = self._mtp
        if found is None:
            return None
        files, tensors = found
        return GgufWeights(files, {}, on_read, native_library.load(), tensors=tensors)

    @cached_property
    def _mtp(self) -> tuple[list[GgufFile], dict[str, StoredTensor]] | None:
        """The files with those, and what is in them. Kept, as headers take a while to read."""
        if self.config.delta is None or self.embeds:
            return None
        layers, hidden = self.config.num_hidden_layers, self.config.hidden_size
        for files in (self._files, *self._guessing_files()):
            tensors = mtp_tensors_of(files, layers)
            if BEFORE in tensors and tensors[BEFORE].shape == (hidden, 2 * hidden):
                return files, tensors
        return None

    def _guessing_files(self) -> Iterator[list[GgufFile]]:
        """What lies beside this one, of its architecture."""
        folder, architecture = self._first.path.parent, self._first.metadata.get("general.architecture")
        for path in guessing_files(folder):
            try:
                file = read_header(path)
            except ModelError as error:
                _log.warning("No guesses by what lies beside the model: %s", error)
                continue
            if file.metadata.get("general.architecture") == architecture:
                yield [file]

    @property
    def stored(self) -> Quantised | None:
        """int4 where most of its weights are in four bits or fewer, int8 where in others, None: they are plain.

        Those of about four bits that would be rounded again count among the others.
        """
        numbers = self._numbers_of_kinds["layers"]
        quantised = {kind: count for kind, count in numbers.items() if is_quantised(kind[0])}
        if 2 * sum(quantised.values()) <= numbers.total():
            return None
        four = sum(
            count for (kind, stays), count in quantised.items() if kind in FEWER_BITS or (stays and kind in FOUR_BITS)
        )
        return "int4" if 2 * four > numbers.total() else "int8"

    def number_bytes(self, part: NetworkPart, precision: Precision, rounded: RoundedBytes) -> float:
        """As plain numbers take, and where the weights stay as they are stored, of each type what it takes."""
        counts = self._numbers_of_kinds[part] or self._numbers_of_kinds["table"]
        if precision.keeps_levels and part == "layers":
            kept = (count * self._card_bytes(kind, precision, rounded) for (kind, _), count in counts.items())
            return sum(kept) / counts.total()
        if not precision.as_stored or not counts:
            return rounded.number_bytes(part, precision)
        kept = (count * self._kept_bytes(*kind, precision, rounded) for kind, count in counts.items())
        return sum(kept) / counts.total()

    @staticmethod
    def _kept_name(kind: str, precision: Precision) -> str:
        return "int4" if kind in FOUR_BITS and precision.quantised == "int4" else "int8"

    @staticmethod
    def _card_bytes(kind: str, precision: Precision, rounded: RoundedBytes) -> float:
        if precision.quantised != "int4" or kind not in (*SAME_LEVELS, *FEWER_BITS):
            return rounded.int8
        return CODE_BYTES if kind == "MXFP4" else LEVEL_BYTES

    @classmethod
    def _kept_bytes(cls, kind: str, stays: bool, precision: Precision, rounded: RoundedBytes) -> float:
        if stays:
            return block_bytes(kind)
        return rounded.int4 if cls._kept_name(kind, precision) == "int4" else rounded.int8

    def source(self, precision: Precision) -> str:
        """What the file is and what was done to it, as in "Q4_K_M GGUF, dequantised to bfloat16"."""
        number = self._first.metadata.get("general.file_type")
        known = {int(kind): kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in LlamaFileType}
        quantised = sorted(kind for kind in self._kinds if is_quantised(kind))
        plain = sorted(self._kinds - {"F32"}) or ["F32"]  # norms are in float32 everywhere
        name = known.get(number) if isinstance(number, int) else None
        text = f"{name or ' and '.join(quantised or plain)} GGUF"
        matrices = {kind for counts in self._numbers_of_kinds.values() for kind in counts}
        if precision.as_stored and (kept := sorted(kind for kind, stays in matrices if stays)):
            others = sorted(kind for kind, stays in matrices if is_quantised(kind) and not stays)
            text += f", {kept[0]} as it is" if len(kept) == 1 else f", {' and '.join(kept)} as they are"
            names = [
                f"{'some ' if kind in kept else ''}{kind} as {self._kept_name(kind, precision)}" for kind in others
            ]
            return ", ".join([text, *names])
        if precision.quantised:
            return f"{text}, held as {precision.quantised}"
        return text + (f", dequantised to {precision.name}" if quantised else "")


def part_paths(path: Path) -> list[Path]:
    """All files of the model of which `path` is one.

    Raises:
        ModelNotFoundError: one is missing.
        BrokenModelError: the name makes no sense.
    """
    match = _PART.fullmatch(path.name)
    if match is None:
        return [path]
    number, count = int(match["number"]), int(match["count"])
    if not 1 <= number <= count <= _MOST_PARTS:
        raise BrokenModelError(f"{path} calls itself part {number} of {count}. Give the file its first name again.")
    paths = [path.with_name(f"{match['name']}-{part:05}-of-{count:05}.gguf") for part in range(1, count + 1)]
    missing = [part.name for part in paths if not part.exists()]
    if missing:
        raise ModelNotFoundError(
            f"{path} is one of {count} parts, and {missing[0]} is not beside it. Download all parts into one folder."
        )
    return paths


def _check_parts(files: list[GgufFile]) -> None:
    for place, file in enumerate(files):
        number, count = (file.metadata.get(f"split.{key}") for key in ("no", "count"))
        if not (isinstance(number, int) and isinstance(count, int)) or (number, count) != (place, len(files)):
            raise BrokenModelError(
                f"{file.path} is by its name part {place + 1} of {len(files)}, but says inside that it is part "
                f"{shown(number)} (counted from 0) of {shown(count)}. Download all parts again."
            )
    total = files[0].metadata.get("split.tensors.count")
    found = sum(len(file.tensors) for file in files)
    if total is not None and (not isinstance(total, int) or total != found):
        raise BrokenModelError(f"{files[0].path} and its other parts hold {found} tensors of {shown(total)}. {AGAIN}")
