"""generation_config.json, read into values: what a model recommends."""

from dataclasses import dataclass
from pathlib import Path

from llama_gui.engine.fields import MOST_INTEGER, Fields, read_json
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import SamplingParams


@dataclass(frozen=True, slots=True)
class GenerationDefaults:
    """What generation_config.json recommends: how to sample, and which tokens end an answer."""

    sampling: SamplingParams
    eos_token_ids: frozenset[int]


def load_generation_defaults(folder: Path) -> GenerationDefaults:
    """Read `folder`/generation_config.json; a model without one recommends nothing.

    Raises:
        BrokenModelError: the file is damaged, or recommends a value that is out of range.
    """
    file = folder / "generation_config.json"
    if not file.exists():
        return GenerationDefaults(SamplingParams(), frozenset())
    return generation_defaults(Fields(read_json(file), file))


def generation_defaults(fields: Fields) -> GenerationDefaults:
    """What the fields of a generation_config.json recommend. Raises what `load_generation_defaults` raises."""
    names = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty")
    values = {name: fields.values.get(name) for name in names}
    if fields.values.get("do_sample") is False:
        values["temperature"] = 0.0
    values["banned_token_ids"] = sorted(fields.token_ids("suppress_tokens")) or None
    try:
        sampling = SamplingParams(**values)
    except InvalidRequestError as error:
        raise fields.wrong(error.field, error.allowed) from error
    if (sampling.top_k or 0) > MOST_INTEGER:
        raise fields.wrong("top_k", f"a whole number from 0 to {MOST_INTEGER}")
    return GenerationDefaults(sampling, fields.token_ids("eos_token_id"))
