"""A model folder or GGUF file -> all that an engine runs: network, tokenizer, chat template, and their description."""

import math
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from llama_gui.engine import int8_linear, native_library
from llama_gui.engine.apart import run_apart
from llama_gui.engine.cache_precision import name_of, resolve_cache_dtype
from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.checkpoint import Checkpoint, WeightSource
from llama_gui.engine.config import GenerationDefaults, NetworkConfig, load_config, load_generation_defaults
from llama_gui.engine.device import (
    NetworkPart,
    Precision,
    Quantised,
    available_bytes,
    chat_bytes_of,
    give_memory_back,
    keep_scratch_memory,
    precision_reason,
    resolve_device,
    resolve_precision,
    thread_count,
    torch_threads,
)
from llama_gui.engine.expert_config import ExpertConfig
from llama_gui.engine.fields import brief
from llama_gui.engine.gpt_oss_folder import GptOssCheckpoint
from llama_gui.engine.harmony import Marks
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.kv_cache import token_bytes
from llama_gui.engine.llama import Llama
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import is_faster_written_out
from llama_gui.engine.network_loader import NetworkLoader
from llama_gui.engine.packed_weights import block_bytes, stays_as_it_is
from llama_gui.engine.rounded_bytes import RoundedBytes
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.weight_shapes import paired_heads, weight_shapes
from llama_gui.errors import InvalidRequestError, LoadCancelledError, ModelNotFoundError
from llama_gui.paths import as_unicode
from llama_gui.vocabulary import DEFAULT_SAMPLING, LoadPlan, LoadProgress, ModelInfo
from llama_gui.vocabulary.checks import check_number

_GGUF = ".gguf"
_ALLOWED_PATH = "where a model folder or a GGUF file lies"
_NO_MODEL = re.compile(r"-(?!00001)[0-9]{5}-of-[0-9]{5}\.gguf$|mmproj", re.ASCII | re.IGNORECASE)
"""File names of a GGUF that is no model by itself: a later part of one, or a picture encoder (mmproj)."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What a model is, in memory.

    `eos_token_ids` end an answer: those of config.json, generation_config.json and the tokenizer. `threads`: with how
    many CPU threads it is run.
    """

    network: Llama
    tokenizer: Tokenizer
    template: ChatTemplate | None
    info: ModelInfo
    eos_token_ids: frozenset[int]
    threads: int


class _Watch:
    """Tells how far the reading is, and ends it when nobody wants the model any more. Counts numbers, not bytes."""

    def __init__(
        self,
        total: int,
        on_progress: Callable[[LoadProgress], None] | None,
        is_cancelled: Callable[[], bool] | None,
    ) -> None:
        self._total = total
        self._on_progress = on_progress
        self._is_cancelled = is_cancelled
        self._read = 0

    def read(self, numbers: int) -> None:
        """So many are about to be read; those before are in place."""
        _check_wanted(self._is_cancelled)
        self._tell()
        self._read += numbers

    def finish(self) -> None:
        """All are in place."""
        _check_wanted(self._is_cancelled)
        self._read = self._total
        self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            self._on_progress(LoadProgress(min(self._read, self._total), self._total))


def _check_wanted(is_cancelled: Callable[[], bool] | None) -> None:
    if is_cancelled is not None and is_cancelled():
        raise LoadCancelledError("The model was not loaded: it was cancelled.")


class ModelFiles(Protocol):
    """A model on disk, of which only the small files are read yet.

    Defaults here are those of unquantised weights, but for experts that lie in memory as they are stored
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
    def stored(self) -> Quantised | None:
        """About how the files' weights are quantised; None: they are not."""
        return "int4" if self.config.stored_kind else None

    def number_bytes(self, part: NetworkPart, precision: Precision, rounded: RoundedBytes) -> float:
        """Average bytes of a number of that part in memory; `rounded`: those of numbers that are quantised.

        Beside experts that stay as they are, the other matrices have eight bits.
        """
        if part != "layers" or not _keeps_experts(self.config, precision):
            return rounded.number_bytes(part, precision)
        share = _expert_count(self.config) / _layer_count(self.config)
        return share * block_bytes(self.config.stored_kind) + (1 - share) * rounded.int8

    def source(self, precision: Precision) -> str:
        """What the files are and what is done to them, for people; "" where the window shows it anyway."""
        return ""


