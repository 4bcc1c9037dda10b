"""Gemma 4's assistants guess what transformers' do, and change nothing but the speed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.engine.assistant import Assistant
from llama_gui.engine.assistant_files import assistant_beside
from llama_gui.engine.config import load_config
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.model_files import GUESSING_FILE, open_model
from llama_gui.engine.network_guesses import NetworkGuesses
from llama_gui.engine.prompt_lookup import Price, PromptLookup
from llama_gui.engine.speculation import load_draft
from llama_gui.errors import BrokenModelError, GenerationError, UnsupportedModelError
from llama_gui.library.plan import is_companion
from tests.engine.answers import bits
from tests.engine.guessing import PROMPTS, TOLD, asked
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_assistant import write_tiny_assistant
from tests.fakes.tiny_gemma4 import write_tiny_seeing_gemma4
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_pixtral import picture


@pytest.mark.parametrize(
    ("kind", "length", "is_native"),
    [("gemma4", 70, True), ("gemma4-31b", 36, True), ("gemma4", 36, False), ("gemma4-31b", 70, False)],
)
@pytest.mark.sampled(2)
def test_as_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, length: int, is_native: bool):
    """Behind one that it is given, three guesses in a row, each from what it made of the one before.

    In layers with a window transformers lets it see a token more than the model itself sees.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, Gemma4AssistantForCausalLM

    if not is_native:
        monkeypatch.setattr("llama_gui.engine.native_library.load", lambda: None)
    target = write_tiny_llama(tmp_path / "target", kind)
    folder = write_tiny_assistant(tmp_path / "assistant", target)
    config = AutoConfig.from_pretrained(folder)
    config.text_config.sliding_window -= 1
    theirs = Gemma4AssistantForCausalLM.from_pretrained(folder, config=config, dtype=torch.float32).eval()
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32).eval()
    ids = torch.randint(20, 300, (1, length), generator=torch.Generator().manual_seed(length))

    loaded = load_model(target, dtype="float32", device="cpu", threads=1)
    proposer = load_draft(open_model(folder), loaded, **TOLD).proposer
    assert isinstance(proposer, NetworkGuesses)
    assert isinstance(proposer._guesser, Assistant)
    slot = loaded.network.new_cache(2**24, 200).blank(200)
    with torch.inference_mode():
        out = model(ids, return_shared_kv_states=True, output_hidden_states=True)
        their_row, token = out.hidden_states[-1][:, -1:], torch.tensor([[33]])
        row = loaded.network.hidden([Segment(slot, ids[0].tolist(), 1, is_prompt=True)])
        slot.extend(ids[0].tolist())
        for _ in range(3):
            embedded = model.get_input_embeddings()(token)
            made = theirs(
                inputs_embeds=torch.cat([embedded, their_row], -1),
                position_ids=torch.tensor([[length]]),
                shared_kv_states=out.shared_kv_states,
                use_cache=False,
            )
            logits, row = proposer._guesser.guess(int(token), row, slot)
            torch.testing.assert_close(logits, made.logits[0, 0], atol=1e-3, rtol=1e-3)
            their_row, token = made.last_hidden_state, made.logits.argmax(-1)


@pytest.mark.usefixtures("cheap_rows")
@pytest.mark.parametrize(
    ("kind", "dtype", "temperature", "kept"),
    [
        ("gemma4", "float32", 0.0, "auto"),
        ("gemma4", "int8", 0.9, "int8"),
        ("gemma4-31b", "bfloat16", 0.9, "auto"),
        ("gemma4-26b", "int4", 0.0, "int8"),
    ],
)
@pytest.mark.sampled(2)
def test_the_answer_has_the_same_bits(
    tmp_path: Path, load: Any, guesses: list[int], kind: Any, dtype: str, temperature: float, kept: str
):
    target = write_tiny_llama(tmp_path / "target", kind)
    folder = write_tiny_assistant(tmp_path / "assistant", target, is_ordered=True)
    wanted = [asked(prompt, temperature=temperature, seed=n) for n, prompt in enumerate(PROMPTS)]
    plain = load(folder=target, dtype=dtype, cache_dtype=kept)
    want = [bits(plain.submit(one)) for one in wanted]
    engine = load(folder=target, dtype=dtype, cache_dtype=kept, draft=folder)
    assert [bits(engine.submit(one)) for one in wanted] == want
    assert sum(guesses) > 5
    jobs = [engine.submit(one) for one in wanted]  # all at once
    assert [bits(job) for job in jobs] == want
    # Wrong guesses leave nothing behind that the next turn could read.
    longer = asked([*PROMPTS[0], *(token for token, *_ in want[0]), 5, 6], temperature=temperature)
    assert bits(engine.submit(longer)) == bits(plain.submit(longer))


