"""A network that reads images, on disk."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from llama_gui.engine.checkpoint import Checkpoint, WeightSource
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.vision.config import VisionConfig
from llama_gui.engine.vision.folder_config import read_vision


@dataclass(frozen=True, slots=True)
class VisionFiles:
    """What it is, and its `weights`, to be opened with ``with``; for what that is called with see `Checkpoint`.

    `row_norm_shift`: see `VisionWeights`.
    """

    config: VisionConfig
    weights: Callable[[Callable[[int], None] | None], AbstractContextManager[WeightSource]]
    row_norm_shift: float = 1.0


def vision_in(folder: Path, text: NetworkConfig) -> VisionFiles | None:
    """That of a model's folder in Hugging Face layout; None: there is none that runs here.

    `text`: its network for text.

    Raises:
        BrokenModelError, UnsupportedModelError: see `read_vision`.
    """
    config = read_vision(folder, text)
    return None if config is None else VisionFiles(config, partial(Checkpoint, folder, network="vision"))
