"""Folders that are well formed but unusual: the same numbers as transformers, or a refusal that says why."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.device import torch_threads
from llama_gui.errors import BrokenModelError, InvalidRequestError, UnsupportedModelError
from tests.fakes.tiny_llama import write_tiny_llama

Load = Callable[..., Engine]

GREEDY = SamplingParams(temperature=0)
ANSWER = 24
WILD = 64
"""Tokens of an answer that is drawn from all that there are."""
PROMPT = torch.randint(5, 300, (90,), generator=torch.Generator().manual_seed(4)).tolist()
EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


@pytest.fixture
def usual_dtype() -> str:
    """What transformers computes is float32."""
    return "float32"


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], None]) -> None:
    """Let `change` work on the weights of a folder with one file."""
    file = folder / "model.safetensors"
    weights = {name: tensor.clone() for name, tensor in load_file(file).items()}
    change(weights)
    save_file(weights, file, metadata={"format": "pt"})


def change_json(file: Path, **changes: Any) -> None:
    """Replace fields of a JSON file; a field that is changed to ... is taken out."""
    values = {**(json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}), **changes}
    file.write_text(json.dumps({name: value for name, value in values.items() if value is not ...}), encoding="utf-8")


def reference(folder: Path) -> Any:
    """The model as transformers loads it, in float32."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@torch.no_grad()
def reference_logits(model: Any, ids: Sequence[int]) -> Tensor:
    """Of each place ``[ids, vocabulary]``."""
    with torch_threads(1):  # two threads are slower than one where a network is this small
        return model(torch.tensor([ids])).logits[0]


def greedy_after(logits: Tensor, prompt: list[int], known: int | None = None) -> list[int]:
    """What transformers would write after `prompt` and after each further token, from the logits of all of them.

    If that is what stands there, it is what transformers writes by itself. `known`: only ids below it are drawn.
    """
    return logits[len(prompt) - 1 :, :known].argmax(-1).tolist()


def assert_same_as_transformers(engine: Engine, folder: Path, prompt: list[int] = PROMPT) -> None:
    """Logits of the whole prompt, and the greedy answer behind it."""
    got = engine.generate(GenerateRequest(token_ids=prompt, max_tokens=ANSWER, sampling=GREEDY))
    want = reference_logits(reference(folder), [*prompt, *got.token_ids[:-1]])
    torch.testing.assert_close(engine.logits(prompt), want[: len(prompt)], atol=1e-4, rtol=0)
    assert (list(got.token_ids), got.finish_reason) == (greedy_after(want, prompt), "length")
    assert len(got.token_ids) == ANSWER


# --- shapes and spellings of config.json


