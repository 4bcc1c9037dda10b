"""What a model would take is what it takes once it is loaded so."""

import pytest
import torch

from llama_gui.engine import device, load_plan, native_library
from llama_gui.engine.load_plan import plan_load
from llama_gui.errors import InvalidRequestError, ModelNotFoundError
from tests.fakes.gguf_files import write_gguf


@pytest.mark.parametrize("dtype", ["auto", "float32", "bfloat16", "int8", "int4"])
@pytest.mark.parametrize("shape", ["llama-3.1", "tinyllama", "qwen3-moe"])
def test_the_plan_comes_true(tiny_folder, load, shape, dtype):
    plan = plan_load(tiny_folder(shape), dtype, "cpu")
    engine = load(shape, dtype=dtype, threads=None)
    stats = engine.stats()
    assert (plan.dtype, plan.device, plan.reason) == (engine.info.dtype, engine.info.device, engine.info.reason)
    assert (plan.threads, plan.trained_context) == (stats.threads, engine.info.max_context)
    assert plan.weight_bytes == pytest.approx(stats.weight_bytes, rel=0.25)  # rounded rows are short here
    assert plan.token_bytes * 512 == engine._cache.bytes_for(1)


def test_the_plan_counts_keys_and_values_in_int8(tiny_folder, load):
    if native_library.load() is None:
        pytest.skip("there are no kernels here")
    plan = plan_load(tiny_folder(), "float32", "cpu", cache_dtype="int8")
    assert plan.token_bytes * 512 == load(dtype="float32", cache_dtype="int8")._cache.bytes_for(1)
    assert plan.token_bytes < plan_load(tiny_folder(), "float32", "cpu").token_bytes / 3
    with pytest.raises(InvalidRequestError, match="cache_dtype"):
        plan_load(tiny_folder(), cache_dtype="int3")


def test_the_plan_of_a_gguf_file_comes_true(tiny_folder, load, tmp_path):
    file = write_gguf(tiny_folder("llama-3.1"), tmp_path / "tiny.gguf", "Q8_0")
    plan, engine = plan_load(file), load(folder=file, dtype="auto", device="auto")
    assert (plan.dtype, plan.trained_context) == (engine.info.dtype, engine.info.max_context)
    assert plan.token_bytes * 512 == engine._cache.bytes_for(1)


def test_how_long_a_chat_can_be(tiny_folder, monkeypatch):
    monkeypatch.setattr(device, "_free_bytes", lambda _device: 10 * 2**30)
    folder = tiny_folder("llama-3.1")
    plan = plan_load(folder, "float32", "cpu")
    assert plan.chat_bytes == (10 * 2**30 - plan.weight_bytes) // 2
    assert plan_load(folder, "float32", "cpu", freed=2**30).chat_bytes == plan.chat_bytes + 2**29
    assert plan.tokens_that_fit == plan.trained_context
    monkeypatch.setattr(device, "_free_bytes", lambda _device: 0)
    monkeypatch.setattr(device, "MIN_KV_BYTES", 10 * plan.token_bytes)
    assert plan_load(folder, "float32", "cpu").tokens_that_fit == 10


def test_what_cannot_be_loaded_has_no_plan(tiny_folder, tmp_path):
    with pytest.raises(ModelNotFoundError):
        plan_load(tmp_path / "nothing")
    with pytest.raises(InvalidRequestError, match="dtype"):
        plan_load(tiny_folder("llama-3.1"), "int3")


@pytest.fixture
def card(monkeypatch):
    """Plays a card with so many bytes; nothing can be loaded there."""

    def card(size):
        found = load_plan.resolve_device
        monkeypatch.setattr(
            load_plan, "resolve_device", lambda name: torch.device("cuda") if name in ("auto", "cuda") else found(name)
        )
        monkeypatch.setattr(load_plan, "card_bytes", lambda device: size)
        monkeypatch.setattr(load_plan, "available_bytes", lambda device: size)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: True)

    return card


REASON = "This model does not fit into the memory of the graphics card, so the processor runs it."


def test_a_model_that_is_too_large_for_the_card_runs_on_the_processor(tiny_folder, load, card):
    weights = plan_load(tiny_folder(), device="cpu", dtype="float32").weight_bytes
    card(weights // 2)
    plan = plan_load(tiny_folder())
    assert (plan.device, plan.reason) == ("cpu", REASON)
    assert plan_load(tiny_folder(), device="cuda").device == "cuda"  # who chooses the card is told that it is too small
    engine = load(device="auto", dtype="auto")
    assert (engine.info.device, engine.info.reason) == ("cpu", REASON)


def test_a_model_that_fits_runs_on_the_card(tiny_folder, card):
    card(2**30)
    plan = plan_load(tiny_folder())
    assert plan.device == "cuda"
    assert plan.reason != REASON


def test_what_a_card_does_not_multiply_runs_on_the_processor(tiny_folder, card, monkeypatch):
    card(2**30)
    monkeypatch.setattr(device, "has_card_kernels", lambda device: False)
    plan = plan_load(tiny_folder(), "int4")
    assert (plan.device, plan.reason) == ("cpu", "You chose int4.")
