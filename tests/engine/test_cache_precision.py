"""Keys and values in int8: where they can be had, what says so, and what counts them."""

import pytest
import torch

from llama_gui.engine import Engine, GenerateRequest, SamplingParams, model_files, native_library
from llama_gui.engine.cache_precision import resolve_cache_dtype
from llama_gui.engine.device import Precision, only_torch_has_tiles
from llama_gui.engine.kv_cache import KEY_BLOCK
from llama_gui.errors import InvalidRequestError, UnsupportedModelError
from tests.fakes.tiny_llama import write_tiny_llama

CPU, CARD = torch.device("cpu"), torch.device("cuda")
OURS = Precision(torch.float32, held=torch.bfloat16)


@pytest.fixture
def dtype() -> str:
    """In which our own kernels attend here."""
    if native_library.load() is None:
        pytest.skip("there are no kernels here")
    return "float32" if only_torch_has_tiles() else "bfloat16"


def test_what_auto_is(dtype: str):
    kernels = native_library.load()
    assert resolve_cache_dtype("auto", OURS, 64, CPU, kernels) == torch.bfloat16
    assert resolve_cache_dtype("auto", OURS, 520, CPU, kernels) == torch.float32
    assert resolve_cache_dtype("auto", OURS, 64, CPU, None) == torch.float32
    assert resolve_cache_dtype("auto", Precision(torch.float16), 64, CARD, None) == torch.float16
    assert resolve_cache_dtype("int8", OURS, 64, CPU, kernels) == torch.int8


@pytest.mark.parametrize(
    ("precision", "head_dim", "device", "compiled", "named"),
    [
        (OURS, 64, CPU, False, "need our own kernels, which are not compiled here"),
        (Precision(torch.float16), 64, CARD, True, "run on the CPU only"),
        (Precision(torch.bfloat16), 64, CPU, True, "this CPU uses torch's for dtype bfloat16"),
        (OURS, 520, CPU, True, "those of this model have 520"),
    ],
)
def test_where_there_are_none_it_is_said_why_and_what_to_choose(
    dtype: str, precision: Precision, head_dim: int, device: torch.device, compiled: bool, named: str
):
    kernels = native_library.load() if compiled else None
    with pytest.raises(UnsupportedModelError, match=f"{named}.* [Uu]se auto") as refusal:
        resolve_cache_dtype("int8", precision, head_dim, device, kernels)
    assert "cache_dtype" in str(refusal.value)


@pytest.mark.parametrize("wrong", ["int4", "", None, 8])
def test_what_is_no_such_dtype(tiny_folder, wrong: object):
    with pytest.raises(InvalidRequestError, match=r"cache_dtype .* one of auto, int8"):
        Engine.load(tiny_folder(), cache_dtype=wrong)  # pyright: ignore[reportArgumentType]


def test_it_is_refused_before_the_weights_are_read(tiny_folder, monkeypatch):
    monkeypatch.setattr(native_library, "load", lambda: None)
    monkeypatch.setattr(model_files.FolderModel, "weights", lambda *_: pytest.fail("they were read"))
    with pytest.raises(UnsupportedModelError, match="not compiled here"):
        Engine.load(tiny_folder(), device="cpu", cache_dtype="int8")


def test_the_engine_counts_half_the_bytes(load, dtype: str):
    asked = GenerateRequest(token_ids=[5] * 40, max_tokens=2, cache_key="a")
    sizes: dict[str, int] = {}
    for cache_dtype in ("auto", "int8"):
        engine = load(dtype=dtype, cache_dtype=cache_dtype)
        engine.generate(asked)
        config = engine._runner._network.config
        heads = 2 * config.num_hidden_layers * config.num_key_value_heads * KEY_BLOCK
        sizes[cache_dtype] = engine.stats().kv_bytes // heads
        assert engine.info.cache_dtype == ("int8" if cache_dtype == "int8" else dtype)
    width = config.head_dim * (4 if dtype == "float32" else 2)
    assert sizes == {"auto": width, "int8": config.head_dim + 4}


@pytest.mark.parametrize("draft", ["ngram", "folder"])
def test_guesses_change_nothing(load, tiny_folder, dtype: str, draft: str):
    sampling = SamplingParams(temperature=0)
    asked = GenerateRequest(token_ids=[5, 6, 7, 8] * 30, max_tokens=40, sampling=sampling, logprobs=2)
    plain = load(dtype=dtype, cache_dtype="int8")
    guessing = load(dtype=dtype, cache_dtype="int8", draft=tiny_folder() if draft == "folder" else draft)
    want, got = ([(o.token_id, o.logprob) for o in engine.submit(asked)] for engine in (plain, guessing))
    assert got == want


@pytest.mark.parametrize(("head_dim", "kept"), [(16, "int8"), (20, "as it is")])
def test_a_draft_keeps_what_it_has_read_as_its_model_does(load, tmp_path, dtype: str, head_dim: int, kept: str):
    draft = write_tiny_llama(tmp_path / "draft", head_dim=head_dim)
    for cache_dtype in ("int8", "auto"):
        engine = load(dtype=dtype, cache_dtype=cache_dtype, draft=draft)
        own = engine._loop._speculator.proposer._network.cache_dtype
        assert (own == torch.int8) == (cache_dtype == "int8" and kept == "int8")
        engine.generate(GenerateRequest(token_ids=[5] * 40, max_tokens=2))


def test_answers_stay_close_to_those_of_wider_keys_and_values(load, dtype: str):
    ids = torch.randint(0, 250, (200,), generator=torch.Generator().manual_seed(3)).tolist()
    wide, small = (
        load(dtype=dtype, cache_dtype=cache_dtype).logits(ids).log_softmax(-1) for cache_dtype in ("auto", "int8")
    )
    assert not torch.equal(wide, small)
    assert (wide.exp() * (wide - small)).sum(-1).mean() < 1e-3


def test_a_head_that_our_kernels_do_not_take(tmp_path, dtype: str):
    folder = write_tiny_llama(tmp_path / "model", head_dim=20)
    with pytest.raises(UnsupportedModelError, match="those of this model have 20"):
        Engine.load(folder, dtype=dtype, device="cpu", cache_dtype="int8")
