"""GGUF files beside the same model in safetensors: the same logits, tokens, template and context."""

import functools
import itertools
import json
import shutil

import pytest
import torch

from llama_gui.__main__ import main
from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams, gguf_weights, native_library
from llama_gui.engine.config import load_config
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.load_plan import plan_load
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError
from tests.fakes.gguf_files import (
    network_fields,
    stored_tensors,
    tokenizer_fields,
    write_gguf,
    write_parts,
    write_twin,
)
from tests.fakes.tiny_llama import CPU_SHAPES, FAMILY_SHAPES, SHAPES, STRANGE_SHAPES, Shape, write_tiny_llama

IDS = [1, 5, 90, 17, 200, 3, 64, 65, 66, 250, 8, 9, 100, 101, 7, 12] * 9  # longer than the windows
RENAMED = {"granite4": "GraniteForCausalLM"}
"""Where the converter writes files of another family, whose network is the same."""
QUANTISED = ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS")


@pytest.mark.parametrize("shape", ["granite", "granite-moe", "granite4", "granite4-h-moe", "minicpm"])
def test_multipliers_are_the_same_numbers(tiny_folder, tmp_path, shape: Shape):
    """Whatever a CPU makes of the last bit of one."""
    ours, theirs = (
        GgufModel(write_gguf(tiny_folder(shape), tmp_path / "tiny.gguf")).config,
        load_config(tiny_folder(shape)),
    )
    for name in ("embedding_scale", "logits_scale", "rms_norm_eps"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("shape", [*SHAPES, *FAMILY_SHAPES, *STRANGE_SHAPES, *CPU_SHAPES])
@pytest.mark.sampled(18)
def test_the_same_logits_to_the_bit(tiny_folder, load, tmp_path, shape: Shape):
    file = write_gguf(tiny_folder(shape), tmp_path / "tiny.gguf")
    ours, theirs = load(folder=file), load(shape)
    if shape.startswith("qwen3.5"):  # whose file has heads in another order, so that sums are added up in another
        torch.testing.assert_close(ours.logits(IDS), theirs.logits(IDS), rtol=0, atol=0.1)
    else:
        assert torch.equal(ours.logits(IDS), theirs.logits(IDS))
    assert ours.eos_token_ids == theirs.eos_token_ids
    assert ours.info.max_context == theirs.info.max_context
    assert ours.info.parameters == theirs.info.parameters
    assert ours.info.architecture == RENAMED.get(shape, theirs.info.architecture)
    messages = [Message("system", "Be brief."), Message("user", "Why?")]
    assert ours.apply_chat_template(messages) == theirs.apply_chat_template(messages)
    assert ours.apply_chat_template(messages, tokenize=True) == theirs.apply_chat_template(messages, tokenize=True)


def test_a_file_with_one_weight_for_queries_keys_and_values(tiny_folder, load, tmp_path):
    """As those of GLM-4 9B from before transformers had it."""
    folder = tiny_folder("glm")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors = stored_tensors(folder, config, "chatglm")
    for name in [name for name in tensors if ".attn_q." in name]:
        parts = [tensors.pop(name.replace("attn_q", f"attn_{part}")) for part in "qkv"]
        tensors[name.replace("attn_q", "attn_qkv")] = torch.cat(parts)
    fields = network_fields(config, "chatglm") | tokenizer_fields(folder, "glm4")
    stored = {name: (tensor.numpy(), "F32") for name, tensor in tensors.items()}
    file = write_parts(tmp_path / "tiny.gguf", "chatglm", fields, stored)
    assert torch.equal(load(folder=file).logits(IDS), load("glm").logits(IDS))


def test_the_attention_factor_of_olmo_3_counts_once(tiny_folder, load, tmp_path):
    """Its converter writes that of config.json, where llama.cpp knows a multiple of the usual one."""
    files = [
        write_gguf(tiny_folder("olmo3"), tmp_path / f"{number}.gguf", fields={"olmo2.rope.scaling.attn_factor": number})
        for number in (1.2079441541679836, 1.0, 2.0)
    ]
    as_converted, as_read, another = (GgufModel(file).config.rope.attention_factor for file in files)
    assert as_converted == as_read == pytest.approx(1.2079441541679836)
    assert another == pytest.approx(2 * as_read)


def test_rope_divisors_that_our_formulas_do_not_give_are_used_as_they_are(tmp_path, load):
    rope = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 100}  # fmt: skip
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2", rope_parameters=rope)
    file = write_gguf(folder, tmp_path / "tiny.gguf")
    assert len(GgufModel(file).config.rope.divisors) == 16
    torch.testing.assert_close(load(folder=file).logits(IDS), load(folder=folder).logits(IDS), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["F16", "BF16"])
