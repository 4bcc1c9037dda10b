"""What a model will take and be, judged by its small files, before anything of its weights is read."""

import contextlib
from pathlib import Path

import torch

from llama_gui.engine import int8_linear, native_library
from llama_gui.engine.cache_precision import resolve_cache_dtype
from llama_gui.engine.device import (
    Precision,
    available_bytes,
    bytes_to_load,
    card_bytes,
    chat_bytes_of,
    precision_reason,
    resolve_device,
    resolve_precision,
    thread_count,
)
from llama_gui.engine.kv_cache import token_bytes
from llama_gui.engine.layer_states import StateShape
from llama_gui.engine.model_files import ModelFiles, open_model
from llama_gui.engine.mtp_files import mtp_of, with_mtp
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import is_faster_written_out
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.rounded_bytes import RoundedBytes
from llama_gui.engine.vision.loading import vision_parameters
from llama_gui.engine.weight_shapes import held_parameters, idle_parameters, layer_parameters, router_parameters
from llama_gui.errors import ModelError, UnsupportedModelError
from llama_gui.vocabulary import LoadPlan


def plan_load(
    path: str | Path, dtype: str = "auto", device: str = "auto", freed: int = 0, cache_dtype: str = "auto"
) -> LoadPlan:
    """What the model at `path` would take, judged by its small files and the memory that is free now.

    With a layer that guesses further tokens, if it has one and is run on a CPU, as with ``draft="auto"``.

    `freed`: bytes that would be given back before. Raises what `Engine.load` raises.
    """
    model = open_model(path)
    config = model.config
    torch_device, left_card = device_of(model, dtype, device)
    kernels = native_library.load() if torch_device.type == "cpu" else None
    precision = precision_of(model, dtype, torch_device, kernels)
    kept = resolve_cache_dtype(cache_dtype, precision, config.head_dim, torch_device, kernels)
    mtp = None
    if torch_device.type == "cpu":
        with contextlib.suppress(ModelError):  # of the weight files, which loading will tell
            mtp = mtp_of(model)
    weights = _weight_bytes(model, precision, kernels)
    if mtp is not None:
        config = with_mtp(config)
        rounded = _rounded_bytes(mtp.config, kernels, _has_native_int8(precision, kernels))
        weights += round(layer_parameters(mtp.config) * mtp.number_bytes("layers", precision, rounded))
    return LoadPlan(
        dtype=precision.name,
        device=torch_device.type,
        reason=precision_reason(dtype, precision, torch_device, is_fp8=config.fp8 is not None, left_card=left_card),
        threads=thread_count(layer_bytes(model, precision, kernels)),
        trained_context=trained_context(config),
        weight_bytes=weights,
        token_bytes=token_bytes(config, kept),
        chat_bytes=chat_bytes_of(available_bytes(torch_device.type) + freed - weights),
        state_bytes=0 if config.recurrent is None else StateShape.of(config.recurrent).least_bytes,
    )


def _weight_bytes(model: ModelFiles, precision: Precision, kernels: NativeKernels | None) -> int:
    config = model.config
    vocabulary = config.vocab_size * config.hidden_size
    routers, linears = router_parameters(config), layer_parameters(config)
    # The head is a separate linear, unless our kernels multiply by the embedding table itself.
    has_native_int8 = _has_native_int8(precision, kernels)
    is_ours = precision.held is not None or has_native_int8
    is_shared = config.tie_word_embeddings and (is_ours or precision.as_stored)
    rounded = _rounded_bytes(config, kernels, has_native_int8)
    table, head = (model.number_bytes(part, precision, rounded) for part in ("table", "head"))
    vocabulary_bytes = vocabulary * (table if is_shared else table + head)
    layers_bytes = linears * model.number_bytes("layers", precision, rounded)
    numbers = 0 if model.vision is None else vision_parameters(model.vision.config)
    vision_bytes = numbers * (torch.float32 if precision.name == "float32" else torch.bfloat16).itemsize
    return round(vocabulary_bytes + layers_bytes + routers * torch.float32.itemsize) + vision_bytes


def _rounded_bytes(config: NetworkConfig, kernels: NativeKernels | None, has_native_int8: bool) -> RoundedBytes:
    has_seven_bits = has_native_int8 and kernels is not None and not kernels.is_wide
    return RoundedBytes.of(config.hidden_size, has_kernels=kernels is not None, has_seven_bits=has_seven_bits)


def _has_native_int8(precision: Precision, kernels: NativeKernels | None) -> bool:
    """Whether our own kernels multiply eight bits. Torch's may be tried for that: plain weights need not wait."""
    return precision.quantised is not None and kernels is not None and not int8_linear.is_preferred()


def device_of(model: ModelFiles, dtype: str, device: str) -> tuple[torch.device, bool]:
    """What `device` stands for, and whether it would be a card but for this model.

    With "auto" a model runs on the CPU if it does not fit into the card, even if all of ours there went, and if the
    card does not multiply `dtype`. Raises what `resolve_device` raises.
    """
    found = resolve_device(device)
    if device != "auto" or found.type != "cuda":
        return found, False
    try:
        precision = precision_of(model, dtype, found, None)
    except UnsupportedModelError:
        return torch.device("cpu"), False
    fits = bytes_to_load(_weight_bytes(model, precision, None)) <= card_bytes(found)
    return (found, False) if fits else (torch.device("cpu"), True)


def precision_of(model: ModelFiles, dtype: str, device: torch.device, kernels: NativeKernels | None) -> Precision:
    """How `dtype` has the weights of `model` held on `device`; see `resolve_precision`."""
    if kernels is None or model.stored is None:
        stored = model.stored if device.type == "cuda" else None
        return resolve_precision(dtype, device, has_kernels=kernels is not None, stored=stored)
    # Written out in eight bits and multiplied by torch's kernel, prompts are read much faster where that serves.
    keeps_blocks = model.config.fp8 is None and not is_faster_written_out(kernels)
    return resolve_precision(dtype, device, has_kernels=True, stored=model.stored, keeps_blocks=keeps_blocks)


def trained_context(config: NetworkConfig) -> int:
    """The longest conversation that the model was trained for, in tokens."""
    return max(config.max_position_embeddings, config.rope.stretched_context)


def layer_bytes(model: ModelFiles, precision: Precision, kernels: NativeKernels | None) -> int:
    """About how many bytes are multiplied for each token, which decides the number of threads."""
    rounded = _rounded_bytes(model.config, kernels, _has_native_int8(precision, kernels))
    config = model.config
    read = held_parameters(config) - idle_parameters(config)
    return round(read * model.number_bytes("layers", precision, rounded))