class FolderModel(ModelFiles):
    """A folder in Hugging Face layout. Raises what `load_config` and `load_generation_defaults` raise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = folder.name
        self.config = load_config(folder)
        self.defaults = load_generation_defaults(folder)

    def tokenizer(self) -> Tokenizer:
        """See `Tokenizer.load`."""
        return Tokenizer.load(self._folder)

    def template(self, tokenizer: Tokenizer) -> ChatTemplate | None:
        """See `ChatTemplate.load`."""
        return ChatTemplate.load(self._folder, tokenizer)

    def weights(self, on_read: Callable[[int], None] | None = None) -> Checkpoint | GptOssCheckpoint:
        """See `Checkpoint`."""
        if self.config.has_sinks:
            return GptOssCheckpoint(self._folder, on_read, is_packed=bool(self.config.stored_kind))
        paired = paired_heads(self.config) if self.config.paired else None
        return Checkpoint(self._folder, on_read, text_only=self.config.reads_pictures, paired_heads=paired)

    def source(self, precision: Precision) -> str:
        """Says what is left aside, and what is done to experts in MXFP4."""
        kind = self.config.stored_kind
        if _keeps_experts(self.config, precision):
            return f"{kind} experts as they are, the rest as int8"
        if kind:
            return f"{kind} experts, {'held as' if precision.quantised else 'dequantised to'} {precision.name}"
        return "the part for text; it reads no pictures here" if self.config.reads_pictures else ""


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


def open_model(path: Path) -> ModelFiles:
    """The model at `path`: a folder, a file whose name ends in .gguf, or a folder with one such model and no other.

    Raises what `Engine.load` raises.
    """
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


def estimate_bytes(path: str | Path, dtype: str = "auto", device: str = "auto") -> int:
    """Bytes that the weights of the model at `path` will take in memory. Raises what `Engine.load` raises."""
    model = open_model(model_folder(path))
    torch_device = resolve_device(device)
    kernels = native_library.load() if torch_device.type == "cpu" else None
    return _weight_bytes(model, _precision(model, dtype, torch_device, kernels), kernels)


def plan_load(
    path: str | Path, dtype: str = "auto", device: str = "auto", freed: int = 0, cache_dtype: str = "auto"
) -> LoadPlan:
    """What the model at `path` would take, judged by its small files and the memory that is free now.

    `freed`: bytes that would be given back before. Raises what `Engine.load` raises.
    """
    model = open_model(model_folder(path))
    config = model.config
    torch_device = resolve_device(device)
    kernels = native_library.load() if torch_device.type == "cpu" else None
    precision = _precision(model, dtype, torch_device, kernels)
    kept = resolve_cache_dtype(cache_dtype, precision, config.head_dim, torch_device, kernels)
    weights = _weight_bytes(model, precision, kernels)
    return LoadPlan(
        dtype=precision.name,
        device=torch_device.type,
        reason=precision_reason(dtype, precision, torch_device),
        threads=thread_count(_layer_bytes(model, precision, kernels)),
        trained_context=_trained_context(config),
        weight_bytes=weights,
        token_bytes=token_bytes(config, kept),
        chat_bytes=chat_bytes_of(available_bytes(torch_device.type) + freed - weights),
    )


def _weight_bytes(model: ModelFiles, precision: Precision, kernels: NativeKernels | None) -> int:
    config = model.config
    vocabulary = config.vocab_size * config.hidden_size
    routers, linears = _router_count(config), _layer_count(config)
    # The head is a separate linear, unless our kernels multiply by the embedding table itself.
    has_native_int8 = _has_native_int8(precision, kernels)
    is_ours = precision.held is not None or has_native_int8
    is_shared = config.tie_word_embeddings and (is_ours or precision.as_stored)
    rounded = _rounded_bytes(config, kernels, has_native_int8)
    table, head = (model.number_bytes(part, precision, rounded) for part in ("table", "head"))
    vocabulary_bytes = vocabulary * (table if is_shared else table + head)
    layers_bytes = linears * model.number_bytes("layers", precision, rounded)
    return round(vocabulary_bytes + layers_bytes + routers * torch.float32.itemsize)


def _rounded_bytes(config: NetworkConfig, kernels: NativeKernels | None, has_native_int8: bool) -> RoundedBytes:
    has_seven_bits = has_native_int8 and kernels is not None and not kernels.is_wide
    return RoundedBytes.of(config.hidden_size, has_kernels=kernels is not None, has_seven_bits=has_seven_bits)


def _has_native_int8(precision: Precision, kernels: NativeKernels | None) -> bool:
    """Whether our own kernels multiply eight bits. Torch's may be tried for that: plain weights need not wait."""
    return precision.quantised is not None and kernels is not None and not int8_linear.is_preferred()


