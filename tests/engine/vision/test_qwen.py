"""Qwen's networks for images beside transformers: pixels, logits and answers."""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image as Pillow

from llama_gui.engine import Engine, GenerateRequest, Image, Message, SamplingParams
from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.pixels import ImagePreparer, PreparedImage
from llama_gui.engine.vision.placing import ImageSpan, grid_positions
from llama_gui.errors import BrokenModelError, InvalidRequestError, ModelError
from tests.fakes.tiny_pixtral import picture
from tests.fakes.tiny_qwen_vl import KINDS, Kind, qwen_as_gguf, write_tiny_qwen_vl

IMAGES = [picture(100, 60, 1), picture(300, 200, 2, "JPEG"), picture(14, 90, 3, "WEBP"), picture(113, 111, 4, "BMP")]


@pytest.fixture
def usual_dtype() -> str:
    return "float32"


def prepared(folder: Path, images: list[Image]) -> Any:
    """What transformers' processor makes of them."""
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    pictures = [Pillow.open(BytesIO(image.data)) for image in images]
    return Qwen2VLImageProcessorPil.from_pretrained(folder)(pictures, return_tensors="pt")


@pytest.mark.parametrize("image", IMAGES, ids=[image.media_type for image in IMAGES])
def test_pixels(tmp_path: Path, image: Image):
    folder = write_tiny_qwen_vl(tmp_path / "model", "qwen2.5")
    config = read_vision(folder, load_config(folder))
    assert config is not None
    ours, theirs = ImagePreparer(config).prepare(image), prepared(folder, [image])
    assert theirs["image_grid_thw"].tolist() == [[1, 2 * ours.rows, 2 * ours.columns]]
    normed = (ours.pixels / 255 - torch.tensor(config.mean)) / torch.tensor(config.deviation)
    # Theirs: rows of squares of patches, of each the colours of two pictures.
    patches = theirs["pixel_values"].view(ours.rows, ours.columns, 2, 2, 3, 2, 7, 7)[:, :, :, :, :, 0]
    whole = patches.permute(0, 2, 5, 1, 3, 6, 4).reshape(normed.shape)
    torch.testing.assert_close(normed, whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("kind", "is_flat"), [*((kind, False) for kind in KINDS), ("qwen2.5", True)])
@pytest.mark.sampled(2)
def test_answers(tmp_path: Path, load: Any, kind: Kind, is_flat: bool):
    from transformers import AutoModelForImageTextToText

    folder = write_tiny_qwen_vl(tmp_path / "model", kind, is_flat=is_flat)
    engine: Engine = load(folder=folder)
    assert engine.info.reads_images
    assert engine.info.source == ""
    asked = [Message("user", "Compare these.", images=IMAGES[:2]), Message("assistant", "No."),
             Message("user", "And this?", images=[IMAGES[2]])]  # fmt: skip
    request = GenerateRequest(messages=asked, max_tokens=20, sampling=SamplingParams(temperature=0), ignore_eos=True)
    ours = engine.generate(request)
    state = engine.submit(request).answer_state
    ids, images = list(state.prompt_token_ids), list(state.images)
    assert len(images) == 3

    theirs = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    pixels = prepared(folder, images)
    tokens = torch.tensor([ids])
    inputs = {
        "pixel_values": pixels["pixel_values"], "image_grid_thw": pixels["image_grid_thw"], "input_ids": tokens,
        "mm_token_type_ids": (tokens == theirs.config.image_token_id).int(), "attention_mask": torch.ones_like(tokens),
    }  # fmt: skip
    with torch.no_grad():
        want = theirs(**inputs).logits[0]
        written = theirs.generate(**inputs, max_new_tokens=20, do_sample=False, eos_token_id=None)[
            0, len(ids) :
        ].tolist()
    torch.testing.assert_close(engine.logits(ids, images), want, rtol=0, atol=2e-4)
    assert list(ours.token_ids) == written


def test_bits_of_windows(tmp_path: Path, load: Any):
    """Whatever is asked beside it, and in whatever pieces an image is read."""
    folder = write_tiny_qwen_vl(tmp_path / "model", "qwen2.5")
    engine: Engine = load(folder=folder, dtype="bfloat16")
    requests = [
        GenerateRequest(messages=[Message("user", "Why?", images=[image])], max_tokens=12, ignore_eos=True)
        for image in IMAGES
    ]
    requests = [replace(request, sampling=SamplingParams(temperature=0.8, seed=3)) for request in requests]
    alone = [engine.generate(request).token_ids for request in requests]
    assert len({*alone}) == len(alone)
    again: Engine = load(folder=folder, dtype="bfloat16")
    assert [job.result().token_ids for job in map(again.submit, requests)] == alone


def span(start: int, rows: int, columns: int) -> ImageSpan:
    image = PreparedImage(b"", rows, columns, torch.empty(0))
    return ImageSpan(start, rows * columns, image, is_grid=True)