def _of_last_token(tmp_path: Path) -> tuple[Path, Path]:
    """A model whose next token depends on the last one alone, and an assistant that knows how."""
    target = write_tiny_llama(tmp_path / "target", "gemma4-31b")
    folder = write_tiny_assistant(tmp_path / "assistant", target, hidden_size=64)
    weights = load_file(target / "model.safetensors")
    for name in weights:
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weights[name].zero_()
    # So that it runs through many tokens: each is written as the row behind its own says.
    scale = load_config(target).embedding_scale
    table = weights["model.embed_tokens.weight"]
    table[:] = torch.randn(table.shape, generator=torch.Generator().manual_seed(1))
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    guessing = load_file(folder / "model.safetensors")
    for name in guessing:
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            guessing[name].zero_()
    guessing["model.embed_tokens.weight"] = table.clone()
    guessing["model.norm.weight"] = weights["model.norm.weight"].clone()
    guessing["pre_projection.weight"] = torch.cat((torch.eye(64), torch.zeros(64, 64)), 1) / scale
    save_file(guessing, folder / "model.safetensors", metadata={"format": "pt"})
    return target, folder


@pytest.mark.usefixtures("cheap_rows")
def test_right_guesses_save_steps(tmp_path: Path, load: Any, guesses: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PromptLookup, "propose", lambda *_: [])
    target, folder = _of_last_token(tmp_path)
    rows: list[int] = []
    hidden = Llama.hidden

    def counting(self: Llama, segments: Any, *rest: Any) -> torch.Tensor:
        rows.append(sum(len(segment.token_ids) for segment in segments))
        return hidden(self, segments, *rest)

    monkeypatch.setattr(Llama, "hidden", counting)
    want = bits(load(folder=target, dtype="float32").submit(asked(PROMPTS[0], max_tokens=60)))
    rows.clear()
    engine = load(folder=target, dtype="float32", draft=folder)
    assert bits(engine.submit(asked(PROMPTS[0], max_tokens=60))) == want
    assert len([count for count in rows if count < 20]) < 30
    assert max(guesses) > 2


def test_guesses_that_are_never_right_stop(tmp_path: Path, load: Any, guesses: list[int], monkeypatch: Any):
    monkeypatch.setattr(PromptLookup, "propose", lambda *_: [])
    monkeypatch.setattr(NetworkGuesses, "_count", _count_at(0.2))
    target = write_tiny_llama(tmp_path / "target", "gemma4-31b")
    folder = write_tiny_assistant(tmp_path / "assistant", target)
    monkeypatch.setattr("llama_gui.engine.sequence.Sequence.guess", lambda *_: 1)
    load(folder=target, dtype="float32", draft=folder).generate(asked(PROMPTS[0], max_tokens=120))
    assert 5 < len(guesses) < 40


def _count_at(row: float) -> Any:
    of_answer = NetworkGuesses._count

    def count(self: NetworkGuesses, answer: Any, most: int, price: Price) -> int:
        return of_answer(self, answer, most, Price(price.answers, row))

    return count


@pytest.mark.usefixtures("cheap_rows")
def test_beside_images(tmp_path: Path, load: Any, guesses: list[int]):
    target = write_tiny_seeing_gemma4(tmp_path / "target")
    folder = write_tiny_assistant(tmp_path / "assistant", target)
    question = GenerateRequest(
        messages=[Message("user", "What is this?", images=(picture(100, 60, 1),))],
        max_tokens=20,
        sampling=SamplingParams(temperature=0.0, seed=1),
    )
    want = load(folder=target, dtype="bfloat16").generate(question).token_ids
    assert load(folder=target, dtype="bfloat16", draft=folder).generate(question).token_ids == want
    assert guesses


def test_one_of_another_model_is_refused(tmp_path: Path, load: Any):
    target = write_tiny_llama(tmp_path / "target", "gemma4")
    other = write_tiny_llama(tmp_path / "other", "gemma4-31b")
    folder = write_tiny_assistant(tmp_path / "assistant", other)
    with pytest.raises(UnsupportedModelError, match="assistant guesses for another model of Gemma 4"):
        load(folder=target, draft=folder)
    with pytest.raises(UnsupportedModelError, match="assistant guesses for another model"):
        load("llama-3.2", draft=folder)
    with pytest.raises(UnsupportedModelError, match="assistant only guesses for another model"):
        load(folder=folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_kv_shared_layers": 2}, "num_kv_shared_layers is 2, but it must be 0 or 3, the number of its layers"),
        ({"hidden_size_per_layer_input": 8}, "hidden_size_per_layer_input is 8, but it must be 0"),
        ({"enable_moe_block": True}, "enable_moe_block is True"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], words: str):
    folder = write_tiny_assistant(tmp_path / "assistant", write_tiny_llama(tmp_path / "target", "gemma4"))
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    values["text_config"] |= changes
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(BrokenModelError, match=words):
        load_config(folder)