ODD_CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "tied, one KV head, wide heads": (
        "llama-3.2", {"num_key_value_heads": 1, "head_dim": 48}),
    "untied, heads wider than the network": (
        "llama-3.1", {"hidden_size": 48, "head_dim": 64, "num_attention_heads": 6, "num_key_value_heads": 3}),
    "seven heads narrower than the network": (
        "llama-3.1", {"hidden_size": 70, "num_attention_heads": 7, "num_key_value_heads": 7, "head_dim": 6}),
    "one layer, one head": (
        "llama-3.1", {"num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8}),
    "attention biases only": ("llama-3.1", {"attention_bias": True}),
    "MLP biases only, tied": ("llama-3.2", {"mlp_bias": True}),
    "every bias with one KV head": (
        "tinyllama", {"attention_bias": True, "mlp_bias": True, "num_key_value_heads": 1}),
    "Qwen3 with biases": ("qwen3", {"attention_bias": True}),
    "Qwen3, tied": ("qwen3", {"tie_word_embeddings": True}),
    "Qwen2, untied": ("qwen2", {"tie_word_embeddings": False}),
    "Mistral without a window": ("mistral", {"sliding_window": None}),
    "Mistral with its own head_dim": ("mistral", {"head_dim": 24}),
    "SmolLM3 that says only every how many layers": (
        "smollm3", {"no_rope_layers": None, "no_rope_layer_interval": 2, "layer_types": None}),
    "SmolLM3 with a window": (
        "smollm3", {"use_sliding_window": True, "sliding_window": 20,
                    "layer_types": [*3 * ["full_attention"], *2 * ["sliding_attention"]]}),
    "SmolLM3 with a window where positions are not known": (
        "smollm3", {"use_sliding_window": True, "sliding_window": 20, "layer_types": None}),
    "SmolLM3, untied, with biases": ("smollm3", {"tie_word_embeddings": False, "attention_bias": True}),
    "SmolLM3, stretched": ("smollm3", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                                                        "original_max_position_embeddings": 64}}),
    "Granite 8B": ("granite", {"tie_word_embeddings": False, "attention_multiplier": 0.0078125,
                               "logits_scaling": 16.0, "attention_bias": True, "head_dim": 32}),
    "Granite without multipliers": ("llama-2", {"architectures": ["GraniteForCausalLM"], "model_type": "granite"}),
    "Granite, stretched": ("granite", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                                                        "original_max_position_embeddings": 64}}),
    "Granite 4.0 as transformers 5 writes it, untied, with biases": (
        "granite4", {"layer_types": 3 * ["full_attention"], "tie_word_embeddings": False, "attention_bias": True}),
    "Granite 4.0 without multipliers": ("granite4", dict.fromkeys((
        "embedding_multiplier", "residual_multiplier", "attention_multiplier", "logits_scaling"), ...)),
    "Phi-3 without a window": ("phi3", {"sliding_window": None, "num_key_value_heads": 4}),
    "Phi-4": ("phi3", {"sliding_window": None, "rope_theta": 250000, "num_key_value_heads": 1}),
    "Phi-3, half of each head rotated": ("phi3", {"partial_rotary_factor": 0.5}),
    "Gemma 3 27B": ("gemma3", {"query_pre_attn_scalar": 168, "attention_bias": True}),
    "Gemma 3 1B": ("gemma3", {"rope_scaling": None, "sliding_window_pattern": 2, "num_hidden_layers": 3}),
    "Gemma 3 that lists its layers, untied": (
        "gemma3", {"layer_types": [*3 * ["full_attention"], *4 * ["sliding_attention"]], "tie_word_embeddings": False}),
    "Gemma 3 as transformers 5 writes it": (
        "gemma3", {"rope_theta": None, "rope_local_base_freq": None, "rope_scaling": None, "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 7e5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 5e3}}}),
    "Gemma 3 that says little": ("gemma3", dict.fromkeys((
        "rope_theta", "rope_local_base_freq", "query_pre_attn_scalar", "hidden_activation", "dtype",
        "max_position_embeddings"), ...)),
    "Gemma 2 27B": ("gemma2", {"query_pre_attn_scalar": 8, "num_attention_heads": 4, "attention_bias": True}),
    "Gemma 2 without caps": ("gemma2", {"attn_logit_softcapping": None, "final_logit_softcapping": None}),
    "Gemma 2 that caps logits only": ("gemma2", {"attn_logit_softcapping": None}),
    "Gemma 2 that lists its layers, untied": (
        "gemma2", {"layer_types": [*3 * ["full_attention"], "sliding_attention"], "tie_word_embeddings": False}),
    "Gemma 2 that says little": ("gemma2", dict.fromkeys((
        "rope_theta", "query_pre_attn_scalar", "hidden_activation", "dtype", "max_position_embeddings",
        "attn_logit_softcapping", "final_logit_softcapping", "tie_word_embeddings"), ...)),
    "OLMo 2 with biases, tied": ("olmo2", {"attention_bias": True, "tie_word_embeddings": True}),
    "OLMo 2 with a head_dim of its own": ("olmo2", {"head_dim": 24, "num_key_value_heads": 4}),
    "OLMo 3 that says little": ("olmo3", dict.fromkeys((
        "layer_types", "rope_theta", "rope_scaling", "rms_norm_eps", "num_key_value_heads"), ...)),
    "OLMo 3 as transformers 5 writes it": (
        "olmo3", {"rope_theta": None, "rope_scaling": None, "rope_parameters": {
            "full_attention": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64,
                               "rope_theta": 7e5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 5e3}}}),
    "GLM-4 that says little": ("glm4", dict.fromkeys((
        "head_dim", "num_key_value_heads", "attention_bias", "partial_rotary_factor", "rms_norm_eps", "rope_theta",
        "mlp_bias"), ...)),
    "GLM-4 32B, stretched": ("glm4", {"attention_bias": False, "rope_scaling": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}}),
    "GLM-4 9B chat with more of its heads rotated": ("glm", {"partial_rotary_factor": 0.75, "num_key_value_heads": 1}),
    "Hunyuan as transformers 5 writes it, untied, with biases": (
        "hunyuan", {"rope_theta": None, "rope_scaling": None, "attention_bias": True, "tie_word_embeddings": False,
                    "rope_parameters": {"rope_type": "dynamic", "alpha": 50.0, "rope_theta": 7e3, "factor": 1.0}}),
    "Hunyuan that is not stretched": ("hunyuan", {"rope_scaling": None}),
    "ERNIE's mixture that says little, untied": ("ernie-moe", {"tie_word_embeddings": False, **dict.fromkeys((
        "moe_num_shared_experts", "moe_layer_start_index", "moe_layer_end_index", "moe_layer_interval", "rope_theta",
        "rms_norm_eps", "use_bias"), ...)}),
    "ERNIE's mixture with two plain layers, one shared expert": (
        "ernie-moe", {"moe_layer_start_index": 2, "moe_num_shared_experts": 1, "moe_k": 8}),
    "Qwen2's mixture, tied, whose chosen add up": ("qwen2-moe", {"norm_topk_prob": True, "tie_word_embeddings": True}),
    "Arcee with biases, tied": (
        "arcee", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True, "rope_scaling": None}),
    "Seed-OSS with another bias": ("seed-oss", {"attention_bias": False, "attention_out_bias": True}),
    "EXAONE 4 1.2B": ("exaone4", {"sliding_window": None, "sliding_window_pattern": None,
                                  "layer_types": 5 * ["full_attention"], "tie_word_embeddings": True}),
    "EXAONE 4 that says little": ("exaone4", {"layer_types": ..., "sliding_window_pattern": ...}),
    "ERNIE that says little": ("ernie", dict.fromkeys((
        "head_dim", "num_key_value_heads", "rms_norm_eps", "rope_theta", "rope_scaling", "use_bias"), ...)),
    "fields that are null": ("llama-2", {"num_key_value_heads": None, "head_dim": None, "rope_scaling": None}),
    "no architectures": ("llama-2", {"architectures": None}),
    "a large eps": ("llama-3.1", {"rms_norm_eps": 0.1}),
    "a whole number for theta": ("llama-2", {"rope_theta": 10000}),
    "old dtype field": ("llama-2", {"dtype": None, "torch_dtype": "float16"}),
}  # fmt: skip