def load_model(
    path: str | Path | ModelFiles,
    *,
    dtype: str = "auto",
    device: str = "auto",
    max_context: int | None = None,
    threads: int | None = None,
    name: str | None = None,
    exact: bool = True,
    cache_dtype: str = "auto",
    kernel_notes: str | Path | None = None,
    on_progress: Callable[[LoadProgress], None] | None = None,
    is_cancelled: Callable[[], bool] | None = None,
    check: Callable[[ModelFiles, Tokenizer], None] | None = None,
) -> LoadedModel:
    """Load the model at `path`, or one that is open already; for arguments and errors see `Engine.load`.

    `check`: called before its weights are read; what it raises ends the loading.
    """
    if not isinstance(kernel_notes, str | Path | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequestError("kernel_notes", kernel_notes, "the path of a file")
    torch_device = resolve_device(device)
    kernels = native_library.load() if torch_device.type == "cpu" else None
    model = _opened(path)
    precision = _precision(model, dtype, torch_device, kernels)
    config, defaults = model.config, model.defaults
    kept = resolve_cache_dtype(cache_dtype, precision, config.head_dim, torch_device, kernels)
    _check_wanted(is_cancelled)
    tokenizer = model.tokenizer()
    if check is not None:
        check(model, tokenizer)
    template = model.template(tokenizer)
    thinking, thinking_tag = template.thinking() if template is not None else (None, "")
    context = _context(max_context, config)
    threads = threads or thread_count(_layer_bytes(model, precision, kernels))
    notes = KernelNotes(Path(kernel_notes) if kernel_notes is not None else None, precision, threads)
    reader = _NetworkReader(model, context, precision, kept, torch_device, threads, exact, notes, kernels)
    network = reader.read(on_progress, is_cancelled)
    info = ModelInfo(
        name=as_unicode(name or model.name),
        path=str(model_folder(path)) if isinstance(path, str | Path) else "",
        architecture=config.architecture,
        parameters=_parameter_count(config),
        max_context=context,
        dtype=precision.name,
        device=torch_device.type,
        sampling=defaults.sampling.or_else(DEFAULT_SAMPLING),
        has_chat_template=template is not None,
        source=model.source(precision),
        reason=precision_reason(dtype, precision, torch_device),
        thinking=thinking,
        thinking_tag=thinking_tag,
        tools=template is not None and template.knows_tools,
        lists_calls=template is not None and template.lists_calls,
        efforts=template.efforts() if template is not None else (),
        cache_dtype=name_of(network.cache_dtype),
        wraps_answers=template is not None and template.wraps_answers,
        marks_calls=template is not None and Marks.find(tokenizer) is not None,
    )
    eos_token_ids = config.eos_token_ids | defaults.eos_token_ids | tokenizer.eos_ids
    eos_token_ids -= tokenizer.going_on_ids
    return LoadedModel(network, tokenizer, template, info, eos_token_ids, threads)


@dataclass(frozen=True, slots=True)
class _NetworkReader:
    """How the weights of a model get into memory."""

    model: ModelFiles
    context: int
    precision: Precision
    cache_dtype: torch.dtype
    device: torch.device
    threads: int
    exact: bool
    notes: KernelNotes
    kernels: NativeKernels | None

    def read(
        self, on_progress: Callable[[LoadProgress], None] | None, is_cancelled: Callable[[], bool] | None
    ) -> Llama:
        """Read them in a thread of their own, and wait."""
        keep_scratch_memory()  # before kernels are timed

        def read(report: Callable[[LoadProgress], None], is_unwanted: Callable[[], bool]) -> Llama:
            def is_over() -> bool:
                return is_unwanted() or (is_cancelled is not None and is_cancelled())

            return self._read(_Watch(_parameter_count(self.model.config), report, is_over))

        network = run_apart(read, on_progress, name="llama-gui-load")
        # Memory of the conversion that the C library kept: for a small model in int4 as much as its weights.
        give_memory_back()
        return network

    def _read(self, watch: _Watch) -> Llama:
        # As many threads as later, because products are probed during loading.
        with torch_threads(self.threads), self.model.weights(watch.read) as checkpoint:
            network = NetworkLoader(
                self.model.config.within(self.context),
                checkpoint,
                self.precision,
                self.device,
                exact=self.exact,
                notes=self.notes,
                kernels=self.kernels,
                cache_dtype=self.cache_dtype,
            ).load()
        watch.finish()
        self.notes.save()
        return network


def _precision(model: ModelFiles, dtype: str, device: torch.device, kernels: NativeKernels | None) -> Precision:
    if kernels is None or model.stored is None:
        return resolve_precision(dtype, device, has_kernels=kernels is not None)
    # Written out in eight bits and multiplied by torch's kernel, prompts are read much faster where that serves.
    keeps_blocks = not is_faster_written_out(kernels)
    return resolve_precision(dtype, device, has_kernels=True, stored=model.stored, keeps_blocks=keeps_blocks)


def _opened(path: str | Path | ModelFiles) -> ModelFiles:
    if isinstance(path, str | Path):
        return open_model(model_folder(path))
    if not hasattr(path, "weights"):
        raise InvalidRequestError("path", path, _ALLOWED_PATH)
    return path


def _context(max_context: int | None, config: NetworkConfig) -> int:
    trained = _trained_context(config)
    if max_context is None:
        return trained
    return int(check_number("max_context", max_context, 2, trained, integer=True))


def _trained_context(config: NetworkConfig) -> int:
    return max(config.max_position_embeddings, config.rope.stretched_context)


def _layer_bytes(model: ModelFiles, precision: Precision, kernels: NativeKernels | None) -> int:
    """About how many bytes are multiplied for each token, which decides the number of threads."""
    rounded = _rounded_bytes(model.config, kernels, _has_native_int8(precision, kernels))
    config = model.config
    read = _parameter_count(config) - (0 if config.experts is None else _idle_count(config, config.experts))
    return round(read * model.number_bytes("layers", precision, rounded))


def _keeps_experts(config: NetworkConfig, precision: Precision) -> bool:
    """Whether experts lie in memory as they are stored."""
    widths = (config.hidden_size, *([] if config.experts is None else [config.experts.inner]))
    return precision.as_stored and all(stays_as_it_is(config.stored_kind, width) for width in widths)


def _idle_count(config: NetworkConfig, experts: ExpertConfig) -> int:
    """Numbers of the experts that a token does not go through."""
    return _expert_count(config) * (experts.count - experts.chosen) // experts.count


def _expert_count(config: NetworkConfig) -> int:
    """Numbers of all experts' matrices."""
    if config.experts is None:
        return 0
    return 3 * config.num_hidden_layers * config.experts.count * config.experts.inner * config.hidden_size


def _layer_count(config: NetworkConfig) -> int:
    """Numbers of all layers but of the routers."""
    vocabulary = config.vocab_size * config.hidden_size * (1 if config.tie_word_embeddings else 2)
    return _parameter_count(config) - vocabulary - _router_count(config)


def _router_count(config: NetworkConfig) -> int:
    """Numbers of the routers, which are held in float32."""
    if config.experts is None:
        return 0
    return config.num_hidden_layers * config.experts.count * (config.hidden_size + config.experts.names.has_biases)


def _parameter_count(config: NetworkConfig) -> int:
    return sum(math.prod(shape) for shape in weight_shapes(config).values())