def test_positions_in_a_grid():
    spans = (span(2, 2, 3), span(10, 4, 1))
    whole = grid_positions(spans, 0, 16)
    assert whole is not None
    want = [
        (0, 0, 0), (1, 1, 1),
        (2, 2, 2), (2, 2, 3), (2, 2, 4), (2, 3, 2), (2, 3, 3), (2, 3, 4),
        (5, 5, 5), (6, 6, 6),
        (7, 7, 7), (7, 8, 7), (7, 9, 7), (7, 10, 7),
        (11, 11, 11), (12, 12, 12),
    ]  # fmt: skip
    assert whole.t().tolist() == [list(positions) for positions in want]
    for start in range(16):
        part = grid_positions(spans, start, 3)
        assert part is not None
        assert torch.equal(part[:, : 16 - start], whole[:, start : start + 3])
    assert grid_positions(spans, 0, 2) is None
    assert grid_positions((replace(spans[0], is_grid=False),), 0, 16) is None
    assert grid_positions((), 0, 16) is None


@pytest.mark.parametrize(("size", "least", "most"), [((3000, 2000), 4, 64), ((20, 20), 4, 4), ((1500, 20), 4, 80)])
def test_sizes(tmp_path: Path, size: tuple[int, int], least: int, most: int):
    folder = write_tiny_qwen_vl(tmp_path / "model", "qwen2.5")
    config = read_vision(folder, load_config(folder))
    assert config is not None
    layout = config.layout(*size, None)
    assert least <= layout.rows * layout.columns <= most
    few = config.layout(*size, 9 * 196)
    assert few.rows * few.columns <= layout.rows * layout.columns
    with pytest.raises(InvalidRequestError, match="of 10 x 2001 pixels', but it must be one whose longer"):
        config.layout(2001, 10, None)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("qwen3", {"deepstack_visual_indexes": [2, 0]}, r"layers \[2, 0\] cannot be those"),
        ("qwen3", {"deepstack_visual_indexes": [0, 3]}, r"layers \[0, 3\] cannot be those"),
        ("qwen3", {"deepstack_visual_indexes": [True]}, "deepstack_visual_indexes is "),
        ("qwen3", {"num_heads": 5}, "rows of 32 numbers cannot be 5 heads"),
        ("qwen2.5", {"window_size": 30}, "windows of 30 pixels"),
        ("qwen2.5", {"hidden_act": "relu"}, "hidden_act is"),
        ("qwen2", {"temporal_patch_size": 1}, "temporal_patch_size is 1"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, kind: Kind, fields: dict[str, Any], message: str):
    folder = write_tiny_qwen_vl(tmp_path / "model", kind)
    file = folder / "config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    values["vision_config"] |= fields
    file.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        read_vision(folder, load_config(folder))


def test_sections_that_are_no_head_are_refused(tmp_path: Path):
    folder = write_tiny_qwen_vl(tmp_path / "model", "qwen3")
    file = folder / "config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    for sections, message in (([6, 3, 4], "mrope_section is of 13 pairs"), ([6, 6], "three whole numbers")):
        values["text_config"]["rope_scaling"]["mrope_section"] = sections
        file.write_text(json.dumps(values), encoding="utf-8")
        with pytest.raises(BrokenModelError, match=message):
            load_config(folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_a_gguf_file_is_the_folders_model(tmp_path: Path, load: Any, kind: Kind):
    folder = write_tiny_qwen_vl(tmp_path / "folder", kind)
    engine, whole = load(folder=qwen_as_gguf(folder, tmp_path / "gguf")), load(folder=folder)
    assert engine.info.reads_images
    asked = [Message("user", "Compare these.", images=IMAGES[:2])]
    request = GenerateRequest(messages=asked, max_tokens=12, sampling=SamplingParams(temperature=0), ignore_eos=True)
    state = whole.submit(request).answer_state
    ids, images = list(state.prompt_token_ids), list(state.images)
    ours, theirs = engine.logits(ids, images), whole.logits(ids, images)
    assert (ours - theirs).abs().max() < 0.1, "weights of the file are rounded to half precision"
    assert (ours.argmax(1) == theirs.argmax(1)).float().mean() > 0.9
    assert engine.generate(request).token_ids == whole.generate(request).token_ids


@pytest.mark.parametrize(
    "fields",
    [
        {"clip.vision.is_deepstack_layers": [3, 0, 1]},
        {"clip.vision.patch_size": None},
        {"clip.projector_type": "x"},
    ],
)
def test_a_damaged_one_is_left_aside(tmp_path: Path, load: Any, fields: dict[str, Any]):
    folder = write_tiny_qwen_vl(tmp_path / "folder")
    assert not load(folder=qwen_as_gguf(folder, tmp_path / "gguf", **fields)).info.reads_images


def test_a_mixture_of_experts_reads_images(tmp_path: Path, load: Any):
    """As files of Qwen3-VL 30B-A3B; transformers' folders of those lie otherwise, and are refused."""
    folder = write_tiny_qwen_vl(tmp_path / "folder")
    engine: Engine = load(folder=qwen_as_gguf(folder, tmp_path / "gguf", is_mixture=True), dtype="bfloat16")
    assert engine.info.reads_images
    answers = {}
    for number, image in enumerate(IMAGES):
        asked = [Message("user", "Why?", images=[image])]
        request = GenerateRequest(
            messages=asked, max_tokens=12, sampling=SamplingParams(temperature=0), ignore_eos=True
        )
        answers[number] = [engine.generate(request).token_ids for _ in range(2)]
    assert all(first == again for first, again in answers.values())
    assert len({first for first, _ in answers.values()}) == len(IMAGES)