@pytest.mark.parametrize(("shape", "changes"), ODD_CONFIGS.values(), ids=ODD_CONFIGS)
@pytest.mark.sampled(20)
def test_an_odd_configuration_computes_what_transformers_does(
    tmp_path: Path, load: Load, shape: Any, changes: dict[str, Any]
) -> None:
    folder = write_tiny_llama(tmp_path / "model", shape, **changes)
    assert_same_as_transformers(load(folder=folder), folder)


@pytest.mark.parametrize("changes", [{}, {"scale_emb": ..., "scale_depth": ..., "attention_bias": True}], ids=str)
def test_minicpm_is_granite_by_other_words(tmp_path: Path, load: Load, changes: dict[str, Any]) -> None:
    """transformers does not have it. Each layer adds ``scale_depth / sqrt(layers)`` times what it makes."""
    folder = write_tiny_llama(tmp_path / "model", "minicpm", **changes, rope_scaling=None)
    ours = load(folder=folder)
    emb, depth = (1, 1) if changes else (12, 1.4)
    # A norm removes any factor of the stream, so the sum of a layer of Granite's may be scaled as a whole.
    change_json(folder / "config.json", architectures=["GraniteForCausalLM"], model_type="granite",
                embedding_multiplier=emb, residual_multiplier=depth / 3**0.5, logits_scaling=64 / 16,
                attention_multiplier=16**-0.5)  # fmt: skip
    assert_same_as_transformers(ours, folder)