def test_a_failure_ends_guesses_and_no_answer(tmp_path: Path, load: Any, caplog: pytest.LogCaptureFixture):
    target = write_tiny_llama(tmp_path / "target", "gemma4")
    engine = load(folder=target, draft=write_tiny_assistant(tmp_path / "assistant", target))
    want = load(folder=target).generate(asked(PROMPTS[0])).token_ids
    proposer = engine._loop._speculator.proposer
    calls: list[Exception] = []

    def failing(*_: Any) -> Any:
        calls.append(RuntimeError("broken") if calls else GenerationError("no memory"))
        raise calls[-1]

    proposer._guesser.guess = failing
    assert engine.generate(asked(PROMPTS[0])).token_ids == want
    assert 1 <= len(calls) <= 2
    assert len(calls) == 1 or "asked no more" in caplog.text


def _guesser(engine: Engine) -> Any:
    return engine._loop._speculator.proposer


def test_gguf_files_beside_one_another(tmp_path: Path, load: Any):
    target = write_tiny_llama(tmp_path / "target", "gemma4", hidden_size_per_layer_input=32)
    folder = write_tiny_assistant(tmp_path / "assistant", target)
    (tmp_path / "files").mkdir()
    file = write_gguf(target, tmp_path / "files" / "gemma-4.gguf")
    want = load(folder=file).generate(asked(PROMPTS[0])).token_ids
    assert isinstance(_guesser(load(folder=file, draft="auto")), PromptLookup)
    beside = write_gguf(folder, file.with_name("mtp-gemma-4.gguf"), tokenizer=target)
    ours, theirs = (open_model(one).config for one in (folder, beside))
    assert ours.gemma4 == theirs.gemma4
    for place in (file, file.parent):
        engine = load(folder=place, draft="auto")
        assert isinstance(_guesser(engine), NetworkGuesses)
        assert engine.generate(asked(PROMPTS[0])).token_ids == want
    assert isinstance(_guesser(load(folder=file, draft=beside)), NetworkGuesses)
    assert isinstance(_guesser(load(folder=file, draft="ngram")), PromptLookup)


@pytest.mark.parametrize(
    "name", ["mtp-x.gguf", "x-MTP-Q8_0.gguf", "smtp-x.gguf", "x-mtp.gguf", "mtp-x.bin", "x_mtp-1.gguf"]
)
def test_downloads_and_the_engine_know_the_same_names(name: str):
    assert is_companion(name) == bool(GUESSING_FILE.search(name))


def test_folders_beside_one_another(tmp_path: Path, load: Any):
    target = write_tiny_llama(tmp_path / "gemma-4-E2B-it", "gemma4")
    write_tiny_assistant(tmp_path / "gemma-4-E2B-it-assistant", target)
    assert isinstance(_guesser(load(folder=target, draft="auto")), NetworkGuesses)
    cached = [tmp_path / f"models--google--{folder.name}" for folder in tmp_path.iterdir() if folder.is_dir()]
    for repository in cached:
        shutil.copytree(tmp_path / repository.name.rpartition("--")[2], repository / "snapshots" / "0123")
    found = assistant_beside(tmp_path / "models--google--gemma-4-E2B-it" / "snapshots" / "0123", load_config(target))
    assert found is not None


def test_what_does_not_fit_beside_a_model_is_passed_over(tmp_path: Path, load: Any, caplog: pytest.LogCaptureFixture):
    target = write_tiny_llama(tmp_path / "model", "gemma4")
    other = write_tiny_llama(tmp_path / "other", "gemma4-31b")
    folder = write_tiny_assistant(tmp_path / "model-assistant", other)
    assert isinstance(_guesser(load(folder=target, draft="auto")), PromptLookup)
    assert "guesses for another model" in caplog.text
    shutil.rmtree(folder)
    write_tiny_assistant(folder, target)
    (folder / "model.safetensors").write_bytes(b"cut off")
    assert isinstance(_guesser(load(folder=target, draft="auto")), PromptLookup)
    assert "No guesses by model-assistant" in caplog.text
