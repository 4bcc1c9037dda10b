"""The promise: same seed, same bits, whatever runs beside an answer and however its prompt was read."""

import functools
import itertools
import threading

import pytest
import torch

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.scheduler import TokenBudget
from tests.engine.answers import bits
from tests.engine.this_machine import keeps_int8
from tests.fakes.tiny_llama import SHAPES, write_tiny_llama

LONG = pytest.mark.campaign
DTYPES = ("float32", "bfloat16", "float16", "int8", "int4", "bfloat16/int8")
"""Of weights; behind the stroke of keys and values, where they are in fewer bits."""
# Each way to multiply once, and each shape of heads. Windows that slide and heads that are normed go other ways through
# the kernels of attention, which are those of float32 and of bfloat16.
SHAPES_AND_DTYPES = [
    *itertools.product(("llama-3.2",), DTYPES),
    *(("tinyllama", "int8"), ("mistral", "bfloat16"), ("qwen2", "bfloat16"), ("qwen3", "float32")),
    ("gemma3", "bfloat16"),
    # Scores and logits are capped.
    *itertools.product(("gemma2",), ("float32", "int4", "bfloat16/int8")),
    # Heads are normed as one, and what goes into a layer is not.
    ("olmo3", "bfloat16"),
    # How experts are chosen is all that mixtures differ in.
    *itertools.product(("qwen3-moe",), ("float32", "int8")),
    # An MLP in the first layer, an expert that all go through, and corrected choices.
    ("ernie-moe", "int8"),
    # No gate.
    ("arcee", "int8"),
    *itertools.product(("gpt-oss",), ("bfloat16", "bfloat16/int8")),
    # Layers that borrow keys and values, which only the last rows of a prompt go through.
    *itertools.product(("gemma4",), ("bfloat16", "bfloat16/int8")),
    # Most layers sum up what was read.
    *itertools.product(("qwen3.5",), ("float32", "bfloat16")),
    # Most layers keep the last tokens, and experts are chosen by sigmoids.
    *itertools.product(("lfm2-moe",), ("float32", "bfloat16")),
    # Most layers have state spaces.
    *itertools.product(("granite4-h",), ("float32", "bfloat16")),
    # And some no feed-forward part.
    ("nemotron-h-moe", "bfloat16"),
]
# They go ways that others go, too.
MORE_SHAPES_AND_DTYPES = [
    *(("llama-3.1", "bfloat16"), ("llama-3.1", "int4"), ("tinyllama", "float32"), ("mistral", "float32")),
    *(("smollm3", "bfloat16"), ("phi4-mini", "bfloat16"), ("gemma3", "float32"), ("gemma3", "int8")),
    *(("gemma2", "bfloat16"), ("gemma2", "int8"), ("olmo3", "float32"), ("olmo3", "int8")),
    *(("mixtral", "bfloat16"), ("mixtral", "int4"), ("qwen3-moe", "bfloat16"), ("qwen3-moe", "int4")),
    *(("granite-moe", "bfloat16"), ("granite-moe", "int8"), ("olmoe", "bfloat16"), ("ministral3", "int8")),
    *(("ernie", "int8"), ("qwen2-moe", "float32"), ("qwen2-moe", "bfloat16"), ("qwen2-moe", "int8")),
    *(("ernie-moe", "float32"), ("ernie-moe", "bfloat16"), ("granite4", "int8"), ("arcee", "float32")),
    *(("arcee", "bfloat16"), ("glm4", "bfloat16"), ("glm4", "int8"), ("minicpm", "int8"), ("hunyuan", "float32")),
    *(("hunyuan", "bfloat16"), ("gpt-oss", "float32"), ("gpt-oss", "int8"), ("gpt-oss", "int4")),
    *itertools.product(("gemma4",), ("float32", "int8", "int4")),
    *itertools.product(("gemma4-31b", "gemma4-26b"), ("float32", "bfloat16", "int8")),
    *itertools.product(("qwen3-next",), ("float32", "bfloat16", "int8")),
    *itertools.product(("qwen3.5",), ("int8", "int4", "bfloat16/int8")),
    *itertools.product(("qwen3.5-moe",), ("float32", "bfloat16", "int8")),
    *itertools.product(("lfm2",), ("float32", "bfloat16", "int8", "int4")),
    *itertools.product(("lfm2-moe",), ("int8", "bfloat16/int8")),
    *itertools.product(("granite4-h",), ("int8", "int4", "bfloat16/int8")),
    *itertools.product(("granite4-h-moe",), ("float32", "bfloat16", "int8")),
    *itertools.product(("nemotron-h",), ("float32", "bfloat16", "int8", "int4")),
    *itertools.product(("nemotron-h-moe",), ("float32", "int8", "bfloat16/int8")),
    *((shape, "bfloat16/int8") for shape in ("mistral", "granite-moe", "qwen3", "phi4-mini")),
    *(("gemma3", "int8/int8"), ("tinyllama", "float32/int8")),
]
ALL_SHAPES_AND_DTYPES = [*SHAPES_AND_DTYPES, *(pytest.param(*both, marks=LONG) for both in MORE_SHAPES_AND_DTYPES)]
PROMPT = torch.randint(0, 250, (300,), generator=torch.Generator().manual_seed(5)).tolist()


