"""What a model would take is what it takes once it is loaded so."""

import pytest

from llama_gui.engine import device, native_library
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
