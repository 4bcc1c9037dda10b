"""A model folder or GGUF file -> all that an engine runs: network, tokenizer, chat template, and their description."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

import torch

from llama_gui.engine import native_library
from llama_gui.engine.apart import run_apart
from llama_gui.engine.cache_precision import name_of, resolve_cache_dtype
from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.device import (
    Precision,
    give_memory_back,
    keep_scratch_memory,
    precision_reason,
    thread_count,
    torch_threads,
)
from llama_gui.engine.harmony import Marks
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.llama import Llama
from llama_gui.engine.load_plan import device_of, layer_bytes, precision_of, trained_context
from llama_gui.engine.model_files import ModelFiles, model_folder, open_model
from llama_gui.engine.mtp_files import mtp_of, with_mtp
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.network_loader import NetworkLoader
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.loading import load_vision, vision_parameters, vision_precision
from llama_gui.engine.vision.pixels import MOST_PIXELS_ON_CPU, ImagePreparer
from llama_gui.engine.vision.placing import ImagePlacer
from llama_gui.engine.vision.tower import VisionTower
from llama_gui.engine.weight_shapes import held_parameters, parameter_count
from llama_gui.errors import LoadCancelledError, UnsupportedModelError
from llama_gui.paths import as_unicode
from llama_gui.vocabulary import DEFAULT_SAMPLING, LoadProgress, ModelInfo, SamplingParams
from llama_gui.vocabulary.checks import check_number, check_path


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What a model is, in memory.

    `eos_token_ids` end an answer: those of config.json, generation_config.json and the tokenizer. `threads`: with how
    many CPU threads it is run. `tower` reads images, which `placer` puts among the tokens of prompts; None: it reads
    none. `mtp`: its files' layer that guesses further tokens, for which its caches have room; None: there is none.
    """

    network: Llama
    tokenizer: Tokenizer
    template: ChatTemplate | None
    info: ModelInfo
    eos_token_ids: frozenset[int]
    threads: int
    tower: VisionTower | None = None
    placer: ImagePlacer | None = None
    mtp: ModelFiles | None = None


class Told(TypedDict):
    """What a network that guesses is loaded with, as the model that it guesses for; see `Engine.load`."""

    exact: bool
    kernel_notes: str | Path | None
    is_cancelled: Callable[[], bool] | None


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
    guesses: bool = False,
) -> LoadedModel:
    """Load the model at `path`, or one that is open already; for arguments and errors see `Engine.load`.

    `check`: called before its weights are read; what it raises ends the loading. `guesses`: by what its files have for
    that, if they have, which is loaded later.
    """
    check_path("kernel_notes", kernel_notes, "the path of a file")
    model = open_model(path)
    if model.config.is_assistant:
        raise UnsupportedModelError(
            f"{model.name} only guesses for another model of Gemma 4, the one that it is named like. Choose that one."
        )
    torch_device, left_card = device_of(model, dtype, device)
    kernels = native_library.load() if torch_device.type == "cpu" else None
    precision = precision_of(model, dtype, torch_device, kernels)
    mtp = mtp_of(model) if guesses and not model.embeds and torch_device.type == "cpu" else None
    config, defaults = model.config if mtp is None else with_mtp(model.config), model.defaults
    kept = resolve_cache_dtype(cache_dtype, precision, config.head_dim, torch_device, kernels)
    _check_wanted(is_cancelled)
    tokenizer = model.tokenizer()
    if check is not None:
        check(model, tokenizer)
    template = model.template(tokenizer)
    context = _context(max_context, config)
    threads = threads or thread_count(layer_bytes(model, precision, kernels))
    notes = _notes(kernel_notes, precision, threads)
    reader = _NetworkReader(
        model, config.within(context), precision, kept, torch_device, threads, exact, notes, kernels
    )
    network, tower = reader.read(on_progress, is_cancelled)
    info = ModelInfo(
        name=as_unicode(name or model.name),
        path=str(model_folder(path)) if isinstance(path, str | Path) else "",
        architecture=config.architecture,
        parameters=parameter_count(config),
        max_context=context,
        dtype=precision.name,
        device=torch_device.type,
        sampling=_drawable(defaults.sampling, tokenizer).or_else(DEFAULT_SAMPLING),
        has_chat_template=template is not None,
        source=model.source(precision),
        reason=precision_reason(dtype, precision, torch_device, is_fp8=config.fp8 is not None, left_card=left_card),
        cache_dtype=name_of(network.cache_dtype),
        embeds=model.embeds,
        dimensions=config.hidden_size if model.embeds else 0,
        reads_images=tower is not None and template is not None,
    )
    if template is not None:
        info = _with_manners(info, template, tokenizer)
    eos_token_ids = (config.eos_token_ids | defaults.eos_token_ids | tokenizer.eos_ids) - tokenizer.going_on_ids
    placer = _placer(model, tokenizer, torch_device)
    return LoadedModel(network, tokenizer, template, info, eos_token_ids, threads, tower, placer, mtp)


