"""Guesses change the speed and nothing else; they are made where they pay, and left where they do not."""

import functools
import gc
import weakref
from types import SimpleNamespace

import pytest
import torch

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.llama import Llama
from llama_gui.engine.loading import load_model
from llama_gui.engine.scheduler import TokenBudget
from llama_gui.engine.speculation import DraftNetwork, Pace, Speculator
from llama_gui.errors import InvalidRequestError, LoadCancelledError, ModelNotFoundError, UnsupportedModelError
from tests.engine.answers import bits
from tests.fakes.tiny_llama import write_tiny_llama

REPEATING = [10, 11, 12, 13, 14, 15, 16, 17] * 6
OTHERS = [list(range(20, 90)), [7, 8, 9], REPEATING[:30]]


def request(prompt=REPEATING, *, temperature=0.0, seed=3, max_tokens=60, **more):
    sampling = SamplingParams(temperature=temperature, top_k=0, top_p=1.0, min_p=0, seed=seed)
    return GenerateRequest(token_ids=prompt, max_tokens=max_tokens, sampling=sampling, logprobs=2, **more)


@pytest.fixture(scope="module")
def drafts(tmp_path_factory):
    """The network itself in another folder, and one with other weights."""
    folder = tmp_path_factory.mktemp("drafts")
    return {
        "ngram": "ngram",
        "the same": write_tiny_llama(folder / "same"),
        "another": write_tiny_llama(folder / "another", seed=9, num_hidden_layers=1),
    }


@pytest.fixture
def steps(monkeypatch):
    """The rows of each forward of the main network (three layers; the other draft has one)."""
    rows: list[int] = []
    forward = Llama.forward

    def counting(self, segments, *rest):
        rows.append(sum(len(segment.token_ids) for segment in segments))
        return forward(self, segments, *rest)

    monkeypatch.setattr(Llama, "forward", counting)
    return rows


@pytest.fixture(scope="module")
def plain(tiny_folder, kernel_notes):
    """Requests, one that goes on from the answer to the first, and what an engine that guesses nothing answers."""

    @functools.cache
    def answers(temperature, dtype):
        wanted = [request(prompt, temperature=temperature, seed=n) for n, prompt in enumerate((REPEATING, *OTHERS))]
        with Engine.load(tiny_folder(), dtype=dtype, device="cpu", threads=1, kernel_notes=kernel_notes) as engine:
            want = [bits(engine.submit(one)) for one in wanted]
            prompt = [*REPEATING, *(token for token, *_ in want[0]), 5, 6]
            longer = request(prompt, temperature=temperature, cache_key="a")
            return wanted, want, longer, bits(engine.submit(longer))

    return answers


@pytest.mark.parametrize(
    ("temperature", "dtype", "draft"),
    [
        (0.0, "float32", "ngram"),
        *((0.9, "bfloat16", draft) for draft in ("ngram", "the same", "another")),
        *(pytest.param(0.0, "float32", draft, marks=pytest.mark.campaign) for draft in ("the same", "another")),
        (0.9, "int8", "ngram"),
        (0.9, "int4", "ngram"),
    ],
)
@pytest.mark.sampled(3)
def test_the_answer_has_the_same_bits(load, plain, drafts, draft, temperature, dtype):
    wanted, want, longer, want_longer = plain(temperature, dtype)
    engine = load(dtype=dtype, draft=drafts[draft])
    assert [bits(engine.submit(one)) for one in wanted] == want
    jobs = [engine.submit(one) for one in wanted]  # all at once
    assert [bits(job) for job in jobs] == want
    # Wrong guesses leave nothing behind that the next turn could read.
    assert bits(engine.submit(longer)) == want_longer


@pytest.mark.parametrize("draft", ["ngram", "the same"])
def test_nothing_is_guessed_among_known_tokens(load, drafts, monkeypatch, draft):
    """However short the pieces are in which they are read."""
    monkeypatch.setattr(TokenBudget, "tokens", lambda self, decodes: 1)
    asked = request(answer_token_ids=REPEATING[:12], prompt_logprobs=1)
    want, got = (load(draft=chosen).generate(asked) for chosen in (None, drafts[draft]))
    assert (got.prompt_logprobs, got.token_ids) == (want.prompt_logprobs, want.token_ids)


def test_right_guesses_save_steps(load, drafts, steps):
    plain = load().generate(request())
    without = len(steps)
    steps.clear()
    # A draft that is the network itself is always right, whatever the temperature: it draws with the same numbers.
    engine = load(draft=drafts["the same"])
    assert engine.generate(request(temperature=0.9)).finish_reason == "length"
    checks = [rows for rows in steps if 2 < rows <= 1 + DraftNetwork.most_guesses]  # of two rows: the draft catches up
    assert len(checks) <= 60 / 5
    assert without >= len(plain.token_ids)


def test_a_text_that_repeats_itself_is_looked_up(load, steps, cheap_rows):
    engine = load(draft="ngram")
    answer = engine.generate(request([5, 6, 7], max_tokens=120)).token_ids  # greedy tiny networks run in circles
    assert len(answer) == 120
    assert len(steps) < 80


