"""The measurements: what is counted, and that the presets are the networks they are called after."""

from pathlib import Path

import pytest
import torch

from llama_gui.engine import Engine, load_plan, native_library
from llama_gui.engine.bench import measure, random_prompt
from llama_gui.engine.presets import PRESETS, RandomModel, preset_config
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.errors import InvalidRequestError

STARTER = Path(__file__).parents[2] / "resources" / "starter_model"

TINY = {
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 5000,
    "max_position_embeddings": 256,
}


@pytest.fixture
def engine():
    with Engine.load(RandomModel("tiny", TINY, STARTER), dtype="float32", max_batch=3) as engine:
        yield engine


def test_each_number_of_chats_gives_a_row(engine):
    rows = list(measure(engine, [1, 3], prompt_tokens=40, new_tokens=5))
    assert [(row.work, row.chats, row.prompt_tokens, row.new_tokens) for row in rows] == [
        ("prefill", 1, 40, 1),
        ("decode", 1, 40, 5),
        ("decode", 3, 40, 5),
    ]
    assert all(row.tokens_per_second > 0 and row.step_ms > 0 for row in rows)
    assert all(row.dtype == "float32" and row.device == "cpu" and row.peak_rss_bytes > 2**20 for row in rows)


def test_the_time_of_a_prefill_is_that_of_its_step(engine):
    (prefill, _) = measure(engine, [1], prompt_tokens=40, new_tokens=2)
    assert prefill.tokens_per_second == pytest.approx(40 / (prefill.step_ms / 1e3), rel=0.01)


def test_a_prompt_that_does_not_fit_is_an_error(engine):
    for prompt, new, name in ((300, 2, "prompt_tokens"), (250, 10, "prompt_tokens"), (1, 256, "new_tokens")):
        with pytest.raises(InvalidRequestError, match=name):  # before the first measurement is asked for
            measure(engine, [1], prompt, new)


@pytest.mark.parametrize(("prompt", "new"), [(0, 2), (5, 1)])
def test_too_few_tokens_are_an_error(engine, prompt, new):
    with pytest.raises(InvalidRequestError):
        list(measure(engine, [1], prompt, new))


def test_no_answer_ends_early():
    every_token_ends = {**TINY, "eos_token_id": list(range(TINY["vocab_size"]))}
    with Engine.load(RandomModel("tiny", every_token_ends, STARTER), dtype="float32", max_batch=3) as engine:
        assert len(engine.eos_token_ids) == engine.vocab_size
        assert [row.new_tokens for row in measure(engine, [1, 3], prompt_tokens=40, new_tokens=5)] == [1, 5, 5]


def test_prompts_differ_and_share_no_beginning(engine):
    assert random_prompt(engine, 50, 1)[:4] != random_prompt(engine, 50, 2)[:4]


def test_random_weights_are_the_same_each_time():
    model = RandomModel("tiny", TINY, STARTER)
    name, cpu = "model.layers.0.mlp.down_proj.weight", torch.device("cpu")
    first, second = (model.weights().weight(name, torch.float32, cpu) for _ in range(2))
    assert torch.equal(first, second)
    assert first.std() == pytest.approx(0.02, rel=0.1)
    assert bool((model.weights().weight("model.norm.weight", torch.float32, cpu) == 1).all())


@pytest.mark.parametrize(
    ("name", "millions"),
    list(
        zip(
            PRESETS,
            (
                1235.8,
                494.0,
                1100.0,
                8030.3,
                268.1,
                999.9,
                11907.4,
                752.4,
                4205.8,
                1170.3,
                1461.5,
                6939.0,
                1334.6,
                30532.1,
                20914.8,
            ),
            strict=True,
        )
    ),
)
def test_presets_have_the_parameters_of_their_models(name, millions):
    shapes = weight_shapes(RandomModel(name, preset_config(name), STARTER).config)
    count = sum(torch.Size(shape).numel() for shape in shapes.values())
    assert count / 1e6 == pytest.approx(millions, abs=0.1)


def test_random_experts_lie_in_memory_as_those_of_the_real_model(monkeypatch):
    monkeypatch.setattr(load_plan, "is_faster_written_out", lambda kernels: False)
    small = {"num_hidden_layers": 2, "hidden_size": 192, "intermediate_size": 320, "num_attention_heads": 8}
    model = RandomModel("small", {**preset_config("gpt-oss-20b"), **small, "vocab_size": 5000}, STARTER)
    with Engine.load(model, device="cpu") as engine:
        if native_library.load() is not None:
            assert engine.info.dtype == "int4"
        logits = engine.logits([5, 6, 7])
    assert logits.isfinite().all()
    assert logits.std() > 0.01
