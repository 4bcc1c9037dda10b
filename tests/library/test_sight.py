"""Whether a model reads images, told by small files: what the engine finds then."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from llama_gui.engine.config import load_config
from llama_gui.engine.vision.files import vision_in
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.loading import vision_parameters
from llama_gui.library.fit import Machine, estimate
from llama_gui.library.shape_reader import shape_of
from llama_gui.library.shelf import describe
from llama_gui.library.sight import folder_reads_images, vision_numbers
from tests.benchmarks.images import Network, write
from tests.fakes import tiny_gemma3, tiny_gemma4, tiny_pixtral, tiny_qwen_vl, tiny_smolvlm
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_gemma3 import gemma_as_gguf, write_tiny_seeing_gemma
from tests.fakes.tiny_gemma4 import gemma4_as_gguf, write_tiny_seeing_gemma4
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_pixtral import as_gguf, write_tiny_pixtral
from tests.fakes.tiny_qwen_vl import qwen_as_gguf, write_tiny_qwen_vl
from tests.fakes.tiny_smolvlm import smolvlm_as_gguf, write_tiny_smolvlm

WRITERS: dict[str, tuple[Any, Any]] = {
    "pixtral": (write_tiny_pixtral, as_gguf),
    "gemma3": (write_tiny_seeing_gemma, gemma_as_gguf),
    "gemma4": (write_tiny_seeing_gemma4, gemma4_as_gguf),
    "gemma4-12b": (lambda folder: write_tiny_seeing_gemma4(folder, "gemma4-12b"), gemma4_as_gguf),
    "smolvlm": (write_tiny_smolvlm, smolvlm_as_gguf),
    "qwen2": (lambda folder: write_tiny_qwen_vl(folder, "qwen2"), qwen_as_gguf),
    "qwen2.5": (lambda folder: write_tiny_qwen_vl(folder, "qwen2.5"), qwen_as_gguf),
    "qwen3": (write_tiny_qwen_vl, qwen_as_gguf),
    "qwen3.5": (lambda folder: write_tiny_qwen_vl(folder, "qwen3.5"), qwen_as_gguf),
    "idefics3": (lambda folder: write_tiny_smolvlm(folder, "idefics3"), smolvlm_as_gguf),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_folders_and_files_that_do(tmp_path: Path, kind: str):
    write, write_files = WRITERS[kind]
    folder = write(tmp_path / "model")
    assert vision_in(folder, load_config(folder)) is not None
    assert describe(folder).reads_images
    file = write_files(folder, tmp_path / "gguf")
    assert describe(file).reads_images
    (reader,) = file.parent.glob("mmproj*")
    reader.write_bytes(b"GGUF" + bytes(40))
    assert not describe(file).reads_images
    reader.unlink()
    assert not describe(file).reads_images


def test_those_that_do_not(tmp_path: Path):
    assert not describe(write_tiny_llama(tmp_path / "plain")).reads_images
    for config in ({"vision_config": {"model_type": "qwen2_5_vl"}}, {"vision_config": None}, {}, []):
        assert not folder_reads_images(config)


def test_a_file_that_is_for_another_model_is_none(tmp_path: Path):
    file = as_gguf(write_tiny_pixtral(tmp_path / "model"), tmp_path / "gguf")
    narrow = write_tiny_llama(tmp_path / "narrow", hidden_size=32, num_attention_heads=2, num_key_value_heads=1)
    other = write_gguf(narrow, file.parent / "other.gguf")
    assert describe(file).reads_images
    assert not describe(other).reads_images


def test_one_that_reads_in_another_manner_is_none(tmp_path: Path):
    folder = write_tiny_pixtral(tmp_path / "model")
    file = as_gguf(folder, tmp_path / "gguf", **{"clip.projector_type": "internvl"})
    assert not describe(file).reads_images


@pytest.mark.parametrize("network", get_args(Network))
def test_about_how_large_a_network_for_images_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: Network):
    """In the shapes of real ones, of which no weight is written."""
    for fake in (tiny_gemma3, tiny_gemma4, tiny_pixtral, tiny_qwen_vl, tiny_smolvlm):
        monkeypatch.setattr(fake, "_write_weights", lambda *_args, **_named: None)
    folder = write(tmp_path / "model", network)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["text_config"]["hidden_size"] = 2048
    found = read_vision(folder, load_config(folder))
    assert found is not None
    counted = vision_parameters(replace(found, text_size=2048))
    assert 0.9 * counted < vision_numbers(config) < 1.02 * counted
    shape = shape_of(config)
    assert shape.vision == vision_numbers(config)
    assert shape.has_qkv_bias == (network == "qwen2.5-vl")
    machine = Machine(2**35, 2**35)
    blind = replace(shape, vision=0)
    both = (estimate(one, machine, "bfloat16").weights for one in (shape, blind))
    assert next(both) - next(both) == 2 * shape.vision


def test_about_how_much_makes_rows_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiny_gemma4, "_write_weights", lambda *_: None)
    sizes = {"mm_embed_dim": 3840, "mm_posemb_size": 1120, "patch_size": 16}
    folder = write_tiny_seeing_gemma4(tmp_path / "model", "gemma4-12b", **sizes)
    found = read_vision(folder, load_config(folder))
    assert found is not None
    counted = vision_parameters(replace(found, text_size=3840))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["text_config"]["hidden_size"] = 3840
    assert 0.8 * counted < vision_numbers(config) <= counted


def test_a_network_that_is_left_aside_is_not_counted(tmp_path: Path):
    folder = write_tiny_pixtral(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert vision_numbers(config) > 0
    config["vision_config"]["model_type"] = "clip_vision_model"
    assert vision_numbers(config) == 0
    assert vision_numbers({}) == 0
