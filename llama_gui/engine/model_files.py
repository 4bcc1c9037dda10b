"""What a model is on disk, and what its small files say: a folder in Hugging Face layout, or a GGUF file."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from llama_gui.engine.card_int4 import CODE_BYTES
from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.checkpoint import Checkpoint, WeightSource
from llama_gui.engine.config import load_config
from llama_gui.engine.device import NetworkPart, Precision, Quantised
from llama_gui.engine.fields import brief
from llama_gui.engine.generation_defaults import GenerationDefaults, load_generation_defaults
from llama_gui.engine.gpt_oss_folder import GptOssCheckpoint
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.packed_weights import block_bytes, stays_as_it_is
from llama_gui.engine.pooling import folder_embeds
from llama_gui.engine.rounded_bytes import RoundedBytes
from llama_gui.engine.scaled_weights import ScaledCheckpoint
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.files import VisionFiles, vision_in
from llama_gui.engine.weight_shapes import expert_parameters, grouped_rows, layer_parameters, paired_rows
from llama_gui.errors import InvalidRequestError, ModelNotFoundError

_GGUF = ".gguf"
_ALLOWED_PATH = "where a model folder or a GGUF file lies"
_GUESSER = r"(?-i:(?<![A-Za-z])mtp-)"  # files with "-MTP-" in their names are whole models
GUESSING_FILE = re.compile(rf"{_GUESSER}.*\.gguf$", re.ASCII | re.IGNORECASE)
"""What the name of a GGUF file has in it that guesses for another."""
_NO_MODEL = re.compile(rf"-(?!00001)[0-9]{{5}}-of-[0-9]{{5}}\.gguf$|mmproj|{_GUESSER}", re.ASCII | re.IGNORECASE)
"""File names of a GGUF that is no model by itself: a later part of one, a picture encoder (mmproj), or what guesses."""


class ModelFiles(Protocol):
    """A model on disk, of which only the small files are read yet.

    Defaults here are those of unquantised weights, but for FP8, and for experts that lie in memory as they are stored
    (`NetworkConfig.stored_kind`).
    """

    name: str
    config: NetworkConfig
    defaults: GenerationDefaults

    def tokenizer(self) -> Tokenizer:
        """Text to ids and back."""
        ...

    def template(self, tokenizer: Tokenizer) -> ChatTemplate | None:
        """The chat template, where there is one."""
        ...

    def weights(self, on_read: Callable[[int], None] | None = None) -> AbstractContextManager[WeightSource]:
        """The weights, to be opened with ``with``."""
        ...

    @property
    def embeds(self) -> bool:
        """Whether it turns texts into vectors, and writes none."""
        return False

    @property
    def vision(self) -> VisionFiles | None:
        """The network that reads images; None: it reads none here."""
        return None

    def mtp_weights(self, on_read: Callable[[int], None] | None = None) -> AbstractContextManager[WeightSource] | None:
        """Those of a layer that guesses further tokens; None: there is none, or it is of a kind that we do not run."""
        return None

    @property
    def stored(self) -> Quantised | None:
        """About how the files' weights are quantised; None: they are not."""
        if self.config.fp8 is not None:
            return "int8"
        return "int4" if self.config.stored_kind else None

    def number_bytes(self, part: NetworkPart, precision: Precision, rounded: RoundedBytes) -> float:
        """Average bytes of a number of that part in memory; `rounded`: those of numbers that are quantised.

        Beside experts that stay as they are, the other matrices have eight bits.
        """
        if part != "layers" or not _keeps_experts(self.config, precision):
            return rounded.number_bytes(part, precision)
        share = expert_parameters(self.config) / layer_parameters(self.config)
        kept = CODE_BYTES if precision.keeps_levels else block_bytes(self.config.stored_kind)
        return share * kept + (1 - share) * rounded.int8

    def source(self, precision: Precision) -> str:
        """What the files are and what is done to them, for people; "" where the window shows it anyway."""
        return ""