def test_half_precision_is_read_without_loss(tiny_folder, load, tmp_path, kind):
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", kind)
    twin = write_twin(file, tiny_folder("tinyllama"), tmp_path / "twin")
    assert torch.equal(load(folder=file).logits(IDS), load(folder=twin).logits(IDS))


@pytest.fixture(scope="module")
def quantised_pair(tmp_path_factory):
    """A file whose matrices are of a kind, and a folder with the same numbers; each made once."""

    @functools.cache
    def make(kind):
        place = tmp_path_factory.mktemp(kind)
        sizes = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 1, "head_dim": 64}
        folder = write_tiny_llama(place / "model", "llama-3.1", **sizes)
        file = write_gguf(folder, place / "tiny.gguf", kind)
        return file, write_twin(file, folder, place / "twin")

    return make


# To bfloat16 every kind is dequantised as it is to float32.
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        *itertools.product(("float32", "int8", "int4"), QUANTISED),
        *itertools.product(("bfloat16",), ("Q8_0", "Q4_K", "Q5_1")),
    ],
)
@pytest.mark.sampled(18)
def test_quantised_weights_are_those_of_the_package(quantised_pair, load, kind, dtype):
    file, twin = quantised_pair(kind)
    ours = load(folder=file, dtype=dtype)
    logits = ours.logits(IDS)
    same = load(folder=twin, dtype=dtype).logits(IDS)
    kept = {"int4": ("Q4_0", "Q4_K", "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS"), "int8": ("Q5_K", "Q6_K")}
    is_kept = kind in kept.get(dtype, ())
    is_as_stored = is_kept and native_library.load() is not None
    assert torch.equal(logits, same) != is_as_stored
    assert logits.std() > 0.1
    name = f"{kind}_M GGUF" if kind in ("Q3_K", "Q4_K", "Q5_K") else f"{kind} GGUF"
    if is_as_stored:
        assert ours.info.source == f"{name}, {kind} as it is"
        exact = load(folder=twin, dtype="float32").logits(IDS)
        assert (logits - exact).norm() < {"int4": 0.3, "int8": 1.1}[dtype] * (same - exact).norm()
    elif dtype.startswith("int"):
        assert ours.info.source == f"{name}, held as {dtype}"
    else:
        assert ours.info.source.startswith(f"{name}, dequantised to ")


@pytest.mark.parametrize("piece", [256, 20 * 256, 2**20])
@pytest.mark.parametrize("kind", ["F32", "BF16", "Q4_K", "Q8_0"])
@pytest.mark.sampled(5)
def test_a_weight_comes_in_rows_that_make_up_the_whole(tmp_path, monkeypatch, kind, piece):
    sizes = {"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 1, "head_dim": 64}
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **sizes)
    file = write_gguf(folder, tmp_path / "tiny.gguf", kind)
    monkeypatch.setattr(gguf_weights, "_PIECE", piece)
    for kernels in (native_library.load, lambda: None):
        monkeypatch.setattr(native_library, "load", kernels)
        read = []
        with GgufModel(file).weights(read.append) as weights:
            for name in weight_shapes(GgufModel(file).config):
                if "_proj" not in name:
                    continue
                whole = weights.weight(name, torch.float32, torch.device("cpu"))
                rows = weights.rows(name)
                parts = [part.to(torch.float32, copy=True) for _, part in rows.placed(8)]
                assert torch.equal(torch.cat(parts), whole)
                assert read[-2:] == [whole.numel(), whole.numel()]


def test_biases_and_windows_are_found_in_the_file(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "model", "tinyllama", attention_bias=True, mlp_bias=True)
    file = write_gguf(folder, tmp_path / "tiny.gguf")
    assert torch.equal(load(folder=file).logits(IDS), load(folder=folder).logits(IDS))


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0},
        {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32},
    ],
)
def test_stretched_rotary_embedding(tmp_path, load, rope):
    folder = write_tiny_llama(tmp_path / "model", "tinyllama", rope_parameters=rope)
    ours, theirs = load(folder=write_gguf(folder, tmp_path / "tiny.gguf")), load(folder=folder)
    assert torch.equal(ours.logits(IDS), theirs.logits(IDS))
    assert ours.info.max_context == theirs.info.max_context


