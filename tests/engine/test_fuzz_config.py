"""config.json and generation_config.json as no program writes them: they can be run, or an error says why not."""

import itertools
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.config import load_config
from llama_gui.engine.families import FAMILIES
from llama_gui.engine.generation_defaults import load_generation_defaults
from llama_gui.engine.loading import load_model
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.quantisation_config import QUANTISATION
from llama_gui.engine.rotary import inverse_frequencies
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.errors import BrokenModelError, ModelError, UnsupportedModelError
from tests.fakes.fp8_folders import LAYOUTS
from tests.fakes.tiny_llama import write_tiny_llama

FULL: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 320,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "rope_theta": 10000.0,
    "rope_scaling": None,
    "rope_parameters": None,
    "tie_word_embeddings": False,
    "attention_bias": False,
    "mlp_bias": False,
    "hidden_act": "silu",
    "quantization_config": None,
    "partial_rotary_factor": 1.0,
    "sliding_window": 9,
    "use_sliding_window": True,
    "max_window_layers": 1,
    "layer_types": None,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "norm_topk_prob": True,
    "mlp_only_layers": [],
    "decoder_sparse_step": 1,
    "dtype": "float32",
    "eos_token_id": 2,
}
ROPE: dict[str, Any] = {
    "rope_type": "yarn", "type": "yarn", "rope_theta": 1e6, "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 64, "attention_factor": None, "beta_fast": 32.0,
    "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "truncate": True, "partial_rotary_factor": 1,
}  # fmt: skip
GENERATION: dict[str, Any] = {
    "temperature": 0.6, "top_k": 40, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.1, "do_sample": True,
    "eos_token_id": [2], "suppress_tokens": [7],
}  # fmt: skip
GONE = object()

RUN = settings(max_examples=150, deadline=None, derandomize=True, database=None)

numbers = st.one_of(
    st.sampled_from([0, 1, 2, 3, 5, 10**9, 2**31 - 1, 2**31, 2**63, 10**30, 10**400, -1, 0.0, -0.0, 0.5, 1e-320, 1e-30,
                     1e30, 1e38, 1.7e308, math.nan, math.inf, -math.inf, 1.0, 1.0000001]),
    st.integers(-(10**10), 10**10),
    st.floats(),
)  # fmt: skip
texts = st.sampled_from(
    ["", "x", "7", "1e3", "nan", "true", "\ud800", "\0", "\n\x1b[31m", "x" * 10_000, "llama3", "yarn", "linear",
     "dynamic", "default", "MistralForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM"]
)  # fmt: skip
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
junk = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=4
)


def changed(base: dict[str, Any], values: st.SearchStrategy[Any], most: int = 4) -> st.SearchStrategy[dict[str, Any]]:
    """`base` with up to `most` fields that are something else, or gone."""
    changes = st.dictionaries(st.sampled_from(sorted(base)), values | st.just(GONE), min_size=1, max_size=most)
    return changes.map(lambda new: {k: v for k, v in {**base, **new}.items() if v is not GONE})


ropes = changed(ROPE, junk) | changed(ROPE, numbers, 8) | junk


@st.composite
def quantisations(draw: st.DrawFn) -> Any:
    """What tells of FP8, in any of its layouts, with a few wrong values."""
    told = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))].config
    groups = told.get("config_groups")
    if groups and draw(st.booleans()):
        group = groups["group_0"]
        weights = draw(changed({**group["weights"], "block_structure": [32, 32], "group_size": 8}, junk | numbers))
        told = {**told, "config_groups": {"group_0": {**group, "weights": weights}}}
    return draw(changed(told, junk) | st.just(told) | junk)


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A config.json of any family with a few wrong values, mostly in the part about rotary embedding."""
    values = draw(changed(FULL, junk) | changed(FULL, numbers) | st.just(FULL))
    if draw(st.booleans()):
        values = {**values, "architectures": [draw(st.sampled_from(sorted(FAMILIES)))]}
    if draw(st.booleans()):
        values = {**values, draw(st.sampled_from(["rope_scaling", "rope_parameters"])): draw(ropes)}
    if draw(st.integers(0, 3)) == 0:
        values = {**values, draw(st.sampled_from(QUANTISATION)): draw(quantisations())}
    return values


def write(folder: Path, values: Any, name: str = "config.json") -> None:
    """As JSON, with NaN and lone surrogates as Python writes and reads them."""
    (folder / name).write_text(json.dumps(values), encoding="utf-8")


def assert_sane(error: ModelError, file: Path) -> None:
    """Its text says which file, can be printed anywhere and is short."""
    text = str(error)
    assert str(file) in text
    assert text.isprintable()
    assert len(text) < 1000
    text.encode("utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose files each example replaces."""
    return tmp_path_factory.mktemp("config")


# --- config.json


