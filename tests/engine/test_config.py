"""config.json: what is read, what stands in, and what each mistake says."""

import json

import pytest

from llama_gui.engine.config import load_config
from llama_gui.engine.rope_config import RopeConfig
from llama_gui.errors import BrokenModelError, ModelError, ModelNotFoundError, UnsupportedModelError

MINIMAL = {
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


@pytest.fixture
def read(tmp_path):
    """Read the minimal config with `changes`; a field that is changed to ... is left out."""

    def read(**changes):
        values = {name: value for name, value in {**MINIMAL, **changes}.items() if value is not ...}
        (tmp_path / "config.json").write_text(json.dumps(values))
        return load_config(tmp_path)

    return read


def test_what_stands_in_for_absent_fields(read):
    config = read()
    assert (config.num_key_value_heads, config.head_dim) == (4, 16)
    assert (config.rms_norm_eps, config.max_position_embeddings) == (1e-6, 2048)
    assert config.rope == RopeConfig(10000.0, "default")
    assert (config.tie_word_embeddings, config.qkv_bias, config.mlp_bias) == (False, False, False)
    assert (config.dtype, config.eos_token_ids) == ("float32", frozenset())


def test_null_is_absent(read):
    """transformers writes null for what is not set."""
    names = ("num_key_value_heads", "head_dim", "rope_scaling", "eos_token_id", "dtype", "mlp_bias")
    assert read(**dict.fromkeys(names)) == read() == read(architectures=None, model_type="llama")


def test_what_is_there_is_taken(read):
    config = read(num_key_value_heads=2, head_dim=24, rms_norm_eps=1e-5, tie_word_embeddings=True, attention_bias=True)
    assert (config.num_key_value_heads, config.head_dim, config.rms_norm_eps) == (2, 24, 1e-5)
    assert (config.tie_word_embeddings, config.qkv_bias, config.mlp_bias) == (True, True, False)


def test_dtype_has_two_names(read):
    assert read(torch_dtype="bfloat16").dtype == "bfloat16"
    assert read(dtype="float16", torch_dtype="bfloat16").dtype == "float16"
    assert read(dtype="float8_e4m3fn").dtype == "float32"


@pytest.mark.parametrize(("value", "ids"), [(7, {7}), ([7, 9], {7, 9}), ([], set()), (0, {0})])
def test_eos_is_one_id_or_several(read, value, ids):
    assert read(eos_token_id=value).eos_token_ids == ids


@pytest.mark.parametrize("name", sorted(MINIMAL))
def test_a_missing_field_is_named(read, tmp_path, name):
    with pytest.raises(BrokenModelError, match=rf"config\.json: {name} is (missing|None)") as caught:
        read(**{name: ...})
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("hidden_size", value) for value in (0, -1, 64.0, "64", True, [64], 2**31)),
        *(("rms_norm_eps", value) for value in (0, -1e-6, "tiny", True, float("nan"), float("inf"))),
        ("rope_theta", 0),
        ("tie_word_embeddings", "yes"),
        ("attention_bias", 1),
        *(("eos_token_id", value) for value in (-1, 1.5, True, "2", [1, None], {})),
        *(("architectures", value) for value in ([], "LlamaForCausalLM", [None])),
        ("num_key_value_heads", 3),
        ("head_dim", 15),
        ("rope_scaling", "llama3"),
        ("rope_scaling", {"type": "linear", "factor": -2}),
    ],
)
def test_an_impossible_value_is_named_with_its_field(read, name, value):
    with pytest.raises(BrokenModelError) as caught:
        read(**{name: value})
    field, shown = ("factor", "-2") if isinstance(value, dict) and value else (name, repr(value))
    assert f"config.json: {field} is {shown}, but it must be " in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architectures": ["BloomForCausalLM", "LlamaForCausalLM"]}, "BloomForCausalLM.*LlamaForCausalLM"),
        ({"hidden_act": "gelu"}, "activation 'gelu'"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, r"quantised \(gptq\)"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor"),
        ({"rope_parameters": {"rope_type": "mrope"}}, "rope type 'mrope'.*linear, dynamic, llama3, yarn, longrope"),
    ],
)
def test_what_is_not_supported_is_named(read, changes, said):
    with pytest.raises(UnsupportedModelError, match=rf"config\.json: .*{said}"):
        read(**changes)


