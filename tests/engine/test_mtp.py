"""The layer of Qwen3.5 that guesses further tokens does what transformers' does, and changes nothing but the speed."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import GenerateRequest, Message, SamplingParams
from llama_gui.engine.llama import Segment
from llama_gui.engine.load_plan import plan_load
from llama_gui.engine.loading import load_model
from llama_gui.engine.mtp import MtpLayer
from llama_gui.engine.network_guesses import NetworkGuesses
from llama_gui.engine.prompt_lookup import PromptLookup
from llama_gui.engine.speculation import load_draft
from tests.engine.answers import bits
from tests.engine.guessing import PROMPTS, TOLD, asked
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_mtp import add_tiny_mtp
from tests.fakes.tiny_pixtral import picture
from tests.fakes.tiny_qwen_vl import write_tiny_qwen_vl


def theirs(folder: Path) -> Any:
    """The model in `folder` as transformers runs it, and its layer that guesses."""
    from transformers import AutoModelForCausalLM
    from transformers.modeling_layers import MtpModel

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.config.num_mtp_layers, model.config.mtp_layer_types = 1, ["full_attention"]
    return model, MtpModel.from_pretrained(model).eval()


def layer_of(folder: Path) -> tuple[Any, MtpLayer]:
    """What is loaded of it here, and its layer."""
    loaded = load_model(folder, dtype="float32", device="cpu", threads=1, guesses=True)
    assert loaded.mtp is not None
    proposer = load_draft(loaded.mtp, loaded, **TOLD).proposer
    assert isinstance(proposer, NetworkGuesses)
    assert isinstance(proposer._guesser, MtpLayer)
    return loaded, proposer._guesser


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize("kind", ["qwen3.5", "qwen3.5-moe", "qwen3-next"])
@pytest.mark.sampled(4)
def test_as_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, is_native: bool, is_file: bool):
    """Behind a text and one token, three guesses in a row, each from what it made of the one before."""
    if not is_native:
        monkeypatch.setattr("llama_gui.engine.native_library.load", lambda: None)
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", kind, num_hidden_layers=4))
    model, layer = theirs(folder)
    loaded, ours = layer_of(write_gguf(folder, tmp_path / "m.gguf") if is_file else folder)
    length = 40
    tokens = torch.randint(20, 300, (length + 1,), generator=torch.Generator().manual_seed(3)).tolist()
    slot = loaded.network.new_cache(2**24, 200).blank(200)
    with torch.inference_mode():
        rows = loaded.network.hidden([Segment(slot, tokens[:length], length, is_prompt=True)])
        slot.extend(tokens[:length])
        their_rows = model(torch.tensor([tokens[:length]]), output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(rows, their_rows[0], atol=2e-4, rtol=2e-4)
        ours.run(tokens[1:20], rows[:19], slot, 0)
        row = ours.run(tokens[20:], rows[19:], slot, 19)
        told = tokens[1:]
        for _ in range(3):
            places = torch.arange(len(told))[None]
            made = layer.forward_layer(0, their_rows, places, None, input_ids=torch.tensor([told]))
            logits = layer._project_to_logits(made[:, -1:])[0]
            torch.testing.assert_close(loaded.network.logits(row), logits, atol=1e-3, rtol=1e-3)
            told.append(int(logits.argmax()))
            their_rows = torch.cat((their_rows, made[:, -1:]), 1)
            row = ours.run(told[-1:], row, slot, len(told) - 1)


@pytest.mark.usefixtures("cheap_rows")
@pytest.mark.parametrize(
    ("kind", "dtype", "temperature", "kept", "is_file"),
    [
        ("qwen3.5", "float32", 0.0, "auto", False),
        ("qwen3.5", "int8", 0.9, "int8", True),
        ("qwen3.5-moe", "bfloat16", 0.9, "auto", False),
        ("qwen3-next", "int4", 0.0, "int8", True),
    ],
)
@pytest.mark.sampled(2)
def test_the_answer_has_the_same_bits(
    tmp_path: Path,
    load: Any,
    guesses: list[int],
    kind: Any,
    dtype: str,
    temperature: float,
    kept: str,
    is_file: bool,
):
    path = add_tiny_mtp(write_tiny_llama(tmp_path / "m", kind))
    if is_file:
        path = write_gguf(path, tmp_path / "m.gguf")
    wanted = [asked(prompt, temperature=temperature, seed=n) for n, prompt in enumerate(PROMPTS)]
    plain = load(folder=path, dtype=dtype, cache_dtype=kept)
    want = [bits(plain.submit(one)) for one in wanted]
    engine = load(folder=path, dtype=dtype, cache_dtype=kept, draft="auto")
    assert [bits(engine.submit(one)) for one in wanted] == want
    assert sum(guesses) > 5
    jobs = [engine.submit(one) for one in wanted]  # all at once
    assert [bits(job) for job in jobs] == want
    # Wrong guesses leave nothing behind that the next turn could read.
    longer = asked([*PROMPTS[0], *(token for token, *_ in want[0]), 5, 6], temperature=temperature)
    assert bits(engine.submit(longer)) == bits(plain.submit(longer))


@pytest.mark.usefixtures("cheap_rows")
@pytest.mark.parametrize("idle", [0, 150])
def test_guesses_are_those_of_the_whole_text(tmp_path: Path, load: Any, monkeypatch: pytest.MonkeyPatch, idle: int):
    """However much of it was read at once, and whatever was guessed before, if anything: of the network's own rows."""
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", "qwen3.5", num_hidden_layers=4))
    made: list[tuple[list[int], list[int]]] = []
    of_layer = MtpLayer.guesses

    def noting(self: MtpLayer, sequence: Any, *told: int) -> list[int]:
        found = of_layer(self, sequence, *told)
        made.append((sequence.tokens, found))
        return found

    monkeypatch.setattr(MtpLayer, "guesses", noting)
    monkeypatch.setattr("llama_gui.engine.mtp._AT_ONCE", 7)
    propose = NetworkGuesses.propose
    monkeypatch.setattr(
        NetworkGuesses, "propose", lambda self, of, *told: propose(self, of, *told) if len(of.answer) > idle else []
    )
    engine = load(folder=folder, dtype="float32", draft="auto")
    for prompt in (PROMPTS[0], list(range(200, 80, -1))):
        engine.submit(asked(prompt, max_tokens=idle + 40)).result()
    model, layer = theirs(folder)
    assert len(made) > 10
    with torch.inference_mode():
        for tokens, found in made:
            rows = model(torch.tensor([tokens[:-1]]), output_hidden_states=True).hidden_states[-1]
            told = tokens[1:]
            for guess in found:
                row = layer.forward_layer(0, rows, torch.arange(len(told))[None], None, input_ids=torch.tensor([told]))
                assert guess == int(layer._project_to_logits(row[:, -1:])[0].argmax())
                told = [*told, guess]
                rows = torch.cat((rows, row[:, -1:]), 1)


