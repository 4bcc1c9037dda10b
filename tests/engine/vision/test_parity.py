"""Beside transformers: the pixels, the rows that are made of them, logits and answers."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image as Pillow

from llama_gui.engine import Engine, GenerateRequest, Image, Message, SamplingParams, native_library
from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.pixels import ImagePreparer
from tests.fakes.tiny_pixtral import picture, write_tiny_pixtral

IMAGES = [picture(100, 60, 1), picture(300, 200, 2, "JPEG"), picture(14, 90, 3, "WEBP"), picture(113, 111, 4, "BMP")]


@pytest.fixture
def usual_dtype() -> str:
    return "float32"


def prepared(folder: Path, images: list[Image]) -> Any:
    """What transformers' processor makes of them."""
    from transformers.models.pixtral.image_processing_pil_pixtral import PixtralImageProcessorPil

    processor = PixtralImageProcessorPil.from_pretrained(folder)
    pictures = [Pillow.open(BytesIO(image.data)) for image in images]
    return processor(pictures, patch_size={"height": 14, "width": 14}, return_tensors="pt")


@pytest.mark.parametrize("image", IMAGES, ids=[image.media_type for image in IMAGES])
def test_pixels(seeing: Path, image: Image):
    config = read_vision(seeing, load_config(seeing))
    assert config is not None
    ours = ImagePreparer(config).prepare(image)
    theirs = prepared(seeing, [image])
    assert theirs["image_sizes"].tolist() == [[ours.rows * 14, ours.columns * 14]]
    normed = (ours.pixels / 255 - torch.tensor(config.mean)) / torch.tensor(config.deviation)
    torch.testing.assert_close(normed.permute(2, 0, 1), theirs["pixel_values"][0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("text", ["mistral", "ministral3"])
@pytest.mark.parametrize("vision", [{}, {"hidden_act": "gelu", "patch_size": 14, "merge": 1, "bias": True}])
@pytest.mark.sampled(2)
def test_answers(tmp_path: Path, load: Any, text: Any, vision: dict[str, Any]):
    from transformers import Mistral3ForConditionalGeneration

    folder = write_tiny_pixtral(tmp_path / "model", text, **vision)
    engine: Engine = load(folder=folder)
    assert engine.info.reads_images
    assert engine.info.source == ""
    messages = [Message("user", "Compare these.", images=IMAGES[:2]), Message("assistant", "No."), Message("user", "?")]
    messages[2] = Message("user", "And this?", images=[Image(IMAGES[2].data, 3)])
    request = GenerateRequest(messages=messages, max_tokens=20, sampling=SamplingParams(temperature=0))
    ours = engine.generate(request)
    state = engine.submit(request).answer_state
    ids, images = list(state.prompt_token_ids), list(state.images)
    assert len(images) == 3

    theirs = Mistral3ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    pixels = prepared(folder, images)
    inputs = {name: pixels[name] for name in ("pixel_values", "image_sizes")} | {"input_ids": torch.tensor([ids])}
    with torch.no_grad():
        want = theirs(**inputs).logits[0]
        written = theirs.generate(**inputs, max_new_tokens=20, do_sample=False)[0, len(ids) :].tolist()
    torch.testing.assert_close(engine.logits(ids, images), want, rtol=0, atol=2e-4)
    assert list(ours.token_ids) == written


@pytest.mark.parametrize("has_kernels", [True, False])
def test_answers_of_gemma_3(seeing_gemma: Path, load: Any, monkeypatch: pytest.MonkeyPatch, has_kernels: bool):
    """By our own kernels, and by torch's, as with AMX and on a card."""
    from transformers import Gemma3ForConditionalGeneration
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil

    if not has_kernels:
        monkeypatch.setattr(native_library, "load", lambda: None)
    engine: Engine = load(folder=seeing_gemma)
    asked = [Message("user", "Compare these. " * 4, images=IMAGES[:2]), Message("assistant", "No."),
             Message("user", "And this?", images=[Image(IMAGES[2].data, 3)])]  # fmt: skip
    request = GenerateRequest(messages=asked, max_tokens=20, sampling=SamplingParams(temperature=0))
    ours, state = engine.generate(request), engine.submit(request).answer_state
    ids, images = torch.tensor([state.prompt_token_ids]), list(state.images)

    theirs = Gemma3ForConditionalGeneration.from_pretrained(seeing_gemma, dtype=torch.float32).eval()
    processor = Gemma3ImageProcessorPil.from_pretrained(seeing_gemma)
    pixels = processor([Pillow.open(BytesIO(image.data)) for image in images], return_tensors="pt")["pixel_values"]
    types = (ids == engine.tokenizer.id_of("<image_soft_token>")).long()
    inputs = {"input_ids": ids, "pixel_values": pixels, "token_type_ids": types, "attention_mask": torch.ones_like(ids)}
    with torch.no_grad():
        want = theirs(**inputs).logits[0]
        written = theirs.generate(**inputs, max_new_tokens=20, do_sample=False)[0, ids.shape[1] :].tolist()
    torch.testing.assert_close(engine.logits(ids[0].tolist(), images), want, rtol=0, atol=2e-4)
    assert list(ours.token_ids) == written
