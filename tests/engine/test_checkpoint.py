"""Weight files: which ones are opened, and what is said when they are missing, damaged or those of another model."""

import json
import os
import re
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import checkpoint as checkpoint_module
from llama_gui.engine.checkpoint import Checkpoint, weight_files
from llama_gui.engine.config import load_config
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.llama import Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.weight_shapes import IGNORED_WEIGHTS, weight_shapes
from llama_gui.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError
from tests.fakes.tiny_llama import write_tiny_llama

SHAPES = {"a": (2, 3), "b": (3,)}
INDEX = "model.safetensors.index.json"


def save(folder, name="model.safetensors", dtype=torch.float32, **shapes):
    save_file({key: torch.ones(shape).to(dtype) for key, shape in (shapes or SHAPES).items()}, folder / name)


def write_index(folder, weight_map):
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))


def check(folder, expected=SHAPES, ignored=()):
    with Checkpoint(folder) as checkpoint:
        checkpoint.check(expected, ignored)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_folder_whose_name_is_not_utf8_is_read(tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    save(folder)
    check(folder)
    with Checkpoint(folder) as checkpoint:
        assert checkpoint.tensor("a").tolist() == torch.ones(2, 3).tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_such_a_name_is_told_where_files_have_no_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "_OPEN_FILES", tmp_path / "nowhere")
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    save(folder)
    with pytest.raises(UnsupportedModelError, match=r"has letters that are no Unicode.* Rename the folder"):
        Checkpoint(folder)


# --- which files


def test_one_file_goes_before_others_in_the_folder(tmp_path):
    for name in ("consolidated.safetensors", "model.safetensors"):
        save(tmp_path, name)
    assert weight_files(tmp_path) == [tmp_path / "model.safetensors"]


def test_one_file_goes_before_the_shards_that_it_has_replaced(tmp_path):
    save(tmp_path, "model.safetensors", a=(2, 3), b=(3,))
    write_index(tmp_path, {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})
    check(tmp_path)


def test_files_without_an_index(tmp_path):
    save(tmp_path, "part-2.safetensors", b=(3,))
    save(tmp_path, "part-1.safetensors", a=(2, 3))
    check(tmp_path)
    assert [file.name for file in weight_files(tmp_path)] == ["part-1.safetensors", "part-2.safetensors"]


def test_the_index_says_which_files(tmp_path):
    save(tmp_path, "x.safetensors", a=(2, 3))
    save(tmp_path, "y.safetensors", b=(3,))
    save(tmp_path, "stray.safetensors")
    write_index(tmp_path, {"a": "x.safetensors", "b": "y.safetensors"})
    check(tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
def test_pickles_are_refused_unread(tmp_path, name):
    (tmp_path / name).write_bytes(b"not even a pickle")
    with pytest.raises(UnsupportedModelError, match="pickle files, which can run code"):
        Checkpoint(tmp_path)


def test_no_weights_at_all(tmp_path):
    with pytest.raises(ModelNotFoundError, match=rf"{re.escape(str(tmp_path))} holds no \*\.safetensors file"):
        Checkpoint(tmp_path)


@pytest.mark.parametrize("weight_map", [None, {}, [], "model.safetensors"])
def test_an_index_without_a_map(tmp_path, weight_map):
    save(tmp_path, "x.safetensors")
    write_index(tmp_path, weight_map)
    with pytest.raises(BrokenModelError, match=r"index\.json: weight_map is missing or empty"):
        Checkpoint(tmp_path)


@pytest.mark.parametrize(
    "file", ["../model.safetensors", "/etc/model.safetensors", "..\\model.safetensors", "model.bin", "", "..", 7, None]
)
def test_an_index_cannot_lead_out_of_the_folder(tmp_path, file):
    folder = tmp_path / "model"
    folder.mkdir()
    save(tmp_path)
    save(folder, "x.safetensors")
    write_index(folder, {"a": file})
    with pytest.raises(BrokenModelError, match=r"index\.json names .* not a weight file of this folder"):
        Checkpoint(folder)


@pytest.mark.parametrize("file", [["model.safetensors"], {}])
def test_an_index_that_names_a_list(tmp_path, file):
    write_index(tmp_path, {"a": file})
    with pytest.raises(BrokenModelError, match=r"index\.json"):
        Checkpoint(tmp_path)


def test_a_missing_shard_is_named(tmp_path):
    save(tmp_path, "x.safetensors", a=(2, 3))
    write_index(tmp_path, {"a": "x.safetensors", "b": "y.safetensors"})
    with pytest.raises(ModelNotFoundError, match=r"y\.safetensors is missing"):
        Checkpoint(tmp_path)


# --- what is in them


@pytest.mark.parametrize("kept", [0, 7, 20, -5], ids=["empty", "in the length", "in the header", "in the data"])
def test_a_truncated_file(tmp_path, kept):
    save(tmp_path)
    file = tmp_path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(BrokenModelError, match=r"model\.safetensors is damaged or cut off: .+ Download"):
        Checkpoint(tmp_path)


def test_a_page_of_a_proxy_instead_of_weights(tmp_path):
    (tmp_path / "model.safetensors").write_text("<html>Please log in</html>" * 100)
    with pytest.raises(BrokenModelError, match=r"model\.safetensors is damaged"):
        Checkpoint(tmp_path)


def test_two_files_with_the_same_weight(tmp_path):
    save(tmp_path, "x.safetensors")
    save(tmp_path, "y.safetensors", b=(3,))
    with pytest.raises(BrokenModelError, match=r"y\.safetensors and x\.safetensors both hold b\."):
        Checkpoint(tmp_path)


def test_a_weight_that_only_the_index_knows(tmp_path):
    save(tmp_path, "x.safetensors", a=(2, 3))
    write_index(tmp_path, dict.fromkeys("ab", "x.safetensors"))
    with pytest.raises(BrokenModelError, match=": b missing from the weight files"):
        check(tmp_path)


def test_many_missing_weights_are_counted(tmp_path):
    save(tmp_path)
    with pytest.raises(BrokenModelError, match="c, d, e and 2 more missing"):
        check(tmp_path, {**SHAPES, **dict.fromkeys("gfedc", (1,))})


@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 3, 1), (2, 4), ()])
def test_a_wrong_shape_is_shown_beside_the_right_one(tmp_path, shape):
    save(tmp_path)
    with pytest.raises(BrokenModelError) as caught:
        check(tmp_path, {**SHAPES, "a": shape})
    assert f"model.safetensors: a has the shape [2, 3], but config.json asks for {list(shape)}." in str(caught.value)