@pytest.mark.parametrize("draft", ["ngram", "the same"])
def test_the_end_is_exact(load, drafts, draft):
    plain, engine = load(), load(draft=drafts[draft])
    for count in range(1, 14):
        result = engine.generate(request(max_tokens=count))
        assert (len(result.token_ids), result.finish_reason) == (count, "length")
        assert result.token_ids == plain.generate(request(max_tokens=count)).token_ids
    whole = plain.generate(request())
    stop = whole.text[20:23]
    wanted = request(stop=[stop])
    assert engine.generate(wanted).text == plain.generate(wanted).text == whole.text[: whole.text.index(stop)]
    small = load(draft=drafts[draft], max_context=len(REPEATING) + 9)
    assert small.generate(request()).finish_reason == "context"


def test_cancelling_between_guesses(load, drafts):
    engine = load(draft=drafts["the same"])
    for count in range(1, 12):
        job = engine.submit(
            request(max_tokens=500), on_output=lambda job, out, n=count: job.cancel() if out.index == n else None
        )
        result = job.result(60)
        assert (result.finish_reason, len(result.token_ids)) == ("cancelled", count + 1)


class Certain:
    """Always has an idea."""

    most_guesses = 12
    weight_bytes = kv_bytes = 0

    def propose(self, sequence, most, price):
        return [1] * most

    def record(self, sequence, guessed, right):
        pass

    def forget(self, sequence):
        pass


def left(tokens):
    return SimpleNamespace(number=tokens, tokens_left=tokens)


def counts(speculator, *decodes):
    return [len(speculator.propose(left(100), number)) for number in decodes]


def test_beside_many_decodes_nobody_guesses():
    speculator = Speculator(Certain())
    speculator.record_step(30, 0, 1.0)  # so that nothing is tried
    assert counts(speculator, 1, 2, 4, 10, 11) == [12, 5, 2, 1, 0]
    assert speculator.propose(left(3), 1) == [1, 1]  # a guess behind the last token would be for nothing
    assert speculator.propose(left(1), 1) == []


def test_guesses_for_one_make_the_others_wait_for_no_more_than_another_step():
    """Where rows are dear, as they turn out to be in steps of so many answers, and so of more."""
    speculator = Speculator(Certain())
    for guessed in 40 * (0, 2, 4):
        speculator.record_step(2, guessed, 1 + 0.25 * guessed)
    speculator.record_step(30, 0, 1.0)
    assert counts(speculator, 1, 2, 3) == [12, 2, 1]
    for guessed in 40 * (0, 2, 4):
        speculator.record_step(9, guessed, 1 + 0.02 * guessed)
    assert counts(speculator, 3, 7, 9) == [1, 1, 1]


@pytest.mark.parametrize("answers", [1, 4, 9, 12])
def test_what_a_row_costs_is_found_out_for_any_number_of_answers(answers):
    """Where it is thought too dear, and where all guess the same, no step would tell."""
    speculator = Speculator(Certain())
    for _ in range(100):
        guessed = sum(len(speculator.propose(left(100), answers)) for _ in range(answers))
        speculator.record_step(answers, guessed, 1 + 0.03 * guessed)
    assert speculator._costs[answers].is_known
    assert speculator._row(answers) == pytest.approx(0.03, abs=0.02)


def test_only_steps_that_read_no_prompt_tell_what_a_row_costs(load, monkeypatch):
    told, record = [], Speculator.record_step

    def tell(self, *step):
        told.append(step)
        record(self, *step)

    monkeypatch.setattr(Speculator, "record_step", tell)
    load(draft="ngram").generate(request(max_tokens=20))
    assert {decodes for decodes, _, _ in told} == {1}
    assert len(told) < 20  # the first token comes with the prompt, and guesses are right here
    assert any(guessed for _, guessed, _ in told)
    assert all(seconds > 0 for _, _, seconds in told)


def test_a_draft_network_is_not_asked_for_many_answers(load, drafts):
    speculator = load(draft=drafts["the same"])._loop._speculator
    assert speculator.propose(left(100), 5) == []
    assert speculator.proposer._paces == {}


def test_a_draft_reads_a_long_prompt_in_pieces(load, drafts, steps):
    prompt = [n % 200 for n in range(900)]
    want = load().generate(request(prompt, max_tokens=30))
    steps.clear()
    assert load(draft=drafts["another"]).generate(request(prompt, max_tokens=30)).token_ids == want.token_ids
    assert max(steps[-35:]) <= 256


def test_a_draft_without_memory_or_with_broken_weights_is_no_harm(load, drafts, monkeypatch):
    engine = load(draft=drafts["another"])
    network = engine._loop._speculator.proposer._network
    want = load().generate(request())
    network.norm.weight.fill_(float("nan"))
    assert engine.generate(request()).token_ids == want.token_ids
    engine._loop._speculator.proposer._cache.byte_budget = 0
    assert engine.generate(request(REPEATING[1:])).finish_reason == "length"


