"""Gemma 4's two manners of reading images, beside transformers."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image as Pillow

from llama_gui.engine import Engine, GenerateRequest, Image, Message, SamplingParams, native_library
from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.gemma4_config import Gemma4UnifiedConfig, Gemma4VisionConfig
from llama_gui.engine.vision.pixels import ImagePreparer
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.tiny_gemma4 import Kind, gemma4_as_gguf, write_tiny_seeing_gemma4
from tests.fakes.tiny_pixtral import picture

SIZES = [(100, 60), (300, 200), (14, 90), (113, 111), (500, 9), (9, 4000), (1, 1)]
LIMITS = {"use_clipped_linears": True, "standardize": True}
ASKED = [
    Message("user", "Compare these. " * 4, images=[picture(100, 60, 1), picture(30, 200, 2, "JPEG")]),
    Message("assistant", "No."),
    Message("user", "And this?", images=[Image(picture(14, 15, 3, "WEBP").data, 3)]),
]
GREEDY = GenerateRequest(messages=ASKED, max_tokens=20, sampling=SamplingParams(temperature=0))


@pytest.fixture
def usual_dtype() -> str:
    return "float32"


def config_of(folder: Path) -> Gemma4VisionConfig | Gemma4UnifiedConfig:
    config = read_vision(folder, load_config(folder))
    assert isinstance(config, Gemma4VisionConfig | Gemma4UnifiedConfig)
    return config


def prepared(folder: Path, images: list[Image]) -> Any:
    """What transformers' processor makes of them, that of the network with layers."""
    from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

    processor = Gemma4ImageProcessorPil.from_pretrained(folder)
    return processor([Pillow.open(BytesIO(image.data)) for image in images], return_tensors="pt")


