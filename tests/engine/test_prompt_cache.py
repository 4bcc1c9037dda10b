"""Long conversations go on after a restart without being read again, and their bits stay the same."""

import os
import shutil
import threading
import time
from dataclasses import replace

import pytest
import torch

from llama_gui import prompt_folder
from llama_gui.engine import Engine, GenerateRequest, SamplingParams, prompt_cache
from llama_gui.engine.block_files import BlockFiles
from llama_gui.engine.config import load_config
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.scheduler import Scheduler
from llama_gui.engine.sequence import Sequence
from llama_gui.errors import GenerationError, InvalidRequestError
from tests.fakes.tiny_llama import write_tiny_llama

PROMPT = [3 + i * 7 % 200 for i in range(300)]
KEPT = 256
"""Tokens of whole blocks in `PROMPT`."""


@pytest.fixture(autouse=True)
def worth_keeping(monkeypatch):
    """Whatever a tiny model reads."""
    monkeypatch.setattr(prompt_cache, "LEAST_SECONDS", 0.0)


def ask(engine, prompt=PROMPT, **fields):
    fields = {"max_tokens": 6, "ignore_eos": True, "logprobs": 3, **fields}
    job = engine.submit(GenerateRequest(token_ids=prompt, sampling=SamplingParams(seed=1), **fields))
    outputs = list(job)
    return job.result(), [(out.token_id, out.logprob, out.top_logprobs) for out in outputs]


def wait_until(is_so, seconds=20):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def kept(tmp_path):
    """The folder where prompts are kept."""
    return tmp_path / "prompts"


def read_before(load, kept, prompt=PROMPT, **options):
    """Another engine reads the prompt and keeps it; its answer."""
    engine = load(prompt_cache=kept, **options)
    result, outputs = ask(engine, prompt)
    engine.keep_prompts()
    engine.close()
    assert result.usage.cached_tokens == 0
    return outputs


@pytest.mark.parametrize(
    "options", [{}, {"dtype": "int8"}, {"dtype": "float32"}, {"dtype": "float32", "cache_dtype": "int8"}]
)
def test_a_conversation_goes_on_after_a_restart_with_equal_bits(load, kept, options):
    outputs = read_before(load, kept, **options)
    result, again = ask(load(prompt_cache=kept, **options))
    assert result.usage.cached_tokens == KEPT
    assert again == outputs


@pytest.mark.parametrize("strategy", ["batched", "interleaved", "sequential"])
def test_beside_others(load, kept, strategy):
    outputs = read_before(load, kept)
    engine = load(prompt_cache=kept, strategy=strategy)
    others = [engine.submit(GenerateRequest(token_ids=[5 + i] * 40, max_tokens=30, ignore_eos=True)) for i in range(3)]
    result, again = ask(engine)
    assert result.usage.cached_tokens == KEPT
    assert again == outputs
    assert [job.result().finish_reason for job in others] == ["length"] * 3


def test_it_goes_on_from_where_the_texts_part(load, kept):
    read_before(load, kept)
    engine = load(prompt_cache=kept)
    other = [*PROMPT[:200], 9, 9, 9, *PROMPT[203:]]
    result, outputs = ask(engine, other)
    assert result.usage.cached_tokens == 192
    assert outputs == ask(load(), other)[1]


def test_memory_comes_first_and_the_disk_behind_it(load, kept):
    read_before(load, kept)
    engine = load(prompt_cache=kept)
    ask(engine, PROMPT[:100], cache_key="chat")
    result, outputs = ask(engine, cache_key="chat")
    assert result.usage.cached_tokens == KEPT
    assert outputs == ask(load())[1]
    assert ask(engine, cache_key="chat")[0].usage.cached_tokens == len(PROMPT) - 1


def test_what_a_chat_adds_is_kept_too(load, kept):
    engine = load(prompt_cache=kept)
    result, _ = ask(engine, PROMPT, max_tokens=100)
    engine.keep_prompts()
    engine.close()
    longer = [*PROMPT, *result.token_ids, 7, 8]
    result, outputs = ask(load(prompt_cache=kept), longer)
    assert result.usage.cached_tokens == 384
    assert outputs == ask(load(), longer)[1]


def test_chats_that_begin_alike_share_files(load, kept):
    read_before(load, kept)
    before = {path.name for path in kept.glob("*.kv")}
    engine = load(prompt_cache=kept)
    ask(engine, [*PROMPT[:256], *range(3, 67)])
    engine.keep_prompts()
    added = {path.name for path in kept.glob("*.kv")} - before
    assert len(before) == 4
    assert len(added) == 1