class FolderModel(ModelFiles):
    """A folder in Hugging Face layout. Raises what `load_config`, `folder_embeds` and `load_generation_defaults` do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = folder.name
        self._embeds = folder_embeds(folder)
        self.config = load_config(folder, is_headless=self._embeds)
        self.defaults = load_generation_defaults(folder)
        self._vision = vision_in(folder, self.config) if self.config.reads_pictures else None

    @property
    def embeds(self) -> bool:
        """See `folder_embeds`."""
        return self._embeds

    @property
    def vision(self) -> VisionFiles | None:
        """See `vision_in`."""
        return self._vision

    def mtp_weights(self, on_read: Callable[[int], None] | None = None) -> AbstractContextManager[WeightSource] | None:
        """Those of Qwen3.5 and Qwen3-Next."""
        if self._embeds or self.config.delta is None:
            return None
        files = Checkpoint(self._folder, on_read, network="mtp")
        if not files.names:
            files.__exit__()
            return None
        return files if self.config.fp8 is None else ScaledCheckpoint(files, self.config.fp8)

    def tokenizer(self) -> Tokenizer:
        """See `Tokenizer.load`."""
        return Tokenizer.load(self._folder)

    def template(self, tokenizer: Tokenizer) -> ChatTemplate | None:
        """See `ChatTemplate.load`."""
        image = "" if self.vision is None else self.vision.config.placeholder(tokenizer)
        return ChatTemplate.load(self._folder, tokenizer, image)

    def weights(self, on_read: Callable[[int], None] | None = None) -> AbstractContextManager[WeightSource]:
        """See `Checkpoint`."""
        if self.config.has_sinks:
            return GptOssCheckpoint(self._folder, on_read, is_packed=bool(self.config.stored_kind))
        orders = {**(paired_rows(self.config) if self.config.paired else {}), **grouped_rows(self.config)}
        files = Checkpoint(
            self._folder,
            on_read,
            network="text" if self.config.reads_pictures else "all",
            orders=orders,
            part_names=self.config.part_names,
            is_headless=self._embeds,
            split=self.config.split,
        )
        return files if self.config.fp8 is None else ScaledCheckpoint(files, self.config.fp8, orders)

    def source(self, precision: Precision) -> str:
        """Says what is left aside, and what is done to FP8 and to experts in MXFP4."""
        kind = self.config.stored_kind
        if _keeps_experts(self.config, precision):
            return f"{kind} experts as they are, the rest as int8"
        held = f"{'held as' if precision.quantised else 'dequantised to'} {precision.name}"
        if kind:
            return f"{kind} experts, {held}"
        parts = [
            f"FP8, {held}" if self.config.fp8 is not None else "",
            "the part for text; it reads no images here" if self.config.reads_pictures and self.vision is None else "",
        ]
        return ", ".join(filter(None, parts))


def guessing_files(folder: Path) -> Iterator[Path]:
    """GGUF files that are called like ones that guess for others, in `folder` and in the folders in it."""
    for places in ("*", "*/*"):  # some repositories have a folder for each kind
        yield from sorted(file for file in folder.glob(places) if GUESSING_FILE.search(file.name))


def model_folder(path: str | Path) -> Path:
    """The absolute path of a model. Links stay: the caller knows the model by this path.

    Raises:
        InvalidRequestError: it is no path.
        ModelNotFoundError: no file can have this path.
    """
    if not isinstance(path, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequestError("path", path, _ALLOWED_PATH)
    try:
        folder = Path(os.path.abspath(Path(path).expanduser()))
        folder.exists()  # raises for a name that is too long
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelNotFoundError(
            f"There can be no model at {brief(str(path))} ({brief(str(error))}). Check the path, or pick another one."
        ) from error
    return folder


def open_model(path: str | Path | ModelFiles) -> ModelFiles:
    """The model at `path`: a folder, a file whose name ends in .gguf, or a folder with one such model and no other.

    One that is open already stays what it is. Raises what `Engine.load` raises.
    """
    if isinstance(path, str | Path):
        return _open(model_folder(path))
    if not hasattr(path, "weights"):
        raise InvalidRequestError("path", path, _ALLOWED_PATH)
    return path


def _open(path: Path) -> ModelFiles:
    if path.is_dir() and not (path / "config.json").exists():
        path = _only_gguf(path) or path
    if path.suffix.lower() != _GGUF or path.is_dir():
        return FolderModel(path)
    from llama_gui.engine.gguf import GgufModel  # its package takes a while to import, and few need it

    return GgufModel(path)


def _only_gguf(folder: Path) -> Path | None:
    """The GGUF file in `folder`, of several parts the first; None: there is none."""
    files = sorted(file for file in folder.glob(f"*{_GGUF}") if not _NO_MODEL.search(file.name))
    if len(files) > 1:
        names = ", ".join(file.name for file in files[:5])
        raise ModelNotFoundError(f"{folder} holds {len(files)} GGUF files. Choose one of them: {names}.")
    return files[0] if files else None


def _keeps_experts(config: NetworkConfig, precision: Precision) -> bool:
    """Whether experts lie in memory as they are stored."""
    widths = (config.hidden_size, *([] if config.experts is None else [config.experts.inner]))
    keeps = precision.as_stored or precision.keeps_levels
    return keeps and all(stays_as_it_is(config.stored_kind, width) for width in widths)