LONGROPE = {"type": "longrope", "short_factor": [1.0], "long_factor": [2.0]}


@pytest.mark.parametrize(
    ("model_type", "changes", "said"),
    [
        ("smollm3", {"no_rope_layers": [1, 0]}, "no_rope_layers is .*a list of 3 numbers, each 0 or 1"),
        ("smollm3", {"no_rope_layers": [1, 0, 2]}, "no_rope_layers is .*a list of 3 numbers"),
        ("smollm3", {"no_rope_layer_interval": 0}, "no_rope_layer_interval is 0"),
        ("granite", {"residual_multiplier": 0}, "residual_multiplier is 0"),
        ("granite", {"attention_multiplier": "x"}, "attention_multiplier is 'x'"),
        ("phi3", {"partial_rotary_factor": 1.5}, "partial_rotary_factor is 1.5"),
        ("phi3", {"partial_rotary_factor": 0.01}, "0 numbers of each head would be rotated"),
        ("phi3", {"head_dim": 16, "partial_rotary_factor": 0.6}, "9 numbers of each head would be rotated"),
        ("phi3", {"rope_scaling": LONGROPE}, "LongRoPE has 1 factors for 8 pairs"),
        ("phi3", {"rope_scaling": {**LONGROPE, "long_factor": 8 * [0]}}, "long_factor is .*numbers above 0"),
        ("phi3", {"rope_scaling": {"type": "longrope"}}, "long_factor is None"),
    ],
)
def test_what_families_cannot_have(read, model_type, changes, said):
    values = {"architectures": None, "model_type": model_type, "num_hidden_layers": 3, "head_dim": 16, **changes}
    with pytest.raises(BrokenModelError, match=rf"config\.json: {said}"):
        read(**values)


def test_granites_multipliers_are_folded_in(read):
    config = read(
        architectures=None, model_type="granite", head_dim=64, rms_norm_eps=1e-5, embedding_multiplier=12.0,
        residual_multiplier=0.5, attention_multiplier=1 / 64, logits_scaling=8.0,
    )  # fmt: skip
    assert (config.embedding_scale, config.logits_scale, config.rms_norm_eps) == (24.0, 0.125, 4e-5)
    assert config.rope.attention_factor**2 == pytest.approx(64**0.5 / 64)


GEMMA = {"architectures": None, "model_type": "gemma3_text", "num_hidden_layers": 7, "head_dim": 64,
         "hidden_act": ..., "rope_scaling": {"rope_type": "linear", "factor": 8.0}}  # fmt: skip


def test_gemma_scales_what_it_looks_up_and_its_scores(read):
    config = read(**GEMMA, query_pre_attn_scalar=100.0)
    assert config.embedding_scale == config.hidden_size**0.5
    assert config.sliding_layers == frozenset({0, 1, 2, 3, 4, 6})
    assert [config.rope_of(layer) for layer in range(7)] == [1, 1, 1, 1, 1, 0, 1]
    assert [(rope.theta, rope.kind) for rope in config.ropes] == [(1e6, "linear"), (1e4, "default")]
    for rope in config.ropes:
        assert rope.attention_factor**2 == pytest.approx(64**0.5 / 10)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden_activation": "silu"}, "the activation 'silu'"),
        ({"final_logit_softcapping": 30.0}, "final_logit_softcapping is not supported"),
        ({"attn_logit_softcapping": 50.0}, "attn_logit_softcapping is not supported"),
        ({"use_bidirectional_attention": True}, "use_bidirectional_attention is not supported"),
    ],
)
def test_what_relatives_of_gemma_3_have(read, changes, said):
    with pytest.raises(UnsupportedModelError, match=said):
        read(**GEMMA, **changes)


GEMMA2 = {"architectures": None, "model_type": "gemma2", "num_hidden_layers": 5, "hidden_act": ...}


