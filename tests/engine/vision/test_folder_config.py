"""What folders say of the network that reads images."""

import json
from pathlib import Path
from typing import Any

import pytest

from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.tiny_pixtral import write_tiny_pixtral


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_pixtral(tmp_path / "model")


def change(file: Path, part: str = "", **changes: Any) -> None:
    values = json.loads(file.read_text(encoding="utf-8"))
    inner = values[part] if part else values
    inner |= changes
    for name in [name for name, value in inner.items() if value is ...]:
        del inner[name]
    file.write_text(json.dumps(values), encoding="utf-8")


def test_a_folder_that_says_little_is_as_transformers_takes_it(folder: Path):
    from transformers import PixtralVisionConfig

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["vision_config"] = {"model_type": "pixtral"}
    config["image_token_id"] = config.pop("image_token_index")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "preprocessor_config.json").unlink()
    ours, theirs = read_vision(folder, load_config(folder)), PixtralVisionConfig()
    assert ours is not None
    for name in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "patch_size"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert (ours.activation, ours.longest_edge) == (theirs.hidden_act, theirs.image_size)
    assert (ours.head_dim, ours.rope_theta, ours.image_token_id) == (64, 10000.0, config["image_token_id"])


def test_newer_files_have_a_part_for_images(folder: Path):
    before = read_vision(folder, load_config(folder))
    old = folder / "preprocessor_config.json"
    inner = json.loads(old.read_text(encoding="utf-8"))
    old.unlink()
    (folder / "processor_config.json").write_text(
        json.dumps({"processor_class": "PixtralProcessor", "image_processor": inner, "patch_size": 7}), encoding="utf-8"
    )
    change(folder / "config.json", "vision_config", rope_parameters={"rope_theta": 10000.0, "rope_type": "axial"})
    assert read_vision(folder, load_config(folder)) == before


@pytest.mark.parametrize("kind", [..., "clip_vision_model", None])
def test_other_networks_are_left_aside(folder: Path, kind: Any):
    change(folder / "config.json", "vision_config", model_type=kind)
    assert read_vision(folder, load_config(folder)) is None


@pytest.mark.parametrize(
    ("part", "changes", "error", "words"),
    [
        ("", {"vision_feature_layer": -2}, UnsupportedModelError, "vision_feature_layer is -2, and only -1"),
        ("", {"projector_hidden_act": "relu"}, UnsupportedModelError, "only gelu is supported"),
        ("vision_config", {"num_channels": 1}, UnsupportedModelError, "num_channels is 1"),
        ("vision_config", {"hidden_act": "relu"}, UnsupportedModelError, "the activation 'relu'"),
        ("vision_config", {"head_dim": 12}, BrokenModelError, "cannot be 2 heads of 12"),
        ("vision_config", {"num_hidden_layers": 0}, BrokenModelError, "num_hidden_layers is 0"),
        ("vision_config", {"num_attention_heads": 3}, BrokenModelError, "cannot be 3 heads of 16"),
        ("", {"spatial_merge_size": "two"}, BrokenModelError, "spatial_merge_size is 'two'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    folder: Path, part: str, changes: dict[str, Any], error: type[Exception], words: str
):
    change(folder / "config.json", part, **changes)
    with pytest.raises(error, match=words):
        read_vision(folder, load_config(folder))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image_mean": [0.5, 0.5]}, "no three numbers"),
        ({"image_std": [0.5, 0, 0.5]}, "image_std is"),
        ({"size": {"longest_edge": "long"}}, "longest_edge is 'long'"),
        ({"size": {"longest_edge": 14 * 91}}, "are larger than 1260"),
    ],
)
def test_what_a_processor_cannot_do_is_refused_by_name(folder: Path, changes: dict[str, Any], words: str):
    change(folder / "preprocessor_config.json", **changes)
    with pytest.raises(BrokenModelError, match=words):
        read_vision(folder, load_config(folder))


def test_weights_that_are_missing_are_named(folder: Path, load: Any):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["vision_tower.ln_pre.weight"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(BrokenModelError, match=r"vision_tower\.ln_pre\.weight missing"):
        load(folder=folder)