LONGROPE = {"type": "longrope", "long_factor": [1.0, 1.2, 2.0, 4.5, 9.0, 30.0, 31.0, 33.0],
            "short_factor": [1.0, 1.0, 1.1, 1.2, 1.5, 2.0, 2.5, 3.0]}  # fmt: skip


def test_longrope_rotates_by_the_context_that_a_model_is_loaded_for(tmp_path: Path, load: Load) -> None:
    folder = write_tiny_llama(
        tmp_path / "model", "phi3", rope_scaling=LONGROPE, original_max_position_embeddings=64,
        max_position_embeddings=1024,
    )  # fmt: skip
    model, prompt = reference(folder), 2 * PROMPT
    within, beyond = (reference_logits(model, ids) for ids in (prompt[:64], prompt))
    short, long = load(folder=folder, max_context=64), load(folder=folder)
    torch.testing.assert_close(short.logits(prompt[:64]), within, atol=1e-4, rtol=0)
    torch.testing.assert_close(long.logits(prompt), beyond, atol=1e-4, rtol=0)
    assert (long.logits(prompt[:64]) - within).abs().max() > 0.01
    change_json(folder / "config.json", rope_scaling={**LONGROPE, "type": "su"})  # its first name
    assert torch.equal(load(folder=folder, max_context=64).logits(PROMPT[:64]), short.logits(PROMPT[:64]))


LLAMA3_ROPE = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
YARN_ROPE = {"factor": 4.0, "original_max_position_embeddings": 64}
ROPES: dict[str, dict[str, Any]] = {
    "4: nothing at all": {"rope_theta": ...},
    "4: theta only": {"rope_theta": 777.0},
    "4: linear": {"rope_theta": 5000.0, "rope_scaling": {"type": "linear", "factor": 3.0}},
    "4: dynamic": {"rope_theta": 5000.0, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
    "4: llama3": {"rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", **LLAMA3_ROPE}},
    "4: yarn": {"rope_theta": 5e3, "rope_scaling": {"rope_type": "yarn", **YARN_ROPE}},
    "4: yarn as Qwen has it": {"rope_theta": 1e6, "rope_scaling": {"type": "yarn", **YARN_ROPE}},
    "5: theta only": {"rope_parameters": {"rope_type": "default", "rope_theta": 777.0}},
    "5: linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 5e3, "factor": 3.0}},
    "5: dynamic": {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 5e3, "factor": 2.0}},
    "5: llama3": {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3_ROPE}},
    "5: yarn": {"rope_parameters": {"rope_type": "yarn", "rope_theta": 5e3, **YARN_ROPE, "beta_fast": 16.0}},
    "5: yarn with mscale": {
        "rope_parameters": {"rope_type": "yarn", "rope_theta": 5e3, **YARN_ROPE, "mscale": 0.7, "mscale_all_dim": 1.1}
    },
    "5: theta outside": {"rope_theta": 777.0, "rope_parameters": {"rope_type": "default"}},
}


@pytest.mark.parametrize("changes", ROPES.values(), ids=ROPES)
@pytest.mark.sampled(6)
def test_rotary_embedding_in_either_spelling(tmp_path: Path, load: Load, changes: dict[str, Any]) -> None:
    folder = write_tiny_llama(tmp_path / "model", "llama-2", num_hidden_layers=2, num_key_value_heads=2)
    change_json(folder / "config.json", **changes)
    assert_same_as_transformers(load(folder=folder), folder)


