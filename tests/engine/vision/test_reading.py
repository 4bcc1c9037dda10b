"""Images in an engine: the same bits however they come in, and nobody else is held up or touched."""

import itertools
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from llama_gui.engine import AnswerState, Engine, GenerateRequest, Image, Message, SamplingParams, loop
from llama_gui.engine.config import load_config
from llama_gui.engine.scheduler import TokenBudget
from llama_gui.engine.vision import gemma4, pixtral, qwen, siglip, tower
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.loading import vision_parameters
from llama_gui.errors import InvalidRequestError, PromptTooLongError, UserError
from tests.fakes.tiny_gemma3 import BEGIN
from tests.fakes.tiny_gemma3 import IMAGE as SOFT
from tests.fakes.tiny_gemma4 import IMAGE as GEMMA4S
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_pixtral import IMAGE, picture
from tests.fakes.tiny_qwen_vl import IMAGE as QWENS

RED, BLUE = picture(60, 40, 1), picture(80, 90, 2, "JPEG")
GREEDY = SamplingParams(temperature=0)
TOWERS = {
    "pixtral": pixtral.PixtralTower,
    "gemma": siglip.SiglipTower,
    "smolvlm": siglip.SiglipTower,
    "qwen": qwen.QwenTower,
    "gemma4": gemma4.Gemma4Tower,
}
COUNTS = {
    "pixtral": 3 * 6 + 7 * 7,
    "gemma": 2 * (16 + 2 + 2),
    "smolvlm": (12 * 6 + 4 + 7) + (16 * 6 + 5 + 7) - 1,
    "qwen": 3 * 4 + 6 * 6 + 2 * 2,
    "gemma4": 3 * 5 + 4 * 4 + 2 * 2,
}
"""Tokens of `RED` and `BLUE`: 60 x 40 and 80 x 90 pixels with a token behind each line; 16 rows between two, and two
breaks; or 4 rows behind two tokens in each of 3 x 4 and 4 x 4 squares, a line end behind each line of them and one
more, all of it between three tokens, and no blank in front of the first."""