def test_a_file_says_how_to_sample(tiny_folder, load, tmp_path):
    fields = {"general.sampling.temp": 0.6, "general.sampling.top_k": 7, "general.sampling.penalty_repeat": 1.1,
              "tokenizer.ggml.suppress_tokens": [9, 7]}  # fmt: skip
    info = load(folder=write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", fields=fields)).info
    assert (info.sampling.temperature, info.sampling.top_k, info.sampling.repetition_penalty) == (0.6, 7, 1.1)
    assert info.sampling.banned_token_ids == (7, 9)
    assert (info.name, info.path, info.source) == ("tiny", str(tmp_path / "tiny.gguf"), "F32 GGUF")


def test_every_role_that_ends_an_answer_ends_it(tiny_folder, load, tmp_path):
    fields = {"tokenizer.ggml.eot_token_id": 70, "tokenizer.ggml.eom_token_id": 71}
    engine = load(folder=write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", fields=fields))
    assert engine.eos_token_ids == {2, 70, 71}


def test_a_model_without_a_template(tiny_folder, load, tmp_path):
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", fields={"tokenizer.chat_template": None})
    assert not load(folder=file).info.has_chat_template


def test_a_file_takes_as_much_memory_as_the_folder(tiny_folder, load, tmp_path):
    file = write_gguf(tiny_folder("llama-3.1"), tmp_path / "tiny.gguf", "Q8_0")
    assert (
        plan_load(file, dtype="bfloat16").weight_bytes
        == plan_load(tiny_folder("llama-3.1"), dtype="bfloat16").weight_bytes
    )


def test_a_draft_for_a_file(tiny_folder, load, tmp_path):
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf")
    request = GenerateRequest(prompt="The dog", max_tokens=12, sampling=SamplingParams(temperature=0.0))
    alone = load("tinyllama").generate(request)
    assert load(folder=file, draft=tiny_folder("tinyllama")).generate(request).token_ids == alone.token_ids


# --- what files of Gemma 3 leave out


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"sliding_window_pattern": 2}, {"sliding_window_pattern": 2}),
        ({"sliding_window_pattern": 2}, {"sliding_window_pattern": [True, False, True]}),
        ({"rope_local_base_freq": 5e3}, {"rope.freq_base_swa": 5e3}),
        ({"layer_types": 3 * ["full_attention"]}, {"sliding_window": None}),
        ({"rope_scaling": None}, {}),
    ],
    ids=["a pattern", "a flag for each layer", "theta of windows", "no windows", "not stretched"],
)
def test_what_layers_see_and_how_they_rotate(tmp_path, load, changes, fields):
    folder = write_tiny_llama(tmp_path / "model", "gemma3", num_hidden_layers=3, **changes)
    names = {name: f"gemma3.{'' if '.' in name else 'attention.'}{name}" for name in fields}
    file = write_gguf(folder, tmp_path / "tiny.gguf", fields={names[name]: value for name, value in fields.items()})
    assert torch.equal(load(folder=file).logits(IDS), load(folder=folder).logits(IDS))


def test_how_the_largest_scales_its_scores(tmp_path):
    """No field says it; its layers tell which it is."""
    sizes = {"num_hidden_layers": 62, "hidden_size": 64, "head_dim": 32, "intermediate_size": 8}
    folder = write_tiny_llama(tmp_path / "model", "gemma3", query_pre_attn_scalar=16, **sizes)
    config = GgufModel(write_gguf(folder, tmp_path / "tiny.gguf")).config
    assert [rope.attention_factor for rope in config.ropes] == [2**0.25, 2**0.25]


def test_how_the_largest_of_gemma_2_scales_its_scores(tmp_path):
    sizes = {"num_hidden_layers": 46, "hidden_size": 64, "head_dim": 32, "intermediate_size": 8}
    folder = write_tiny_llama(tmp_path / "model", "gemma2", query_pre_attn_scalar=16, **sizes)
    config = GgufModel(write_gguf(folder, tmp_path / "tiny.gguf")).config
    assert [rope.attention_factor for rope in config.ropes] == [2**0.25]


def test_the_first_files_of_gemma_2_do_not_say_what_all_have(tiny_folder, tmp_path):
    said = ("attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping")
    file = write_gguf(tiny_folder("gemma2"), tmp_path / "tiny.gguf", fields={f"gemma2.{name}": None for name in said})
    config = GgufModel(file).config
    assert (config.sliding_window, config.score_cap, config.logits_cap) == (4096, 50.0, 30.0)
    assert config.sliding_layers == frozenset({0, 2})


def test_a_norm_that_is_missing_is_named_as_in_the_file(tmp_path, tiny_folder):
    file = write_gguf(tiny_folder("gemma3"), tmp_path / "tiny.gguf")
    content = file.read_bytes()
    file.write_bytes(content.replace(b"blk.0.ffn_norm.weight", b"blk.0.ffn_nurm.weight"))
    with pytest.raises(BrokenModelError, match=r"blk\.0\.ffn_norm\.weight missing"):
        Engine.load(file)


def test_blanks_beside_one_another_and_turns(tiny_folder, load, tmp_path):
    file = write_gguf(tiny_folder("gemma3"), tmp_path / "tiny.gguf")
    ours, theirs = load(folder=file).tokenizer, load("gemma3").tokenizer
    for text in ("a  b   c\n\n  the dog", "   x\n\n\n", " é 日本\t", "<end_of_turn>\n<start_of_turn>model\n", ""):
        assert ours.encode(text) == theirs.encode(text)
        assert ours.encode_literally(text) == theirs.encode_literally(text)
        assert ours.decode(ours.encode_literally(text)) == text
    assert ours.eos_ids == theirs.eos_ids == {1, 5}


