"""Models that turn a text into one vector (an embedding) instead of answering it, and how they do.

They are networks like the others, and the vector is what their last norm makes of the text's last token. Folders say so
as sentence-transformers does: modules.json names what follows the network. GGUF files have a `pooling_type`.
"""

from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor

from llama_gui.engine.fields import AGAIN, read_json, read_json_value, shown
from llama_gui.errors import (
    BrokenModelError,
    GenerationError,
    InvalidRequestError,
    UnsupportedModelError,
)

_MODULES = "modules.json"
_LAST, _MODE = "lasttoken", "pooling_mode_"
_GGUF_KINDS = ("none", "mean", "cls", _LAST, "rank")


def folder_embeds(folder: Path) -> bool:
    """Whether the model in `folder` makes vectors.

    Raises:
        BrokenModelError: one of the files that say so is damaged or missing.
        UnsupportedModelError: it makes them of other tokens than the last, or with further layers.
    """
    file = folder / _MODULES
    if not file.exists():
        return False
    modules = _list(file)
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    for kind, module in zip(kinds, modules, strict=True):
        if kind == "Pooling":
            _check_pooling(folder / PurePosixPath(str(module.get("path", ""))) / "config.json")
        elif kind not in ("Transformer", "Normalize"):
            raise UnsupportedModelError(
                f"{file}: vectors of this model go through {shown(kind)}, which is not supported. {_ADVICE}"
            )
    return "Pooling" in kinds


_ADVICE = "Choose another model for embeddings, such as Qwen3 Embedding."


def _list(file: Path) -> list[dict[str, Any]]:
    modules = read_json_value(file)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise BrokenModelError(f"{file} is no list of modules. {AGAIN}")
    return modules


def _check_pooling(file: Path) -> None:
    values = read_json(file)
    chosen = [name.removeprefix(_MODE) for name, value in values.items() if name.startswith(_MODE) and value is True]
    mode = values.get("pooling_mode", "+".join(chosen))
    if mode != _LAST:
        raise UnsupportedModelError(_wrong(file, mode))


def gguf_embeds(kind: object, file: Path) -> bool:
    """Whether a GGUF file is of such a model, by its `pooling_type`; None: it says nothing.

    Raises:
        UnsupportedModelError: it makes vectors of other tokens than the last, or ranks texts.
    """
    name = _GGUF_KINDS[kind] if isinstance(kind, int) and 0 <= kind < len(_GGUF_KINDS) else kind
    if name in (None, "none"):
        return False
    if name != _LAST:
        raise UnsupportedModelError(_wrong(file, name))
    return True


def _wrong(file: Path, mode: object) -> str:
    return (
        f"{file}: this model makes its vectors by the pooling {shown(mode)}, and only that of the last token is "
        f"supported. {_ADVICE}"
    )


def no_writer(name: str) -> InvalidRequestError:
    """The error for who asks the model `name`, which makes vectors, for an answer."""
    return InvalidRequestError("model", name, "one that writes: this one turns texts into vectors for a search")


def no_embedder(name: str) -> InvalidRequestError:
    """The error for who asks the model `name`, which writes texts, for a vector."""
    return InvalidRequestError("model", name, "one for embeddings, such as Qwen3 Embedding: this one writes texts")


def vector_of(row: Tensor, dimensions: int | None) -> tuple[float, ...]:
    """The vector of length one that float ``[hidden]`` is; `dimensions`: its first so many numbers, None: all.

    Which first ones say most is a matter of training (Matryoshka representation learning, Kusupati et al. 2022).

    Raises:
        GenerationError: they are not finite.
    """
    vector = torch.nn.functional.normalize(row[:dimensions].float(), dim=0)
    if not vector.isfinite().all():
        raise GenerationError("The model computed a vector that is not finite. Its files may be damaged.")
    return tuple(vector.tolist())