@pytest.fixture
def usual_dtype() -> str:
    """Torch's own steps, where a test names no other: in bfloat16 a layer is one call of our kernels."""
    return "float32"


@pytest.fixture
def threads():
    """They share the rows and channels of a step, and must not change a bit."""
    return 2


def load_options(dtype):
    dtype, _, cache_dtype = dtype.partition("/")
    if cache_dtype and not keeps_int8(dtype):
        pytest.skip("torch's kernels attend here, which know nothing of eight bits")
    return {"dtype": dtype, "cache_dtype": cache_dtype or "auto"}


@pytest.fixture
def load(load, usual_dtype):
    return lambda shape="llama-3.2", *, dtype=usual_dtype, **options: load(shape, **load_options(dtype), **options)


def request(prompt=PROMPT, *, seed=7, max_tokens=16, key=None, temperature=1.0):
    sampling = SamplingParams(temperature=temperature, top_k=0, top_p=0.95, min_p=0, seed=seed)
    return GenerateRequest(token_ids=prompt, max_tokens=max_tokens, sampling=sampling, logprobs=3, cache_key=key)


@pytest.fixture(scope="module")
def alone(tiny_folder, kernel_notes):
    """What an engine answers to `request()` that does nothing else."""

    @functools.cache
    def answer(shape, dtype):
        folder = tiny_folder(shape)
        options = load_options(dtype)
        with Engine.load(folder, **options, device="cpu", threads=2, kernel_notes=kernel_notes) as engine:
            return bits(engine.submit(request()))

    return answer


def cut_prompts_into(monkeypatch, sizes):
    turns = itertools.cycle(sizes)
    monkeypatch.setattr(TokenBudget, "tokens", lambda self, decodes: next(turns))


@pytest.mark.parametrize(("shape", "dtype"), ALL_SHAPES_AND_DTYPES)
@pytest.mark.sampled(14)
def test_logits_do_not_depend_on_how_the_prompt_is_cut(load, monkeypatch, alone, shape, dtype):
    want = alone(shape, dtype)
    # Relatives go the same ways but for their heads and windows.
    for sizes in (
        ([1] * 20 + [14] * 20, [64], [7, 100, 1, 33], [1000]) if shape in SHAPES else ([7, 100, 1, 33], [1000])
    ):
        cut_prompts_into(monkeypatch, sizes)
        assert bits(load(shape, dtype=dtype).submit(request())) == want


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sampled(3)
def test_what_lay_in_the_memory_before_counts_for_nothing(load, monkeypatch, dtype):
    asked = request(PROMPT * 4, max_tokens=4)
    want = bits(load(dtype=dtype).submit(asked))
    allocate = KVCache._allocate

    def full_of_nan(cache, tokens):
        parts, finite = allocate(cache, tokens)
        for tensor in (tensor for part in parts for tensor in part):
            worst = torch.nan if tensor.is_floating_point() else -1  # four bytes of -1 are a scale of NaN
            tensor[:, :, finite:] = worst
        return parts, finite

    monkeypatch.setattr(KVCache, "_allocate", full_of_nan)
    cut_prompts_into(monkeypatch, [7, 100, 1, 33])  # memory is taken behind what is read, and before
    assert bits(load(dtype=dtype).submit(asked)) == want