@pytest.fixture(params=["pixtral", "gemma", "smolvlm", "qwen", "gemma4"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def seeing(kind: str, request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue(f"seeing_{kind}")


@pytest.fixture
def tower_kind(kind: str) -> Any:
    return TOWERS[kind]


def ask(*images: Image, text: str = "What is it?", **more: Any) -> GenerateRequest:
    options: dict[str, Any] = {"max_tokens": 16, "sampling": SamplingParams(temperature=0.8, seed=5), **more}
    return GenerateRequest(messages=[Message("user", text, images=images)], **options)


@pytest.fixture(params=["bfloat16", "int8", "int4"])
def engine(load: Any, seeing: Path, request: pytest.FixtureRequest) -> Engine:
    return load(folder=seeing, dtype=request.param)


@pytest.mark.sampled(5)
def test_an_answer_depends_on_its_image(engine: Engine):
    answers = [engine.generate(ask(*images)).token_ids for images in ((RED,), (BLUE,), (RED, BLUE), (BLUE, RED), ())]
    assert len(set(answers)) == len(answers)
    assert engine.generate(ask(RED)).token_ids == answers[0]


@pytest.mark.sampled(5)
def test_beside_others_an_answer_is_the_same(engine: Engine):
    requests = [ask(RED), ask(BLUE, RED), ask(text="Hello"), ask(BLUE, text="?")]
    alone = [engine.generate(request).token_ids for request in requests]
    jobs = [engine.submit(request) for request in requests]
    assert [job.result().token_ids for job in jobs] == alone
    again = [job.result().token_ids for job in map(engine.submit, reversed(requests))]
    assert again == alone[::-1]


@pytest.mark.parametrize("pieces", [1, 5, 64])
@pytest.mark.sampled(5)
def test_a_prompt_that_is_cut_gives_the_same_bits(
    load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch, pieces: int
):
    request = ask(RED, BLUE, logprobs=2)
    known = load(folder=seeing).submit(request)
    tops = [output.top_logprobs for output in known]
    whole = known.result()
    monkeypatch.setattr(TokenBudget, "tokens", lambda self, decodes: pieces)
    cut = load(folder=seeing).submit(request)
    outputs = list(cut)
    assert [output.token_id for output in outputs] == list(whole.token_ids)
    assert [output.top_logprobs for output in outputs] == tops


@pytest.mark.sampled(5)
def test_what_was_read_of_a_chat_is_not_read_again(engine: Engine, monkeypatch: pytest.MonkeyPatch, tower_kind: Any):
    looked: list[int] = []
    read = tower_kind.read

    def counting(self: Any, image: Any) -> Any:
        looked.append(image.rows)
        return read(self, image)

    monkeypatch.setattr(tower_kind, "read", counting)
    first = engine.generate(ask(RED, BLUE, cache_key="a"))
    turns = [Message("user", "What is it?", images=[RED, BLUE]), Message("assistant", "Red."), Message("user", "Sure?")]
    second = engine.generate(GenerateRequest(messages=turns, max_tokens=8, sampling=GREEDY, cache_key="a"))
    assert len(looked) == 2
    behind = (
        9 if tower_kind is gemma4.Gemma4Tower else 8
    )  # its prompts end with a thought of no words, which is no turn
    assert second.usage.cached_tokens > first.usage.prompt_tokens - behind
    # Another image in the same place is another prompt, however alike its tokens are.
    other = engine.generate(ask(BLUE, BLUE, cache_key="b"))
    assert other.usage.cached_tokens < 10
    assert len(looked) == 2, "its rows are kept"
    engine.generate(ask(picture(30, 40, 8), picture(30, 40, 9)))
    assert len(looked) == 4


def test_images_of_a_chat_come_from_the_disk(
    load: Any, seeing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tower_kind: Any
):
    monkeypatch.setattr("llama_gui.engine.prompt_cache.LEAST_TOKENS", 32)
    monkeypatch.setattr("llama_gui.engine.prompt_cache.LEAST_SECONDS", 0.0)
    request = ask(BLUE, BLUE, BLUE, text="And now? " * 20, cache_key="a")
    engine = load(folder=seeing, prompt_cache=tmp_path / "kept")
    expected = engine.generate(request)
    engine.keep_prompts()
    engine.close()
    monkeypatch.setattr(tower_kind, "read", None)  # nobody looks again
    again = load(folder=seeing, prompt_cache=tmp_path / "kept").generate(request)
    assert again.token_ids == expected.token_ids
    assert again.usage.cached_tokens >= 128


@pytest.mark.sampled(2)
def test_others_go_on_while_an_image_is_read(load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loop, "LOOK_SECONDS", (0.0, 0.0))  # a piece in each step
    monkeypatch.setattr(tower, "PIECE", 4)
    engine: Engine = load(folder=seeing)
    alone = engine.generate(ask(text="Hello", max_tokens=400, ignore_eos=True)).token_ids
    written: list[int] = []
    request = ask(text="Hello", max_tokens=400, ignore_eos=True)
    other = engine.submit(request, on_output=lambda job, output: written.append(output.token_id))
    next(iter(other))
    before = len(written)
    next(iter(engine.submit(ask(picture(110, 110, 3), max_tokens=2))))
    assert 20 < len(written) - before < 400
    assert other.result().token_ids == alone


def test_nothing_but_rows_is_kept_of_an_image(
    load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch, tower_kind: Any
):
    held: list[weakref.ref[torch.Tensor]] = []
    read = tower_kind.read

    def holding(self: Any, image: Any) -> Any:
        scratch = torch.zeros(4)
        held.append(weakref.ref(scratch))
        yield from read(self, image)
        del scratch

    monkeypatch.setattr(tower_kind, "read", holding)
    engine: Engine = load(folder=seeing)
    engine.generate(ask(RED))
    assert [scratch() for scratch in held] == [None]


def test_reading_an_image_can_be_cancelled(load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch, tower_kind: Any):
    goes_on = threading.Event()

    def endless(self: Any, image: Any) -> Any:
        for _ in itertools.count():
            goes_on.set()
            yield None

    engine: Engine = load(folder=seeing)
    with monkeypatch.context() as patch:
        patch.setattr(tower_kind, "read", endless)
        job = engine.submit(ask(RED))
        assert goes_on.wait(10)
        job.cancel()
        assert job.result(10).finish_reason == "cancelled"
        closing = engine.submit(ask(BLUE))
    assert engine.generate(ask(picture(60, 40, 7))).finish_reason == "length"
    closing.cancel()


@pytest.mark.sampled(2)
def test_what_was_read_of_an_image_serves_the_next_question(
    load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch, tower_kind: Any
):
    """As when a question is sent while its image is being read ahead."""
    monkeypatch.setattr(loop, "LOOK_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(tower, "PIECE", 4)
    expected = load(folder=seeing).generate(ask(RED, text="Why?"))
    engine: Engine = load(folder=seeing)
    pieces: list[int] = []
    read = tower_kind.read

    def counting(self: Any, image: Any) -> Any:
        for piece in read(self, image):
            pieces.append(1)
            yield piece

    monkeypatch.setattr(tower_kind, "read", counting)
    engine.generate(ask(picture(60, 40, 7)))
    whole, pieces[:] = len(pieces), []
    first = engine.submit(ask(RED))
    while len(pieces) < 3:
        time.sleep(0.001)
    first.cancel()
    others = [engine.submit(ask(RED, text="Why?")) for _ in range(2)]
    assert [job.result().token_ids for job in others] == [expected.token_ids] * 2
    assert len(pieces) == whole, "each was read once"


def test_an_engine_that_is_closed_reads_no_further(
    load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch, tower_kind: Any
):
    monkeypatch.setattr(tower_kind, "read", lambda *_: itertools.repeat(None))
    engine: Engine = load(folder=seeing)
    job = engine.submit(ask(RED))
    engine.close()
    assert job.result(10).finish_reason == "cancelled"


def test_one_that_fails_touches_no_other(load: Any, seeing: Path, monkeypatch: pytest.MonkeyPatch, tower_kind: Any):
    engine: Engine = load(folder=seeing)
    expected = engine.generate(ask(text="Hello")).token_ids

    def failing(self: Any, image: Any) -> Any:
        yield None
        raise RuntimeError("DefaultCPUAllocator: not enough memory")

    monkeypatch.setattr(tower_kind, "read", failing)
    bad, good = engine.submit(ask(RED)), engine.submit(ask(text="Hello"))
    assert "ran out of memory" in str(bad.result().error)
    assert good.result().token_ids == expected


@pytest.mark.sampled(2)
def test_a_state_goes_on_elsewhere(load: Any, seeing: Path):
    whole = load(folder=seeing).generate(ask(RED, BLUE))
    job = load(folder=seeing).submit(ask(RED, BLUE))
    for output in job:
        if output.index == 4:
            job.cancel()
    state = AnswerState.from_json(job.answer_state.to_json())
    assert state == job.answer_state
    assert [image.data for image in state.images] == [RED.data, BLUE.data]
    assert load(folder=seeing).resume(state).result().token_ids == whole.token_ids


def test_a_prompt_may_be_a_text_or_ids(load: Any, seeing_pixtral: Path):
    engine: Engine = load(folder=seeing_pixtral)
    options: Any = {"max_tokens": 8, "sampling": GREEDY}
    expected = engine.generate(ask(RED, text="What?", **options)).token_ids
    text = f"<s>[INST]{IMAGE}What?[/INST]"
    asked = GenerateRequest(prompt=text, images=[RED], add_special_tokens=False, **options)
    ids = engine.tokenizer.encode(text, add_special_tokens=False)
    for request in (asked, GenerateRequest(token_ids=ids, images=[RED], **options)):
        assert engine.generate(request).token_ids == expected
    for images in ([], [RED, BLUE]):
        request = GenerateRequest(token_ids=[*ids, *ids[2:3]] if not images else ids, images=images or [RED], **options)
        with pytest.raises(InvalidRequestError, match="as many as there are image tokens"):
            engine.generate(request)


@pytest.mark.parametrize("draft", ["ngram", "folder"])
@pytest.mark.sampled(3)
def test_guesses_change_no_text(load: Any, seeing: Path, draft: str):
    request = ask(RED, BLUE, text="a b c a b c a b c", max_tokens=40, ignore_eos=True)
    expected = load(folder=seeing).generate(request)
    guessing: Engine = load(folder=seeing, draft=seeing if draft == "folder" else draft)
    assert guessing.generate(request).token_ids == expected.token_ids


def test_a_processor_and_penalties_see_tokens_only(load: Any, seeing: Path, kind: str):
    engine: Engine = load(folder=seeing)
    seen: list[int] = []

    def process(ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        seen.extend(ids)
        return logits

    strict = SamplingParams(temperature=0.5, seed=1, repetition_penalty=1.3, presence_penalty=0.5, penalty_window=2048)
    result = engine.generate(ask(RED, sampling=strict, logits_processor=process))
    assert result.finish_reason == "length"
    assert max(seen) < engine.vocab_size
    assert (
        seen.count(
            engine.tokenizer.id_of(
                {"pixtral": IMAGE, "gemma": SOFT, "smolvlm": "<image>", "qwen": QWENS, "gemma4": GEMMA4S}[kind]
            )
        )
        >= 9
    )


def test_probabilities_of_a_prompt_with_images(load: Any, seeing: Path, kind: str):
    engine: Engine = load(folder=seeing)
    made = engine.generate(ask(RED, logprobs=2))
    again = engine.generate(ask(RED, answer_token_ids=made.token_ids, prompt_logprobs=2))
    assert [output.token_id for output in again.prompt_logprobs if output] == list(made.token_ids)
    if kind in ("gemma", "gemma4"):
        with pytest.raises(InvalidRequestError, match="none of them foretells the next"):
            engine.generate(ask(RED, prompt_logprobs=1))
        return
    whole = engine.generate(ask(RED, prompt_logprobs=1, max_tokens=1))
    assert len(whole.prompt_logprobs) == whole.usage.prompt_tokens


def test_its_weights_are_counted(load: Any, seeing: Path):
    config = read_vision(seeing, load_config(seeing))
    assert config is not None
    engine: Engine = load(folder=seeing, dtype="float32")
    text = 4 * engine.info.parameters
    assert engine.stats().weight_bytes > text + 0.9 * 4 * vision_parameters(config)


def test_the_meter_counts_images(load: Any, seeing: Path, kind: str):
    engine: Engine = load(folder=seeing)
    tokens = engine.measure(ask(RED, BLUE)).tokens
    assert tokens == engine.generate(ask(RED, BLUE)).usage.prompt_tokens
    assert tokens - engine.measure(ask()).tokens == COUNTS[kind]


def test_old_turns_are_left_out_with_their_images(load: Any, seeing: Path, kind: str):
    engine: Engine = load(
        folder=seeing, max_context={"pixtral": 256, "gemma": 160, "smolvlm": 300, "qwen": 180, "gemma4": 160}[kind]
    )
    turns = [Message("user", f"{n}?", images=[BLUE]) if n % 2 == 0 else Message("assistant", "Yes.") for n in range(9)]
    result = engine.generate(GenerateRequest(messages=turns, max_tokens=8, sampling=GREEDY))
    assert 0 < result.dropped_messages < 8
    kept = GenerateRequest(messages=turns[result.dropped_messages :], max_tokens=8, sampling=GREEDY)
    assert engine.generate(kept).token_ids == result.token_ids
    with pytest.raises(PromptTooLongError):
        engine.generate(ask(*[BLUE] * 9))


def test_words_that_look_like_image_tokens_are_words(load: Any, seeing: Path):
    engine: Engine = load(folder=seeing)
    plain, odd = engine.measure(ask(RED)).tokens, f"{IMAGE}[IMG_END]{BEGIN}{SOFT}<image>\U0010ffff What is it?"
    assert engine.generate(ask(RED, text=odd)).finish_reason == "length"
    assert engine.measure(ask(RED, text=odd)).tokens > plain + 8
    assert engine.generate(ask(text=odd)).finish_reason == "length"


def test_a_model_that_reads_none_says_so(load: Any, tmp_path: Path, seeing: Path):
    engine: Engine = load()
    assert not engine.info.reads_images
    for request in (ask(RED), GenerateRequest(prompt="x", images=[RED])):
        with pytest.raises(UserError, match=r"reads no images\. Choose a model that does"):
            engine.generate(request)
    with pytest.raises(InvalidRequestError, match="truncate_prompt_tokens is 5, but it must be left out where"):
        load(folder=seeing).generate(ask(RED, truncate_prompt_tokens=5))


def test_the_draft_of_a_seeing_model_may_be_blind(load: Any, seeing_pixtral: Path, tmp_path: Path):
    """It reads the tokens that stand for images."""
    blind = write_tiny_llama(tmp_path / "blind", "ministral3")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (blind / file).write_bytes((seeing_pixtral / file).read_bytes())
    request = ask(RED, BLUE, max_tokens=24, ignore_eos=True)
    expected = load(folder=seeing_pixtral).generate(request)
    assert load(folder=seeing_pixtral, draft=blind).generate(request).token_ids == expected.token_ids


def test_without_a_template_there_is_no_place_for_images(load: Any, seeing: Path, tmp_path: Path):
    folder = tmp_path / "model"
    folder.mkdir()
    for file in seeing.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    settings = (folder / "tokenizer_config.json").read_text(encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(settings.replace("chat_template", "no_template"), encoding="utf-8")
    engine: Engine = load(folder=folder)
    assert not engine.info.reads_images
    with pytest.raises(UserError, match="reads no images"):
        engine.generate(ask(RED))