def _placer(model: ModelFiles, tokenizer: Tokenizer, device: torch.device) -> ImagePlacer | None:
    if model.vision is None:
        return None
    most_pixels = MOST_PIXELS_ON_CPU if device.type == "cpu" else None
    return ImagePlacer(model.vision.config, tokenizer, ImagePreparer(model.vision.config, most_pixels))


def _notes(file: str | Path | None, precision: Precision, threads: int) -> KernelNotes:
    return KernelNotes(Path(file) if file is not None else None, precision, threads)


def load_beside(assistant: ModelFiles, config: NetworkConfig, model: LoadedModel, **told: Unpack[Told]) -> Llama:
    """The network of `assistant`, which borrows from that of `model`, held as that is; `config`: see `lent_by`.

    A layer of the model's own has its vocabulary, too.

    For errors see `Engine.load`.
    """
    target = model.network
    kernels = native_library.load() if target.device.type == "cpu" else None
    precision = precision_of(assistant, model.info.dtype, target.device, kernels)
    notes = _notes(told["kernel_notes"], precision, model.threads)
    config = config.within(model.info.max_context)
    held = (precision, target.cache_dtype, target.device, model.threads, told["exact"], notes, kernels)
    shared = None if config.lent is None else target
    network, _ = _NetworkReader(assistant, config, *held, shared).read(None, told["is_cancelled"])
    return network


def _drawable(sampling: SamplingParams, tokenizer: Tokenizer) -> SamplingParams:
    """The same, without banning what is no token."""
    banned = [token_id for token_id in sampling.banned_token_ids or () if token_id < tokenizer.vocab_size]
    return replace(sampling, banned_token_ids=banned or None)


def _with_manners(info: ModelInfo, template: ChatTemplate, tokenizer: Tokenizer) -> ModelInfo:
    """With how the model thinks, answers and calls, as far as its template tells."""
    thinking, thinking_tag = template.thinking()
    return replace(
        info,
        thinking=thinking,
        thinking_tag=thinking_tag,
        efforts=template.efforts(),
        wraps_answers=template.wraps_answers,
        tools=template.knows_tools,
        lists_calls=template.lists_calls,
        marks_calls=Marks.find(tokenizer) is not None,
        marks_thoughts=template.marks_thoughts,
    )


@dataclass(frozen=True, slots=True)
class _NetworkReader:
    """How the weights of a model get into memory."""

    model: ModelFiles
    config: NetworkConfig
    precision: Precision
    cache_dtype: torch.dtype
    device: torch.device
    threads: int
    exact: bool
    notes: KernelNotes
    kernels: NativeKernels | None
    shared: Llama | None = None

    def read(
        self, on_progress: Callable[[LoadProgress], None] | None, is_cancelled: Callable[[], bool] | None
    ) -> tuple[Llama, VisionTower | None]:
        """Read them in a thread of their own, and wait."""
        keep_scratch_memory()  # before kernels are timed

        def read(
            report: Callable[[LoadProgress], None], is_unwanted: Callable[[], bool]
        ) -> tuple[Llama, VisionTower | None]:
            def is_over() -> bool:
                return is_unwanted() or (is_cancelled is not None and is_cancelled())

            vision = 0 if self.model.vision is None else vision_parameters(self.model.vision.config)
            return self._read(_Watch(held_parameters(self.model.config) + vision, report, is_over))

        networks = run_apart(read, on_progress, name="llama-gui-load")
        # Memory of the conversion that the C library kept: for a small model in int4 as much as its weights.
        give_memory_back(held_parameters(self.model.config))
        return networks

    def _read(self, watch: _Watch) -> tuple[Llama, VisionTower | None]:
        # As many threads as later, because products are probed during loading.
        with torch_threads(self.threads), self.model.weights(watch.read) as checkpoint:
            network = NetworkLoader(
                self.config,
                checkpoint,
                self.precision,
                self.device,
                exact=self.exact,
                notes=self.notes,
                kernels=self.kernels,
                cache_dtype=self.cache_dtype,
                shared=self.shared,
            ).load()
            tower = self._tower(watch)
        watch.finish()
        self.notes.save()
        return network, tower

    def _tower(self, watch: _Watch) -> VisionTower | None:
        vision = self.model.vision
        if vision is None:
            return None
        precision = vision_precision(self.precision, self.device, self.kernels)
        with vision.weights(watch.read) as checkpoint:
            shift = vision.row_norm_shift
            made = (vision.config, checkpoint, precision, self.device, self.notes, self.kernels)
            return load_vision(*made, row_norm_shift=shift)


def _context(max_context: int | None, config: NetworkConfig) -> int:
    trained = trained_context(config)
    if max_context is None:
        return trained
    return int(check_number("max_context", max_context, 2, trained, integer=True))
