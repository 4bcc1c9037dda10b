"""A GGUF file, and beside it another one (mmproj) that reads images for it."""

import logging
from pathlib import Path
from typing import Any

import pytest

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from tests.fakes.tiny_gemma3 import IMAGE as SOFT
from tests.fakes.tiny_gemma3 import gemma_as_gguf
from tests.fakes.tiny_pixtral import as_gguf, picture, write_tiny_pixtral
from tests.fakes.tiny_smolvlm import smolvlm_as_gguf

ASKED = GenerateRequest(
    messages=[Message("user", "What?", images=[picture(90, 50, 1)])],
    max_tokens=12,
    sampling=SamplingParams(temperature=0),
)


@pytest.fixture
def file(seeing: Path, tmp_path: Path) -> Path:
    return as_gguf(seeing, tmp_path / "gguf")


@pytest.mark.parametrize("vision", [{}, {"hidden_act": "gelu", "bias": True}])
def test_it_is_the_folders_model(load: Any, tmp_path: Path, vision: dict[str, Any]):
    folder = write_tiny_pixtral(tmp_path / "folder", **vision)
    engine: Engine = load(folder=as_gguf(folder, tmp_path / "gguf"), dtype="float32")
    assert engine.info.reads_images
    whole: Engine = load(folder=folder, dtype="float32")
    ids, images = (list(getattr(whole.submit(ASKED).answer_state, name)) for name in ("prompt_token_ids", "images"))
    ours, theirs = engine.logits(ids, images), whole.logits(ids, images)
    assert (ours - theirs).abs().max() < 0.05, "weights of the file are rounded to half precision"
    assert engine.generate(ASKED).token_ids == whole.generate(ASKED).token_ids


def test_of_several_that_with_more_bits_is_taken(load: Any, seeing: Path, file: Path):
    other = write_tiny_pixtral(file.parent / "other", seed=5)
    as_gguf(other, file.parent / "more", mmproj="mmproj-Q8_0.gguf").unlink()
    expected = load(folder=file).generate(ASKED).token_ids
    (file.parent / "more" / "mmproj-Q8_0.gguf").rename(file.parent / "a-mmproj-Q8_0.gguf")
    assert load(folder=file).generate(ASKED).token_ids == expected
    (file.parent / "mmproj-F16.gguf").unlink()
    assert load(folder=file).generate(ASKED).token_ids != expected


def test_a_folder_of_both_is_the_model(load: Any, file: Path):
    assert load(folder=file.parent).info.reads_images


@pytest.mark.parametrize(
    "fields", [{"clip.projector_type": "gemma3"}, {"clip.projector_type": None}, {"general.architecture": "llama"}]
)
def test_one_of_another_kind_is_left_aside(load: Any, seeing: Path, tmp_path: Path, fields: dict[str, Any]):
    assert not load(folder=as_gguf(seeing, tmp_path / "gguf", **fields)).info.reads_images


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"clip.vision.attention.head_count": 3}, "rows of 32 numbers cannot be 3 heads of 10"),
        ({"clip.vision.patch_size": None}, "patch_size is missing"),
        ({"clip.vision.image_mean": [0.5]}, "no three numbers"),
        ({"clip.vision.image_size": 5000}, "images of 5000 pixels are larger"),
    ],
)
def test_one_that_makes_no_sense_is_left_aside_and_logged(
    load: Any, seeing: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, fields: dict[str, Any], words: str
):
    file = as_gguf(seeing, tmp_path / "gguf", **fields)
    with caplog.at_level(logging.WARNING):
        assert not load(folder=file).info.reads_images
    assert words in caplog.text


def test_one_that_is_cut_off_is_left_aside(load: Any, file: Path):
    mmproj = file.parent / "mmproj-F16.gguf"
    mmproj.write_bytes(mmproj.read_bytes()[:5000])
    assert not load(folder=file).info.reads_images


def test_a_model_of_another_width_has_none(load: Any, tmp_path: Path, file: Path):
    from tests.fakes.gguf_files import write_gguf
    from tests.fakes.tiny_llama import write_tiny_llama

    plain = write_tiny_llama(tmp_path / "plain", "ministral3")
    assert not load(folder=write_gguf(plain, file.parent / "plain.gguf")).info.reads_images


@pytest.mark.parametrize("has_soft_token", [True, False])
def test_gemma_is_the_folders_model(load: Any, seeing_gemma: Path, tmp_path: Path, has_soft_token: bool):
    """Many files of it lack the token that stands for a part of an image."""
    file = gemma_as_gguf(seeing_gemma, tmp_path / "gguf", has_soft_token=has_soft_token)
    engine, whole = load(folder=file, dtype="float32"), load(folder=seeing_gemma, dtype="float32")
    assert engine.info.reads_images
    assert (engine.tokenizer.id_of(SOFT) is not None) == has_soft_token
    ours, theirs = engine.generate(ASKED), whole.generate(ASKED)
    assert ours.usage.prompt_tokens == theirs.usage.prompt_tokens
    assert ours.token_ids == theirs.token_ids


def test_smolvlm_is_the_folders_model(load: Any, seeing_smolvlm: Path, tmp_path: Path):
    file = smolvlm_as_gguf(seeing_smolvlm, tmp_path / "gguf")
    engine, whole = load(folder=file, dtype="float32"), load(folder=seeing_smolvlm, dtype="float32")
    assert engine.info.reads_images
    ours, theirs = engine.generate(ASKED), whole.generate(ASKED)
    assert ours.usage.prompt_tokens == theirs.usage.prompt_tokens
    assert ours.token_ids == theirs.token_ids
