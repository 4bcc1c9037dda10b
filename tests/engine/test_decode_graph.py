"""Recorded steps give the bits of ordinary ones, and a recording is only played for the slots it was made for.

There is no card here. torch.fx takes CUDA's place: it, too, records which kernels run on which tensors, and plays
those again without the Python around them. What Python decides or computes is fixed in both.
"""

import weakref

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from llama_gui.engine import GenerateRequest, SamplingParams, card_graph, card_kernels, decode_graph, native_library
from llama_gui.engine import engine as engine_module
from llama_gui.engine.card_graph import graphs_of
from llama_gui.engine.decode_graph import CudaRecorder, DecodeGraphs, FixedStep
from llama_gui.engine.device import torch_threads
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.ranking import Ranker
from tests.engine.this_machine import needs_torch_int8
from tests.fakes.tiny_llama import write_tiny_llama

PROMPT = torch.randint(0, 250, (1100,), generator=torch.Generator().manual_seed(5)).tolist()
NOTHING = torch.empty(0)  # make_fx wants an argument
WARM = decode_graph._STEPS_BEFORE


class Recorder:
    """Records for the CPU, and counts."""

    def __init__(self, fails=False):
        self.recorded = self.played = 0
        self.fails = fails

    def __call__(self, run):
        if self.fails:
            raise RuntimeError("operation not permitted when stream is capturing")
        recording = make_fx(lambda _: run())(NOTHING)
        self.recorded += 1

        def replay():
            self.played += 1
            recording(NOTHING)

        return replay


@pytest.fixture(scope="module")
def networks(tiny_folder, kernel_notes):
    def load(shape, dtype):
        return load_model(tiny_folder(shape), dtype=dtype, kernel_notes=kernel_notes).network

    return load


@pytest.fixture(autouse=True)
def one_thread():
    """Two are slower where a network is this small, and a test here is thousands of calls."""
    with torch_threads(1):
        yield


@pytest.fixture(autouse=True)
def torch_only(monkeypatch):
    """Our own kernels are no operators of torch, so torch.fx does not see them; and a card has none."""
    monkeypatch.setattr(native_library, "load", lambda: None)


def conversations(network, lengths):
    """A cache, and slots with so many tokens of the prompt in them."""
    cache = KVCache(network.config, network.dtype, network.device, 2**27)
    slots = []
    for number, length in enumerate(lengths):
        tokens = PROMPT[number : number + length]
        slot = cache.acquire(str(number), [*tokens, 0], length + 100)
        slot.tokens = []
        cache.ensure_capacity(slot, length + 100)
        network.forward([Segment(slot, tokens, 0, is_prompt=True)])
        slot.tokens = list(tokens)
        slots.append(slot)
    return cache, slots


def drawn(slots, token=7):
    return [Segment(slot, [token + n]) for n, slot in enumerate(slots)]


def accept(segments):
    for segment in segments:
        segment.slot.tokens.extend(segment.token_ids)


# What a shape does beside its weights is the same in every dtype, and so is what a dtype does in every shape.
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        *(
            (shape, "float32")
            for shape in ("llama-3.2", "tinyllama", "qwen3", "smollm3", "gemma2", "olmo3", "ministral3")
        ),
        *((shape, "bfloat16") for shape in ("llama-3.2", "phi4-mini", "gemma3")),
        pytest.param("llama-3.2", "int8", marks=needs_torch_int8),
        *(
            pytest.param(shape, "float32", marks=pytest.mark.campaign)
            for shape in ("llama-3.1", "mistral", "granite", "phi4-mini", "gemma3")
        ),
        *(pytest.param(shape, "bfloat16", marks=pytest.mark.campaign) for shape in ("tinyllama", "mistral")),
        pytest.param("llama-3.1", "int8", marks=[needs_torch_int8, pytest.mark.campaign]),
    ],
)
@torch.inference_mode()
@pytest.mark.sampled(5)
def test_a_fixed_step_has_the_bits_of_an_ordinary_one(networks, shape, dtype):
    network = networks(shape, dtype)
    (_, ours), (_, theirs) = (conversations(network, (5, 100, 254)) for _ in range(2))
    step = FixedStep(network, drawn(ours))
    for token in (7, 50):
        segments, others = drawn(ours, token), drawn(theirs, token)
        step.set(segments)
        step.run()
        assert torch.equal(step.logits, network.forward(others))
        accept([*segments, *others])
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one.keys[:, :, : one.finite], other.keys[:, :, : other.finite])
        assert torch.equal(one.values[:, :, : one.finite], other.values[:, :, : other.finite])


@torch.inference_mode()
def test_a_step_is_recorded_when_it_was_the_same_some_times(networks):
    network, recorder = networks("llama-3.2", "float32"), Recorder()
    graphs = DecodeGraphs(network, recorder)
    _, slots = conversations(network, (5, 9))
    for _ in range(WARM):
        assert graphs.run(drawn(slots)) is None
    for token in (9, 33):
        segments = drawn(slots, token)
        got = graphs.run(segments)
        assert got is not None
        assert torch.equal(got, network.forward(segments))
        accept(segments)
    assert (recorder.recorded, recorder.played) == (1, 1)
    assert graphs.run(drawn(slots[:1])) is None  # one has left
    for _ in range(WARM):
        graphs.run(drawn(slots[:1]))
    assert recorder.recorded == 2