def test_gemma_2_caps_scores_and_logits(read):
    config = read(**GEMMA2)
    assert (config.score_cap, config.logits_cap) == (50.0, 30.0)
    assert (config.head_dim, config.sliding_window, config.tie_word_embeddings) == (256, 4096, True)
    assert config.sliding_layers == frozenset({0, 2, 4})
    assert config.local_rope is None
    assert not config.qk_norm
    config = read(**GEMMA2, attn_logit_softcapping=None, final_logit_softcapping=7)
    assert (config.score_cap, config.logits_cap) == (None, 7.0)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"attn_logit_softcapping": 0}, BrokenModelError, "attn_logit_softcapping is 0"),
        ({"final_logit_softcapping": "30"}, BrokenModelError, "final_logit_softcapping is '30'"),
        ({"attn_logit_softcapping": 61}, UnsupportedModelError, "attn_logit_softcapping is 61, and at most 60"),
        ({"use_bidirectional_attention": True}, UnsupportedModelError, "use_bidirectional_attention"),
    ],
)
def test_what_gemma_2_cannot_have(read, changes, error, said):
    with pytest.raises(error, match=said):
        read(**GEMMA2, **changes)


@pytest.mark.parametrize("alpha", [0.5, 1e30, "1000", True])
def test_an_alpha_that_cannot_be_is_told(read, alpha):
    hunyuan = {"architectures": ["HunYuanDenseV1ForCausalLM"], "head_dim": 24}
    rope = {"rope_type": "dynamic", "rope_theta": 1e4}
    assert read(**hunyuan, rope_scaling={**rope, "alpha": 1000.0}).rope.theta == pytest.approx(1e4 * 1000 ** (24 / 22))
    assert read(**hunyuan, rope_scaling=rope).rope.kind == "dynamic"
    with pytest.raises(BrokenModelError, match="alpha"):
        read(**hunyuan, rope_scaling={**rope, "alpha": alpha})


ERNIE_MOE = {
    "architectures": ["Ernie4_5_MoeForCausalLM"],
    "moe_intermediate_size": 48,
    "moe_k": 2,
    "moe_num_experts": 8,
    "num_hidden_layers": 3,
}


def test_the_experts_of_ernie(read):
    experts = read(**ERNIE_MOE).experts
    assert (experts.count, experts.chosen, experts.inner, experts.shared, experts.plain_layers) == (8, 2, 48, 96, 1)
    assert experts.normalises
    config = read(**ERNIE_MOE, moe_layer_start_index=2, moe_num_shared_experts=1, moe_layer_end_index=2)
    assert [config.experts_of(layer) is None for layer in range(3)] == [True, True, False]
    assert config.experts.shared == 48


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"moe_layer_interval": 2}, UnsupportedModelError, "moe_layer_interval is 2, so some layers have no experts"),
        ({"moe_layer_end_index": 1}, UnsupportedModelError, "moe_layer_end_index is 1"),
        ({"moe_layer_start_index": 3}, BrokenModelError, "from 0 to 2, as there are 3 layers"),
        ({"moe_layer_start_index": -1}, BrokenModelError, "first_k_dense_replace is -1"),
        ({"moe_num_shared_experts": -1}, BrokenModelError, "moe_num_shared_experts is -1"),
        ({"moe_k": 9}, BrokenModelError, "num_experts_per_tok is 9"),
    ],
)
def test_experts_of_ernie_that_cannot_be(read, changes, error, said):
    with pytest.raises(error, match=said):
        read(**ERNIE_MOE | changes)


def test_ernie_with_biases_is_refused(read):
    assert read(architectures=["Ernie4_5ForCausalLM"], model_type="ernie4_5", use_bias=False).paired
    with pytest.raises(UnsupportedModelError, match="use_bias is not supported"):
        read(architectures=["Ernie4_5ForCausalLM"], model_type="ernie4_5", use_bias=True)


def test_minicpm_that_does_not_see_all_is_refused(read):
    minicpm = {"architectures": ["MiniCPMForCausalLM"], "scale_depth": 1.4, "scale_emb": 12}
    assert read(**minicpm).tie_word_embeddings
    with pytest.raises(UnsupportedModelError, match="sparse_config is not supported"):
        read(**minicpm, sparse_config={"kernel_size": 32, "topk": 64})


