"""Checkpoints in FP8 are the same numbers as their weights times their scales, in every layout and precision."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import Engine, native_library
from llama_gui.engine.checkpoint import Checkpoint
from llama_gui.engine.load_plan import plan_load
from llama_gui.engine.quantisation_config import Fp8Config
from llama_gui.engine.scaled_weights import ScaledCheckpoint
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.engine.this_machine import adds_int8
from tests.fakes.fp8_folders import LAYOUTS, scaled, write_fp8
from tests.fakes.tiny_embedder import write_tiny_embedder
from tests.fakes.tiny_llama import write_tiny_llama

IDS = torch.randint(5, 250, (70,), generator=torch.Generator().manual_seed(1)).tolist()
CPU = torch.device("cpu")
WEIGHT = "model.layers.1.mlp.down_proj.weight"


def assert_same(load, folder, same, **options):
    assert torch.equal(load(folder=folder, **options).logits(IDS), load(folder=same, **options).logits(IDS))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.sampled(5)
def test_a_layout_is_its_weights_times_its_scales(tmp_path, tiny_folder, load, layout):
    folder, same = write_fp8(tiny_folder("llama-3.1"), tmp_path / "model", LAYOUTS[layout])
    assert_same(load, folder, same, dtype="float32")


@pytest.mark.parametrize(
    ("layout", "has_kernels", "dtype"),
    [
        *(("qwen", True, dtype) for dtype in ("float32", "bfloat16", "float16", "int8", "int4")),
        *(("qwen", False, dtype) for dtype in ("bfloat16", "int8")),
        *(("channels", True, dtype) for dtype in ("bfloat16", "int8", "int4")),
    ],
)
@pytest.mark.sampled(4)
def test_numbers_are_rounded_once_in_every_precision(tmp_path, load, layout, dtype, has_kernels, monkeypatch):
    """As wide as weights must be that our own kernels hold in few bits."""
    if not has_kernels:
        if dtype in ("int8", "int4") and not adds_int8():
            pytest.skip("without our kernels this CPU does not multiply int8 exactly")
        monkeypatch.setattr(native_library, "load", lambda: None)
    plain = write_tiny_llama(tmp_path / "plain", "llama-3.2", hidden_size=256, intermediate_size=320)
    folder, same = write_fp8(plain, tmp_path / "model", LAYOUTS[layout])
    assert_same(load, folder, same, dtype=dtype)


@pytest.mark.parametrize(
    ("shape", "layout"),
    [("ministral3", "mistral"), ("qwen3", "qwen"), ("phi3", "channels"), ("ernie", "qwen"), ("ernie", "channels"),
     ("granite4", "channels"), ("glm4", "qwen"), ("glm4", "channels"), ("hunyuan", "channels"), ("ernie-moe", "qwen"),
     ("gemma3", "channels"), ("mixtral", "qwen"), ("mixtral", "autofp8"), ("qwen3-moe", "qwen"),
     ("granite-moe", "channels"), ("smollm2", "mistral"), ("granite4-h", "channels"), ("nemotron-h", "modelopt"),
     ("nemotron-h-moe", "channels"), ("qwen3.5", "channels"), ("lfm2", "channels")],
)  # fmt: skip
@pytest.mark.sampled(8)
def test_families(tmp_path, tiny_folder, load, shape, layout):
    folder, same = write_fp8(tiny_folder(shape), tmp_path / "model", LAYOUTS[layout])
    assert_same(load, folder, same, dtype="float32")


@pytest.mark.parametrize("shape", ["llama-3.2", "llama-3.1"])
def test_embedding_and_head_may_be_in_fp8_too(tmp_path, tiny_folder, load, shape):
    def is_matrix(name, weight):
        return weight.dim() == 2

    folder, same = write_fp8(tiny_folder(shape), tmp_path / "model", LAYOUTS["channels"], is_matrix)
    for dtype in ("float32", "bfloat16", "int8"):
        assert_same(load, folder, same, dtype=dtype)


@pytest.mark.parametrize("is_old", [True, False])
def test_ministral_with_pictures(tmp_path, tiny_folder, load, is_old):
    """As Mistral AI publishes it: tied, one scale for a matrix, under a prefix, beside a network for pictures."""
    plain = write_tiny_llama(tmp_path / "plain", "ministral3", tie_word_embeddings=True)

    def change(weights):
        for name in list(weights):
            part = name.removeprefix("model.")
            weights[f"language_model.model.{part}" if is_old else f"model.language_model.{part}"] = weights.pop(name)
        prefix = "" if is_old else "model."
        weights[f"{prefix}vision_tower.patch_conv.weight"] = torch.ones(2, 2)
        weights[f"{prefix}multi_modal_projector.linear_1.weight"] = torch.ones(2, 2)

    folder, same = write_fp8(plain, tmp_path / "model", LAYOUTS["mistral"], change=change)
    text = json.loads((plain / "config.json").read_text())
    outer = {"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3", "text_config": text,
             "vision_config": {}, "quantization_config": LAYOUTS["mistral"].config, "tie_word_embeddings": True,
             "dtype": "bfloat16", "eos_token_id": text["eos_token_id"]}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(outer))
    assert_same(load, folder, same, dtype="float32")
    engine = load(folder=folder, dtype="bfloat16")
    assert engine.info.source == "FP8, dequantised to bfloat16, the part for text; it reads no images here"


@pytest.mark.parametrize("is_headless", [True, False])
def test_a_model_for_embeddings(tmp_path, load, is_headless):
    """Files that were written without the head have shorter names, and so have the scales in them."""
    plain = write_tiny_embedder(tmp_path / "plain", "qwen3", is_headless=is_headless)

    def is_scaled(name, weight):
        return name.endswith("_proj.weight")

    folder, same = write_fp8(plain, tmp_path / "model", LAYOUTS["channels"], is_scaled)
    texts = ["A whale is a mammal.", "Bread is baked."]
    assert torch.equal(
        load(folder=folder, dtype="float32").embed(texts), load(folder=same, dtype="float32").embed(texts)
    )


def test_the_bits_are_those_of_transformers():
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize

    generator = torch.Generator().manual_seed(2)
    weight = torch.randn(256, 384, generator=generator) * torch.randn(256, 1, generator=generator).exp()
    codes, scales, same = scaled(weight, LAYOUTS["qwen-128"])
    for dtype in (torch.float32, torch.bfloat16):
        told = Fp8Dequantize(None)._dequantize_one(codes, scales, output_dtype=dtype)
        assert torch.equal(told, same.to(dtype))


@pytest.fixture
def opened(tmp_path):
    """Open a checkpoint of one weight, and check it."""

    def opened(weights, shape, blocks=((128, 128),), **options):
        save_file(weights, tmp_path / "model.safetensors")
        checkpoint = ScaledCheckpoint(Checkpoint(tmp_path, options.pop("on_read", None)), Fp8Config(blocks), **options)
        checkpoint.check({"a.weight": shape})
        return checkpoint

    return opened


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (128, 128), (129, 257), (700, 2000), (2, 1_200_000)])
def test_ragged_blocks(opened, shape):
    weight = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    codes, scales, same = scaled(weight, LAYOUTS["qwen-128"])
    with opened({"a.weight": codes, "a.weight_scale_inv": scales}, shape) as checkpoint:
        parts = list(checkpoint.rows("a.weight").parts)
        assert len({part.data_ptr() for part in parts}) == 1, "each piece takes the place of the one before"
        pieces = [piece.clone() for piece in checkpoint.rows("a.weight").parts]
        assert torch.equal(torch.cat(pieces), same)
        assert all(piece.numel() <= max(2**18, 32 * shape[1]) for piece in pieces)
        assert torch.equal(checkpoint.weight("a.weight", torch.bfloat16, CPU), same.bfloat16())
        assert torch.equal(checkpoint.borrowed("a.weight", torch.float32, CPU), same)


def test_all_that_fp8_can_hold_is_read(opened):
    codes = torch.arange(256, dtype=torch.uint8)
    codes = codes[codes & 0x7F != 0x7F].view(2, 127)
    bits, exponents, fractions = codes.int(), codes.int() >> 3 & 15, codes.int() & 7
    size = torch.where(exponents > 0, (8 + fractions) * 2.0 ** (exponents - 10), fractions * 2.0**-9)
    want = torch.where(bits >= 128, -size, size) * 0.75
    weights = {"a.weight": codes.view(torch.float8_e4m3fn), "a.weight_scale": torch.tensor(0.75)}
    with opened(weights, (2, 127)) as checkpoint:
        assert torch.equal(checkpoint.weight("a.weight", torch.float32, CPU), want)


def test_how_far_the_reading_is(opened):
    read = []
    codes, scales, _ = scaled(torch.ones(300, 400), LAYOUTS["qwen-128"])
    with opened({"a.weight": codes, "a.weight_scale_inv": scales}, (300, 400), on_read=read.append) as checkpoint:
        checkpoint.weight("a.weight", torch.float32, CPU)
    assert 120_000 <= sum(read) < 121_000


# --- what it takes, and what is said


def test_auto_keeps_about_as_many_bits(tmp_path, load, kernels):
    plain = write_tiny_llama(tmp_path / "plain", "llama-3.2", hidden_size=256, intermediate_size=512)
    folder, _ = write_fp8(plain, tmp_path / "model", LAYOUTS["qwen-128"])
    engine = load(folder=folder, dtype="auto")
    assert (engine.info.dtype, engine.info.source) == ("int8", "FP8, held as int8")
    assert "The weights come in FP8" in engine.info.reason
    plan = plan_load(folder)
    assert (plan.dtype, plan.reason) == ("int8", engine.info.reason)
    assert plan.weight_bytes == pytest.approx(engine.stats().weight_bytes, rel=0.1)


def test_auto_without_kernels_of_our_own_is_plain(tmp_path, tiny_folder, load, monkeypatch):
    monkeypatch.setattr(native_library, "load", lambda: None)
    folder, _ = write_fp8(tiny_folder("llama-3.2"), tmp_path / "model", LAYOUTS["qwen"])
    info = load(folder=folder, dtype="auto").info
    assert info.source == f"FP8, dequantised to {info.dtype}"
    assert info.dtype in ("bfloat16", "float32")


# --- what cannot be


def spoilt(tmp_path, tiny_folder, change, layout="qwen"):
    folder, _ = write_fp8(tiny_folder("llama-3.1"), tmp_path / "model", LAYOUTS[layout], change=change)
    return folder


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda w: w.pop(WEIGHT + "_scale_inv"), BrokenModelError,
         f"model.safetensors: {WEIGHT} is stored as F8_E4M3, and its scale ({WEIGHT}_scale_inv or {WEIGHT}_scale) is "
         "missing from the weight files. Download the file again."),
        (lambda w: w.update({WEIGHT + "_scale_inv": torch.ones(2, 3)}), BrokenModelError,
         f"model.safetensors: {WEIGHT}_scale_inv has the shape [2, 3], but for {WEIGHT}, of the shape [64, 160], it "
         "must be one of [], [1], [1, 1], [64], [64, 1], [2, 4]."),
        (lambda w: w.update({WEIGHT + "_scale_inv": torch.ones([1] * 500)}), BrokenModelError, "…, but for"),
        (lambda w: w.update({WEIGHT + "_scale_inv": torch.full((2, 4), float("nan"))}), BrokenModelError,
         f"model.safetensors: {WEIGHT}_scale_inv holds numbers that are not finite"),
        (lambda w: w.update({WEIGHT + "_scale_inv": torch.full((2, 4), 1e36)}), BrokenModelError,
         f"model.safetensors: {WEIGHT}_scale_inv holds numbers that are not finite"),
        (lambda w: w[WEIGHT].view(torch.uint8)[-1:, -1:].fill_(0xFF), BrokenModelError,
         f"model.safetensors: {WEIGHT} holds numbers that are not finite"),
        (lambda w: w[WEIGHT].view(torch.uint8).fill_(0x7F), BrokenModelError,
         f"model.safetensors: {WEIGHT} holds numbers that are not finite"),
        (lambda w: w.update({WEIGHT + "_scale_inv": torch.ones(2, 4, dtype=torch.int32)}), UnsupportedModelError,
         f"model.safetensors: {WEIGHT}_scale_inv is stored as I32. Supported: F32, F16, BF16."),
        (lambda w: w.update({WEIGHT: w[WEIGHT][:20].contiguous()}), BrokenModelError,
         f"model.safetensors: {WEIGHT} has the shape [20, 160], but config.json asks for [64, 160]."),
        (lambda w: w.update({WEIGHT: w[WEIGHT].float().to(torch.float8_e5m2)}), UnsupportedModelError,
         f"model.safetensors: {WEIGHT} is stored as F8_E5M2. Supported: F32, F16, BF16"),
        (lambda w: w.update({WEIGHT: w[WEIGHT].float()}), UnsupportedModelError,
         f"the weight files hold {WEIGHT}_scale_inv that a network of this architecture has no place for"),
        (lambda w: w.update({"model.norm.weight": w["model.norm.weight"].to(torch.float8_e4m3fn)}),
         UnsupportedModelError, "model.safetensors: model.norm.weight, of the shape [64], is stored as F8_E4M3, and "
         "only matrices are supported in it."),
        (lambda w: w.update({"model.layers.0.extra_scale": torch.ones(1)}), UnsupportedModelError,
         "the weight files hold model.layers.0.extra_scale that"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, tiny_folder, change, error, said):
    folder = spoilt(tmp_path, tiny_folder, change)
    with pytest.raises(error) as caught:
        Engine.load(folder, device="cpu", dtype="float32")
    assert said in str(caught.value)


def test_stacks_in_fp8_are_refused(tmp_path, tiny_folder):
    name = "model.layers.0.block_sparse_moe.input_linear.weight"

    def change(weights):
        weights[name] = weights[name].to(torch.float8_e4m3fn)

    folder, _ = write_fp8(tiny_folder("granite-moe"), tmp_path / "model", LAYOUTS["channels"], change=change)
    with pytest.raises(UnsupportedModelError, match=r"input_linear\.weight, of the shape \[8, 128, 64\], is stored as"):
        Engine.load(folder, device="cpu")


def test_fp8_that_config_json_does_not_tell_of_is_refused(tmp_path, tiny_folder):
    folder, same = write_fp8(tiny_folder("llama-3.1"), tmp_path / "model", LAYOUTS["qwen"])
    shutil.copy(same / "config.json", folder / "config.json")
    with pytest.raises(UnsupportedModelError, match=r"is stored as F8_E4M3\. Supported: F32, F16, BF16"):
        Engine.load(folder, device="cpu")


def test_files_in_several_parts(tmp_path, tiny_folder, load):
    """A scale may lie in another file than its weight."""
    folder, same = write_fp8(tiny_folder("llama-3.1"), tmp_path / "model", LAYOUTS["qwen"])
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    for number, end in enumerate((".weight_scale_inv", "")):
        part = {name: weights.pop(name) for name in list(weights) if name.endswith(end)}
        save_file(part, folder / f"model-{number + 1:05}-of-00002.safetensors")
    assert_same(load, folder, same, dtype="float32")