@torch.inference_mode()
def test_a_prompt_in_between_forgets_nothing_and_more_keys_do(networks):
    network, recorder = networks("llama-3.2", "float32"), Recorder()
    graphs = DecodeGraphs(network, recorder)
    block = network.attention_blocks.keys  # of another size on other CPUs
    _, slots = conversations(network, (block - 6, 9))
    for _ in range(WARM + 1):
        graphs.run(drawn(slots[:1]))
    prompt = Segment(slots[1], [1, 2, 3], is_prompt=True)
    guesses = Segment(slots[0], [1, 2], 2)
    assert graphs.run([*drawn(slots[:1]), prompt]) is graphs.run([guesses]) is None
    assert graphs.run(drawn(slots[:1])) is not None
    slots[0].tokens += [0] * 6  # the next is the first of another block of keys
    assert graphs.run(drawn(slots[:1])) is None


@torch.inference_mode()
def test_a_recording_keeps_no_conversation_in_memory(networks):
    network = networks("llama-3.2", "float32")
    graphs = DecodeGraphs(network, lambda run: run() or (lambda: None))
    cache, slots = conversations(network, (5,))
    for _ in range(WARM + 1):
        graphs.run(drawn(slots))
    keys, values = (weakref.ref(part) for part in (slots[0].keys, slots[0].values))
    cache.drop(slots.pop())
    assert (keys(), values()) == (None, None)


@torch.inference_mode()
def test_a_slot_that_has_grown_in_its_place_is_another(networks):
    network, recorder = networks("llama-3.2", "float32"), Recorder()
    graphs = DecodeGraphs(network, recorder)
    _, slots = conversations(network, (5,))
    for _ in range(WARM + 1):
        graphs.run(drawn(slots))
    slots[0].hold([(slots[0].keys[:, :, :256], slots[0].values[:, :, :256])], 256)
    assert graphs.run(drawn(slots)) is None


@torch.inference_mode()
def test_a_device_that_cannot_record_is_asked_once(networks, caplog):
    network, recorder = networks("llama-3.2", "float32"), Recorder(fails=True)
    graphs = DecodeGraphs(network, recorder)
    _, slots = conversations(network, (5,))
    assert [graphs.run(drawn(slots)) for _ in range(3 * WARM)] == [None] * (3 * WARM)
    assert caplog.text.count("cannot be recorded") == 1


@torch.inference_mode()
def test_what_was_recorded_outlives_a_longer_table_of_rotations(networks):
    network = networks("llama-3.2", "float32")
    _, slots = conversations(network, (5,))
    step = FixedStep(network, drawn(slots))
    network.rotaries[0].table(5000)
    step.set(drawn(slots))
    step.run()
    assert torch.equal(step.logits, network.forward(drawn(slots)))


def answers(engine):
    sampling = SamplingParams(temperature=1, top_k=0, top_p=0.95, min_p=0, seed=7)
    requests = [
        GenerateRequest(token_ids=PROMPT[n : 40 * n + 5], max_tokens=15 * n, sampling=sampling, logprobs=2)
        for n in range(1, 4)
    ]
    jobs = [engine.submit(request) for request in requests]
    return [[(out.token_id, out.logprob, out.top_logprobs) for out in job] for job in jobs]


def test_a_whole_engine_writes_the_same(load, monkeypatch):
    recorder = Recorder()
    want = answers(load())
    monkeypatch.setattr(engine_module, "graphs_of", lambda network, ranker: DecodeGraphs(network, recorder))
    assert answers(load()) == want
    assert recorder.recorded > 2
    assert recorder.played > 20


def test_on_a_cpu_nothing_is_recorded(networks):
    assert graphs_of(networks("llama-3.2", "float32"), Ranker(70)) is None


def test_of_a_mixture_nothing_is_recorded(networks, monkeypatch):
    usual, mixture = networks("llama-3.2", "float32"), networks("qwen3-moe", "float32")
    monkeypatch.setattr(Llama, "device", torch.device("cuda"))
    monkeypatch.setattr(card_graph, "CudaRecorder", Recorder)
    assert isinstance(graphs_of(usual, Ranker(70)), DecodeGraphs)
    assert graphs_of(mixture, Ranker(70)) is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@torch.inference_mode()
def test_a_real_recording(tmp_path, monkeypatch):
    monkeypatch.setattr(card_kernels, "find", lambda device: None)
    network = load_model(write_tiny_llama(tmp_path), dtype="bfloat16", device="cuda").network
    graphs = DecodeGraphs(network, CudaRecorder())
    _, slots = conversations(network, (5, 100))
    played = 0
    for token in range(WARM + 3):
        segments = drawn(slots, token)
        want = network.forward(segments)
        got = graphs.run(segments)
        if got is not None:
            played += 1
            torch.testing.assert_close(got, want, atol=1e-2, rtol=0)
        accept(segments)
    assert played == 3