def assert_can_be_run(config: NetworkConfig) -> None:
    """What was accepted can be multiplied: whole sizes, finite angles, a context that fits an integer."""
    assert 1 <= config.num_key_value_heads <= config.num_attention_heads < 2**31
    assert 1 <= config.num_hidden_layers <= 10_000
    assert len(config.sliding_layers) <= config.num_hidden_layers
    assert 0 <= config.rope.stretched_context < 2**31
    assert torch.tensor([config.rms_norm_eps, config.rope.attention_factor]).isfinite().all()
    frequencies = inverse_frequencies(min(config.head_dim, 1024), config.rope)
    assert frequencies.isfinite().all()
    assert (frequencies * 2**20).isfinite().all()
    if config.experts is not None:
        assert 1 <= config.experts.chosen <= config.experts.count <= 1024
    if config.num_hidden_layers <= 100:
        assert all(size >= 1 for shape in weight_shapes(config).values() for size in shape)


@RUN
@given(values=configs())
def test_any_values_are_run_or_refused(folder: Path, values: dict[str, Any]) -> None:
    write(folder, values)
    try:
        config = load_config(folder)
    except ModelError as error:
        assert_sane(error, folder / "config.json")
    else:
        assert_can_be_run(config)


@RUN
@given(rope=ropes, name=st.sampled_from(["rope_scaling", "rope_parameters"]))
def test_any_rope_is_run_or_refused(folder: Path, rope: Any, name: str) -> None:
    write(folder, {**FULL, name: rope})
    try:
        config = load_config(folder)
    except ModelError as error:
        assert_sane(error, folder / "config.json")
    else:
        assert_can_be_run(config)


@RUN
@given(values=junk)
def test_any_json_is_run_or_refused(folder: Path, values: Any) -> None:
    write(folder, values)
    with pytest.raises(ModelError) as caught:
        load_config(folder)
    assert_sane(caught.value, folder / "config.json")


@settings(RUN, max_examples=60)
@given(values=configs())
def test_a_folder_with_these_values_loads_or_is_refused(model: Path, values: dict[str, Any]) -> None:
    """Whole, with weights that fit the undamaged values: nothing is allocated for what cannot be right."""
    write(model, values)
    try_to_load(model)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose config.json each example replaces; its weights are those of `FULL`."""
    return write_tiny_llama(tmp_path_factory.mktemp("fuzzed") / "model", **FULL)


def peak_memory() -> int:
    """Bytes that this process ever held at once; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def try_to_load(folder: Path) -> None:
    """Load it, or be told which folder cannot be loaded."""
    try:
        load_model(folder, device="cpu", dtype="float32", threads=1)
    except ModelError as error:
        assert_sane(error, folder)


def test_the_undamaged_values_load(model: Path) -> None:
    write(model, FULL)
    assert load_model(model, device="cpu", dtype="float32", threads=1).info.max_context == 2048


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "name", ["num_hidden_layers", "vocab_size", "hidden_size", "intermediate_size", "num_attention_heads", "head_dim",
             "max_position_embeddings", "sliding_window", "max_window_layers", "eos_token_id"]
)  # fmt: skip
@pytest.mark.sampled(5)
def test_nothing_is_allocated_for_a_number_beyond_reason(model: Path, name: str) -> None:
    # Each number once; the relatives read the same fields by the same rules.
    values = [
        *itertools.product([*FAMILIES][:1], (10_000, 10_001, 10**9, 2**31 - 1, 10**30)),
        *itertools.product([*FAMILIES][1:], (10_001, 10**30)),
    ]
    for architecture, value in values:
        started, peak = time.process_time(), peak_memory()
        write(model, {**FULL, "architectures": [architecture], "num_key_value_heads": 1, name: value})
        try_to_load(model)
        assert time.process_time() - started < 2, (architecture, value)
        assert peak_memory() - peak < 100 * 2**20, (architecture, value)