def test_olmoe_that_clips_is_refused(read):
    sizes = {"architectures": ["OlmoeForCausalLM"], "model_type": "olmoe", "num_experts": 8, "num_experts_per_tok": 2}
    assert read(**sizes, clip_qkv=None).whole_qk_norm
    with pytest.raises(UnsupportedModelError, match="clip_qkv is not supported"):
        read(**sizes, clip_qkv=8.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rope_local_base_freq": "x"}, "rope_local_base_freq is 'x'"),
        ({"rope_parameters": {"full_attention": 3}}, "rope_parameters is 3"),
        ({"sliding_window_pattern": 0}, "sliding_window_pattern is 0"),
        ({"query_pre_attn_scalar": -1}, "query_pre_attn_scalar is -1"),
        ({"model_type": "gemma3", "text_config": [1]}, r"text_config is \[1\]"),
    ],
)
def test_what_gemma_3_cannot_have(read, changes, said):
    with pytest.raises(BrokenModelError, match=said):
        read(**{**GEMMA, **changes})


def test_no_value_ends_in_another_error(read):
    """Whatever a damaged file says, somebody who catches ModelError learns which file it is."""
    names = (*MINIMAL, "num_key_value_heads", "head_dim", "rms_norm_eps", "rope_theta", "rope_scaling", "dtype",
             "rope_parameters", "hidden_act", "mlp_bias", "eos_token_id", "quantization_config",
             "partial_rotary_factor", "max_position_embeddings")  # fmt: skip
    odd = (None, True, 0, -1, 7, 2.5, float("nan"), 1e308, 10**30, "", "x", [], [None], ["x"], [[1]], {}, {"type": [1]})
    said = [refusal(read, name, value) for name in names for value in odd]
    refused = [text for text in said if text is not None]
    assert [text for text in refused if "config.json: " not in text] == []
    assert len(refused) > len(said) / 2


def refusal(read, name, value):
    try:
        read(**{name: value})
    except ModelError as error:
        return str(error)
    return None


def test_a_whole_number_beyond_every_float(read):
    with pytest.raises(BrokenModelError, match="rms_norm_eps"):
        read(rms_norm_eps=10**400)


# --- rope


def test_rope_in_both_spellings(read):
    """transformers 5 writes rope_parameters with theta inside; before, rope_scaling stood beside rope_theta."""
    want = RopeConfig(500000.0, "llama3", 8.0, 1.0, 4.0, 8192)
    assert read(rope_theta=500000.0, rope_scaling=LLAMA3).rope == want
    assert read(rope_parameters={**LLAMA3, "rope_theta": 500000}).rope == want
    assert read(rope_theta=5e5, rope_scaling={"type": "linear", "factor": 2}).rope == RopeConfig(5e5, "linear", 2.0)
    assert read(rope_theta=5e5, rope_parameters={"rope_type": "default"}).rope == RopeConfig(5e5)


@pytest.mark.parametrize("name", sorted(LLAMA3.keys() - {"rope_type"}))
def test_llama3_rope_needs_every_field(read, name):
    with pytest.raises(BrokenModelError, match=rf"config\.json: {name} is missing"):
        read(rope_scaling={key: value for key, value in LLAMA3.items() if key != name})


def test_llama3_rope_with_crossed_factors(read):
    with pytest.raises(BrokenModelError, match=r"high_freq_factor is 1\.0.*above low_freq_factor \(1\)"):
        read(rope_scaling={**LLAMA3, "high_freq_factor": 1.0})


# --- files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((content, "cannot be read: .+ Download") for content in ("", '{"vocab_size": 1', "\xff", "[" * 100_000)),
        *((content, f"holds a {kind}") for content, kind in (("[]", "list"), ("null", "NoneType"), ('"x"', "str"))),
    ],
    ids=range(7),
)
def test_broken_json(tmp_path, content, said):
    (tmp_path / "config.json").write_text(content, encoding="latin-1")
    with pytest.raises(BrokenModelError, match=rf"config\.json {said}"):
        load_config(tmp_path)


def test_missing_folder_and_missing_file(tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"no model folder at .*nowhere"):
        load_config(tmp_path / "nowhere")
    with pytest.raises(ModelNotFoundError, match=r"config\.json does not exist"):
        load_config(tmp_path)
    (tmp_path / "config.json").mkdir()
    with pytest.raises(BrokenModelError, match=r"config\.json cannot be read"):
        load_config(tmp_path)


