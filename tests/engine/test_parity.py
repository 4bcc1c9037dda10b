"""Our numbers beside those of transformers, the reference."""

import copy
import functools

import pytest
import torch

from llama_gui.engine import GenerateRequest, Message, SamplingParams
from llama_gui.engine.device import torch_threads
from tests.fakes.reference_cache import fresh_cache
from tests.fakes.tiny_llama import CPU_SHAPES, FAMILY_SHAPES, SHAPES, write_tiny_llama

GREEDY = SamplingParams(temperature=0)


@pytest.fixture
def usual_dtype() -> str:
    """What is compared is computed in float32, unless a test tells otherwise."""
    return "float32"


def reference(folder, dtype=torch.float32):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()


def random_ids(count, vocab, seed=1):
    return torch.randint(0, vocab, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


@torch.no_grad()
def reference_greedy(model, prompt, count):
    ids, cache = torch.tensor([prompt]), fresh_cache(model)
    answer = []
    for _ in range(count):
        ids = model(ids, **cache).logits[:, -1:].argmax(-1)
        answer.append(int(ids))
    return answer


@pytest.fixture(scope="module")
def theirs(tiny_folder):
    """The model of a shape as transformers has it; made once, so leave it as it is."""
    return functools.cache(lambda shape: reference(tiny_folder(shape)))


@pytest.fixture(autouse=True)
def one_thread():
    """Two are slower where a network is this small."""
    with torch_threads(1):
        yield


@torch.no_grad()
def logits_of(model, ids):
    """``[ids, vocabulary]``"""
    return model(torch.tensor([ids])).logits[0].float()


@pytest.mark.parametrize("shape", SHAPES + FAMILY_SHAPES + CPU_SHAPES)
def test_logits_in_float32(load, theirs, shape):
    engine = load(shape)
    model = theirs(shape)
    ids = random_ids(300, model.config.vocab_size)
    want = logits_of(model, ids)
    got = engine.logits(ids)
    assert got.shape == want.shape
    assert got.dtype == torch.float32
    assert (got - want).abs().max() < 1e-4


@pytest.mark.parametrize("shape", SHAPES + FAMILY_SHAPES + CPU_SHAPES)
@pytest.mark.sampled(12)
def test_greedy_tokens(load, theirs, shape):
    engine = load(shape)
    model = theirs(shape)
    # The answer to the short one grows out of the windows, where there are some; the others are longer than these.
    grown = 64 if getattr(model.config.get_text_config(), "sliding_window", None) else 16
    for seed, length, answer in ((1, 5, grown), (3, 300, 24)):
        prompt = random_ids(length, model.config.vocab_size, seed)
        result = engine.generate(GenerateRequest(token_ids=prompt, max_tokens=answer, sampling=GREEDY))
        # What transformers would write after each part of our answer: if that is it, it writes the same by itself.
        logits = logits_of(model, [*prompt, *result.token_ids[:-1]])
        assert list(result.token_ids) == logits[length - 1 :].argmax(-1).tolist()
        assert (len(result.token_ids), result.finish_reason) == (answer, "length")
    if shape in SHAPES:
        assert list(result.token_ids) == reference_greedy(model, prompt, answer)


@pytest.mark.parametrize("shape", SHAPES + FAMILY_SHAPES + CPU_SHAPES)
@pytest.mark.sampled(20)
def test_logits_in_bfloat16(load, theirs, shape):
    engine = load(shape, dtype="bfloat16")
    model = theirs(shape)
    ids = random_ids(200, model.config.vocab_size)
    want = logits_of(model, ids)
    coarse = logits_of(copy.deepcopy(model).to(torch.bfloat16), ids)
    # bfloat16 is coarse: we may be as far from the exact logits as transformers is, and a little more.
    assert (engine.logits(ids) - want).abs().mean() < 1.2 * (coarse - want).abs().mean()


@pytest.mark.parametrize("shape", ["llama-3.2", "tinyllama", "qwen2"])
def test_logits_in_int8(load, theirs, shape):
    engine = load(shape, dtype="int8")
    model = theirs(shape)
    ids = random_ids(200, model.config.vocab_size)
    with torch.no_grad():
        want = model(torch.tensor([ids])).logits[0]
    got = engine.logits(ids)
    assert (got - want).norm() / want.norm() < 0.08
    assert (got.argmax(-1) == want.argmax(-1)).float().mean() > 0.9
    assert engine.info.dtype == engine.stats().dtype == "int8"


@pytest.mark.parametrize(
    "changes",
    [
        {"attention_bias": True, "mlp_bias": True},
        {"num_key_value_heads": 4},
        {"head_dim": 24, "num_key_value_heads": 1},
        {"rope_parameters": None, "rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 5000.0},
        {"intermediate_size": 100, "hidden_size": 48},
    ],
    ids=["biases", "no groups", "own head_dim", "linear rope", "odd sizes"],
)
def test_switches(tmp_path, load, changes):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.1", **changes)
    engine = load(folder=folder)
    model = reference(folder)
    ids = random_ids(150, model.config.vocab_size)
    with torch.no_grad():
        want = model(torch.tensor([ids])).logits[0]
    assert (engine.logits(ids) - want).abs().max() < 1e-4


def test_experts_whose_weights_do_not_add_up_to_one(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "model", "qwen3-moe", norm_topk_prob=False)
    ids = random_ids(100, reference(folder).config.vocab_size)
    want = logits_of(reference(folder), ids)
    assert (load(folder=folder).logits(ids) - want).abs().max() < 1e-4
    other = load(folder=write_tiny_llama(tmp_path / "other", "qwen3-moe"))
    assert (other.logits(ids) - want).abs().max() > 0.1


def test_a_mixture_whose_tokens_share_no_expert(tmp_path, load):
    folder = write_tiny_llama(tmp_path / "model", "ernie-moe", moe_num_shared_experts=0)
    ids = random_ids(20, 80)
    assert torch.allclose(load(folder=folder).logits(ids), logits_of(reference(folder), ids), atol=2e-5)


def test_shards_and_one_file_are_the_same_model(tmp_path, load):
    whole = load(folder=write_tiny_llama(tmp_path / "whole"))
    shards = load(folder=write_tiny_llama(tmp_path / "shards", shards=3))
    assert torch.equal(whole.logits([1, 2, 3]), shards.logits([1, 2, 3]))


@pytest.mark.parametrize("shape", [*SHAPES, "gemma3"])
def test_chat_prompt(load, tiny_folder, shape):
    from transformers import AutoTokenizer

    messages = [Message("system", "Be brief."), Message("user", "Hi, Zoë!\n\n"), Message("assistant", "Hello"),
                Message("user", "  Why?  ")]  # fmt: skip
    plain = [{"role": m.role, "content": m.content} for m in messages]
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder(shape))
    engine = load(shape)
    text = tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True)
    ids = tokenizer.apply_chat_template(plain, add_generation_prompt=True, return_dict=False)
    assert engine.apply_chat_template(messages) == text
    assert engine.apply_chat_template(messages, tokenize=True) == ids
    assert engine.measure(GenerateRequest(messages=messages)).tokens == len(ids)


def test_a_template_that_knows_no_system_role_gets_its_words_in_the_users_turn(load):
    """As Gemma 2, and as Gemma 3's template does by itself."""
    messages = [Message("system", "Be brief."), Message("user", "Hi, Zoë!"), Message("assistant", "Hello"),
                Message("user", "Why?")]  # fmt: skip
    text = load("gemma2").apply_chat_template(messages)
    assert text == load("gemma3").apply_chat_template(messages)
    assert text.startswith("<bos><start_of_turn>user\nBe brief.\n\nHi, Zoë!<end_of_turn>")