@pytest.mark.parametrize(("shape", "dtype"), ALL_SHAPES_AND_DTYPES)
@pytest.mark.sampled(12)
def test_beside_nine_others_that_join_leave_and_fail(load, alone, shape, dtype):
    want = alone(shape, dtype)
    engine = load(shape, dtype=dtype)
    others = [engine.submit(request(PROMPT[n : 40 * n], seed=n, max_tokens=5 * n)) for n in range(1, 7)]
    job = engine.submit(request())

    def fail(ids, logits):
        raise ValueError("a broken processor")

    stream = iter(job)
    got = [next(stream)]
    others += [engine.submit(request(PROMPT[:n], seed=n, max_tokens=50)) for n in (3, 120)]
    broken = GenerateRequest(token_ids=PROMPT[:20], max_tokens=9, logits_processor=fail)
    others.append(engine.submit(broken))
    got.append(next(stream))
    others[2].cancel()
    got += list(stream)
    assert bits(got) == want
    reasons = {other.result(60).finish_reason for other in others}
    assert reasons >= {"length", "error"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sampled(3)
def test_after_prefix_reuse_copy_and_eviction(load, alone, dtype):
    want = alone("llama-3.2", dtype)
    engine = load(dtype=dtype)
    # The same conversation with another ending: a prefix of 200 is reused.
    engine.generate(request([*PROMPT[:200], 9, 9, 9], key="a", max_tokens=40))
    job = engine.submit(request(key="a"))
    assert bits(job) == want
    assert job.result().usage.cached_tokens == 200
    # Another conversation copies the whole prefix but its last token.
    copied = engine.submit(request(key="b"))
    assert bits(copied) == want
    assert copied.result().usage.cached_tokens == len(PROMPT) - 1
    # Memory for one conversation only: everything is evicted in between, and read again.
    engine._loop._cache.byte_budget = 2 * engine._loop._cache.bytes_for(512)
    for n in range(3):
        engine.generate(request(PROMPT[n + 1 :], key=f"other {n}", max_tokens=2))
    assert bits(engine.submit(request(key="a"))) == want


@pytest.mark.parametrize("dtype", [pytest.param(d, marks=LONG) if d in ("float32", "float16") else d for d in DTYPES])
@pytest.mark.sampled(2)
def test_a_wider_network(tmp_path, load, monkeypatch, dtype):
    """Wide enough that the threads really share each product, norm and activation."""
    wide = {"hidden_size": 768, "intermediate_size": 3072, "head_dim": 64, "num_attention_heads": 12}
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", num_key_value_heads=4, num_hidden_layers=2, **wide)
    want = bits(load(folder=folder, dtype=dtype).submit(request()))
    cut_prompts_into(monkeypatch, [7, 100, 1, 33])
    engine = load(folder=folder, dtype=dtype)
    jobs = [engine.submit(request(PROMPT[n:], seed=n)) for n in range(1, 6)]
    assert bits(engine.submit(request())) == want
    for job in jobs:
        job.result(60)


@pytest.fixture(scope="module")
def five_alone(tiny_folder, kernel_notes):
    """Five requests, and the answer to each of an engine that does nothing else."""
    wanted = [request(PROMPT[: 30 * n], seed=n) for n in range(1, 6)]
    alone = []
    for one in wanted:
        with Engine.load(tiny_folder(), dtype="float32", device="cpu", threads=2, kernel_notes=kernel_notes) as engine:
            alone.append(bits(engine.submit(one)))
    return wanted, alone


@pytest.mark.parametrize("strategy", ["sequential", "interleaved", "batched"])
def test_every_strategy_gives_the_same_answers(load, five_alone, strategy):
    wanted, alone = five_alone
    engine = load(strategy=strategy)
    jobs = [engine.submit(one) for one in wanted]
    assert [bits(job) for job in jobs] == alone


def test_the_answer_so_far_can_be_read_as_a_prompt(load):
    """An interrupted answer goes on with the same bits: its rows as a prompt are its rows as an answer."""
    engine = load(dtype="bfloat16")
    whole = engine.generate(request(temperature=0, max_tokens=40))
    rest = load(dtype="bfloat16").generate(request([*PROMPT, *whole.token_ids[:15]], temperature=0, max_tokens=25))
    assert rest.token_ids == whole.token_ids[15:]


def test_submitting_from_many_threads(load):
    wanted = [request(PROMPT[: 10 * n], seed=n, max_tokens=8) for n in range(1, 13)]
    alone = [bits(load().submit(one)) for one in wanted]
    engine = load(max_batch=4)
    got = {}

    def ask(index):
        got[index] = bits(engine.submit(wanted[index]))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(wanted))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [got[i] for i in range(len(wanted))] == alone


# --- without exactness: answers still do not change each other


@pytest.mark.parametrize(
    "dtype", [pytest.param("float32", marks=LONG), "bfloat16", pytest.param("float16", marks=LONG)]
)
def test_neighbours_and_cuts_change_nothing_without_exactness(tmp_path, load, monkeypatch, dtype):
    wide = {"hidden_size": 768, "intermediate_size": 3072, "head_dim": 64, "num_attention_heads": 12}
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", num_key_value_heads=4, num_hidden_layers=2, **wide)
    engine = load(folder=folder, dtype=dtype, exact=False)
    assert not engine.stats().exact
    want = bits(engine.submit(request()))
    for sizes in ([13, 64], [7, 100, 1, 33], [128]):
        cut_prompts_into(monkeypatch, sizes)
        engine = load(folder=folder, dtype=dtype, exact=False)
        jobs = [engine.submit(request(PROMPT[n : n + 50 * n], seed=n, max_tokens=3 * n)) for n in range(1, 6)]
        job = engine.submit(request())
        jobs[1].cancel()
        assert bits(job) == want
        for other in jobs:
            other.result(60)


def test_what_is_quantised_is_exact_in_any_case(load):
    assert load(dtype="int8", exact=False).stats().exact
    assert load(dtype="int4").stats().exact
    assert load(dtype="bfloat16").stats().exact


def test_guesses_change_nothing_without_exactness(load):
    loop = [5, 6, 7, 8] * 20
    want = bits(load(exact=False).submit(request(loop, temperature=0)))
    assert bits(load(exact=False, draft="ngram").submit(request(loop, temperature=0))) == want
