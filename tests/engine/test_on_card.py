"""The engine on an NVIDIA card, beside itself on the CPU; skipped where there is none.

The other tests need Qt, which a server with a card often lacks. These need neither it nor any fixture of ours:

    python -m pytest --noconftest -c /dev/null --rootdir . tests/engine/test_on_card.py
"""

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_gemma3 import write_tiny_seeing_gemma
from tests.fakes.tiny_llama import FAMILY_SHAPES, SHAPES, STRANGE_SHAPES, write_tiny_llama
from tests.fakes.tiny_pixtral import picture, write_tiny_pixtral
from tests.fakes.tiny_qwen_vl import write_tiny_qwen_vl
from tests.fakes.tiny_smolvlm import write_tiny_smolvlm

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

GREEDY = SamplingParams(temperature=0)
DRAWN = SamplingParams(temperature=1, top_k=0, top_p=0.95, min_p=0, seed=7)


def random_ids(count, seed=1):
    return torch.randint(0, 80, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.fixture
def folder(tmp_path):
    return lambda shape="llama-3.2": write_tiny_llama(tmp_path / shape, shape)


@pytest.fixture
def load():
    engines = []

    def load(folder, device="cuda", dtype="float32", **options):
        engines.append(Engine.load(folder, device=device, dtype=dtype, **options))
        return engines[-1]

    yield load
    for engine in engines:
        engine.close()


@pytest.mark.parametrize("shape", [*SHAPES, *FAMILY_SHAPES, *STRANGE_SHAPES])
def test_each_family_has_the_logits_and_the_answers_of_the_cpu(load, folder, shape):
    where = folder(shape)
    ours, theirs = load(where), load(where, "cpu")
    assert ours.info.device == "cuda"
    ids = random_ids(300)
    assert (ours.logits(ids) - theirs.logits(ids)).abs().max() < 2e-4
    for length, count in ((5, 64), (250, 40)):  # steps that are recorded, into windows and into another block of keys
        request = GenerateRequest(
            token_ids=random_ids(length, length), max_tokens=count, sampling=GREEDY, ignore_eos=True
        )
        assert ours.generate(request).token_ids == theirs.generate(request).token_ids


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("shape", ["llama-3.2", "tinyllama", "qwen2", "qwen3", "gemma3", "gpt-oss", "qwen3-moe"])
def test_half_precision_is_about_as_exact_as_on_the_cpu(load, folder, shape, dtype):
    where, ids = folder(shape), random_ids(200)
    exact = load(where, "cpu").logits(ids)
    # Of the first: once a rounded number has sent a token to another expert, all behind it differ.
    got, theirs = ((load(where, device, dtype).logits(ids) - exact)[:50].abs().mean(1) for device in ("cuda", "cpu"))
    assert got.median() < 1.3 * theirs.median() + 1e-3


@pytest.mark.parametrize(("dtype", "most"), [("int8", 0.08), ("int4", 0.4)])
@pytest.mark.parametrize("shape", ["llama-3.2", "tinyllama", "qwen2", "qwen3", "gemma3"])
def test_few_bits_are_close_to_exact_numbers(load, folder, shape, dtype, most):
    where, ids = folder(shape), random_ids(200)
    exact, got = load(where, "cpu").logits(ids), load(where, dtype=dtype).logits(ids)
    assert (got - exact).norm() / exact.norm() < most


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_what_is_written_in_recorded_steps_is_what_the_prompt_would_be(load, folder, dtype):
    """The logarithms of probabilities of an answer, and those of the same tokens read as a prompt."""
    engine = load(folder("llama-3.2"), dtype=dtype)
    prompt = random_ids(20)
    request = GenerateRequest(token_ids=prompt, max_tokens=400, sampling=DRAWN, ignore_eos=True)
    outputs = list(engine.submit(request))
    ids, got = ([getattr(output, name) for output in outputs] for name in ("token_id", "logprob"))
    logits = engine.logits([*prompt, *ids])[len(prompt) - 1 : -1].log_softmax(-1)
    want = logits.gather(1, torch.tensor(ids).unsqueeze(1))[:, 0]
    assert (torch.tensor(got) - want).abs().max() < {"float32": 1e-3, "bfloat16": 0.2, "int8": 0.4, "int4": 0.4}[dtype]


def test_no_prompt_waits_for_a_plan(load, folder, monkeypatch):
    """As cuDNN makes one for each new length of it."""
    asked = []
    attend = F.scaled_dot_product_attention

    def noting(*args, **named):
        asked.append(torch.backends.cuda.cudnn_sdp_enabled())
        return attend(*args, **named)

    monkeypatch.setattr(F, "scaled_dot_product_attention", noting)
    load(folder(), dtype="bfloat16").logits(random_ids(300))
    assert asked
    assert not any(asked)
    assert torch.backends.cuda.cudnn_sdp_enabled()  # for others


def test_chats_together_write_what_each_writes_alone(load, folder):
    """Sums in another order send a draw to the neighbour now and then; until then both knew the same probabilities."""
    together, alone = (load(folder("llama-3.1"), max_batch=most) for most in (64, 1))
    requests = [
        GenerateRequest(token_ids=random_ids(3 + 9 * n, n), max_tokens=30 + 5 * n, sampling=DRAWN) for n in range(40)
    ]
    answers = [
        [[(output.token_id, output.logprob) for output in job] for job in [engine.submit(one) for one in requests]]
        for engine in (together, alone)
    ]
    different = 0
    for some, others in zip(*answers, strict=True):
        for (token, logprob), (other, want) in zip(some, others, strict=False):
            if token != other:
                different += 1
                break
            assert abs(logprob - want) < 1e-3
        else:
            assert len(some) == len(others)
    assert different < 4


def test_chats_that_go_on_fork_and_end_early(load, folder):
    ours, theirs = (load(folder(), device) for device in ("cuda", "cpu"))
    answers = {}
    for engine in (ours, theirs):
        first = engine.generate(
            GenerateRequest(token_ids=random_ids(90), max_tokens=30, ignore_eos=True, sampling=GREEDY, cache_key="a")
        )
        longer = [*random_ids(90), *first.token_ids, *random_ids(700, 2)]
        second = engine.generate(
            GenerateRequest(token_ids=longer, max_tokens=30, ignore_eos=True, sampling=GREEDY, cache_key="a")
        )
        forked = engine.generate(
            GenerateRequest(token_ids=longer[:-5], max_tokens=30, ignore_eos=True, sampling=GREEDY, cache_key="b")
        )
        job = engine.submit(GenerateRequest(token_ids=random_ids(9), max_tokens=1500, sampling=GREEDY, ignore_eos=True))
        for _ in zip(range(20), job, strict=False):
            pass
        job.cancel()
        assert job.result().finish_reason == "cancelled"
        again = engine.generate(
            GenerateRequest(token_ids=longer, max_tokens=30, ignore_eos=True, sampling=GREEDY, cache_key="a")
        )
        answers[engine] = [list(one.token_ids) for one in (first, second, forked, again)]
    assert answers[ours] == answers[theirs]


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "Q4_K"])
def test_a_gguf_file(load, tmp_path, kind):
    model = write_tiny_llama(tmp_path / "model", "llama-3.1", hidden_size=256, intermediate_size=256, head_dim=64)
    file = write_gguf(model, tmp_path / "model.gguf", kind)
    ids = random_ids(100)
    ours, theirs = load(file), load(file, "cpu")
    assert (ours.logits(ids) - theirs.logits(ids)).abs().max() < 2e-4


