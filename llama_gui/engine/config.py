"""config.json and generation_config.json, read into values. What we do not run is refused by name, never guessed."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from llama_gui.errors import BrokenModelError, InvalidRequestError, ModelNotFoundError, UnsupportedModelError
from llama_gui.vocabulary import SamplingParams

ARCHITECTURES = ("LlamaForCausalLM",)
ROPE_KINDS = ("default", "linear", "llama3")
FILE_DTYPES = ("float32", "float16", "bfloat16")

_TOO_LARGE = 2**31  # no dimension of a network we could load comes near; a damaged file may say anything


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """Rotary embedding: base, and how its frequencies are scaled for contexts longer than the trained one.

    `kind` "linear" divides every frequency by `factor`; "llama3" divides the low ones only (Llama 3.1).
    """

    theta: float = 10000.0
    kind: Literal["default", "linear", "llama3"] = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Everything that shapes the network, under the field names of config.json."""

    architecture: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    max_position_embeddings: int
    rope: RopeConfig
    tie_word_embeddings: bool
    attention_bias: bool
    mlp_bias: bool
    dtype: str
    eos_token_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class GenerationDefaults:
    """What generation_config.json recommends: how to sample, and which tokens end an answer."""

    sampling: SamplingParams
    eos_token_ids: frozenset[int]


class Fields:
    """The fields of one JSON object of a model folder; each is checked when it is read.

    Raises:
        BrokenModelError: a field is missing, or its value cannot be.
    """

    def __init__(self, values: Mapping[str, Any], file: Path) -> None:
        self.values = values
        self.file = file

    def wrong(self, name: str, allowed: str) -> BrokenModelError:
        """The error for a field whose value cannot be."""
        return BrokenModelError(f"{self.file}: {name} is {self.values.get(name)!r}, but it must be {allowed}.")

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number of at least 1."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < _TOO_LARGE:
            raise self.wrong(name, f"a whole number from 1 to {_TOO_LARGE - 1}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number above 0."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= sys.float_info.max:
            raise self.wrong(name, "a number above 0")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def token_ids(self, name: str) -> frozenset[int]:
        """One token id, a list of them, or nothing."""
        value = self.values.get(name)
        ids = [] if value is None else value if isinstance(value, list) else [value]
        if not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < _TOO_LARGE for i in ids):
            raise self.wrong(name, "a token id or a list of token ids")
        return frozenset(ids)

    def _value(self, name: str, default: float | None) -> Any:
        value = self.values.get(name)
        if value is None:
            value = default
        if value is None:
            raise BrokenModelError(f"{self.file}: {name} is missing. The file may be damaged; download it again.")
        return value


