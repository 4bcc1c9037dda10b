"""gpt-oss: its folders and files, plain and in MXFP4, beside transformers; what cannot be is named."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import Engine, load_plan, native_library
from llama_gui.engine.config import load_config
from llama_gui.engine.device import torch_threads
from llama_gui.engine.load_plan import plan_load
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_llama import write_tiny_llama

IDS = torch.randint(5, 250, (150,), generator=torch.Generator().manual_seed(1)).tolist()
PACKED = {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Plain, and with experts in MXFP4, whose rows are as those of the real ones no multiple of 256."""
    place = tmp_path_factory.mktemp("gpt-oss")
    sizes = {"hidden_size": 320, "intermediate_size": 192, "head_dim": 64}
    return {
        "plain": write_tiny_llama(place / "plain", "gpt-oss"),
        "packed": write_tiny_llama(place / "packed", "gpt-oss", **sizes, **PACKED),
    }


@torch.no_grad()
def reference(folder, dtype=torch.float32):
    """The logits of transformers, which makes plain numbers of MXFP4 where there is no card."""
    from transformers import AutoModelForCausalLM, Mxfp4Config

    config = json.loads((folder / "config.json").read_text())
    more = {"quantization_config": Mxfp4Config(dequantize=True)} if "quantization_config" in config else {}
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **more).eval()
    return model.float()(torch.tensor([IDS])).logits[0]


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setattr(native_library, "load", lambda: None)


@pytest.mark.parametrize("which", ["plain", "packed"])
def test_by_torch_alone(folders, load, without_kernels, which):
    assert (load(folder=folders[which], dtype="float32").logits(IDS) - reference(folders[which])).abs().max() < 1e-3


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_by_torch_alone_a_row_has_the_same_bits_in_any_piece(folders, load, without_kernels, dtype):
    with torch_threads(1):
        engine = load(folder=folders["plain"], dtype=dtype)
        whole = engine.logits(IDS)
        for length in (1, 33, 34, 90):
            assert torch.equal(engine.logits(IDS[:length]), whole[:length])


def test_what_is_packed_is_read_without_loss(folders, load):
    want = reference(folders["packed"])
    assert (load(folder=folders["packed"], dtype="float32").logits(IDS) - want).abs().max() < 2e-3


def test_what_is_packed_stays_so(folders, load, kernels):
    folder, want = folders["packed"], reference(folders["packed"])
    engine = load(folder=folder, dtype="auto")
    assert (engine.info.dtype, engine.info.source) == ("int4", "MXFP4 experts as they are, the rest as int8")
    assert all(block.native is not None for block in engine._runner._network.blocks)
    plan = plan_load(folder)
    assert plan.weight_bytes == pytest.approx(engine.stats().weight_bytes, rel=0.1)
    error = (engine.logits(IDS) - want).norm(dim=1).median()
    rounded = load(folder=folder, dtype="int8").logits(IDS)  # twice, and the experts to more bits than they have
    assert error < 1.5 * (rounded - want).norm(dim=1).median()
    assert error < (0.1 if kernels.is_wide else 0.13) * want.norm(dim=1).median()  # int8 is in seven bits elsewhere
    batch = [engine.logits(IDS[:length]) for length in (1, 40, 97)]
    assert all(torch.equal(some, engine.logits(IDS)[: len(some)]) for some in batch)


@pytest.mark.parametrize("dtype", ["float32", "auto"])
def test_a_gguf_file_of_mxfp4_is_the_same_as_the_folder(tmp_path, folders, load, dtype, monkeypatch):
    """The experts; what else is there has eight bits in both, or all of them."""
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    plain = write_tiny_llama(
        tmp_path / "model", "gpt-oss", hidden_size=320, intermediate_size=192, head_dim=64, dtype="float32"
    )
    packed = folders["packed"]
    # The folder's experts were packed from the same numbers before they were made three times as large.
    weights = load_file(plain / "model.safetensors")
    weights = {name: w / 3 if "experts" in name and not name.endswith("bias") else w for name, w in weights.items()}
    save_file(weights, plain / "model.safetensors")
    file = write_gguf(plain, tmp_path / "tiny.gguf", "F32", others={"_exps": "MXFP4"})
    ours, theirs = load(folder=file, dtype=dtype), load(folder=packed, dtype=dtype)
    if dtype == "auto" and native_library.load() is not None:
        assert ours.info.source.startswith("F32 GGUF, MXFP4 as it is")
    assert ours.info.dtype == theirs.info.dtype
    torch.testing.assert_close(ours.logits(IDS), theirs.logits(IDS), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"swiglu_limit": 5.0}, UnsupportedModelError, "swiglu_limit is 5.0, and only 7 is supported"),
        ({"swiglu_alpha": 1.0}, UnsupportedModelError, "swiglu_alpha is 1.0, and only 1.702 is supported"),
        ({"quantization_config": {"quant_method": "awq"}}, UnsupportedModelError, "stored quantised (awq)"),
        (PACKED, BrokenModelError, "mlp.experts.gate_up_proj_blocks"),
        ({"num_local_experts": 4}, BrokenModelError, "mlp.router.bias has the shape [8], but config.json asks for [4]"),
        ({"layer_types": ["full_attention"]}, BrokenModelError, "layer_types"),
    ],
    ids=str,
)
def test_what_cannot_be_is_named(tmp_path, folders, changes, error, text):
    folder = tmp_path / "model"
    shutil.copytree(folders["plain"], folder)
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(error) as caught:
        Engine.load(folder, device="cpu")
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("spoil", "error", "text"),
    [
        ("exponent", BrokenModelError, "down_proj_scales holds numbers that are not finite"),
        ("dtype", UnsupportedModelError, "down_proj_scales is stored as I32. Supported: U8"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path, folders, spoil, error, text):
    folder = tmp_path / "model"
    shutil.copytree(folders["packed"], folder)
    weights = load_file(folder / "model.safetensors")
    name = "model.layers.1.mlp.experts.down_proj_scales"
    if spoil == "exponent":
        weights[name][3, 7, 1] = 255
    else:
        weights[name] = weights[name].int()
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(error) as caught:
        Engine.load(folder, device="cpu")
    assert text in str(caught.value)


def test_half_of_the_layers_have_a_window(tmp_path, folders):
    config = load_config(folders["plain"])
    assert (config.sliding_window, sorted(config.sliding_layers)) == (33, [0, 2])
    assert (config.rope.kind, config.rope.truncate, config.rope.stretched_context) == ("yarn", False, 2048)
    kinds = ["full_attention", "full_attention", "sliding_attention"]
    other = load_config(write_tiny_llama(tmp_path / "other", "gpt-oss", layer_types=kinds))
    assert sorted(other.sliding_layers) == [2]