def test_it_is_kept_while_the_engine_has_nothing_to_do(load, kept):
    ask(load(prompt_cache=kept))
    wait_until(lambda: len(list(kept.glob("*.kv"))) >= KEPT // prompt_cache.BLOCK, 30)


def test_what_an_evicted_chat_said_comes_from_the_disk(load, kept):
    engine = load(prompt_cache=kept)
    ask(engine, cache_key="chat")
    engine.keep_prompts()
    engine._loop.call(engine._cache.clear)
    assert ask(engine, cache_key="chat")[0].usage.cached_tokens == KEPT


def test_another_model_of_the_same_shape_finds_nothing(load, kept, tmp_path):
    read_before(load, kept)
    other = write_tiny_llama(tmp_path / "other", "llama-3.2", seed=5)
    result, outputs = ask(load(folder=other, prompt_cache=kept))
    assert result.usage.cached_tokens == 0
    assert outputs == ask(load(folder=other))[1]


def test_another_precision_finds_nothing(load, kept):
    read_before(load, kept, dtype="float32")
    for options in ({"dtype": "bfloat16"}, {"dtype": "float32", "cache_dtype": "int8"}):
        assert ask(load(prompt_cache=kept, **options))[0].usage.cached_tokens == 0


def test_files_of_the_model_that_were_written_since_count_as_another(load, kept, tmp_path):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2")
    read_before(load, kept, folder=folder)
    weights = next(folder.glob("*.safetensors"))
    os.utime(weights, (1, 1))
    assert ask(load(folder=folder, prompt_cache=kept))[0].usage.cached_tokens == 0


def test_a_model_that_was_deleted_meanwhile_answers(load, kept, tmp_path):
    folder = write_tiny_llama(tmp_path / "model", "llama-3.2")
    read_before(load, kept, folder=folder)
    engine = load(folder=folder, prompt_cache=kept)
    shutil.rmtree(folder)
    assert ask(engine)[0].usage.cached_tokens == KEPT


def test_what_was_said_before_the_folder_was_emptied_is_not_written_again(load, kept):
    engine = load(prompt_cache=kept)
    ask(engine, PROMPT, cache_key="deleted")
    engine.keep_prompts()
    ask(engine, [5, *PROMPT], cache_key="deleted, too")  # perhaps it is on its way to the disk
    prompt_folder.empty(kept)
    ask(engine, [7, *PROMPT], cache_key="other")
    engine.keep_prompts()
    again = load(prompt_cache=kept)
    cached = [ask(again, prompt)[0].usage.cached_tokens for prompt in (PROMPT, [5, *PROMPT], [7, *PROMPT])]
    assert cached == [0, 0, KEPT]


def test_a_chat_that_goes_on_is_kept_whole_after_the_folder_was_emptied(load, kept):
    engine = load(prompt_cache=kept)
    ask(engine, PROMPT, cache_key="chat")
    engine.keep_prompts()
    prompt_folder.empty(kept)
    ask(engine, PROMPT * 2, cache_key="chat")
    engine.keep_prompts()
    assert ask(load(prompt_cache=kept), PROMPT * 2)[0].usage.cached_tokens == 576


def test_nobody_finds_out_what_others_said(load, kept):
    read_before(load, kept)
    engine = load(prompt_cache=kept)
    assert ask(engine, asker="server")[0].usage.cached_tokens == 0
    assert ask(engine, asker="server")[0].usage.cached_tokens == len(PROMPT) - 1
    assert ask(engine)[0].usage.cached_tokens == KEPT  # from the disk, not from the server's
    engine.keep_prompts()
    again = load(prompt_cache=kept)
    assert ask(again, asker="other")[0].usage.cached_tokens == 0
    assert ask(again, asker="server")[0].usage.cached_tokens == KEPT


def test_what_runs_the_model_is_part_of_every_name(tiny_folder, monkeypatch):
    folder = tiny_folder("llama-3.2")
    config = load_config(folder)
    stamps = {
        prompt_cache.stamp_of(folder, config),
        prompt_cache.stamp_of(folder, replace(config, sliding_window=300)),
        prompt_cache.stamp_of(folder, replace(config, sliding_window=500)),
    }
    monkeypatch.setattr(prompt_cache, "__version__", "99")
    stamps.add(prompt_cache.stamp_of(folder, config))
    monkeypatch.setattr(torch, "__version__", "99")
    stamps.add(prompt_cache.stamp_of(folder, config))
    monkeypatch.setattr(prompt_cache, "__file__", str(folder / "x.py"))
    stamps.add(prompt_cache.stamp_of(folder, config))
    assert len(stamps) == 6


def test_a_step_gives_few_blocks_to_the_disk(load, kept, monkeypatch):
    engine = load(prompt_cache=kept)
    budget = engine._loop._scheduler.budget
    engine._loop.call(lambda: setattr(budget, "chunk", lambda pending, decodes: min(pending, 400)))
    engine._loop.call(lambda: setattr(engine._loop, "_keep_next", lambda: False))
    for i in range(3):
        ask(engine, [5 + i, *PROMPT], cache_key=str(i))
    counts, keep = [], prompt_cache.PromptCache.keep_read

    def counted(self, slots, seconds):
        before = len(self._files._names or ())
        keep(self, slots, seconds)
        counts.append(len(self._files._names or ()) - before)

    monkeypatch.setattr(prompt_cache.PromptCache, "keep_read", counted)
    ask(engine, PROMPT * 3, cache_key="long")
    assert counts
    assert max(counts) <= 4


@pytest.mark.parametrize("strategy", ["batched", "interleaved", "sequential"])
def test_the_disk_does_not_take_turns_of_answers(load, kept, strategy):
    engine = load(prompt_cache=kept, strategy=strategy)
    loop, seen = engine._loop, []
    writer = engine.submit(GenerateRequest(token_ids=[5] * 40, max_tokens=2000, ignore_eos=True))
    next(iter(writer))
    engine.submit(
        GenerateRequest(token_ids=PROMPT, max_tokens=1),
        on_output=lambda _job, _out: seen.append(loop._others_wait(2)),
    )
    if strategy != "sequential":
        while not seen:
            time.sleep(0.005)
    writer.cancel()
    while not seen:
        time.sleep(0.005)
    assert seen == [strategy != "sequential"]


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("odd"), ValueError("embedded null byte")])
def test_a_fault_in_reading_ends_no_answer(load, kept, monkeypatch, caplog, fault):
    outputs = read_before(load, kept)

    def broken(*_arguments):
        raise fault

    for name in ("find", "recall"):
        engine = load(prompt_cache=kept)
        monkeypatch.setattr(prompt_cache.PromptCache, name, broken)
        assert ask(engine)[1] == outputs
        monkeypatch.undo()
        monkeypatch.setattr(prompt_cache, "LEAST_SECONDS", 0.0)
    assert "cannot be kept" in caplog.text


