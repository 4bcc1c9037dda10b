"""The layer of a model's files that guesses further tokens (MTP), as a network of one layer."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from llama_gui.engine.cache_layout import CacheLayout
from llama_gui.engine.chat_template import ChatTemplate
from llama_gui.engine.checkpoint import WeightSource
from llama_gui.engine.device import NetworkPart, Precision, Quantised
from llama_gui.engine.fields import AGAIN, brief
from llama_gui.engine.model_files import ModelFiles
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.rounded_bytes import RoundedBytes
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError


def with_mtp(config: NetworkConfig) -> NetworkConfig:
    """That of a network whose caches have room for such a layer."""
    return replace(config, mtp_layers=1)


def mtp_config(config: NetworkConfig) -> NetworkConfig:
    """That of the layer alone, which attends as those of `config` do that attend."""
    layout = with_mtp(config).cache_layout
    delta = None if config.delta is None else replace(config.delta, layers=frozenset[int]())
    lent = CacheLayout(layout.parts, layout.places[-1:])
    return replace(config, num_hidden_layers=1, delta=delta, mtp_layers=0, lent=lent)


def mtp_of(model: ModelFiles) -> ModelFiles | None:
    """That of `model`; None: it has none that we run. Raises what `ModelFiles.weights` raises."""
    weights = model.mtp_weights()
    if weights is None:
        return None
    with weights:
        return _MtpFiles(model)


class _MtpFiles(ModelFiles):
    def __init__(self, model: ModelFiles) -> None:
        self._model = model
        self.name, self.defaults = f"{model.name} (mtp)", model.defaults
        self.config = mtp_config(model.config)

    def tokenizer(self) -> Tokenizer:
        """That of the whole model."""
        return self._model.tokenizer()

    def template(self, tokenizer: Tokenizer) -> ChatTemplate | None:
        """The same."""
        return self._model.template(tokenizer)

    def weights(self, on_read: Callable[[int], None] | None = None) -> AbstractContextManager[WeightSource]:
        """See `ModelFiles.mtp_weights`."""
        weights = self._model.mtp_weights(on_read)
        if weights is None:  # the files have changed since
            raise BrokenModelError(f"{self._model.name}: {brief('mtp')} missing from the weight files. {AGAIN}")
        return weights

    @property
    def stored(self) -> Quantised | None:
        """As all of the files are, about."""
        return self._model.stored

    def number_bytes(self, part: NetworkPart, precision: Precision, rounded: RoundedBytes) -> float:
        """The same."""
        return self._model.number_bytes(part, precision, rounded)