def test_a_gguf_file_in_four_bits_stays_in_them(load, tmp_path):
    sizes = {"hidden_size": 256, "intermediate_size": 512, "head_dim": 64}
    file = write_gguf(write_tiny_llama(tmp_path / "model", "llama-3.1", **sizes), tmp_path / "model.gguf", "Q4_K")
    ours, exact = load(file, dtype="auto"), load(file, "cpu")
    assert ours.info.dtype == "int4"
    assert ours.info.source.endswith("held as int4")
    got, want = (engine.logits(random_ids(100)) for engine in (ours, exact))
    assert (got - want).norm() / want.norm() < 0.05
    request = GenerateRequest(token_ids=random_ids(40), max_tokens=50, ignore_eos=True, sampling=GREEDY)
    assert len(ours.generate(request).token_ids) == 50


def test_experts_in_mxfp4_stay_in_it(load, tmp_path):
    packed = {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}
    sizes = {"hidden_size": 320, "intermediate_size": 192, "head_dim": 64}
    folder = write_tiny_llama(tmp_path / "model", "gpt-oss", **sizes, **packed)
    ours, exact = load(folder, dtype="auto"), load(folder, "cpu")
    assert ours.info.source == "MXFP4 experts as they are, the rest as int8"
    got, want = (engine.logits(random_ids(100))[:50] for engine in (ours, exact))
    # Rounded numbers send a token to another expert now and then.
    assert ((got - want).norm(dim=1) / want.norm(dim=1)).median() < 0.1