def read_json(file: Path) -> dict[str, Any]:
    """The JSON object in `file`.

    Raises:
        ModelNotFoundError: there is no such file.
        BrokenModelError: it cannot be read, or does not hold a JSON object.
    """
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelNotFoundError(
            f"{file} does not exist. A model folder holds config.json, tokenizer.json and *.safetensors files."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BrokenModelError(f"{file} cannot be read: {error}. Download the file again.") from error
    if not isinstance(values, dict):
        raise BrokenModelError(f"{file} holds a {type(values).__name__} instead of a JSON object. Download it again.")
    return values


def load_config(folder: Path) -> NetworkConfig:
    """Read `folder`/config.json.

    Raises:
        ModelNotFoundError: the folder or the file does not exist.
        BrokenModelError: the file is damaged.
        UnsupportedModelError: it asks for an architecture or an option that we do not run.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(f"There is no model folder at {folder}. Check the path, or pick another model.")
    file = folder / "config.json"
    fields = Fields(read_json(file), file)
    architecture = _architecture(fields)
    _refuse_options(fields)
    heads = fields.integer("num_attention_heads")
    hidden = fields.integer("hidden_size")
    config = NetworkConfig(
        architecture=architecture,
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=fields.integer("intermediate_size"),
        num_hidden_layers=fields.integer("num_hidden_layers"),
        num_attention_heads=heads,
        num_key_value_heads=fields.integer("num_key_value_heads", heads),
        head_dim=fields.integer("head_dim", max(hidden // heads, 1)),
        rms_norm_eps=fields.number("rms_norm_eps", 1e-6),
        max_position_embeddings=fields.integer("max_position_embeddings", 2048),
        rope=_rope(fields),
        tie_word_embeddings=fields.flag("tie_word_embeddings", False),
        attention_bias=fields.flag("attention_bias", False),
        mlp_bias=fields.flag("mlp_bias", False),
        dtype=_dtype(fields),
        eos_token_ids=fields.token_ids("eos_token_id"),
    )
    if heads % config.num_key_value_heads:
        raise fields.wrong("num_key_value_heads", f"a divisor of num_attention_heads ({heads})")
    if config.head_dim % 2:
        # Not `fields.wrong`: where the file does not say, the number was worked out.
        raise BrokenModelError(f"{fields.file}: head_dim is {config.head_dim}, but it must be an even number.")
    return config


def _architecture(fields: Fields) -> str:
    names = fields.values.get("architectures")
    if names is None and fields.values.get("model_type") == "llama":
        return ARCHITECTURES[0]
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise fields.wrong("architectures", "a list with the name of the network's architecture")
    if names[0] not in ARCHITECTURES:
        raise UnsupportedModelError(
            f"{fields.file}: the architecture {names[0]} is not supported. Supported: {', '.join(ARCHITECTURES)}."
        )
    return names[0]


def _refuse_options(fields: Fields) -> None:
    values = fields.values
    if values.get("hidden_act", "silu") != "silu":
        raise UnsupportedModelError(f"{fields.file}: the activation {values['hidden_act']!r} is not supported.")
    if values.get("quantization_config"):
        raise UnsupportedModelError(
            f"{fields.file}: weights that are stored quantised are not supported. Use the unquantised model."
        )
    _refuse_partial_rotary(fields)


def _refuse_partial_rotary(fields: Fields) -> None:
    if fields.values.get("partial_rotary_factor", 1) not in (1, None):
        raise UnsupportedModelError(f"{fields.file}: partial_rotary_factor is not supported.")


def _rope(fields: Fields) -> RopeConfig:
    """transformers 5 writes `rope_parameters` with theta inside; before, `rope_scaling` stood beside `rope_theta`."""
    name = next((n for n in ("rope_parameters", "rope_scaling") if fields.values.get(n) is not None), None)
    inner = fields.values[name] if name else {}
    if not isinstance(inner, dict):
        raise fields.wrong(str(name), "an object")
    rope = Fields(inner, fields.file)
    _refuse_partial_rotary(rope)
    kind = inner.get("rope_type", inner.get("type", "default"))
    if kind not in ROPE_KINDS:
        raise UnsupportedModelError(
            f"{fields.file}: the rope type {kind!r} is not supported. Supported: {', '.join(ROPE_KINDS)}."
        )
    theta = (rope if "rope_theta" in inner else fields).number("rope_theta", 10000.0)
    if kind == "default":
        return RopeConfig(theta)
    if kind == "linear":
        return RopeConfig(theta, "linear", rope.number("factor"))
    config = RopeConfig(
        theta,
        "llama3",
        rope.number("factor"),
        rope.number("low_freq_factor"),
        rope.number("high_freq_factor"),
        rope.integer("original_max_position_embeddings"),
    )
    if config.high_freq_factor <= config.low_freq_factor:
        raise rope.wrong("high_freq_factor", f"above low_freq_factor ({config.low_freq_factor:g})")
    return config


def _dtype(fields: Fields) -> str:
    """The dtype that the weights were saved in; `torch_dtype` is the older name."""
    name = fields.values.get("dtype", fields.values.get("torch_dtype")) or "float32"
    return name if name in FILE_DTYPES else "float32"


def load_generation_defaults(folder: Path) -> GenerationDefaults:
    """Read `folder`/generation_config.json; a model without one recommends nothing.

    Raises:
        BrokenModelError: the file is damaged, or recommends a value that is out of range.
    """
    file = folder / "generation_config.json"
    if not file.exists():
        return GenerationDefaults(SamplingParams(), frozenset())
    fields = Fields(read_json(file), file)
    names = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")
    values = {name: fields.values.get(name) for name in names}
    if fields.values.get("do_sample") is False:
        values["temperature"] = 0.0
    try:
        sampling = SamplingParams(**values)
    except InvalidRequestError as error:
        raise BrokenModelError(f"{file}: {error}") from error
    return GenerationDefaults(sampling, fields.token_ids("eos_token_id"))