def test_an_engine_that_is_closed_by_a_callback_leaves_no_thread(load, kept):
    engine = load(prompt_cache=kept)
    ended = threading.Event()

    def close(job, _output):
        engine.close()
        ended.set()

    engine.submit(GenerateRequest(token_ids=PROMPT * 3, max_tokens=4, ignore_eos=True), on_output=close)
    assert ended.wait(20)
    wait_until(lambda: not [thread for thread in threading.enumerate() if "llama-gui" in thread.name])


def test_what_another_process_has_deleted_is_kept_again(load, kept):
    engine = load(prompt_cache=kept)
    ask(engine, cache_key="chat")
    engine.keep_prompts()
    next(kept.glob("000001-*")).unlink()
    ask(engine, PROMPT * 2, cache_key="chat")
    engine.keep_prompts()
    assert ask(load(prompt_cache=kept), PROMPT * 2)[0].usage.cached_tokens == 576


def test_a_damaged_file_is_read_again(load, kept):
    outputs = read_before(load, kept)
    third = next(kept.glob("000002-*"))
    third.write_bytes(third.read_bytes()[:-1] + b"?")
    result, again = ask(load(prompt_cache=kept))
    assert result.usage.cached_tokens == 128
    assert again == outputs


def test_a_prompt_whose_logits_are_wanted_takes_only_what_it_may(load, kept):
    outputs = read_before(load, kept)
    engine = load(prompt_cache=kept)
    result, again = ask(engine, prompt_logprobs=1)
    assert len(result.prompt_logprobs) == len(PROMPT)
    assert result.usage.cached_tokens == 0
    assert again == outputs


