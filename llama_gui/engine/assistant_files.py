"""A network that guesses for a model and lies beside it, by the names that Google, our downloads and llama.cpp use."""

import logging
from collections.abc import Iterator
from pathlib import Path

from llama_gui.engine.assistant import lent_by
from llama_gui.engine.model_files import ModelFiles, guessing_files, model_folder, open_model
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.errors import ModelError

_ENDING, _SNAPSHOTS = "-assistant", "snapshots"

_log = logging.getLogger(__name__)


def assistant_beside(model: str | Path | ModelFiles, config: NetworkConfig) -> ModelFiles | None:
    """That for the model at `model`, whose network is `config`; None: there is none that fits it.

    Beside a GGUF file that is another whose name has ``mtp-`` in it; beside a folder one that is called like it, with
    ``-assistant`` behind, also in the cache of the hub.
    """
    if config.gemma4 is None or not isinstance(model, str | Path):
        return None
    for place in _places(model_folder(model)):
        try:
            found = open_model(place)
            if found.config.is_assistant:
                lent_by(config, found.config, found.name)
                return found
        except ModelError as error:
            _log.warning("No guesses by what lies beside the model: %s", error)
    return None


def _places(model: Path) -> Iterator[Path]:
    if not (model / "config.json").exists():
        yield from guessing_files(model if model.is_dir() else model.parent)
    elif model.parent.name == _SNAPSHOTS:
        repository = model.parent.parent
        yield from sorted(repository.with_name(repository.name + _ENDING).glob(f"{_SNAPSHOTS}/*/"))
    elif (beside := model.with_name(model.name + _ENDING)).is_dir():
        yield beside