@pytest.mark.parametrize("shape", ["mistral", "ministral3"])
@pytest.mark.parametrize("as_of_old", [True, False])
def test_the_part_for_text_of_mistral_3(tmp_path: Path, load: Load, shape: Any, as_of_old: bool) -> None:
    """Mistral Small 3.1 and 3.2, whose part is a Mistral, and Ministral 3, whose part has a name of its own."""
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    text = write_tiny_llama(tmp_path / "text", shape, tie_word_embeddings=False)
    inner = json.loads((text / "config.json").read_text(encoding="utf-8"))
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    pictures = {**sizes, "image_size": 28, "patch_size": 14, "model_type": "pixtral", "head_dim": 8}
    model = Mistral3ForConditionalGeneration(
        Mistral3Config(text_config=inner, vision_config=pictures, image_token_index=9, tie_word_embeddings=False)
    )
    weights = load_file(text / "model.safetensors")
    model.lm_head.weight = torch.nn.Parameter(weights.pop(HEAD))
    model.model.language_model.load_state_dict(
        {name.removeprefix("model."): weight for name, weight in weights.items()}
    )
    both = tmp_path / "both"
    shutil.copytree(text, both, ignore=shutil.ignore_patterns("*.safetensors"))
    model.to(torch.float32).save_pretrained(both)
    if as_of_old:
        change_weights(both, as_transformers_4_wrote)
    engine, alone = load(folder=both), load(folder=text)
    assert torch.equal(engine.logits(PROMPT), alone.logits(PROMPT))
    assert engine.info.source == ""
    assert engine.info.parameters == alone.info.parameters
    with torch.no_grad():
        want = model.eval()(torch.tensor([PROMPT])).logits[0]
    torch.testing.assert_close(engine.logits(PROMPT), want, rtol=0, atol=1e-4)


def as_transformers_4_wrote(weights: dict[str, Tensor]) -> None:
    for name in list(weights):
        old = name.replace("model.language_model.", "language_model.model.") if "language" in name else name
        old = f"language_model.{name}" if name == HEAD else old.removeprefix("model.")
        weights[old] = weights.pop(name)