SEEING = {
    "pixtral": write_tiny_pixtral,
    "gemma": write_tiny_seeing_gemma,
    "smolvlm": write_tiny_smolvlm,
    "qwen": write_tiny_qwen_vl,
}


@pytest.mark.parametrize("kind", SEEING)
def test_images_are_read_as_on_the_cpu(load, tmp_path, kind):
    folder = SEEING[kind](tmp_path / "model")
    ours, theirs = load(folder), load(folder, "cpu")
    images = [picture(100, 60, 1), picture(80, 90, 2, "JPEG")]
    asked = [Message("user", "Compare these.", images=images)]
    request = GenerateRequest(messages=asked, max_tokens=40, sampling=GREEDY, ignore_eos=True)
    state = ours.submit(request).answer_state
    ids = list(state.prompt_token_ids)
    got, want = (engine.logits(ids, list(state.images)) for engine in (ours, theirs))
    assert (got - want).abs().max() < 5e-4
    assert ours.generate(request).token_ids == theirs.generate(request).token_ids


@pytest.mark.parametrize("kind", SEEING)
def test_images_in_half_precision(load, tmp_path, kind):
    folder = SEEING[kind](tmp_path / "model")
    asked = [Message("user", "What is it?", images=[picture(100, 60, 1)])]
    request = GenerateRequest(messages=asked, max_tokens=20, sampling=GREEDY, ignore_eos=True)
    exact = load(folder, "cpu")
    state = exact.submit(request).answer_state
    prompt = list(state.prompt_token_ids), list(state.images)
    engine = load(folder, dtype="bfloat16")
    got, want = engine.logits(*prompt), exact.logits(*prompt)
    assert (got - want).norm() / want.norm() < 0.08
    assert len(engine.generate(request).token_ids) == 20


def test_guesses_do_not_change_an_answer(load, folder):
    prompt = random_ids(30) * 4
    request = GenerateRequest(token_ids=prompt, max_tokens=100, sampling=GREEDY)
    assert load(folder(), draft="ngram").generate(request).token_ids == load(folder()).generate(request).token_ids


def test_a_closed_engine_gives_the_cards_memory_back(load, folder):
    where = folder()
    load(where, dtype="bfloat16").close()  # libraries keep some for themselves
    before = torch.cuda.memory_allocated()
    engine = load(where, dtype="bfloat16")
    engine.generate(GenerateRequest(token_ids=random_ids(50), max_tokens=30, sampling=GREEDY))
    engine.close()
    assert torch.cuda.memory_allocated() <= before