# --- families


@pytest.mark.parametrize(
    ("model_type", "biases", "qk_norm"),
    [
        ("llama", (True, True, True), False),
        ("mistral", (False, False, False), False),
        ("qwen2", (True, False, False), False),
        ("qwen3", (True, True, False), True),
        ("smollm3", (True, True, True), False),
        ("granite", (True, True, True), False),
        ("phi3", (False, False, False), False),
    ],
)
def test_each_family_decides_what_the_file_may_say(read, model_type, biases, qk_norm):
    config = read(architectures=None, model_type=model_type, attention_bias=True, mlp_bias=True)
    assert config.architecture.lower().startswith(model_type)
    assert (config.qkv_bias, config.out_bias, config.mlp_bias) == biases
    assert config.qk_norm == qk_norm


@pytest.mark.parametrize(
    ("architecture", "changes", "window", "layers"),
    [
        ("LlamaForCausalLM", {"sliding_window": 9}, None, set()),
        ("MistralForCausalLM", {}, 4096, {0, 1, 2}),
        ("MistralForCausalLM", {"sliding_window": None}, None, set()),
        ("MistralForCausalLM", {"sliding_window": 9}, 9, {0, 1, 2}),
        ("Qwen2ForCausalLM", {"sliding_window": 9}, None, set()),
        ("Qwen2ForCausalLM", {"sliding_window": 9, "use_sliding_window": True}, 9, set()),
        ("Qwen3ForCausalLM", {"sliding_window": 9, "use_sliding_window": True, "max_window_layers": 1}, 9, {1, 2}),
        (
            "Qwen3ForCausalLM",
            {"use_sliding_window": True, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
            4096,
            {0, 2},
        ),
    ],
)
def test_windows(read, architecture, changes, window, layers):
    config = read(architectures=[architecture], num_hidden_layers=3, **changes)
    assert (config.sliding_window, config.sliding_layers) == (window, layers)


@pytest.mark.parametrize(
    "changes",
    [{"layer_types": ["full_attention"]}, {"layer_types": ["chunked_attention"] * 3}, {"max_window_layers": -1},
     {"sliding_window": 0}, {"use_sliding_window": "yes"}],
)  # fmt: skip
def test_windows_that_cannot_be(read, changes):
    with pytest.raises(BrokenModelError, match=next(iter(changes))):
        read(architectures=["Qwen2ForCausalLM"], num_hidden_layers=3, **{"use_sliding_window": True, **changes})


def test_yarn(read):
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    rope = read(rope_theta=1e6, rope_scaling=scaling).rope
    assert (rope.kind, rope.factor, rope.original_max_position_embeddings) == ("yarn", 4.0, 32768)
    assert rope.attention_factor == pytest.approx(1.1386294)  # 0.1 ln(4) + 1, as in the paper
    assert (rope.beta_fast, rope.beta_slow, rope.truncate) == (32.0, 1.0, True)
    assert read(rope_scaling={**scaling, "attention_factor": 0.5}).rope.attention_factor == 0.5
    assert read(rope_scaling={**scaling, "mscale": 1.0, "mscale_all_dim": 1.0}).rope.attention_factor == 1.0
    with pytest.raises(BrokenModelError, match="original_max_position_embeddings"):
        read(rope_scaling={**scaling, "original_max_position_embeddings": 0})


def test_yarn_of_a_model_that_does_not_say_what_it_was_trained_for(read):
    """As in transformers: for its context."""
    rope = read(max_position_embeddings=64, rope_scaling={"type": "yarn", "factor": 4.0}).rope
    assert (rope.original_max_position_embeddings, rope.stretched_context) == (64, 256)


def test_yarn_stretches_the_context(read):
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    assert read(rope_scaling=scaling).rope.stretched_context == 131072
    assert read(rope_scaling={"type": "linear", "factor": 4.0}).rope.stretched_context == 0


def test_a_part_for_text_that_is_not_known_is_refused(read):
    inner = {"model_type": "mistral4", "hidden_size": 64, "num_hidden_layers": 2}
    with pytest.raises(UnsupportedModelError, match="its part for text is of the type 'mistral4'"):
        read(architectures=["Mistral3ForConditionalGeneration"], text_config=inner)