def write_with_pictures(folder: Path, text: Path, *, as_of_old: bool) -> None:
    """The network of the folder `text` beside a small one that reads pictures, as transformers 5 or 4 wrote it."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    shutil.copytree(text, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    inner = json.loads((text / "config.json").read_text(encoding="utf-8"))
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    pictures = {**sizes, "image_size": 28, "patch_size": 14, "model_type": "siglip_vision_model"}
    config = Gemma3Config(text_config=inner, vision_config=pictures, mm_tokens_per_image=4, image_token_index=9)
    model = Gemma3ForConditionalGeneration(config)
    model.model.language_model.load_state_dict(
        {name.removeprefix("model."): weight for name, weight in load_file(text / "model.safetensors").items()}
    )
    model.tie_weights()
    if not as_of_old:
        model.to(torch.float32).save_pretrained(folder)
        return
    weights = {
        name.replace("model.language_model.", "language_model.model.") if "language" in name else name[6:]: weight
        for name, weight in model.state_dict().items()
        if name != HEAD
    }
    save_file({name: weight.clone() for name, weight in weights.items()}, folder / "model.safetensors")
    # Google's own say little of the text: the rest is as in transformers.
    said = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "torch_dtype": "float32",
            "eos_token_id": [1, 5], "vision_config": pictures, "text_config": inner,
            "mm_tokens_per_image": 4}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize("as_of_old", [True, False])
def test_the_part_for_text_of_a_model_that_reads_pictures(tmp_path: Path, load: Load, as_of_old: bool) -> None:
    text = write_tiny_llama(tmp_path / "text", "gemma3", num_hidden_layers=2, sliding_window_pattern=2)
    write_with_pictures(tmp_path / "both", text, as_of_old=as_of_old)
    engine, alone = load(folder=tmp_path / "both"), load(folder=text)
    assert torch.equal(engine.logits(PROMPT), alone.logits(PROMPT))
    assert engine.info.source == ""
    assert engine.info.architecture == "Gemma3ForConditionalGeneration"
    assert engine.info.parameters == alone.info.parameters
    assert engine.eos_token_ids == {1, 5}
    if not as_of_old:
        assert_same_as_transformers(engine, tmp_path / "both")


# --- the head


@pytest.mark.parametrize("shape", ["llama-3.2", "qwen2", "smollm2"])
def test_a_tied_head_that_is_stored_as_well(tmp_path: Path, load: Load, shape: Any) -> None:
    folder = write_tiny_llama(tmp_path / "model", shape)
    change_weights(folder, lambda weights: weights.update({HEAD: weights[EMBEDDING].clone()}))
    assert_same_as_transformers(load(folder=folder), folder)


def test_a_head_that_is_called_tied_but_differs_from_the_embedding(tmp_path: Path, load: Load) -> None:
    """A fine-tune whose config.json was copied from the tied parent: the stored head is the trained one."""
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2")
    change_weights(folder, lambda weights: weights.update({HEAD: weights[EMBEDDING].roll(7, 0)}))
    assert_same_as_transformers(load(folder=folder), folder)


def test_an_untied_model_without_its_head_is_refused(tmp_path: Path, load: Load) -> None:
    """transformers would go on with a random head, and warn on a terminal that nobody sees."""
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1")

    def lose_head(weights: dict[str, Tensor]) -> None:
        del weights[HEAD]

    change_weights(folder, lose_head)
    with pytest.raises(BrokenModelError, match=r"lm_head\.weight missing"):
        load(folder=folder)


# --- how the weights are stored


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", ["llama-3.1", "llama-3.2"])
@pytest.mark.sampled(5)
def test_weights_in_another_dtype_and_in_shards(
    tmp_path: Path, load: Load, shape: Any, dtype: torch.dtype, shards: int
) -> None:
    folder = write_tiny_llama(tmp_path / "model", shape, shards=shards, dtype=str(dtype).removeprefix("torch."))
    for file in folder.glob("*.safetensors"):
        narrow = {name: tensor.to(dtype) for name, tensor in load_file(file).items()}
        save_file(narrow, file, metadata={"format": "pt"})
    assert_same_as_transformers(load(folder=folder), folder)


def test_several_dtypes_in_one_file_and_a_buffer_of_old_times(tmp_path: Path, load: Load) -> None:
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1")

    def mix(weights: dict[str, Tensor]) -> None:
        for number, name in enumerate(sorted(weights)):
            weights[name] = weights[name].to((torch.float32, torch.float16, torch.bfloat16)[number % 3])
        weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(8)

    change_weights(folder, mix)
    assert_same_as_transformers(load(folder=folder), folder)


def test_one_file_beside_an_index_is_not_read_twice(tmp_path: Path, load: Load) -> None:
    """Some folders hold the shards and the whole: the index says what counts, for transformers the one file does."""
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", shards=3)
    whole = {name: tensor for file in folder.glob("*.safetensors") for name, tensor in load_file(file).items()}
    save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})
    assert_same_as_transformers(load(folder=folder), folder)


# --- a vocabulary that is not the tokenizer's


def with_vocabulary(folder: Path, shape: Any, rows: int) -> Path:
    """A model with `rows` more embedding rows than its tokenizer has tokens (fewer, when negative)."""
    write_tiny_llama(folder, shape)
    vocabulary = json.loads((folder / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    return write_tiny_llama(folder, shape, vocab_size=vocabulary + rows)


def favour_the_surplus(weights: dict[str, Tensor], rows: int) -> None:
    """One of two opposite rows is always far above every other logit."""
    head = weights[HEAD] if HEAD in weights else weights[EMBEDDING]
    head[-rows:] = 0
    direction = 30 * torch.randn(head.shape[1], generator=torch.Generator().manual_seed(9))
    head[-2], head[-1] = direction, -direction


@pytest.mark.parametrize(
    ("shape", "draft"), [("llama-3.1", None), ("llama-3.2", None), ("tinyllama", None), ("llama-3.2", "ngram")]
)
@pytest.mark.sampled(2)
def test_rows_that_are_no_token_are_never_drawn(tmp_path: Path, load: Load, shape: Any, draft: str | None) -> None:
    folder = with_vocabulary(tmp_path / "model", shape, 64)
    change_weights(folder, lambda weights: favour_the_surplus(weights, 64))
    engine = load(folder=folder, draft=draft)
    known = engine.tokenizer.vocab_size
    assert (engine.logits(PROMPT).argmax(-1) >= known).float().mean() > 0.9  # they would be, if they could
    greedy = engine.generate(GenerateRequest(token_ids=PROMPT, max_tokens=ANSWER, sampling=GREEDY))
    assert len(greedy.token_ids) == ANSWER
    logits = reference_logits(reference(folder), [*PROMPT, *greedy.token_ids[:-1]])
    assert list(greedy.token_ids) == greedy_after(logits, PROMPT, known)
    for sampling in (SamplingParams(temperature=1.0, seed=1), SamplingParams(temperature=100.0, top_k=0, seed=2)):
        job = engine.submit(GenerateRequest(token_ids=PROMPT, max_tokens=WILD, sampling=sampling, logprobs=50))
        for output in job:
            assert max(output.token_id, *(top.token_id for top in output.top_logprobs)) < known
            assert output.logprob > -25  # relative to what can be drawn


def test_a_bias_cannot_reach_rows_that_are_no_token(tmp_path: Path, load: Load) -> None:
    engine = load(folder=with_vocabulary(tmp_path / "model", "llama-3.1", 64))
    surplus = engine.tokenizer.vocab_size
    with pytest.raises(InvalidRequestError, match=f"from 0 to {surplus - 1}"):
        engine.submit(GenerateRequest(token_ids=[5], sampling=SamplingParams(logit_bias={surplus: 1.0})))
    result = engine.generate(GenerateRequest(token_ids=[surplus, surplus + 63, 9], max_tokens=4, sampling=GREEDY))
    assert len(result.token_ids) == 4  # in a prompt they have a meaning: their rows


def test_a_vocabulary_that_is_smaller_than_the_tokenizer(tmp_path: Path, load: Load) -> None:
    folder = with_vocabulary(tmp_path / "model", "llama-3.1", -40)
    engine = load(folder=folder)
    rows = json.loads((folder / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    assert_same_as_transformers(engine, folder, [token_id for token_id in PROMPT if token_id < rows])
    beyond = next(text for text in ("the dog", "are you", "answer", "Stop") if max(ids_of(engine, text)) >= rows)
    with pytest.raises(InvalidRequestError, match=f"from 0 to {rows - 1}"):
        engine.submit(GenerateRequest(prompt=beyond))
    with pytest.raises(InvalidRequestError, match=f"from 0 to {rows - 1}"):
        engine.submit(GenerateRequest(token_ids=[5], sampling=SamplingParams(logit_bias={rows: 1.0})))
    wild = SamplingParams(temperature=100.0, top_k=0, seed=3)
    result = engine.generate(GenerateRequest(token_ids=[5], max_tokens=WILD, sampling=wild))
    assert max(result.token_ids) < rows


def ids_of(engine: Engine, text: str) -> list[int]:
    """Ids of `text` alone."""
    return engine.tokenizer.encode(text, add_special_tokens=False)


def test_tokens_behind_a_gap_of_the_vocabulary_can_be_drawn_and_read(tmp_path: Path, load: Load) -> None:
    folder = write_tiny_llama(tmp_path / "model", "tinyllama", vocab_size=600)
    state = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = state["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.get)
    vocabulary[last] = 550
    (folder / "tokenizer.json").write_text(json.dumps(state))
    engine = load(folder=folder)
    request = GenerateRequest(token_ids=[5], max_tokens=1, sampling=GREEDY, logits_processor=drawing([550], 1))
    assert engine.generate(request).text.strip() == last.replace("▁", " ").strip()


# --- the end of an answer


def drawing(wanted: list[int], prompt_tokens: int) -> Callable[[list[int], Tensor], Tensor]:
    """A processor that lets nothing but `wanted` be drawn, one id after the other; the last for good."""

    def processor(ids: list[int], logits: Tensor) -> Tensor:
        token_id = wanted[min(len(ids) - prompt_tokens, len(wanted) - 1)]
        return torch.full_like(logits, -60.0).index_fill(0, torch.tensor(token_id), 60.0)

    return processor


def assert_ends(engine: Engine, eos: int, words: Iterable[int]) -> None:
    """An answer of `words` ends at `eos` with "stop", and nothing of it is in the text."""
    words = list(words)
    assert eos not in words
    processor = drawing([*words, eos, *words], 3)
    job = engine.submit(GenerateRequest(token_ids=[7, 8, 9], max_tokens=30, logits_processor=processor))
    pieces = [output.text for output in job]
    result = job.result(60)
    assert (result.token_ids, result.finish_reason) == ((*words, eos), "stop")
    assert "".join(pieces) == result.text == engine.tokenizer.decode(words)
    assert result.usage.completion_tokens == len(words) + 1


EOS_SOURCES: dict[str, tuple[Any, Any, str | None, set[int]]] = {
    "config.json, one": (200, None, None, {200}),
    "config.json, several": ([200, 201, 2], None, None, {200, 201, 2}),
    "generation_config.json, one": (None, 210, None, {210}),
    "generation_config.json, several": (None, [210, 211, 1], None, {210, 211, 1}),
    "the tokenizer, one that is not special": (None, None, "q", set()),
    "the tokenizer, a special one": (None, None, "<|start_header_id|>", {2}),
    "all of them": ([200, 201], [210, 211], "<|end_header_id|>", {200, 201, 210, 211, 3}),
    "ids that no token has": ([10**6, 200], 10**9, None, {200}),
}


@pytest.mark.parametrize(("config", "generation", "token", "ids"), EOS_SOURCES.values(), ids=EOS_SOURCES)
def test_every_stated_end_ends_the_answer(
    tmp_path: Path, load: Load, config: Any, generation: Any, token: str | None, ids: set[int]
) -> None:
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", num_hidden_layers=1, eos_token_id=config)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": generation}))
    change_json(folder / "tokenizer_config.json", eos_token=token)
    engine = load(folder=folder)
    ids = ids if token != "q" else set(ids_of(engine, "q"))
    for eos in ids | engine.tokenizer.eos_ids:  # the family's own stay ends, whatever the files say
        assert_ends(engine, eos, [i for i in ids_of(engine, "Hello dog, ok") if i != eos])
    free = drawing([*ids_of(engine, "Hello"), 205, 1 + max(ids)], 3)  # and nothing else is one
    free_result = engine.generate(GenerateRequest(token_ids=[7, 8, 9], max_tokens=6, logits_processor=free))
    assert (len(free_result.token_ids), free_result.finish_reason) == (6, "length")


def test_a_model_that_states_no_end_writes_up_to_the_limit(tmp_path: Path, load: Load) -> None:
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", num_hidden_layers=1, eos_token_id=None)
    change_json(folder / "tokenizer_config.json", eos_token=..., bos_token=...)
    engine = load(folder=folder, max_context=64)
    result = engine.generate(GenerateRequest(token_ids=PROMPT[:10], sampling=GREEDY))
    assert (len(result.token_ids), result.finish_reason) == (54, "context")


@pytest.mark.parametrize("dtype", ["int8", "int4", "bfloat16"])
def test_rows_so_long_that_sums_of_whole_numbers_could_overflow(tmp_path, load, dtype):
    folder = write_tiny_llama(tmp_path / "model", hidden_size=32, intermediate_size=2**17, num_hidden_layers=1)
    if dtype == "bfloat16":
        load(folder=folder, dtype=dtype).warmup()
        return
    with pytest.raises(UnsupportedModelError, match="131072 numbers"):
        load(folder=folder, dtype=dtype)