def test_a_cancelled_answer_ends_while_it_comes_from_the_disk(load, kept, monkeypatch):
    read_before(load, kept)
    engine = load(prompt_cache=kept)
    began, go_on, recall = threading.Event(), threading.Event(), prompt_cache.PromptCache.recall

    def slow(self, *arguments):
        began.set()
        go_on.wait(20)
        return recall(self, *arguments)

    monkeypatch.setattr(prompt_cache.PromptCache, "recall", slow)
    job = engine.submit(GenerateRequest(token_ids=PROMPT, max_tokens=6))
    assert began.wait(20)
    job.cancel()
    go_on.set()
    assert job.result().finish_reason == "cancelled"
    monkeypatch.undo()
    assert ask(engine)[1] == ask(load())[1]


def test_a_prompt_is_kept_while_it_is_read(load, kept, monkeypatch):
    engine = load(prompt_cache=kept)
    engine._loop.call(
        lambda: setattr(engine._loop._scheduler.budget, "chunk", lambda pending, decodes: min(pending, 70))
    )
    read = threading.Event()

    def seen(self, sequence, tokens, accept=Sequence.accept):
        accept(sequence, tokens)
        if len(sequence.slot.tokens) >= 280:
            read.set()
            time.sleep(0.05)

    monkeypatch.setattr(Sequence, "accept", lambda sequence, tokens: seen(None, sequence, tokens))
    long = PROMPT * 3
    job = engine.submit(GenerateRequest(token_ids=long, max_tokens=6))
    assert read.wait(20)
    job.cancel()
    assert job.result().finish_reason == "cancelled"
    engine.close()
    monkeypatch.undo()
    monkeypatch.setattr(prompt_cache, "LEAST_SECONDS", 0.0)
    result, outputs = ask(load(prompt_cache=kept), long)
    assert 0 < result.usage.cached_tokens < len(long) - 100
    assert outputs == ask(load(), long)[1]


def test_no_memory_for_what_is_kept_is_told_by_the_step(load, kept, monkeypatch):
    read_before(load, kept)
    engine = load(prompt_cache=kept)

    def none(self, slot, tokens):
        raise GenerationError("no memory")

    monkeypatch.setattr(KVCache, "ensure_capacity", none)
    with pytest.raises(GenerationError, match="no memory"):
        ask(engine)
    monkeypatch.undo()
    assert ask(engine)[0].usage.completion_tokens == 6


def test_a_fault_in_keeping_ends_no_answer(load, kept, monkeypatch, caplog):
    engine = load(prompt_cache=kept)

    def broken(self, seconds):
        raise RuntimeError("broken")

    monkeypatch.setattr(prompt_cache.PromptCache, "keep_next", broken)
    assert ask(engine)[0].finish_reason == "length"
    engine.keep_prompts()  # now it has been tried
    assert ask(engine)[0].finish_reason == "length"
    assert "cannot be kept" in caplog.text


def test_short_and_quickly_read_ones_are_not_kept(load, kept, monkeypatch):
    engine = load(prompt_cache=kept)
    ask(engine, PROMPT[:200])
    engine.keep_prompts()
    assert not kept.exists()
    monkeypatch.setattr(prompt_cache, "LEAST_SECONDS", 1e9)
    ask(engine, PROMPT)
    engine.keep_prompts()
    assert not kept.exists()


@pytest.mark.parametrize("options", [{"prompt_cache": None}, {"prompt_cache_bytes": 0}, {"exact": False}])
def test_nothing_is_kept_where_nothing_shall_be(load, kept, options, monkeypatch):
    if options.get("exact") is False:
        monkeypatch.setattr("llama_gui.engine.llama.Llama.is_exact", property(lambda _: False))
    engine = load(**{"prompt_cache": kept, **options})
    ask(engine)
    engine.keep_prompts()
    assert not kept.exists()


@pytest.mark.parametrize(
    "options", [{"prompt_cache": 3}, {"prompt_cache": ""}, {"prompt_cache_bytes": -1}, {"prompt_cache_bytes": 1.5}]
)
def test_what_cannot_be_a_place_is_refused(tiny_folder, options):
    with pytest.raises(InvalidRequestError, match="prompt_cache"):
        Engine.load(tiny_folder("llama-3.2"), **options)


def test_no_thread_is_left_behind(load, kept):
    engine = load(prompt_cache=kept)
    ask(engine)
    engine.keep_prompts()
    engine.close()
    assert not [thread for thread in threading.enumerate() if "prompt-cache" in thread.name]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_a_block_goes_out_and_in(dtype):
    from llama_gui.engine.kv_cache import Slot

    made = [torch.randint(-100, 100, (2, 3, 512, 8)).to(dtype) for _ in range(4)]
    one, other = Slot(None, *made[:2]), Slot(None, *made[2:])
    content = one.block(64, 128)
    assert len(content) == one.block_bytes(64)
    before = other.keys.clone()
    other.put_block(64, 128, bytearray(content))
    for mine, theirs in ((other.keys, one.keys), (other.values, one.values)):
        assert torch.equal(mine[:, :, 64:128], theirs[:, :, 64:128])
    assert torch.equal(other.keys[:, :, :64], before[:, :, :64])
    assert torch.equal(other.keys[:, :, 128:], before[:, :, 128:])