# --- parts


@pytest.mark.parametrize("part", [0, 1, 2])
def test_the_parts_of_a_model_are_found_by_any_of_them(tiny_folder, load, tmp_path, part):
    write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", parts=3)
    engine = load(folder=sorted(tmp_path.iterdir())[part])
    assert torch.equal(engine.logits(IDS), load("tinyllama").logits(IDS))
    assert engine.info.name == "tiny"


def test_a_missing_part_is_named(tiny_folder, tmp_path):
    first = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", parts=3)
    (tmp_path / "tiny-00002-of-00003.gguf").unlink()
    with pytest.raises(ModelNotFoundError, match=r"3 parts, and tiny-00002-of-00003\.gguf is not beside it"):
        Engine.load(first)


def test_the_part_of_another_model(tiny_folder, tmp_path):
    first = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", parts=3)
    shutil.copy(tmp_path / "tiny-00003-of-00003.gguf", tmp_path / "tiny-00002-of-00003.gguf")
    with pytest.raises(BrokenModelError, match=r"part 2 of 3, but says inside that it is part 2 \(counted from 0\)"):
        Engine.load(first)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_folder_with_one_model(tiny_folder, load, tmp_path, parts):
    write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", parts=parts)
    assert load(folder=tmp_path).info.name == "tiny"


def test_what_reads_pictures_for_a_model_may_lie_beside_it(tiny_folder, load, tmp_path):
    write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf")
    (tmp_path / "mmproj-model-f16.gguf").write_bytes(b"GGUF")
    assert load(folder=tmp_path).info.name == "tiny"


def test_a_folder_with_two_models(tiny_folder, tmp_path):
    for name in ("a.gguf", "b.gguf"):
        write_gguf(tiny_folder("tinyllama"), tmp_path / name)
    with pytest.raises(ModelNotFoundError, match=r"holds 2 GGUF files\. Choose one of them: a\.gguf, b\.gguf\."):
        Engine.load(tmp_path)


def test_a_folder_in_hugging_face_layout_beside_a_file(tiny_folder, load, tmp_path):
    folder = shutil.copytree(tiny_folder("tinyllama"), tmp_path / "model")
    (folder / "other.gguf").write_bytes(b"")
    assert load(folder=folder).info.source == ""


def test_the_command_line_answers_from_a_file(tiny_folder, tmp_path, capsys):
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf")
    answers = []
    for model in (file, tiny_folder("tinyllama")):
        assert main(["ask", "--model", str(model), "--temperature", "0", "--max-tokens", "9", "Hi"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] != "\n"


@pytest.mark.parametrize("name", ["a-00000-of-00002.gguf", "a-00003-of-00002.gguf", "a-00001-of-99999.gguf"])
def test_a_name_that_cannot_be_a_part(tmp_path, name):
    with pytest.raises(BrokenModelError, match="calls itself part"):
        Engine.load(tmp_path / name)


# --- what is refused


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"general.architecture": "deepseek2"},
            "the architecture 'deepseek2' is not supported. Supported: llama, qwen2",
        ),
        ({"llama.expert_gating_func": 2}, "llama.expert_gating_func is 2, which is not supported"),
        ({"llama.rope.dimension_count": 4}, "llama.rope.dimension_count is 4 beside heads of 8"),
        ({"llama.attention.head_count_kv": [1, 1, 2]}, "llama.attention.head_count_kv is not the same for all layers"),
        ({"llama.rope.scaling.type": "mrope"}, "the rope type 'mrope' is not supported"),
        ({"tokenizer.ggml.model": "t5"}, "the tokenizer 't5' is not supported. Supported: gpt2, llama"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(tiny_folder, tmp_path, fields, text):
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", fields=fields)
    with pytest.raises(UnsupportedModelError) as caught:
        Engine.load(file)
    assert str(caught.value).startswith(f"{file}: {text}")


def test_an_unknown_way_to_cut_words(tiny_folder, tmp_path):
    file = write_gguf(tiny_folder("llama-3.2"), tmp_path / "tiny.gguf", pre="klingon")
    with pytest.raises(UnsupportedModelError, match=r"tiny\.gguf: the pre-tokenizer 'klingon' is not supported"):
        Engine.load(file)


def test_a_type_that_we_do_not_read(tiny_folder, tmp_path):
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", others={"attn_q": "F64"})
    with pytest.raises(UnsupportedModelError, match=r"tiny\.gguf: \S+ is stored as F64\. Supported: F32, F16, BF16"):
        Engine.load(file)