@pytest.mark.usefixtures("cheap_rows")
def test_in_a_file_of_its_own(tmp_path: Path, load: Any, guesses: list[int]):
    """Which may be of another model, or damaged."""
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", "qwen3.5"))
    write_tiny_llama(tmp_path / "plain", "qwen3.5")
    (tmp_path / "files" / "mtp").mkdir(parents=True)
    path = write_gguf(tmp_path / "plain", tmp_path / "files" / "m.gguf")
    beside = path.parent / "mtp" / "mtp-m.gguf"
    (path.parent / "mtp-a.gguf").write_bytes(b"GGUF")
    write_gguf(add_tiny_mtp(write_tiny_llama(tmp_path / "o", "qwen3.5", hidden_size=128)), path.parent / "mtp-b.gguf")
    want = bits(load(folder=path, draft="auto").submit(asked(PROMPTS[0])))
    assert not guesses
    write_gguf(folder, beside, only="blk.5.")
    assert bits(load(folder=path, draft="auto").submit(asked(PROMPTS[0]))) == want
    assert sum(guesses) > 3


def test_one_that_does_not_fit_is_left_aside(tmp_path: Path, load: Any, caplog: pytest.LogCaptureFixture):
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", "qwen3.5"))
    weights = load_file(folder / "model.safetensors")
    weights["mtp.norm.weight"] = torch.ones(3)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    engine = load(folder=folder, draft="auto")
    assert isinstance(engine._loop._speculator.proposer, PromptLookup)
    assert "mtp.norm.weight has the shape [3]" in caplog.text
    assert engine.submit(asked(PROMPTS[1], max_tokens=3)).result().token_ids