ROPE_LIMITS = [
    ({"rope_theta": 1.0}, "rope_theta is 1.0, but it must be a number from 2 to 1e\\+30"),
    ({"rope_theta": 0.5, "rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_theta is 0.5, but it must be"),
    ({"rope_scaling": {"type": "linear", "factor": 1e-320}}, "factor is 1e-320, but it must be a number from 1e-30"),
    ({"rope_scaling": {"type": "linear", "factor": 1.7e308}}, "factor is 1.7e\\+308, but it must be"),
    ({"rope_scaling": {**ROPE, "factor": 1e30}}, "factor is 1e\\+30, but it must be so small that the context stays"),
    ({"rope_scaling": {**ROPE, "beta_slow": 1e-320}}, "beta_slow is 1e-320, but it must be"),
    ({"rope_scaling": {**ROPE, "beta_fast": 1.7e308}}, "beta_fast is 1.7e\\+308, but it must be"),
    ({"rms_norm_eps": 1e38}, "rms_norm_eps is 1e\\+38, but it must be"),
    ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000, but it must be a whole number from 1 to 10000"),
]


@pytest.mark.parametrize(("changes", "said"), ROPE_LIMITS, ids=lambda value: str(value)[:40])
def test_numbers_that_would_make_no_finite_network(folder: Path, changes: dict[str, Any], said: str) -> None:
    """Each ended in another error, in NaN, or never, once the weights were there."""
    write(folder, {**FULL, **changes})
    with pytest.raises(BrokenModelError, match=rf"config\.json: {said}"):
        load_config(folder)


@pytest.mark.parametrize("depth", [90, 101, 500, 900, 950, 980, 990, 995, 999, 1000, 50_000])
def test_no_depth_of_nesting_ends_in_another_error(folder: Path, depth: int) -> None:
    """Python reads what it cannot print a few calls further down."""
    for name in ("architectures", "hidden_act", "rope_scaling", "eos_token_id", "unknown"):
        text = json.dumps({key: value for key, value in FULL.items() if key != name})
        (folder / "config.json").write_text(f'{text[:-1]}, "{name}": {"[" * depth + "]" * depth}}}')
        if name == "unknown" and depth <= 90:
            load_config(folder)
            continue
        with pytest.raises(ModelError) as caught:
            load_config(folder)
        assert_sane(caught.value, folder / "config.json")


TEXT = json.dumps(FULL)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037"])
def test_another_encoding(folder: Path, encoding: str) -> None:
    (folder / "config.json").write_bytes(TEXT.encode(encoding))
    with pytest.raises(BrokenModelError, match=r"config\.json cannot be read: .+ Download the file again"):
        load_config(folder)


@pytest.mark.parametrize("cut", range(32))
def test_a_config_that_ends_early(folder: Path, cut: int) -> None:
    (folder / "config.json").write_text(TEXT[: len(TEXT) * cut // 32])
    with pytest.raises(BrokenModelError, match=r"config\.json cannot be read: .+ Download the file again"):
        load_config(folder)


@RUN
@given(flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=3))
def test_flipped_bytes_in_a_config(folder: Path, flips: list[tuple[int, int]]) -> None:
    content = bytearray(TEXT.encode())
    for place, change in flips:
        content[place % len(content)] ^= change
    (folder / "config.json").write_bytes(content)
    try:
        config = load_config(folder)
    except ModelError as error:
        assert_sane(error, folder / "config.json")
    else:
        assert_can_be_run(config)


def test_a_field_that_is_given_twice(folder: Path) -> None:
    """With one value it is said twice; with two, nobody knows which."""
    (folder / "config.json").write_text(f'{TEXT[:-1]}, "hidden_size": 64}}')
    assert load_config(folder).hidden_size == 64
    (folder / "config.json").write_text(f'{TEXT[:-1]}, "hidden_size": 128}}')
    with pytest.raises(BrokenModelError, match=r"config\.json cannot be read: it gives 'hidden_size' twice"):
        load_config(folder)


@pytest.mark.parametrize(
    "name", ["", "llama", "\x1b[2J", "\ud800", "x" * 10**6, "LlamaForCausalLM ", "__import__('os')"],
    ids=lambda name: ascii(name)[:20],
)  # fmt: skip
def test_an_unknown_architecture_is_only_a_name(folder: Path, name: str) -> None:
    write(folder, {**FULL, "architectures": [name]})
    with pytest.raises(UnsupportedModelError, match=r"is not supported\. Supported: LlamaForCausalLM") as caught:
        load_config(folder)
    assert_sane(caught.value, folder / "config.json")


# --- generation_config.json


@RUN
@given(values=changed(GENERATION, junk) | changed(GENERATION, numbers) | junk)
def test_any_recommendations_are_taken_or_refused(folder: Path, values: Any) -> None:
    write(folder, values, "generation_config.json")
    try:
        defaults = load_generation_defaults(folder)
    except ModelError as error:
        assert_sane(error, folder / "generation_config.json")
    else:
        assert all(0 <= token_id < 2**31 for token_id in defaults.eos_token_ids)
        given = [getattr(defaults.sampling, name) for name in GENERATION if hasattr(defaults.sampling, name)]
        assert all(math.isfinite(value) and value < 2**31 for value in given if value is not None)


@pytest.mark.parametrize(
    ("name", "value"), [("top_k", 2**31), ("top_k", 10**30), ("temperature", 10**400), ("temperature", math.nan),
                        ("top_p", -math.inf), ("min_p", "x" * 10**6), ("eos_token_id", [2**31])]
)  # fmt: skip
def test_recommendations_beyond_reason(folder: Path, name: str, value: Any) -> None:
    write(folder, {**GENERATION, name: value}, "generation_config.json")
    with pytest.raises(BrokenModelError, match=rf"generation_config\.json: {name} is .+, but it must be ") as caught:
        load_generation_defaults(folder)
    assert_sane(caught.value, folder / "generation_config.json")
