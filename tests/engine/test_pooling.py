"""Texts as vectors; compared with transformers and with themselves."""

import json
import threading
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import EmbedRequest, Engine, GenerateRequest
from llama_gui.engine.pooling import vector_of
from llama_gui.errors import (
    BrokenModelError,
    EngineClosedError,
    GenerationError,
    InvalidRequestError,
    PromptTooLongError,
    UnsupportedModelError,
)
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_embedder import END, write_modules, write_tiny_embedder
from tests.fakes.tiny_llama import write_tiny_llama

TEXTS = ["What is a whale?", "A whale is a mammal that lives in the sea.", "Bread is baked.", "a"]
LONG = "The sea is deep and blue, and whales swim in it. " * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_embedder(tmp_path_factory.mktemp("models") / "embedder")


def _reference(folder: Path, texts: list[str]) -> torch.Tensor:
    """By transformers: the last token of the inner network."""
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(folder, dtype=torch.float32), AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        rows = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, -1] for text in texts]
    return F.normalize(torch.stack(rows), dim=1)


@pytest.mark.parametrize("shape", ["qwen3", "llama-3.2"])
@pytest.mark.parametrize("is_headless", [True, False])
def test_vectors_are_those_of_transformers(load, tmp_path: Path, shape, is_headless: bool):
    folder = write_tiny_embedder(tmp_path / "model", shape, is_headless=is_headless)
    engine = load(folder=folder, dtype="float32")
    vectors = engine.embed([*TEXTS, LONG])
    assert vectors.shape == (5, engine.info.dimensions)
    assert torch.allclose(vectors, _reference(folder, [*TEXTS, LONG]), atol=1e-5)
    assert engine.info.embeds


def test_a_folder_may_name_the_inner_network(load, tmp_path: Path, folder: Path):
    inner = write_tiny_embedder(tmp_path / "model")
    config = (inner / "config.json").read_text()
    (inner / "config.json").write_text(config.replace("Qwen3ForCausalLM", "Qwen3Model"))
    assert "Qwen3Model" in (inner / "config.json").read_text()
    assert torch.equal(load(folder=inner).embed(TEXTS), load(folder=folder).embed(TEXTS))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_a_text_has_the_same_bits_alone_and_beside_others(load, folder: Path, dtype: str):
    engine = load(folder=folder, dtype=dtype, max_batch=3)
    together = engine.embed([LONG, *TEXTS, LONG, LONG + "So."])
    alone = torch.cat([engine.embed([text]) for text in [LONG, *TEXTS, LONG, LONG + "So."]])
    assert torch.equal(together, alone)


def test_a_gguf_file_gives_the_same_vectors(load, tmp_path: Path, folder: Path):
    whole = write_tiny_embedder(tmp_path / "model", is_headless=False)
    fields = {"qwen3.pooling_type": 3, "tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.add_eos_token": True}
    file = write_gguf(whole, tmp_path / "model.gguf", fields=fields)
    engine = load(folder=file, dtype="float32")
    assert engine.info.embeds
    assert torch.allclose(engine.embed(TEXTS), load(folder=folder, dtype="float32").embed(TEXTS), atol=1e-5)


def test_the_first_numbers_alone_have_length_one_again(load, folder: Path):
    engine = load(folder=folder)
    whole = engine.embed(TEXTS)
    some = engine.embed([EmbedRequest(text, dimensions=8) for text in TEXTS])
    assert torch.allclose(some, F.normalize(whole[:, :8], dim=1), atol=1e-6)
    assert torch.allclose(some.norm(dim=1), torch.ones(4))


def test_token_ids_are_read_as_they_are(load, folder: Path):
    engine = load(folder=folder)
    ids = engine.tokenizer.encode(TEXTS[0], add_special_tokens=True)
    assert ids[-1] in engine.tokenizer.special_ids
    assert torch.equal(engine.embed([EmbedRequest(token_ids=ids)]), engine.embed(TEXTS[:1]))
    assert not torch.equal(engine.embed([EmbedRequest(token_ids=ids[:-1])]), engine.embed(TEXTS[:1]))


def test_a_text_that_is_too_long_is_refused_or_cut_before_its_end(load, folder: Path):
    engine = load(folder=folder, max_context=64)
    with pytest.raises(PromptTooLongError, match="63"):
        engine.embed([LONG])
    ids = engine.tokenizer.encode(LONG, add_special_tokens=True)
    cut = engine.embed([EmbedRequest(LONG, truncate=True)])
    assert torch.equal(cut, engine.embed([EmbedRequest(token_ids=[*ids[:62], ids[-1]])]))


def test_the_result_says_how_long_the_text_was(load, folder: Path):
    engine = load(folder=folder)
    result = engine.submit(EmbedRequest(TEXTS[0])).result()
    assert result.finish_reason == "stop"
    assert result.usage.prompt_tokens == len(engine.tokenizer.encode(TEXTS[0], add_special_tokens=True))
    assert result.usage.completion_tokens == 0
    assert result.text == ""
    assert len(result.embedding) == engine.info.dimensions


def test_memory_is_given_back(load, folder: Path):
    engine = load(folder=folder)
    engine.embed([LONG, *TEXTS])
    assert engine.stats().kv_bytes == 0


def test_a_model_for_vectors_writes_nothing(load, folder: Path, tiny_folder):
    engine = load(folder=folder)
    with pytest.raises(InvalidRequestError, match="turns texts into vectors"):
        engine.submit(GenerateRequest("Hello"))
    with pytest.raises(InvalidRequestError, match="for embeddings"):
        load("llama-3.2").embed(["Hello"])


