"""A model folder -> everything that an engine runs: network, tokenizer, chat template, and what they are."""

import os
from dataclasses import dataclass
from pathlib import Path

from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.checkpoint import Checkpoint
from llama_gui.engine.config import GenerationDefaults, NetworkConfig, load_config, load_generation_defaults
from llama_gui.engine.device import resolve_device, resolve_precision, thread_count, torch_threads
from llama_gui.engine.llama import Llama, NetworkLoader, weight_shapes
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import DEFAULT_SAMPLING, ModelInfo


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What a folder holds, in memory. `threads`: with how many CPU threads it is run."""

    network: Llama
    tokenizer: Tokenizer
    template: ChatTemplate | None
    defaults: GenerationDefaults
    info: ModelInfo
    threads: int


def load_model(
    path: str | Path,
    *,
    dtype: str = "auto",
    device: str = "auto",
    max_context: int | None = None,
    threads: int | None = None,
    name: str | None = None,
) -> LoadedModel:
    """Load the folder at `path`; for arguments and errors see `Engine.load`."""
    folder = Path(os.path.abspath(Path(path).expanduser()))  # links stay: the caller knows the model by this path
    torch_device = resolve_device(device)
    precision = resolve_precision(dtype, torch_device)
    config = load_config(folder)
    defaults = load_generation_defaults(folder)
    tokenizer = Tokenizer.load(folder)
    template = ChatTemplate.load(folder, tokenizer)
    context = _context(max_context, config)
    threads = threads or thread_count(_parameter_count(config) * precision.weight_bytes)
    # As many threads as later: the rows of a product are probed while it is loaded.
    with torch_threads(threads), Checkpoint(folder) as checkpoint:
        network = NetworkLoader(config, checkpoint, precision, torch_device).load()
    info = ModelInfo(
        name=name or folder.name,
        path=str(folder),
        architecture=config.architecture,
        parameters=_parameter_count(config),
        max_context=context,
        dtype=precision.name,
        device=torch_device.type,
        sampling=defaults.sampling.or_else(DEFAULT_SAMPLING),
        has_chat_template=template is not None,
    )
    return LoadedModel(network, tokenizer, template, defaults, info, threads)


def _context(max_context: int | None, config: NetworkConfig) -> int:
    trained = max(config.max_position_embeddings, config.rope.stretched_context)
    if max_context is None:
        return trained
    if not 2 <= max_context <= trained:
        raise InvalidRequestError("max_context", max_context, f"a whole number from 2 to {trained}")
    return max_context


def _parameter_count(config: NetworkConfig) -> int:
    total = 0
    for shape in weight_shapes(config).values():
        total += shape[0] * (shape[1] if len(shape) > 1 else 1)
    return total