@pytest.fixture
def slow_disk(monkeypatch):
    """Blocks come, and get their times, when `set` is called."""
    arrive = threading.Event()

    def slowly(work):
        def slow(self, *arguments):
            arrive.wait(20)
            return work(self, *arguments)

        return slow

    for name in ("read", "_use"):
        monkeypatch.setattr(BlockFiles, name, slowly(getattr(BlockFiles, name)))
    yield arrive
    arrive.set()


@pytest.mark.parametrize("strategy", ["interleaved", "batched"])
def test_other_answers_do_not_wait_for_the_disk(load, kept, slow_disk, strategy):
    slow_disk.set()
    outputs = read_before(load, kept, PROMPT, strategy=strategy)
    slow_disk.clear()
    engine = load(prompt_cache=kept, strategy=strategy)
    from_disk = engine.submit(GenerateRequest(token_ids=PROMPT, max_tokens=6, ignore_eos=True, logprobs=3))
    other, _ = ask(engine, [5, 6, 7], max_tokens=50)
    assert other.usage.completion_tokens == 50
    assert engine.stats().running == 1
    slow_disk.set()
    assert from_disk.result().usage.cached_tokens == KEPT
    assert ask(engine)[1] == outputs


def test_an_answer_is_cancelled_while_the_disk_says_nothing(load, kept, slow_disk, monkeypatch):
    slow_disk.set()
    read_before(load, kept)
    slow_disk.clear()
    engine = load(prompt_cache=kept)
    job = engine.submit(GenerateRequest(token_ids=PROMPT, max_tokens=6))
    while not engine._loop._recalls:
        time.sleep(0.005)
    steps, schedule = [], Scheduler.schedule
    monkeypatch.setattr(Scheduler, "schedule", lambda *arguments: steps.append(1) or schedule(*arguments))
    time.sleep(0.2)
    assert len(steps) <= 2  # the thread waits, and does not ask again and again; others may have it
    job.cancel()
    assert job.result().finish_reason == "cancelled"
    assert not slow_disk.is_set()
    slow_disk.set()


def test_an_engine_that_the_collector_finds_in_a_thread_of_its_files_is_closed_elsewhere(load, kept, monkeypatch):
    engine = load(prompt_cache=kept)
    ask(engine)
    closed = threading.Event()

    def write(self, *_arguments):
        engine._loop.close()  # as the finalizer does, wherever the collector runs
        closed.set()

    monkeypatch.setattr(BlockFiles, "_write", write)
    ask(engine, PROMPT * 2)
    assert closed.wait(20)
    wait_until(lambda: not [thread for thread in threading.enumerate() if "llama-gui" in thread.name])


# --- where layers sum up what was read


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "int8"},
        {"dtype": "float32"},
        {"dtype": "float32", "cache_dtype": "int8"},
        {"shape": "qwen3.5-moe"},
    ],
)
def test_an_answer_is_written_anew_after_a_restart_with_equal_bits(load, kept, options):
    options = {"shape": "qwen3.5", **options}
    outputs = read_before(load, kept, **options)
    engine = load(prompt_cache=kept, **options)
    result, again = ask(engine, cache_key="chat")
    assert result.usage.cached_tokens == len(PROMPT) - 16
    assert again == outputs
    result, again = ask(engine, cache_key="chat")  # goes back to what came from the disk
    assert result.usage.cached_tokens == len(PROMPT) - 16
    assert again == outputs


@pytest.mark.parametrize("count", [1, 84, 85, 86, 150])
@pytest.mark.sampled(3)
def test_a_summed_up_chat_goes_on_after_a_restart(load, kept, count):
    """From its end, whether or not that is the end of a block."""
    engine = load("qwen3.5", prompt_cache=kept)
    result, _ = ask(engine, max_tokens=count)
    engine.keep_prompts()
    engine.close()
    longer = [*PROMPT, *result.token_ids, *range(5, 80)]
    again, outputs = ask(load("qwen3.5", prompt_cache=kept), longer)
    assert again.usage.cached_tokens == (len(PROMPT) + count - 1 if count > 1 else len(PROMPT))
    assert outputs == ask(load("qwen3.5"), longer)[1]