@pytest.mark.usefixtures("cheap_rows")
def test_one_that_fails_costs_no_answer(tmp_path: Path, load: Any, monkeypatch: pytest.MonkeyPatch):
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", "qwen3.5"))
    want = bits(load(folder=folder).submit(asked(PROMPTS[0])))
    asks: list[int] = []

    def fail(*_: Any) -> None:
        asks.append(1)
        raise ZeroDivisionError

    monkeypatch.setattr(MtpLayer, "run", fail)
    assert bits(load(folder=folder, draft="auto").submit(asked(PROMPTS[0]))) == want
    assert asks == [1]


@pytest.mark.usefixtures("cheap_rows")
@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "int4"])
def test_guesses_among_the_first_tokens(tmp_path: Path, load: Any, monkeypatch: pytest.MonkeyPatch, dtype: str):
    """Where these are enough; and among all where they are not, which brings more then."""
    monkeypatch.setattr("llama_gui.engine.mtp.SHORT", 64)
    made: list[tuple[list[int], int]] = []
    of_layer = MtpLayer.guesses

    def noting(self: MtpLayer, sequence: Any, count: int, reach: int) -> list[int]:
        found = of_layer(self, sequence, count, reach)
        made.append((found, reach))
        return found

    monkeypatch.setattr(MtpLayer, "guesses", noting)
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", "qwen3.5", hidden_size=256))
    want = bits(load(folder=folder, dtype=dtype).submit(asked(PROMPTS[0], max_tokens=120)))
    engine = load(folder=folder, dtype=dtype, draft="auto")
    assert bits(engine.submit(asked(PROMPTS[0], max_tokens=120))) == want
    short, far = ([guess for found, of in made if of == reach for guess in found] for reach in (0, 1))
    assert short
    assert max(short) < 64
    assert far
    assert max(far) >= 64


def test_the_plan_counts_it(tmp_path: Path):
    plain = plan_load(write_tiny_llama(tmp_path / "m", "qwen3.5"), "int8", "cpu")
    more = plan_load(add_tiny_mtp(tmp_path / "m"), "int8", "cpu")
    assert more.weight_bytes > plain.weight_bytes
    assert more.token_bytes == 2 * plain.token_bytes  # one of five layers attends


@pytest.mark.usefixtures("cheap_rows")
def test_none_beside_images(tmp_path: Path, load: Any, guesses: list[int]):
    folder = add_tiny_mtp(write_tiny_qwen_vl(tmp_path / "m", "qwen3.5"))
    question = GenerateRequest(
        messages=[Message("user", "What is this?", images=(picture(100, 60, 1),))],
        max_tokens=20,
        sampling=SamplingParams(temperature=0.0, seed=1),
    )
    want = load(folder=folder, dtype="bfloat16").generate(question).token_ids
    engine = load(folder=folder, dtype="bfloat16", draft="auto")
    assert engine.generate(question).token_ids == want
    assert not any(guesses)
    engine.submit(asked(PROMPTS[0])).result()
    assert any(guesses)


@pytest.mark.usefixtures("cheap_rows")
@pytest.mark.parametrize("kept", ["auto", "int8"])
def test_after_a_restart(tmp_path: Path, load: Any, guesses: list[int], monkeypatch: pytest.MonkeyPatch, kept: str):
    """What it has read is kept with what the network has read."""
    monkeypatch.setattr("llama_gui.engine.prompt_cache.LEAST_SECONDS", 0.0)
    folder = add_tiny_mtp(write_tiny_llama(tmp_path / "m", "qwen3.5"))
    prompt = [n * 7 % 200 + 20 for n in range(300)]
    want = bits(load(folder=folder, cache_dtype=kept).submit(asked(prompt)))
    options = {"folder": folder, "cache_dtype": kept, "draft": "auto", "prompt_cache": tmp_path / "prompts"}
    first = load(**options)
    assert bits(first.submit(asked(prompt))) == want
    first.keep_prompts()
    first.close()
    guesses.clear()
    job = load(**options).submit(asked(prompt))
    assert bits(job) == want
    assert job.result().usage.cached_tokens > 200
    assert sum(guesses) > 3