def test_the_draft_counts_and_goes_with_its_engine(load, drafts):
    engine, plain = load(draft=drafts["the same"]), load()
    assert engine.stats().weight_bytes == 2 * plain.stats().weight_bytes
    for one in (engine, plain):
        one.generate(request())
    assert engine.stats().kv_bytes == 2 * plain.stats().kv_bytes
    network = weakref.ref(engine._loop._speculator.proposer._network)
    engine.close()
    gc.collect()
    assert network() is None
    assert engine.stats().kv_bytes == 0


def test_the_callers_processor_is_not_asked_for_guesses(load, drafts):
    def answer(engine):
        calls = []

        def count(ids, logits):
            calls.append(len(ids))
            return logits.index_fill(0, torch.tensor(60 + len(calls)), 50.0)

        return engine.generate(request(max_tokens=12, logits_processor=count)).token_ids, calls

    want = answer(load())
    for draft in drafts.values():
        assert answer(load(draft=draft)) == want
    assert want[1] == list(range(len(REPEATING), len(REPEATING) + 12))


def test_a_draft_that_fails_is_asked_no_more(load, drafts, monkeypatch, caplog):
    engine = load(draft=drafts["another"])
    want = load().generate(request()).token_ids
    monkeypatch.setattr(engine._loop._speculator.proposer, "_run", lambda *_, **__: 1 / 0)
    assert engine.generate(request()).token_ids == engine.generate(request()).token_ids == want
    assert len(caplog.records) == 1


def test_a_draft_with_a_smaller_head_is_refused(tmp_path, tiny_folder):
    other = write_tiny_llama(tmp_path / "other", vocab_size=300)
    with pytest.raises(UnsupportedModelError, match="writes 300 different tokens"):
        Engine.load(tiny_folder(), draft=other)


def test_a_draft_with_other_tokens_is_refused(tmp_path, tiny_folder):
    other = write_tiny_llama(tmp_path / "other", "tinyllama")
    with pytest.raises(UnsupportedModelError, match=r"draft model .*other are not those of"):
        Engine.load(tiny_folder(), draft=other)


@pytest.mark.parametrize("shape", [{"vocab_size": 300}, {"shape": "tinyllama"}, None])
def test_what_is_wrong_with_a_draft_is_told_before_any_weight_is_read(tmp_path, tiny_folder, shape):
    told = []
    draft = tmp_path / "nowhere" if shape is None else write_tiny_llama(tmp_path / "other", **shape)
    with pytest.raises((UnsupportedModelError, ModelNotFoundError)):
        Engine.load(tiny_folder(), draft=draft, on_progress=told.append)
    assert told == []


def test_what_is_no_draft_is_called_so(tiny_folder):
    with pytest.raises(InvalidRequestError, match="draft is 5"):
        Engine.load(tiny_folder(), draft=5)  # type: ignore[arg-type]


def test_loading_is_cancelled_also_while_the_draft_is_read(tiny_folder, drafts):
    told = []

    def is_cancelled():
        return bool(told) and told[-1].parameters_read == told[-1].parameters

    with pytest.raises(LoadCancelledError):
        Engine.load(tiny_folder(), draft=drafts["another"], on_progress=told.append, is_cancelled=is_cancelled)


def test_the_draft_is_loaded_as_its_model_is(tiny_folder, drafts, monkeypatch, tmp_path):
    calls = []

    def load(path, **options):
        calls.append({name: options[name] for name in ("exact", "kernel_notes")})
        return load_model(path, **options)

    monkeypatch.setattr("llama_gui.engine.engine.load_model", load)
    monkeypatch.setattr("llama_gui.engine.speculation.load_model", load)
    notes = tmp_path / "notes.json"
    Engine.load(tiny_folder(), draft=drafts["another"], exact=False, kernel_notes=notes).close()
    assert calls == 2 * [{"exact": False, "kernel_notes": notes}]


def test_the_pace():
    pace = Pace(12)
    lengths = []
    for _ in range(4):
        lengths.append(pace.next_length())
        pace.record(lengths[-1], lengths[-1])
    assert lengths == [4, 8, 12, 12]
    pace.record(12, 3)
    assert pace.next_length() == 4
    for guessed in (4, 2, 1):
        pace.record(guessed, 0)
    assert [pace.next_length() for _ in range(17)] == [0] * 16 + [1]
    pace.record(1, 1)
    assert pace.next_length() == 2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_auto_guesses_where_answers_keep_their_bits(load, monkeypatch, dtype):
    def guesses(invariant):
        monkeypatch.setattr(Llama, "is_batch_invariant", invariant)
        engine = load(dtype=dtype, draft="auto")
        assert engine.stats().batch_invariant is invariant
        return engine._loop._speculator is not None

    assert load(dtype=dtype, draft="auto").stats().batch_invariant
    assert guesses(True)
    assert not guesses(False)  # as on a card