@pytest.mark.parametrize(
    "requests",
    [
        *("text", 5, [5], [None], [GenerateRequest("a")], [""]),
        *([EmbedRequest("a", dimensions=1000)], ["a", EmbedRequest("b", dimensions=2)]),
    ],
)
def test_what_is_no_list_of_texts_is_refused(load, folder: Path, requests):
    engine = load(folder=folder)
    if requests == [""]:  # the token behind it is something
        assert engine.embed(requests).shape == (1, engine.info.dimensions)
        return
    with pytest.raises(InvalidRequestError):
        engine.embed(requests)


def test_no_texts_are_no_vectors(load, folder: Path):
    engine = load(folder=folder)
    assert engine.embed([]).shape == (0, engine.info.dimensions)


def test_many_texts_are_asked_for_in_portions(load, folder: Path, monkeypatch: pytest.MonkeyPatch):
    engine = load(folder=folder)
    whole = engine.embed(TEXTS)
    monkeypatch.setattr("llama_gui.engine.engine._PORTION", 3)
    assert torch.equal(engine.embed(TEXTS), whole)


def test_there_are_no_logits(load, folder: Path):
    with pytest.raises(InvalidRequestError, match="turns texts into vectors"):
        load(folder=folder).logits([1, 2])


def test_a_model_that_is_closed_in_the_middle_gives_no_vectors(load, folder: Path, monkeypatch: pytest.MonkeyPatch):
    engine = load(folder=folder)
    submit = engine.submit

    def submit_and_close(request):
        job = submit(request)
        engine.stop()
        return job

    monkeypatch.setattr(engine, "submit", submit_and_close)
    with pytest.raises(EngineClosedError):
        engine.embed([LONG * 4])


def test_attention_in_both_directions_is_refused(tmp_path: Path):
    folder = write_tiny_embedder(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"is_causal": False}))
    with pytest.raises(UnsupportedModelError, match="is_causal"):
        Engine.load(folder)


def test_a_job_is_cancelled(load, folder: Path):
    engine = load(folder=folder)
    held, ready = threading.Event(), threading.Event()

    def hold() -> None:
        ready.set()
        held.wait(30)

    thread = threading.Thread(target=engine._loop.call, args=(hold,))
    thread.start()
    ready.wait(30)
    job = engine.submit(EmbedRequest(LONG))
    job.cancel()
    held.set()
    thread.join()
    assert job.result().finish_reason == "cancelled"
    assert job.result().embedding == ()
    engine.close()
    with pytest.raises(EngineClosedError):
        engine.embed(TEXTS)


@pytest.mark.parametrize("says", [None, True, False])
def test_a_gguf_file_that_does_not_say_how_texts_end_ends_them(load, tmp_path: Path, says: bool | None):
    folder = write_tiny_embedder(tmp_path / "model", is_headless=False)
    fields = {"qwen3.pooling_type": 3, "tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.add_eos_token": says}
    engine = load(folder=write_gguf(folder, tmp_path / "model.gguf", fields=fields))
    ids = engine.tokenizer.encode(TEXTS[0], add_special_tokens=True)
    assert (ids[-1] == engine.tokenizer.id_of(END)) is (says is not False)


@pytest.mark.parametrize("mode", ["mean_tokens", "cls_token", "weightedmean_tokens"])
def test_other_poolings_are_refused(tmp_path: Path, mode: str):
    folder = write_tiny_embedder(tmp_path / "model")
    write_modules(folder, mode)
    with pytest.raises(UnsupportedModelError, match=mode):
        Engine.load(folder)


def test_further_layers_are_refused_and_a_norm_is_not(tmp_path: Path):
    folder = write_tiny_embedder(tmp_path / "model")
    write_modules(folder, "lasttoken", "Normalize")
    Engine.load(folder).close()
    write_modules(folder, "lasttoken", "Dense")
    with pytest.raises(UnsupportedModelError, match="Dense"):
        Engine.load(folder)


@pytest.mark.parametrize("kind", [1, 2, 4, 9, "last"])
def test_other_poolings_of_gguf_files_are_refused(tmp_path: Path, kind):
    folder = write_tiny_llama(tmp_path / "model", "qwen3")
    file = write_gguf(folder, tmp_path / "model.gguf", fields={"qwen3.pooling_type": kind})
    with pytest.raises(UnsupportedModelError, match="pooling"):
        Engine.load(file)


def test_a_gguf_file_without_pooling_writes_texts(load, tmp_path: Path):
    folder = write_tiny_llama(tmp_path / "model", "qwen3")
    engine = load(folder=write_gguf(folder, tmp_path / "model.gguf", fields={"qwen3.pooling_type": 0}))
    assert not engine.info.embeds
    assert engine.generate(GenerateRequest("Hello", max_tokens=2)).token_ids


@pytest.mark.parametrize("broken", ["{}", "[5]", "nonsense"])
def test_damaged_modules_are_named(tmp_path: Path, broken: str):
    folder = write_tiny_embedder(tmp_path / "model")
    (folder / "modules.json").write_text(broken)
    with pytest.raises(BrokenModelError, match=r"modules\.json"):
        Engine.load(folder)


def test_a_missing_pooling_is_named(tmp_path: Path):
    folder = write_tiny_embedder(tmp_path / "model")
    (folder / "1_Pooling" / "config.json").unlink()
    with pytest.raises(Exception, match="1_Pooling"):
        Engine.load(folder)


def test_numbers_that_are_not_finite_are_an_error():
    with pytest.raises(GenerationError, match="not finite"):
        vector_of(torch.tensor([1.0, float("nan")]), None)


def test_a_folder_for_texts_may_have_modules_without_pooling(load, tmp_path: Path):
    folder = write_tiny_llama(tmp_path / "model", "qwen3")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    assert not load(folder=folder).info.embeds