def test_surplus_weights(tmp_path):
    save(tmp_path, a=(2, 3), b=(3,), **{"layer.rotary_emb.inv_freq": (8,)})
    check(tmp_path, ignored=IGNORED_WEIGHTS)
    with pytest.raises(UnsupportedModelError, match=r"hold layer\.rotary_emb\.inv_freq that .* no place for"):
        check(tmp_path)


@pytest.mark.parametrize(
    ("dtype", "name"), [(torch.int8, "I8"), (torch.float8_e4m3fn, "F8_E4M3"), (torch.float64, "F64")]
)
def test_other_dtypes_are_named(tmp_path, dtype, name):
    save(tmp_path, dtype=dtype)
    with pytest.raises(UnsupportedModelError, match=rf"model\.safetensors: a is stored as {name}\. Supported: F32"):
        check(tmp_path)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_weight_comes_as_it_was_saved(tmp_path, dtype):
    weight = torch.randn(5, 4, generator=torch.Generator().manual_seed(1)).to(dtype)
    save_file({"a": weight}, tmp_path / "model.safetensors")
    with Checkpoint(tmp_path) as checkpoint:
        assert checkpoint.names == {"a"}
        got = checkpoint.tensor("a")
        assert got.dtype == dtype
        assert torch.equal(got, weight)


# --- with a network


def test_the_weights_of_another_model(tmp_path):
    folder = write_tiny_llama(tmp_path / "model")
    check(folder, weight_shapes(load_config(folder)))
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**values, "num_hidden_layers": 4}))
    with pytest.raises(BrokenModelError, match=r"model\.layers\.3\.\S+, .* and 6 more missing"):
        check(folder, weight_shapes(load_config(folder)))


@pytest.mark.parametrize(("shape", "stored"), [("llama-3.2", "bfloat16"), ("qwen2", "float32")])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "int4"])
def test_a_model_in_memory_needs_its_file_no_more(tmp_path, shape, dtype, stored):
    """Where a view of it were kept, the network would see what is written there, or die when it is cut off."""
    folder = write_tiny_llama(tmp_path / "model", shape)
    file = folder / "model.safetensors"
    if stored == "bfloat16":
        save_file({name: weight.bfloat16() for name, weight in load_file(file).items()}, file)
    try:
        network = load_model(folder, dtype=dtype, device="cpu", threads=1).network
    except UnsupportedModelError as error:
        pytest.skip(str(error))

    def logits() -> torch.Tensor:
        cache = KVCache(network.config, network.dtype, torch.device("cpu"), 2**24)
        slot = cache.acquire("a", [0] * 9)
        cache.ensure_capacity(slot, 9)
        return network.forward([Segment(slot, list(range(5, 14)), 9, is_prompt=True)])

    want = logits()
    with file.open("r+b") as stream:
        length = int.from_bytes(stream.read(8), "little")
        stream.seek(8 + length)
        stream.write(bytes(file.stat().st_size - 8 - length))
    assert torch.equal(load_file(file)["model.norm.weight"].float(), torch.zeros(network.config.hidden_size))
    assert torch.equal(logits(), want)