def in_squares(patches: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Three by three patches of each image as one, as the processor of the network without layers has them.

    Transformers' own needs torchvision.
    """
    squares, places = [], []
    for pixels, at in zip(patches, positions, strict=True):
        is_there = (at >= 0).all(1)
        columns, rows = (at[is_there].max(0).values + 1).tolist()
        grid = pixels[is_there].view(rows // 3, 3, columns // 3, 3, 4, 4, 3)
        squares.append(grid.permute(0, 2, 1, 4, 3, 5, 6).reshape(-1, 12 * 12 * 3))
        found = torch.cartesian_prod(torch.arange(rows // 3), torch.arange(columns // 3)).flip(1)
        places.append(found)
    most = max(map(len, squares))
    padded = [torch.nn.functional.pad(one, (0, 0, 0, most - len(one))) for one in squares]
    at = [torch.nn.functional.pad(one, (0, 0, 0, most - len(one)), value=-1) for one in places]
    return torch.stack(padded), torch.stack(at)


@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
def test_pixels(tmp_path: Path, size: tuple[int, int]):
    folder = write_tiny_seeing_gemma4(tmp_path / "model")
    image = picture(*size)
    ours = ImagePreparer(config_of(folder)).prepare(image)
    theirs = prepared(folder, [image])
    assert theirs["num_soft_tokens_per_image"].tolist() == [ours.rows * ours.columns]
    patches = ours.pixels.unflatten(0, (-1, 4)).unflatten(2, (-1, 4)).transpose(1, 2).flatten(2).flatten(0, 1)
    torch.testing.assert_close(patches / 255, theirs["pixel_values"][0, : len(patches)], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "vision", "has_kernels"),
    [("gemma4", LIMITS, True), ("gemma4", {}, False), ("gemma4-31b", {}, True), ("gemma4-31b", LIMITS, False),
     ("gemma4-26b", LIMITS, True), ("gemma4-12b", {}, True)],
)  # fmt: skip
@pytest.mark.sampled(2)
def test_answers(
    tmp_path: Path, load: Any, monkeypatch: pytest.MonkeyPatch, kind: Kind, vision: dict[str, Any], has_kernels: bool
):
    """Images of up to 70 rows, with a window of 36."""
    from transformers import AutoModelForImageTextToText

    if not has_kernels:
        monkeypatch.setattr(native_library, "load", lambda: None)
    folder = write_tiny_seeing_gemma4(tmp_path / "model", kind, **vision)
    engine: Engine = load(folder=folder)
    assert engine.info.reads_images
    assert engine.info.source == ""
    ours, state = engine.generate(GREEDY), engine.submit(GREEDY).answer_state
    ids, images = torch.tensor([state.prompt_token_ids]), list(state.images)
    text = "".join(map(engine.tokenizer.token_text, state.prompt_token_ids))
    assert "<|turn>user\n<|image><|image|><|image|>" in text
    assert "<|image|><image|>Compare" in text

    theirs = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    made = prepared(folder, images)
    pixels, places = made["pixel_values"], made["image_position_ids"]
    if kind == "gemma4-12b":
        pixels, places = in_squares(pixels, places)
    inputs = {"input_ids": ids, "pixel_values": pixels, "image_position_ids": places}
    types = (ids == engine.tokenizer.id_of("<|image|>")).long()
    with torch.no_grad():
        # Of 12B transformers lets rows of an image see each other in all layers. Those without a window do not, as in
        # the other models (https://github.com/vllm-project/vllm/pull/47217), for which it makes these masks.
        embedded, at = theirs.get_input_embeddings()(ids), torch.arange(ids.shape[1]).unsqueeze(0)
        masks = theirs.create_masks_for_generate(theirs.config, embedded, None, None, at, mm_token_type_ids=types)
        want = theirs(**inputs, attention_mask=masks).logits[0]
        torch.testing.assert_close(engine.logits(ids[0].tolist(), images), want, rtol=0, atol=2e-4)
        assert ours.token_ids[0] == want[-1].argmax()
        if kind != "gemma4-12b":
            written = theirs.generate(**inputs, mm_token_type_ids=types, max_new_tokens=20, do_sample=False)
            assert list(ours.token_ids) == written[0, ids.shape[1] :].tolist()


@pytest.mark.parametrize("kind", ["gemma4", "gemma4-31b", "gemma4-12b"])
@pytest.mark.sampled(1)
def test_a_file_is_the_folders_model(load: Any, tmp_path: Path, kind: Kind):
    vision = {} if kind == "gemma4-12b" else LIMITS
    folder = write_tiny_seeing_gemma4(tmp_path / "folder", kind, most=280, **vision, **_room(kind))
    file = gemma4_as_gguf(folder, tmp_path / "gguf")
    engine, whole = load(folder=file, dtype="float32"), load(folder=folder, dtype="float32")
    assert engine.info.reads_images
    ids, images = (list(getattr(whole.submit(GREEDY).answer_state, name)) for name in ("prompt_token_ids", "images"))
    ours, theirs = engine.logits(ids, images), whole.logits(ids, images)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)
    assert engine.generate(GREEDY).token_ids == whole.generate(GREEDY).token_ids


def _room(kind: Kind) -> dict[str, int]:
    return {"mm_posemb_size": 280} if kind == "gemma4-12b" else {"position_embedding_size": 840}


@pytest.mark.parametrize(
    ("vision", "error", "words"),
    [
        ({"head_dim": 22}, BrokenModelError, "rows of 48 numbers cannot be 2 heads of 22"),
        ({"position_embedding_size": 200}, BrokenModelError, "200 places are too few for images of 70 tokens"),
        ({"hidden_activation": "relu"}, UnsupportedModelError, "hidden_activation is 'relu'"),
        ({"num_key_value_heads": 1}, UnsupportedModelError, "num_key_value_heads is 1, and only 2 is supported"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, vision: dict[str, Any], error: type[Exception], words: str):
    folder = write_tiny_seeing_gemma4(tmp_path / "model")
    file = folder / "config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(values | {"vision_config": values["vision_config"] | vision}), encoding="utf-8")
    with pytest.raises(error, match=words):
        read_vision(folder, load_config(folder))


@pytest.mark.parametrize(("said", "is_whole"), [({}, True), ({"use_bidirectional_attention": None}, False)])
def test_the_text_network_knows_whether_rows_see_each_other(tmp_path: Path, said: dict[str, Any], is_whole: bool):
    folder = write_tiny_seeing_gemma4(tmp_path / "model", "gemma4-12b")
    file = folder / "config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    values["text_config"].pop("use_bidirectional_attention", None)
    values["text_config"] |= said
    file.write_text(json.dumps(values), encoding="utf-8")
    text = load_config(folder).gemma4
    assert text is not None
    assert (text.sees_images_whole, config_of(folder).is_whole) == (is_whole, is_whole)


def test_images_that_are_too_large(tmp_path: Path):
    folder = write_tiny_seeing_gemma4(tmp_path / "model")
    file = folder / "processor_config.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"max_soft_tokens": 70', '"max_soft_tokens": 5000'))
    with pytest.raises(BrokenModelError, match="images of 5000 tokens are too large"):
        read_vision(folder, load_config(folder))


def test_fewer_rows_on_cpus(tmp_path: Path):
    config = config_of(write_tiny_seeing_gemma4(tmp_path / "model"))
    assert config.layout(500, 1000, None)[:2] == (5, 11)
    assert config.layout(500, 1000, 30 * 144)[:2] == (3, 7)
    assert config.layout(77, 77, 1)[:2] == (1, 1)