def test_right_guesses_are_not_part_of_a_kept_state(load, kept):
    def written(engine, prompt, count=200):
        sampling = SamplingParams(temperature=0)
        request = GenerateRequest(token_ids=prompt, sampling=sampling, max_tokens=count, ignore_eos=True)
        return engine.submit(request).result()

    answer = list(written(load("qwen3.5"), PROMPT).token_ids)
    engine = load("qwen3.5", prompt_cache=kept, draft="ngram")
    places: dict[int, int] = {}  # by tokens of the conversation
    for count in range(190, 200):  # it repeats itself, so that guesses are right, and some answers end behind one
        assert list(written(engine, PROMPT, count).token_ids) == answer[:count]
        slot = max(engine._cache._slots, key=lambda slot: slot.last_used)
        places[len(slot.tokens)] = slot.states.place(len(slot.tokens))
        if places[len(slot.tokens)] < len(slot.tokens):
            break
    held, place = places.popitem()
    assert len(PROMPT) < place < held
    engine.keep_prompts()
    engine.close()
    prompt = [*PROMPT, *answer[: held - len(PROMPT)], *range(5, 80)]
    again = written(load("qwen3.5", prompt_cache=kept), prompt)
    assert again.usage.cached_tokens == place
    assert again.token_ids == written(load("qwen3.5"), prompt).token_ids


def test_only_the_last_states_of_a_chat_stay_on_the_disk(load, kept):
    engine = load("qwen3.5", prompt_cache=kept)
    prompt = PROMPT
    for _ in range(3):
        result, _ = ask(engine, prompt, cache_key="chat")
        engine.keep_prompts()
        prompt = [*prompt, *result.token_ids, *range(5, 80)]
    wait_until(lambda: len(list(kept.glob("*+*.kv"))) == 2)
    assert len(list(kept.glob("*.kv"))) == len(prompt[:-75]) // 64 + 2
    engine.close()
    engine = load("qwen3.5", prompt_cache=kept)
    result, outputs = ask(engine, prompt, cache_key="chat")
    assert result.usage.cached_tokens == len(prompt) - 76
    assert outputs == ask(load("qwen3.5"), prompt)[1]
    engine.keep_prompts()  # what came from the disk makes room, too
    wait_until(lambda: len(list(kept.glob("*+*.kv"))) == 3)
    assert not list(kept.glob(f"*+{len(prompt) - 76}.kv"))


def test_a_state_without_the_blocks_before_it_is_no_use(load, kept):
    outputs = read_before(load, kept, shape="qwen3.5")
    next(kept.glob("000001-*")).unlink()
    result, again = ask(load("qwen3.5", prompt_cache=kept))
    assert result.usage.cached_tokens == 0
    assert again == outputs


@pytest.mark.parametrize("damaged", ["000002-*", "*+284*"])
def test_a_damaged_file_before_a_state_is_read_again(load, kept, damaged):
    outputs = read_before(load, kept, shape="qwen3.5")
    file = next(kept.glob(damaged))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    result, again = ask(load("qwen3.5", prompt_cache=kept))
    assert result.usage.cached_tokens == 0
    assert again == outputs


def test_states_of_a_long_prompt_are_kept_while_it_is_read(load, kept, monkeypatch):
    monkeypatch.setattr(prompt_cache, "STATES_EVERY", 600)
    engine = load("qwen3.5", prompt_cache=kept)
    budget = engine._loop._scheduler.budget
    engine._loop.call(lambda: setattr(budget, "chunk", lambda pending, decodes: min(pending, 128)))
    read = threading.Event()

    def seen(sequence, tokens, accept=Sequence.accept):
        accept(sequence, tokens)
        time.sleep(0.05)  # the disk is not as slow as that
        if len(sequence.slot.tokens) >= 1500:
            read.set()

    monkeypatch.setattr(Sequence, "accept", seen)
    long = PROMPT * 6
    job = engine.submit(GenerateRequest(token_ids=long, max_tokens=6))
    assert read.wait(20)
    assert [path.stem.partition("+")[2] for path in kept.glob("*+*.kv")] == ["1024"]
    job.cancel()
    job.result()
    engine.close()
    monkeypatch.undo()
    result, outputs = ask(load("qwen3.5", prompt_cache=kept), long)
    assert result.usage.cached_tokens >= 1024  # or what it had read when it was stopped
    assert outputs == ask(load("qwen3.5"), long)[1]
