"""Models that cut images into squares, beside transformers."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image as Pillow

from llama_gui.engine import Engine, GenerateRequest, Image, Message, SamplingParams
from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.pixels import ImagePreparer
from llama_gui.engine.vision.siglip_config import Idefics3Config
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.tiny_pixtral import picture
from tests.fakes.tiny_smolvlm import write_tiny_smolvlm

SIZES = [(100, 60), (300, 200), (14, 90), (113, 111), (112, 112), (500, 9), (1, 1)]


@pytest.fixture
def usual_dtype() -> str:
    return "float32"


def config_of(folder: Path) -> Idefics3Config:
    config = read_vision(folder, load_config(folder))
    assert isinstance(config, Idefics3Config)
    return config


def prepared(folder: Path, images: list[Image]) -> Any:
    """What transformers' processor makes of them."""
    from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

    processor = SmolVLMImageProcessorPil.from_pretrained(folder)
    pictures = [[Pillow.open(BytesIO(image.data)) for image in images]]
    return processor(pictures, return_tensors="pt", return_row_col_info=True)


@pytest.mark.parametrize("splits", [True, False])
@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
def test_pixels(tmp_path: Path, size: tuple[int, int], splits: bool):
    folder = write_tiny_smolvlm(tmp_path / "model", splits=splits)
    image = picture(*size)
    ours = ImagePreparer(config_of(folder)).prepare(image)
    theirs = prepared(folder, [image])
    rows, columns = theirs["rows"][0][0], theirs["cols"][0][0]
    assert (ours.rows, ours.columns) == (rows or 1, columns or 1)
    normed = (ours.pixels.unflatten(0, (-1, 28)) / 255 - 0.5) / 0.5
    torch.testing.assert_close(normed.permute(0, 3, 1, 2), theirs["pixel_values"][0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (3, 2)])
def test_prompts_have_what_transformers_puts_there(tmp_path: Path, rows: int, columns: int):
    from transformers.models.smolvlm.processing_smolvlm import get_image_prompt_string

    config = config_of(write_tiny_smolvlm(tmp_path / "model"))
    theirs = (0, 0) if (rows, columns) == (1, 1) else (rows, columns)
    tokens = "<fake_token_around_image>", "<image>", "<global-img>"
    assert config.written(rows, columns, "<image>") == get_image_prompt_string(*theirs, 4, *tokens)


@pytest.mark.parametrize("kind", ["smolvlm", "idefics3"])
def test_answers(tmp_path: Path, load: Any, kind: Any):
    from transformers import AutoModelForImageTextToText

    folder = write_tiny_smolvlm(tmp_path / "model", kind)
    engine: Engine = load(folder=folder)
    assert engine.info.reads_images
    messages = [
        Message("user", "Compare these.", images=[picture(100, 60, 1), picture(30, 200, 2, "JPEG")]),
        Message("assistant", "No."),
        Message("user", "And this?", images=[Image(picture(14, 15, 3, "WEBP").data, 3)]),
    ]
    request = GenerateRequest(messages=messages, max_tokens=20, sampling=SamplingParams(temperature=0))
    ours = engine.generate(request)
    state = engine.submit(request).answer_state
    ids, images = list(state.prompt_token_ids), list(state.images)
    text = "".join(map(engine.tokenizer.token_text, ids))
    assert text.startswith("<|im_start|>User:<fake_token_around_image><row_1_col_1><image><image><image><image><fake")
    assert (
        "<fake_token_around_image>Compare these.<end_of_utterance>\nAssistant: No.<end_of_utterance>\nUser: And" in text
    )

    theirs = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    made = prepared(folder, images)
    inputs = {name: made[name] for name in ("pixel_values", "pixel_attention_mask")} | {
        "input_ids": torch.tensor([ids])
    }
    with torch.no_grad():
        want = theirs(**inputs).logits[0]
        written = theirs.generate(**inputs, max_new_tokens=20, do_sample=False)[0, len(ids) :].tolist()
    torch.testing.assert_close(engine.logits(ids, images), want, rtol=0, atol=2e-4)
    assert list(ours.token_ids) == written


def test_fewer_squares_on_cpus(tmp_path: Path):
    config = config_of(write_tiny_smolvlm(tmp_path / "model"))
    assert config.layout(500, 1000, None)[:2] == (2, 4)
    assert config.layout(500, 1000, 70 * 70)[:2] == (1, 2)
    assert config.layout(500, 1000, 20 * 20)[:2] == (1, 1)


def test_what_cannot_be_is_refused(tmp_path: Path):
    folder = write_tiny_smolvlm(tmp_path / "model")
    file = folder / "preprocessor_config.json"
    plain = file.read_text(encoding="utf-8")
    file.write_text(plain.replace('"max_image_size": {"longest_edge": 28}', '"max_image_size": {"longest_edge": 56}'))
    with pytest.raises(UnsupportedModelError, match=r"squares of 56 pixels are not those of the network, 28\."):
        read_vision(folder, load_config(folder))
    file.write_text(plain.replace('"size": {"longest_edge": 112}', '"size": {"longest_edge": 5000}'))
    with pytest.raises(BrokenModelError, match="images of 5000 pixels in squares of 28 are too large"):
        read_vision(folder, load_config(folder))


def test_a_template_that_only_the_processor_has(tmp_path: Path, load: Any):
    """As in models of before 2026; it shows lists of parts only, so texts come as such."""
    folder = write_tiny_smolvlm(tmp_path / "model")
    file = folder / "tokenizer_config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    template = {"chat_template": values.pop("chat_template")}
    file.write_text(json.dumps(values), encoding="utf-8")
    (folder / "chat_template.json").write_text(json.dumps(template), encoding="utf-8")
    engine: Engine = load(folder=folder)
    assert engine.info.reads_images
    asked = [Message("system", "Be brief."), Message("user", "Who?")]
    ids = engine.submit(GenerateRequest(messages=asked, max_tokens=1)).answer_state.prompt_token_ids
    text = "".join(map(engine.tokenizer.token_text, ids))
    assert text == ("<|im_start|>System: Be brief.<end_of_utterance>\nUser: Who?<end_of_utterance>\nAssistant:")
